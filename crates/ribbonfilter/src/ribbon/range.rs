//! The range of blocks that a part of a filter holds: what cutting, format, query and joining
//! agree on.
//!
//! ```text
//! blocks of the filter   0 1 2 3 4 5 6 7 8 9        cut into three, w <= 64
//! part 0                [0 1 2]3                     own blocks, followed by those that
//! part 1                      [3 4 5]6               an equation can reach into: these
//! part 2                            [6 7 8 9]        rows are stored twice
//! ```
//!
//! A key belongs to the part that owns the block where its equation starts. Blocks begin and end
//! on byte boundaries, so the blocks of a part are a contiguous run of the filter's bytes.

use crate::ribbon::layout::Layout;
use crate::ribbon::shape::Shape;
use core::ops::Range;

/// One of several ranges that a filter is cut into.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BlockRange {
    /// The layout of its own blocks and the blocks that follow them, as a separate solution.
    pub(crate) layout: Layout,
    /// The slots where its keys start.
    pub(crate) starts: Range<u64>,
    /// The segments where its keys start, whose seeds it needs.
    pub(crate) segments: Range<u64>,
}

impl BlockRange {
    /// The maximum number of ranges that a filter can be cut into. An empty filter has one range.
    pub(crate) fn max(shape: &Shape) -> u64 {
        shape.layout().blocks().max(1)
    }

    /// Range `number` of `parts`, which must be at most [`max`](Self::max).
    pub(crate) fn new(shape: &Shape, number: u32, parts: u32) -> Self {
        debug_assert!(number < parts && u64::from(parts) <= Self::max(shape));
        let layout = shape.layout();
        // Rounded down from `number * max / parts`, whose product may exceed 64 bits.
        let (parts, max) = (u64::from(parts), Self::max(shape));
        let border = |number: u64| number * (max / parts) + number * (max % parts) / parts;
        let (first, end) = (border(number.into()), border(u64::from(number) + 1));
        let held = (end + u64::from(shape.width.following_blocks())).min(layout.blocks());
        let starts = layout.first_slot_of(first)..layout.first_slot_of(end);
        let slots = layout.slots().min(layout.first_slot_of(held)) - starts.start;
        Self {
            layout: layout.part(starts.start, slots),
            segments: segments(shape, &starts),
            starts,
        }
    }

    /// The offset of its blocks in the whole filter.
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

/// The segments that contain the given slots; all segments if there are no slots.
fn segments(shape: &Shape, slots: &Range<u64>) -> Range<u64> {
    let end = slots.end.min(shape.slots());
    match (slots.start.checked_div(shape.segment_slots), end.checked_sub(1)) {
        (Some(first), Some(last)) => first..last / shape.segment_slots + 1,
        _ => 0..shape.segments(),
    }
}
