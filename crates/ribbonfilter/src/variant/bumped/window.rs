//! A segment's keys in the order of their starts, one window after another.
//!
//! No full sort: hashes are scattered to windows of [`WINDOW`] starts, and a window, which
//! fits the nearest caches, is sorted by counting. A window is a whole number of buckets, so
//! all keys of a bucket, and of a *class* of a bucket, stand side by side.

use crate::construct::{Item, Ordered, Value};
use crate::equation::{Seed, Seeded, Starts, seeded};
use crate::error::OutOfMemory;
use crate::memory::try_filled;
use alloc::vec::Vec;
use core::ops::Range;

/// Starts of a window, as a power of two.
pub(super) const WINDOW_LOG: u32 = 12;
pub(super) const WINDOW: usize = 1 << WINDOW_LOG;

/// The seed of every bumping layer: none of them can fail.
pub(super) const SEED: Seed = Seed::new(0);

/// Scatters the hashes of a segment's keys to windows.
#[inline(always)]
pub(super) fn scatter<V: Value>(
    ordered: &mut Ordered<V>,
    keys: &[Item<u64, V>],
    starts: Starts,
) -> Result<(), OutOfMemory> {
    let windows = starts.count().div_ceil(WINDOW as u64) as usize;
    // The share of a full window, seven standard deviations, and what smash adds at the ends.
    let share = keys.len() as f64 * WINDOW as f64 / starts.count() as f64;
    let room = (share + 7.0 * libm::sqrt(share)) as usize + 128;
    ordered.fill_parts(
        keys,
        windows,
        room.min(keys.len()),
        |key| seeded(key, SEED),
        |hash| (starts.start(hash) >> WINDOW_LOG) as usize,
    )
}

/// The keys of one window, in the order of their starts.
#[derive(Default)]
pub(super) struct Window<V> {
    first_start: usize,
    /// For every start of the window, counted from its first, how many keys start before it;
    /// and the number of all keys behind the last.
    before: Vec<u32>,
    starts: Vec<u32>,
    items: Vec<Item<Seeded, V>>,
    /// The starts of the keys as they came.
    unsorted: Vec<u16>,
}

impl<V: Value> Window<V> {
    /// Sorts the keys of the window that begins with a start.
    #[inline(always)]
    pub(super) fn fill(
        &mut self,
        items: &[Item<Seeded, V>],
        starts: Starts,
        first_start: usize,
    ) -> Result<(), OutOfMemory> {
        self.first_start = first_start;
        if self.before.is_empty() {
            self.before = try_filled(0, WINDOW + 2)?;
        }
        if self.items.len() < items.len() {
            self.starts = try_filled(0, items.len())?;
            self.items = try_filled(Item::default(), items.len())?;
            self.unsorted = try_filled(0, items.len())?;
        }
        let Self { before, starts: sorted_starts, items: sorted, unsorted, .. } = self;
        // Counted two places behind, so that after the keys are placed each place has moved
        // to where the next one began.
        before.fill(0);
        for (item, start) in items.iter().zip(&mut *unsorted) {
            *start = (starts.start(item.hash) as usize - first_start) as u16;
            before[usize::from(*start) + 2] += 1;
        }
        let mut sum = 0;
        for count in &mut *before {
            sum += *count;
            *count = sum;
        }
        for (&item, &start) in items.iter().zip(&*unsorted) {
            let place = &mut before[usize::from(start) + 1];
            sorted_starts[*place as usize] = first_start as u32 + u32::from(start);
            sorted[*place as usize] = item;
            *place += 1;
        }
        Ok(())
    }

    /// The first start of the window.
    pub(super) fn first_start(&self) -> usize {
        self.first_start
    }

    /// The keys whose starts, counted from the window's first, lie in a range.
    #[inline(always)]
    pub(super) fn keys(&self, starts: Range<usize>) -> Class<'_, V> {
        let keys = self.before[starts.start] as usize..self.before[starts.end] as usize;
        Class { starts: &self.starts[keys.clone()], items: &self.items[keys] }
    }
}

/// Keys that go in together or not at all, in the order of their starts.
#[derive(Clone, Copy)]
pub(super) struct Class<'a, V> {
    /// Slots in the segment.
    pub(super) starts: &'a [u32],
    pub(super) items: &'a [Item<Seeded, V>],
}

impl<V: Value> Class<'_, V> {
    /// How many keys are the same as one before them, and are mapped to the same.
    ///
    /// Keys with equal hashes have equal starts, so only runs of equal starts are compared.
    pub(super) fn duplicates(&self) -> usize {
        /// A longer run is sorted instead.
        const LONG: usize = 16;
        let (mut duplicates, mut begin) = (0, 0);
        while begin < self.starts.len() {
            let same = |&&start: &&u32| start == self.starts[begin];
            let length = self.starts[begin..].iter().take_while(same).count();
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
