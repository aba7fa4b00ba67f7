//! Kernels: the code that knows the CPU, behind one surface.
//!
//! A kernel computes the parities of a group of columns at one place of the solution, and
//! solves rows. [`Instructions`] is that surface; each module below implements it
//! for one instruction set, and [`portable`] for every target. The types that implement it
//! are *tokens*: one exists only where the CPU has the instructions, so using it is safe.
//!
//! [`Kernel`] is the run-time choice among them, a value that filters carry and tests
//! choose. [`Kernel::run`] enters the compiled world of an instruction set once and runs a
//! whole piece of [`Work`] there, so that everything below is inlined and nothing is
//! dispatched twice. The portable kernel stays fast when the whole program is compiled for
//! a newer CPU.
//!
//! This module knows nothing of keys or variants.

/// The entries of [`Compiled`] for the instruction set of a module, each the root of a
/// piece of code that the compiler sees as a whole.
macro_rules! entries {
    ($token:expr $(, $features:literal)?) => {
        $(#[target_feature(enable = $features)])?
        fn answer<Q: $crate::arch::Query, B: $crate::width::Band, P: $crate::arch::Path>(
            query: &Q,
            bytes: &[u8],
            key_hash: u64,
        ) -> Q::Answer {
            query.answer::<_, B, P>($token, bytes, key_hash)
        }

        $(#[target_feature(enable = $features)])?
        fn answer_short<Q: $crate::arch::Query, B: $crate::width::Band, P: $crate::arch::Path>(
            query: &Q,
            bytes: &[u8],
            key_hash: u64,
        ) -> Q::Answer {
            query.answer::<_, B, $crate::arch::Short<P>>($token, bytes, key_hash)
        }

        $(#[target_feature(enable = $features)])?
        fn answer_rare<Q: $crate::arch::Query, B: $crate::width::Band, P: $crate::arch::Path>(
            query: &Q,
            bytes: &[u8],
            key_hash: u64,
        ) -> Q::Answer {
            query.answer_rare::<_, B, P>($token, bytes, key_hash)
        }

        $(#[target_feature(enable = $features)])?
        fn answer_all<Q: $crate::arch::Query, B: $crate::width::Band, P: $crate::arch::Path>(
            query: &Q,
            bytes: &[u8],
            key_hashes: &[u64],
            answers: &mut [Q::Answer],
        ) {
            query.answer_all::<_, B, P>($token, bytes, key_hashes, answers);
        }

        const fn compiled<Q: $crate::arch::Query, B: $crate::width::Band, P: $crate::arch::Path>(
        ) -> $crate::arch::Compiled<Q, Q::Answer> {
            $crate::arch::Compiled {
                answer: answer::<Q, B, P>,
                answer_short: answer_short::<Q, B, P>,
                answer_rare: answer_rare::<Q, B, P>,
                answer_all: answer_all::<Q, B, P>,
            }
        }

        const fn of_width<Q: $crate::arch::Query, B: $crate::width::Band>(
        ) -> [$crate::arch::Compiled<Q, Q::Answer>; 4] {
            [
                compiled::<Q, B, Q::Path<false, false>>(),
                compiled::<Q, B, Q::Path<false, true>>(),
                compiled::<Q, B, Q::Path<true, false>>(),
                compiled::<Q, B, Q::Path<true, true>>(),
            ]
        }

        /// A query compiled for every width and path.
        pub(super) const fn table<Q: $crate::arch::Query>() -> $crate::arch::Table<Q> {
            [of_width::<Q, u16>(), of_width::<Q, u32>(), of_width::<Q, u64>(), of_width::<Q, u128>()]
        }
    };
}
#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
#[cfg(all(target_arch = "aarch64", target_endian = "little"))]
mod neon;
#[cfg_attr(not(target_arch = "x86_64"), allow(dead_code, reason = "no code for this target"))]
mod planes;
mod portable;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
mod prefetch;
mod row_major;

pub(crate) use planes::{Eliminator, MOST_LANES, Planes};

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
use prefetch::prefetch;
/// Other targets take memory as it comes.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn prefetch(_: *const u8) {}

use crate::Width;
use crate::back_substitution::{self, Columns, Rows};
use crate::layout::{Layout, Order, first_bits, load_bits};
use crate::width::{Band, with_band};
use core::fmt;
use core::marker::PhantomData;

/// Bytes beyond the words asked for that a kernel may read. The fixed part of a file is
/// longer, so every whole block of a filter can be read by every kernel.
const OVER_READ: usize = 32;

/// Columns that one step computes at most: a group is the rest of them, up to this.
pub(crate) const GROUP: usize = 8;

/// The words of a group of columns: where they begin in each of the blocks that an equation
/// touches, and the coefficients over each of those.
#[derive(Clone, Copy)]
pub(crate) struct Group<'a> {
    /// Invariant: from each part's pointer on, as many words as `columns` has bits set and
    /// [`OVER_READ`] bytes more can be read for `'a`. [`Groups`] are no others.
    parts: [*const u8; 3],
    masks: [u64; 3],
    /// One bit for each column of the group, from the lowest on.
    columns: u8,
    bytes: PhantomData<&'a [u8]>,
}

impl Group<'_> {
    /// Half of a group's words under their coefficients, summed over the parts.
    #[inline(always)]
    #[expect(unsafe_code, reason = "loads through pointers")]
    fn sum_half<B: Band>(&self, first: usize) -> [u64; GROUP / 2] {
        let size = B::WIDTH.block_slots() as usize / 8;
        let mut words = [0; GROUP / 2];
        for part in 0..B::PARTS {
            // SAFETY: the invariant. If any of these columns is the group's, the others lie
            // within three words of it, and a word is at most 8 bytes.
            let source = unsafe {
                let begin = self.parts[part].add(first * size);
                core::slice::from_raw_parts(begin, GROUP / 2 * size)
            };
            for (word, bytes) in words.iter_mut().zip(source.chunks_exact(size)) {
                let mut padded = [0; 8];
                padded[..size].copy_from_slice(bytes);
                *word ^= u64::from_le_bytes(padded) & self.masks[part];
            }
        }
        words
    }

    /// The parities of its columns, and nothing else.
    #[inline(always)]
    fn row<I: Instructions, B: Band>(self, instructions: I) -> u64 {
        instructions.parities::<B>(self) & u64::from(self.columns)
    }

    #[inline(always)]
    fn differs<I: Instructions, B: Band>(self, instructions: I, row: u64) -> bool {
        (instructions.parities::<B>(self) ^ row) as u8 & self.columns != 0
    }
}

/// An instruction set.
pub(crate) trait Instructions: Copy {
    /// The parities of a group's columns, one bit each; other bits are arbitrary.
    fn parities<B: Band>(self, group: Group<'_>) -> u64;

    /// The sum of the rows that coefficients choose among `w` words of `SIZE` bytes: 2, 4 or 8.
    #[inline(always)]
    fn sum_rows<B: Band, const SIZE: usize>(self, rows: &[u8], coefficients: B) -> u64 {
        row_major::sum_rows::<B, SIZE>(rows, coefficients)
    }

    /// Solves the rows of a block, last to first, for so many columns.
    #[inline(always)]
    fn solve_rows<B: Band>(self, rows: Rows<'_, B>, columns: &mut Columns<B>, stored: usize) {
        back_substitution::solve_rows(rows, columns, stored);
    }
}

/// Something to be done with an instruction set, compiled anew for each.
pub(crate) trait Work {
    type Output;
    /// Must be `#[inline(always)]`, and so must everything in it that is to profit.
    fn run<I: Instructions>(self, instructions: I) -> Self::Output;
}

/// Queries that can be compiled for an instruction set, a width and a [`Path`]. All its
/// functions must be `#[inline(always)]`, as in [`Work`].
pub(crate) trait Query {
    /// Whether a key might be there, or what it is mapped to.
    type Answer;
    /// What is known if [`Knows`] is: less, where nothing is won by more, so that fewer are
    /// compiled.
    type Path<const FRACTIONAL: bool, const PLAIN: bool>: Path;

    fn answer<I: Instructions, B: Band, P: Path>(
        &self,
        instructions: I,
        bytes: &[u8],
        key_hash: u64,
    ) -> Self::Answer;

    /// The same for the few keys that `answer` passes on by [`Compiled::answer_rare`]. It takes
    /// what `answer` takes, so that passing on is a jump and nothing need be saved before it.
    fn answer_rare<I: Instructions, B: Band, P: Path>(
        &self,
        instructions: I,
        bytes: &[u8],
        key_hash: u64,
    ) -> Self::Answer;

    /// The same for many, as many as there is room for answers.
    fn answer_all<I: Instructions, B: Band, P: Path>(
        &self,
        instructions: I,
        bytes: &[u8],
        key_hashes: &[u64],
        answers: &mut [Self::Answer],
    );
}

/// What the compiler may know about a filter besides its width: each constant takes some
/// instructions out of every query.
pub(crate) trait Path {
    /// Some blocks have a column fewer than others.
    const FRACTIONAL: bool;
    /// Every row is expected to be zero, no start is smashed, one seed serves all.
    const PLAIN: bool;
    /// All columns are one group, and no key has a second place: as in nearly all filters.
    const SHORT: bool = false;
}

/// A [`Path`] with these constants.
pub(crate) struct Knows<const FRACTIONAL: bool, const PLAIN: bool>;

impl<const FRACTIONAL: bool, const PLAIN: bool> Path for Knows<FRACTIONAL, PLAIN> {
    const FRACTIONAL: bool = FRACTIONAL;
    const PLAIN: bool = PLAIN;
}

/// A path that is [`SHORT`](Path::SHORT): so short that the compiler gets by without saving a
/// register. Only single queries are compiled for it.
pub(crate) struct Short<P>(PhantomData<P>);

impl<P: Path> Path for Short<P> {
    const FRACTIONAL: bool = P::FRACTIONAL;
    const PLAIN: bool = P::PLAIN;
    const SHORT: bool = true;
}

/// A [`Query`] compiled for one instruction set, width and path: one call, its arguments in
/// registers. [`Work`] would pass them through memory, and choose among the widths inside.
pub(crate) struct Compiled<Q, A> {
    answer: unsafe fn(&Q, &[u8], u64) -> A,
    answer_short: unsafe fn(&Q, &[u8], u64) -> A,
    answer_rare: unsafe fn(&Q, &[u8], u64) -> A,
    answer_all: unsafe fn(&Q, &[u8], &[u64], &mut [A]),
}

/// A query for every width, and what else may be known: fractional columns, plain rows.
type Table<Q> = [[Compiled<Q, <Q as Query>::Answer>; 4]; 4];

/// The entry of [`Compiled`] that most queries take, at hand without a look into a table.
pub(crate) struct Answer<Q, A>(unsafe fn(&Q, &[u8], u64) -> A);

impl<Q, A> Clone for Answer<Q, A> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<Q, A> Copy for Answer<Q, A> {}

#[expect(unsafe_code, reason = "code that needs the CPU's features")]
impl<Q, A> Answer<Q, A> {
    #[inline(always)]
    pub(crate) fn of(self, query: &Q, bytes: &[u8], key_hash: u64) -> A {
        // SAFETY: only `Kernel::compiled` makes these, and a kernel exists only where the
        // CPU has its features.
        unsafe { (self.0)(query, bytes, key_hash) }
    }
}

#[expect(unsafe_code, reason = "code that needs the CPU's features")]
impl<Q, A> Compiled<Q, A> {
    #[inline(always)]
    pub(crate) fn answer(&self, short: bool) -> Answer<Q, A> {
        Answer(if short { self.answer_short } else { self.answer })
    }

    #[inline(always)]
    pub(crate) fn answer_rare(&self, query: &Q, bytes: &[u8], key_hash: u64) -> A {
        // SAFETY: as above.
        unsafe { (self.answer_rare)(query, bytes, key_hash) }
    }

    #[inline(always)]
    pub(crate) fn answer_all(&self, query: &Q, bytes: &[u8], hashes: &[u64], answers: &mut [A]) {
        // SAFETY: as above.
        unsafe { (self.answer_all)(query, bytes, hashes, answers) }
    }
}

/// The kernel that a filter uses: chosen once, carried as a value.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Kernel(Choice);

#[derive(Clone, Copy, PartialEq, Eq)]
enum Choice {
    Portable,
    #[cfg(target_arch = "x86_64")]
    Avx2(avx2::Avx2),
    #[cfg(target_arch = "x86_64")]
    Avx512(avx512::Avx512),
    #[cfg(all(target_arch = "aarch64", target_endian = "little"))]
    Neon(neon::Neon),
}

impl Kernel {
    /// Every kernel that this CPU can run, the best first.
    pub fn available() -> impl Iterator<Item = Self> {
        let choices = [
            #[cfg(target_arch = "x86_64")]
            avx512::Avx512::detect().map(Choice::Avx512),
            #[cfg(target_arch = "x86_64")]
            avx2::Avx2::detect().map(Choice::Avx2),
            #[cfg(all(target_arch = "aarch64", target_endian = "little"))]
            neon::Neon::detect().map(Choice::Neon),
            Some(Choice::Portable),
        ];
        choices.into_iter().flatten().map(Self)
    }

    /// The best kernel of this CPU. The features are looked up once and cached.
    #[inline]
    pub fn best() -> Self {
        #[cfg(feature = "std")]
        {
            static BEST: std::sync::OnceLock<Kernel> = std::sync::OnceLock::new();
            *BEST.get_or_init(Self::detect)
        }
        #[cfg(not(feature = "std"))]
        Self::detect()
    }

    fn detect() -> Self {
        #[cfg(target_arch = "x86_64")]
        {
            if let Some(avx512) = avx512::Avx512::detect() {
                return Self(Choice::Avx512(avx512));
            }
            if let Some(avx2) = avx2::Avx2::detect() {
                return Self(Choice::Avx2(avx2));
            }
        }
        #[cfg(all(target_arch = "aarch64", target_endian = "little"))]
        if let Some(neon) = neon::Neon::detect() {
            return Self(Choice::Neon(neon));
        }
        Self(Choice::Portable)
    }

    /// The kernel of that name, if this CPU can run it.
    pub fn by_name(name: &str) -> Option<Self> {
        Self::available().find(|kernel| kernel.name() == name)
    }

    /// `portable`, `avx2`, `avx512` or `neon`.
    pub fn name(self) -> &'static str {
        match self.0 {
            Choice::Portable => "portable",
            #[cfg(target_arch = "x86_64")]
            Choice::Avx2(_) => "avx2",
            #[cfg(target_arch = "x86_64")]
            Choice::Avx512(_) => "avx512",
            #[cfg(all(target_arch = "aarch64", target_endian = "little"))]
            Choice::Neon(_) => "neon",
        }
    }

    /// The way to eliminate by planes, if this kernel has one.
    pub(crate) fn eliminator(self) -> Option<Eliminator> {
        match self.0 {
            #[cfg(target_arch = "x86_64")]
            Choice::Avx2(token) => Some(token.into()),
            #[cfg(target_arch = "x86_64")]
            Choice::Avx512(token) => Some(token.into()),
            _ => None,
        }
    }

    /// The kernel for work whose vectors are the compiler's: for AVX-512 it would gather and
    /// scatter, which takes longer than what it saves.
    pub(crate) fn for_compiler(self) -> Self {
        match self.0 {
            #[cfg(target_arch = "x86_64")]
            Choice::Avx512(token) => Self(Choice::Avx2(token.into())),
            _ => self,
        }
    }

    /// The query for this kernel, a width, and what else is known.
    #[inline]
    pub(crate) fn compiled<Q: Query + 'static>(
        self,
        width: Width,
        fractional: bool,
        plain: bool,
    ) -> &'static Compiled<Q, Q::Answer> {
        // Tables rather than branches: engines open a filter for every query.
        let table: &'static Table<Q> = match self.0 {
            Choice::Portable => const { &portable::table::<Q>() },
            #[cfg(target_arch = "x86_64")]
            Choice::Avx2(_) => const { &avx2::table::<Q>() },
            #[cfg(target_arch = "x86_64")]
            Choice::Avx512(_) => const { &avx512::table::<Q>() },
            #[cfg(all(target_arch = "aarch64", target_endian = "little"))]
            Choice::Neon(_) => const { &neon::table::<Q>() },
        };
        &table[width as usize][2 * usize::from(fractional) + usize::from(plain)]
    }

    /// Runs some work with this kernel's instructions.
    #[inline(always)]
    pub(crate) fn run<W: Work>(self, work: W) -> W::Output {
        match self.0 {
            Choice::Portable => portable::run(work),
            #[cfg(target_arch = "x86_64")]
            Choice::Avx2(token) => token.run(work),
            #[cfg(target_arch = "x86_64")]
            Choice::Avx512(token) => token.run(work),
            #[cfg(all(target_arch = "aarch64", target_endian = "little"))]
            Choice::Neon(token) => token.run(work),
        }
    }
}

