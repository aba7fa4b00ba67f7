//! A system in bytes: which blocks belong to a mixed hash, and the row of any hash.
//!
//! Nearly all starts are *regular*: their equations read `W` blocks at one stride, each with all
//! columns that are compared, as 8 bytes per column. Others are slower and rare:
//!
//! - The equation begins before the boundary and reaches blocks after it: the stride changes. There
//!   are at most `W - 2` such starts. (If only the last block lies after the boundary, the stride
//!   does not matter any more.)
//! - The equation is that of the last start, and the last block is trimmed: its columns have fewer
//!   than 8 bytes.
#![expect(unsafe_code, reason = "loads through pointers")]

use super::layout::{Bumps, PADDING};
use super::{choose, slots};
use crate::kernel::{self, Evaluate, Geometry, Kernel, compile};
use crate::ribbon::equation::{FRACTION_BITS, Mixer, position};
use crate::ribbon::system::{System, block};
use crate::ribbon::width::{BLOCK, Width};

/// So that nothing overflows: 2^46 keys.
const MAX_STARTS: u64 = 1 << 40;

/// Returns the row of a mixed hash, plus what is expected (0, or the fingerprint), in the columns in
/// which it is compared. The bytes begin with the system.
pub(super) type Row = unsafe fn(&Stored, *const u8, mixed: u64, expected: u64) -> u64;

/// A system that fits its bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stored {
    /// The number of starts times 2^16.
    span: u64,
    boundary: u64,
    /// The first of the blocks whose equations cross the boundary.
    crossing: u64,
    /// The block of the last start if its equation reaches a trimmed block; else no block.
    trimmed: u64,
    pub(super) columns: u32,
    last_bytes: u32,
    /// The row of any hash, but an empty system has none.
    row: Row,
    /// The same, for starts that are not regular.
    general: Row,
}

impl Stored {
    /// `None` if the system does not fit into the available bytes, of which the last [`PADDING`] do
    /// not belong to it.
    ///
    /// All reads rest on this. A position is below `span`, so a start below `starts`, and the `W`
    /// blocks of its equation exist, whatever the hash. They end within the size of the system.
    pub(super) fn new(system: &System, available: u64, kernel: Kernel) -> Option<Self> {
        let System { width, starts, columns, boundary, last_bytes, rows } = *system;
        let fits = starts <= MAX_STARTS
            && (starts == 0 || (1..=64).contains(&columns))
            && (1..=8).contains(&last_bytes)
            && (!rows || width == Width::W256)
            && system.size_in_bytes() + PADDING <= available;
        let general = match (rows, width) {
            (true, _) => slots::compiled(kernel),
            (_, Width::W64) => any_row::<1>(kernel),
            (_, Width::W128) => any_row::<2>(kernel),
            (_, Width::W192) => any_row::<3>(kernel),
            (_, Width::W256) => any_row::<4>(kernel),
        };
        fits.then(|| Self {
            span: starts << FRACTION_BITS,
            boundary,
            crossing: boundary.wrapping_sub((width.blocks() as u64).saturating_sub(2)),
            trimmed: if starts > 0 && last_bytes < 8 { system.block(starts - 1) } else { u64::MAX },
            columns,
            last_bytes,
            row: choose::row(system, available, kernel).unwrap_or(general),
            general,
        })
    }

    pub(super) fn is_empty(&self) -> bool {
        self.span == 0
    }

    /// The position of a mixed hash.
    #[inline(always)]
    pub(super) fn position(&self, mixed: u64) -> u64 {
        position(mixed, self.span)
    }

    /// The first block of the equation at a position.
    #[inline(always)]
    pub(super) fn block<const W: usize>(&self, position: u64) -> u64 {
        block(position >> FRACTION_BITS, W as u64)
    }

    /// Whether the equation that begins at a block reads blocks at two strides.
    #[inline(always)]
    pub(super) fn crosses<const W: usize>(&self, block: u64) -> bool {
        block.wrapping_sub(self.crossing) < W as u64 - 2
    }

    /// Whether the equation that begins at a block reaches the trimmed block.
    #[inline(always)]
    pub(super) fn is_trimmed(&self, block: u64) -> bool {
        block == self.trimmed
    }

    /// [`System::columns_of`].
    #[inline(always)]
    pub(super) fn columns_of(&self, block: u64) -> u32 {
        self.columns - u32::from(block < self.boundary)
    }

    /// [`System::offset`].
    #[inline(always)]
    pub(super) fn offset(&self, block: u64) -> usize {
        8 * (u64::from(self.columns) * block - block.min(self.boundary)) as usize
    }

