//! A solution in bytes, and the evaluation of equations in it.
//!
//! Kernels read whole groups of eight words from each block that an equation touches, even if the
//! block has fewer columns: no masks, no branches on columns. [`Solution`] stores up to which slot
//! such reads stay inside the bytes ([`Solution::end`]), so one comparison per query is the whole
//! bounds check. Equations that start later reach into the last block, which may be trimmed. A copy
//! of it as a whole block can be made when the solution is opened ([`Tail`]). All other equations,
//! in systems narrower than the ribbon for example, are evaluated by plain code
//! ([`Readable::row_plain`]).
//!
//! Every pointer is derived from the bytes of the current call, after their length was compared. So
//! the bytes may change between two calls.
#![expect(unsafe_code, reason = "kernels read through pointers")]

use super::{Coefficients, GROUP, Instructions, Kernel, Work, prefetch};
use crate::Width;
use crate::ribbon::layout::{Layout, Order, first_bits, load_bits};
use crate::ribbon::width::Band;
use core::hint::{cold_path, select_unpredictable};
use core::marker::PhantomData;

/// What a compiled function assumes about the solutions that it queries.
pub(crate) trait Assumptions {
    /// The number of columns of every block, if it is a known multiple of eight. Eight columns have
    /// the simplest addresses: with blocks of 64 slots, a slot's block begins at the byte offset
    /// that equals the slot's number minus its position in the block.
    const COLUMNS: Option<usize> = None;
    /// No block has more than eight columns.
    const FEW: bool = false;
    /// Many keys may be at the ends of a system, clamped to its first or last start or reaching
    /// into its trimmed block. A branch on these would be mispredicted, so they are looked up
    /// without one. Otherwise few keys are there, and their lookup is left to the caller.
    const SMALL: bool = false;
}

/// Eight columns in every block.
pub(crate) struct Eight;
/// Sixteen columns in every block.
pub(crate) struct Sixteen;
/// Up to eight columns.
pub(crate) struct Few;
/// No assumptions.
pub(crate) struct Any;
/// The columns of `A`, in a solution that may be small.
pub(crate) struct Small<A>(PhantomData<A>);

impl Assumptions for Eight {
    const COLUMNS: Option<usize> = Some(8);
    const FEW: bool = true;
}

impl Assumptions for Sixteen {
    const COLUMNS: Option<usize> = Some(16);
}

impl Assumptions for Few {
    const FEW: bool = true;
}

impl Assumptions for Any {}

impl<A: Assumptions> Assumptions for Small<A> {
    const COLUMNS: Option<usize> = A::COLUMNS;
    const FEW: bool = A::FEW;
    const SMALL: bool = true;
}

/// Number of groups of columns that are compared regardless of the preceding results. If half of
/// the keys are present, a branch after the first group would be mispredicted for every other key.
const UNCONDITIONAL: usize = 2;

/// Bytes of a cache line.
const LINE: usize = 64;

/// Maximum size in bytes of a small solution.
pub(crate) const SMALL_BYTES: usize = 1 << 11;

/// Maximum size in bytes of a solution that gets a copy of its last blocks.
const TAIL_BYTES: usize = 1 << 14;

/// A copy of the last blocks of a solution of up to eight columns: the whole blocks, at most two,
/// that an equation touches before the last block, and the trimmed last block extended to a whole
/// one.
///
/// Every equation that reaches into the trimmed block and has all its slots starts in the first
/// block of the copy, so its at most three blocks are all here. A block of eight columns has at
/// most 64 bytes, so eight words can be read from the beginning of each of them.
#[derive(Clone, Copy)]
struct Tail {
    blocks: [u8; 3 * 64],
    /// The offset of the copied blocks in the solution.
    offset: usize,
    /// Equations that start before this slot, but not before [`Solution::end`], touch only these
    /// blocks. 0 if there is no copy.
    end: u64,
}

impl Tail {
    const NONE: Self = Self { blocks: [0; 3 * 64], offset: 0, end: 0 };

