//! The locator of a filter or a function, for every variant.

use super::Locate;
use super::balanced::Balanced;
use super::bumped::Bumps;
use super::single::{Located, Opened, System};
use crate::format::Footer;
use crate::ribbon::equation::{Multipliers, Seed, Segments, mix};
use crate::ribbon::layout::Layout;

/// The numbers that locate a key: a flat record, of which each variant uses a part.
#[derive(Clone, Copy)]
pub(crate) struct Locator {
    pub(super) multipliers: Multipliers,
    /// The only system, or the first layer.
    pub(super) system: System,
    /// The layers after the first.
    pub(super) bumps: Bumps,
    pub(super) balanced: Option<Balanced>,
    is_layered: bool,
}

impl Locator {
    #[cfg_attr(not(target_arch = "wasm32"), inline(always))]
    pub(super) fn new(footer: &Footer, layout: &Layout) -> Self {
        let shape = &footer.shape;
        let metadata = layout.size_in_bytes() as usize;
        let is_layered = !shape.further.layers().is_empty();
        Self {
            multipliers: Multipliers::CONSTANTS,
            system: System {
                first_slot: 0,
                segments: Segments::new(shape.segment_bits, shape.segment_slots),
                starts: shape.starts(),
                // Of several layers, only the last has a seed; the others have seed 0.
                seed: if is_layered { Seed::new(0) } else { Seed::new(footer.seed) },
                seeds: shape.segment_seeds().then_some(metadata),
            },
            bumps: Bumps::new(footer, layout),
            balanced: shape.shards().map(|shards| Balanced { shards, metadata }),
            is_layered,
        }
    }
}

impl Locate for Locator {
    #[cfg_attr(not(target_arch = "wasm32"), inline(always))]
    fn locate<'a>(&self, opened: Opened<'a>, key_hash: u64) -> Located<'a> {
        if self.is_layered {
            return self.bumps.locate(&self.system, opened, key_hash);
        }
        match &self.balanced {
            Some(balanced) => balanced.locate(&self.system, opened, mix(key_hash)),
            None => self.system.locate(opened, mix(key_hash)),
        }
    }

    #[cfg_attr(not(target_arch = "wasm32"), inline(always))]
    fn locate_many<'a>(&self, opened: Opened<'a>, key_hashes: &[u64], located: &mut [Located<'a>]) {
        let system = &self.system;
        if self.is_layered {
            return self.bumps.locate_many(system, opened, key_hashes, located);
        }
        let keys = key_hashes.iter().zip(located);
        match &self.balanced {
            Some(balanced) => keys.for_each(|(&key_hash, located)| {
                *located = balanced.locate(system, opened, mix(key_hash));
            }),
            None => keys.for_each(|(&key_hash, located)| {
                *located = system.locate(opened, mix(key_hash));
            }),
        }
    }
}
