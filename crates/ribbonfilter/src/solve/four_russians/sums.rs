//! Sums of a full panel's rows: what a lane must add to clear its columns of the panel.
//!
//! Row `j` of a full panel has column `j` and none before it. So for any four bits of a lane,
//! exactly one sum of four rows has these bits. One table holds the sums of the first four rows,
//! another those of the other four.

use super::{PANEL, Row};
use crate::ribbon::width::Band;
use crate::solve::right_side::RightSide;

/// Number of rows of a table, and of the columns that index it.
const HALF: usize = PANEL / 2;
/// A sum for every combination of `HALF` columns.
type Table<B, R> = [Row<B, R>; 1 << HALF];

/// The tables of a panel.
pub(super) struct Sums<B, R> {
    halves: [Table<B, R>; 2],
}

impl<B: Band, R: RightSide> Sums<B, R> {
    pub(super) const NONE: Self = Self { halves: [[Row::ZERO; 1 << HALF]; 2] };

    /// Computes the tables for the rows of a full panel. `byte` is the byte of the coefficients
    /// that holds the panel's columns.
    #[inline(always)]
    pub(super) fn make(&mut self, coefficients: &[B], right_sides: &[R], byte: usize) {
        let rows = coefficients.chunks_exact(HALF).zip(right_sides.chunks_exact(HALF));
        for (half, (table, (coefficients, right_sides))) in
            self.halves.iter_mut().zip(rows).enumerate()
        {
            // From the last row to the first, each row doubles the number of entries.
            for row in (0..HALF).rev() {
                let this = Row { coefficients: coefficients[row], right_side: right_sides[row] };
                let columns = half_of(this.coefficients.byte(byte), half);
                let following = columns & (0xe << row);
                for later in (0..1 << HALF).step_by(2 << row) {
                    table[later | 1 << row] = this.plus(&table[later ^ following]);
                }
            }
        }
    }

    /// Eliminates the given columns of the panel from a lane.
    #[inline(always)]
    pub(super) fn eliminated(&self, lane: Row<B, R>, byte: usize, columns: u8) -> Row<B, R> {
        let mut lane = lane;
        for (half, table) in self.halves.iter().enumerate() {
            lane = lane.plus(&table[half_of(lane.coefficients.byte(byte) & columns, half)]);
        }
        lane
    }
}

/// The bits that index one of the tables.
#[inline(always)]
fn half_of(byte: u8, half: usize) -> usize {
    usize::from(byte) >> (half * HALF) & ((1 << HALF) - 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Random;

    fn check<B: Band>() {
        let mut random = Random(5);
        let mut sums = Sums::<B, u32>::NONE;
        for byte in 0..B::WIDTH.bits() as usize / 8 {
            let bit = |at: usize| B::first_bits(at as u64 + 1) ^ B::first_bits(at as u64);
            let rows: [B; PANEL] = core::array::from_fn(|row| {
                let coefficients = random.band::<B>();
                let first = bit(8 * byte + row);
                coefficients ^ (coefficients & first) ^ first
            });
            let right_sides: [u32; PANEL] = core::array::from_fn(|_| random.next() as u32);
            sums.make(&rows, &right_sides, byte);
            for _ in 0..100 {
                let lane = Row { coefficients: random.band(), right_side: 7 };
                // Column by column. Bits that a row has before its own column are not part of the
                // panel.
                let mut expected = lane;
                for row in 0..PANEL {
                    if expected.coefficients & bit(8 * byte + row) != B::ZERO {
                        let right_side = right_sides[row];
                        expected = expected.plus(&Row { coefficients: rows[row], right_side });
                    }
                }
                let found = sums.eliminated(lane, byte, u8::MAX);
                assert_eq!(found.coefficients, expected.coefficients);
                assert_eq!(found.right_side, expected.right_side);
                assert_eq!(sums.eliminated(lane, byte, 0).coefficients, lane.coefficients);
            }
        }
    }

    #[test]
    fn sums_are_what_row_after_row_gives() {
        check::<u32>();
        check::<u64>();
        check::<u128>();
    }
}
