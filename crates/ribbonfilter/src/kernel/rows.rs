//! The rows of one block, solved from the last to the first: the inner loop of back substitution.

use crate::ribbon::layout::MAX_COLUMNS;
use crate::ribbon::width::Band;

/// The rows of one block: coefficients, none if the row is empty, and what the sum over
/// them must be, or the free variable.
pub(crate) struct Rows<'a, B> {
    pub(crate) coefficients: &'a [B],
    pub(crate) values: &'a [u64],
}

/// For each column, the `w` rows last solved.
pub(crate) type Columns<B> = [B; MAX_COLUMNS];

/// Solves the rows of a block for so many columns, one bit after another: what a kernel
/// does that has nothing better.
#[inline(always)]
pub(crate) fn solve_rows<B: Band>(rows: Rows<'_, B>, columns: &mut Columns<B>, stored: usize) {
    for (&coefficients, &value) in rows.coefficients.iter().zip(rows.values).rev() {
        for (column, state) in columns[..stored].iter_mut().enumerate() {
            let behind = state.prepend(false);
            let bit = (behind & coefficients).parity() ^ (value >> column & 1 == 1);
            *state = state.prepend(bit);
        }
    }
}