    /// Copies the last blocks of a solution. Equations from `fast_end` on reach into the last
    /// block. Large solutions get no copy: few keys reach the last block, and opening should be
    /// fast.
    fn copy(layout: &Layout, width: Width, fast_end: u64, bytes: &[u8]) -> Self {
        let (columns, size) = (layout.columns() as usize, layout.word_bytes());
        let whole = layout.whole_blocks();
        let behind = u64::from(width.blocks_behind());
        // An equation that starts at `fast_end` or later touches `behind` whole blocks and the last
        // one.
        let readable = whole >= behind && fast_end == layout.first_slot_of(whole - behind);
        let fits = columns <= GROUP && layout.order() == Order::Columns;
        let narrow = layout.slots() < width.bits().into();
        if !readable || !fits || narrow || bytes.len() > TAIL_BYTES {
            return Self::NONE;
        }
        let (begin, end) = (layout.offset(whole - behind), layout.offset(whole));
        let mut tail = Self::NONE;
        let (blocks, last) = tail.blocks.split_at_mut(end - begin);
        blocks.copy_from_slice(&bytes[begin..end]);
        if whole < layout.blocks() {
            let stride = layout.stride(whole);
            for (column, word) in last.chunks_exact_mut(size).take(columns).enumerate() {
                let bits = load_bits(&bytes[end..], column * stride);
                word.copy_from_slice(&bits.to_le_bytes()[..size]);
            }
        }
        tail.offset = begin;
        tail.end = layout.slots() - u64::from(width.bits()) + 1;
        tail
    }
}

/// A solution in bytes of a known length, in which equations can be evaluated.
#[derive(Clone, Copy)]
pub(crate) struct Solution {
    /// The length of the bytes.
    len: usize,
    /// Equations that start before this slot touch only whole blocks, and all groups of eight words
    /// of each of these blocks can be read.
    end: u64,
    /// The first block that has all columns. In the pairs below, the first element is for the
    /// blocks before this one, the second for the others.
    boundary: u64,
    /// Bytes of a block.
    block_bytes: [usize; 2],
    /// The offset at which the first block would begin if all blocks had the size of this side;
    /// wrapping.
    first_bytes: [usize; 2],
    /// One bit for each column of a block.
    columns: [u64; 2],
    /// The last block before the boundary, if there is one.
    crossing: u64,
    /// The maximum distance from the beginning of an equation's first block to the last byte that a
    /// kernel reads for it.
    last_byte: usize,
    layout: Layout,
    /// The maximum of [`Tail::end`] and `end`; just `end` without a tail.
    tail_end: u64,
    tail: Tail,
}

impl Solution {
    /// A solution at the beginning of `bytes`.
    #[inline(always)]
    pub(crate) fn new(layout: Layout, width: Width, bytes: &[u8]) -> Self {
        let tail = Tail::copy(&layout, width, fast_end(&layout, width, bytes.len()), bytes);
        Self::with_tail(layout, width, bytes.len(), tail)
    }

    /// A solution at the beginning of `len` bytes that is queried once. Equations that reach into
    /// the last block are evaluated by plain code.
    #[inline(always)]
    pub(crate) fn once(layout: Layout, width: Width, len: usize) -> Self {
        Self::with_tail(layout, width, len, Tail::NONE)
    }

    // One struct literal that includes the tail: to modify or move a struct of this size takes
    // longer than all other work here.
    #[inline(always)]
    fn with_tail(layout: Layout, width: Width, len: usize, tail: Tail) -> Self {
        let boundary = layout.block_of(layout.boundary_slot());
        let short = layout.columns().saturating_sub(1);
        let word = layout.word_bytes();
        let end = fast_end(&layout, width, len);
        Self {
            len,
            end,
            boundary,
            block_bytes: [short as usize * word, layout.columns() as usize * word],
            first_bytes: [0, (boundary as usize).wrapping_mul(word).wrapping_neg()],
            columns: [first_bits(short), first_bits(layout.columns())],
            crossing: boundary.wrapping_sub(1),
            last_byte: span(&layout, width).saturating_sub(1),
            layout,
            tail_end: tail.end.max(end),
            tail,
        }
    }

