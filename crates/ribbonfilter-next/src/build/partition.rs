//! Brings items into the order of their segments, on all threads.
//!
//! Every thread reads one piece after another and appends each item to its open piece of the item's
//! segment. Which thread does what decides the order of the items within a segment, which has no
//! influence on the bytes: the solution of a system does not depend on the order of its equations.

use super::item::{Item, Value};
use super::layer::Layer;
use super::parallel::for_each;
use super::pieces::{Memory, PIECE, Piece};
use crate::error::{BuildError, OutOfMemory};
use crate::progress::{Phase, Reporter};
use crate::ribbon::system::SEGMENT_BITS;
use crate::storage::memory::try_reserve;
use alloc::vec::Vec;
use core::mem::take;
use core::ops::Range;

/// The items of each segment.
pub(crate) type Parts<'s, V> = Vec<Vec<Piece<'s, V>>>;

/// What a thread is filling.
struct Worker<'s, V> {
    open: Vec<Piece<'s, V>>,
    /// Full pieces, with the number of their part.
    full: Vec<(usize, Piece<'s, V>)>,
    /// Memory for more pieces. It never runs out: there is one for every part from the beginning,
    /// and one is added with every piece that is read.
    free: Vec<Memory<'s, V>>,
    /// A copy of the piece that is read, whose memory is free from then on.
    reading: Vec<Item<V>>,
}

impl<'s, V: Value> Worker<'s, V> {
    fn new(parts: usize, free: Vec<Memory<'s, V>>) -> Result<Self, OutOfMemory> {
        let mut open = Vec::new();
        try_reserve(&mut open, parts)?;
        open.extend((0..parts).map(|_| Piece { memory: &mut [], len: 0 }));
        Ok(Self { open, full: Vec::new(), free, reading: Vec::new() })
    }

    /// Distributes the items of a piece, whose memory is free then.
    fn read(&mut self, piece: Piece<'s, V>, target: &Target<'_>) -> Result<(), OutOfMemory> {
        let mut items = take(&mut self.reading);
        items.clear();
        try_reserve(&mut items, piece.len)?;
        items.extend_from_slice(piece.items());
        // The last piece of the last slab may be too short to be used again.
        if piece.memory.len() == PIECE {
            self.free.push(piece.memory);
        }
        self.distribute(&items, target);
        self.reading = items;
        Ok(())
    }

    /// Appends all items to the open pieces of their parts.
    fn distribute(&mut self, items: &[Item<V>], target: &Target<'_>) {
        for &item in items {
            let part = target.part_of(item.hash);
            let open = &mut self.open[part];
            if open.len == open.memory.len() {
                let memory = self.free.pop().expect("memory for every part was reserved");
                let full = core::mem::replace(open, Piece { memory, len: 0 });
                if full.len > 0 {
                    self.full.push((part, full));
                }
            }
            open.memory[open.len] = item;
            open.len += 1;
        }
    }
}

/// The pieces between two reports of progress.
const BATCH: usize = 1024;

/// The segments among which items are distributed.
#[derive(Clone, Debug)]
pub(crate) struct Target<'l> {
    pub(crate) layer: &'l Layer,
    pub(crate) segments: Range<u64>,
}

impl Target<'_> {
    /// The number of segments.
    pub(crate) fn parts(&self) -> usize {
        (self.segments.end - self.segments.start) as usize
    }

    /// The segment of an item, counted from the first one.
    #[inline(always)]
    fn part_of(&self, item: u64) -> usize {
        let start = self.layer.start(self.layer.hash(item));
        ((start >> SEGMENT_BITS) - self.segments.start) as usize
    }
}

/// Distributes the items of `pieces` among segments. There is a thread for each of the `reserves`,
/// which have a piece for every segment and one more. Returns the items and the memory that is left.
pub(crate) fn partition<'s, V: Value>(
    pieces: Vec<Piece<'s, V>>,
    target: &Target<'_>,
    reserves: Vec<Vec<Memory<'s, V>>>,
    progress: &mut Reporter<'_>,
) -> Result<(Parts<'s, V>, Vec<Memory<'s, V>>), BuildError> {
    let workers = reserves.into_iter().map(|free| Worker::new(target.parts(), free));
    let mut workers = workers.collect::<Result<Vec<_>, _>>()?;
    let batches = pieces.len().div_ceil(BATCH) as u64;
    let mut pieces = pieces.into_iter();
    let batch = || {
        let batch: Vec<_> = pieces.by_ref().take(BATCH).collect();
        (!batch.is_empty()).then_some(batch)
    };
    for_each(
        &mut workers,
        core::iter::from_fn(batch),
        |number| progress.report(Phase::Partitioning, number as u64, batches),
        |worker, pieces: Vec<Piece<'s, V>>| {
            let mut pieces = pieces.into_iter();
            Ok::<_, BuildError>(pieces.try_for_each(|piece| worker.read(piece, target))?)
        },
    )?;
    progress.report(Phase::Partitioning, batches, batches)?;
    Ok(collected(workers, target.parts())?)
}

/// The pieces of all threads, by segment, and what memory they have left.
fn collected<'s, V: Value>(
    workers: Vec<Worker<'s, V>>,
    parts: usize,
) -> Result<(Parts<'s, V>, Vec<Memory<'s, V>>), OutOfMemory> {
    let (mut pieces, mut free): (Parts<'s, V>, _) = (Vec::new(), Vec::new());
    try_reserve(&mut pieces, parts)?;
    pieces.extend((0..parts).map(|_| Vec::new()));
    for worker in workers {
        free.extend(worker.free);
        let open = worker.open.into_iter().enumerate().filter(|(_, piece)| piece.len > 0);
        for (part, piece) in worker.full.into_iter().chain(open) {
            pieces[part].push(piece);
        }
    }
    Ok((pieces, free))
}
