//! One segment of a bumping layer: which keys stay, and which its buckets bump.
//!
//! Buckets are filled from the first to the last. Within a bucket, *classes* are inserted from the
//! last starts to the first; a class is the starts from one threshold to the next. A class is
//! inserted completely or not at all. The first class that does not fit is bumped, together with
//! all classes of the bucket that have lower starts. The bucket's code stores the threshold below
//! which keys are bumped, so a query decides with one comparison.
//!
//! ```text
//!   bucket       first slot                                   last slot
//!                | class 3 | class 2 | class 1 | class 0               |
//!   thresholds   0         12        24        42                    128     (w = 64)
//!
//!   classes 0 and 1 fit, class 2 does not: all keys below 24 are bumped, code 1
//! ```
//!
//! A class fits if the equations of its distinct keys are independent of each other and of all rows
//! inserted so far. That is a property of the coefficients: it depends neither on the order of the
//! keys nor on fingerprints, hence not on the number of columns.
//!
//! The window of an equation extends from its start towards higher slots, so rows of the preceding
//! bucket overlap the first slots of a bucket. Keys with low starts are therefore the ones that fit
//! least often, and the ones that a bucket bumps.

use crate::build::variant::system::{Elimination, System, ValueOf};
use crate::build::variant::window::{WINDOW, Window, scatter};
use crate::build::{Item, Ordered, Segment, Value};
use crate::error::OutOfMemory;
use crate::kernel::{Instructions, Work};
use crate::ribbon::equation::{Seed, Seeded, Starts};
use crate::ribbon::layers::{Buckets, MAX_CODE};
use crate::ribbon::shape::Shape;
use crate::solve::right_side::RightSide;
use crate::storage::memory::{try_grow, try_reserve};
use alloc::vec::Vec;

/// The result of filling a segment: its codes and the keys that it bumps.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Bumping<V> {
    /// The code of every bucket.
    pub(super) codes: Vec<u8>,
    /// The buckets that bump all their keys although their code has no value for that.
    pub(super) exceptions: Vec<u64>,
    /// The bumped keys, with the mixed hashes that they have in the next layer.
    pub(super) bumped: Vec<Item<u64, V>>,
    /// Number of keys that stay but fill no slot: duplicates.
    pub(super) redundant: u64,
}

/// The buffers that one thread uses to fill one segment after another.
pub(super) struct Workspace<E: Elimination> {
    segment_slots: u64,
    starts: Starts,
    buckets: Buckets,
    ordered: Ordered<ValueOf<E>>,
    window: Window<ValueOf<E>>,
    system: System<E>,
}

impl<E: Elimination> Workspace<E> {
    /// Allocates buffers for the segments of a layer.
    pub(super) fn new(cpu: E::Cpu, layer: &Shape) -> Result<Self, OutOfMemory> {
        Ok(Self {
            segment_slots: layer.segment_slots,
            starts: layer.starts(),
            buckets: Buckets::of(layer.width),
            ordered: Ordered::default(),
            window: Window::new(layer.starts())?,
            system: System::new(cpu, layer)?,
        })
    }
}

/// Fills a segment and solves it.
pub(super) struct Fill<'a, 'b, E: Elimination> {
    pub(super) workspace: &'a mut Workspace<E>,
    pub(super) segment: Segment<'b, ValueOf<E>>,
}

impl<E: Elimination> Work for Fill<'_, '_, E> {
    type Output = Result<Bumping<ValueOf<E>>, OutOfMemory>;

    #[inline(always)]
    fn run<I: Instructions>(self, instructions: I) -> Self::Output {
        let Self { workspace, segment } = self;
        let mut bumping = Bumping::default();
        try_reserve(&mut bumping.codes, workspace.bucket_count())?;
        // About the number of surplus keys.
        try_reserve(&mut bumping.bumped, segment.keys.len() / 8)?;
        let Workspace { ordered, starts, .. } = workspace;
        scatter(ordered, segment.keys, *starts, SEED)?;
        workspace.system.begin();
        workspace.fill_windows(segment.number, &mut bumping)?;
        // Buckets without a start bump nothing.
        bumping.codes.resize(workspace.bucket_count(), NOTHING);
        workspace.system.solve(instructions, &segment.layout, segment.bytes);
        Ok(bumping)
    }
}

/// The seed of every bumping layer. One is enough, since a bumping layer cannot fail.
pub(super) const SEED: Seed = Seed::new(0);

/// The code of a bucket that bumps nothing.
const NOTHING: u8 = 3;

impl<E: Elimination> Workspace<E> {
    fn bucket_count(&self) -> usize {
        (self.segment_slots >> self.buckets.log) as usize
    }

    #[inline(always)]
    fn fill_windows(
        &mut self,
        segment: u64,
        bumping: &mut Bumping<ValueOf<E>>,
    ) -> Result<(), OutOfMemory> {
        let Self { buckets, ordered, window, system, segment_slots, .. } = self;
        for (number, part) in ordered.parts().enumerate() {
            let first_start = number * WINDOW;
            window.fill(part, first_start)?;
            let end = WINDOW.min(*segment_slots as usize - first_start);
            for first in (0..end).step_by(1 << buckets.log) {
                let kept = Bucket { buckets: *buckets, first, window }.fill(system, bumping)?;
                let rest = window.keys(first..first + kept);
                try_grow(&mut bumping.bumped, rest.items.len())?;
                let moved = |item: &Item<_, _>| item.map(|hash: Seeded| hash.next_layer(segment));
                bumping.bumped.extend(rest.items.iter().map(moved));
            }
        }
        Ok(())
    }
}

/// A bucket of a window. `first` is its first start, counted from the first of the window.
struct Bucket<'a, V> {
    buckets: Buckets,
    first: usize,
    window: &'a Window<V>,
}

impl<V: Value> Bucket<'_, V> {
    /// Fills the bucket and stores its code. Returns the offset in the bucket from which keys stay;
    /// keys with lower starts are bumped.
    ///
    /// `kept` and `code` change together and only after a class was inserted, so the code always
    /// describes the keys that the system holds. If not even the first class fits, no code can say
    /// so: the bucket is listed as an exception.
    #[inline(always)]
    fn fill<E: Elimination<RightSide: RightSide<Value = V>>>(
        self,
        system: &mut System<E>,
        bumping: &mut Bumping<V>,
    ) -> Result<usize, OutOfMemory> {
        let Self { buckets, first, window } = self;
        let mut kept = buckets.slots() as usize;
        let mut code = None;
        for (next, threshold) in (0..).zip(buckets.thresholds) {
            let class = window.keys(first + threshold as usize..first + kept);
            let Some(filled) = system.insert(class)? else { break };
            bumping.redundant += (class.items.len() - filled) as u64;
            kept = threshold as usize;
            code = Some(next);
        }
        if code.is_none() {
            let bucket = (window.first_start() + first) >> buckets.log;
            try_grow(&mut bumping.exceptions, 1)?;
            bumping.exceptions.push(bucket as u64);
        }
        bumping.codes.push(code.unwrap_or(MAX_CODE));
        Ok(kept)
    }
}
