//! The pushed keys: in slabs of memory, or spilled to a file where they exceed the budget.

use super::item::{Item, Value};
use super::pieces::slab_items;
use super::spill::{Directory, Spill};
use crate::error::{BuildError, OutOfMemory};
use crate::plan::Runs;
use crate::storage::memory::{try_copied, try_reserve, try_reserve_huge};
use alloc::vec::Vec;

/// Items in pieces of memory that are full, but for the last one.
pub(crate) type Slabs<V> = Vec<Vec<Item<V>>>;

/// Key hashes, each with its value.
pub(crate) struct Store<V> {
    /// Slabs that are full.
    full: Vec<Vec<Item<V>>>,
    /// The slab that is being filled.
    last: Vec<Item<V>>,
    /// The directory to spill to, if any.
    pub(crate) directory: Option<Directory>,
    /// The items that were spilled.
    spill: Option<Spill<V>>,
}

impl<V> Default for Store<V> {
    fn default() -> Self {
        Self { full: Vec::new(), last: Vec::new(), directory: None, spill: None }
    }
}

/// The items of a build.
pub(crate) enum Taken<V> {
    Here(Vec<Vec<Item<V>>>),
    Spilled(Spill<V>),
}

impl<V: Value> Store<V> {
    pub(crate) fn len(&self) -> u64 {
        self.spill.as_ref().map_or(0, Spill::len) + self.in_memory()
    }

    fn in_memory(&self) -> u64 {
        (self.full.iter().map(Vec::len).sum::<usize>() + self.last.len()) as u64
    }

    /// Whether [`push`](Self::push) needs [`grow`](Self::grow) first.
    #[inline(always)]
    pub(crate) fn is_full(&self) -> bool {
        self.last.len() == self.last.capacity()
    }

    #[inline(always)]
    pub(crate) fn push(&mut self, item: Item<V>) {
        self.last.push(item);
    }

    /// The items in memory, in the order in which they were pushed.
    pub(crate) fn items_mut(&mut self) -> impl Iterator<Item = &mut Item<V>> {
        self.full.iter_mut().chain([&mut self.last]).flatten()
    }

    /// Removes the items that do not satisfy the predicate.
    pub(crate) fn retain(&mut self, predicate: impl Fn(&Item<V>) -> bool) {
        self.full.iter_mut().chain([&mut self.last]).for_each(|slab| slab.retain(&predicate));
    }

    /// Takes all items, if none were spilled.
    pub(crate) fn take_slabs(&mut self) -> Slabs<V> {
        let mut slabs = core::mem::take(&mut self.full);
        slabs.push(core::mem::take(&mut self.last));
        slabs
    }

    /// Removes all keys and keeps the last buffer.
    pub(crate) fn clear(&mut self) {
        self.full.clear();
        self.last.clear();
        self.spill = None;
    }

    /// How keys are spilled; `None` if they must not be.
    pub(crate) fn runs(&self, max_memory: u64) -> Option<Runs> {
        self.directory.as_ref()?;
        let begun = self.spill.as_ref().map(Spill::runs);
        let within =
            || Runs::within(max_memory, size_of::<Item<V>>() as u64, slab_items::<V>() as u64);
        Some(begun.unwrap_or_else(within))
    }

    /// Reserves capacity for at least one more key, and for `additional` keys if they fit the slab.
    /// With `runs`, keys in memory are spilled as soon as they exceed what may be in memory.
    pub(crate) fn grow(&mut self, additional: u64, runs: Option<Runs>) -> Result<(), BuildError> {
        if let Some(runs) = runs.filter(|runs| self.in_memory() >= runs.pushed) {
            self.spill_all(runs)?;
        }
        let slab = runs.map_or(slab_items::<V>(), |runs| runs.items as usize);
        if self.last.len() >= slab {
            try_reserve(&mut self.full, 1)?;
            self.full.push(core::mem::take(&mut self.last));
        }
        let doubled = (additional as usize).max(self.last.len()).max(4);
        let additional = doubled.min(slab.saturating_sub(self.last.len())).max(1);
        Ok(try_reserve_huge(&mut self.last, additional)?)
    }

    /// Writes the keys in memory to the file.
    fn spill_all(&mut self, runs: Runs) -> Result<(), BuildError> {
        if let (None, Some(directory)) = (&self.spill, &self.directory) {
            self.spill = Some(Spill::create(directory, runs, 0)?);
        }
        if let Some(spill) = &mut self.spill {
            self.full.iter_mut().try_for_each(|slab| spill.write(slab))?;
            spill.write(&mut self.last)?;
            self.full.clear();
        }
        Ok(())
    }

    /// Takes all keys, spilled to a file if `runs` says how.
    pub(crate) fn take(&mut self, runs: Option<Runs>) -> Result<Taken<V>, BuildError> {
        if let Some(runs) = runs.or(self.spill.as_ref().map(Spill::runs)) {
            self.spill_all(runs)?;
            self.last = Vec::new();
        }
        if let Some(spill) = self.spill.take() {
            return Ok(Taken::Spilled(spill));
        }
        Ok(Taken::Here(self.take_slabs()))
    }

    /// Gives memory back for the next keys.
    pub(crate) fn reuse(&mut self, slabs: Vec<Vec<Item<V>>>) {
        self.last = slabs.into_iter().last().unwrap_or_default();
        self.last.clear();
    }

    /// A copy of some slabs.
    pub(crate) fn copied(slabs: &[Vec<Item<V>>]) -> Result<Vec<Vec<Item<V>>>, OutOfMemory> {
        slabs.iter().map(|slab| try_copied(slab)).collect()
    }
}
