//! Solves the segments of spilled keys, in groups that fit in memory.
//!
//! Cells and segments are both ranges of the mixed hashes, but with other borders. A group is some
//! cells, and all segments that end in them. Keys of the next segment, which ends in a later cell,
//! are carried over to the next group.

use super::arranged::{Arranged, Reserve};
use super::item::Value;
use super::layer::Layer;
use super::segments::{Failure, Outcome, Output, Worker, solve_segments};
use super::spill::Spill;
use crate::plan::Plan;
use crate::progress::Reporter;
use crate::ribbon::system::SEGMENT_BITS;
use crate::storage::memory::{try_grow, try_reserve};
use alloc::vec;
use alloc::vec::Vec;

/// Solves the first layer of spilled items.
pub(crate) fn solve_spilled<V: Value>(
    spill: &mut Spill<V>,
    plan: &Plan,
    layer: &Layer,
    workers: &mut [Worker<V>],
    output: &mut Output<'_>,
    progress: &mut Reporter<'_>,
) -> Result<Outcome<V>, Failure> {
    if layer.seed() != spill.seed() {
        *spill = spill.with_seed(layer.seed())?;
    }
    let (all, segments) = (spill.cells(), layer.system.segments());
    let mut outcome = Outcome { redundant: 0, bumped: Vec::new() };
    let (mut carried, mut done, mut cell) = (Vec::new(), 0, 0);
    let fits = plan.group_items();
    // One buffer for all groups: if each had its own, the allocator could keep that of the last one
    // beside it.
    let mut slabs = vec![Vec::new()];
    try_reserve(&mut slabs[0], fits.min(spill.len()) as usize)?;
    while done < segments {
        let items = &mut slabs[0];
        items.clear();
        try_grow(items, carried.len())?;
        items.append(&mut carried);
        let mut end = cell;
        // At least one cell; then as many as fit.
        while end < all && (end == cell || items.len() as u64 + spill.count(cell..end + 1) <= fits)
        {
            end += 1;
        }
        spill.read(cell..end, items)?;
        cell = end;
        // Segments that end in the cells so far are complete.
        let complete = match end == all {
            true => segments,
            false => layer.start(border(end, all)) >> SEGMENT_BITS,
        };
        let parts = done..(complete + 1).min(segments);
        let mut reserve = Reserve::new((parts.end - parts.start) as usize, workers.len())?;
        let mut arranged = Arranged::new(&mut slabs, &mut reserve);
        arranged.arrange(layer, parts, progress)?;
        let solved = solve_segments(workers, layer, (done..complete, &arranged), output, progress)?;
        outcome.redundant += solved.redundant;
        try_grow(&mut outcome.bumped, solved.bumped.len())?;
        outcome.bumped.extend(solved.bumped);
        if complete < segments {
            for items in arranged.segment((complete - done) as usize) {
                try_grow(&mut carried, items.len())?;
                carried.extend_from_slice(items);
            }
        }
        done = complete;
    }
    Ok(outcome)
}

/// The first hash of a cell, out of `all` cells.
fn border(cell: usize, all: usize) -> u64 {
    ((cell as u128) << 64).div_ceil(all as u128) as u64
}
