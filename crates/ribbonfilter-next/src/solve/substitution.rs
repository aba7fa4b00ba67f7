//! Back substitution over reduced pivots that are rows, by tables.
//!
//! The value of a pivot column is the right side of its reduced pivot plus the values of the other
//! columns that the row has. For every eight columns there is a table of the 256 sums of their
//! values, so a row takes a lookup per byte. The groups of a block are solved from the last to the
//! first, each from its own rows' bytes in the later groups. A row's own group is not looked up: the
//! row is a unit vector there, but for free columns, which are zero.

use super::{Failure, reserve};
use alloc::vec::Vec;
use core::ops::BitXor;

/// The tables of the last `K` blocks. Values of at most 8 bits are bytes: a table is then four cache
/// lines.
pub(super) enum Substitution<const K: usize> {
    Bytes(Vec<[u8; 256]>),
    Words(Vec<[u64; 256]>),
}

/// A value of a column: a bit for each bit of the right sides.
trait Value: Copy + Default + BitXor<Output = Self> {
    fn of(right: u64) -> Self;
    fn word(self) -> u64;
}

macro_rules! value {
    ($($type:ty),+) => {$(
        impl Value for $type {
            #[inline(always)]
            fn of(right: u64) -> Self {
                right as Self
            }

            #[inline(always)]
            #[allow(clippy::unnecessary_cast, reason = "not for all types")]
            fn word(self) -> u64 {
                self as u64
            }
        }
    )+};
}
value!(u8, u64);

impl<const K: usize> Substitution<K> {
    pub(super) fn new(right_bits: u32) -> Result<Self, Failure> {
        Ok(match right_bits {
            ..=8 => Self::Bytes(tables(8 * K)?),
            _ => Self::Words(tables(8 * K)?),
        })
    }

    /// The columns of the next block, from the last to the first, from its 64 reduced pivots of
    /// K + 1 words each.
    #[inline(always)]
    pub(super) fn block(&mut self, block: usize, rows: &[u64], columns: &mut [u64; 64]) {
        *columns = [0; 64];
        match self {
            Self::Bytes(tables) => solve_block::<K, u8>(tables, block, rows, columns),
            Self::Words(tables) => solve_block::<K, u64>(tables, block, rows, columns),
        }
    }
}

/// Tables of zeros.
fn tables<T: Value>(count: usize) -> Result<Vec<[T; 256]>, Failure> {
    let mut tables = Vec::new();
    reserve(&mut tables, count)?;
    tables.resize(count, [T::default(); 256]);
    Ok(tables)
}

/// The tables of block b are those from `b % K * 8` on.
#[inline(always)]
fn solve_block<const K: usize, T: Value>(
    tables: &mut [[T; 256]],
    block: usize,
    rows: &[u64],
    columns: &mut [u64; 64],
) {
    let own = block % K * 8;
    // The other blocks first: these lookups wait for nothing.
    let mut values = [T::default(); 64];
    for (value, row) in values.iter_mut().zip(rows.chunks_exact(K + 1)) {
        *value = T::of(row[K]);
    }
    for j in 1..K {
        let tables = tables[(block + j) % K * 8..].first_chunk::<8>().expect("K blocks");
        for (value, row) in values.iter_mut().zip(rows.chunks_exact(K + 1)) {
            *value = lookup(tables, row[j], *value);
        }
    }
    for group in (0..8).rev() {
        let tables_after = &tables[own..own + 8][group + 1..];
        let slots = 8 * group..8 * group + 8;
        for (slot, value) in slots.clone().zip(&mut values[slots]) {
            let later = rows[slot * (K + 1)] >> (8 * group) >> 8;
            *value = lookup(tables_after, later, *value);
        }
        let solved = &values[8 * group..8 * group + 8];
        fill(&mut tables[own + group], solved);
        for byte in 0..size_of::<T>() {
            let bits =
                (0..8).fold(0, |bits, t| bits | (solved[t].word() >> (8 * byte) & 0xff) << (8 * t));
            for (column, bits) in transposed(bits).to_le_bytes().into_iter().enumerate() {
                columns[8 * byte + column] |= u64::from(bits) << (8 * group);
            }
        }
    }
}

/// Adds the sums that the bytes of `word` select.
#[inline(always)]
fn lookup<T: Value>(tables: &[[T; 256]], word: u64, value: T) -> T {
    tables
        .iter()
        .zip(word.to_le_bytes())
        .fold(value, |value, (table, byte)| value ^ table[usize::from(byte)])
}

/// All sums of eight values.
#[inline(always)]
fn fill<T: Value>(table: &mut [T; 256], values: &[T]) {
    table[0] = T::default();
    for (i, &value) in values.iter().enumerate() {
        let (sums, more) = table.split_at_mut(1 << i);
        for (more, &sum) in more.iter_mut().zip(sums.iter()) {
            *more = sum ^ value;
        }
    }
}

/// The transposed 8x8 matrix; row i is byte i.
#[inline(always)]
pub(super) fn transposed(mut x: u64) -> u64 {
    for (distance, mask) in
        [(7, 0x00aa_00aa_00aa_00aa), (14, 0x0000_cccc_0000_cccc), (28, 0x0000_0000_f0f0_f0f0)]
    {
        let swapped = (x ^ x >> distance) & mask;
        x ^= swapped ^ swapped << distance;
    }
    x
}
