//! Interleaved columns: the location of every bit of the solution (paper, section 5.2).
//!
//! ```text
//! block 0            block 1            boundary        last block, trimmed
//! [c0][c1]…[c6]      [c0][c1]…[c6]   |  [c0][c1]…[c7]   … c0c1…c7 packed bit by bit
//!  each word: 64 (w >= 64), 32 or 16 slots of one column, little-endian
//! ```
//!
//! The first `boundary` blocks have one column fewer than the others; this implements a
//! fractional number of columns (section 5.1). A query uses the columns of the block in which
//! its equation starts. If the slots do not fill the last block, it is *trimmed*: each of its
//! columns is stored with one bit per slot, and the columns follow each other without padding. So
//! `m` slots of `r` columns take `ceil(m r / 8)` bytes, for any `m`.
//!
//! If a row has 16, 32 or 64 bits, a function may store its blocks *row-major* instead
//! ([`Order::Rows`]): each block occupies the same bytes, but holds its bits row after row.
//!
//! Invariant: `boundary < blocks` unless there is no block, so that the last block has all the
//! columns.

mod row_major;

pub(crate) use row_major::Order;

use crate::Width;
use crate::ribbon::width::{Band, WIDE_ROWS};

/// The maximum number of columns that the format can describe.
pub(crate) const MAX_COLUMNS: usize = 64;

/// Bytes that must follow the solution, so that whole words can be read anywhere in it.
pub(crate) const READ_AHEAD: usize = 9;

/// The location of every bit of a solution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Layout {
    slots: u64,
    columns: u32,
    /// The number of blocks at the front that have `columns - 1` columns.
    boundary: u64,
    /// A block has `1 << block_log` slots.
    block_log: u32,
    order: Order,
}

impl Layout {
    #[cfg_attr(not(target_arch = "wasm32"), inline(always))]
    pub(crate) fn new(width: Width, slots: u64, columns: u32, boundary: u64) -> Self {
        let (block_log, order) = (block_log(width), Order::Columns);
        let layout = Self { slots, columns, boundary, block_log, order };
        debug_assert!(columns as usize <= MAX_COLUMNS);
        debug_assert!(boundary == 0 || boundary < layout.blocks());
        layout
    }

    /// The same layout with the bits of its blocks in the given order, which must suit its columns.
    #[cfg_attr(not(target_arch = "wasm32"), inline(always))]
    pub(crate) fn ordered(self, order: Order) -> Self {
        debug_assert!(order.suits(self.columns) && !(self.is_fractional() && order == Order::Rows));
        Self { order, ..self }
    }

    #[cfg_attr(not(target_arch = "wasm32"), inline(always))]
    pub(crate) fn order(&self) -> Order {
        self.order
    }

    /// The same layout. If `width` is a constant, the compiler then knows the block size.
    #[cfg_attr(not(target_arch = "wasm32"), inline(always))]
    pub(crate) fn of_width(&self, width: Width) -> Self {
        debug_assert_eq!(self.block_log, block_log(width));
        Self { block_log: block_log(width), ..*self }
    }

    /// The same layout, for the solution of a system with rows of type `B`; see [`WIDE_ROWS`].
    #[inline(always)]
    pub(crate) fn of_rows<B: Band>(&self) -> Self {
        if WIDE_ROWS { *self } else { self.of_width(B::WIDTH) }
    }

    /// The number of slots in a block.
    #[inline(always)]
    pub(crate) fn block_slots(&self) -> usize {
        1 << self.block_log
    }

    /// Whether some blocks have a column fewer than others.
    #[inline]
    pub(crate) fn is_fractional(&self) -> bool {
        self.boundary > 0
    }

    /// Whether a block has one column fewer than the maximum.
    #[cfg_attr(not(target_arch = "wasm32"), inline(always))]
    pub(crate) fn is_shorter(&self, block: u64) -> bool {
        block < self.boundary
    }

