//! Orders a segment's keys by start, for one seed after another.
//!
//! Keys are counted by start. The counts alone determine how long the queues of a seed are
//! ([`Sorted::longest_queue`]), which rules out most bad seeds. Only for the other seeds are the
//! keys sorted, with the same counts. Segments are small enough for the second-level cache, so
//! there are no windows as in a Bumped ribbon.

use super::window::Class;
use crate::build::{Item, Value};
use crate::error::OutOfMemory;
use crate::ribbon::equation::{Seed, Seeded, Starts, seeded};
use crate::ribbon::rate;
use crate::storage::memory::try_filled;
use alloc::vec::Vec;
use core::ops::Range;

pub(super) struct Sorted<V> {
    starts: Starts,
    /// The number of keys with each start, modulo 2^16.
    counts: Vec<u16>,
    /// `before[i]` is the number of keys that start before start `i`.
    before: Vec<u32>,
    items: Vec<Item<Seeded, V>>,
}

impl<V: Value> Sorted<V> {
    pub(super) fn new(starts: Starts) -> Result<Self, OutOfMemory> {
        let count = usize::try_from(starts.count()).unwrap_or(usize::MAX);
        Ok(Self {
            starts,
            counts: try_filled(0, count)?,
            before: try_filled(0, count.saturating_add(2))?,
            items: Vec::new(),
        })
    }

    /// The number of starts.
    pub(super) fn starts(&self) -> usize {
        self.counts.len()
    }

    /// Counts the keys under a seed.
    #[inline(always)]
    pub(super) fn count(&mut self, keys: &[Item<u64, V>], seed: Seed) {
        let Self { starts, counts, .. } = self;
        counts.fill(0);
        let place = |key: &Item<u64, V>| starts.start(seeded(key.hash, seed)) as usize;
        // Hash four keys before counting any: an increment then waits for the preceding one only if
        // both have the same start.
        let (fours, rest) = keys.as_chunks::<4>();
        for keys in fours {
            for place in keys.each_ref().map(place) {
                counts[place] = counts[place].wrapping_add(1);
            }
        }
        for place in rest.iter().map(place) {
            counts[place] = counts[place].wrapping_add(1);
        }
    }

    /// The longest queue of the `keys` keys that were counted, or any queue longer than `limit`.
    /// Returns `u32::MAX` if a count has wrapped around, which the sum of the counts reveals.
    #[inline(always)]
    pub(super) fn longest_queue(&self, keys: usize, limit: u32) -> u32 {
        let sum: usize = self.counts.iter().map(|&count| usize::from(count)).sum();
        if sum != keys {
            return u32::MAX;
        }
        rate::longest_queue(&self.counts, 1, limit)
    }

    /// Sorts the keys that were counted under the same seed.
    #[inline(always)]
    pub(super) fn sort(&mut self, keys: &[Item<u64, V>], seed: Seed) -> Result<(), OutOfMemory> {
        let Self { starts, counts, before, items } = self;
        if items.len() < keys.len() {
            *items = Vec::new();
            *items = try_filled(Item::default(), keys.len())?;
        }
        // The positions are stored one entry further: `places[i]` is `before[i + 1]`. Storing the
        // keys of start `i` advances it to the beginning of start `i + 1`, which is its final
        // value.
        let mut sum = 0;
        let (first, places) = before.split_first_mut().expect("at least two");
        *first = 0;
        for (&count, place) in counts.iter().zip(&mut *places) {
            *place = sum;
            sum += u32::from(count);
        }
        let items = &mut items[..keys.len()];
        let put = |key: &Item<u64, V>| {
            let item = key.map(|mixed| seeded(mixed, seed));
            (starts.start(item.hash) as usize, item)
        };
        let (fours, rest) = keys.as_chunks::<4>();
        for keys in fours {
            for (start, item) in keys.each_ref().map(put) {
                items[places[start] as usize] = item;
                places[start] += 1;
            }
        }
        for (start, item) in rest.iter().map(put) {
            items[places[start] as usize] = item;
            places[start] += 1;
        }
        Ok(())
    }

    /// The keys whose starts lie in a range.
    #[inline(always)]
    pub(super) fn keys(&self, starts: Range<usize>) -> Class<'_, V> {
        let keys = self.before[starts.start] as usize..self.before[starts.end] as usize;
        Class::new(self.starts, &self.items[keys])
    }
}
