//! Finds a key that is mapped to two different values.
//!
//! No seed solves a system with both items and no variant can store both, so construction fails.
//! Only then are the items searched for contradictions, in insertion order.

use super::{Item, Value};
use crate::error::{BuildError, OutOfMemory};
use crate::storage::memory::{try_copied, try_filled, try_reserve};
use alloc::vec::Vec;

/// Whether any two of the items contradict each other.
pub(crate) fn is_among<V: Value>(items: &[Item<u64, V>]) -> Result<bool, OutOfMemory> {
    Ok(Item::<u64, V>::CAN_CONTRADICT && !contradictory_hashes(items)?.is_empty())
}

/// Returns an error if two items contradict each other. It names the first item that contradicts an
/// earlier one.
pub(super) fn refuse<V: Value>(items: &[Item<u64, V>]) -> Result<(), BuildError> {
    if !Item::<u64, V>::CAN_CONTRADICT {
        return Ok(());
    }
    let hashes = contradictory_hashes(items)?;
    // The position of the first item with each of these hashes, and its value.
    let mut firsts = try_filled(None, hashes.len())?;
    for (position, item) in items.iter().enumerate() {
        let Ok(number) = hashes.binary_search(&item.hash) else { continue };
        let &mut (first, value) = firsts[number].get_or_insert((position, item.value));
        if value != item.value {
            return Err(BuildError::Contradiction { first: first as u64, second: position as u64 });
        }
    }
    Ok(())
}

/// The hashes that occur with different values, in ascending order.
fn contradictory_hashes<V: Value>(items: &[Item<u64, V>]) -> Result<Vec<u64>, OutOfMemory> {
    let mut sorted = try_copied(items)?;
    sorted.sort_unstable();
    let contradictions =
        |pair: &&[Item<u64, V>]| pair[0].hash == pair[1].hash && pair[0].value != pair[1].value;
    let mut hashes = Vec::new();
    try_reserve(&mut hashes, sorted.windows(2).filter(contradictions).count())?;
    hashes.extend(sorted.windows(2).filter(contradictions).map(|pair| pair[0].hash));
    hashes.dedup();
    Ok(hashes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn items(pairs: &[(u64, u64)]) -> Vec<Item<u64, u64>> {
        pairs.iter().map(|&(hash, value)| Item { hash, value }).collect()
    }

    #[test]
    fn the_first_to_contradict_is_named_with_what_it_contradicts() {
        for (pairs, expected) in [
            (&[][..], None),
            (&[(5, 1), (5, 1), (4, 2), (6, 1)], None),
            (&[(5, 1), (4, 2), (5, 2)], Some((0, 2))),
            (&[(9, 1), (5, 1), (5, 1), (9, 1), (5, 7), (9, 3)], Some((1, 4))),
            (&[(9, 1), (5, 1), (5, 1), (9, 3), (5, 7), (9, 2)], Some((0, 3))),
        ] {
            let items = items(pairs);
            let found = match refuse(&items) {
                Ok(()) => None,
                Err(BuildError::Contradiction { first, second }) => Some((first, second)),
                Err(other) => panic!("{other}"),
            };
            assert_eq!(found, expected, "{pairs:?}");
            assert_eq!(is_among(&items).expect("memory"), expected.is_some());
        }
    }
}
