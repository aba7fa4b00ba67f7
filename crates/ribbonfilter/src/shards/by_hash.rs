//! Shards by the top bits of the hash: each is a filter of its keys, built on its own.

use super::Shard;
use super::builder::Keys;
use crate::build::variant::solve_filter;
use crate::build::{self, Group, Item, Partitioned, Resources, for_each};
use crate::error::{BuildError, Kind};
use crate::format::{Container, FOOTER_BYTES, Footer};
use crate::plan::Settings;
use crate::progress::{Phase, Reporter};
use crate::ribbon::equation::{below_segment, mix};
use crate::storage::bytes::OwnedBytes;
use crate::storage::memory::try_reserve;
use alloc::vec;
use alloc::vec::Vec;

/// What all shards of a container have in common.
#[derive(Clone, Copy)]
pub(super) struct Plain {
    pub(super) container: Container,
    pub(super) settings: Settings,
}

impl Plain {
    /// Builds all shards, on several threads or each on several.
    pub(super) fn build_all(
        &self,
        keys: Keys,
        resources: Resources,
        progress: &mut Reporter<'_>,
    ) -> Result<Vec<Shard>, BuildError> {
        let shards = self.container.shards();
        let threads = resources.threads();
        let keys =
            Partitioned::new(keys, Group::all(self.container.filling.bits()), threads, progress)?;
        // Few shards have segments to be shared; many are shared themselves.
        let apart = shards >= threads as u64;
        let (outside, inside) = if apart { (threads, 1) } else { (1, threads) };
        let resources = resources.with_threads(inside);
        let report = |number| progress.report(Phase::Solving, number as u64, shards);
        for_each(&mut vec![(); outside], 0..shards, report, |(), number| {
            self.build(number, keys.segment(number), resources, &mut Reporter::default())
        })
    }

    /// Builds one shard of its keys, given by their mixed hashes.
    pub(super) fn build(
        &self,
        number: u64,
        keys: &[Item<u64, ()>],
        resources: Resources,
        progress: &mut Reporter<'_>,
    ) -> Result<Shard, BuildError> {
        let bits = self.container.filling.bits();
        let mut items = Vec::new();
        try_reserve(&mut items, keys.len())?;
        // To the filter of a shard what is left of the hash is a key hash, and mixed again.
        items.extend(keys.iter().map(|item| item.map(|mixed| mix(below_segment(mixed, bits)))));
        let filter =
            build::build(&mut items.into(), &self.settings, solve_filter, resources, progress)
                .map_err(without_footer)?;
        let bytes = self.stand_alone(number, filter.as_ref())?;
        Ok(Shard::open(bytes).expect("what was built can be opened"))
    }

    /// The data of a filter with the ending of a shard.
    fn stand_alone(&self, number: u64, filter: &[u8]) -> Result<OwnedBytes, BuildError> {
        let footer = Footer::read(filter, Kind::Filter).expect("what was built can be opened");
        let container = self.container.with_keys(footer.keys, footer.rate());
        let ending = container.ending(number, filter).expect("a filter has a footer");
        let data = &filter[..filter.len() - FOOTER_BYTES];
        let mut bytes = OwnedBytes::allocate(data.len() + ending.len())?;
        let (front, back) = bytes.as_mut().split_at_mut(data.len());
        front.copy_from_slice(data);
        back.copy_from_slice(&ending);
        Ok(bytes)
    }
}

/// A shard has no footer: an error of a filter, reworded for a shard.
fn without_footer(error: BuildError) -> BuildError {
    let raw = FOOTER_BYTES as u64;
    match error {
        BuildError::SizeTooSmall { bytes, needed, keys } => BuildError::SizeTooSmall {
            bytes: bytes.saturating_sub(raw),
            needed: needed.saturating_sub(raw),
            keys,
        },
        other => other,
    }
}
