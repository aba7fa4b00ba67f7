//! Writes the solution of a segment into the bytes of its system.

use crate::ribbon::system::System;
use crate::ribbon::width::BLOCK;

/// The bytes of a segment's blocks.
pub(crate) struct Stored<'a> {
    pub(crate) system: System,
    /// The first block of the segment.
    pub(crate) first: u64,
    pub(crate) bytes: &'a mut [u8],
}

impl Stored<'_> {
    /// Writes a block, counted from the first one of the segment: one word for each column.
    pub(crate) fn put(&mut self, block: u64, columns: &[u64]) {
        match self.system.rows {
            false => self.put_columns(self.first + block, columns),
            true => self.put_rows(block, columns),
        }
    }

    fn put_columns(&mut self, block: u64, columns: &[u64]) {
        let system = &self.system;
        let offset = (system.offset(block) - system.offset(self.first)) as usize;
        let width = if block + 1 == system.blocks() { system.last_bytes as usize } else { 8 };
        let bytes = &mut self.bytes[offset..offset + system.columns_of(block) as usize * width];
        for (bytes, column) in bytes.chunks_exact_mut(width).zip(columns) {
            bytes.copy_from_slice(&column.to_le_bytes()[..width]);
        }
    }

    /// Writes the bits of a slot one after the other, and slot after slot. Eight slots are as many
    /// bytes as there are columns.
    fn put_rows(&mut self, block: u64, columns: &[u64]) {
        let bits = columns.len();
        let offset = block as usize * BLOCK as usize / 8 * bits;
        let end = self.bytes.len().min(offset + BLOCK as usize / 8 * bits);
        for (octet, bytes) in self.bytes[offset..end].chunks_exact_mut(bits).enumerate() {
            let rows = rows_of(columns, octet);
            let (mut pending, mut count, mut at) = (0_u128, 0, 0);
            for row in rows {
                pending |= u128::from(row) << count;
                count += bits;
                while count >= 8 {
                    bytes[at] = pending as u8;
                    (pending, count, at) = (pending >> 8, count - 8, at + 1);
                }
            }
        }
    }
}

/// The rows of eight slots: the bytes `octet` of all columns, transposed.
fn rows_of(columns: &[u64], octet: usize) -> [u64; 8] {
    let mut rows = [0; 8];
    for (group, columns) in columns.chunks(8).enumerate() {
        let mut matrix = [0; 8];
        for (byte, column) in matrix.iter_mut().zip(columns) {
            *byte = column.to_le_bytes()[octet];
        }
        let transposed = transpose(u64::from_le_bytes(matrix)).to_le_bytes();
        for (row, byte) in rows.iter_mut().zip(transposed) {
            *row |= u64::from(byte) << (8 * group);
        }
    }
    rows
}

/// Transposes an 8 by 8 bit matrix whose rows are the bytes of a word: swaps single bits of pairs of
/// rows, then pairs of bits of pairs of pairs, then halves.
fn transpose(mut matrix: u64) -> u64 {
    for (shift, mask) in
        [(7, 0x00aa_00aa_00aa_00aa), (14, 0x0000_cccc_0000_cccc), (28, 0x0000_0000_f0f0_f0f0)]
    {
        let swapped = (matrix ^ matrix >> shift) & mask;
        matrix ^= swapped ^ swapped << shift;
    }
    matrix
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Random;

    #[test]
    fn transposing_mirrors_the_matrix() {
        let mut random = Random(1);
        for _ in 0..100 {
            let matrix = random.next();
            let transposed = transpose(matrix);
            for (row, column) in (0..64).map(|bit| (bit / 8, bit % 8)) {
                assert_eq!(matrix >> (8 * row + column) & 1, transposed >> (8 * column + row) & 1);
            }
        }
    }
}
