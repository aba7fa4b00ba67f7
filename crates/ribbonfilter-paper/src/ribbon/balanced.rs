//! Balanced Ribbon (paper, section 6): two possible locations per key, and hardly an empty slot.
//!
//! One system is divided into soft shards of about a thousand slots. A shard that cannot take all
//! of its keys *bumps* some of them to their second location, in a later shard. The shards are in
//! levels:
//!
//! ```text
//! shard     000 001 010 011 | 100 101 | 110 | 111        8 shards
//! level     0               | 1       | 2   | 3          (1 to 4 in the paper)
//! ```
//!
//! The shards of level 0 get `1 + alpha` times the average number of keys, all others `1 - alpha`
//! times. A key is bumped from level `i` to level `i + 1`, which has half as many shards. So the
//! overload is handed on, and down to the last shard there are always enough keys.
//!
//! Keys are bumped by *bucket*: a shard has eight, each smaller than the preceding one by a factor
//! of about the square root of two, and one bit of metadata for each. Construction is greedy. On
//! each level the keys that were bumped to it are inserted first. Then a large bucket of shard
//! `i + 1` is tried before a smaller one of shard `i`, which could spill over into the next shard:
//!
//! ```text
//!             shard 0   shard 1   shard 2   shard 3
//! bucket 0    1         2         4         7            the largest
//! bucket 1    3         5         8
//! bucket 2    6         9
//! ```
//!
//! Construction fails only if a bumped key does not fit at its second location. That happens in the
//! last shard, if anywhere: it lacks the slots that were left empty in all others.

use super::single::first_seed;
use super::{Grouped, Item, Located, starts};
use crate::banding::{Banding, RightSide};
use crate::hash::Seeded;
use crate::width::Word;
use crate::{Error, Solution, Starts, Width, slots};
use std::ops::Range;

/// The buckets of a shard, one bit of its metadata each.
pub const BUCKETS: usize = 8;
/// The expected keys of each bucket, of 128: a geometric series with a ratio of about `2^-0.5`.
const SIZES: [u8; BUCKETS] = [40, 28, 20, 14, 10, 7, 5, 4];
/// The overload of level 0 in standard deviations of the number of keys of a shard, as in the paper.
/// (With 2.5, fewer keys are bumped, and hardly more slots are needed: `simulate balanced`.)
const OVERLOAD: f64 = 3.5;

/// The number of shards, and the overload of level 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// There are `1 << bits` shards.
    pub bits: u32,
    /// `alpha` in units of 1/256.
    pub overload: u8,
}

/// Keys of the smallest shards, as a power of two. Larger shards have less metadata per key, but
/// leave more slots empty. (The authors' code has 333 to 2667 keys, by the width.)
const fn shard_log(width: Width) -> u32 {
    match width {
        Width::W16 | Width::W32 => 7,
        Width::W64 => 8,
        Width::W128 => 9,
    }
}

/// The fraction of slots that stay empty with the smallest and with the largest shards, which have
/// twice as many keys; from simulations.
const fn waste(width: Width) -> [f64; 2] {
    match width {
        Width::W16 => [0.065, 0.115],
        Width::W32 => [0.0017, 0.0095],
        Width::W64 => [0.000_23, 0.0013],
        Width::W128 => [0.000_07, 0.0004],
    }
}

impl Shape {
    /// The shards for a number of keys; `None` if there is only one.
    pub fn new(keys: u64, width: Width) -> Option<Self> {
        let log = shard_log(width);
        // A few shards take as many slots as one.
        let bits = (keys >> log).max(1).ilog2();
        let shard_keys = keys as f64 / libm::exp2(f64::from(bits));
        let overload = libm::round(256.0 * OVERLOAD / libm::sqrt(shard_keys)) as u8;
        (bits >= 5).then_some(Self { bits, overload })
    }

    fn shards(self) -> usize {
        1 << self.bits
    }

    /// The level of a shard: its number of leading ones.
    fn level(self, shard: usize) -> u32 {
        (!(shard as u64) << (64 - self.bits)).leading_zeros().min(self.bits)
    }

    /// The shards of a level.
    fn of_level(self, level: u32) -> Range<usize> {
        let before = |level: u32| self.shards() - (self.shards() >> level);
        match level < self.bits {
            true => before(level)..before(level + 1),
            false => self.shards() - 1..self.shards(),
        }
    }

    /// The shard of a position.
    fn shard(self, position: u64) -> usize {
        (position >> (64 - self.bits)) as usize
    }

