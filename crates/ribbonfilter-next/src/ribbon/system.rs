//! A system of equations: its slots, and where each is stored.
//!
//! ```text
//! starts      0   1   2  ...                     S-1
//! blocks    | 0 | 1 | 2 | ...                  |S-1|   |...|  S + W - 1 blocks in one segment
//! columns     c-1 each, before the boundary  | c each    trimmed: its first slots only
//! ```
//!
//! - An equation of start `s` covers `W` blocks from [`System::block`] on. The blocks are divided
//!   into *segments* of [`SEGMENT_STARTS`] starts each (the last one has any number), and each
//!   segment ends with `W - 1` blocks in which no equation starts: no equation crosses into the next
//!   segment. So segments are independent systems, solved by any thread in any order.
//! - Each column of a block is one word of 64 slots, little-endian; a block is its columns one after
//!   the other. Blocks from `boundary` on have all `columns`, earlier ones one fewer, which makes
//!   the average fractional. A key is compared in the columns of its first block.
//! - The last block may be *trimmed*: it has only the first `last_bytes * 8` slots, and each of its
//!   columns `last_bytes` bytes. The other slots do not exist; they read as zero.
//! - Maps with wide rows are stored row by row instead ([`System::rows`]): slot `t` is the bits from
//!   `columns * t` on.

use super::width::{BLOCK, Width};

/// log2 of the starts of a segment.
pub(crate) const SEGMENT_BITS: u32 = 12;
/// The starts of a segment: a compromise. Shorter ones would lose more slots at their ends, longer
/// ones take more memory while they are solved.
pub(crate) const SEGMENT_STARTS: u64 = 1 << SEGMENT_BITS;

/// The shape of a system: everything but its bits. A system without starts has no slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct System {
    pub(crate) width: Width,
    /// The number of starts; 0 if there are no keys.
    pub(crate) starts: u64,
    /// The columns of blocks from the boundary on.
    pub(crate) columns: u32,
    /// The first block with all columns.
    pub(crate) boundary: u64,
    /// The bytes of a column of the last block, 1 to 8.
    pub(crate) last_bytes: u32,
    /// Whether slots are stored row by row, each with all its columns.
    pub(crate) rows: bool,
}

impl System {
    /// A system without slots.
    pub(crate) const fn empty(width: Width, columns: u32) -> Self {
        Self { width, starts: 0, columns, boundary: 0, last_bytes: 8, rows: false }
    }

    /// The first block of the equations of a start.
    #[inline(always)]
    pub(crate) const fn block(&self, start: u64) -> u64 {
        block(start, self.width.blocks() as u64)
    }

    /// The number of segments.
    pub(crate) const fn segments(&self) -> u64 {
        self.starts.div_ceil(SEGMENT_STARTS)
    }

    /// The starts of a segment.
    pub(crate) fn segment_starts(&self, segment: u64) -> core::ops::Range<u64> {
        let first = segment << SEGMENT_BITS;
        first..(first + SEGMENT_STARTS).min(self.starts)
    }

    /// The number of blocks.
    pub(crate) const fn blocks(&self) -> u64 {
        self.starts + self.segments() * (self.width.blocks() as u64 - 1)
    }

    /// The number of slots.
    pub(crate) const fn slots(&self) -> u64 {
        match self.blocks() {
            0 => 0,
            blocks => blocks * BLOCK - BLOCK + 8 * self.last_bytes as u64,
        }
    }

    /// The columns of a block, and those in which the keys that start there are compared.
    #[inline(always)]
    pub(crate) const fn columns_of(&self, block: u64) -> u32 {
        self.columns - (block < self.boundary) as u32
    }

    /// The byte at which a block begins, if it is stored by columns.
    #[inline(always)]
    pub(crate) const fn offset(&self, block: u64) -> u64 {
        8 * (self.columns as u64 * block - min(block, self.boundary))
    }

    /// The blocks of a segment.
    pub(crate) fn segment_blocks(&self, segment: u64) -> core::ops::Range<u64> {
        let starts = self.segment_starts(segment);
        let first = self.block(starts.start);
        first..first + (starts.end - starts.start) + self.width.blocks() as u64 - 1
    }

    /// The bytes of a segment.
    pub(crate) fn segment_size(&self, segment: u64) -> u64 {
        let blocks = self.segment_blocks(segment);
        let position = |block| match (block == self.blocks(), self.rows) {
            (true, _) => self.size_in_bytes(),
            (false, true) => BLOCK / 8 * u64::from(self.columns) * block,
            (false, false) => self.offset(block),
        };
        position(blocks.end) - position(blocks.start)
    }

    /// The coefficients of a block that are of slots that exist.
    pub(crate) const fn mask(&self, block: u64) -> u64 {
        match block + 1 == self.blocks() {
            true => u64::MAX >> (BLOCK as u32 - 8 * self.last_bytes),
            false => u64::MAX,
        }
    }

    /// The number of bytes.
    pub(crate) const fn size_in_bytes(&self) -> u64 {
        match (self.blocks(), self.rows) {
            (0, _) => 0,
            (_, true) => (self.slots() * self.columns as u64).div_ceil(8),
            (blocks, false) => {
                let last = blocks - 1;
                self.offset(last) + self.columns_of(last) as u64 * self.last_bytes as u64
            }
        }
    }
}

/// The first block of the equations of a start, for equations over `width` blocks.
#[inline(always)]
pub(crate) const fn block(start: u64, width: u64) -> u64 {
    start + (start >> SEGMENT_BITS) * (width - 1)
}

const fn min(a: u64, b: u64) -> u64 {
    if a < b { a } else { b }
}
