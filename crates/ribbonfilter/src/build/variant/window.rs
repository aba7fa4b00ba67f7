//! Orders a segment's keys by start, one window at a time.
//!
//! There is no full sort. Hashes are scattered to windows of [`WINDOW`] starts, and each window,
//! which fits the first two levels of cache, is sorted by counting. A window is a whole number of
//! buckets, so all keys of a bucket, and of a *class* of a bucket, are contiguous.

use crate::build::{Item, Ordered, Value};
use crate::error::OutOfMemory;
use crate::ribbon::equation::{Seed, Seeded, Starts, seeded};
use crate::storage::memory::try_filled;
use alloc::vec::Vec;
use core::ops::Range;

/// Number of starts in a window, as a power of two.
pub(super) const WINDOW_LOG: u32 = 11;
pub(super) const WINDOW: usize = 1 << WINDOW_LOG;

/// Scatters the hashes of a segment's keys under a seed to windows.
#[inline(always)]
pub(super) fn scatter<V: Value>(
    ordered: &mut Ordered<V>,
    keys: &[Item<u64, V>],
    starts: Starts,
    seed: Seed,
) -> Result<(), OutOfMemory> {
    let windows = starts.count().div_ceil(WINDOW as u64) as usize;
    // The expected size of a full window, seven standard deviations, and what smash adds at the
    // ends.
    let share = keys.len() as f64 * WINDOW as f64 / starts.count() as f64;
    let capacity = (share + 7.0 * libm::sqrt(share)) as usize + 128;
    ordered.fill_parts(
        keys,
        windows,
        capacity.min(keys.len()),
        |key| seeded(key, seed),
        |hash| (starts.start(hash) >> WINDOW_LOG) as usize,
    )
}

/// Number of interleaved counting streams. An increment of a counter has to wait if the same
/// counter was just incremented. So the keys of four quarters take turns, each quarter with its own
/// counters.
const STREAMS: usize = 4;

/// The keys of one window, in the order of their starts.
pub(super) struct Window<V> {
    starts: Starts,
    first_start: usize,
    /// `before[i]` is the number of keys that start before start `i` of the window, counted from
    /// its first. All entries after the last start hold the number of all keys.
    before: Vec<u32>,
    /// For every start and stream, first the number of keys, then the position of the next key.
    places: Vec<[u16; STREAMS]>,
    items: Vec<Item<Seeded, V>>,
    /// The starts of the keys in their original order.
    unsorted: Vec<u16>,
}

impl<V: Value> Window<V> {
    /// A window over keys with these starts.
    pub(super) fn new(starts: Starts) -> Result<Self, OutOfMemory> {
        let max = WINDOW.min(usize::try_from(starts.count()).unwrap_or(WINDOW));
        Ok(Self {
            starts,
            first_start: 0,
            before: try_filled(0, WINDOW + 1)?,
            places: try_filled([0; STREAMS], max)?,
            items: Vec::new(),
            unsorted: Vec::new(),
        })
    }

    /// Sorts the keys of the window that begins at `first_start`.
    #[inline(always)]
    pub(super) fn fill(
        &mut self,
        items: &[Item<Seeded, V>],
        first_start: usize,
    ) -> Result<(), OutOfMemory> {
        self.first_start = first_start;
        if self.items.len() < items.len() {
            self.items = try_filled(Item::default(), items.len())?;
            self.unsorted = try_filled(0, items.len())?;
        }
        // No more counters than there are starts: a small system is sorted again for every seed.
        let used = (self.starts.count() as usize - first_start).min(WINDOW);
        match u16::try_from(items.len()) {
            Ok(_) => self.sort_by_counting(items, used),
            Err(_) => self.sort_by_comparing(items, used),
        }
        Ok(())
    }

