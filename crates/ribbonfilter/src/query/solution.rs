//! A solution in bytes: the numbers from which queries compute addresses, and their bounds.
//!
//! Kernels read whole groups of eight words from each block that an equation touches, even if the
//! block has fewer columns: no masks, no branches on columns. [`Solution`] stores up to which slot
//! such reads stay inside the bytes ([`Solution::end`]), so one comparison per query is the whole
//! bounds check. Equations that start later reach into the last block, which may be trimmed. A copy
//! of it as a whole block can be made when the solution is opened ([`Tail`]). All other equations,
//! in systems narrower than the ribbon for example, are evaluated by plain code ([`row_plain`]).

use crate::Width;
use crate::kernel::GROUP;
use crate::ribbon::layout::{Layout, Order, first_bits, load_bits};
use crate::ribbon::width::{Band, COMPACT, WIDE_ROWS, narrow};
use core::marker::PhantomData;

/// What a compiled function assumes about the solutions that it queries.
pub(crate) trait Assumptions {
    /// The number of columns of every block, if it is known: one, or a multiple of eight. Eight
    /// columns have the simplest addresses: with blocks of 64 slots, a slot's block begins at the
    /// byte offset that equals the slot's number minus its position in the block.
    const COLUMNS: Option<usize> = None;
    /// No block has more than eight columns.
    const FEW: bool = false;
    /// All blocks have the same number of columns.
    const WHOLE: bool = Self::COLUMNS.is_some();
    /// Many keys may be at the ends of a system, clamped to its first or last start or reaching
    /// into its trimmed block. A branch on these would be mispredicted, so they are looked up
    /// without one. Otherwise few keys are there, and their lookup is left to the caller.
    const SMALL: bool = false;
}

/// One column in every block.
pub(super) struct One;
/// Eight columns in every block.
pub(super) struct Eight;
/// Sixteen columns in every block.
pub(super) struct Sixteen;
/// Up to eight columns, the same number in every block.
pub(super) struct FewWhole;
/// Up to eight columns.
pub(super) struct Few;
/// No assumptions.
pub(super) struct Any;
/// The columns of `A`, in a solution that may be small.
pub(super) struct Small<A>(PhantomData<A>);

impl Assumptions for One {
    const COLUMNS: Option<usize> = Some(1);
    const FEW: bool = true;
}

impl Assumptions for Eight {
    const COLUMNS: Option<usize> = Some(8);
    const FEW: bool = true;
}

impl Assumptions for Sixteen {
    const COLUMNS: Option<usize> = Some(16);
}

impl Assumptions for FewWhole {
    const FEW: bool = true;
    const WHOLE: bool = true;
}

impl Assumptions for Few {
    const FEW: bool = true;
}

impl Assumptions for Any {}

impl<A: Assumptions> Assumptions for Small<A> {
    const COLUMNS: Option<usize> = A::COLUMNS;
    const FEW: bool = A::FEW;
    const WHOLE: bool = A::WHOLE;
    const SMALL: bool = true;
}

/// Maximum size in bytes of a small solution.
pub(super) const SMALL_BYTES: usize = 1 << 11;

/// Maximum size in bytes of a solution that gets a copy of its last blocks.
const TAIL_BYTES: usize = 1 << 14;

