//! Elimination of rows as rows, by the method of four Russians: portable code, AVX2 and NEON.
//!
//! A group of eight columns needs eight pivots among the rows. Say the pivots' bytes in these
//! columns are the rows of an 8x8 matrix B, and C = B^-1. The sums of pivots that C describes have
//! the unit vectors as their bytes: they are the *reduced* pivots, and they are what the back
//! substitution gets. Another row with byte x becomes zero in the group when the reduced pivots that
//! x selects are added. Two tables, of the 16 sums of each four reduced pivots, make that two
//! additions per row.
//!
//! The rows are in the order of their age. The pivots of a group are sought among the oldest rows
//! that are left, the *window*, because the search is a long chain of dependent operations: for more
//! rows it would take longer, for fewer ones it would too often find fewer than eight pivots. (16
//! random bytes have rank 8 with a probability of 0.996.) Only if it finds fewer in the window and
//! there are more rows, all of them are searched.
//!
//! The rows of the window that are no pivots move to its end, over the pivots, while they are
//! updated; no other row moves. That has no branches. Swapping the pivots to the front in sorted order
//! (and appending to the output row by row) took 1.5 times as long.
//!
//! Oldest first is more than a habit: a redundant row is then mixed with rows of its age, and becomes
//! zero when they end. If the newest rows were pivots, redundant rows would be extended again and
//! again, and pile up.

use super::substitution::Substitution;
use super::{CAPACITY, Elimination, Engine, Failure, Memory, RowBuffer, reserve};
use alloc::vec::Vec;
use core::array;

/// A row, `K` words of coefficients and the right side.
#[derive(Clone, Copy)]
#[repr(C)]
pub(super) struct Row<const K: usize> {
    pub(super) words: [u64; K],
    pub(super) right: u64,
}

impl<const K: usize> Row<K> {
    const ZERO: Self = Self { words: [0; K], right: 0 };
}

/// The pivots of a group of eight columns.
#[derive(Clone, Copy)]
pub(super) struct Pivots {
    /// Bit t: column t has a pivot.
    pub(super) found: u8,
    /// The rows that are the pivots, by columns. 0 for a column without pivot.
    pub(super) rows: [u8; 8],
    /// Bit i: row i is a pivot.
    pub(super) used: u32,
    /// Bit s of byte t: the pivot of column s is part of the reduced pivot of column t. Zero if
    /// column t or column s has no pivot.
    pub(super) reduced: [u8; 8],
}

/// How a token searches for pivots.
pub(super) trait Search: Elimination {
    /// The number of rows searched.
    const WINDOW: usize;

    /// The pivots among the rows whose bytes these are, at most [`WINDOW`](Self::WINDOW).
    fn search(self, bytes: &[u8]) -> Pivots;

    /// The sum of two rows.
    #[inline(always)]
    fn sum<const K: usize>(self, a: &Row<K>, b: &Row<K>) -> Row<K> {
        let mut sum = *a;
        for (word, with) in sum.words.iter_mut().zip(&b.words) {
            *word ^= with;
        }
        sum.right ^= b.right;
        sum
    }
}

