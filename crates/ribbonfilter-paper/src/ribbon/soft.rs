//! Soft shards (paper, section 5.4): one system, in which each shard is a range of *starts* and
//! has a seed of its own. The paper describes this and does not evaluate it.
//!
//! Shards are inserted one after another. If the keys of a shard do not fit, its rows are removed
//! again, and the next seed is tried for this shard only. Equations that start at the end of a
//! shard reach into the first `w - 1` slots of the next, so neighbours lend each other space, and
//! no space is lost at their border.

use super::{Grouped, Item, Located, single, starts};
use crate::banding::{Banding, RightSide};
use crate::hash::{Seeded, fastrange, shard_hash};
use crate::width::Word;
use crate::{Error, Solution, Width, slots};

/// Keys of a shard: enough that their number hardly varies, few enough that a seed for them is soon
/// found. (With 1024 the slots that `w` = 64 needs are 5.6 % more than the keys, with 4096 and with
/// 16384 they are 3 %, with 500,000 keys.)
const SHARD_KEYS: u64 = 1 << 12;

/// A system with a seed for each shard.
#[derive(Clone, Debug, PartialEq)]
pub struct Soft {
    smash: u64,
    seeds: Vec<u8>,
    solution: Solution,
}

/// The shard of a key.
fn shard(hash: u64, shards: usize) -> u64 {
    fastrange(shard_hash(hash), shards as u64)
}

/// The number that determines the start of a key: the shards follow each other, and within its
/// shard a key is where its seeded hash says.
fn position(shard: u64, shards: usize, seeded: Seeded) -> u64 {
    let place = u128::from(shard) << 64 | u128::from(seeded.0);
    (place / shards as u128) as u64
}

impl Soft {
    pub(super) fn build<W: Word, R: RightSide>(
        items: &[Item<R>],
        slots: Option<u64>,
        smash: u64,
        columns: f64,
    ) -> Result<Self, Error> {
        let keys = items.len() as u64;
        let shards = (keys / SHARD_KEYS).max(1) as usize;
        let grouped = Grouped::new(items, shards, |hash| shard(hash, shards) as usize);
        let mut slots = slots.unwrap_or_else(|| planned(keys, W::WIDTH));
        for _ in 0..=single::ENLARGEMENTS {
            let mut banding = Banding::new(slots);
            if let Some(seeds) = fill::<W, R>(&mut banding, &grouped, shards, smash) {
                let solution = Solution::of(&banding, columns, |_| 0);
                return Ok(Self { smash, seeds, solution });
            }
            slots = slots::enlarged(slots, W::WIDTH);
        }
        Err(Error::Unsolvable { keys, slots })
    }

    /// The ribbon with these fields, if there is a slot for each key to start at.
    pub(crate) fn from_fields(smash: u64, seeds: Vec<u8>, solution: Solution) -> Option<Self> {
        let valid = !seeds.is_empty() && solution.layout().slots() > 0;
        valid.then_some(Self { smash, seeds, solution })
    }

    pub(super) fn locate(&self, hash: u64) -> Located<'_> {
        let shard = shard(hash, self.seeds.len());
        let seeded = Seeded::new(hash, self.seeds[shard as usize]);
        let position = position(shard, self.seeds.len(), seeded);
        let start = starts(&self.solution, self.smash).of(position);
        Located { solution: &self.solution, start, seeded }
    }

    /// The solution.
    pub fn solution(&self) -> &Solution {
        &self.solution
    }

    /// The seed of each shard.
    pub fn seeds(&self) -> &[u8] {
        &self.seeds
    }

    /// The smash value.
    pub fn smash(&self) -> u64 {
        self.smash
    }

    pub(super) fn with_solution(&self, new: impl Fn(&Solution) -> Solution) -> Self {
        Self { smash: self.smash, seeds: self.seeds.clone(), solution: new(&self.solution) }
    }
}

/// The slots with which every shard finds a seed: those with which one in ten works for a Standard
/// system of one shard, and two standard deviations of its number of keys. Neighbours lend the rest.
fn planned(keys: u64, width: Width) -> u64 {
    let shard = SHARD_KEYS.min(keys) as f64;
    let epsilon = slots::standard_epsilon(shard, width, 0.9);
    let deviations = if keys > SHARD_KEYS { 2.0 / libm::sqrt(shard) } else { 0.0 };
    slots::with_epsilon(keys + 5, width, epsilon + deviations)
}

/// Inserts shard after shard, each under the first seed that works.
fn fill<W: Word, R: RightSide>(
    banding: &mut Banding<W, R>,
    grouped: &Grouped<R>,
    shards: usize,
    smash: u64,
) -> Option<Vec<u8>> {
    let starts = crate::Starts::new(banding.slots(), W::WIDTH, smash);
    let mut filled = Vec::new();
    let mut seed_of = |shard: usize| {
        (0..=u8::MAX).find(|&seed| {
            let equations = grouped.of(shard).iter().map(|item| {
                let seeded = Seeded::new(item.hash, seed);
                item.equation(starts.of(position(shard as u64, shards, seeded)), seeded)
            });
            banding.insert_all_or_none(equations, &mut filled)
        })
    };
    (0..shards).map(&mut seed_of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::hashes;

    fn items(keys: usize) -> Vec<Item<u32>> {
        hashes(keys, 5).into_iter().map(|hash| Item { hash, value: hash as u32 }).collect()
    }

    #[test]
    fn positions_are_in_the_range_of_their_shard() {
        for shards in [1, 3, 1000] {
            for shard in 0..shards {
                let of = |hash| fastrange(position(shard, shards as usize, Seeded(hash)), shards);
                assert!(of(0) >= shard.saturating_sub(1) && of(u64::MAX) <= shard);
                assert_eq!(of(1 << 63), shard);
            }
        }
    }

    /// With slots for which a Standard system fails under every one of eight seeds, soft shards
    /// find theirs, because a shard that fails is changed alone.
    #[test]
    fn soft_shards_succeed_where_one_seed_fails() {
        let items = items(200_000);
        let slots = slots::with_epsilon(200_000, Width::W64, 0.03);
        let soft = Soft::build::<u64, u32>(&items, Some(slots), 16, 8.0).expect("seeds");
        assert_eq!(soft.solution.layout().slots(), slots);
        assert!(soft.seeds.iter().any(|&seed| seed > 0), "{:?}", soft.seeds);
        for item in &items {
            assert!(soft.locate(item.hash).matches(item.value.into()));
        }
        let single = single::Single::standard::<u64, u32>(&items, slots, 16, 8.0).expect("seed");
        assert!(single.solution().layout().slots() > slots);
    }
}
