//! One segment of a Balanced ribbon: which buckets are inserted, and which are bumped.
//!
//! Construction is greedy, as in the paper. On each level the keys that were bumped to it are
//! inserted first. Buckets follow: each is tried with all its keys, and bumped with all its keys if
//! they do not fit. A large bucket is tried before the next smaller bucket of the preceding shard,
//! because keys of that shard may spill over into this one. The order is therefore along diagonals.
//!
//! ```text
//!             shard 0   shard 1   shard 2   shard 3
//! bucket 0    1         2         4         7            the largest
//! bucket 1    3         5         8
//! bucket 2    6         9
//! ```

use super::grouped::Grouped;
use crate::build::variant::Failure;
use crate::build::{Item, Value};
use crate::error::OutOfMemory;
use crate::kernel::{Instructions, Kernel, Work};
use crate::ribbon::equation::{BUCKETS, Seed, Seeded, Shards, Starts};
use crate::ribbon::layout::Layout;
use crate::ribbon::shape::Shape;
use crate::ribbon::width::Band;
use crate::solve::back_substitution::Solve;
use crate::solve::banding::Banding;
use crate::solve::right_side::RightSide;
use crate::storage::memory::{try_grow, try_reserve};
use alloc::vec::Vec;
use core::ops::Range;

/// A bucket is not tried if its shard would then have more than `slots + w / 8 + SPILL` keys. About
/// that many can spill over into the next shard; more hardly ever fit, and trying takes time. For
/// w = 64, a value lower by four doubles the number of empty slots, and a value higher by ten gains
/// nothing.
const SPILL: usize = 4;

/// A segment and its keys.
pub(super) struct Balancing<'a, V> {
    pub(super) shards: Shards,
    pub(super) seed: Seed,
    pub(super) starts: Starts,
    /// Number of slots in a shard.
    pub(super) shard_slots: usize,
    pub(super) number: u64,
    /// The level of the segment, or its first level if it has several.
    pub(super) level: u32,
    /// The segment's keys. After level 0, those of the overload are skipped: a segment of level 0
    /// takes them.
    pub(super) keys: &'a [Item<u64, V>],
    /// On level 0, the keys of a segment in the later half. This segment takes those of the
    /// overload.
    pub(super) overload: &'a [Item<u64, V>],
    /// Keys that were bumped to this segment.
    pub(super) arrived: &'a [Item<u64, V>],
}

/// The buffers that one thread uses to solve one segment after another.
pub(super) struct Workspace<B, R: RightSide> {
    kernel: Kernel,
    banding: Banding<B, R>,
    grouped: Grouped<R::Value>,
}

impl<B: Band, R: RightSide> Workspace<B, R> {
    pub(super) fn new(shape: &Shape, kernel: Kernel) -> Result<Self, OutOfMemory> {
        let banding = Banding::new(shape.segment_slots as usize)?;
        Ok(Self { kernel, banding, grouped: Grouped::default() })
    }

    /// Solves the system into a segment's bytes. Free variables are zero.
    pub(super) fn solve(&self, layout: &Layout, bytes: &mut [u8]) {
        self.kernel.run(Solve { banding: &self.banding, free: |_| 0, layout, bytes });
    }
}

/// The result of filling a segment.
pub(super) struct Outcome<V> {
    /// One byte per shard: a bit for each bumped bucket.
    pub(super) metadata: Vec<u8>,
    /// The keys that are bumped to the next level.
    pub(super) bumped: Vec<Item<u64, V>>,
    pub(super) redundant: u64,
}

impl<V: Value> Balancing<'_, V> {
    /// Inserts the segment's keys into the workspace's system.
    pub(super) fn run<B: Band, R: RightSide<Value = V>>(
        self,
        workspace: &mut Workspace<B, R>,
    ) -> Result<Outcome<V>, Failure> {
        let Workspace { kernel, banding, grouped } = workspace;
        kernel.run_scalar(Fill { segment: self, banding, grouped })
    }

    /// The keys whose primary location is in this segment.
    #[inline(always)]
    fn items(&self) -> impl Iterator<Item = Item<Seeded, V>> + Clone {
        let Self { shards, seed, .. } = *self;
        let later = self.level > 0;
        let own = self.keys.iter().map(move |&key| key.map(|mixed| shards.hash(mixed, seed)));
        let others =
            self.overload.iter().map(move |&key| key.map(|mixed| shards.hash(mixed, seed)));
        own.filter(move |item| !later || !shards.is_overload(item.hash))
            .chain(others.filter(move |item| shards.is_overload(item.hash)))
    }
}

/// A segment, and the system that it is inserted into.
struct Fill<'a, B, R: RightSide> {
    segment: Balancing<'a, R::Value>,
    banding: &'a mut Banding<B, R>,
    grouped: &'a mut Grouped<R::Value>,
}

