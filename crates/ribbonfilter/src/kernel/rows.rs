//! The rows of one block, solved from the last to the first: the inner loop of back substitution.

use crate::ribbon::layout::MAX_COLUMNS;
use crate::ribbon::width::Band;

/// The rows of one block. For each row, its coefficients, zero if it is empty, and its value: the
/// sum over the coefficients, or the free variable of an empty row.
pub(crate) struct Rows<'a, B> {
    pub(crate) coefficients: &'a [B],
    pub(crate) values: &'a [u64],
}

/// For each column, the `w` rows solved last.
pub(crate) type Columns<B> = [B; MAX_COLUMNS];

/// Solves the rows of a block for the first `stored` columns, one bit after another. The default
/// for kernels without faster code.
#[inline(always)]
pub(crate) fn solve_rows<B: Band>(rows: Rows<'_, B>, columns: &mut Columns<B>, stored: usize) {
    for (&coefficients, &value) in rows.coefficients.iter().zip(rows.values).rev() {
        for (column, state) in columns[..stored].iter_mut().enumerate() {
            let following = state.prepend(false);
            let bit = (following & coefficients).parity() ^ (value >> column & 1 == 1);
            *state = state.prepend(bit);
        }
    }
}
