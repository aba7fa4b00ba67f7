//! Evaluates located equations to rows, for any layout: batches and keys without a fused function.

use super::Retrieval;
use super::Target;
use super::single::{Fingerprints, Located, Opened, QueryKind};
use super::solution::{Any, row_plain};
use crate::kernel::{Instructions, cold_path, compile};
use crate::ribbon::width::Band;

/// A function that evaluates located equations, compiled for an instruction set that this CPU has.
pub(super) type Evaluation = for<'a> unsafe fn(Opened<'a>, &[Located<'a>], &mut [u64]);

compile! {
    evaluate as pub(super) with_vectors, portable:
    <'a, B: Band>(opened: Opened<'a, Target>, located: &[Located<'a>], rows: &mut [u64]) -> ()
}

/// Evaluates equations to rows. Those that no kernel can read are read word by word. An equation
/// without a location gives the row 0; for filters, [`QueryKind::conclude`] ignores that row.
#[inline(always)]
fn evaluate<'a, I: Instructions, B: Band>(
    instructions: I,
    opened: Opened<'a>,
    located: &[Located<'a>],
    rows: &mut [u64],
) {
    for (&located, row) in located.iter().zip(rows) {
        let found = Retrieval::evaluate::<I, B, Any, Fingerprints>(instructions, opened, located);
        *row = match found {
            Some(row) => row,
            None => {
                cold_path();
                one_plain::<B>(opened, located)
            }
        };
    }
}

/// Evaluates equations to rows word by word: the shortest code, and the slowest.
pub(super) fn plain<'a, B: Band>(opened: Opened<'a>, located: &[Located<'a>], rows: &mut [u64]) {
    for (&located, row) in located.iter().zip(rows) {
        *row = one_plain::<B>(opened, located);
    }
}

#[inline(always)]
fn one_plain<'a, B: Band>(opened: Opened<'a>, located: Located<'a>) -> u64 {
    let (words, _) = opened.probe.multipliers.expand(located.hash);
    let layout = &opened.probe.solution.layout;
    let found = row_plain::<B>(layout, opened.bytes(), located.slot, words);
    found.map_or(0, |(row, _)| row)
}

impl<'a> Opened<'a> {
    /// Evaluates an equation in a row-major solution. `None` where only [`row_plain`] can.
    #[inline(always)]
    pub(super) fn sum_of_rows<I: Instructions, B: Band>(
        self,
        instructions: I,
        located: Located<'a>,
        words: [u64; 2],
    ) -> Option<u64> {
        match self.probe.solution.layout.columns() {
            16 => self.sum_of::<I, B, 2>(instructions, located, words),
            32 => self.sum_of::<I, B, 4>(instructions, located, words),
            _ => self.sum_of::<I, B, 8>(instructions, located, words),
        }
    }

    /// Evaluates an equation in rows of `SIZE` bytes. `None` if fewer than `w` slots follow.
    #[inline(always)]
    fn sum_of<I: Instructions, B: Band, const SIZE: usize>(
        self,
        instructions: I,
        Located { slot, .. }: Located<'a>,
        words: [u64; 2],
    ) -> Option<u64> {
        let rows = B::WIDTH.bits() as usize;
        if slot > self.probe.solution.layout.slots().checked_sub(rows as u64)? {
            return None;
        }
        let rows = self.bytes().get(slot as usize * SIZE..)?.get(..rows * SIZE)?;
        Some(instructions.sum_rows::<B, SIZE>(rows, B::from_aligned(words, slot)))
    }
}
