//! Back substitution: turns a system into its solution, from the last row to the first.
//!
//! A filled row determines its row of `Z` from the `w - 1` following rows; an empty row is a free
//! variable. For each column, a word of `w` bits holds the rows solved last (bit `k` is the row `k`
//! after the current one). Whenever a block of rows is complete, these words *are* the block
//! (paper, section 5.2).

use crate::kernel::{Instructions, Rows, Work};
use crate::ribbon::layout::{Layout, MAX_COLUMNS};
use crate::ribbon::width::Band;
use crate::solve::banding::Banding;
use crate::solve::right_side::RightSide;

/// The maximum number of slots in a block.
const BLOCK: usize = 64;

/// Solves a system and writes its blocks into `bytes`.
///
/// `free` maps the slot of a free variable to its value; column `c` takes bit `c`. Only the columns
/// that a block stores are computed for its rows: a query reads the columns of the block in which
/// it starts, and a row depends only on following rows, which have at least as many columns.
pub(crate) struct Solve<'a, B, R, F> {
    pub(crate) banding: &'a Banding<B, R>,
    pub(crate) free: F,
    pub(crate) layout: &'a Layout,
    pub(crate) bytes: &'a mut [u8],
}

impl<B: Band, R: RightSide, F: Fn(u64) -> u64> Work for Solve<'_, B, R, F> {
    type Output = ();

    #[inline(always)]
    fn run<I: Instructions>(self, instructions: I) {
        let Self { banding, free, layout, bytes } = self;
        let layout = layout.of_rows::<B>();
        let mut columns = [B::ZERO; MAX_COLUMNS];
        let mut values = [0; BLOCK];
        let mut words = [0; MAX_COLUMNS];
        for block in (0..layout.blocks()).rev() {
            let begin = layout.first_slot_of(block) as usize;
            let end = banding.slots().min(begin + layout.block_slots());
            let (coefficients, right_sides) = banding.rows(begin..end);
            // Whether a row is empty cannot be predicted, so all rows are first treated as filled.
            let mut empty = 0u64;
            for (row, value) in values[..end - begin].iter_mut().enumerate() {
                *value = right_sides[row].bits();
                empty |= u64::from(coefficients[row] == B::ZERO) << row;
            }
            while empty != 0 {
                let row = empty.trailing_zeros();
                values[row as usize % BLOCK] = free(begin as u64 + u64::from(row));
                empty &= empty - 1;
            }
            let stored = layout.columns_of(block);
            let rows = Rows { coefficients, values: &values[..end - begin] };
            instructions.solve_rows(rows, &mut columns, stored);
            for (word, column) in words.iter_mut().zip(&columns[..stored]) {
                *word = column.first_block();
            }
            layout.write_block(bytes, block, &words[..stored]);
        }
    }
}
