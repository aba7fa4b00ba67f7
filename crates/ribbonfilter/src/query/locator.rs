//! The locator of a filter or a function, for every variant.

use super::Locate;
use super::balanced::Balanced;
use super::batch::CHUNK;
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

    /// [`Locate::locate_many`] in compact code, for at most [`CHUNK`] keys: one loop for all variants.
    ///
    /// All keys are located in the first system, without a branch. Those that may be elsewhere are
    /// located again: keys that seem to be bumped, and all keys of a Balanced ribbon. Without layers no
    /// key seems to be bumped, because [`Bumps`] then has thresholds of 0.
    pub(super) fn locate_chunk<'a>(
        &self,
        opened: Opened<'a>,
        key_hashes: &[u64],
        located: &mut [Located<'a>],
    ) {
        let (Self { system, bumps, .. }, bytes) = (self, opened.bytes());
        // One bit per key. An array of indices would be zeroed by a call for every chunk.
        let mut elsewhere = if self.balanced.is_some() { u32::MAX } else { 0 };
        const { assert!(CHUNK <= 32) };
        for (index, (&key_hash, located)) in key_hashes.iter().zip(&mut *located).enumerate() {
            let (slot, hash) = system.slot_and_hash(bytes, self.multipliers.mix(key_hash));
            *located = opened.located(slot, hash);
            elsewhere |= u32::from(bumps.seems_bumped_from(bytes, slot)) << (index % 32);
        }
        while elsewhere != 0 {
            let index = elsewhere.trailing_zeros() as usize;
            elsewhere &= elsewhere - 1;
            if let (Some(&key_hash), Some(located)) =
                (key_hashes.get(index), located.get_mut(index))
            {
                *located = self.locate(opened, key_hash);
            }
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
