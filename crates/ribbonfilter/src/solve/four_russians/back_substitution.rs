//! Back substitution over panels, from the last to the first, eight columns at a time.
//!
//! For each of the `w / 8` panels solved last, which are all that a row can reach, a table of 256
//! bytes holds the sums of all subsets of its rows. The contribution of a panel to a row is the
//! entry that a byte of the row's cyclic coefficients selects. The rows of a panel are then solved
//! among themselves as a triangular bit matrix.

use super::{FourRussians, PANEL};
use crate::ribbon::layout::{Layout, MAX_COLUMNS};
use crate::ribbon::width::Band;
use crate::solve::bit_matrix::{ABOVE, solved_upwards, transposed};
use crate::solve::right_side::RightSide;

/// Bytes of coefficients at the maximum width.
const MAX_BYTES: usize = 16;
/// The maximum number of bytes of a right-hand side.
const GROUPS: usize = 8;
/// The maximum number of panels in a block.
const BLOCK_PANELS: usize = 64 / PANEL;

/// For every subset of a panel's rows, eight columns of their sum.
type Table = [u8; 1 << PANEL];

impl<B: Band, R: RightSide> FourRussians<B, R> {
    /// Solves the system into the blocks of a layout. Free variables are zero unless they were set.
    pub(crate) fn solve(&self, layout: &Layout, bytes: &mut [u8]) {
        let layout = layout.of_rows::<B>();
        let mut tables = [[[0; 1 << PANEL]; MAX_BYTES]; GROUPS];
        let groups = (layout.columns() as usize).div_ceil(8);
        let panels = layout.block_slots() / PANEL;
        // For each panel of a block and each group of eight columns, the bits of its rows, one
        // column per byte.
        let mut solved = [[0; GROUPS]; BLOCK_PANELS];
        for block in (0..layout.blocks()).rev() {
            let first = layout.first_slot_of(block) as usize / PANEL;
            for (number, solved) in solved[..panels].iter_mut().enumerate().rev() {
                let panel = first + number;
                for (group, tables) in tables[..groups].iter_mut().enumerate() {
                    let rows = self.solved(panel, 8 * group as u32, tables);
                    tables[panel % Self::BYTES] = sums_of(rows);
                    solved[group] = transposed(rows);
                }
            }
            let mut columns = [0; MAX_COLUMNS];
            let stored = layout.columns_of(block);
            for (column, word) in columns[..stored].iter_mut().enumerate() {
                let byte = |panel: usize| solved[panel][column / 8] >> (column % 8 * 8) & 0xff;
                *word = (0..panels).fold(0, |word, panel| word | byte(panel) << (8 * panel));
            }
            layout.write_block(bytes, block, &columns[..stored]);
        }
    }

    /// Eight columns of the solution, starting at `column`, for the rows of a panel: one byte per
    /// row.
    #[inline(always)]
    fn solved(&self, panel: usize, column: u32, tables: &[Table; MAX_BYTES]) -> u64 {
        let rows = PANEL * panel..PANEL * (panel + 1);
        let own = panel % Self::BYTES;
        let (mut right_sides, mut matrix) = (0, 0);
        let rows = self.coefficients[rows.clone()].iter().zip(&self.right_sides[rows]);
        for (row, (coefficients, right_side)) in rows.enumerate() {
            let columns = coefficients.byte(own);
            matrix |= u64::from(columns) << (8 * row);
            // `tables[own]` still holds the panel `w` rows later. Only the bits of this byte below
            // the row's own belong to that panel; the loop adds all bits, so the others are
            // cancelled first.
            let mut sum = (right_side.bits() >> column) as u8;
            sum ^= tables[own][usize::from(columns & u8::MAX << row)];
            for (byte, table) in tables[..Self::BYTES].iter().enumerate() {
                sum ^= table[usize::from(coefficients.byte(byte))];
            }
            right_sides |= u64::from(sum) << (8 * row);
        }
        solved_upwards(matrix & ABOVE, right_sides)
    }
}

/// The sums of all subsets of eight bytes.
#[inline(always)]
fn sums_of(rows: u64) -> Table {
    let mut sums = [0; 1 << PANEL];
    for (row, byte) in rows.to_le_bytes().into_iter().enumerate() {
        let (done, next) = sums.split_at_mut(1 << row);
        for (sum, other) in next.iter_mut().zip(done) {
            *sum = *other ^ byte;
        }
    }
    sums
}
