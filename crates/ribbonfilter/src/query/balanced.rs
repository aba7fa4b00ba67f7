//! Locating in a Balanced ribbon: the primary equation of a key, or the secondary one if its
//! bucket is bumped.

use super::Locator;
use super::single::{Find, Located, Opened, System};
use super::solution::Assumptions;
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
    #[cfg_attr(not(target_arch = "wasm32"), inline(always))]
    pub(super) fn locate<'a>(
        &self,
        system: &System,
        opened: Opened<'a>,
        mixed: u64,
    ) -> Located<'a> {
        let mut location = self.shards.primary(mixed, system.seed);
        let shard = self.shards.shard(location);
        let bumped = opened.bytes().get(self.metadata + shard as usize);
        let bumped = bumped.copied().unwrap_or_default();
        if bumped >> location.hash.bucket() & 1 == 1 {
            location = self.shards.secondary(self.shards.level(shard), location.hash);
        }
        let first_slot = system.segments.first_slot_of(location.segment);
        opened.located(first_slot + system.starts.start(location.position), location.hash)
    }
}

impl Find for Balanced {
    #[cfg_attr(not(target_arch = "wasm32"), inline(always))]
    fn find<'a, B: Band, A: Assumptions>(
        locator: &Locator,
        opened: Opened<'a>,
        key_hash: u64,
    ) -> Option<Located<'a>> {
        let mixed = locator.multipliers.mix(key_hash);
        Some(locator.balanced.as_ref()?.locate(&locator.system, opened, mixed))
    }
}