    /// Where the rows of a block begin, if the system is stored row by row.
    #[inline(always)]
    pub(super) fn window(&self, bytes: *const u8, block: u64) -> *const u8 {
        bytes.wrapping_add(8 * self.columns as usize * block as usize)
    }

    /// The number of slots that exist in the window of `W` blocks of the last start.
    pub(super) fn slots_of_last<const W: usize>(&self) -> u32 {
        (W as u32 - 1) * BLOCK as u32 + 8 * self.last_bytes
    }

    /// What a kernel has to know to query 64 keys together. `None` if it cannot: if there are too many
    /// starts, or the first one, which stands for those that are not regular, is not regular itself.
    pub(super) fn geometry<const W: usize>(&self, mixer: Mixer, bumps: &Bumps) -> Option<Geometry> {
        let starts = self.span >> FRACTION_BITS;
        (starts < kernel::MAX_STARTS && !self.crosses::<W>(0) && !self.is_trimmed(0)).then_some(
            Geometry {
                multiplier: mixer.multiplier(),
                starts,
                columns: self.columns,
                boundary: self.boundary,
                crossing: self.crossing,
                trimmed: self.trimmed,
                codes: bumps.codes,
                thresholds: bumps.thresholds,
            },
        )
    }

    /// The row of any mixed hash; see [`Row`].
    ///
    /// # Safety
    /// The system is not empty and begins at `bytes`, the number of which was checked; the CPU has
    /// the instructions of the kernel with which the system was opened.
    #[inline(always)]
    pub(super) unsafe fn row(&self, bytes: *const u8, mixed: u64, expected: u64) -> u64 {
        // SAFETY: the caller guarantees it.
        unsafe { (self.row)(self, bytes, mixed, expected) }
    }

    /// [`row`](Self::row) for the few starts that are not regular.
    ///
    /// # Safety
    /// As for [`row`](Self::row).
    #[cold]
    #[inline(never)]
    pub(super) unsafe fn irregular(&self, bytes: *const u8, mixed: u64, expected: u64) -> u64 {
        // SAFETY: the caller guarantees it.
        unsafe { (self.general)(self, bytes, mixed, expected) }
    }
}

compile! {
    /// The row of any hash in a system of equations over `W` blocks.
    fn any_row[const W: usize][W] =
        general(stored: &Stored, bytes: *const u8, mixed: u64, expected: u64) -> u64;
}

/// Any start and any number of columns, in groups of eight.
///
/// # Safety
/// The system has width `W`, is stored by columns, is not empty, and begins at `bytes`, the number of
/// which was checked.
#[inline(always)]
pub(super) unsafe fn general<K: Evaluate, const W: usize>(
    kernel: K,
    stored: &Stored,
    bytes: *const u8,
    mixed: u64,
    expected: u64,
) -> u64 {
    let first = stored.block::<W>(stored.position(mixed));
    let columns = stored.columns_of(first);
    let words = kernel.words::<W>(mixed);
    let mut row = 0;
    for group in (0..columns).step_by(8) {
        let mut blocks = core::array::from_fn(|i| {
            bytes.wrapping_add(stored.offset(first + i as u64) + 8 * group as usize)
        });
        let expanded;
        if stored.is_trimmed(first) {
            let last = bytes.wrapping_add(stored.offset(first + W as u64 - 1));
            // SAFETY: the last block ends within the bytes, and `PADDING` bytes follow.
            expanded = unsafe { expand(last, stored.last_bytes, group, columns) };
            blocks[W - 1] = expanded.as_ptr().cast();
        }
        let count = (columns - group).min(8);
        // SAFETY: the blocks exist. Each has at least the columns of the first one, and a block is
        // either expanded or has 8 bytes per column.
        row |= (unsafe { kernel.row::<W, false>(words, blocks, count) } & 0xff) << group;
    }
    low_bits(row ^ expected, columns)
}

/// Up to eight columns of a trimmed block, as words.
///
/// # Safety
/// The first `columns` columns of `last_bytes` bytes each, and eight more bytes, must be readable.
#[inline]
unsafe fn expand(block: *const u8, last_bytes: u32, first: u32, columns: u32) -> [u64; 8] {
    let mut words = [0; 8];
    for (word, column) in words.iter_mut().zip(first..columns) {
        let at = block.wrapping_add((column * last_bytes) as usize);
        // SAFETY: the caller guarantees it.
        *word = unsafe { at.cast::<u64>().read_unaligned() }.to_le()
            & u64::MAX >> (64 - 8 * last_bytes);
    }
    words
}

/// The first bits.
#[inline(always)]
pub(super) fn low_bits(row: u64, columns: u32) -> u64 {
    row & !u64::MAX.unbounded_shl(columns)
}
