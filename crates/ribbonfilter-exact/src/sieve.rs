//! Queries filters in batches.

use alloc::vec::Vec;
use ribbonfilter::Filter;

/// The number of keys that are queried together.
const BATCH: usize = 1 << 10;

/// Keys go in, and those that pass the filter of their group come out later.
pub(crate) struct Sieve<'a> {
    /// The filters with their numbers of columns.
    filters: &'a [(u32, Filter)],
    /// Of each filter, the hashes and the groups of keys that are not yet queried.
    pending: Vec<(Vec<u64>, Vec<usize>)>,
}

impl<'a> Sieve<'a> {
    pub(crate) fn new(filters: &'a [(u32, Filter)]) -> Self {
        let pending = (Vec::with_capacity(BATCH), Vec::with_capacity(BATCH));
        Self { filters, pending: alloc::vec![pending; filters.len()] }
    }

    /// The filter with this number of columns; `None` for 0 columns.
    #[inline]
    pub(crate) fn position(&self, columns: u32) -> Option<usize> {
        self.filters.iter().position(|filter| filter.0 == columns)
    }

    /// Adds a key for a filter; without a filter, it passes.
    #[inline]
    pub(crate) fn push(
        &mut self,
        filter: Option<usize>,
        group: usize,
        hash: u64,
        mut passes: impl FnMut(usize, u64),
    ) {
        let Some(filter) = filter else { return passes(group, hash) };
        let (hashes, groups) = &mut self.pending[filter];
        hashes.push(hash);
        groups.push(group);
        if hashes.len() == BATCH {
            self.query(filter, passes);
        }
    }

    /// Queries the keys that are left.
    pub(crate) fn finish(&mut self, mut passes: impl FnMut(usize, u64)) {
        (0..self.filters.len()).for_each(|filter| self.query(filter, &mut passes));
    }

    fn query(&mut self, filter: usize, mut passes: impl FnMut(usize, u64)) {
        let (hashes, groups) = &mut self.pending[filter];
        let mut hits = [false; BATCH];
        self.filters[filter].1.contains_hash_batch_into(hashes, &mut hits);
        for ((&hash, &group), _) in hashes.iter().zip(&*groups).zip(hits).filter(|(_, hit)| *hit) {
            passes(group, hash);
        }
        hashes.clear();
        groups.clear();
    }
}