impl fmt::Debug for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A solution in bytes of a known length, where queries can be answered.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Solution {
    len: usize,
    /// An equation that starts before this block touches whole blocks only, and every
    /// kernel can read them with [`OVER_READ`] to spare.
    fast_blocks: u64,
    /// One bit for each column of the longest block.
    columns: u64,
    /// Bytes of the longest block.
    block_bytes: usize,
    layout: Layout,
}

/// An equation laid over a solution.
#[derive(Clone, Copy)]
pub(crate) struct Laid<B> {
    slot: u64,
    /// Where the slot's block begins, if that is one before [`Solution::fast_blocks`].
    offset: usize,
    coefficients: B,
    row: u64,
}

impl<B: Band> Laid<B> {
    /// Nothing that would be asked.
    pub(crate) const NOWHERE: Self = Self { slot: 0, offset: 0, coefficients: B::ZERO, row: 0 };
}

impl Solution {
    #[inline]
    pub(crate) fn new(layout: Layout, width: Width, len: usize) -> Self {
        let whole = layout.whole_blocks();
        let parts = with_band!(width, B => <B as Band>::PARTS) as u64;
        let readable = layout.offset(whole).saturating_add(OVER_READ) <= len;
        let fast_blocks = if readable { (whole + 1).saturating_sub(parts) } else { 0 };
        let columns = first_bits(layout.columns());
        let block_bytes = layout.columns() as usize * layout.word_bytes();
        Self { len, fast_blocks, columns, block_bytes, layout }
    }