    /// Combines the solution with its bytes. `None` if they do not have its length.
    #[inline(always)]
    pub(crate) fn over<'a>(&'a self, bytes: &'a [u8]) -> Option<Readable<'a>> {
        // SAFETY: the slice has as many bytes as the solution is made for, and is borrowed for
        // `'a`.
        (bytes.len() == self.len).then(|| unsafe { self.over_all_from(bytes.as_ptr()) })
    }

    /// Combines the solution with bytes whose length the caller has compared.
    ///
    /// # Safety
    /// `base` must point to as many bytes as the solution is made for. For `'a` these must be
    /// readable and must not be written.
    #[inline(always)]
    pub(super) unsafe fn over_all_from<'a>(&'a self, base: *const u8) -> Readable<'a> {
        Readable { solution: self, base, bytes: PhantomData }
    }

    /// The offset of a slot's block. Arbitrary for a slot that does not exist.
    #[inline(always)]
    pub(crate) fn offset_of(&self, slot: u64) -> usize {
        let block = self.layout.block_of(slot);
        let side = usize::from(block >= self.boundary);
        (block as usize).wrapping_mul(self.block_bytes[side]).wrapping_add(self.first_bytes[side])
    }

    /// A bit for each column of a slot's block; `None` for a slot that does not exist.
    #[inline(always)]
    pub(crate) fn columns_at(&self, slot: u64) -> Option<u64> {
        let side = usize::from(self.layout.block_of(slot) >= self.boundary);
        (slot < self.layout.slots()).then_some(self.columns[side])
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.layout.slots() == 0
    }

    /// See the field [`Solution::last_byte`].
    pub(crate) fn last_byte(&self) -> usize {
        self.last_byte
    }
}

/// The maximum number of bytes that are read from the beginning of an equation's first block on.
#[inline(always)]
fn span(layout: &Layout, width: Width) -> usize {
    match layout.order() {
        Order::Columns => {
            let block = layout.columns() as usize * layout.word_bytes();
            width.blocks_behind() as usize * block + group_bytes(layout)
        }
        Order::Rows => width.bits() as usize * layout.columns() as usize / 8,
    }
}

impl Solution {
    /// The locations of an equation's blocks if the solution begins at `base` and all its blocks
    /// are whole.
    #[inline(always)]
    fn parts_from<B: Band, A: Assumptions>(&self, base: *const u8, slot: u64) -> Parts {
        let block = slot / u64::from(B::WIDTH.block_slots());
        if let Some(columns) = A::COLUMNS {
            let step = columns * B::WORD_BYTES;
            let first = base.wrapping_add((block as usize).wrapping_mul(step));
            return Parts::evenly(first, step, first_bits(columns as u32));
        }
        // The side of the boundary that a query meets cannot be predicted, so the numbers of its
        // side are indexed instead of selected by a branch.
        let side = usize::from(block >= self.boundary);
        let step = self.block_bytes[side];
        let offset = (block as usize).wrapping_mul(step).wrapping_add(self.first_bytes[side]);
        let first = base.wrapping_add(offset);
        let mut parts = Parts::evenly(first, step, self.columns[side]);
        // If the first block is the last short one, the second block has one word more, and the
        // third block begins one word later.
        if B::PARTS > 2 && block == self.crossing {
            cold_path();
            parts.pointers[2] = parts.pointers[2].wrapping_add(B::WORD_BYTES);
        }
        parts
    }

    /// The address at which the solution would begin if its last blocks were those of the tail.
    /// Thus [`Self::parts_from`] computes addresses in the tail as it does in the solution.
    #[inline(always)]
    fn tail_base(&self) -> *const u8 {
        self.tail.blocks.as_ptr().wrapping_sub(self.tail.offset)
    }
}

