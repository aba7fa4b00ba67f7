//! One segment of a bumping layer: which keys stay, and what its buckets bump.
//!
//! Buckets are filled from the first to the last, and each by classes, from its last starts
//! to its first: the starts from one threshold to the next. A class goes in whole or not at
//! all. The first that does not is bumped with all those before it in the bucket, which is
//! what the bucket's code tells.
//!
//! ```text
//!   bucket       first slot                                   last slot
//!                | class 3 | class 2 | class 1 | class 0               |
//!   thresholds   0         12        24        42                    128     (w = 64)
//!
//!   classes 0 and 1 fit, class 2 does not: all keys below 24 are bumped, code 1
//! ```
//!
//! A class fits if its distinct keys are independent of each other and of all that went in
//! before. That does not depend on their order, nor on fingerprints, hence not on columns.

use crate::build::variant::batched::System;
use crate::build::variant::window::{WINDOW, Window, scatter};
use crate::build::{Item, Ordered, Segment, Value};
use crate::error::OutOfMemory;
use crate::kernel::{Instructions, Work};
use crate::ribbon::equation::{Seed, Seeded, Starts};
use crate::ribbon::layers::{Buckets, MAX_CODE};
use crate::ribbon::shape::Shape;
use crate::storage::memory::try_reserve;
use alloc::vec::Vec;

/// What a segment bumps.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Bumping<V> {
    /// The code of every bucket.
    pub(super) codes: Vec<u8>,
    /// The buckets that bump everything although their code does not say so.
    pub(super) exceptions: Vec<u64>,
    /// The bumped keys, with the mixed hashes that they have in the next layer.
    pub(super) bumped: Vec<Item<u64, V>>,
    /// Keys that stay but fill no slot: duplicates.
    pub(super) redundant: u64,
}

/// What one thread needs to fill one segment after another.
pub(super) struct Workspace<S: System> {
    segment_slots: u64,
    starts: Starts,
    buckets: Buckets,
    ordered: Ordered<S::Value>,
    window: Window<S::Value>,
    system: S,
    /// The system is not empty.
    used: bool,
}

impl<S: System> Workspace<S> {
    /// Budget for the segments of a layer.
    pub(super) fn new(means: S::Means, layer: &Shape) -> Result<Self, OutOfMemory> {
        let (slots, columns) = (layer.segment_slots, layer.columns as usize);
        Ok(Self {
            segment_slots: layer.segment_slots,
            starts: layer.starts(),
            buckets: Buckets::of(layer.width),
            ordered: Ordered::default(),
            window: Window::new(layer.starts())?,
            system: S::new(means, slots, layer.starts(), columns)?,
            used: false,
        })
    }
}

/// Fills a segment and solves it.
pub(super) struct Fill<'a, 'b, S: System> {
    pub(super) workspace: &'a mut Workspace<S>,
    pub(super) segment: Segment<'b, S::Value>,
}

impl<S: System> Work for Fill<'_, '_, S> {
    type Output = Result<Bumping<S::Value>, OutOfMemory>;

    #[inline(always)]
    fn run<I: Instructions>(self, instructions: I) -> Self::Output {
        let Self { workspace, segment } = self;
        let mut bumping = Bumping::default();
        let number = segment.first_slot / workspace.segment_slots;
        try_reserve(&mut bumping.codes, workspace.bucket_count())?;
        // About what the surplus will be.
        try_reserve(&mut bumping.bumped, segment.keys.len() / 8)?;
        let Workspace { ordered, starts, .. } = workspace;
        scatter(ordered, segment.keys, *starts, SEED)?;
        if core::mem::replace(&mut workspace.used, true) {
            workspace.system.clear();
        }
        workspace.fill_windows(instructions, number, &mut bumping)?;
        // Buckets without a start bump nothing.
        bumping.codes.resize(workspace.bucket_count(), NOTHING);
        workspace.system.solve(instructions, &segment.layout, segment.bytes);
        Ok(bumping)
    }
}

/// The seed of every bumping layer: none of them can fail.
pub(super) const SEED: Seed = Seed::new(0);

/// The code of a bucket that bumps nothing.
const NOTHING: u8 = 3;

impl<S: System> Workspace<S> {
    fn bucket_count(&self) -> usize {
        (self.segment_slots >> self.buckets.log) as usize
    }

    #[inline(always)]
    fn fill_windows<I: Instructions>(
        &mut self,
        instructions: I,
        segment: u64,
        bumping: &mut Bumping<S::Value>,
    ) -> Result<(), OutOfMemory> {
        let Self { buckets, ordered, window, system, segment_slots, .. } = self;
        for (number, part) in ordered.parts().enumerate() {
            let first_start = number * WINDOW;
            window.fill(part, first_start)?;
            let end = WINDOW.min(*segment_slots as usize - first_start);
            for first in (0..end).step_by(1 << buckets.log) {
                let kept = Bucket { buckets: *buckets, first, window }.fill(
                    instructions,
                    system,
                    bumping,
                )?;
                let rest = window.keys(first..first + kept);
                try_reserve_some(&mut bumping.bumped, rest.items.len())?;
                let moved = |item: &Item<_, _>| item.map(|hash: Seeded| hash.next_layer(segment));
                bumping.bumped.extend(rest.items.iter().map(moved));
            }
        }
        Ok(())
    }
}

/// Makes room, and some more if there is not enough.
fn try_reserve_some<T>(vec: &mut Vec<T>, additional: usize) -> Result<(), OutOfMemory> {
    match vec.capacity() - vec.len() < additional {
        true => try_reserve(vec, additional + vec.len() / 8),
        false => Ok(()),
    }
}

/// A bucket of a window, which begins at a start of it.
struct Bucket<'a, V> {
    buckets: Buckets,
    first: usize,
    window: &'a Window<V>,
}

impl<V: Value> Bucket<'_, V> {
    /// Fills the bucket and stores its code; the offset from which on its keys stay.
    #[inline(always)]
    fn fill<S: System<Value = V>, I: Instructions>(
        self,
        instructions: I,
        system: &mut S,
        bumping: &mut Bumping<V>,
    ) -> Result<usize, OutOfMemory> {
        let Self { buckets, first, window } = self;
        let mut kept = buckets.slots() as usize;
        let mut code = None;
        for (next, threshold) in (0..).zip(buckets.thresholds) {
            let class = window.keys(first + threshold as usize..first + kept);
            let Some(filled) = system.insert(instructions, class)? else { break };
            bumping.redundant += (class.items.len() - filled) as u64;
            kept = threshold as usize;
            code = Some(next);
        }
        if code.is_none() {
            let bucket = (window.first_start() + first) >> buckets.log;
            try_reserve_some(&mut bumping.exceptions, 1)?;
            bumping.exceptions.push(bucket as u64);
        }
        bumping.codes.push(code.unwrap_or(MAX_CODE));
        Ok(kept)
    }
}