    /// The primary position of a key: anywhere, and then, with probability `alpha`, its top bit is
    /// cleared. It determines shard and start.
    fn primary(self, seeded: Seeded) -> u64 {
        let moves = (seeded.balance_bits() as u8) < self.overload;
        if moves { seeded.0 & u64::MAX >> 1 } else { seeded.0 }
    }

    /// The position of a key that is bumped to a level: anywhere in the shards of that level. The
    /// last shard bumps to itself.
    fn at_level(self, level: u32, bumped: Seeded) -> u64 {
        let ones = !(u64::MAX >> level);
        let below = if level < self.bits { level + 1 } else { level };
        ones | bumped.0 >> below
    }

    /// The level to which a shard of `level` bumps.
    pub(crate) fn next_level(self, level: u32) -> u32 {
        (level + 1).min(self.bits)
    }
}

/// The bucket of a key.
fn bucket(seeded: Seeded) -> usize {
    let mut draw = (seeded.balance_bits() >> 8) as u8 % 128;
    for (bucket, &size) in SIZES.iter().enumerate() {
        if draw < size {
            return bucket;
        }
        draw -= size;
    }
    BUCKETS - 1
}

/// A Balanced ribbon.
#[derive(Clone, Debug, PartialEq)]
pub struct Balanced {
    seed: u8,
    smash: u64,
    shape: Shape,
    /// One byte per shard: a bit for each bumped bucket.
    metadata: Vec<u8>,
    solution: Solution,
}

impl Balanced {
    pub(super) fn build<W: Word, R: RightSide>(
        items: &[Item<R>],
        shape: Shape,
        slots: Option<u64>,
        smash: u64,
        columns: f64,
    ) -> Result<Self, Error> {
        let slots = slots.unwrap_or_else(|| planned(items.len() as u64, shape, W::WIDTH));
        let mut metadata = Vec::new();
        let (seed, banding) = first_seed(items.len(), slots, W::WIDTH, |banding, seed| {
            let filled = Filling::<W, R>::new(banding, items, shape, seed, smash).run();
            metadata = filled.unwrap_or_default();
            !metadata.is_empty()
        })?;
        let solution = Solution::of(&banding, columns, |_| 0);
        Ok(Self { seed, smash, shape, metadata, solution })
    }

    /// The ribbon with these fields, if they are those of a ribbon.
    pub(crate) fn from_fields(
        seed: u8,
        smash: u64,
        shape: Shape,
        metadata: Vec<u8>,
        solution: Solution,
    ) -> Option<Self> {
        let valid = (1..=40).contains(&shape.bits)
            && metadata.len() == shape.shards()
            && solution.layout().slots() > 0;
        valid.then_some(Self { seed, smash, shape, metadata, solution })
    }

    pub(super) fn locate(&self, hash: u64) -> Located<'_> {
        let Self { shape, .. } = *self;
        let primary = Seeded::new(hash, self.seed);
        let (level, is_bumped) = self.primary_level(primary);
        let (position, seeded) = match is_bumped {
            false => (shape.primary(primary), primary),
            true => {
                let level = shape.next_level(level);
                (shape.at_level(level, primary.bumped()), primary.bumped())
            }
        };
        let start = starts(&self.solution, self.smash).of(position);
        Located { solution: &self.solution, start, seeded }
    }

    /// The level of a key's primary location, and whether the key is bumped from there.
    pub(crate) fn primary_level(&self, primary: Seeded) -> (u32, bool) {
        let shard = self.shape.shard(self.shape.primary(primary));
        let is_bumped = self.metadata[shard] >> bucket(primary) & 1 == 1;
        (self.shape.level(shard), is_bumped)
    }

    /// The solution.
    pub fn solution(&self) -> &Solution {
        &self.solution
    }

    /// The seed, the smash value and the shards.
    pub fn fields(&self) -> (u8, u64, Shape) {
        (self.seed, self.smash, self.shape)
    }

    /// One byte per shard: a bit for each bumped bucket.
    pub fn metadata(&self) -> &[u8] {
        &self.metadata
    }

    pub(super) fn with_solution(&self, new: impl Fn(&Solution) -> Solution) -> Self {
        Self { metadata: self.metadata.clone(), solution: new(&self.solution), ..*self }
    }
}

/// The slots with which most seeds work: those that stay empty, which grow with the size of a
/// shard, and a width and a quarter for the last shard and the end of the system.
fn planned(keys: u64, shape: Shape, width: Width) -> u64 {
    let shard_keys = keys as f64 / shape.shards() as f64;
    let [small, large] = waste(width);
    let doublings = libm::log2(shard_keys) - f64::from(shard_log(width));
    let waste = small * libm::pow(large / small, doublings);
    let spare = 1.25 * width.slots() as f64;
    slots::with_epsilon(keys, width, waste + spare / keys as f64)
}

