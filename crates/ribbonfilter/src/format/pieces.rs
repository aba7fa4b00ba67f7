//! The numbers of pieces: parts of a filter, or shards of a container.

use crate::error::{JoinError, Kind};
use crate::storage::memory::try_filled;
use alloc::vec::Vec;

/// Stands for the position of a piece that was not found.
const ABSENT: usize = usize::MAX;

/// The position of each piece among those given, in the order of their numbers. Every one of
/// `count` pieces must be given once.
pub(crate) fn in_order(
    kind: Kind,
    count: u64,
    numbers: impl ExactSizeIterator<Item = u64>,
) -> Result<Vec<usize>, JoinError> {
    // Untrusted input may claim any count, so memory is bounded by the pieces that were given.
    let len = usize::try_from(count).unwrap_or(usize::MAX).min(numbers.len());
    let mut positions = try_filled(ABSENT, len)?;
    for (position, number) in numbers.enumerate() {
        // If a number is greater than the pieces are many, a lower one is missing.
        let known = usize::try_from(number).ok().and_then(|number| positions.get_mut(number));
        if let Some(known) = known
            && core::mem::replace(known, position) != ABSENT
        {
            return Err(JoinError::Duplicate { kind, number, position });
        }
    }
    let found = positions.iter().position(|&position| position == ABSENT).unwrap_or(len) as u64;
    match found < count {
        true => Err(JoinError::Missing { kind, number: found, count }),
        false => Ok(positions),
    }
}