    #[inline(always)]
    fn sort_by_counting(&mut self, items: &[Item<Seeded, V>], used: usize) {
        let Self { starts, first_start, before, places, items: sorted, unsorted } = self;
        let sorted = &mut sorted[..items.len()];
        let places = &mut places[..used];
        places.fill([0; STREAMS]);
        let (streams, rest) = in_streams(items);
        let (turns, rest_starts) = unsorted[..items.len()].split_at_mut(streams[0].len() * STREAMS);
        let place = |item: &Item<Seeded, V>| starts.start(item.hash) as usize - *first_start;
        for (turn, starts) in turns.as_chunks_mut::<STREAMS>().0.iter_mut().enumerate() {
            // Compute all four starts before counting any.
            let four: [usize; STREAMS] =
                core::array::from_fn(|stream| place(&streams[stream][turn]));
            *starts = four.map(|place| place as u16);
            for (stream, place) in four.into_iter().enumerate() {
                places[place][stream] += 1;
            }
        }
        for (item, start) in rest.iter().zip(&mut *rest_starts) {
            *start = place(item) as u16;
            places[usize::from(*start)][0] += 1;
        }
        let mut sum = 0;
        for (places, before) in places.iter_mut().zip(&mut *before) {
            *before = sum.into();
            for place in places {
                sum += core::mem::replace(place, sum);
            }
        }
        before[used..].fill(sum.into());
        let mut put = |item: Item<Seeded, V>, start: u16, stream: usize| {
            let place = &mut places[usize::from(start)][stream];
            sorted[usize::from(*place)] = item;
            *place += 1;
        };
        for (turn, starts) in turns.as_chunks::<STREAMS>().0.iter().enumerate() {
            for (stream, &start) in starts.iter().enumerate() {
                put(streams[stream][turn], start, stream);
            }
        }
        for (&item, &start) in rest.iter().zip(&*rest_starts) {
            put(item, start, 0);
        }
    }

    /// Sorts more keys than 16-bit counters allow, far more than random hashes produce.
    #[cold]
    #[inline(never)]
    fn sort_by_comparing(&mut self, items: &[Item<Seeded, V>], used: usize) {
        let Self { starts, first_start, before, items: sorted, .. } = self;
        let sorted = &mut sorted[..items.len()];
        sorted.copy_from_slice(items);
        let place = |item: &Item<Seeded, V>| starts.start(item.hash) as usize - *first_start;
        sorted.sort_unstable_by_key(place);
        for (start, before) in before.iter_mut().enumerate() {
            let start = start.min(used);
            *before = sorted.partition_point(|item| place(item) < start) as u32;
        }
    }

    /// The first start of the window.
    pub(super) fn first_start(&self) -> usize {
        self.first_start
    }

    /// The keys whose starts, counted from the window's first, lie in a range.
    #[inline(always)]
    pub(super) fn keys(&self, starts: Range<usize>) -> Class<'_, V> {
        let keys = self.before[starts.start] as usize..self.before[starts.end] as usize;
        Class::new(self.starts, &self.items[keys])
    }
}

/// Splits items into `STREAMS` slices of equal length and a remainder.
#[inline(always)]
fn in_streams<T>(items: &[T]) -> ([&[T]; STREAMS], &[T]) {
    let length = items.len() / STREAMS;
    let share = |stream| &items[stream * length..][..length];
    (core::array::from_fn(share), &items[STREAMS * length..])
}

/// Keys that are inserted together or not at all, in the order of their starts.
#[derive(Clone, Copy)]
pub(super) struct Class<'a, V> {
    starts: Starts,
    pub(super) items: &'a [Item<Seeded, V>],
}

impl<'a, V: Value> Class<'a, V> {
    /// Keys in the order of their starts.
    pub(super) fn new(starts: Starts, items: &'a [Item<Seeded, V>]) -> Self {
        Self { starts, items }
    }

