//! The system becomes a solution, streaming from the last row to the first.
//!
//! A filled row determines its row of `Z` from the `w - 1` rows behind it; an empty row
//! is a free variable. For each column a word of `w` bits holds the rows last solved
//! (bit `k` is the row `k` behind the present one), and whenever a block of rows is
//! complete, those words *are* the block (paper, section 5.2).

use crate::banding::{Banding, RightSide};
use crate::layout::{Layout, MAX_COLUMNS};
use crate::width::Band;

/// Solves a segment whose first slot is `first_slot` of the whole layout and writes its
/// blocks into `bytes`.
///
/// `free` gives the value of a free variable from its slot; column `c` takes bit `c`.
/// Only the columns that a block stores are computed for its rows: a query reads the
/// columns of the block in which it starts, and no row needs more than the rows behind
/// it, which have at least as many.
pub(crate) fn solve<B: Band, R: RightSide>(
    banding: &Banding<B, R>,
    free: impl Fn(u64) -> u32,
    layout: &Layout,
    first_slot: u64,
    bytes: &mut [u8],
) {
    let mut state = [B::ZERO; MAX_COLUMNS];
    let mut words = [0; MAX_COLUMNS];
    let mut row = banding.slots();
    while row > 0 {
        let block = layout.block_of(first_slot + row as u64 - 1);
        let columns = layout.columns_of(block);
        let first_row = (layout.first_slot_of(block) - first_slot) as usize;
        while row > first_row {
            row -= 1;
            let slot = first_slot + row as u64;
            solve_row(banding.row(row), || free(slot), &mut state[..columns]);
        }
        for (word, column) in words.iter_mut().zip(&state[..columns]) {
            *word = column.first_block();
        }
        layout.write_block(bytes, block, &words[..columns]);
    }
}

#[inline(always)]
fn solve_row<B: Band, R: RightSide>(
    equation: Option<(B, R)>,
    free: impl FnOnce() -> u32,
    state: &mut [B],
) {
    match equation {
        Some((coefficients, right_side)) => {
            for (column, rows) in state.iter_mut().enumerate() {
                let behind = rows.prepend(false);
                let bit = (behind & coefficients).parity() ^ right_side.bit(column);
                *rows = rows.prepend(bit);
            }
        }
        None => {
            let value = free();
            for (column, rows) in state.iter_mut().enumerate() {
                *rows = rows.prepend(value.bit(column));
            }
        }
    }
}
