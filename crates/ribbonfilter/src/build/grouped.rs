//! A segment's keys in groups: what a Balanced ribbon needs to add bucket by bucket.
//!
//! Count, then scatter. The groups are in the order of the slots, so that the keys that are
//! inserted together lie side by side, and so do the rows that they meet.

use super::{Item, Value};
use crate::error::OutOfMemory;
use crate::ribbon::equation::Seeded;
use crate::storage::memory::try_reserve;
use alloc::vec::Vec;

/// Budget for one segment's keys, used from segment to segment.
#[derive(Default)]
pub(crate) struct Grouped<V> {
    items: Vec<Item<Seeded, V>>,
    /// Where each group ends.
    ends: Vec<usize>,
    /// The keys that each shard has taken.
    pub(crate) loads: Vec<usize>,
    /// Rows that a bucket has filled.
    rows: Vec<usize>,
}

impl<V: Value> Grouped<V> {
    /// Orders keys by their groups.
    #[inline(always)]
    pub(crate) fn fill(
        &mut self,
        groups: usize,
        items: impl Iterator<Item = Item<Seeded, V>> + Clone,
        group: impl Fn(Seeded) -> usize,
    ) -> Result<(), OutOfMemory> {
        self.ends.clear();
        try_reserve(&mut self.ends, groups)?;
        self.ends.resize(groups, 0);
        items.clone().for_each(|item| self.ends[group(item.hash)] += 1);
        // Each group's count becomes its beginning, and its end once all are scattered.
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

    /// The keys of a group, and room for the rows that they fill.
    #[inline(always)]
    pub(crate) fn group(&mut self, group: usize) -> (&[Item<Seeded, V>], &mut Vec<usize>) {
        let begin = if group == 0 { 0 } else { self.ends[group - 1] };
        (&self.items[begin..self.ends[group]], &mut self.rows)
    }
}
