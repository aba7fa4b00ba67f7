//! Queries of row-major solutions: the sum of the rows that the coefficients select.
//!
//! A kernel receives only the `w` rows of an equation, as bytes. The portable code adds as many
//! rows in one operation as fit into a word, under a mask of the selected ones.

use super::{Instructions, Readable};
use crate::ribbon::width::Band;

impl<'a> Readable<'a> {
    /// Evaluates an equation that starts at `slot` in a row-major solution. `None` where only
    /// [`row_plain`](Self::row_plain) can evaluate it.
    #[inline(always)]
    pub(crate) fn sum_of_rows<I: Instructions, B: Band>(
        self,
        instructions: I,
        slot: u64,
        words: [u64; 2],
    ) -> Option<u64> {
        match self.layout().columns() {
            16 => self.sum_of::<I, B, 2>(instructions, slot, words),
            32 => self.sum_of::<I, B, 4>(instructions, slot, words),
            _ => self.sum_of::<I, B, 8>(instructions, slot, words),
        }
    }

    /// Evaluates an equation in rows of `SIZE` bytes. `None` if fewer than `w` slots follow.
    #[inline(always)]
    fn sum_of<I: Instructions, B: Band, const SIZE: usize>(
        self,
        instructions: I,
        slot: u64,
        words: [u64; 2],
    ) -> Option<u64> {
        let rows = B::WIDTH.bits() as usize;
        if slot > self.layout().slots().checked_sub(rows as u64)? {
            return None;
        }
        let rows = self.bytes().get(slot as usize * SIZE..)?.get(..rows * SIZE)?;
        Some(instructions.sum_rows::<B, SIZE>(rows, B::from_aligned(words, slot)))
    }

    /// The sum of the rows that the coefficients select, read one by one.
    pub(super) fn chosen_rows<B: Band>(self, slot: u64, words: [u64; 2]) -> u64 {
        let layout = self.layout();
        let coefficients = B::from_aligned(words, slot) & B::first_bits(layout.slots() - slot);
        let row = |slot| layout.row(self.bytes(), slot, layout.columns() as usize);
        let chosen = |k: &u32| coefficients.advance(*k).first_block() & 1 == 1;
        (0..B::WIDTH.bits()).filter(chosen).fold(0, |sum, k| sum ^ row(slot + u64::from(k)))
    }
}

/// [`Instructions::sum_rows`] in portable code.
#[inline(always)]
pub(super) fn sum_rows<B: Band, const SIZE: usize>(rows: &[u8], coefficients: B) -> u64 {
    let batched = 8 / SIZE;
    let mut sum = 0;
    let mut halves = coefficients.to_words().into_iter();
    for rows in rows.chunks(64 * SIZE) {
        let mut chosen = halves.next().unwrap_or_default();
        for word in rows.chunks_exact(8) {
            let word = u64::from_le_bytes(word.try_into().expect("eight bytes"));
            sum ^= word & const { masks::<SIZE>() }[chosen as usize % (1 << batched)];
            chosen >>= batched;
        }
    }
    folded::<SIZE>(sum)
}

/// The sum of the rows in a word, which holds one, two or four.
#[inline(always)]
pub(super) fn folded<const SIZE: usize>(word: u64) -> u64 {
    match SIZE {
        2 => (word ^ word >> 16 ^ word >> 32 ^ word >> 48) & 0xffff,
        4 => (word ^ word >> 32) & 0xffff_ffff,
        _ => word,
    }
}

/// For every selection of the rows in a word, a mask of their bits.
const fn masks<const SIZE: usize>() -> [u64; 16] {
    let mut masks = [0; 16];
    let mut chosen = 0;
    while chosen < 1 << (8 / SIZE) {
        let mut row = 0;
        while row < 8 / SIZE {
            if chosen >> row & 1 == 1 {
                masks[chosen] |= (u64::MAX >> (64 - 8 * SIZE)) << (8 * SIZE * row);
            }
            row += 1;
        }
        chosen += 1;
    }
    masks
}
