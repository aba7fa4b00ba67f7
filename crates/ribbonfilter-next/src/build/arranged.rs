//! The items of a build, in the order of the segments of a layer.

use super::item::{Item, Value};
use super::layer::Layer;
use super::partition::{Parts, Target, partition};
use super::pieces::{Memory, PIECE, Piece, filled, free, more_slabs};
use crate::error::{BuildError, OutOfMemory};
use crate::progress::Reporter;
use crate::storage::memory::try_reserve;
use alloc::vec::Vec;
use core::ops::Range;

/// Memory with which items are arranged, in addition to their own.
pub(crate) struct Reserve<V> {
    slabs: Vec<Vec<Item<V>>>,
    threads: usize,
}

impl<V: Value> Reserve<V> {
    /// What `threads` threads need to arrange items in `segments` segments, or in some more if the
    /// first plan fails. Arranged items are in as many pieces more as there are segments, so half
    /// of the reserve is left to arrange them again.
    pub(crate) fn new(segments: usize, threads: usize) -> Result<Self, OutOfMemory> {
        Ok(Self { slabs: more_slabs(Self::pieces(segments, threads))?, threads })
    }

    fn pieces(segments: usize, threads: usize) -> usize {
        if segments > 1 { 2 * (segments + segments / 8 + 2) * threads } else { 0 }
    }

    /// The bytes that it takes.
    pub(crate) fn size_in_bytes(segments: usize, threads: usize) -> u64 {
        (Self::pieces(segments, threads) * PIECE * size_of::<Item<V>>()) as u64
    }
}

/// Items, first as they were pushed, then by segment.
pub(crate) struct Arranged<'s, V> {
    /// The slabs of the items, until they are cut into pieces.
    slabs: Option<&'s mut [Vec<Item<V>>]>,
    parts: Parts<'s, V>,
    free: Vec<Memory<'s, V>>,
    threads: usize,
}

impl<'s, V: Value> Arranged<'s, V> {
    /// The items of some slabs, to be arranged with the memory of a reserve.
    pub(crate) fn new(slabs: &'s mut [Vec<Item<V>>], reserve: &'s mut Reserve<V>) -> Self {
        let (free, threads) = (free(&mut reserve.slabs).collect(), reserve.threads);
        Self { slabs: Some(slabs), parts: Vec::new(), free, threads }
    }

    /// The number of items.
    pub(crate) fn len(&self) -> u64 {
        let slabs = self.slabs.iter().flat_map(|slabs| slabs.iter().map(Vec::len));
        let pieces = self.parts.iter().flatten().map(|piece| piece.len);
        slabs.chain(pieces).sum::<usize>() as u64
    }

    /// Brings the items into the order of some segments of a layer, to which all of them belong.
    pub(crate) fn arrange(
        &mut self,
        layer: &Layer,
        segments: Range<u64>,
        progress: &mut Reporter<'_>,
    ) -> Result<(), BuildError> {
        let target = Target { layer, segments };
        if target.parts() <= 1 && self.slabs.is_some() {
            return Ok(());
        }
        let pieces: Vec<_> = match self.slabs.take() {
            Some(slabs) => filled(slabs).collect(),
            None => core::mem::take(&mut self.parts).into_iter().flatten().collect(),
        };
        if target.parts() <= 1 {
            self.parts.push(pieces);
            return Ok(());
        }
        // A plan that has grown far beyond the first one may leave some threads without a reserve.
        let each = target.parts() + 1;
        let threads = self.threads.min(self.free.len() / each);
        if threads == 0 {
            return Err(OutOfMemory::new(each * PIECE * size_of::<Item<V>>()).into());
        }
        let mut reserves = Vec::new();
        for _ in 0..threads {
            reserves.push(self.free.split_off(self.free.len() - each));
        }
        let (parts, free) = partition(pieces, &target, reserves, progress)?;
        self.parts = parts;
        self.free.extend(free);
        Ok(())
    }

    /// The items of a segment, counted from the first one that they were arranged for.
    pub(crate) fn segment(&self, number: usize) -> impl Iterator<Item = &[Item<V>]> + Clone {
        let slabs = self.slabs.iter().flat_map(|slabs| slabs.iter().map(Vec::as_slice));
        let pieces = self.parts.get(number).map_or(&[][..], Vec::as_slice);
        slabs.chain(pieces.iter().map(Piece::items))
    }

    /// Removes duplicates: they lie in the same segment. Returns the number of items that are left.
    pub(crate) fn remove_duplicates(&mut self) -> Result<u64, OutOfMemory> {
        let mut left = 0;
        if let Some(slabs) = &mut self.slabs {
            let mut distinct = distinct(slabs.iter().map(Vec::as_slice))?;
            left += distinct.len() as u64;
            for slab in slabs.iter_mut() {
                let rest = distinct.split_off(distinct.len().min(slab.len()));
                slab.clear();
                slab.extend(core::mem::replace(&mut distinct, rest));
            }
        }
        for pieces in &mut self.parts {
            let distinct = distinct(pieces.iter().map(Piece::items))?;
            left += distinct.len() as u64;
            let mut rest = &distinct[..];
            for piece in pieces {
                let (these, others) = rest.split_at(rest.len().min(piece.len));
                piece.memory[..these.len()].copy_from_slice(these);
                (piece.len, rest) = (these.len(), others);
            }
        }
        Ok(left)
    }
}

/// The distinct ones of some items, in any order.
fn distinct<'i, V: Value + 'i>(
    items: impl Iterator<Item = &'i [Item<V>]> + Clone,
) -> Result<Vec<Item<V>>, OutOfMemory> {
    let mut all = Vec::new();
    try_reserve(&mut all, items.clone().map(<[_]>::len).sum())?;
    items.for_each(|items| all.extend_from_slice(items));
    all.sort_unstable();
    all.dedup();
    Ok(all)
}