/// Number of bytes of all groups of eight words of a block.
#[inline(always)]
fn group_bytes(layout: &Layout) -> usize {
    (layout.columns() as usize).next_multiple_of(GROUP) * layout.word_bytes()
}

/// See [`Solution::end`].
#[inline(always)]
fn fast_end(layout: &Layout, width: Width, len: usize) -> u64 {
    let mut blocks = layout.whole_blocks();
    let groups = group_bytes(layout);
    let word = layout.word_bytes();
    let short = (layout.columns() as usize).saturating_sub(1) * word;
    // Blocks without columns have no bytes to read, and a layout from an untrusted footer may need
    // more bytes than there are.
    if short == 0 && layout.is_fractional() || layout.columns() == 0 {
        return 0;
    }
    let Ok(end) = usize::try_from(layout.size_in_bytes()) else { return 0 };
    if end > len {
        return 0;
    }
    // A block has at least one word, so fewer than eight blocks are too close to the end.
    while blocks > 0 && layout.offset(blocks - 1) + groups > len {
        blocks -= 1;
    }
    let behind = u64::from(width.blocks_behind());
    layout.first_slot_of(blocks.saturating_sub(behind))
}

/// A solution and bytes of exactly its length.
#[derive(Clone, Copy)]
pub(crate) struct Readable<'a> {
    solution: &'a Solution,
    /// Invariant: points to [`Solution::len`] bytes that can be read for `'a`.
    base: *const u8,
    bytes: PhantomData<&'a [u8]>,
}

/// The locations of an equation's words in each block that it touches.
struct Parts {
    /// Invariant: as long as the [`Readable`] lives, every group of eight words for which `columns`
    /// has bits can be read from each of the first [`Band::PARTS`] pointers on.
    pointers: [*const u8; 3],
    /// One bit for each column of the first block.
    columns: u64,
}

