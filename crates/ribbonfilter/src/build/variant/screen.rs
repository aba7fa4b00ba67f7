//! Measures from the starts alone how crowded a segment is under a seed.

use crate::build::Item;
use crate::error::OutOfMemory;
use crate::ribbon::equation::{Seed, Starts, seeded};
use crate::ribbon::rate;
use crate::ribbon::shape::Shape;
use crate::storage::memory::try_filled;
use alloc::vec::Vec;

/// Number of counters that fit the first-level cache, as a power of two. In a larger segment each
/// counter covers the starts of several slots. A queue becomes long when hundreds of slots are
/// crowded, and that shows just as well with such counters. Within a run of `2^k` slots, about `k`
/// of a queue's length stay hidden.
const COUNTERS_LOG: u32 = 15;

/// Counts keys by their starts, for one segment and one seed at a time.
pub(super) struct Screen {
    starts: Starts,
    /// Each counter covers `1 << slots_log` starts.
    slots_log: u32,
    counters: Vec<u8>,
}

impl Screen {
    pub(super) fn new(shape: &Shape) -> Result<Self, OutOfMemory> {
        let starts = shape.starts();
        // In a larger segment this yields at least half as many counters as fit the cache, but not
        // all of them. The rest of the cache is for the keys that stream through.
        let slots_log = (starts.count().ilog2() + 1).saturating_sub(COUNTERS_LOG);
        let counters = try_filled(0, (starts.count() >> slots_log) as usize + 1)?;
        Ok(Self { starts, slots_log, counters })
    }

    /// The longest queue of a segment's keys under a seed, or any queue longer than `limit`. A
    /// counter that saturates could stand for any number of keys, so the result is then `u32::MAX`.
    #[inline(always)]
    pub(super) fn longest_queue<V>(
        &mut self,
        keys: &[Item<u64, V>],
        seed: Seed,
        limit: u32,
    ) -> u32 {
        let Self { starts, slots_log, counters } = self;
        counters.fill(0);
        let place =
            |key: &Item<u64, V>| (starts.start(seeded(key.hash, seed)) >> *slots_log) as usize;
        let mut count = |place: usize| {
            let counter = &mut counters[place];
            *counter += u8::from(*counter != u8::MAX);
        };
        // Hash four keys before counting any: an increment has to wait for the preceding one.
        let (fours, rest) = keys.as_chunks::<4>();
        for keys in fours {
            keys.each_ref().map(place).into_iter().for_each(&mut count);
        }
        rest.iter().map(place).for_each(count);
        if counters.contains(&u8::MAX) {
            return u32::MAX;
        }
        // The queue length that counters over several slots hide.
        let hidden = *slots_log;
        let limit = limit.saturating_sub(hidden);
        rate::longest_queue(counters, 1 << hidden, limit).saturating_add(hidden)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Width;
    use crate::ribbon::equation::mix;
    use alloc::vec;

    #[test]
    fn a_count_that_fills_its_byte_is_an_endless_queue() {
        let shape = Shape { width: Width::W64, segment_slots: 1000, ..Shape::EMPTY };
        let mut screen = Screen::new(&shape).expect("memory");
        for (same, endless) in [(200, false), (254, false), (255, true), (300, true)] {
            let keys: Vec<Item<u64, ()>> = vec![mix(1).into(); same];
            let queue = screen.longest_queue(&keys, Seed::new(0), u32::MAX);
            assert_eq!(queue == u32::MAX, endless, "{same} keys");
            assert!(endless || queue as usize == same - 1);
        }
    }
}
