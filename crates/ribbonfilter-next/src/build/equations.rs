//! The equations of a segment's keys, as the solver takes them, and the solution as it is stored.
//!
//! There are two kinds of equations. Those of filters and narrow maps have random coefficients over
//! whole blocks. Those of wide maps select eight slots of four blocks. To the solver both are rows
//! of words.

use super::item::{Item, Value};
use super::sorted::Sorted;
use super::stored::Stored;
use crate::ribbon::equation::{eight_slots, word};
use crate::ribbon::width::BLOCK;
use crate::solve::{Equations, Failure, RowBuffer};

/// The equations of a segment's keys, and where its solution goes.
pub(crate) struct SegmentEquations<'a, V> {
    pub(crate) sorted: &'a Sorted<V>,
    /// The keys that each start has lost at its front; empty if none has.
    pub(crate) skips: &'a [u32],
    pub(crate) stored: Stored<'a>,
}

impl<V: Value> SegmentEquations<'_, V> {
    /// The keys of a start that are not bumped.
    #[inline(always)]
    fn keys(&self, start: usize) -> &[Item<V>] {
        let skip = self.skips.get(start).map_or(0, |&skip| skip as usize);
        &self.sorted.of(start)[skip..]
    }
}

impl<V: Value, const K: usize> Equations<K> for SegmentEquations<'_, V> {
    fn blocks(&self) -> usize {
        self.sorted.starts() + K - 1
    }

    #[inline(always)]
    fn rows(&mut self, block: usize, rows: &mut RowBuffer<'_, K>) -> Result<(), Failure> {
        let keys = if block < self.sorted.starts() { self.keys(block) } else { &[] };
        if keys.is_empty() {
            return Ok(());
        }
        let (mut words, right) = rows.append(keys.len())?;
        match self.stored.system.rows {
            false => dense(keys, &mut words),
            true => sparse(keys, &mut words),
        }
        // Only equations of the last start reach the last block, whose slots may not all exist.
        let mask = self.stored.system.mask(self.stored.first + (block + K - 1) as u64);
        if mask != u64::MAX {
            words[K - 1].iter_mut().for_each(|word| *word &= mask);
        }
        let bits = u64::MAX >> (u64::BITS - self.stored.system.columns);
        for (right, item) in right.iter_mut().zip(keys) {
            // A filter has fingerprints: as many bits of the hash as there are columns.
            *right =
                if Item::<V>::CAN_CONTRADICT { item.value.to_word() } else { item.hash & bits };
        }
        Ok(())
    }

    #[inline(always)]
    fn solved(&mut self, block: usize, columns: &[u64]) {
        self.stored.put(block as u64, columns);
    }
}

/// Random coefficients over whole blocks.
#[inline(always)]
fn dense<V, const K: usize>(keys: &[Item<V>], words: &mut [&mut [u64]; K]) {
    for (index, words) in words.iter_mut().enumerate() {
        for (coefficients, item) in words.iter_mut().zip(keys) {
            *coefficients = word(item.hash, index);
        }
    }
}

/// Eight slots of four blocks.
#[inline(always)]
fn sparse<V, const K: usize>(keys: &[Item<V>], words: &mut [&mut [u64]; K]) {
    for (row, item) in keys.iter().enumerate() {
        let mut coefficients = [0; K];
        for slot in eight_slots(item.hash).map(u64::from) {
            coefficients[(slot / BLOCK) as usize] |= 1 << (slot % BLOCK);
        }
        for (words, coefficients) in words.iter_mut().zip(coefficients) {
            words[row] = coefficients;
        }
    }
}
