//! Queries with every kernel that this CPU can run, against one oracle that reads the solution bit
//! by bit.

use super::solution::{Any, Assumptions, Eight, Few, Sixteen, Small, row_plain};
use super::*;
use crate::kernel::{Coefficients, GROUP, Instructions, Work};
use crate::ribbon::equation::Seeded;
use crate::ribbon::layout::{Order, READ_AHEAD, first_bits};
use crate::ribbon::width::Band;
use crate::testing::Random;
use alloc::vec;
use alloc::vec::Vec;
use core::marker::PhantomData;

/// A solution of random bits, and the row of each slot.
struct Oracle {
    layout: Layout,
    bytes: Vec<u8>,
    rows: Vec<u64>,
}

impl Oracle {
    /// All bytes are random, including the `more` bytes after the solution, which must not matter.
    fn draw(layout: Layout, more: usize, random: &mut Random) -> Self {
        let bytes = random.bytes(layout.size_in_bytes() as usize + more);
        let row = |slot| layout.row(&bytes, slot, layout.columns_of(layout.block_of(slot)));
        Self { rows: (0..layout.slots()).map(row).collect(), layout, bytes }
    }

    /// A copy that begins `offset` bytes after a multiple of 64, and the position at which it
    /// begins.
    fn at_alignment(&self, offset: usize) -> (Vec<u8>, usize) {
        let mut buffer = vec![0xa5; self.bytes.len() + 128];
        let from = buffer.as_ptr().align_offset(64) + offset;
        buffer[from..][..self.bytes.len()].copy_from_slice(&self.bytes);
        (buffer, from)
    }

    fn columns_at(&self, slot: u64) -> usize {
        self.layout.columns_of(self.layout.block_of(slot))
    }

    /// The sum of the rows that the coefficients select among the slots that exist, one by one, in
    /// the columns of the block in which they start.
    fn sum<B: Band>(&self, slot: u64, words: [u64; 2]) -> u64 {
        let coefficients = B::from_aligned(words, slot);
        let rows = self.rows[slot as usize..].iter().zip(0..B::WIDTH.bits());
        let chosen = rows.filter(|&(_, k)| coefficients.advance(k).first_block() & 1 == 1);
        chosen.fold(0, |sum, (row, _)| sum ^ row) & first_bits(self.columns_at(slot) as u32)
    }
}

/// Locates nothing: the tests locate equations themselves.
#[derive(Clone, Copy)]
struct NoLocator;

impl Locate for NoLocator {
    fn locate<'a>(&self, _: Opened<'a>, _: u64) -> Located<'a> {
        Located::UNKNOWN
    }
}

fn probe(solution: Solution, width: Width) -> Probe<Membership, NoLocator> {
    Probe {
        single: by_steps,
        target: Target::new(solution, 0),
        locator: NoLocator,
        batch: None,
        evaluation: dispatch::evaluation(width, Kernel::best()),
    }
}

/// Mostly random coefficients, and sometimes the extremes.
fn some_words(random: &mut Random) -> [u64; 2] {
    match random.next() % 8 {
        0 => [0; 2],
        1 => [u64::MAX; 2],
        _ => [random.next(), random.next()],
    }
}

/// Sizes around the borders of blocks of 16, 32 and 64 slots, and around 128 slots in total.
const SLOTS: [u64; 19] =
    [1, 7, 15, 16, 17, 31, 33, 48, 63, 64, 65, 71, 127, 128, 129, 191, 192, 195, 321];

/// Includes numbers around a group of columns.
const COLUMNS: [u32; 15] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 16, 17, 31, 32, 64];

/// Integral columns, and one column fewer in the first block, in half of them, in all but the last.
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
            if Order::of_values(columns) == Order::Rows {
                layouts.push(of_boundary(&0).ordered(Order::Rows));
            }
        }
    }
    layouts
}

/// One kernel, one solution at one alignment: every slot as a start.
#[derive(Clone, Copy)]
struct Compare<'o, 'a, B> {
    oracle: &'o Oracle,
    opened: Opened<'a>,
    words: &'o [[u64; 2]],
    name: &'static str,
    band: PhantomData<B>,
}