impl<'a> Readable<'a> {
    #[inline(always)]
    pub(crate) fn bytes(self) -> &'a [u8] {
        // SAFETY: by the invariant of `base`, `len` bytes can be read there for `'a`.
        unsafe { core::slice::from_raw_parts(self.base, self.solution.len) }
    }

    /// Prefetches every cache line that is read for an equation that starts at `slot`.
    #[inline(always)]
    pub(crate) fn prefetch<B: Band, A: Assumptions>(self, slot: u64) {
        let first = self.solution.parts_from::<B, A>(self.base, slot).pointers[0];
        // Up to eight columns, in any number: as many lines as parts, and below one more line,
        // which the blocks reach into unless they are aligned to lines.
        for part in 0..B::PARTS {
            prefetch(first.wrapping_add(part * LINE));
        }
        if !A::FEW {
            // More columns: all further lines up to the last.
            let mut ahead = B::PARTS * LINE;
            while ahead < self.solution.last_byte {
                prefetch(first.wrapping_add(ahead));
                ahead += LINE;
            }
        }
        if A::COLUMNS != Some(GROUP) || !self.base.addr().is_multiple_of(LINE) {
            prefetch(first.wrapping_add(self.solution.last_byte));
        }
    }

    #[inline(always)]
    pub(crate) fn layout(self) -> &'a Layout {
        &self.solution.layout
    }

    /// Whether an equation that starts at `slot` evaluates to `row`, in every column of the slot's
    /// block. `None` where only [`row_plain`](Self::row_plain) can evaluate it.
    #[inline(always)]
    pub(crate) fn matches<I: Instructions, B: Band, A: Assumptions>(
        self,
        instructions: I,
        slot: u64,
        words: [u64; 2],
        row: u64,
    ) -> Option<bool> {
        let parts = self.parts::<B, A>(slot)?;
        Some(parts.matches::<I, B, A>(instructions, Coefficients { words, slot }, row))
    }

    /// Evaluates an equation that starts at `slot`. `None` where only
    /// [`row_plain`](Self::row_plain) can evaluate it.
    #[inline(always)]
    pub(crate) fn row<I: Instructions, B: Band, A: Assumptions>(
        self,
        instructions: I,
        slot: u64,
        words: [u64; 2],
    ) -> Option<u64> {
        let parts = self.parts::<B, A>(slot)?;
        Some(parts.row::<I, B, A>(instructions, Coefficients { words, slot }))
    }

    /// The locations of an equation's blocks. `None` where only plain code can read them.
    ///
    /// This is the bounds check of a query, and it establishes the invariant of [`Parts`]. Before
    /// [`Solution::end`], the blocks are in the solution itself. From there to `tail_end` they are
    /// in the copy of the last blocks. The two cases differ only in the base address: for small
    /// solutions it is selected without a branch, for others by a branch that is nearly always
    /// predicted correctly.
    #[inline(always)]
    fn parts<B: Band, A: Assumptions>(self, slot: u64) -> Option<Parts> {
        let solution = self.solution;
        let is_before_end = slot < solution.end;
        if (A::SMALL || !is_before_end) && slot >= solution.tail_end {
            cold_path();
            return None;
        }
        let (base, tail_base) = (self.base, solution.tail_base());
        let base = match A::SMALL {
            true => select_unpredictable(is_before_end, base, tail_base),
            false if is_before_end => base,
            false => tail_base,
        };
        Some(solution.parts_from::<B, A>(base, slot))
    }

    /// Evaluates an equation word by word, with safe code for every case. Returns the row and a bit
    /// for each of its columns; `None` for a slot that does not exist.
    #[inline(never)]
    #[cold]
    pub(crate) fn row_plain<B: Band>(self, slot: u64, words: [u64; 2]) -> Option<(u64, u64)> {
        let layout = self.solution.layout.of_width(B::WIDTH);
        if slot >= layout.slots() {
            return None;
        }
        let first = layout.block_of(slot);
        let columns = layout.columns_of(first);
        let mask = first_bits(columns as u32);
        if layout.order() == Order::Rows {
            return Some((self.chosen_rows::<B>(slot, words), mask));
        }
        let masks = B::over_blocks(words, layout.shift_of(slot));
        let mut row = 0;
        for (block, coefficients) in (first..layout.blocks()).zip(&masks[..B::PARTS]) {
            // A system narrower than the ribbon cuts off the coefficients.
            let present = first_bits(layout.stride(block) as u32);
            let (bytes, stride) = (&self.bytes()[layout.offset(block)..], layout.stride(block));
            for column in 0..columns {
                let word = load_bits(bytes, column * stride) & coefficients & present;
                row ^= u64::from(word.count_ones() & 1) << column;
            }
        }
        Some((row, mask))
    }
}

impl Parts {
    /// Parts at equal distances.
    #[inline(always)]
    fn evenly(first: *const u8, step: usize, columns: u64) -> Self {
        let pointers = [first, first.wrapping_add(step), first.wrapping_add(2 * step)];
        Self { pointers, columns }
    }

    /// The parities of the first group of columns.
    #[inline(always)]
    fn parities<I: Instructions, B: Band>(&self, i: I, coefficients: Coefficients) -> u8 {
        // SAFETY: by the invariant of `pointers`, the eight words of the current group can be read
        // from each of them on. Callers advance only to groups that have columns.
        unsafe { i.parities::<B>(self.pointers, coefficients, self.columns as u8) }
    }

    /// Advances to the next group. Returns whether there is one.
    #[inline(always)]
    fn advance<B: Band>(&mut self) -> bool {
        self.columns >>= GROUP;
        self.pointers = self.pointers.map(|part| part.wrapping_add(GROUP * B::WORD_BYTES));
        self.columns != 0
    }

