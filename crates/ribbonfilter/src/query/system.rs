//! Locating in one system of segments: Standard and Homogeneous ribbons, and each layer of a
//! Bumped one.

use super::dispatch::{Find, Rows};
use super::{Located, Locator};
use crate::kernel::Assumptions;
use crate::ribbon::equation::{Seed, Seeded, Segments, Starts, seeded};
use crate::ribbon::width::Band;

/// A system of segments.
#[derive(Clone, Copy)]
pub(crate) struct System {
    /// Where the system begins; not 0 in a later layer.
    pub(super) first_slot: u64,
    pub(super) segments: Segments,
    pub(super) starts: Starts,
    pub(super) seed: Seed,
    /// Where the seeds of the segments begin, if each has its own.
    pub(super) seeds: Option<usize>,
}

impl System {
    /// The hash of a key under the seed of its segment.
    #[inline(always)]
    fn hash(&self, bytes: &[u8], mixed: u64) -> Seeded {
        let Some(seeds) = self.seeds else {
            return seeded(mixed, self.seed);
        };
        let seed = bytes.get(seeds.wrapping_add(self.segments.number(mixed) as usize));
        seeded(mixed, Seed::new(seed.copied().unwrap_or_default()))
    }

    /// The equation of a key, without a branch on where it starts.
    #[inline(always)]
    pub(super) fn locate(&self, bytes: &[u8], mixed: u64) -> Located {
        let hash = self.hash(bytes, mixed);
        let segment = self.first_slot + self.segments.first_slot(mixed);
        Located { slot: segment + self.starts.start(hash), hash }
    }

    /// The first slot of a key's equation, in a system that is the only one or the first layer;
    /// nothing of keys whose finding is left to the caller.
    #[inline(always)]
    pub(super) fn slot<A: Assumptions>(&self, mixed: u64, hash: Seeded) -> Option<u64> {
        let start = match A::SMALL {
            true => self.starts.start(hash),
            false => self.starts.unclamped_start(hash)?,
        };
        Some(self.segments.first_slot(mixed) + start)
    }
}

/// Finds keys of systems whose rows are all expected to be zero.
pub(super) struct Zero;

/// Finds keys of systems whose rows are fingerprints or values.
pub(super) struct Fingerprints;

impl Rows for Zero {
    const ZERO: bool = true;
}

impl Find for Zero {
    #[inline(always)]
    fn find<B: Band, A: Assumptions>(
        locator: &Locator,
        _: &[u8],
        key_hash: u64,
    ) -> Option<Located> {
        let (system, mixed) = (&locator.system, locator.multipliers.mix(key_hash));
        let hash = seeded(mixed, system.seed);
        Some(Located { slot: system.slot::<A>(mixed, hash)?, hash })
    }
}

impl Rows for Fingerprints {}

impl Find for Fingerprints {
    #[inline(always)]
    fn find<B: Band, A: Assumptions>(
        locator: &Locator,
        bytes: &[u8],
        key_hash: u64,
    ) -> Option<Located> {
        let (system, mixed) = (&locator.system, locator.multipliers.mix(key_hash));
        let hash = system.hash(bytes, mixed);
        Some(Located { slot: system.slot::<A>(mixed, hash)?, hash })
    }
}