/// Whether the first seed works with a number of slots, for simulations.
pub fn works<W: Word>(hashes: &[u64], shape: Shape, slots: u64) -> bool {
    let item = |&hash: &u64| Item { hash, value: crate::hash::fingerprint(hash) };
    let items: Vec<Item<u32>> = hashes.iter().map(item).collect();
    let mut banding = Banding::<W, u32>::new(slots.next_multiple_of(W::WIDTH.slots()));
    Filling::new(&mut banding, &items, shape, 0, W::WIDTH.slots() / 4).run().is_some()
}

/// A system that is being filled.
struct Filling<'a, W, R> {
    banding: &'a mut Banding<W, R>,
    shape: Shape,
    starts: Starts,
    seed: u8,
    /// Keys by shard and bucket.
    grouped: Grouped<R>,
    /// The number of keys that each shard holds.
    loads: Vec<u64>,
    metadata: Vec<u8>,
    /// The keys that the current level bumps, and their hashes at the next level.
    bumped: Vec<(Seeded, R)>,
    /// The rows that a bucket has filled.
    rows: Vec<u64>,
}

impl<'a, W: Word, R: RightSide> Filling<'a, W, R> {
    fn new(
        banding: &'a mut Banding<W, R>,
        items: &[Item<R>],
        shape: Shape,
        seed: u8,
        smash: u64,
    ) -> Self {
        let grouped = Grouped::new(items, shape.shards() * BUCKETS, |hash| {
            let seeded = Seeded::new(hash, seed);
            shape.shard(shape.primary(seeded)) * BUCKETS + bucket(seeded)
        });
        Self {
            starts: Starts::new(banding.slots(), W::WIDTH, smash),
            banding,
            shape,
            seed,
            grouped,
            loads: vec![0; shape.shards()],
            metadata: vec![0; shape.shards()],
            bumped: Vec::new(),
            rows: Vec::new(),
        }
    }

    /// Level by level. Returns the metadata, or `None` if a bumped key does not fit.
    fn run(mut self) -> Option<Vec<u8>> {
        for level in 0..=self.shape.bits {
            self.settle(level)?;
            self.balance(level);
        }
        // The keys that the last shard bumps stay in it.
        self.settle(self.shape.bits)?;
        Some(self.metadata)
    }

    /// Inserts the keys that were bumped to a level. All must fit.
    fn settle(&mut self, level: u32) -> Option<()> {
        let Self { shape, starts, .. } = *self;
        for (seeded, value) in std::mem::take(&mut self.bumped) {
            let position = shape.at_level(level, seeded);
            self.loads[shape.shard(position)] += 1;
            let equation = Item { hash: 0, value }.equation(starts.of(position), seeded);
            if !self.banding.insert_all([equation]) {
                return None;
            }
        }
        Some(())
    }

    /// Inserts or bumps the buckets of a level, along diagonals.
    fn balance(&mut self, level: u32) {
        for (shard, bucket) in diagonals(self.shape.of_level(level)) {
            if !self.insert(shard, bucket) {
                self.metadata[shard] |= 1 << bucket;
                let keys = self.grouped.of(shard * BUCKETS + bucket).iter();
                let seed = self.seed;
                let bump = |item: &Item<R>| (Seeded::new(item.hash, seed).bumped(), item.value);
                self.bumped.extend(keys.map(bump));
            }
        }
    }

    /// Inserts a bucket, completely or not at all.
    fn insert(&mut self, shard: usize, bucket: usize) -> bool {
        let Self { shape, starts, seed, .. } = *self;
        let keys = self.grouped.of(shard * BUCKETS + bucket);
        // A bucket is not tried if it is very likely to fail: about `w / 8` keys more than the
        // shard has slots can spill over into the next shard.
        let w = W::WIDTH.slots();
        let max = self.banding.slots() / shape.shards() as u64 + w / 8 + 4;
        let load = self.loads[shard] + keys.len() as u64;
        if load > max {
            return false;
        }
        let equations = keys.iter().map(|item| {
            let seeded = Seeded::new(item.hash, seed);
            item.equation(starts.of(shape.primary(seeded)), seeded)
        });
        let fits = self.banding.insert_all_or_none(equations, &mut self.rows);
        if fits {
            self.loads[shard] = load;
        }
        fits
    }
}