/// A copy of the last blocks of a solution of up to eight columns: the whole blocks, at most two,
/// that an equation touches before the last block, and the trimmed last block extended to a whole
/// one.
///
/// Every equation that reaches into the trimmed block and has all its slots starts in the first
/// block of the copy, so its at most three blocks are all here. A block of eight columns has at
/// most 64 bytes, so eight words can be read from the beginning of each of them.
///
/// A system narrower than the ribbon has one start and fits into the copy as a whole. The slots that
/// it does not have are zero there, so the coefficients that select them change nothing.
#[derive(Clone, Copy)]
pub(super) struct Tail {
    pub(super) blocks: [u8; 3 * 64],
    /// The offset of the copied blocks in the solution.
    pub(super) offset: usize,
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
        let narrow = layout.slots() < width.bits().into();
        let following = match narrow {
            true => whole,
            false => u64::from(width.following_blocks()),
        };
        // An equation that starts at `fast_end` or later touches `following` whole blocks and the last
        // one.
        let readable = whole >= following && fast_end == layout.first_slot_of(whole - following);
        let fits = columns <= GROUP && layout.order() == Order::Columns;
        let odd = narrow && (layout.is_fractional() || layout.slots() == 0);
        if !readable || !fits || odd || bytes.len() > TAIL_BYTES {
            return Self::NONE;
        }
        let (begin, end) = (layout.offset(whole - following), layout.offset(whole));
        let mut tail = Self::NONE;
        let (blocks, last) = tail.blocks.split_at_mut(end - begin);
        blocks.copy_from_slice(&bytes[begin..end]);
        if whole < layout.blocks() {
            let stride = layout.stride(whole);
            for (column, word) in last.chunks_exact_mut(size).take(columns).enumerate() {
                // Without the bits of the next column, which follow.
                let bits = load_bits(&bytes[end..], column * stride) & first_bits(stride as u32);
                word.copy_from_slice(&bits.to_le_bytes()[..size]);
            }
        }
        tail.offset = begin;
        tail.end = layout.slots().saturating_sub(width.bits().into()) + 1;
        tail
    }
}

/// A solution in bytes of a known length, in which equations can be evaluated.
#[derive(Clone, Copy)]
pub(super) struct Solution {
    /// The length of the bytes.
    pub(super) len: usize,
    /// Equations that start before this slot touch only whole blocks, and all groups of eight words
    /// of each of these blocks can be read.
    pub(super) end: u64,
    /// The first block that has all columns. In the pairs below, the first element is for the
    /// blocks before this one, the second for the others.
    pub(super) boundary: u64,
    /// Bytes of a block.
    pub(super) block_bytes: [usize; 2],
    /// The offset at which the first block would begin if all blocks had the size of this side;
    /// wrapping.
    pub(super) first_bytes: [usize; 2],
    /// One bit for each column of a block.
    pub(super) columns: [u64; 2],
    /// The last block before the boundary, if there is one.
    pub(super) crossing: u64,
    /// The maximum distance from the beginning of an equation's first block to the last byte that a
    /// kernel reads for it.
    pub(super) last_byte: usize,
    pub(super) layout: Layout,
    /// The maximum of [`Tail::end`] and `end`; just `end` without a tail.
    pub(super) tail_end: u64,
    pub(super) tail: Tail,
}

impl Solution {
    /// A solution at the beginning of `bytes`.
    #[cfg_attr(not(target_arch = "wasm32"), inline(always))]
    pub(super) fn new(layout: Layout, width: Width, bytes: &[u8]) -> Self {
        let tail = match COMPACT {
            true => Tail::NONE,
            false => Tail::copy(&layout, width, fast_end(&layout, width, bytes.len()), bytes),
        };
        Self::with_tail(layout, width, bytes.len(), tail)
    }

    /// A solution at the beginning of `len` bytes that is queried once. Equations that reach into
    /// the last block are evaluated by plain code.
    #[cfg_attr(not(target_arch = "wasm32"), inline(always))]
    pub(super) fn once(layout: Layout, width: Width, len: usize) -> Self {
        Self::with_tail(layout, width, len, Tail::NONE)
    }

    // One struct literal that includes the tail: to modify or move a struct of this size takes
    // longer than all other work here.
    #[cfg_attr(not(target_arch = "wasm32"), inline(always))]
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

    /// The offset of a slot's block. Arbitrary for a slot that does not exist.
    #[inline(always)]
    pub(super) fn offset_of(&self, slot: u64) -> usize {
        let block = self.layout.block_of(slot);
        let side = usize::from(block >= self.boundary);
        (block as usize).wrapping_mul(self.block_bytes[side]).wrapping_add(self.first_bytes[side])
    }

