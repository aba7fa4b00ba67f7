//! The kernel for every target: safe code, no branch a column.
//!
//! The coefficients are shifted once to lie over two blocks (three for w = 128); then each
//! column is a few words, an `and` and a parity. Every query computes as many columns as
//! the longest block has and masks what its own block lacks, so the number of steps never
//! depends on the key.

use crate::layout::{Layout, load_bits};
use crate::width::Band;

/// The parity of every column under `coefficients` from `slot` on: bit `c` is column `c`.
///
/// `bytes` is the solution and at least [`READ_AHEAD`](crate::layout::READ_AHEAD) bytes
/// more.
#[inline]
pub(crate) fn parities<B: Band>(
    bytes: &[u8],
    layout: &Layout,
    slot: u64,
    coefficients: B,
) -> Answer {
    let block = layout.block_of(slot);
    let masks = coefficients.over_blocks(layout.shift_of(slot));
    let columns = layout.columns_of(block);
    let bits = if block + B::PARTS as u64 <= layout.whole_blocks() {
        whole_blocks::<B>(bytes, layout, block, masks)
    } else {
        to_the_end::<B>(bytes, layout, block, masks)
    };
    Answer {
        bits,
        mask: ((1u128 << columns) - 1) as u64,
    }
}

/// What the solution says at one place.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Answer {
    bits: u64,
    mask: u64,
}

impl Answer {
    /// Whether all columns agree with an expected row.
    #[inline(always)]
    pub(crate) fn equals(self, row: u64) -> bool {
        (self.bits ^ row) & self.mask == 0
    }
}

/// The common case: every block that the equation touches is stored as whole words.
#[inline(always)]
fn whole_blocks<B: Band>(bytes: &[u8], layout: &Layout, block: u64, masks: [u64; 3]) -> u64 {
    let size = B::WIDTH.block_slots() as usize / 8;
    let columns = layout.columns() as usize;
    let parts: [&[u8]; 3] = core::array::from_fn(|part| match part < B::PARTS {
        true => &bytes[layout.offset(block + part as u64)..][..columns * size],
        false => &[],
    });
    let mut bits = 0;
    for column in 0..columns {
        let mut sum = 0;
        for part in 0..B::PARTS {
            sum ^= load_word(&parts[part][column * size..][..size]) & masks[part];
        }
        bits |= parity(sum) << column;
    }
    bits
}

/// The last blocks, one of which may be trimmed, and blocks beyond it, of which the
/// equation touches nothing.
#[cold]
#[inline(never)]
fn to_the_end<B: Band>(bytes: &[u8], layout: &Layout, block: u64, masks: [u64; 3]) -> u64 {
    let mut bits = 0;
    let present = layout.blocks() - block;
    for part in 0..present.min(B::PARTS as u64) {
        let block = block + part;
        let (first, stride) = (layout.offset(block) * 8, layout.stride(block));
        for column in 0..layout.columns_of(block) {
            let word = load_bits(bytes, first + column * stride);
            bits ^= parity(word & masks[part as usize]) << column;
        }
    }
    bits
}

#[inline(always)]
fn load_word(bytes: &[u8]) -> u64 {
    let mut word = [0; 8];
    word[..bytes.len()].copy_from_slice(bytes);
    u64::from_le_bytes(word)
}

#[inline(always)]
fn parity(word: u64) -> u64 {
    u64::from(word.count_ones() & 1)
}

#[cfg(test)]
mod tests;
