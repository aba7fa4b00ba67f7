//! Tells from the starts alone how crowded a seed makes a segment.

use super::Item;
use crate::equation::{Seed, Starts, seeded};
use crate::error::OutOfMemory;
use crate::memory::try_filled;
use crate::rate;
use crate::shape::Shape;
use alloc::vec::Vec;

/// Counters that fit the nearest cache, as a power of two. In a larger segment each counts
/// the starts of several slots: what makes a queue long is a crowd over hundreds of slots,
/// which is seen just as well. Within a run of `2^k` slots about `k` of a queue are hidden.
const COUNTERS_LOG: u32 = 15;

/// Counts keys by their starts, for one segment and seed after another.
pub(crate) struct Screen {
    starts: Starts,
    /// A counter is for `1 << slots_log` starts.
    slots_log: u32,
    counters: Vec<u8>,
}

impl Screen {
    pub(crate) fn new(shape: &Shape) -> Result<Self, OutOfMemory> {
        let starts = shape.starts();
        // Half a power of two below the size of the cache, for the keys that pass by.
        let slots_log = (starts.count().ilog2() + 1).saturating_sub(COUNTERS_LOG);
        let counters = try_filled(0, (starts.count() >> slots_log) as usize + 1)?;
        Ok(Self { starts, slots_log, counters })
    }

    /// The longest queue of a segment's keys under a seed.
    #[inline(always)]
    pub(crate) fn longest_queue<V>(&mut self, keys: &[Item<u64, V>], seed: Seed) -> u32 {
        self.counters.fill(0);
        for key in keys {
            let start = self.starts.start(seeded(key.hash, seed));
            let count = &mut self.counters[(start >> self.slots_log) as usize];
            *count = count.saturating_add(1);
        }
        rate::longest_queue(&self.counters, 1 << self.slots_log).saturating_add(self.slots_log)
    }
}
