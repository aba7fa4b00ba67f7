//! Row-major blocks: the rows of a function one after another.
//!
//! ```text
//! interleaved    c0 of 64 slots, c1 of 64 slots, … c15 of 64 slots
//! row-major      16 bits of slot 0, of slot 1, … of slot 63
//! ```
//!
//! A query that wants the whole row of many columns has less to do here: it adds up the rows
//! that its coefficients choose and is done, where interleaved columns leave it a parity to
//! take for each. A block takes as many bytes either way, so a solution that is row-major
//! throughout is an array of rows, and the bytes of slot `s` begin at `s` times their number.

/// In which order the bits of a block are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    /// Interleaved: column after column.
    Columns,
    /// Row after row, each a little-endian word.
    Rows,
}

impl Order {
    /// The order in which values of so many bits are found fastest.
    pub(crate) fn of_values(columns: u32) -> Self {
        match Self::Rows.suits(columns) {
            true => Self::Rows,
            false => Self::Columns,
        }
    }

    /// Whether blocks of so many columns can be stored in this order: rows must be words.
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

/// Writes as many rows of a block as there is room for, given its columns: one word each, the
/// first slot its lowest bit.
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

/// Transposes the squares of as many bits as there are words, which lie side by side in them.
/// Ever smaller parts of each square change places across its diagonal.
fn transpose_squares(words: &mut [u64]) {
    let mut distance = words.len() / 2;
    while distance > 0 {
        // The lower half of each part.
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