    #[inline(always)]
    fn matches<I: Instructions, B: Band, A: Assumptions>(
        mut self,
        instructions: I,
        coefficients: Coefficients,
        row: u64,
    ) -> bool {
        // No branch on a column, see `UNCONDITIONAL`.
        let parities = self.parities::<I, B>(instructions, coefficients);
        if A::COLUMNS == Some(GROUP) {
            return parities == row as u8;
        }
        if A::COLUMNS == Some(2 * GROUP) {
            self.advance::<B>();
            let second = self.parities::<I, B>(instructions, coefficients);
            return u16::from_le_bytes([parities, second]) == row as u16;
        }
        let mut differs = (parities ^ row as u8) & self.columns as u8;
        let (mut row, mut compared) = (row, 1);
        while !A::FEW && self.columns > 0xff && (compared < UNCONDITIONAL || differs == 0) {
            self.advance::<B>();
            row >>= GROUP;
            let parities = self.parities::<I, B>(instructions, coefficients);
            differs |= (parities ^ row as u8) & self.columns as u8;
            compared += 1;
        }
        differs == 0
    }

    #[inline(always)]
    fn row<I: Instructions, B: Band, A: Assumptions>(
        mut self,
        i: I,
        coefficients: Coefficients,
    ) -> u64 {
        let all = self.columns;
        let mut row = u64::from(self.parities::<I, B>(i, coefficients));
        let mut place = 0;
        while !A::FEW && self.advance::<B>() {
            place += GROUP;
            row |= u64::from(self.parities::<I, B>(i, coefficients)) << place;
        }
        row & all
    }
}

/// Whether an equation evaluates to `row`, in a solution of up to eight columns that is queried
/// once. Like [`Readable::matches`], but it creates a [`Solution`] only for the few equations that
/// reach into the last, trimmed block. `None` for a slot that does not exist.
#[inline(always)]
pub(crate) fn matches_once<B: Band>(
    kernel: Kernel,
    layout: &Layout,
    bytes: &[u8],
    slot: u64,
    words: [u64; 2],
    row: u64,
) -> Option<bool> {
    let (found, columns) = match parts_once::<B>(layout, bytes, slot) {
        Some(parts) => {
            let first = layout.of_width(B::WIDTH).block_of(slot);
            let query = Once::<B> { parts, words, slot, bytes: PhantomData };
            (u64::from(kernel.run(query)), first_bits(layout.columns_of(first) as u32))
        }
        None => {
            cold_path();
            Solution::once(*layout, B::WIDTH, bytes.len())
                .over(bytes)?
                .row_plain::<B>(slot, words)?
        }
    };
    Some((found ^ row) & columns == 0)
}

/// The locations of an equation's blocks if all of them are whole and eight words of each can be
/// read.
#[inline(always)]
fn parts_once<B: Band>(layout: &Layout, bytes: &[u8], slot: u64) -> Option<[*const u8; 3]> {
    let layout = layout.of_width(B::WIDTH);
    let first = layout.block_of(slot);
    if first + B::PARTS as u64 > layout.whole_blocks() || layout.columns() as usize > GROUP {
        return None;
    }
    let mut parts = [bytes.as_ptr(); 3];
    for (block, part) in (first..).zip(&mut parts[..B::PARTS]) {
        *part = bytes.get(layout.offset(block)..)?.get(..B::BLOCK_BYTES)?.as_ptr();
    }
    Some(parts)
}

/// A single equation to evaluate.
struct Once<'a, B> {
    /// Invariant: eight words can be read for `'a` from each of the first [`Band::PARTS`] pointers
    /// on.
    parts: [*const u8; 3],
    words: [u64; 2],
    slot: u64,
    bytes: PhantomData<(&'a [u8], B)>,
}

impl<B: Band> Work for Once<'_, B> {
    type Output = u8;

    #[inline(always)]
    fn run<I: Instructions>(self, instructions: I) -> u8 {
        let coefficients = Coefficients { words: self.words, slot: self.slot };
        // SAFETY: by the invariant of `parts`, eight words can be read from each of them on for
        // `'a`.
        unsafe { instructions.parities::<B>(self.parts, coefficients, u8::MAX) }
    }
}