/// Shards and buckets of a level in the order in which they are tried.
fn diagonals(shards: Range<usize>) -> impl Iterator<Item = (usize, usize)> {
    let Range { start, end } = shards;
    (start..end + BUCKETS - 1).flat_map(move |diagonal| {
        let first = (diagonal + 1).saturating_sub(end);
        let last = BUCKETS.min(diagonal - start + 1);
        (first..last).map(move |bucket| (diagonal - bucket, bucket))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Random, hashes};

    const SHAPE: Shape = Shape { bits: 5, overload: 48 };

    /// Every count is within five standard deviations of what is expected.
    fn assert_even(counts: &[u64], expected: f64) {
        for &count in counts {
            let off = (count as f64 - expected).abs();
            assert!(off < 5.0 * libm::sqrt(expected), "{count}, not {expected}: {counts:?}");
        }
    }

    #[test]
    fn levels_are_as_drawn() {
        let eight = Shape { bits: 3, overload: 0 };
        let levels: Vec<u32> = (0..8).map(|shard| eight.level(shard)).collect();
        assert_eq!(levels, [0, 0, 0, 0, 1, 1, 2, 3]);
        let mut next = 0;
        for level in 0..=5 {
            for shard in SHAPE.of_level(level) {
                assert_eq!((shard, SHAPE.level(shard)), (next, level));
                next += 1;
            }
        }
        assert_eq!(next, SHAPE.shards());
    }

    #[test]
    fn level_0_is_overloaded_and_the_others_make_up_for_it() {
        let (keys, alpha) = (1 << 18, 48.0 / 256.0);
        let mut counts = vec![0; 32];
        for hash in hashes(keys, 1) {
            counts[SHAPE.shard(SHAPE.primary(Seeded::new(hash, 1)))] += 1;
        }
        let average = keys as f64 / 32.0;
        assert_even(&counts[..16], average * (1.0 + alpha));
        assert_even(&counts[16..], average * (1.0 - alpha));
    }

    #[test]
    fn secondary_locations_are_spread_over_the_next_level() {
        let (mut random, keys) = (Random::new(8), 1 << 14);
        for level in 0..=5 {
            let next = SHAPE.of_level(SHAPE.next_level(level));
            let mut counts = vec![0; next.len()];
            for _ in 0..keys {
                let bumped = Seeded(random.number());
                let position = SHAPE.at_level(SHAPE.next_level(level), bumped);
                counts[SHAPE.shard(position) - next.start] += 1;
            }
            assert_even(&counts, f64::from(keys) / counts.len() as f64);
        }
    }

    #[test]
    fn buckets_have_their_sizes() {
        let mut counts = [0; BUCKETS];
        hashes(1 << 17, 10).into_iter().for_each(|hash| counts[bucket(Seeded(hash))] += 1);
        for (count, size) in counts.into_iter().zip(SIZES) {
            assert_even(&[count], f64::from(size) * 1024.0);
        }
    }

    /// A larger bucket of the next shard comes before a smaller one of this shard, and every
    /// bucket of every shard comes once.
    #[test]
    fn buckets_are_tried_along_diagonals() {
        let order: Vec<(usize, usize)> = diagonals(4..10).collect();
        assert_eq!(order[..6], [(4, 0), (5, 0), (4, 1), (6, 0), (5, 1), (4, 2)]);
        let mut sorted = order.clone();
        sorted.sort_unstable();
        sorted.dedup();
        assert_eq!(sorted.len(), 6 * BUCKETS);
        let place = |of| order.iter().position(|&other| other == of);
        assert!(place((7, 2)) < place((6, 3)));
    }

    /// The metadata says the truth: exactly the keys of bumped buckets have their second location.
    #[test]
    fn keys_are_where_the_metadata_says() {
        let items: Vec<Item<u32>> =
            hashes(60_000, 3).into_iter().map(|hash| Item { hash, value: hash as u32 }).collect();
        let shape = Shape::new(60_000, Width::W64).expect("several shards");
        let ribbon = Balanced::build::<u64, u32>(&items, shape, None, 16, 32.0).expect("a seed");
        assert!(items.iter().all(|item| ribbon.locate(item.hash).matches(item.value.into())));
        let bits: u32 = ribbon.metadata.iter().map(|byte| byte.count_ones()).sum();
        assert!(bits > 0 && (bits as usize) < BUCKETS * shape.shards() / 2, "{bits}");
        let mut other = ribbon.clone();
        other.metadata.fill(0);
        assert!(!items.iter().all(|item| other.locate(item.hash).matches(item.value.into())));
    }
}
