//! Kernels against one oracle that reads the solution bit by bit.

use super::*;
use alloc::vec;
use alloc::vec::Vec;

/// SplitMix64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    fn bytes(&mut self, len: usize) -> Vec<u8> {
        (0..len).map(|_| self.next() as u8).collect()
    }
}

/// A solution of random bits, and what each slot's row is.
struct Drawn {
    layout: Layout,
    bytes: Vec<u8>,
    rows: Vec<u64>,
}

impl Drawn {
    /// All bytes are random, those that are read ahead too: they must not matter.
    fn draw(layout: Layout, random: &mut Random) -> Self {
        let bytes = random.bytes(layout.size_in_bytes() as usize + OVER_READ);
        let row = |slot| layout.row(&bytes, slot, layout.columns_of(layout.block_of(slot)));
        Self { rows: (0..layout.slots()).map(row).collect(), layout, bytes }
    }

    /// A copy that begins `offset` bytes behind a multiple of 8, and where it does.
    fn at_alignment(&self, offset: usize) -> (Vec<u8>, usize) {
        let mut buffer = vec![0xa5; self.bytes.len() + 16];
        let from = buffer.as_ptr().align_offset(8) + offset;
        buffer[from..][..self.bytes.len()].copy_from_slice(&self.bytes);
        (buffer, from)
    }

    fn columns_at(&self, slot: u64) -> usize {
        self.layout.columns_of(self.layout.block_of(slot))
    }

    /// The oracle: the sum of the rows that the coefficients choose, one after the other,
    /// in the columns of the block in which they start.
    fn sum<B: Band>(&self, slot: u64, coefficients: B) -> u64 {
        let chosen = (0..B::WIDTH.bits())
            .filter(|&k| coefficients.advance(k).first_block() & 1 == 1)
            .map(|k| self.rows[slot as usize + k as usize]);
        chosen.fold(0, |sum, row| sum ^ row) & first_bits(self.columns_at(slot))
    }
}

fn first_bits(count: usize) -> u64 {
    ((1u128 << count) - 1) as u64
}

/// Random coefficients and the extremes, cut to the slots that exist.
fn some_coefficients<B: Band>(slots_left: u64, random: &mut Random) -> [B; 4] {
    let drawn = [
        (random.next(), random.next()),
        (random.next() | 1, random.next() & random.next()),
        (1, 0),
        (u64::MAX, u64::MAX),
    ];
    drawn.map(|(low, high)| B::from_words(low, high) & B::first_bits(slots_left))
}

/// Sizes around the borders of blocks of 16, 32 and 64 slots, and of 128 slots in all.
const SLOTS: [u64; 18] =
    [1, 7, 15, 16, 17, 31, 33, 48, 63, 64, 65, 71, 127, 128, 129, 191, 192, 195];

const COLUMNS: [u32; 12] = [1, 2, 3, 4, 5, 6, 7, 8, 12, 31, 32, 64];

/// Whole columns, and a column fewer in the first, in half, in all but the last block.
fn layouts<B: Band>() -> Vec<Layout> {
    let mut layouts = Vec::new();
    for slots in SLOTS {
        let blocks = slots.div_ceil(B::WIDTH.block_slots().into());
        let mut boundaries = vec![0, 1, blocks / 2, blocks - 1];
        boundaries.retain(|&boundary| boundary < blocks);
        boundaries.sort_unstable();
        boundaries.dedup();
        for columns in COLUMNS {
            let of_boundary = |&boundary| Layout::new(B::WIDTH, slots, columns, boundary);
            layouts.extend(boundaries.iter().map(of_boundary));
        }
    }
    layouts
}

/// The question that every kernel must answer as the oracle does.
struct Ask<'a, B> {
    readable: Readable<'a>,
    fractional: bool,
    slot: u64,
    coefficients: B,
    row: u64,
}

impl<B: Band> Work for Ask<'_, B> {
    type Output = bool;

    #[inline(always)]
    fn run<I: Instructions>(self, instructions: I) -> bool {
        let Self { readable, fractional, slot, coefficients, row } = self;
        with_path!(fractional, true, P => {
            readable.matches::<I, B, P>(instructions, slot, coefficients, row)
        })
    }
}