    /// The keys and their starts, as slots of the segment.
    #[inline(always)]
    pub(super) fn keys(self) -> impl ExactSizeIterator<Item = (u32, Item<Seeded, V>)> + use<'a, V> {
        let starts = self.starts;
        self.items.iter().map(move |&item| (starts.start(item.hash) as u32, item))
    }

    /// The number of keys that equal an earlier key with the same value.
    ///
    /// Keys with equal hashes have equal starts, so only runs of equal starts are compared.
    pub(super) fn duplicates(&self) -> usize {
        /// A longer run is sorted instead.
        const LONG: usize = 16;
        let (mut duplicates, mut begin) = (0, 0);
        let start = |item: &Item<Seeded, V>| self.starts.start(item.hash);
        while begin < self.items.len() {
            let same = |item: &&Item<Seeded, V>| start(item) == start(&self.items[begin]);
            let length = self.items[begin..].iter().take_while(same).count();
            let run = &self.items[begin..begin + length];
            duplicates += match length {
                0..LONG => (1..length).filter(|&at| run[..at].contains(&run[at])).count(),
                _ => {
                    let mut sorted = run.to_vec();
                    sorted.sort_unstable();
                    sorted.dedup();
                    length - sorted.len()
                }
            };
            begin += length;
        }
        duplicates
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Width;
    use crate::build::variant::sorted::Sorted;
    use crate::ribbon::equation::mix;
    use alloc::vec;

    const SEED: Seed = Seed::new(3);

    /// The starts and values of a class, in ascending order.
    fn numbers(class: Class<'_, u64>) -> Vec<(u32, u64)> {
        let mut numbers: Vec<_> = class.keys().map(|(start, item)| (start, item.value)).collect();
        assert!(numbers.is_sorted_by_key(|&(start, _)| start));
        numbers.sort_unstable();
        numbers
    }

    /// Windows and whole segments yield the same order, and every key is in the range of its start.
    fn check(keys: &[Item<u64, u64>], starts: Starts) {
        let mut expected: Vec<(u32, u64)> = keys
            .iter()
            .map(|key| (starts.start(seeded(key.hash, SEED)) as u32, key.value))
            .collect();
        expected.sort_unstable();
        let between = |range: Range<usize>| {
            let inside = |&&(start, _): &&(u32, u64)| range.contains(&(start as usize));
            expected.iter().filter(inside).copied().collect::<Vec<_>>()
        };
        let (mut ordered, mut window) = (Ordered::default(), Window::new(starts).expect("memory"));
        scatter(&mut ordered, keys, starts, SEED).expect("memory");
        for (number, part) in ordered.parts().enumerate() {
            let first = number * WINDOW;
            window.fill(part, first).expect("memory");
            for range in [0..WINDOW, 0..0, 7..512, 1000..WINDOW] {
                let found = numbers(window.keys(range.clone()));
                assert_eq!(found, between(first + range.start..first + range.end));
            }
        }
        let mut sorted = Sorted::new(starts).expect("memory");
        // The state left by an earlier seed must not matter.
        for seed in [Seed::new(1), SEED] {
            sorted.count(keys, seed);
            sorted.sort(keys, seed).expect("memory");
        }
        let count = starts.count() as usize;
        for range in [0..count, 0..1, count / 3..count / 2, count - 1..count] {
            assert_eq!(numbers(sorted.keys(range.clone())), between(range));
        }
    }

    #[test]
    fn keys_are_in_the_order_of_their_starts() {
        for (keys, slots) in
            [(0, 64), (1, 64), (5, 1), (300, 300), (2049, 2111), (3, 5000), (9001, 9100)]
        {
            let keys: Vec<_> = (0..keys).map(|value| Item { hash: mix(value), value }).collect();
            for smash in [false, true] {
                check(&keys, Starts::new(slots, Width::W64, smash));
            }
        }
    }

    #[test]
    fn more_equal_keys_than_can_be_counted() {
        let same = |count: u64| (0..count).map(|value| Item { hash: mix(1), value });
        let starts = Starts::new(5000, Width::W64, true);
        for count in [65_535, 65_536, 70_000] {
            let keys: Vec<_> = same(count).collect();
            let mut ordered = Ordered::default();
            let mut window = Window::new(starts).expect("memory");
            scatter(&mut ordered, &keys, starts, SEED).expect("memory");
            let mut found = 0;
            for (number, part) in ordered.parts().enumerate() {
                window.fill(part, number * WINDOW).expect("memory");
                found += window.keys(0..WINDOW).items.len();
            }
            assert_eq!(found as u64, count);
            let mut sorted = Sorted::new(starts).expect("memory");
            sorted.count(&keys, SEED);
            let queue = sorted.longest_queue(keys.len(), u32::MAX);
            assert_eq!(queue, if count > 65_535 { u32::MAX } else { 65_534 });
        }
    }

    #[test]
    fn duplicates_of_a_class_are_counted() {
        let duplicates = |starts: Starts, keys: &[u64]| {
            let mut items: Vec<Item<Seeded, ()>> =
                keys.iter().map(|&key| seeded(mix(key), SEED).into()).collect();
            items.sort_by_key(|item| starts.start(item.hash));
            Class::new(starts, &items).duplicates()
        };
        let many: Vec<u64> = (0..100).map(|key| key / 3).collect();
        // A single start, or many.
        for starts in [Starts::new(64, Width::W64, false), Starts::new(5000, Width::W64, false)] {
            assert_eq!(duplicates(starts, &[]), 0);
            assert_eq!(duplicates(starts, &[3, 1]), 0);
            assert_eq!(duplicates(starts, &[3, 1, 3]), 1);
            assert_eq!(duplicates(starts, &[3, 1, 3, 2, 2, 2, 9]), 3);
            assert_eq!(duplicates(starts, &many), 66);
        }
        // The same key with another value is not a duplicate.
        let items = vec![1, 1, 2];
        let items: Vec<_> =
            items.into_iter().map(|value| Item { hash: seeded(mix(1), SEED), value }).collect();
        assert_eq!(Class::new(Starts::new(64, Width::W64, false), &items).duplicates(), 1);
    }
}