macro_rules! search_16 {
    ($($(#[$attribute:meta])* $token:ident)+) => {$(
        $(#[$attribute])*
        impl Search for crate::kernel::$token {
            const WINDOW: usize = 16;

            #[inline(always)]
            fn search(self, bytes: &[u8]) -> Pivots {
                search_16(bytes)
            }
        }
    )+};
}
search_16! {
    Portable
    #[cfg(all(target_arch = "aarch64", target_endian = "little"))] Neon
}

/// The pivots among 16 rows at most, with a byte of two words for each.
///
/// For column t: `with` has a 1 in the bytes of the rows with that column; the lowest one that is no
/// pivot yet becomes one. Its byte, and the sum of pivots that it is by now, are added to all other
/// bytes of `with` by one multiplication each: `with` has ones only, and a product of one and a byte
/// does not leave its byte.
#[inline(always)]
fn search_16(bytes: &[u8]) -> Pivots {
    const ONES: u128 = u128::from_ne_bytes([1; 16]);
    let mut window = [0; 16];
    window[..bytes.len()].copy_from_slice(bytes);
    let mut x = u128::from_le_bytes(window);
    let mut sums = 0u128; // for each row: which pivots were added to it
    let mut unused = ONES;
    let mut pivots = Pivots { found: 0, rows: [0; 8], used: 0, reduced: [0; 8] };
    for t in 0..8 {
        let with = x >> t & ONES;
        let candidates = with & unused;
        let pivot = candidates & candidates.wrapping_neg();
        let found = u8::from(pivot != 0);
        let at = candidates.trailing_zeros() & 127;
        let others = with ^ pivot;
        let keep = 0u8.wrapping_sub(found);
        let byte = (x >> at) as u8 & keep;
        let sum = ((sums >> at) as u8 | 1 << t) & keep;
        sums |= pivot << t;
        pivots.used |= u32::from(found) << (at / 8);
        x ^= spread(others, byte);
        sums ^= spread(others, sum);
        unused ^= pivot;
        pivots.found |= found << t;
        pivots.rows[t] = (at / 8) as u8 & keep;
    }
    let sums = sums.to_le_bytes();
    for t in 0..8 {
        let keep = 0u8.wrapping_sub(pivots.found >> t & 1);
        pivots.reduced[t] = sums[pivots.rows[t] as usize & 15] & keep;
    }
    pivots
}

/// `byte` in every byte of `ones` that is 1, where the others are 0.
#[inline(always)]
fn spread(ones: u128, byte: u8) -> u128 {
    let low = (ones as u64).wrapping_mul(byte.into());
    let high = ((ones >> 64) as u64).wrapping_mul(byte.into());
    low as u128 | (high as u128) << 64
}

/// The pivots among all rows, row after row, reduced by the pivots there are. Swaps them to the front.
#[cold]
fn search_all<const K: usize>(rows: &mut [Row<K>], bytes: &mut [u8]) -> Pivots {
    let mut pivots = Pivots { found: 0, rows: [0; 8], used: 0, reduced: [0; 8] };
    let mut basis = [0u8; 8]; // the pivots' bytes: column t is the first of `basis[t]`
    let mut count = 0;
    for row in 0..rows.len() {
        let (mut byte, mut sum) = (bytes[row], 0);
        while byte != 0 {
            let t = byte.trailing_zeros() as usize;
            if pivots.found >> t & 1 == 0 {
                (basis[t], pivots.reduced[t]) = (byte, sum | 1 << t);
                pivots.rows[t] = count as u8;
                pivots.used |= 1 << count;
                pivots.found |= 1 << t;
                rows.swap(count, row);
                bytes.swap(count, row);
                count += 1;
                break;
            }
            byte ^= basis[t];
            sum ^= pivots.reduced[t];
        }
        if pivots.found == 0xff {
            break;
        }
    }
    for t in (1..8).rev() {
        for s in 0..t {
            if basis[s] >> t & 1 != 0 {
                basis[s] ^= basis[t];
                pivots.reduced[s] ^= pivots.reduced[t];
            }
        }
    }
    pivots
}

/// Two tables of the sums of eight rows: by the lower and by the upper four bits of a byte.
struct Sums<const K: usize>([[Row<K>; 16]; 2]);

impl<const K: usize> Sums<K> {
    const EMPTY: Self = Self([[Row::ZERO; 16]; 2]);

    /// In place: tables that are returned would be copied.
    #[inline(always)]
    fn fill<T: Search>(&mut self, token: T, rows: &[Row<K>; 8]) {
        for (table, rows) in self.0.iter_mut().zip(rows.as_chunks::<4>().0) {
            for (i, row) in rows.iter().enumerate() {
                for sum in 0..1 << i {
                    table[sum | 1 << i] = token.sum(&table[sum], row);
                }
            }
        }
    }

    #[inline(always)]
    fn get<T: Search>(&self, token: T, byte: u8) -> Row<K> {
        token.sum(&self.0[0][usize::from(byte & 15)], &self.0[1][usize::from(byte >> 4)])
    }
}

/// The engine.
pub(super) struct FourRussians<'m, T, const K: usize> {
    token: T,
    /// The rows that wait, the oldest first; in a block all rows.
    rows: Vec<Row<K>>,
    /// For each row its byte in the columns of the next group.
    bytes: Vec<u8>,
    /// For each column of each block its reduced pivot, K words and the right side, or zeros.
    memory: &'m mut Memory,
    substitution: Substitution<K>,
}

impl<'m, T: Search, const K: usize> Engine<'m, K> for FourRussians<'m, T, K> {
    type Token = T;

    #[inline(always)]
    fn start(
        token: T,
        memory: &'m mut Memory,
        blocks: usize,
        right_bits: u32,
    ) -> Result<Self, Failure> {
        let (mut rows, mut bytes) = (Vec::new(), Vec::new());
        reserve(&mut rows, CAPACITY)?;
        reserve(&mut bytes, CAPACITY)?;
        memory.pivots.clear();
        reserve(&mut memory.pivots, blocks.saturating_mul(64 * (K + 1)))?;
        let substitution = Substitution::new(right_bits)?;
        Ok(Self { token, rows, bytes, memory, substitution })
    }

    fn waiting(&self) -> usize {
        self.rows.len()
    }

    fn release(&mut self, rows: &mut RowBuffer<K>) -> Result<(), Failure> {
        let (mut words, right) = rows.append(self.rows.len())?;
        for (i, row) in self.rows.drain(..).enumerate() {
            for (array, word) in words.iter_mut().zip(row.words) {
                array[i] = word;
            }
            right[i] = row.right;
        }
        Ok(())
    }

    #[inline(always)]
    fn eliminate(&mut self, rows: &RowBuffer<K>) -> Result<usize, Failure> {
        let (words, right) = rows.arrays();
        self.rows.extend(
            (0..right.len())
                .map(|i| Row { words: array::from_fn(|j| words[j][i]), right: right[i] }),
        );
        let pivots = self.eliminate_columns();
        self.advance(pivots)?;
        Ok(pivots)
    }

    #[inline(always)]
    fn substitute(&mut self, block: usize, columns: &mut [u64; 64]) {
        let rows = &self.memory.pivots[block * 64 * (K + 1)..][..64 * (K + 1)];
        self.substitution.block(block, rows, columns);
    }
}

