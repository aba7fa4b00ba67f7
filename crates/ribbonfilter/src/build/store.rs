//! The pushed keys: in memory, or spilled to a file where they exceed the budget.

use super::{Directory, Group, Item, Keys, Partitioned, Resources, Spill, Value, contradiction};
use crate::build::variant::Failure;
use crate::error::BuildError;
use crate::plan::{Plan, Runs};
use crate::progress::Reporter;
use crate::storage::memory::try_reserve_huge;
use alloc::borrow::Cow;
use alloc::vec::Vec;

/// Mixed key hashes, each with its value.
pub(crate) struct Store<V> {
    /// The items in memory, in insertion order.
    pub(crate) items: Vec<Item<u64, V>>,
    /// The directory to spill to, if any.
    pub(crate) directory: Option<Directory>,
    /// The items that were spilled.
    spill: Option<Spill<V>>,
}

impl<V> Default for Store<V> {
    fn default() -> Self {
        Self { items: Vec::new(), directory: None, spill: None }
    }
}

impl<V> From<Vec<Item<u64, V>>> for Store<V> {
    fn from(items: Vec<Item<u64, V>>) -> Self {
        Self { items, ..Self::default() }
    }
}

impl<V: Value> Store<V> {
    pub(crate) fn len(&self) -> u64 {
        self.spill.as_ref().map_or(0, Spill::len) + self.items.len() as u64
    }

    /// An empty store that has no buffer and spills to the same directory.
    pub(crate) fn emptied(&self) -> Self {
        Self { directory: self.directory.clone(), ..Self::default() }
    }

    /// Removes all keys and keeps their buffer.
    pub(crate) fn clear(&mut self) {
        self.items.clear();
        self.spill = None;
    }

    /// How keys are spilled; `None` if they must not be.
    pub(crate) fn runs(&self, max_memory: u64) -> Option<Runs> {
        self.directory.as_ref()?;
        let begun = self.spill.as_ref().map(Spill::runs);
        Some(begun.unwrap_or_else(|| Runs::within(max_memory, size_of::<Item<u64, V>>() as u64)))
    }

    /// Reserves capacity for at least one more key, and for `additional` keys if the memory budget
    /// allows it.
    pub(crate) fn grow(
        &mut self,
        additional: usize,
        resources: &Resources,
    ) -> Result<(), BuildError> {
        let mut additional = additional.max(self.items.len());
        if let Some(runs) = resources.means.runs {
            if self.items.len() as u64 >= runs.items {
                self.spill_all(runs)?;
            }
            let room = runs.items.saturating_sub(self.items.len() as u64).max(1);
            additional = additional.min(usize::try_from(room).unwrap_or(usize::MAX));
        }
        Ok(try_reserve_huge(&mut self.items, additional)?)
    }

