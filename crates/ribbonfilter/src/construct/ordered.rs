//! A segment's hashes under a seed, roughly in the order of their starts.
//!
//! Inserted in order of arrival, every key of a large segment would miss the cache. The
//! start is monotone in the seeded hash, so scattering by the top bits is enough: the keys
//! of one part start within a few thousand slots of each other.

use crate::equation::{Seed, Seeded, below_segment, seeded};
use crate::error::{OutOfMemory, try_reserve};
use alloc::vec::Vec;

/// A part has between so many keys and twice as many, as a power of two: its rows fit the
/// nearest caches.
const PART_LOG: u32 = 12;
/// No more parts than the processor can write to side by side.
const MAX_PARTS_LOG: u32 = 9;

/// Room for one segment's hashes, used from segment to segment.
#[derive(Default)]
pub(crate) struct Ordered {
    hashes: Vec<Seeded>,
    places: Vec<usize>,
}

impl Ordered {
    /// The hashes of a segment's keys under a seed, part by part.
    #[inline(always)]
    pub(crate) fn fill(
        &mut self,
        keys: &[u64],
        segment_bits: u32,
        seed: Seed,
    ) -> Result<&[Seeded], OutOfMemory> {
        let missing = keys.len().saturating_sub(self.hashes.len());
        if missing > 0 {
            self.hashes.clear();
            try_reserve(&mut self.hashes, keys.len())?;
            self.hashes.resize(keys.len(), Seeded::default());
        }
        let hashes = &mut self.hashes[..keys.len()];
        let parts_log = (keys.len() >> PART_LOG).max(1).ilog2().min(MAX_PARTS_LOG);
        if parts_log == 0 {
            for (hash, &key) in hashes.iter_mut().zip(keys) {
                *hash = seeded(below_segment(key, segment_bits), seed);
            }
            return Ok(hashes);
        }
        self.places.clear();
        self.places.resize(1 << parts_log, 0);
        for &key in keys {
            self.places[seeded(below_segment(key, segment_bits), seed).part(parts_log)] += 1;
        }
        let mut begin = 0;
        for place in &mut self.places {
            begin += core::mem::replace(place, begin);
        }
        for &key in keys {
            let hash = seeded(below_segment(key, segment_bits), seed);
            let place = &mut self.places[hash.part(parts_log)];
            hashes[*place] = hash;
            *place += 1;
        }
        Ok(hashes)
    }
}