impl<B: Band> Work for Compare<'_, '_, B> {
    type Output = ();

    #[inline(always)]
    fn run<I: Instructions>(self, instructions: I) {
        let layout = &self.oracle.layout;
        if layout.order() == Order::Rows {
            return self.run_on_rows(instructions);
        }
        match (layout.columns(), layout.is_fractional()) {
            (8, false) => {
                self.run_on::<I, Eight>(instructions);
                self.run_on::<I, Small<Eight>>(instructions);
            }
            (16, false) => {
                self.run_on::<I, Sixteen>(instructions);
                self.run_on::<I, Small<Sixteen>>(instructions);
            }
            _ => {}
        }
        if layout.columns() as usize <= GROUP {
            self.run_on::<I, Few>(instructions);
            self.run_on::<I, Small<Few>>(instructions);
        }
        self.run_on::<I, Any>(instructions);
    }
}

impl<B: Band> Compare<'_, '_, B> {
    /// Every equation with all its slots evaluates to the sum of its rows, and plain code evaluates
    /// every equation to that sum.
    #[inline(always)]
    fn run_on_rows<I: Instructions>(self, instructions: I) {
        let Self { oracle, opened, words, name, .. } = self;
        for (slot, &words) in (0..).zip(words) {
            let sum = oracle.sum::<B>(slot, words);
            let plain = row_plain::<B>(&oracle.layout, opened.bytes(), slot, words);
            let plain = plain.map(|(row, _)| row);
            assert_eq!(plain, Some(sum), "slot {slot} of {:?}", oracle.layout);
            let whole = slot + u64::from(B::WIDTH.bits()) <= oracle.layout.slots();
            let located = opened.located(slot, Seeded::ZERO);
            let found = opened.sum_of_rows::<I, B>(instructions, located, words);
            assert_eq!(found, whole.then_some(sum), "{name}: slot {slot} of {:?}", oracle.layout);
        }
    }

    /// An equation matches its row, with any bits beyond the columns, and no row that differs in
    /// one column. That column changes from slot to slot.
    #[inline(always)]
    fn run_on<I: Instructions, A: Assumptions>(self, instructions: I) {
        let Self { oracle, opened, words, name, .. } = self;
        for (slot, &words) in (0..).zip(words) {
            let (sum, columns) = (oracle.sum::<B>(slot, words), oracle.columns_at(slot));
            let beyond = !first_bits(columns as u32);
            let other = sum ^ (1u64 << slot.checked_rem(columns as u64).unwrap_or(0)) & !beyond;
            let context = format_args!("{name}: slot {slot} of {:?}", oracle.layout);
            let coefficients = Coefficients { words, slot };
            let parts = || opened.parts::<B, A>(opened.located(slot, Seeded::ZERO));
            for (row, expected) in [(sum | beyond, true), (other, columns == 0)] {
                let Some(parts) = parts() else { continue };
                assert_eq!(
                    parts.matches::<I, B, A>(instructions, coefficients, row),
                    expected,
                    "{context}"
                );
            }
            if let Some(parts) = parts() {
                assert_eq!(parts.row::<I, B, A>(instructions, coefficients), sum, "{context}");
            }
            let plain = row_plain::<B>(&oracle.layout, opened.bytes(), slot, words);
            assert_eq!(plain, Some((sum, !beyond)), "{context}");
        }
    }
}

/// Bytes after the solution, and alignments: as many bytes as a file has, with which kernels are
/// fast, and only those that must follow, with which they must not read too far.
const AFTER: [(usize, &[usize]); 2] = [(40, &[0, 1, 2, 3, 4, 5, 6, 7]), (READ_AHEAD, &[0, 5])];

