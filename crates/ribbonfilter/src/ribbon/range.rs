//! The range of a filter that a part holds: what cutting, format, query and joining agree on.
//!
//! ```text
//! blocks of the filter   0 1 2 3 4 5 6 7 8 9        cut into three, w <= 64
//! part 0                [0 1 2]3                     own blocks, and behind them
//! part 1                      [3 4 5]6               those that an equation can
//! part 2                            [6 7 8 9]        reach into: the same rows twice
//! ```
//!
//! A key belongs to the part that owns the block where its equation starts. Blocks end on whole
//! bytes, so the blocks of a part are a run of the filter's bytes.

use crate::ribbon::layout::Layout;
use crate::ribbon::shape::Shape;
use core::ops::Range;

/// One of several ranges that a filter is cut into.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BlockRange {
    /// Its blocks and those behind them, as if they stood alone.
    pub(crate) layout: Layout,
    /// The slots where its keys start.
    pub(crate) starts: Range<u64>,
    /// The segments where its keys start, whose seeds it needs.
    pub(crate) segments: Range<u64>,
}

impl BlockRange {
    /// The most ranges that a filter can be cut into. Even an empty one can be its own part.
    pub(crate) fn max(shape: &Shape) -> u64 {
        shape.layout().blocks().max(1)
    }

    /// Range `number` of `parts`, which must be at most [`max`](Self::max).
    pub(crate) fn new(shape: &Shape, number: u32, parts: u32) -> Self {
        debug_assert!(number < parts && u64::from(parts) <= Self::max(shape));
        let layout = shape.layout();
        let border = |number: u64| {
            (u128::from(number) * u128::from(Self::max(shape)) / u128::from(parts)) as u64
        };
        let (first, end) = (border(number.into()), border(u64::from(number) + 1));
        let held = (end + u64::from(shape.width.blocks_behind())).min(layout.blocks());
        let starts = layout.first_slot_of(first)..layout.first_slot_of(end);
        let slots = layout.slots().min(layout.first_slot_of(held)) - starts.start;
        Self {
            layout: layout.part(starts.start, slots),
            segments: segments(shape, &starts),
            starts,
        }
    }

    /// Where its blocks begin in a filter that is all there.
    pub(crate) fn offset(&self, shape: &Shape) -> usize {
        let layout = shape.layout();
        layout.offset(layout.block_of(self.starts.start))
    }

    /// Bytes of its blocks.
    pub(crate) fn solution_bytes(&self) -> u64 {
        self.layout.size_in_bytes()
    }

    /// Bytes of the seeds that it needs.
    pub(crate) fn seed_bytes(&self, shape: &Shape) -> u64 {
        if shape.segment_seeds() { self.segments.end - self.segments.start } else { 0 }
    }
}

/// The segments of some slots; all of them if there are no slots.
fn segments(shape: &Shape, slots: &Range<u64>) -> Range<u64> {
    let end = slots.end.min(shape.slots());
    match (slots.start.checked_div(shape.segment_slots), end.checked_sub(1)) {
        (Some(first), Some(last)) => first..last / shape.segment_slots + 1,
        _ => 0..shape.segments(),
    }
}