    /// The layout of a run of slots that begins and ends with a block, as a separate solution.
    pub(crate) fn part(&self, first_slot: u64, slots: u64) -> Self {
        let part = Self { slots, boundary: 0, ..*self };
        let shorter = self.boundary.saturating_sub(self.block_of(first_slot));
        // If all blocks of the run precede the boundary, the run has a whole number of columns. An
        // empty run has no block on either side of it.
        match shorter == 0 || shorter < part.blocks() {
            true => Self { boundary: shorter, ..part },
            false => Self { columns: self.columns - 1, ..part },
        }
    }

    /// Columns of the blocks after the boundary: the maximum of any block.
    #[cfg_attr(not(target_arch = "wasm32"), inline(always))]
    pub(crate) fn columns(&self) -> u32 {
        self.columns
    }

    pub(crate) fn slots(&self) -> u64 {
        self.slots
    }

    /// The first slot whose block has all the columns.
    #[cfg_attr(not(target_arch = "wasm32"), inline(always))]
    pub(crate) fn boundary_slot(&self) -> u64 {
        self.boundary << self.block_log
    }

    /// Blocks at the front that have no column. They take no space, so their number is not
    /// bounded by the length of the bytes.
    pub(crate) fn without_columns(&self) -> u64 {
        if self.columns == 1 { self.boundary } else { 0 }
    }

    /// All blocks, the trimmed one included.
    #[cfg_attr(not(target_arch = "wasm32"), inline(always))]
    pub(crate) fn blocks(&self) -> u64 {
        self.slots.div_ceil(1 << self.block_log)
    }

    /// Blocks that are stored as whole words.
    #[cfg_attr(not(target_arch = "wasm32"), inline(always))]
    pub(crate) fn whole_blocks(&self) -> u64 {
        self.slots >> self.block_log
    }

    #[cfg_attr(not(target_arch = "wasm32"), inline(always))]
    pub(crate) fn block_of(&self, slot: u64) -> u64 {
        slot >> self.block_log
    }

    #[cfg_attr(not(target_arch = "wasm32"), inline(always))]
    pub(crate) fn first_slot_of(&self, block: u64) -> u64 {
        block << self.block_log
    }

    /// The position of a slot in its block.
    #[cfg_attr(not(target_arch = "wasm32"), inline(always))]
    pub(crate) fn shift_of(&self, slot: u64) -> u32 {
        (slot & ((1 << self.block_log) - 1)) as u32
    }

    #[cfg_attr(not(target_arch = "wasm32"), inline(always))]
    pub(crate) fn columns_of(&self, block: u64) -> usize {
        self.columns as usize - usize::from(self.is_shorter(block))
    }

    /// Bytes in one word of a whole block.
    #[cfg_attr(not(target_arch = "wasm32"), inline(always))]
    pub(crate) fn word_bytes(&self) -> usize {
        1 << (self.block_log - 3)
    }

    /// The first byte of a block.
    #[cfg_attr(not(target_arch = "wasm32"), inline(always))]
    pub(crate) fn offset(&self, block: u64) -> usize {
        let words = block * u64::from(self.columns) - self.shorter_before(block);
        (words << (self.block_log - 3)) as usize
    }

    /// The number of preceding blocks that have one column fewer than the maximum.
    #[cfg_attr(not(target_arch = "wasm32"), inline(always))]
    fn shorter_before(&self, block: u64) -> u64 {
        // Not a `usize`: blocks without a column may be more than 2^32.
        block.min(self.boundary)
    }

    /// The distance in bits between a block's columns.
    #[cfg_attr(not(target_arch = "wasm32"), inline(always))]
    pub(crate) fn stride(&self, block: u64) -> usize {
        if block < self.whole_blocks() {
            1 << self.block_log
        } else {
            self.shift_of(self.slots) as usize
        }
    }

    /// The size of the solution in bits.
    #[cfg_attr(not(target_arch = "wasm32"), inline(always))]
    pub(crate) fn size_in_bits(&self) -> u128 {
        // The last, trimmed block has all the columns.
        u128::from(self.slots) * u128::from(self.columns) - u128::from(self.boundary_slot())
    }

