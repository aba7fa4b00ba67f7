//! The threads among which a build distributes its segments.
//!
//! Segments are independent, so the bytes do not depend on which thread solves which segment. The
//! calling thread is one of the workers, and the only one that reports progress.

use super::workspace::Workspace;
use super::{Goal, Group, Item, Keys, Partitioned, Value};
use crate::build::variant::Failure;
use crate::error::{BuildError, OutOfMemory};
use crate::kernel::Kernel;
use crate::progress::{Phase, Reporter};
use crate::ribbon::layout::Layout;
use crate::ribbon::shape::Shape;
use crate::ribbon::width::Band;
use alloc::vec::Vec;

/// One segment to solve.
pub(crate) struct Segment<'a, V> {
    pub(crate) keys: &'a [Item<u64, V>],
    /// The segment's first slot in the whole system.
    pub(crate) first_slot: u64,
    /// The location of its bits in `bytes`, counted from the segment's first slot.
    pub(crate) layout: Layout,
    /// The bytes of its blocks and, if it is the only segment, all bytes that follow.
    pub(crate) bytes: &'a mut [u8],
}

/// The output location of a segment's solution.
pub(crate) struct Place<'a> {
    pub(crate) number: u64,
    first_slot: u64,
    layout: Layout,
    bytes: &'a mut [u8],
}

impl<'a> Place<'a> {
    /// Adds the segment's keys.
    pub(crate) fn with<V: Value>(self, keys: &'a Partitioned<'_, V>) -> Segment<'a, V> {
        let Self { number, first_slot, layout, bytes } = self;
        Segment { keys: keys.segment(number), first_slot, layout, bytes }
    }
}

/// Splits the bytes of a system into those of its segments.
pub(crate) fn places<'a>(
    shape: &Shape,
    mut bytes: &'a mut [u8],
) -> impl Iterator<Item = Place<'a>> + Send + use<'a> {
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
        Place { number, first_slot, layout, bytes: mine }
    })
}

/// One workspace for every thread of a build.
pub(crate) struct Workers<B, R: Goal> {
    workspaces: Vec<Workspace<B, R>>,
    segments: u64,
}

impl<B: Band, R: Goal> Workers<B, R> {
    /// Workspaces for at most `threads` threads, and for no more threads than there are segments.
    pub(crate) fn new(shape: &Shape, kernel: Kernel, threads: usize) -> Result<Self, OutOfMemory> {
        let segments = shape.segments();
        let threads = threads.min(usize::try_from(segments).unwrap_or(usize::MAX));
        let mut workspaces = Vec::new();
        for _ in 0..threads.max(1) {
            workspaces.push(Workspace::new(shape, kernel)?);
        }
        Ok(Self { workspaces, segments })
    }

    /// Runs `job` on every segment of a system and returns the results in segment order. The first
    /// failure stops the work.
    pub(crate) fn each<T: Send>(
        &mut self,
        shape: &Shape,
        keys: &Keys<'_, R::Value>,
        bytes: &mut [u8],
        progress: &mut Reporter<'_>,
        job: impl Fn(&mut Workspace<B, R>, Segment<'_, R::Value>) -> Result<T, Failure> + Sync,
    ) -> Result<Vec<T>, Failure> {
        each_group(&mut self.workspaces, shape, keys, bytes, progress, job)
    }

    /// Runs `job` on the given segments, of which the first is number `before` of the system.
    pub(crate) fn each_from<'a, T: Send>(
        &mut self,
        before: usize,
        segments: impl Iterator<Item = Segment<'a, R::Value>> + Send,
        progress: &mut Reporter<'_>,
        job: impl Fn(&mut Workspace<B, R>, Segment<'a, R::Value>) -> Result<T, Failure> + Sync,
    ) -> Result<Vec<T>, Failure> {
        each(&mut self.workspaces, before, segments, self.segments, progress, job)
    }
}

/// Runs `job` on every segment of a system, one group after another, with one thread per workspace.
/// Returns the results in segment order. The first failure stops the work.
pub(crate) fn each_group<W: Send, V: Value, T: Send>(
    workspaces: &mut [W],
    shape: &Shape,
    keys: &Keys<'_, V>,
    bytes: &mut [u8],
    progress: &mut Reporter<'_>,
    job: impl Fn(&mut W, Segment<'_, V>) -> Result<T, Failure> + Sync,
) -> Result<Vec<T>, Failure> {
    let mut places = places(shape, bytes);
    let mut results = Vec::new();
    for number in 0..1 << keys.group_bits() {
        let group = Group::new(shape.segment_bits, keys.group_bits(), number);
        let keys = keys.group(group)?;
        let segments = places.by_ref().take(group.len()).map(|place| place.with(&keys));
        let total = shape.segments();
        results.extend(each(workspaces, results.len(), segments, total, progress, &job)?);
    }
    Ok(results)
}

/// Runs `job` on `segments`, which are segments or shards, with one thread per workspace. Progress
/// is reported out of `total`, of which `before` were completed earlier. Returns the results in
/// order. The first error stops the work.
pub(crate) fn each<W: Send, S: Send, T: Send, E: From<BuildError> + Send>(
    workspaces: &mut [W],
    before: usize,
    segments: impl Iterator<Item = S> + Send,
    total: u64,
    progress: &mut Reporter<'_>,
    job: impl Fn(&mut W, S) -> Result<T, E> + Sync,
) -> Result<Vec<T>, E> {
    let segments = segments.enumerate().map(|(number, segment)| (before + number, segment));
    let (first, others) = workspaces.split_first_mut().expect("at least one");
    if !others.is_empty() {
        #[cfg(feature = "parallel")]
        return together(first, others, segments, total, progress, job);
    }
    let mut results = Vec::new();
    for (number, segment) in segments {
        progress.report(Phase::Solving, number as u64, total)?;
        results.push(job(first, segment)?);
    }
    Ok(results)
}

/// Distributes the segments among several threads, including the calling one.
#[cfg(feature = "parallel")]
fn together<W: Send, S: Send, T: Send, E: From<BuildError> + Send>(
    first: &mut W,
    others: &mut [W],
    segments: impl Iterator<Item = (usize, S)> + Send,
    total: u64,
    progress: &mut Reporter<'_>,
    job: impl Fn(&mut W, S) -> Result<T, E> + Sync,
) -> Result<Vec<T>, E> {
    use std::sync::Mutex;
    use std::sync::atomic::{AtomicBool, Ordering};

    let queue = Mutex::new(segments);
    let done = Mutex::new(Vec::new());
    let stop = AtomicBool::new(false);
    let next = || match stop.load(Ordering::Relaxed) {
        true => None,
        false => queue.lock().expect("no thread panics").next(),
    };
    let work = |workspace: &mut W, number: usize, segment: S| {
        let result = job(workspace, segment);
        stop.fetch_or(result.is_err(), Ordering::Relaxed);
        done.lock().expect("no thread panics").push((number, result));
    };
    let toils = others.iter_mut().map(|workspace| {
        || {
            while let Some((number, segment)) = next() {
                work(workspace, number, segment);
            }
        }
    });
    let reported = super::threads::beside(toils, || {
        while let Some((number, segment)) = next() {
            let reported = progress.report(Phase::Solving, number as u64, total);
            if reported.is_err() {
                stop.store(true, Ordering::Relaxed);
                return reported;
            }
            work(first, number, segment);
        }
        Ok(())
    });
    reported?;
    let mut results = done.into_inner().expect("no thread panics");
    results.sort_unstable_by_key(|&(number, _)| number);
    results.into_iter().map(|(_, result)| result).collect()
}
