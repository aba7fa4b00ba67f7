//! Queries of row-major solutions: the rows that the coefficients choose, added up.
//!
//! A kernel gets the `w` rows of an equation as bytes and nothing else. The code for every
//! target adds as many rows at once as fit into a word, under a mask of theirs.

use super::{Instructions, Laid, Readable};
use crate::width::Band;

impl<'a> Readable<'a> {
    /// The row that a row-major solution gives an equation; nothing if it has fewer slots than
    /// the equation.
    #[inline(always)]
    pub(crate) fn sum_of_rows<I: Instructions, B: Band>(
        self,
        instructions: I,
        laid: Laid<B>,
    ) -> Option<u64> {
        let (slot, coefficients) = (laid.slot, laid.coefficients);
        Some(match self.solution.layout.columns() {
            16 => instructions.sum_rows::<B, 2>(self.rows::<B>(slot, 2)?, coefficients),
            32 => instructions.sum_rows::<B, 4>(self.rows::<B>(slot, 4)?, coefficients),
            _ => instructions.sum_rows::<B, 8>(self.rows::<B>(slot, 8)?, coefficients),
        })
    }

    /// As many rows as an equation has coefficients, if there are so many from a slot on.
    #[inline(always)]
    fn rows<B: Band>(self, slot: u64, size: usize) -> Option<&'a [u8]> {
        let rows = B::WIDTH.bits() as usize;
        let last = self.solution.layout.slots().checked_sub(rows as u64)?;
        if slot > last {
            return None;
        }
        self.bytes.get(slot as usize * size..)?.get(..rows * size)
    }

    /// The sum of the rows that coefficients choose, all of slots that exist, one by one.
    pub(super) fn chosen_rows<B: Band>(self, slot: u64, coefficients: B) -> u64 {
        let layout = &self.solution.layout;
        let row = |slot| layout.row(self.bytes, slot, layout.columns() as usize);
        let chosen = |k: &u32| coefficients.advance(*k).first_block() & 1 == 1;
        (0..B::WIDTH.bits()).filter(chosen).fold(0, |sum, k| sum ^ row(slot + u64::from(k)))
    }

    /// Asks for the memory that [`sum_of_rows`](Self::sum_of_rows) will read.
    #[inline(always)]
    pub(crate) fn fetch_rows<B: Band>(self, laid: &Laid<B>) {
        let size = self.solution.layout.columns() as usize / 8;
        let first = self.bytes.as_ptr().wrapping_add(laid.slot as usize * size);
        self.fetch_from(first, B::WIDTH.bits() as usize * size);
    }
}

/// [`Instructions::sum_rows`] without any but those of every target.
#[inline(always)]
pub(super) fn sum_rows<B: Band, const SIZE: usize>(rows: &[u8], coefficients: B) -> u64 {
    let at_once = 8 / SIZE;
    let mut sum = 0;
    let mut halves = coefficients.to_words().into_iter();
    for rows in rows.chunks(64 * SIZE) {
        let mut chosen = halves.next().unwrap_or_default();
        for word in rows.chunks_exact(8) {
            let word = u64::from_le_bytes(word.try_into().expect("eight bytes"));
            sum ^= word & const { masks::<SIZE>() }[chosen as usize % (1 << at_once)];
            chosen >>= at_once;
        }
    }
    folded::<SIZE>(sum)
}

/// The rows in a word added up: a word has one, two or four.
#[inline(always)]
pub(super) fn folded<const SIZE: usize>(word: u64) -> u64 {
    match SIZE {
        2 => (word ^ word >> 16 ^ word >> 32 ^ word >> 48) & 0xffff,
        4 => (word ^ word >> 32) & 0xffff_ffff,
        _ => word,
    }
}

/// For any choice of the rows in a word, all their bits.
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