    /// The size of the solution in bytes; `u64::MAX` if an untrusted footer describes a solution
    /// whose bits do not fit into a `u64`.
    #[cfg_attr(not(target_arch = "wasm32"), inline(always))]
    pub(crate) fn size_in_bytes(&self) -> u64 {
        let bits = self.slots.checked_mul(u64::from(self.columns));
        bits.map_or(u64::MAX, |bits| (bits - self.boundary_slot()).div_ceil(8))
    }

    /// The first `columns` bits of a slot's row of the solution.
    pub(crate) fn row(&self, bytes: &[u8], slot: u64, columns: usize) -> u64 {
        if self.order == Order::Rows {
            return row_major::row(bytes, slot, self.columns) & first_bits(columns as u32);
        }
        let block = self.block_of(slot);
        let stride = self.stride(block);
        let bytes = &bytes[self.offset(block)..];
        (0..columns).fold(0, |row, column| {
            let bit = self.shift_of(slot) as usize + column * stride;
            row | u64::from(bytes[bit / 8] >> (bit % 8) & 1) << column
        })
    }

    /// Reads the first `words.len()` columns of `count` slots that begin with `slot`, one word per
    /// column. All these slots must be in one block, so `count` is at most 64.
    #[cfg_attr(not(target_arch = "wasm32"), inline(always))]
    pub(crate) fn columns_from(&self, bytes: &[u8], slot: u64, count: u64, words: &mut [u64]) {
        debug_assert_eq!(self.order, Order::Columns);
        let block = self.block_of(slot);
        let (offset, shift) = (self.offset(block), self.shift_of(slot));
        let mask = u64::MAX >> (64 - count);
        if block < self.whole_blocks() && self.word_bytes() == 8 {
            for (word, stored) in words.iter_mut().zip(bytes[offset..].chunks_exact(8)) {
                let stored = u64::from_le_bytes(stored.try_into().expect("eight bytes"));
                *word = stored >> shift & mask;
            }
        } else if block < self.whole_blocks() {
            let size = self.word_bytes();
            for (word, stored) in words.iter_mut().zip(bytes[offset..].chunks_exact(size)) {
                let stored = stored.iter().rev().fold(0, |bits, &byte| bits << 8 | u64::from(byte));
                *word = stored >> shift & mask;
            }
        } else {
            for (column, word) in words.iter_mut().enumerate() {
                let bits = load_bits(&bytes[offset..], column * self.stride(block));
                *word = bits >> shift & mask;
            }
        }
    }

    /// Copies the columns from `first` on, as many as `target` has, to their location in `target`.
    /// Both layouts must have the same slots, and every block must have the requested columns.
    pub(crate) fn copy_columns(&self, bytes: &[u8], first: usize, target: &Self, to: &mut [u8]) {
        debug_assert_eq!((self.slots, self.block_log), (target.slots, target.block_log));
        debug_assert_eq!([self.order, target.order], [Order::Columns; 2]);
        let word = self.word_bytes();
        for block in target.without_columns().min(self.whole_blocks())..self.whole_blocks() {
            let size = target.columns_of(block) * word;
            let from = self.offset(block) + first * word;
            to[target.offset(block)..][..size].copy_from_slice(&bytes[from..][..size]);
        }
        for block in self.whole_blocks()..self.blocks() {
            let stride = self.stride(block);
            let mut words = [0; MAX_COLUMNS];
            let words = &mut words[..target.columns_of(block)];
            for (column, word) in words.iter_mut().enumerate() {
                *word = load_bits(&bytes[self.offset(block)..], (first + column) * stride);
            }
            target.write_block(to, block, words);
        }
    }

