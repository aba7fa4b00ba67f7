//! The rows of regular equations, compiled for the usual shapes: [`UP_TO_8`], 8 or 16 columns, or those
//! of `slots.rs`.
#![expect(unsafe_code, reason = "loads through pointers")]

use super::slots;
use super::stored::{Stored, low_bits};
use crate::kernel::{Evaluate, compile};
use crate::ribbon::system::System;

/// A number of columns that is known only when a system is opened, at most 8, with or without a
/// boundary.
pub(super) const UP_TO_8: u32 = 0;

/// The same with any number of columns.
pub(super) const UP_TO_32: u32 = 32;

/// The same for filters of more than 8 columns: a key that differs in the first 8 is absent, whatever
/// the others are. So nearly all absent keys take the time of 8 columns.
pub(super) const FROM_9: u32 = 9;

/// [`UP_TO_8`] for systems with few starts, of which many would cross the boundary: the offset of
/// each block is computed, which takes longer than to add a stride, but not as long as a branch that
/// is often mispredicted.
pub(super) const SMALL: u32 = 1;

/// Whether [`row`] and [`at_position`] may be used with these parameters, for a system followed by other
/// bytes, `available` in all.
///
/// A regular equation reads its blocks in groups of eight columns, always all 64 bytes of a group; the
/// last group may overlap the one before. If there are fewer columns than eight, only the last of these
/// loads can reach bytes after the system.
pub(super) fn holds<const W: usize, const SHAPE: u32>(system: &System, available: u64) -> bool {
    let System { columns, boundary, rows, starts, .. } = *system;
    if columns == 0 {
        return false;
    }
    if rows {
        return W == slots::W && starts > 0 && slots::holds::<SHAPE>(columns);
    }
    let after = |columns: u32| 8u32.saturating_sub(columns);
    let after = after(columns).max(after(columns - u32::from(boundary > 0)));
    system.width.blocks() == W
        && starts > 0
        && match SHAPE {
            UP_TO_8 | SMALL => columns <= 8,
            UP_TO_32 => columns <= 32,
            FROM_9 => (9..=32).contains(&columns),
            8 | 16 => columns == SHAPE && boundary == 0,
            _ => false,
        }
        && system.size_in_bytes() + 8 * u64::from(after) <= available
}

compile! {
    /// The row of any hash in a system for which [`holds`].
    pub(super) fn compiled[const W: usize, const SHAPE: u32][W, SHAPE] =
        row(stored: &Stored, bytes: *const u8, mixed: u64, expected: u64) -> u64;
}

/// # Safety
/// As for [`at_position`].
#[inline(always)]
unsafe fn row<K: Evaluate, const W: usize, const SHAPE: u32>(
    kernel: K,
    stored: &Stored,
    bytes: *const u8,
    mixed: u64,
    expected: u64,
) -> u64 {
    let position = stored.position(mixed);
    // SAFETY: the caller guarantees it.
    unsafe { at_position::<K, W, SHAPE>(kernel, stored, bytes, position, mixed, expected) }
}

/// The row of a mixed hash, whose position is known; see [`Row`](super::stored::Row).
///
/// # Safety
/// The system was opened with the kernel, [`holds`], and begins at `bytes`, the number of which was
/// checked.
#[inline(always)]
pub(super) unsafe fn at_position<K: Evaluate, const W: usize, const SHAPE: u32>(
    kernel: K,
    stored: &Stored,
    bytes: *const u8,
    position: u64,
    mixed: u64,
    expected: u64,
) -> u64 {
    let block = stored.block::<W>(position);
    let crosses = matches!(SHAPE, UP_TO_8 | UP_TO_32 | FROM_9) && stored.crosses::<W>(block);
    if crosses || stored.is_trimmed(block) {
        // SAFETY: the caller guarantees it.
        return unsafe { stored.irregular(bytes, mixed, expected) };
    }
    if SHAPE >= slots::WHOLE_BYTES {
        let window = stored.window(bytes, block);
        // SAFETY: the slots exist, and more than 16 bytes follow the system.
        return unsafe { slots::regular::<SHAPE>(window, stored.columns, mixed, expected) };
    }
    let (columns, offset) = match SHAPE {
        8 | 16 => (SHAPE, 8 * SHAPE as usize * block as usize),
        _ => (stored.columns_of(block), stored.offset(block)),
    };
    let first = bytes.wrapping_add(offset);
    let words = kernel.words::<W>(mixed);
    let group = |group: u32| {
        let at = |i: usize| match SHAPE {
            SMALL => bytes.wrapping_add(stored.offset(block + i as u64)),
            _ => first.wrapping_add(8 * (columns as usize * i + group as usize)),
        };
        // SAFETY: `holds` says that 64 bytes can be read from each group of columns on.
        unsafe { kernel.row::<W, true>(words, core::array::from_fn(at), columns.min(8)) & 0xff }
    };
    let mut row = group(0);
    let differs = (row ^ expected) & 0xff;
    if SHAPE == FROM_9 && differs != 0 {
        return differs;
    }
    if matches!(SHAPE, 16 | UP_TO_32 | FROM_9) {
        for next in (8..columns).step_by(8) {
            // Columns that were read before have the same bits again.
            let next = next.min(columns - 8);
            row |= group(next) << next;
        }
    }
    low_bits(row ^ expected, columns)
}
