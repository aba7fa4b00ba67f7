//! Row-major blocks: the rows of a function stored one after another.
//!
//! ```text
//! interleaved    c0 of 64 slots, c1 of 64 slots, … c15 of 64 slots
//! row-major      16 bits of slot 0, of slot 1, … of slot 63
//! ```
//!
//! A query for the whole row of many columns has less work in this order: it XORs the rows that
//! its coefficients select. With interleaved columns it computes a parity for each column. A block
//! has the same size in both orders, so a row-major solution is an array of rows: the row of slot
//! `s` begins at `s` times the bytes of a row.

/// The order in which the bits of a block are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    /// Interleaved: column after column.
    Columns,
    /// Row after row, each a little-endian word.
    Rows,
}

impl Order {
    /// The order in which queries for values of `columns` bits are fastest.
    pub(crate) fn of_values(columns: u32) -> Self {
        match Self::Rows.suits(columns) {
            true => Self::Rows,
            false => Self::Columns,
        }
    }

    /// Whether blocks of `columns` columns can be stored in this order: rows must be words.
    pub(crate) fn suits(self, columns: u32) -> bool {
        self == Self::Columns || matches!(columns, 16 | 32 | 64)
    }
}

/// The row of a slot.
pub(super) fn row(bytes: &[u8], slot: u64, columns: u32) -> u64 {
    let size = columns as usize / 8;
    let mut word = [0; 8];
    word[..size].copy_from_slice(&bytes[slot as usize * size..][..size]);
    u64::from_le_bytes(word)
}

/// Writes the rows of a block, as many as fit into `rows`. `columns` has one word per column, with
/// the first slot in the lowest bit.
pub(super) fn write_rows(rows: &mut [u8], columns: &[u64]) {
    let (mut squares, bits) = ([0; 64], columns.len());
    let squares = &mut squares[..bits];
    squares.copy_from_slice(columns);
    transpose_squares(squares);
    for (slot, row) in rows.chunks_exact_mut(bits / 8).enumerate() {
        let word = squares[slot % bits] >> (slot - slot % bits);
        row.copy_from_slice(&word.to_le_bytes()[..bits / 8]);
    }
}

/// Transposes the `n` x `n` bit matrices that lie side by side in `n` words. In each round, the
/// two off-diagonal quarters of every submatrix are swapped; then the submatrices halve in size.
fn transpose_squares(words: &mut [u64]) {
    let mut distance = words.len() / 2;
    while distance > 0 {
        // A mask of the lower `distance` bits in every `2 * distance` bits.
        let lower = u64::MAX / ((1 << distance) + 1);
        for pair in words.chunks_exact_mut(2 * distance) {
            let (upper_rows, lower_rows) = pair.split_at_mut(distance);
            for (upper, below) in upper_rows.iter_mut().zip(lower_rows) {
                let swapped = (*upper >> distance ^ *below) & lower;
                *upper ^= swapped << distance;
                *below ^= swapped;
            }
        }
        distance /= 2;
    }
}
