//! A segment's keys in groups: what a Balanced ribbon needs to add bucket by bucket.
//!
//! Count, then scatter. The groups are in the order of the slots, so that the keys that are
//! inserted together lie side by side, and so do the rows that they meet.

use crate::equation::Seeded;
use crate::error::OutOfMemory;
use crate::memory::try_reserve;
use alloc::vec::Vec;

/// Room for one segment's keys, used from segment to segment.
#[derive(Default)]
pub(crate) struct Shelves {
    hashes: Vec<Seeded>,
    /// Where each group ends.
    ends: Vec<usize>,
    /// The keys that each shard has taken.
    pub(crate) loads: Vec<usize>,
    /// Rows that a bucket has filled.
    rows: Vec<usize>,
}

impl Shelves {
    /// Orders hashes by their groups.
    #[inline(always)]
    pub(crate) fn fill(
        &mut self,
        groups: usize,
        hashes: impl Iterator<Item = Seeded> + Clone,
        group: impl Fn(Seeded) -> usize,
    ) -> Result<(), OutOfMemory> {
        self.ends.clear();
        try_reserve(&mut self.ends, groups)?;
        self.ends.resize(groups, 0);
        hashes.clone().for_each(|hash| self.ends[group(hash)] += 1);
        // Each group's count becomes its beginning, and its end once all are scattered.
        let mut begin = 0;
        for end in &mut self.ends {
            begin += core::mem::replace(end, begin);
        }
        if self.hashes.len() < begin {
            self.hashes.clear();
            try_reserve(&mut self.hashes, begin)?;
            self.hashes.resize(begin, Seeded::default());
        }
        hashes.for_each(|hash| {
            let end = &mut self.ends[group(hash)];
            self.hashes[*end] = hash;
            *end += 1;
        });
        Ok(())
    }

    /// The hashes of a group, and room for the rows that they fill.
    #[inline(always)]
    pub(crate) fn group(&mut self, group: usize) -> (&[Seeded], &mut Vec<usize>) {
        let begin = if group == 0 { 0 } else { self.ends[group - 1] };
        (&self.hashes[begin..self.ends[group]], &mut self.rows)
    }
}