    /// Runs `work` on the keys, ordered by group and segment.
    pub(super) fn with_keys<T>(
        &mut self,
        plan: &Plan,
        resources: Resources,
        progress: &mut Reporter<'_>,
        work: impl FnOnce(&Keys<'_, V>, Resources, &mut Reporter<'_>) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        if let Some(runs) = plan.spilling() {
            self.spill_all(runs)?;
            self.items = Vec::new();
        } else {
            self.fetch_all()?;
        }
        if let Some(spill) = &self.spill {
            let schedule = plan.schedule(spill.runs(), |bits| spill.fullest(bits));
            let resources = resources.on_schedule(plan, schedule)?;
            let keys = Keys::Spilled(spill, schedule);
            return work(&keys, resources, progress);
        }
        let group = Group::all(plan.shape.segment_bits);
        let given: Cow<'_, [_]> = match V::CONTRADICTS {
            true => (&self.items).into(),
            false => core::mem::take(&mut self.items).into(),
        };
        let ordered = Partitioned::new(given, group, resources.threads(), progress)?;
        let keys = Keys::Here(ordered);
        let done = work(&keys, resources, progress);
        if let (Keys::Here(ordered), false) = (keys, V::CONTRADICTS) {
            self.items = ordered.into_items().into_owned();
        }
        done
    }

    /// Writes the keys in memory to the file.
    fn spill_all(&mut self, runs: Runs) -> Result<(), BuildError> {
        if let (None, Some(directory)) = (&self.spill, &self.directory) {
            self.spill = Some(Spill::create(directory, runs)?);
        }
        if let Some(spill) = &mut self.spill {
            // There can be more than one run if the memory limit was set after the keys were
            // pushed.
            let run = usize::try_from(runs.items).unwrap_or(usize::MAX);
            self.items.chunks_mut(run).try_for_each(|run| spill.write(run))?;
            self.items.clear();
        }
        Ok(())
    }

    /// Reads all spilled keys into memory. The keys in memory are written to the file first,
    /// because the budget may not cover them in addition to the others.
    fn fetch_all(&mut self) -> Result<(), BuildError> {
        self.write_rest()?;
        if let Some(spill) = self.spill.take() {
            self.items = spill.load(Group::all(0), 1)?.into_items().into_owned();
        }
        Ok(())
    }

    /// Writes the keys that are still in memory to the file, if there is one.
    pub(crate) fn write_rest(&mut self) -> Result<(), BuildError> {
        if let Some(runs) = self.spill.as_ref().map(Spill::runs) {
            self.spill_all(runs)?;
            self.items = Vec::new();
        }
        Ok(())
    }

    /// The maximum number of pieces of spilled keys, as a power of two; `None` if none are spilled.
    pub(crate) fn cell_bits(&self) -> Option<u32> {
        self.spill.as_ref().map(|spill| spill.runs().cell_bits)
    }

    /// The bytes that spilled keys take in memory: a buffer, and the index of their runs.
    pub(crate) fn spill_bytes(&self) -> u64 {
        self.spill.as_ref().map_or(0, |spill| {
            let runs = spill.runs();
            runs.buffer + runs.index(spill.len())
        })
    }

    /// The number of spilled keys in the fullest of `1 << bits` pieces.
    pub(crate) fn fullest(&self, bits: u32) -> u64 {
        self.spill.as_ref().map_or(0, |spill| spill.fullest(bits))
    }

    /// The spilled keys whose top `bits` bits are `number`; `None` if none are spilled.
    pub(crate) fn read_piece(
        &self,
        bits: u32,
        number: u64,
    ) -> Result<Option<Vec<Item<u64, V>>>, BuildError> {
        let Some(spill) = &self.spill else { return Ok(None) };
        let loaded = spill.load(Group::new(bits, bits, number), 1)?;
        Ok(Some(loaded.into_items().into_owned()))
    }

    /// Removes duplicate keys and returns how many were removed. `kept` bytes of the memory budget
    /// stay in use. Returns an error if keys contradict each other.
    pub(super) fn remove_duplicates(
        &mut self,
        kept: usize,
        resources: &Resources,
    ) -> Result<u64, BuildError> {
        contradiction::refuse(&self.items)?;
        let before = self.len();
        if let Some(spill) = &self.spill {
            let limit = resources.means.max_memory;
            self.spill = Some(distinct(spill, limit, kept as u64)?);
        }
        self.items.sort_unstable();
        self.items.dedup();
        Ok(before - self.len())
    }
}

/// The spilled keys without duplicates. Uses at most `limit` bytes, of which `taken` are in use.
fn distinct<V: Value>(spill: &Spill<V>, limit: u64, taken: u64) -> Result<Spill<V>, BuildError> {
    let size = size_of::<Item<u64, V>>() as u64;
    // Of the three parts, one holds a cell and one the items to be written.
    let max = limit.saturating_sub(taken) / 3 / size;
    let distinct = spill.distinct(usize::try_from(max).unwrap_or(usize::MAX).max(4))?;
    distinct.ok_or_else(|| {
        let cell = spill.fullest(spill.runs().cell_bits);
        BuildError::MemoryLimit { needed: taken + cell.saturating_mul(5 * size), limit }
    })
}

#[cfg(all(test, feature = "std"))]
mod tests {
    use crate::ribbon::equation::mix;
    use crate::testing::Random;
    use crate::{BuildError, Filter, Variant};
    use alloc::vec::Vec;

    /// Builds within the minimum memory that random hashes need.
    fn build(variant: Variant, hashes: &[u64]) -> Result<Filter, BuildError> {
        let builder = Filter::builder().variant(variant).columns(2.0).max_memory(1);
        let builder = builder.spill_to(std::env::temp_dir());
        let limit = builder.plan_for(hashes.len() as u64)?.peak_memory();
        let mut builder = builder.max_memory(limit);
        builder.extend_hashes(hashes.iter().copied());
        builder.finish()
    }

    /// Distinct hashes that all belong to one segment and to one cell. The build is refused where
    /// the plan assigns that segment only a fraction of the keys, and succeeds without a loss where
    /// it is the only segment.
    #[test]
    fn a_crowd_in_one_of_several_segments_is_refused() {
        let mut random = Random(5);
        let crowd = core::iter::repeat_with(|| random.next()).filter(|&hash| mix(hash) >> 58 == 0);
        let hashes: Vec<u64> = crowd.take(300_000).collect();
        for &variant in Variant::ALL {
            let plan = Filter::builder().variant(variant).columns(2.0).plan_for(300_000);
            let alone = plan.expect("a plan").segments() == 1;
            match build(variant, &hashes) {
                Ok(filter) => {
                    assert!(alone, "{variant}");
                    assert!(hashes.iter().all(|&hash| filter.contains_hash(hash)), "{variant}");
                }
                Err(BuildError::MemoryLimit { needed, limit }) => {
                    assert!(!alone && needed > limit, "{variant}");
                }
                Err(other) => panic!("{variant}: {other}"),
            }
        }
    }
}
