//! A layer of a build: a system, and how the keys that go into it are hashed.

use crate::plan::{Counting, Plan};
use crate::ribbon::bucket::{Thresholds, thresholds};
use crate::ribbon::equation::{FRACTION_BITS, Mixer, position, rehash, start};
use crate::ribbon::system::{SEGMENT_BITS, System};
use crate::ribbon::width::Width;

/// How a layer makes hashes of those of its items.
#[derive(Clone, Copy, Debug)]
enum Hashing {
    /// Items are key hashes.
    Mixed(Mixer),
    /// Items are mixed hashes that the layer above has bumped.
    Rehashed(u8),
}

/// How the codes of buckets are chosen.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bumping {
    pub(crate) thresholds: Thresholds,
    pub(crate) counting: Counting,
}

/// A system to be solved.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Layer {
    pub(crate) system: System,
    seed: u8,
    hashing: Hashing,
    /// How keys are bumped, if they are.
    pub(crate) bumping: Option<Bumping>,
}

impl Layer {
    /// The only layer of a Standard system, or the first one of a Bumped system.
    pub(crate) fn first(plan: &Plan, seed: u8) -> Self {
        let (system, counting) = (plan.first, plan.counting);
        let bumping =
            plan.second.map(|_| Bumping { thresholds: thresholds(system.width), counting });
        Self { system, seed, hashing: Hashing::Mixed(Mixer::new(seed)), bumping }
    }

    /// A layer whose segments are the ranges of hashes with the same top bits. It is not solved.
    pub(crate) fn of_top_bits(bits: u32) -> Self {
        let starts = 1 << (bits + SEGMENT_BITS);
        Self {
            system: System { starts, ..System::empty(Width::W128, 0) },
            seed: 0,
            hashing: Hashing::Mixed(Mixer::new(0)),
            bumping: None,
        }
    }

    /// The seed of its hashes.
    pub(crate) fn seed(&self) -> u8 {
        self.seed
    }

    /// The layer of the bumped keys.
    pub(crate) fn second(system: System, seed: u8) -> Self {
        Self { system, seed, hashing: Hashing::Rehashed(seed), bumping: None }
    }

    /// The hash of an item, whose bits are all random.
    #[inline(always)]
    pub(crate) fn hash(&self, item: u64) -> u64 {
        match self.hashing {
            Hashing::Mixed(mixer) => mixer.mix(item),
            Hashing::Rehashed(seed) => rehash(item, seed),
        }
    }

    /// The start of a hash that [`hash`](Self::hash) returned.
    #[inline(always)]
    pub(crate) fn start(&self, hash: u64) -> u64 {
        start(hash, self.system.starts)
    }

    /// How far into the keys of its start a hash lies.
    #[inline(always)]
    pub(crate) fn fraction(&self, hash: u64) -> u32 {
        position(hash, self.system.starts << FRACTION_BITS) as u32 & ((1 << FRACTION_BITS) - 1)
    }
}