    /// The solution over bytes of its length; nothing if they have another.
    #[inline(always)]
    pub(crate) fn over<'a>(&'a self, bytes: &'a [u8]) -> Option<Readable<'a>> {
        (bytes.len() == self.len).then_some(Readable { solution: self, bytes })
    }
}

/// A solution and bytes of just its length.
#[derive(Clone, Copy)]
pub(crate) struct Readable<'a> {
    solution: &'a Solution,
    bytes: &'a [u8],
}

impl<'a> Readable<'a> {
    #[inline(always)]
    pub(crate) fn bytes(self) -> &'a [u8] {
        self.bytes
    }

    #[inline(always)]
    pub(crate) fn order(self) -> Order {
        self.solution.layout.order()
    }

    /// The layout, with all that the compiler may know of it.
    #[inline(always)]
    fn layout<B: Band, P: Path>(self) -> Layout {
        let layout = self.solution.layout.of_width(B::WIDTH);
        if P::FRACTIONAL { layout } else { layout.without_boundary() }
    }

    /// Where an equation lies: `coefficients` from `slot` on, whose sum should be `row`.
    #[inline(always)]
    pub(crate) fn lay<B: Band, P: Path>(self, slot: u64, coefficients: B, row: u64) -> Laid<B> {
        let layout = self.layout::<B, P>();
        let block = layout.block_of(slot);
        // A hostile header may let this overflow, but not in a block that will be read.
        let mut offset = (block as usize).wrapping_mul(self.solution.block_bytes);
        if P::FRACTIONAL {
            let shorter = layout.shorter_before(block);
            offset = offset.wrapping_sub(shorter.wrapping_mul(layout.word_bytes()));
        }
        Laid { slot, offset, coefficients, row }
    }

    /// Asks for the memory that [`matches`](Self::matches) will read.
    #[inline(always)]
    pub(crate) fn fetch<B: Band>(self, laid: &Laid<B>) {
        let first = self.bytes.as_ptr().wrapping_add(laid.offset);
        self.fetch_from(first, self.solution.block_bytes * B::PARTS);
    }

    /// Asks for so many bytes.
    #[inline(always)]
    fn fetch_from(self, first: *const u8, size: usize) {
        const LINE: usize = 64;
        prefetch(first);
        // Two lines are most that an equation of a usual filter reads.
        prefetch(first.wrapping_add(size.min(2 * LINE).saturating_sub(1)));
        let mut ahead = 2 * LINE;
        while ahead < size {
            prefetch(first.wrapping_add(ahead.min(size - 1)));
            ahead += LINE;
        }
    }

    /// [`matches`](Self::matches) anywhere: near the end a block may be trimmed, and others
    /// are not there.
    #[inline(always)]
    pub(crate) fn matches_slowly<B: Band>(self, laid: Laid<B>) -> bool {
        // No key is in the empty set.
        self.row_slowly(laid).is_some_and(|(row, columns)| (row ^ laid.row) & columns == 0)
    }

    /// The row that the solution gives an equation anywhere, and a bit for each of its
    /// columns; nothing if there are no slots.
    #[inline(always)]
    pub(crate) fn row_slowly<B: Band>(self, laid: Laid<B>) -> Option<(u64, u64)> {
        let Laid { slot, coefficients, .. } = laid;
        let layout = self.solution.layout.of_width(B::WIDTH);
        if layout.slots() == 0 {
            return None;
        }
        let block = layout.block_of(slot);
        let columns = layout.columns_of(block);
        // A system narrower than the ribbon cuts the coefficients off.
        let coefficients = coefficients & B::first_bits(layout.slots() - slot);
        if layout.order() == Order::Rows {
            return Some((self.chosen_rows(slot, coefficients), first_bits(columns as u32)));
        }
        let masks = coefficients.over_blocks(layout.shift_of(slot));
        let present = (layout.blocks() - block).min(B::PARTS as u64) as usize;
        // Each block from its beginning on, and how many bits it is from a column to the next.
        let mut blocks = [(self.bytes, 0); 3];
        for (block, place) in (block..).zip(&mut blocks[..present]) {
            *place = (&self.bytes[layout.offset(block)..], layout.stride(block));
        }
        let mut parities = 0;
        for column in 0..columns {
            let mut sum = 0;
            for ((bytes, stride), mask) in blocks[..present].iter().zip(masks) {
                sum ^= load_bits(bytes, column * stride) & mask;
            }
            parities |= u64::from(sum.count_ones() & 1) << column;
        }
        Some((parities, first_bits(columns as u32)))
    }

    /// Whether the solution, under the coefficients from their slot on, gives the expected
    /// row in every column that the slot's block has; `None` so near to the end that only
    /// [`matches_slowly`](Self::matches_slowly) can tell.
    ///
    /// No branch a column: a group at a time, and one branch between two of them.
    #[inline(always)]
    pub(crate) fn matches<I: Instructions, B: Band, P: Path>(
        self,
        instructions: I,
        laid: Laid<B>,
    ) -> Option<bool> {
        let mut groups = self.groups::<B, P>(laid)?;
        let mut row = laid.row;
        // No branch after the last group: where as many keys are there as not, half of those would
        // be mispredicted. Few filters have more columns than one.
        let mut differs = groups.first().differs::<I, B>(instructions, row);
        while !P::SHORT && groups.advance::<B>() && !differs {
            row >>= GROUP;
            differs = groups.first().differs::<I, B>(instructions, row);
        }
        Some(!differs)
    }

    /// The row that the solution gives an equation, or nothing where only
    /// [`row_slowly`](Self::row_slowly) can tell.
    #[inline(always)]
    pub(crate) fn row<I: Instructions, B: Band, P: Path>(
        self,
        instructions: I,
        laid: Laid<B>,
    ) -> Option<u64> {
        let mut groups = self.groups::<B, P>(laid)?;
        let mut row = groups.first().row::<I, B>(instructions);
        let mut place = 0;
        while !P::SHORT && groups.advance::<B>() {
            place += GROUP;
            row |= groups.first().row::<I, B>(instructions) << place;
        }
        Some(row)
    }

    /// The columns of an equation in groups; nothing so near to the end that a kernel might
    /// read outside.
    #[inline(always)]
    fn groups<B: Band, P: Path>(self, laid: Laid<B>) -> Option<Groups<'a>> {
        let Self { solution, bytes } = self;
        let Laid { slot, offset, coefficients, .. } = laid;
        let layout = self.layout::<B, P>();
        let block = layout.block_of(slot);
        if block >= solution.fast_blocks {
            return None;
        }
        let word = layout.word_bytes();
        // Pointers rather than offsets: the compiler would multiply once for each of those.
        let mut parts = [bytes.as_ptr().wrapping_add(offset); 3];
        for part in 1..B::PARTS {
            let shorter = layout.is_shorter(block + part as u64 - 1);
            let size = solution.block_bytes - usize::from(shorter) * word;
            parts[part] = parts[part - 1].wrapping_add(size);
        }
        let masks = coefficients.over_blocks(layout.shift_of(slot));
        let columns = solution.columns >> u32::from(layout.is_shorter(block));
        Some(Groups { parts, masks, columns, bytes: PhantomData })
    }
}

/// The columns of an equation that are still to be computed, as [`Group`]s.
struct Groups<'a> {
    /// Invariant: from each part's pointer on, as many words as `columns` has bits set and
    /// [`OVER_READ`] bytes more can be read for `'a`. [`Readable::groups`] makes no others.
    parts: [*const u8; 3],
    masks: [u64; 3],
    columns: u64,
    bytes: PhantomData<&'a [u8]>,
}

impl<'a> Groups<'a> {
    #[inline(always)]
    fn first(&self) -> Group<'a> {
        let Self { parts, masks, columns, bytes } = *self;
        Group { parts, masks, columns: columns as u8, bytes }
    }

    /// Goes on to the next group; whether there is one.
    #[inline(always)]
    fn advance<B: Band>(&mut self) -> bool {
        self.columns >>= GROUP;
        if self.columns == 0 {
            return false;
        }
        let word = B::WIDTH.block_slots() as usize / 8;
        self.parts = self.parts.map(|part| part.wrapping_add(GROUP * word));
        true
    }
}

#[cfg(test)]
mod tests;
