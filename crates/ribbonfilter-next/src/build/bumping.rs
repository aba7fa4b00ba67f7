//! Which keys of a Bumped layer stay: the codes of its buckets, from counts of keys alone.
//!
//! Rows that find no pivot in their first block wait for the next one. They are a queue: each block
//! brings its keys and takes 64 of them. A queue must never be longer than the blocks that an
//! equation covers, and to be almost sure of independent equations, it stays some rows below
//! ([`Counting`]). From left to right, each bucket gets the smallest code that keeps its queue short
//! enough. The last code bumps the whole bucket, so there always is one.
//!
//! The queue of counts is not that of rows: a full block misses 1.6 pivots on average. Carrying the
//! counts and not the rows makes all codes known before anything is eliminated, and they depend on
//! the keys alone (`docs/decisions/bumping.md`).

use super::item::{Item, Value};
use super::layer::{Bumping, Layer};
use super::sorted::Sorted;
use crate::error::OutOfMemory;
#[cfg(doc)]
use crate::plan::Counting;
use crate::ribbon::bucket::BUCKET_STARTS;
use crate::ribbon::equation::FRACTION_BITS;
use crate::ribbon::width::BLOCK;
use crate::storage::memory::{try_grow, try_reserve};
use alloc::vec::Vec;

/// The starts of a bucket, as an index.
const BUCKET: usize = BUCKET_STARTS as usize;

/// Chooses the codes of a segment, two bits each, into `codes`; appends the bumped keys to `bumped`,
/// and sets the number of keys that each start loses at its front.
pub(crate) fn bump<V: Value>(
    sorted: &mut Sorted<V>,
    layer: &Layer,
    bumping: &Bumping,
    (codes, skips, bumped): (&mut [u8], &mut Vec<u32>, &mut Vec<Item<V>>),
) -> Result<(), OutOfMemory> {
    let Bumping { thresholds, counting } = bumping;
    let capacity = layer.system.width.slots().saturating_sub(counting.spare);
    let starts = sorted.starts();
    skips.clear();
    try_reserve(skips, starts)?;
    skips.resize(starts, 0);
    codes.fill(0);
    let mut queue = 0;
    for bucket in 0..starts.div_ceil(BUCKET) {
        let first = bucket * BUCKET;
        let skips = &mut skips[first..starts.min(first + BUCKET)];
        for (code, &threshold) in thresholds.iter().enumerate() {
            skip(sorted, first, layer, threshold, skips);
            let (longest, rest) = queue_of(sorted, first, skips, (queue, counting.loss));
            if longest <= capacity * UNIT || code + 1 == thresholds.len() {
                queue = rest;
                codes[bucket / 4] |= (code as u8) << (2 * (bucket % 4));
                break;
            }
        }
        for (start, &skip) in (first..).zip(&*skips) {
            try_grow(bumped, skip as usize)?;
            bumped.extend_from_slice(&sorted.of(start)[..skip as usize]);
        }
    }
    Ok(())
}

/// The number of keys of each start of a bucket that lie below a threshold. Moves those of the start
/// in which the threshold lies to its front.
fn skip<V: Value>(
    sorted: &mut Sorted<V>,
    first: usize,
    layer: &Layer,
    threshold: u32,
    skips: &mut [u32],
) {
    let whole = (threshold >> FRACTION_BITS) as usize;
    for (start, skip) in (first..).zip(skips.iter_mut()).take(whole) {
        *skip = sorted.count(start) as u32;
    }
    let below = threshold & ((1 << FRACTION_BITS) - 1);
    if let Some(skip) = skips.get_mut(whole).filter(|_| below > 0) {
        *skip = divide(sorted.of_mut(first + whole), |item| layer.fraction(item.hash) < below);
    }
}

/// Moves the items for which `is` holds to the front, without a branch that depends on it. Returns
/// their number.
fn divide<V: Copy>(items: &mut [Item<V>], is: impl Fn(&Item<V>) -> bool) -> u32 {
    let mut front = 0;
    for at in 0..items.len() {
        items.swap(at, front);
        front += usize::from(is(&items[front]));
    }
    front as u32
}

/// The unit of queues: a 16th of a row.
const UNIT: u32 = 16;

/// The longest queue at a block of the bucket, and the queue after the bucket.
fn queue_of<V: Value>(
    sorted: &Sorted<V>,
    first: usize,
    skips: &[u32],
    (mut queue, loss): (u32, u32),
) -> (u32, u32) {
    let mut longest = 0;
    for (start, &skip) in (first..).zip(skips) {
        let rows = queue + UNIT * (sorted.count(start) as u32 - skip);
        longest = longest.max(rows);
        queue = (rows + loss).saturating_sub(UNIT * BLOCK as u32);
    }
    (longest, queue)
}