    /// Stores the columns of a block.
    pub(crate) fn write_block(&self, bytes: &mut [u8], block: u64, words: &[u64]) {
        let offset = self.offset(block);
        if self.order == Order::Rows {
            let rows = &mut bytes[offset..][..self.stride(block) * words.len() / 8];
            row_major::write_rows(rows, words);
        } else if block < self.whole_blocks() {
            let size = self.word_bytes();
            for (target, word) in bytes[offset..].chunks_exact_mut(size).zip(words) {
                target.copy_from_slice(&word.to_le_bytes()[..size]);
            }
        } else {
            let slots = self.stride(block);
            bytes[offset..][..(words.len() * slots).div_ceil(8)].fill(0);
            for (column, word) in words.iter().enumerate() {
                let field = word & ((1 << slots) - 1);
                or_bits(&mut bytes[offset..], column * slots, field);
            }
        }
    }
}

/// The base-2 logarithm of the slots of a block.
#[cfg_attr(not(target_arch = "wasm32"), inline(always))]
const fn block_log(width: Width) -> u32 {
    width.block_slots().trailing_zeros()
}

/// A word whose lowest `count` bits are set; `count` is at most 64.
#[cfg_attr(not(target_arch = "wasm32"), inline(always))]
pub(crate) fn first_bits(count: u32) -> u64 {
    ((1u128 << count) - 1) as u64
}

/// Sets the bits of `field`, from bit number `bit` on.
fn or_bits(bytes: &mut [u8], bit: usize, field: u64) {
    let shifted = (u128::from(field) << (bit % 8)).to_le_bytes();
    let target = &mut bytes[bit / 8..][..READ_AHEAD];
    for (byte, set) in target.iter_mut().zip(shifted) {
        *byte |= set;
    }
}

/// Loads 64 bits, from bit number `bit` on.
#[cfg_attr(not(target_arch = "wasm32"), inline(always))]
pub(crate) fn load_bits(bytes: &[u8], bit: usize) -> u64 {
    let window = &bytes[bit / 8..][..READ_AHEAD];
    let low = u64::from_le_bytes(window[..8].try_into().expect("eight bytes"));
    let shift = (bit % 8) as u32;
    low >> shift | u64::from(window[8]) << 1 << (63 - shift)
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    #[test]
    fn every_bit_has_a_location_of_its_own() {
        for width in Width::ALL {
            for slots in [1u64, 15, 16, 17, 63, 64, 65, 100, 127, 128, 129, 640] {
                for (columns, boundary) in
                    [(1, 0), (3, 0), (8, 1), (16, 0), (32, 0), (32, 2), (64, 0)]
                {
                    let blocks = slots.div_ceil(u64::from(width.block_slots()));
                    let layout = Layout::new(width, slots, columns, boundary.min(blocks - 1));
                    check_locations(&layout);
                    if !layout.is_fractional() && Order::of_values(columns) == Order::Rows {
                        check_locations(&layout.ordered(Order::Rows));
                    }
                }
            }
        }
    }

    /// Writes each block with a single bit set, and checks that it is read back in that row and
    /// column only.
    fn check_locations(layout: &Layout) {
        let size = layout.size_in_bytes() as usize;
        let mut seen = vec![false; size * 8];
        for slot in 0..layout.slots() {
            let block = layout.block_of(slot);
            for column in 0..layout.columns_of(block) {
                let mut bytes = vec![0; size + READ_AHEAD];
                let mut words = [0; MAX_COLUMNS];
                words[column] = 1 << layout.shift_of(slot);
                layout.write_block(&mut bytes, block, &words[..layout.columns_of(block)]);
                assert_eq!(layout.row(&bytes, slot, layout.columns_of(block)), 1 << column);
                let set = (0..size * 8).find(|bit| bytes[bit / 8] >> (bit % 8) & 1 == 1);
                assert!(!core::mem::replace(&mut seen[set.expect("stored")], true));
                assert_eq!(bytes.iter().map(|byte| byte.count_ones()).sum::<u32>(), 1);
                if layout.order() == Order::Columns {
                    let start = layout.offset(block) * 8 + column * layout.stride(block);
                    assert_eq!(load_bits(&bytes, start) >> layout.shift_of(slot) & 1, 1);
                }
            }
        }
        let stored = seen.iter().filter(|&&seen| seen).count();
        assert_eq!(stored as u128, layout.size_in_bits());
    }
}
