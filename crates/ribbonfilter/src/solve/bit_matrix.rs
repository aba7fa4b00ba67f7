//! Bit matrices of 8 × 8 bits in a word: byte `j` is row `j`, and its bit `k` is column `k`.
//!
//! The eight rows of a *panel*, restricted to the panel's own columns, form such a matrix. It is
//! upper triangular, with ones on the diagonal where rows are filled.

/// A one in each of the eight bytes: the first column.
pub(crate) const ONES: u64 = 0x0101_0101_0101_0101;
/// The bits above the diagonal: bit `k` of byte `j` with `k > j`.
pub(crate) const ABOVE: u64 = 0x0080_c0e0_f0f8_fcfe;

/// The transposed matrix: bit `i` of byte `j` becomes bit `j` of byte `i`. Blocks of 4 × 4, then 2
/// × 2, then single bits are swapped across the diagonal.
#[inline(always)]
pub(crate) fn transposed(matrix: u64) -> u64 {
    let mut matrix = matrix;
    for (distance, upper) in
        [(28, 0x0000_0000_f0f0_f0f0), (14, 0x0000_cccc_0000_cccc), (7, 0x00aa_00aa_00aa_00aa)]
    {
        let swapped = (matrix ^ matrix >> distance) & upper;
        matrix ^= swapped ^ swapped << distance;
    }
    matrix
}

/// Solves an upper triangular system of eight equations. Byte `j` of the result, plus the bytes `k`
/// for which row `j` of `above` has bit `k`, equals byte `j` of `right_sides`.
///
/// With the diagonal as `right_sides`, the result is the inverse of the triangular matrix.
#[inline(always)]
pub(crate) fn solved_upwards(above: u64, right_sides: u64) -> u64 {
    let mut solved = right_sides;
    for row in (1..8).rev() {
        let this = solved >> (8 * row) & 0xff;
        solved ^= (above >> row & ONES).wrapping_mul(this);
    }
    solved
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Random;

    fn bit(matrix: u64, row: usize, column: usize) -> u64 {
        matrix >> (8 * row + column) & 1
    }

    #[test]
    fn transposed_changes_rows_and_columns() {
        let matrix = Random(1).next();
        for (row, column) in (0..64).map(|at| (at / 8, at % 8)) {
            assert_eq!(bit(transposed(matrix), row, column), bit(matrix, column, row));
        }
    }

    #[test]
    fn solved_rows_are_what_is_demanded() {
        let mut random = Random(2);
        for _ in 0..100 {
            let (above, right_sides) = (random.next() & ABOVE, random.next());
            let solved = solved_upwards(above, right_sides).to_le_bytes();
            for row in 0..8 {
                let others = (row + 1..8).filter(|&other| bit(above, row, other) == 1);
                let sum = others.fold(solved[row], |sum, other| sum ^ solved[other]);
                assert_eq!(sum, right_sides.to_le_bytes()[row]);
            }
        }
    }
}
