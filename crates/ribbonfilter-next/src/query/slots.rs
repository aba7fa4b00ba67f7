//! Wide maps: an equation selects eight slots, each stored as a row of bits.
//!
//! The slots of an equation lie in a window of four blocks, one in each residue class modulo 8. A
//! row of `c` bits begins at bit `c * slot`; since `c * 8` bits are whole bytes, the bit of the byte at
//! which it begins, `c * slot % 8`, depends on the class alone:
//!
//! ```text
//! slot of class j         8 q + j
//! first bit of the row    c * 8 q + c j
//! its byte, its bit       c * q + c j / 8, c j % 8
//! ```
//!
//! The sum of eight loads is as fast in portable code as in any vector. All equations are regular but
//! that of the last start, if its window is trimmed.
#![expect(unsafe_code, reason = "loads through pointers")]

use super::stored::Stored;
use crate::kernel::{compile, opaque};
use crate::ribbon::equation::eight_slots;
use crate::ribbon::width::BLOCK;

/// The blocks of the window in which the slots lie.
pub(super) const W: usize = 4;

/// Rows of whole bytes.
pub(super) const WHOLE_BYTES: u32 = 100;
/// Rows of at most 57 bits, which are read as one word wherever in a byte they begin.
pub(super) const IN_A_WORD: u32 = 101;
/// Rows of up to 63 bits, which may reach a ninth byte.
pub(super) const IN_NINE_BYTES: u32 = 102;

/// Rows of a known number of whole bytes: the number of columns is added.
pub(super) const ROWS_OF: u32 = 110;

/// Whether [`regular`] may be used with a shape for rows of a number of columns.
pub(super) fn holds<const SHAPE: u32>(columns: u32) -> bool {
    match SHAPE {
        WHOLE_BYTES => columns.is_multiple_of(8),
        IN_A_WORD => columns <= 57,
        IN_NINE_BYTES => columns <= 64,
        _ => columns.is_multiple_of(8) && SHAPE == columns + ROWS_OF,
    }
}

/// The row of an equation whose slots all exist.
///
/// # Safety
/// The window and 16 more bytes are readable, and [`holds`].
#[inline(always)]
pub(super) unsafe fn regular<const SHAPE: u32>(
    window: *const u8,
    columns: u32,
    mixed: u64,
    expected: u64,
) -> u64 {
    let columns = if SHAPE >= ROWS_OF { SHAPE - ROWS_OF } else { columns } as usize;
    let slots = u64::from_le_bytes(eight_slots(mixed));
    let mut sum = expected;
    for class in 0..8 {
        let slot = (slots >> (8 * class)) as u8 as usize;
        let bit = columns * class;
        // Where a value is opaque, the compiler would else gather rows in vectors: 10 to 14 ns.
        let (at, shift) = match SHAPE {
            IN_A_WORD | IN_NINE_BYTES => (opaque(columns * (slot / 8) + bit / 8), bit % 8),
            _ => (columns / 8 * slot, 0),
        };
        let at = window.wrapping_add(at);
        // SAFETY: the row begins at this byte, in the window, and 16 bytes can be read.
        let read = u64::from_le(unsafe { at.cast::<u64>().read_unaligned() });
        sum ^= read >> shift;
        match SHAPE {
            IN_A_WORD => {}
            // SAFETY: as above.
            IN_NINE_BYTES => sum ^= u64::from(unsafe { *at.add(8) }) << 1 << (63 - shift),
            _ => sum = opaque(sum as usize) as u64,
        }
    }
    low_bits(sum, columns as u32)
}

/// The first bits, at least one.
#[inline(always)]
fn low_bits(row: u64, columns: u32) -> u64 {
    row & u64::MAX >> (64 - columns)
}

compile! {
    /// The row of any hash in a map that is stored row by row.
    pub(super) fn compiled[][] =
        general(stored: &Stored, bytes: *const u8, mixed: u64, expected: u64) -> u64;
}

/// Slots that were trimmed are 0.
///
/// # Safety
/// The system is stored by rows, is not empty, and begins at `bytes`, the number of which was
/// checked.
#[inline(always)]
unsafe fn general<K>(_: K, stored: &Stored, bytes: *const u8, mixed: u64, expected: u64) -> u64 {
    let block = stored.block::<W>(stored.position(mixed));
    let slots = match stored.is_trimmed(block) {
        true => stored.slots_of_last::<W>(),
        false => W as u32 * BLOCK as u32,
    };
    let window = stored.window(bytes, block);
    let mut sum = expected;
    for slot in eight_slots(mixed).map(u32::from) {
        if slot < slots {
            let bit = stored.columns * slot;
            let at = window.wrapping_add((bit / 8) as usize);
            // SAFETY: the slot exists, and more than 16 bytes follow the system.
            let read = unsafe { u128::from_le(at.cast::<u128>().read_unaligned()) };
            sum ^= (read >> (bit % 8)) as u64;
        }
    }
    low_bits(sum, stored.columns)
}
