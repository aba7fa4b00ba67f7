//! A segment's hashes under a seed, roughly in the order of their starts.
//!
//! In insertion order, every key of a large segment would miss the cache. The start is monotone in
//! the seeded hash, so scattering by the top bits is enough: the keys of one part start within a
//! few thousand slots of each other.
//!
//! Each part has capacity for its expected number of hashes and some standard deviations more, so
//! the hashes need not be counted first. They are counted only if they are so skewed that a part
//! overflows.

use super::{Item, Value};
use crate::error::OutOfMemory;
use crate::ribbon::equation::{Seed, Seeded, seeded};
use crate::storage::memory::try_filled_huge;
use alloc::vec::Vec;

/// Minimum number of keys in a part, as a power of two; the maximum is twice that, until
/// [`MAX_PARTS_LOG`] limits the parts. The rows of a part fit the first two levels of cache.
const PART_LOG: u32 = 12;
/// Maximum number of parts, as a power of two: the processor can write to this many locations in
/// alternation.
const MAX_PARTS_LOG: u32 = 9;

/// Buffer for one segment's hashes, reused for every segment.
#[derive(Default)]
pub(crate) struct Ordered<V> {
    items: Vec<Item<Seeded, V>>,
    /// The beginning of each part, and the end of the last.
    borders: Vec<usize>,
    /// The end of each part's hashes.
    ends: Vec<usize>,
}

impl<V: Value> Ordered<V> {
    /// Orders the hashes of a segment's keys under a seed.
    #[inline(always)]
    pub(crate) fn fill(&mut self, keys: &[Item<u64, V>], seed: Seed) -> Result<(), OutOfMemory> {
        let parts_log = (keys.len() >> PART_LOG).max(1).ilog2().min(MAX_PARTS_LOG);
        let hash = |key| seeded(key, seed);
        let capacity = capacity(keys.len(), parts_log);
        self.fill_parts(keys, 1 << parts_log, capacity, hash, |hash| hash.part(parts_log))
    }

    /// Scatters the hashes to `parts` parts, each with capacity for `capacity` hashes. `part` selects
    /// the part of a hash.
    #[inline(always)]
    pub(crate) fn fill_parts(
        &mut self,
        keys: &[Item<u64, V>],
        parts: usize,
        capacity: usize,
        hash: impl Fn(u64) -> Seeded,
        part: impl Fn(Seeded) -> usize,
    ) -> Result<(), OutOfMemory> {
        self.borders.clear();
        self.borders.extend((0..=parts).map(|part| part * capacity));
        if !self.scatter(keys, &hash, &part)? {
            self.borders.fill(0);
            for &key in keys {
                self.borders[part(hash(key.hash)) + 1] += 1;
            }
            for part in 1..self.borders.len() {
                self.borders[part] += self.borders[part - 1];
            }
            self.scatter(keys, &hash, &part)?;
        }
        Ok(())
    }

    /// Appends each hash to its part. Returns whether every part had enough capacity.
    #[inline(always)]
    fn scatter(
        &mut self,
        keys: &[Item<u64, V>],
        hash: impl Fn(u64) -> Seeded,
        part: impl Fn(Seeded) -> usize,
    ) -> Result<bool, OutOfMemory> {
        let parts = self.borders.len() - 1;
        let needed = self.borders[parts];
        if self.items.len() < needed {
            // Free the old buffer first: the memory budget does not cover both.
            self.items = Vec::new();
            // A little more, for segments that are slightly larger.
            self.items = try_filled_huge(Item::default(), needed + needed / 64)?;
        }
        self.ends.clear();
        self.ends.extend_from_slice(&self.borders[..parts]);
        let in_part = |key: Item<u64, V>| {
            let item = key.map(&hash);
            (part(item.hash), item)
        };
        let Self { items, ends, .. } = self;
        let mut put = |(part, item): (usize, Item<Seeded, V>)| {
            let end = &mut ends[part];
            // A part that overflows overwrites others; that is detected below.
            if let Some(place) = items.get_mut(*end) {
                *place = item;
            }
            *end += 1;
        };
        // Hash four keys before storing any: a store has to wait for the preceding update of
        // `ends`.
        let (fours, rest) = keys.as_chunks::<4>();
        for four in fours {
            four.map(in_part).into_iter().for_each(&mut put);
        }
        for &key in rest {
            put(in_part(key));
        }
        Ok(self.ends.iter().zip(&self.borders[1..]).all(|(end, border)| end <= border))
    }

    /// The keys, part by part.
    #[inline(always)]
    pub(crate) fn parts(&self) -> impl Iterator<Item = &[Item<Seeded, V>]> {
        self.borders.iter().zip(&self.ends).map(|(&begin, &end)| &self.items[begin..end])
    }
}

/// The capacity of one part: its expected size and seven standard deviations.
pub(crate) fn capacity(keys: usize, parts_log: u32) -> usize {
    let share = (keys >> parts_log) + 1;
    if parts_log == 0 { keys } else { share + 7 * share.isqrt() + 8 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ribbon::equation::mix;

    /// All hashes are there, each in the part of its top bits.
    fn check(keys: &[u64]) {
        let items: Vec<Item<u64, ()>> = keys.iter().map(|&key| key.into()).collect();
        let mut ordered = Ordered::default();
        // A buffer left over from an earlier seed must not matter.
        for seed in [0, 1, 7].map(Seed::new) {
            ordered.fill(&items, seed).expect("memory");
            let mut expected: Vec<Seeded> = keys.iter().map(|&key| seeded(key, seed)).collect();
            let mut found: Vec<Seeded> = ordered.parts().flatten().map(|item| item.hash).collect();
            let parts_log = ordered.ends.len().ilog2();
            for (number, part) in ordered.parts().enumerate() {
                assert!(part.iter().all(|item| item.hash.part(parts_log) == number));
            }
            expected.sort_unstable_by_key(|hash| hash.part(63));
            found.sort_unstable_by_key(|hash| hash.part(63));
            assert_eq!(found, expected);
        }
    }

    #[test]
    fn every_hash_is_in_its_part() {
        for keys in [0, 1, 4095, 8191, 8192, 8193, 100_000] {
            check(&(0..keys).map(mix).collect::<Vec<_>>());
        }
    }

    #[test]
    fn skewed_hashes_are_counted_first() {
        let same = core::iter::repeat_n(mix(1), 20_000);
        check(&same.clone().collect::<Vec<_>>());
        check(&same.chain((0..20_000).map(mix)).collect::<Vec<_>>());
    }
}
