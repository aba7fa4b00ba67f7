//! Items in pieces of memory that are handed from hand to hand.
//!
//! Pushed items lie in *slabs* of 2 MiB, which are large enough for huge pages and small enough to
//! be allocated one by one. To bring items into the order of their segments, slabs are cut into
//! *pieces* of equal length. A piece that has been read is free, and is filled again with items of
//! one segment: so items are partitioned in little more memory than they take.

use super::item::{Item, Value};
use crate::error::OutOfMemory;
use crate::storage::memory::{try_filled_huge, try_reserve};
use alloc::vec::Vec;

/// Bytes of a slab.
const SLAB_BYTES: usize = 2 << 20;

/// The items of a slab.
pub(crate) const fn slab_items<V>() -> usize {
    SLAB_BYTES / size_of::<Item<V>>()
}

/// The items of a piece. Each segment has one piece on average that is half empty, for each thread.
pub(crate) const PIECE: usize = 1 << 9;

/// Memory for the items of a piece.
pub(crate) type Memory<'s, V> = &'s mut [Item<V>];

/// Memory that holds some items.
pub(crate) struct Piece<'s, V> {
    pub(crate) memory: Memory<'s, V>,
    /// The number of items, at the front.
    pub(crate) len: usize,
}

impl<V> Piece<'_, V> {
    pub(crate) fn items(&self) -> &[Item<V>] {
        &self.memory[..self.len]
    }
}

/// Slabs for at least `pieces` more pieces.
pub(crate) fn more_slabs<V: Value>(pieces: usize) -> Result<Vec<Vec<Item<V>>>, OutOfMemory> {
    let per_slab = slab_items::<V>() / PIECE;
    let mut slabs = Vec::new();
    try_reserve(&mut slabs, pieces.div_ceil(per_slab))?;
    let mut left = pieces;
    while left > 0 {
        let now = left.min(per_slab);
        slabs.push(try_filled_huge(Item::default(), now * PIECE)?);
        left -= now;
    }
    Ok(slabs)
}

/// The slabs as pieces, all of them full but the last one of each slab.
pub(crate) fn filled<V>(slabs: &mut [Vec<Item<V>>]) -> impl Iterator<Item = Piece<'_, V>> {
    slabs
        .iter_mut()
        .flat_map(|slab| slab.chunks_mut(PIECE).map(|memory| Piece { len: memory.len(), memory }))
}

/// The slabs as free memory for pieces.
pub(crate) fn free<V>(slabs: &mut [Vec<Item<V>>]) -> impl Iterator<Item = Memory<'_, V>> {
    slabs.iter_mut().flat_map(|slab| slab.chunks_exact_mut(PIECE))
}