    /// A bit for each column of a slot's block; `None` for a slot that does not exist.
    #[inline(always)]
    pub(super) fn columns_at(&self, slot: u64) -> Option<u64> {
        let side = usize::from(self.layout.block_of(slot) >= self.boundary);
        (slot < self.layout.slots()).then_some(self.columns[side])
    }

    pub(super) fn is_empty(&self) -> bool {
        self.layout.slots() == 0
    }
}

/// The maximum number of bytes that are read from the beginning of an equation's first block on.
#[cfg_attr(not(target_arch = "wasm32"), inline(always))]
fn span(layout: &Layout, width: Width) -> usize {
    match layout.order() {
        Order::Columns => {
            let block = layout.columns() as usize * layout.word_bytes();
            width.following_blocks() as usize * block + group_bytes(layout)
        }
        Order::Rows => width.bits() as usize * layout.columns() as usize / 8,
    }
}

/// Number of bytes of all groups of eight words of a block.
#[inline(always)]
fn group_bytes(layout: &Layout) -> usize {
    (layout.columns() as usize).next_multiple_of(GROUP) * layout.word_bytes()
}

/// See [`Solution::end`].
#[cfg_attr(not(target_arch = "wasm32"), inline(always))]
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
    let following = u64::from(width.following_blocks());
    layout.first_slot_of(blocks.saturating_sub(following))
}

/// Evaluates an equation word by word, with safe code for every case. Returns the row and a bit for
/// each of its columns; `None` for a slot that does not exist.
#[inline(never)]
#[cold]
pub(super) fn row_plain<B: Band>(
    layout: &Layout,
    bytes: &[u8],
    slot: u64,
    words: [u64; 2],
) -> Option<(u64, u64)> {
    let layout = layout.of_rows::<B>();
    if slot >= layout.slots() {
        return None;
    }
    let mask = first_bits(layout.columns_of(layout.block_of(slot)) as u32);
    let row = if layout.order() == Order::Rows {
        let coefficients = match WIDE_ROWS && layout.block_slots() < B::WORD_BYTES * 8 {
            true => narrow(words, slot, layout.block_slots() as u32),
            false => B::from_aligned(words, slot),
        };
        let [low, high] = (coefficients & B::first_bits(layout.slots() - slot)).to_words();
        chosen_rows(&layout, bytes, slot, u128::from(high) << 64 | u128::from(low))
    } else {
        let masks = B::over_blocks(words, layout.shift_of(slot));
        chosen_words(&layout, bytes, slot, &masks[..B::PARTS])
    };
    Some((row, mask))
}

/// The sum of the bits that the coefficients of each block select, column by column.
#[cfg_attr(not(target_arch = "wasm32"), inline(always))]
fn chosen_words(layout: &Layout, bytes: &[u8], slot: u64, masks: &[u64]) -> u64 {
    let first = layout.block_of(slot);
    let columns = layout.columns_of(first);
    let mut row = 0;
    for (block, coefficients) in (first..layout.blocks()).zip(masks) {
        // A system narrower than the ribbon cuts off the coefficients.
        let stride = layout.stride(block);
        let (bytes, present) = (&bytes[layout.offset(block)..], first_bits(stride as u32));
        for column in 0..columns {
            let word = load_bits(bytes, column * stride) & coefficients & present;
            row ^= u64::from(word.count_ones() & 1) << column;
        }
    }
    row
}

/// The sum of the rows that the coefficients select in a row-major solution, read one by one.
#[cfg_attr(not(target_arch = "wasm32"), inline(always))]
fn chosen_rows(layout: &Layout, bytes: &[u8], slot: u64, mut coefficients: u128) -> u64 {
    let mut sum = 0;
    while coefficients != 0 {
        let further = coefficients.trailing_zeros();
        sum ^= layout.row(bytes, slot + u64::from(further), layout.columns() as usize);
        coefficients &= coefficients - 1;
    }
    sum
}