/// Makes a test for each kernel name, which passes where the CPU lacks the kernel.
macro_rules! kernels_match_the_oracle {
    ($($test:ident: $kernel:literal;)*) => {$(
        #[test]
        fn $test() {
            let Some(kernel) = Kernel::by_name($kernel) else { return };
            matches_the_oracle::<u16>(kernel);
            matches_the_oracle::<u32>(kernel);
            matches_the_oracle::<u64>(kernel);
            matches_the_oracle::<u128>(kernel);
        }
    )*};
}

kernels_match_the_oracle! {
    portable_matches_the_oracle: "portable";
    avx2_matches_the_oracle: "avx2";
    avx512_matches_the_oracle: "avx512";
    neon_matches_the_oracle: "neon";
}

fn matches_the_oracle<B: Band>(kernel: Kernel) {
    let mut random = Random(B::WIDTH.bits().into());
    for layout in layouts::<B>() {
        let drawn = Drawn::draw(layout, &mut random);
        for offset in 0..8 {
            let (buffer, from) = drawn.at_alignment(offset);
            // Not a byte more than a kernel may read.
            let bytes = &buffer[from..][..drawn.bytes.len()];
            let solution = Solution::new(layout, B::WIDTH, bytes.len());
            let readable = solution.over(bytes).expect("its own length");
            for slot in 0..layout.slots() {
                for coefficients in some_coefficients::<B>(layout.slots() - slot, &mut random) {
                    let fractional = layout.is_fractional();
                    let ask =
                        |row| kernel.run(Ask { readable, fractional, slot, coefficients, row });
                    let sum = drawn.sum(slot, coefficients);
                    assert_exactly(ask, sum, drawn.columns_at(slot), || (layout, slot, offset));
                }
            }
        }
    }
}

/// The answer is yes for the row whatever lies beyond the columns, and no for every row
/// that differs in one column.
fn assert_exactly<C: fmt::Debug>(
    ask: impl Fn(u64) -> bool,
    row: u64,
    columns: usize,
    context: impl Fn() -> C,
) {
    let beyond = !first_bits(columns);
    assert!(ask(row), "{:?}", context());
    assert!(ask(row | beyond), "{:?}", context());
    for column in 0..columns {
        assert!(!ask(row ^ 1 << column), "{:?}", context());
    }
}

#[test]
fn back_substitution_is_the_same_with_every_kernel() {
    fn check<B: Band>(random: &mut Random) {
        for stored in [1, 7, 8, 9, 16, 17, 32] {
            let draw = |random: &mut Random| B::from_words(random.next() | 1, random.next());
            let coefficients: Vec<B> =
                (0..64).map(|row| if row % 7 == 3 { B::ZERO } else { draw(random) }).collect();
            let values: Vec<u32> = (0..64).map(|_| random.next() as u32).collect();
            let columns: Columns<B> = core::array::from_fn(|_| draw(random));
            let mut results = Kernel::available().map(|kernel| {
                let mut columns = columns;
                kernel.run(SolveRows {
                    rows: Rows { coefficients: &coefficients, values: &values },
                    columns: &mut columns,
                    stored,
                });
                columns[..stored].to_vec()
            });
            let first = results.next().expect("a kernel");
            assert!(results.all(|result| result == first), "{} columns", stored);
        }
    }
    let mut random = Random(5);
    check::<u16>(&mut random);
    check::<u32>(&mut random);
    check::<u64>(&mut random);
    check::<u128>(&mut random);
}

struct SolveRows<'a, B> {
    rows: Rows<'a, B>,
    columns: &'a mut Columns<B>,
    stored: usize,
}

impl<B: Band> Work for SolveRows<'_, B> {
    type Output = ();

    #[inline(always)]
    fn run<I: Instructions>(self, instructions: I) {
        instructions.solve_rows(self.rows, self.columns, self.stored);
    }
}

#[test]
fn kernels_are_named_and_the_best_comes_first() {
    let names: Vec<_> = Kernel::available().map(Kernel::name).collect();
    assert_eq!(names.last(), Some(&"portable"));
    assert_eq!(Kernel::available().next(), Some(Kernel::best()));
    assert_eq!(Kernel::by_name("mmx"), None);
}