fn check_kernels<B: Band>() {
    let mut random = Random(B::WIDTH.bits().into());
    for layout in layouts::<B>() {
        for (more, offsets) in AFTER {
            let oracle = Oracle::draw(layout, more, &mut random);
            for &offset in offsets {
                let (buffer, from) = oracle.at_alignment(offset);
                let bytes = &buffer[from..][..oracle.bytes.len()];
                let slots = 0..layout.slots();
                let words: Vec<_> = slots.map(|_| some_words(&mut random)).collect();
                let plain = Solution::once(layout, B::WIDTH, bytes.len());
                let with_tail = Solution::new(layout, B::WIDTH, bytes);
                for kernel in Kernel::available() {
                    for solution in [plain, with_tail] {
                        let compared = probe(solution, B::WIDTH).open(bytes, |opened| {
                            kernel.run(Compare::<B> {
                                oracle: &oracle,
                                opened: opened.target(),
                                words: &words,
                                name: kernel.name(),
                                band: PhantomData,
                            });
                        });
                        compared.expect("bytes of that length");
                    }
                }
            }
        }
    }
}

#[test]
fn kernels_match_the_oracle() {
    check_kernels::<u16>();
    check_kernels::<u32>();
    check_kernels::<u64>();
    check_kernels::<u128>();
}

/// The fast path must be taken, or the test above would not cover it: for every equation with all
/// its slots, if the last block is copied, for the only start of a narrow system, and never beyond
/// what can be read.
#[test]
fn equations_take_the_fast_way() {
    fn is_fast<B: Band>(solution: &Solution, bytes: &[u8], slot: u64) -> bool {
        let is_fast = probe(*solution, B::WIDTH).open(bytes, |opened| {
            let located = opened.target().located(slot, Seeded::ZERO);
            opened.target().parts::<B, Any>(located).is_some()
        });
        is_fast.expect("bytes of that length")
    }
    fn check<B: Band>() {
        for (slots, columns, boundary) in [(1000, 8, 0), (1000, 7, 3), (960, 6, 0), (1000, 3, 1)] {
            let layout = Layout::new(B::WIDTH, slots, columns, boundary);
            let bytes = vec![0; layout.size_in_bytes() as usize + 40];
            let solution = Solution::once(layout, B::WIDTH, bytes.len());
            let last = slots - u64::from(B::WIDTH.bits());
            assert!(is_fast::<B>(&solution, &bytes, last - 64));
            assert!(!is_fast::<B>(&solution, &bytes, last));
            let solution = Solution::new(layout, B::WIDTH, &bytes);
            assert!((0..=last).all(|slot| is_fast::<B>(&solution, &bytes, slot)));
            assert!(!is_fast::<B>(&solution, &bytes, last + 1));
            let whole = layout.offset(layout.whole_blocks());
            let short = &bytes[..whole.min(bytes.len() - 41)];
            let solution = Solution::new(layout, B::WIDTH, short);
            assert!(!is_fast::<B>(&solution, short, 0));
        }
        // A system narrower than the ribbon has one start.
        for slots in [1, u64::from(B::WIDTH.bits()) / 2, u64::from(B::WIDTH.bits()) - 1] {
            let layout = Layout::new(B::WIDTH, slots, 5, 0);
            let bytes = vec![0; layout.size_in_bytes() as usize + 40];
            assert!(!is_fast::<B>(&Solution::once(layout, B::WIDTH, bytes.len()), &bytes, 0));
            let solution = Solution::new(layout, B::WIDTH, &bytes);
            assert!(is_fast::<B>(&solution, &bytes, 0), "{layout:?}");
            assert!(!is_fast::<B>(&solution, &bytes, 1), "{layout:?}");
        }
    }
    check::<u16>();
    check::<u32>();
    check::<u64>();
    check::<u128>();
}

#[test]
fn bytes_of_another_length_cannot_be_read() {
    let layout = Layout::new(Width::W64, 1000, 8, 0);
    let len = layout.size_in_bytes() as usize + 40;
    let solution = Solution::once(layout, Width::W64, len);
    let bytes = vec![0; len + 1];
    let probe = probe(solution, Width::W64);
    assert!(probe.open(&bytes[..len], |_| ()).is_some());
    for other in [0, 1, len - 1, len + 1] {
        assert!(probe.open(&bytes[..other], |_| ()).is_none(), "{other} bytes");
    }
}