impl<T: Search, const K: usize> FourRussians<'_, T, K> {
    /// Eliminates 64 columns, and stores their reduced pivots. The pivots are the first rows then.
    /// Returns their number.
    #[inline(always)]
    fn eliminate_columns(&mut self) -> usize {
        let token = self.token;
        let begin = self.memory.pivots.len();
        self.memory.pivots.resize(begin + 64 * (K + 1), 0);
        let mut output = self.memory.pivots[begin..].chunks_exact_mut(K + 1);
        self.bytes.clear();
        self.bytes.extend(self.rows.iter().map(|row| row.words[0] as u8));
        let (mut rows, mut bytes) = (&mut self.rows[..], &mut self.bytes[..]);
        let mut sums = Sums::EMPTY;
        let mut total = 0;
        for group in 0..8 {
            let window = rows.len().min(T::WINDOW);
            let mut pivots = token.search(&bytes[..window]);
            if pivots.found != 0xff && bytes.len() > T::WINDOW {
                pivots = search_all(rows, bytes);
            }
            let mut reduced = [Row::ZERO; 8];
            if !rows.is_empty() {
                for (row, at) in reduced.iter_mut().zip(pivots.rows) {
                    *row = rows[usize::from(at)];
                }
            }
            sums.fill(token, &reduced);
            for (row, byte) in reduced.iter_mut().zip(pivots.reduced) {
                *row = sums.get(token, byte);
            }
            sums.fill(token, &reduced);
            for (row, output) in reduced.iter().zip(&mut output) {
                output[..K].copy_from_slice(&row.words);
                output[K] = row.right;
            }
            let next = 8 * (group + 1) % 64;
            let mut to = window;
            for i in (0..window).rev() {
                let row = token.sum(&rows[i], &sums.get(token, bytes[i]));
                bytes[to - 1] = (row.words[0] >> next) as u8;
                rows[to - 1] = row;
                to -= usize::from(pivots.used >> i & 1 == 0);
            }
            for (row, byte) in rows[window..].iter_mut().zip(&mut bytes[window..]) {
                *row = token.sum(row, &sums.get(token, *byte));
                *byte = (row.words[0] >> next) as u8;
            }
            (rows, bytes) = (&mut rows[to..], &mut bytes[to..]);
            total += to;
        }
        total
    }

    /// Drops the pivots, which are the first rows, and rows that are zero by now. Moves the others
    /// one block ahead.
    #[inline(always)]
    fn advance(&mut self, pivots: usize) -> Result<(), Failure> {
        let mut left = 0;
        let mut contradiction = false;
        for i in pivots..self.rows.len() {
            let mut row = self.rows[i];
            row.words.rotate_left(1); // the first word is zero
            let any = row.words.into_iter().fold(0, |any, word| any | word) != 0;
            contradiction |= !any && row.right != 0;
            self.rows[left] = row;
            left += usize::from(any);
        }
        self.rows.truncate(left);
        match contradiction {
            true => Err(Failure::NoSolution),
            false => Ok(()),
        }
    }
}