impl<B: Band, R: RightSide> Work for Fill<'_, B, R> {
    type Output = Result<Outcome<R::Value>, Failure>;

    #[inline(always)]
    fn run<I: Instructions>(mut self, _: I) -> Self::Output {
        let Balancing { shards, arrived, .. } = self.segment;
        let mut outcome = Outcome { metadata: Vec::new(), bumped: Vec::new(), redundant: 0 };
        try_reserve(&mut outcome.metadata, shards.in_segment())?;
        outcome.metadata.resize(shards.in_segment(), 0);
        self.banding.clear();
        self.group()?;
        try_reserve(&mut outcome.bumped, arrived.len())?;
        outcome.bumped.extend_from_slice(arrived);
        let last = self.last_level();
        for level in self.segment.level..=last {
            outcome.redundant += self.settle(level, &outcome.bumped)?;
            outcome.bumped.clear();
            self.balance(level, &mut outcome)?;
        }
        if last == shards.last_level() {
            // The keys that the last shard bumps stay in it.
            outcome.redundant += self.settle(last, &outcome.bumped)?;
            outcome.bumped.clear();
        }
        Ok(outcome)
    }
}

impl<B: Band, R: RightSide> Fill<'_, B, R> {
    /// The last level that has a shard in this segment.
    #[inline(always)]
    fn last_level(&self) -> u32 {
        let Balancing { shards, number, level, .. } = self.segment;
        let last_shard = (number + 1) * shards.in_segment() as u64 - 1;
        if last_shard + 1 == shards.count() { shards.last_level() } else { level }
    }

    /// Groups the keys by shard and bucket.
    #[inline(always)]
    fn group(&mut self) -> Result<(), Failure> {
        let shards = self.segment.shards;
        let groups = shards.in_segment() * BUCKETS;
        self.grouped.fill(groups, self.segment.items(), |hash| {
            shards.in_its_segment(shards.primary_position(hash)) * BUCKETS + hash.bucket()
        })?;
        self.grouped.loads.clear();
        try_reserve(&mut self.grouped.loads, shards.in_segment())?;
        self.grouped.loads.resize(shards.in_segment(), 0);
        Ok(())
    }

    /// Inserts the keys that were bumped to a level. All of them must fit. Returns the number of
    /// redundant keys.
    #[inline(always)]
    fn settle(&mut self, level: u32, bumped: &[Item<u64, R::Value>]) -> Result<u64, Failure> {
        let Balancing { shards, starts, .. } = self.segment;
        let loads = &mut self.grouped.loads;
        let equations = bumped.iter().map(|&item| {
            let place = shards.at_level(level, Seeded::from_number(item.hash));
            loads[shards.in_its_segment(place.position)] += 1;
            item.map(|_| place.hash).equation_at(starts, place.position)
        });
        self.banding.insert_all(equations).ok_or(Failure::NoSeed)
    }

    /// Inserts or bumps the buckets of a level's shards, along diagonals of shard and bucket.
    #[inline(always)]
    fn balance(&mut self, level: u32, outcome: &mut Outcome<R::Value>) -> Result<(), Failure> {
        let Range { start: first, end } = self.shards_of(level);
        for diagonal in first..end + BUCKETS - 1 {
            for bucket in (diagonal + 1).saturating_sub(end)..BUCKETS.min(diagonal - first + 1) {
                self.try_bucket(diagonal - bucket, bucket, outcome)?;
            }
        }
        Ok(())
    }

    /// The shards of a level that are in this segment.
    #[inline(always)]
    fn shards_of(&self, level: u32) -> Range<usize> {
        let Balancing { shards, number, .. } = self.segment;
        let first = number * shards.in_segment() as u64;
        let of_level = shards.of_level(level);
        let mine = |shard: u64| (shard.saturating_sub(first) as usize).min(shards.in_segment());
        mine(of_level.start)..mine(of_level.end)
    }

    /// Inserts a bucket if it fits; otherwise bumps it.
    #[inline(always)]
    fn try_bucket(
        &mut self,
        shard: usize,
        bucket: usize,
        outcome: &mut Outcome<R::Value>,
    ) -> Result<(), Failure> {
        let Balancing { shards, starts, shard_slots, .. } = self.segment;
        let load = self.grouped.loads[shard];
        let (items, rows) = self.grouped.group(shard * BUCKETS + bucket);
        let max = shard_slots + B::WIDTH.bits() as usize / 8 + SPILL;
        if load + items.len() <= max {
            let equations = items
                .iter()
                .map(|&item| item.equation_at(starts, shards.primary_position(item.hash)));
            if let Some(redundant) = self.banding.insert_all_or_none(equations, rows)? {
                outcome.redundant += redundant;
                self.grouped.loads[shard] = load + items.len();
                return Ok(());
            }
        }
        outcome.metadata[shard] |= 1 << bucket;
        try_grow(&mut outcome.bumped, items.len())?;
        let bumped = items.iter().map(|item| item.map(|hash| hash.bumped().to_number()));
        outcome.bumped.extend(bumped);
        Ok(())
    }
}
