//! The keys of a segment, sorted by start.

use super::item::{Item, Value};
use super::layer::Layer;
use crate::error::OutOfMemory;
use crate::storage::memory::{try_reserve, try_reserve_huge};
use alloc::vec::Vec;
use core::ops::Range;

/// The keys of a segment in the order of their starts. The hashes of their items are those of the
/// layer. The buffers are reused from segment to segment.
pub(crate) struct Sorted<V> {
    /// The items; those after the last one are of another segment.
    items: Vec<Item<V>>,
    /// The position of the first key of each start, and the number of keys.
    begins: Vec<u32>,
}

impl<V> Default for Sorted<V> {
    fn default() -> Self {
        Self { items: Vec::new(), begins: Vec::new() }
    }
}

impl<V: Value> Sorted<V> {
    /// Sorts the keys of a segment with these starts. They are read and hashed twice, which takes less
    /// time than to write the hashes and read them again.
    pub(crate) fn fill<'i>(
        &mut self,
        slices: impl Iterator<Item = &'i [Item<V>]> + Clone,
        starts: Range<u64>,
        layer: &Layer,
    ) -> Result<(), OutOfMemory>
    where
        V: 'i,
    {
        self.count_starts(slices.clone(), &starts, layer)?;
        // After this, each begin is the end of its start, which is the begin of the next one.
        let (items, places) = (&mut self.items[..], &mut self.begins[1..]);
        for slice in slices {
            for item in slice {
                let hash = layer.hash(item.hash);
                let place = &mut places[(layer.start(hash) - starts.start) as usize];
                items[*place as usize] = Item { hash, value: item.value };
                *place += 1;
            }
        }
        Ok(())
    }

    /// Makes room for the keys, and stores the begin of each start one place after its own.
    fn count_starts<'i>(
        &mut self,
        slices: impl Iterator<Item = &'i [Item<V>]> + Clone,
        starts: &Range<u64>,
        layer: &Layer,
    ) -> Result<(), OutOfMemory>
    where
        V: 'i,
    {
        let keys: usize = slices.clone().map(<[_]>::len).sum();
        if let Some(more) = keys.checked_sub(self.items.len()) {
            try_reserve_huge(&mut self.items, more)?;
            self.items.resize(keys, Item::default());
        }
        let count = (starts.end - starts.start) as usize;
        self.begins.clear();
        try_reserve(&mut self.begins, count + 2)?;
        self.begins.resize(count + 2, 0);
        let counts = &mut self.begins[2..];
        for slice in slices {
            for item in slice {
                counts[(layer.start(layer.hash(item.hash)) - starts.start) as usize] += 1;
            }
        }
        let mut sum = 0;
        for begin in &mut self.begins {
            sum += *begin;
            *begin = sum;
        }
        Ok(())
    }

    /// All keys.
    pub(crate) fn all(&self) -> &[Item<V>] {
        &self.items[..self.begins[self.starts()] as usize]
    }

    /// The number of starts.
    pub(crate) fn starts(&self) -> usize {
        self.begins.len() - 2
    }

    /// The number of keys of a start.
    #[inline(always)]
    pub(crate) fn count(&self, start: usize) -> usize {
        (self.begins[start + 1] - self.begins[start]) as usize
    }

    /// The keys of a start.
    #[inline(always)]
    pub(crate) fn of(&self, start: usize) -> &[Item<V>] {
        &self.items[self.begins[start] as usize..self.begins[start + 1] as usize]
    }

    /// The keys of a start, in an order that may be changed.
    pub(crate) fn of_mut(&mut self, start: usize) -> &mut [Item<V>] {
        &mut self.items[self.begins[start] as usize..self.begins[start + 1] as usize]
    }
}
