//! A segment's keys in groups, as a Balanced ribbon needs them to insert bucket by bucket.
//!
//! The keys are counted, then scattered. Groups are in slot order, so that keys that are inserted
//! together are adjacent in memory, and so are the rows that they meet.

use crate::build::{Item, Value};
use crate::error::OutOfMemory;
use crate::ribbon::equation::Seeded;
use crate::storage::memory::try_reserve;
use alloc::vec::Vec;

/// Buffer for one segment's keys, reused for every segment.
#[derive(Default)]
pub(super) struct Grouped<V> {
    items: Vec<Item<Seeded, V>>,
    /// The end of each group.
    ends: Vec<usize>,
    /// The number of keys that each shard holds.
    pub(super) loads: Vec<usize>,
    /// The rows that the current bucket has filled.
    rows: Vec<usize>,
}

impl<V: Value> Grouped<V> {
    /// Orders keys by group.
    #[inline(always)]
    pub(super) fn fill(
        &mut self,
        groups: usize,
        items: impl Iterator<Item = Item<Seeded, V>> + Clone,
        group: impl Fn(Seeded) -> usize,
    ) -> Result<(), OutOfMemory> {
        self.ends.clear();
        try_reserve(&mut self.ends, groups)?;
        self.ends.resize(groups, 0);
        items.clone().for_each(|item| self.ends[group(item.hash)] += 1);
        // Each count becomes the beginning of its group, and its end once all keys are scattered.
        let mut begin = 0;
        for end in &mut self.ends {
            begin += core::mem::replace(end, begin);
        }
        if self.items.len() < begin {
            self.items.clear();
            try_reserve(&mut self.items, begin)?;
            self.items.resize(begin, Item::default());
        }
        items.for_each(|item| {
            let end = &mut self.ends[group(item.hash)];
            self.items[*end] = item;
            *end += 1;
        });
        Ok(())
    }

    /// The keys of a group, and a buffer for the rows that they fill.
    #[inline(always)]
    pub(super) fn group(&mut self, group: usize) -> (&[Item<Seeded, V>], &mut Vec<usize>) {
        let begin = if group == 0 { 0 } else { self.ends[group - 1] };
        (&self.items[begin..self.ends[group]], &mut self.rows)
    }
}
