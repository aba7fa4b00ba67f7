//! Sums of a full panel's rows: what a lane must take to have nothing left in the panel.
//!
//! Row `j` of a full panel has column `j` and none before it, so for any four bits of a lane
//! there is one sum of four rows with just these bits. One table holds those of the first
//! four rows, another those of the others.

use super::{PANEL, Row};
use crate::width::Band;

/// Rows of a table, and the columns that ask it.
const HALF: usize = PANEL / 2;
/// A sum for any bits of as many columns.
type Table<B> = [Row<B>; 1 << HALF];

/// The tables of a panel.
pub(super) struct Sums<B> {
    halves: [Table<B>; 2],
}

impl<B: Band> Sums<B> {
    pub(super) const NONE: Self = Self { halves: [[Row::ZERO; 1 << HALF]; 2] };

    /// Makes the tables for the rows of a full panel, whose columns are a byte of the
    /// coefficients.
    #[inline(always)]
    pub(super) fn make(&mut self, coefficients: &[B], right_sides: &[u32], byte: usize) {
        let rows = coefficients.chunks_exact(HALF).zip(right_sides.chunks_exact(HALF));
        for (half, (table, (coefficients, right_sides))) in
            self.halves.iter_mut().zip(rows).enumerate()
        {
            // Each row doubles the entries, from the last row on.
            for row in (0..HALF).rev() {
                let this = Row { coefficients: coefficients[row], right_side: right_sides[row] };
                let columns = half_of(this.coefficients.byte(byte), half);
                let behind = columns & (0xe << row);
                for later in (0..1 << HALF).step_by(2 << row) {
                    table[later | 1 << row] = this.plus(&table[later ^ behind]);
                }
            }
        }
    }

    /// A lane without the given columns of the panel.
    #[inline(always)]
    pub(super) fn eliminated(&self, lane: Row<B>, byte: usize, columns: u8) -> Row<B> {
        let mut lane = lane;
        for (half, table) in self.halves.iter().enumerate() {
            lane = lane.plus(&table[half_of(lane.coefficients.byte(byte) & columns, half)]);
        }
        lane
    }
}

/// The bits that ask one of the tables.
#[inline(always)]
fn half_of(byte: u8, half: usize) -> usize {
    usize::from(byte) >> (half * HALF) & ((1 << HALF) - 1)
}
