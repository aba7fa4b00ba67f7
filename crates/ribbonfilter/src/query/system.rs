//! Locating in one system of segments: Standard and Homogeneous ribbons, and each layer of a
//! Bumped one.

use super::dispatch::{Find, Rows};
use super::{Located, Locator};
use crate::kernel::Assumptions;
use crate::ribbon::equation::{Seed, Seeded, Segments, Starts, seeded};
use crate::ribbon::width::Band;

/// A system of segments, each an independent band matrix.
#[derive(Clone, Copy)]
pub(crate) struct System {
    /// The first slot of the system; not 0 in a layer after the first.
    pub(super) first_slot: u64,
    pub(super) segments: Segments,
    pub(super) starts: Starts,
    pub(super) seed: Seed,
    /// The offset of the segments' seeds, one byte each, if every segment has its own seed.
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

    /// The equation of a key, without a branch that depends on its start.
    #[inline(always)]
    pub(super) fn locate(&self, bytes: &[u8], mixed: u64) -> Located {
        let hash = self.hash(bytes, mixed);
        let segment = self.first_slot + self.segments.first_slot(mixed);
        Located { slot: segment + self.starts.start(hash), hash }
    }

    /// The first slot of a key's equation, in a system that begins at slot 0: the only system or
    /// the first layer. `None` for a key that is clamped to an end of its segment, unless
    /// [`Assumptions::SMALL`]: then such keys are frequent and are clamped without a branch.
    #[inline(always)]
    pub(super) fn slot<A: Assumptions>(&self, mixed: u64, hash: Seeded) -> Option<u64> {
        let start = match A::SMALL {
            true => self.starts.start(hash),
            false => self.starts.unclamped_start(hash)?,
        };
        Some(self.segments.first_slot(mixed) + start)
    }
}

/// Finds keys of systems whose expected rows are all zero. Homogeneous ribbons have one seed for
/// all segments, so the seed bytes are not read.
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
