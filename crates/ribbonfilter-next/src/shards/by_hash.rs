//! Shards by hash: each is the filter of its keys, built on its own.

use super::Shard;
use super::split::locate;
use crate::build::parallel::for_each;
use crate::build::{self, Arranged, Item, Layer, Reserve, Resources, Slabs, Store};
use crate::error::BuildError;
use crate::format::FOOTER_BYTES;
use crate::format::container::{Common, write_alone};
use crate::plan::{Limits, Settings};
use crate::progress::{Phase, Reporter};
use crate::storage::bytes::OwnedBytes;
use alloc::vec;
use alloc::vec::Vec;

/// log2 of the maximum number of groups into which keys are brought. If there are more shards than
/// groups, a group holds several of them.
const MAX_GROUP_BITS: u32 = 10;

/// What all shards of a container have in common, and how they are built.
#[derive(Clone, Copy)]
pub(super) struct Building {
    pub(super) common: Common,
    pub(super) settings: Settings,
}

impl Building {
    fn group_bits(&self) -> u32 {
        self.common.bits.min(MAX_GROUP_BITS)
    }

    /// The number of groups that are built side by side, and of threads that build each shard. If
    /// there are few shards, they have segments for several threads.
    fn threads(&self, threads: usize) -> (usize, usize) {
        if threads <= 1 << self.group_bits() { (threads, 1) } else { (1, threads) }
    }

    /// Builds all shards, in their order.
    pub(super) fn build_all(
        &self,
        mut slabs: Slabs<()>,
        resources: Resources,
        progress: &mut Reporter<'_>,
    ) -> Result<Vec<Shard>, BuildError> {
        let (bits, groups) = (self.group_bits(), 1 << self.group_bits());
        let mut reserve = Reserve::new(groups, resources.threads())?;
        let mut arranged = Arranged::new(&mut slabs, &mut reserve);
        arranged.arrange(&Layer::of_top_bits(bits), 0..groups as u64, progress)?;
        let (at_a_time, within) = self.threads(resources.threads());
        let limits = Limits { threads: within as u64, ..Limits::default() };
        let resources = Resources { limits, ..resources };
        let built = for_each(
            &mut vec![(); at_a_time],
            0..groups,
            |number| progress.report(Phase::Solving, number as u64, groups as u64),
            |(), group| self.build_group(group, arranged.segment(group), resources),
        )?;
        Ok(built.into_iter().flatten().collect())
    }

    /// Builds the shards of a group from its keys.
    fn build_group<'i>(
        &self,
        group: usize,
        items: impl Iterator<Item = &'i [Item<()>]>,
        resources: Resources,
    ) -> Result<Vec<Shard>, BuildError> {
        let shards = 1 << (self.common.bits - self.group_bits());
        let first = group * shards;
        let mut stores = Vec::new();
        stores.resize_with(shards, Store::default);
        for item in items.flatten() {
            let (shard, hash) = locate(item.hash, self.common.bits);
            let store = &mut stores[shard as usize - first];
            if store.is_full() {
                store.grow(1, None)?;
            }
            store.push(Item { hash, value: () });
        }
        let numbered = (first as u64..).zip(stores);
        let built = numbered.map(|(number, mut store)| {
            let progress = &mut Reporter::default();
            let filter = build::build(&mut store, &self.settings, resources, progress)?;
            self.shard(number, filter.as_ref())
        });
        built.collect()
    }

    /// The shard with this filter.
    pub(super) fn shard(&self, number: u64, filter: &[u8]) -> Result<Shard, BuildError> {
        let mut bytes = OwnedBytes::allocate(filter.len() + FOOTER_BYTES)?;
        bytes.as_mut()[..filter.len()].copy_from_slice(filter);
        write_alone(bytes.as_mut(), &self.common, number);
        Ok(Shard::open(bytes).expect("what was built can be opened"))
    }

    /// Returns an error if building a container of `keys` keys would exceed the limit. It holds the
    /// pushed hashes, the groups that are being built with copies of their hashes, and all finished
    /// shards twice: on their own and in the container.
    pub(super) fn check_memory(
        &self,
        keys: u64,
        threads: usize,
        limit: u64,
    ) -> Result<(), BuildError> {
        let (shards, groups) = (self.common.shards(), 1 << self.group_bits());
        let (at_a_time, within) = self.threads(threads);
        // If there is no plan for a shard, building it reports why.
        let Ok(plan) = self.settings.plan(keys.div_ceil(shards), 0) else { return Ok(()) };
        let plan = plan.with_limits(Limits { threads: within as u64, ..Limits::default() });
        // The hashes of a group with several shards, in vectors that have grown.
        let copies = if shards > groups { 16 * keys.div_ceil(groups) } else { 0 };
        let building = at_a_time as u64 * (plan.peak_memory() + copies);
        let finished = 2 * plan.size_in_bytes() + size_of::<Shard>() as u64;
        let finished = shards.saturating_mul(finished);
        let arranging = Reserve::<()>::size_in_bytes(groups as usize, threads);
        let needed = (8 * keys + arranging + building).saturating_add(finished);
        if needed > limit { Err(BuildError::MemoryLimit { needed, limit }) } else { Ok(()) }
    }
}
