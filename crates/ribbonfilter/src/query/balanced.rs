//! Locating in a Balanced ribbon: the primary equation of a key, or the secondary one if its
//! bucket is bumped.

use super::dispatch::{Find, Rows};
use super::system::System;
use super::{Located, Locator};
use crate::kernel::Assumptions;
use crate::ribbon::equation::Shards;
use crate::ribbon::width::Band;

/// The shards of a Balanced ribbon and the location of their metadata.
#[derive(Clone, Copy)]
pub(crate) struct Balanced {
    pub(super) shards: Shards,
    /// The offset of the metadata: for each shard one byte, with a bit per bumped bucket.
    pub(super) metadata: usize,
}

impl Balanced {
    #[inline(always)]
    pub(super) fn locate(&self, system: &System, bytes: &[u8], mixed: u64) -> Located {
        let mut place = self.shards.primary(mixed, system.seed);
        let shard = self.shards.shard(place);
        let bumped = bytes.get(self.metadata + shard as usize).copied().unwrap_or_default();
        if bumped >> place.hash.bucket() & 1 == 1 {
            place = self.shards.secondary(self.shards.level(shard), place.hash);
        }
        let first_slot = system.segments.first_slot_of(place.segment);
        Located { slot: first_slot + system.starts.start(place.position), hash: place.hash }
    }
}

impl Rows for Balanced {}

impl Find for Balanced {
    #[inline(always)]
    fn find<B: Band, A: Assumptions>(
        locator: &Locator,
        bytes: &[u8],
        key_hash: u64,
    ) -> Option<Located> {
        let mixed = locator.multipliers.mix(key_hash);
        Some(locator.balanced.as_ref()?.locate(&locator.system, bytes, mixed))
    }
}
