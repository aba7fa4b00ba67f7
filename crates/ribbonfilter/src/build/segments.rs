//! The segments of a system, one after another or on several threads.
//!
//! Segments are independent, so the bytes do not depend on which thread solves which segment.

use super::parallel::for_each;
use super::{Group, Item, Keys, Value};
use crate::build::variant::Failure;
use crate::error::OutOfMemory;
use crate::progress::{Phase, Reporter};
use crate::ribbon::layout::Layout;
use crate::ribbon::shape::Shape;
use alloc::vec::Vec;

/// One segment to solve.
pub(crate) struct Segment<'a, V> {
    pub(crate) number: u64,
    pub(crate) keys: &'a [Item<u64, V>],
    /// The segment's first slot in the whole system.
    pub(crate) first_slot: u64,
    /// The location of its bits in `bytes`, counted from the segment's first slot.
    pub(crate) layout: Layout,
    /// The bytes of its blocks and, if it is the only segment, all bytes that follow.
    pub(crate) bytes: &'a mut [u8],
}

/// Splits the bytes of a system into those of its segments, which get their keys later.
pub(crate) fn segments<'a, V: Value>(
    shape: &Shape,
    mut bytes: &'a mut [u8],
) -> impl Iterator<Item = Segment<'a, V>> + Send + use<'a, V> {
    let (shape, whole) = (*shape, shape.layout());
    (0..shape.segments()).map(move |number| {
        let first_slot = number * shape.segment_slots;
        let layout = whole.part(first_slot, shape.segment_slots);
        let size = match shape.segment_bits {
            0 => bytes.len(),
            _ => layout.size_in_bytes() as usize,
        };
        let (mine, rest) = core::mem::take(&mut bytes).split_at_mut(size);
        bytes = rest;
        Segment { number, keys: &[], first_slot, layout, bytes: mine }
    })
}

/// One workspace for each thread that a system of this shape can use.
pub(crate) fn workspaces<W>(
    shape: &Shape,
    threads: usize,
    mut new: impl FnMut() -> Result<W, OutOfMemory>,
) -> Result<Vec<W>, OutOfMemory> {
    let segments = usize::try_from(shape.segments()).unwrap_or(usize::MAX);
    (0..threads.min(segments).max(1)).map(|_| new()).collect()
}

/// Runs `job` on every segment of a system, one group after another, with one thread per workspace.
/// Returns the results in segment order. The first failure stops the work.
pub(crate) fn for_each_segment<W: Send, V: Value, T: Send>(
    workspaces: &mut [W],
    shape: &Shape,
    keys: &Keys<'_, V>,
    bytes: &mut [u8],
    progress: &mut Reporter<'_>,
    job: impl Fn(&mut W, Segment<'_, V>) -> Result<T, Failure> + Sync,
) -> Result<Vec<T>, Failure> {
    let mut segments = segments(shape, bytes);
    let mut results = Vec::new();
    for group in Group::all_of(shape.segment_bits, keys.group_bits()) {
        let keys = keys.group(group)?;
        let segments = segments
            .by_ref()
            .take(group.len())
            .map(|segment| Segment { keys: keys.segment(segment.number), ..segment });
        let report = |number| {
            let done = group.first() + number as u64;
            Ok(progress.report(Phase::Solving, done, shape.segments())?)
        };
        results.extend(for_each(workspaces, segments, report, &job)?);
    }
    Ok(results)
}
