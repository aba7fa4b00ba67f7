//! One segment of a Balanced ribbon: which buckets go in, and which are bumped.
//!
//! Greedy, as in the paper: on each level the keys that were bumped to it come first, then
//! bucket by bucket, each tried with all its keys and bumped with all its keys if they do
//! not fit. A large bucket is tried before a smaller one of the shard before, because that
//! one's keys might spill over: the order is along diagonals.
//!
//! ```text
//!             shard 0   shard 1   shard 2   shard 3
//! bucket 0    1         2         4         7            the largest
//! bucket 1    3         5         8
//! bucket 2    6         9
//! ```

use crate::build::variant::Failure;
use crate::build::{Goal, Grouped, Item, Value, Workspace};
use crate::error::OutOfMemory;
use crate::kernel::{Instructions, Work};
use crate::ribbon::equation::{BUCKETS, Seed, Seeded, Shards, Starts};
use crate::ribbon::width::Band;
use crate::solve::banding::{Banding, Equation};
use crate::storage::memory::try_reserve;
use alloc::vec::Vec;
use core::ops::Range;

/// A bucket is not even tried if its shard would then have more keys than slots by an eighth
/// of the width and this: so many may spill over into the next shard, more hardly ever fit,
/// and trying takes time. For w = 64 four fewer double the slots that stay empty, and ten
/// more gain nothing.
const SPILL: usize = 4;

/// A segment and its keys.
pub(super) struct Balancing<'a, V> {
    pub(super) shards: Shards,
    pub(super) seed: Seed,
    pub(super) starts: Starts,
    /// Slots of a shard.
    pub(super) shard_slots: usize,
    pub(super) number: u64,
    /// Its level, or the first of them.
    pub(super) level: u32,
    /// Its keys, of which those of the overload go elsewhere if it is in the later half …
    pub(super) keys: &'a [Item<u64, V>],
    /// … and keys of which those of the overload come here if it is not.
    pub(super) overload: &'a [Item<u64, V>],
    /// Keys that were bumped to this segment.
    pub(super) arrived: &'a [Item<u64, V>],
}

/// What became of a segment.
pub(super) struct Outcome<V> {
    /// A byte for each shard: its bumped buckets.
    pub(super) metadata: Vec<u8>,
    /// The keys that are bumped to the next level.
    pub(super) bumped: Vec<Item<u64, V>>,
    pub(super) redundant: u64,
}

impl<V: Value> Balancing<'_, V> {
    /// Fills a workspace's system with the segment's keys.
    pub(super) fn run<B: Band, R: Goal<Value = V>>(
        self,
        workspace: &mut Workspace<B, R>,
    ) -> Result<Outcome<V>, Failure> {
        let (kernel, banding, grouped) = workspace.system();
        kernel.run(Fill { segment: self, banding, grouped })
    }

    /// Its keys, each in its primary place.
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

/// A segment, and the system that it goes into.
struct Fill<'a, B, R: Goal> {
    segment: Balancing<'a, R::Value>,
    banding: &'a mut Banding<B, R>,
    grouped: &'a mut Grouped<R::Value>,
}

impl<B: Band, R: Goal> Work for Fill<'_, B, R> {
    type Output = Result<Outcome<R::Value>, Failure>;

    #[inline(always)]
    fn run<I: Instructions>(mut self, _: I) -> Self::Output {
        let Balancing { shards, arrived, .. } = self.segment;
        let mut outcome = Outcome { metadata: Vec::new(), bumped: Vec::new(), redundant: 0 };
        try_reserve(&mut outcome.metadata, shards.in_segment())?;
        outcome.metadata.resize(shards.in_segment(), 0);
        self.banding.clear();
        self.shelve()?;
        try_reserve(&mut outcome.bumped, arrived.len())?;
        outcome.bumped.extend_from_slice(arrived);
        let last = self.last_level();
        for level in self.segment.level..=last {
            outcome.redundant += self.settle(level, &outcome.bumped)?;
            outcome.bumped.clear();
            self.balance(level, &mut outcome)?;
        }
        if last == shards.last_level() {
            // What the last shard bumped stays in it.
            outcome.redundant += self.settle(last, &outcome.bumped)?;
            outcome.bumped.clear();
        }
        Ok(outcome)
    }
}

impl<B: Band, R: Goal> Fill<'_, B, R> {
    /// The last level that has a shard here.
    #[inline(always)]
    fn last_level(&self) -> u32 {
        let Balancing { shards, number, level, .. } = self.segment;
        let last_shard = (number + 1) * shards.in_segment() as u64 - 1;
        if last_shard + 1 == shards.count() { shards.last_level() } else { level }
    }

    /// Brings the keys into the order of shards and buckets.
    #[inline(always)]
    fn shelve(&mut self) -> Result<(), Failure> {
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

    /// Adds the keys that were bumped to a level, which must all go in; the redundant ones.
    #[inline(always)]
    fn settle(&mut self, level: u32, bumped: &[Item<u64, R::Value>]) -> Result<u64, Failure> {
        let Balancing { shards, starts, .. } = self.segment;
        let loads = &mut self.grouped.loads;
        let equations = bumped.iter().map(|&item| {
            let place = shards.at_level(level, Seeded::from_number(item.hash));
            loads[shards.in_its_segment(place.position)] += 1;
            equation(starts, place.position, item.map(|_| place.hash))
        });
        self.banding.insert_all(equations).ok_or(Failure::NoSeed)
    }

    /// Adds the buckets of a level's shards, or bumps them.
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

    /// Adds a bucket if it fits, else bumps it.
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
                .map(|&item| equation(starts, shards.primary_position(item.hash), item));
            if let Some(redundant) = self.banding.insert_all_or_none(equations, rows)? {
                outcome.redundant += redundant;
                self.grouped.loads[shard] = load + items.len();
                return Ok(());
            }
        }
        outcome.metadata[shard] |= 1 << bucket;
        grow(&mut outcome.bumped, items.len())?;
        let bumped = items.iter().map(|item| item.map(|hash| hash.bumped().to_number()));
        outcome.bumped.extend(bumped);
        Ok(())
    }
}

/// Makes room for some keys more, and for as many as there are.
fn grow<T>(bumped: &mut Vec<T>, additional: usize) -> Result<(), OutOfMemory> {
    match bumped.capacity() - bumped.len() < additional {
        true => try_reserve(bumped, additional.max(bumped.len())),
        false => Ok(()),
    }
}

#[inline(always)]
fn equation<B: Band, R: Goal>(
    starts: Starts,
    position: Seeded,
    item: Item<Seeded, R::Value>,
) -> Equation<B, R> {
    let start = starts.start(position);
    Equation {
        start: start as usize,
        coefficients: starts.coefficients(item.hash, start),
        right_side: R::of(item),
    }
}
