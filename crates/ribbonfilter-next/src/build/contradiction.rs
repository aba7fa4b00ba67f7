//! Finds a key that is mapped to two different values.
//!
//! No seed solves a system with both items and no variant can store both, so construction fails.
//! Only then are the items searched for contradictions, in insertion order.

use super::item::{Item, Value};
use super::sorted::Sorted;
use crate::error::{BuildError, OutOfMemory};
use crate::storage::memory::{try_filled, try_reserve};
use alloc::vec::Vec;

/// Whether any two keys of a segment contradict each other.
pub(crate) fn is_among<V: Value>(sorted: &Sorted<V>) -> Result<bool, OutOfMemory> {
    Ok(Item::<V>::CAN_CONTRADICT && !contradictory_hashes(&[sorted.all()])?.is_empty())
}

/// Returns an error if two items contradict each other. It names the first item that contradicts an
/// earlier one.
pub(crate) fn refuse<V: Value>(slabs: &[Vec<Item<V>>]) -> Result<(), BuildError> {
    if !Item::<V>::CAN_CONTRADICT {
        return Ok(());
    }
    let hashes = contradictory_hashes(slabs)?;
    // The position of the first item with each of these hashes, and its value.
    let mut firsts = try_filled(None, hashes.len())?;
    for (position, item) in slabs.iter().flatten().enumerate() {
        let Ok(number) = hashes.binary_search(&item.hash) else { continue };
        let &mut (first, value) = firsts[number].get_or_insert((position, item.value));
        if value != item.value {
            return Err(BuildError::Contradiction { first: first as u64, second: position as u64 });
        }
    }
    Ok(())
}

/// The hashes that occur with different values, in ascending order.
fn contradictory_hashes<V: Value>(
    slabs: &[impl AsRef<[Item<V>]>],
) -> Result<Vec<u64>, OutOfMemory> {
    let mut sorted = Vec::new();
    try_reserve(&mut sorted, slabs.iter().map(|slab| slab.as_ref().len()).sum())?;
    slabs.iter().for_each(|slab| sorted.extend_from_slice(slab.as_ref()));
    sorted.sort_unstable();
    let contradictions =
        |pair: &&[Item<V>]| pair[0].hash == pair[1].hash && pair[0].value != pair[1].value;
    let mut hashes = Vec::new();
    try_reserve(&mut hashes, sorted.windows(2).filter(contradictions).count())?;
    hashes.extend(sorted.windows(2).filter(contradictions).map(|pair| pair[0].hash));
    hashes.dedup();
    Ok(hashes)
}
