//! The keys that an exact set is built from: members and others, in memory or spilled.
//!
//! A key is its hash, 8 bytes, and in a named group 16 bytes with the number of the group. Hashes
//! are stored *scrambled*, so that their top bits are random even if the caller's hashes are not:
//! keys are read back in *pieces* of equal top bits, sorted and without duplicates. In memory there
//! is one piece; spilled keys have as many as the memory limit requires.

use super::group::{Groups, UNNAMED, in_group};
use crate::build::{Item, Resources, Store, Value};
use crate::error::BuildError;
use crate::kernel::Kernel;
use crate::plan::Limits;
use alloc::borrow::Cow;
use alloc::vec::Vec;

/// An odd number, the fractional bits of the square root of 61, and its inverse modulo 2^64.
const SCRAMBLE: u64 = 0xcf6c_85d3_9d1a_1e15;
const UNSCRAMBLE: u64 = inverse(SCRAMBLE);

/// The inverse of an odd number modulo 2^64: each step doubles the number of correct bits.
const fn inverse(odd: u64) -> u64 {
    let (mut inverse, mut bits) = (odd, 3);
    while bits < 64 {
        inverse = inverse.wrapping_mul(2u64.wrapping_sub(odd.wrapping_mul(inverse)));
        bits *= 2;
    }
    inverse
}

/// A bijection whose top bits depend on all bits.
#[inline(always)]
const fn scramble(hash: u64) -> u64 {
    (hash ^ hash >> 32).wrapping_mul(SCRAMBLE)
}

#[inline(always)]
const fn unscramble(scrambled: u64) -> u64 {
    let hash = scrambled.wrapping_mul(UNSCRAMBLE);
    hash ^ hash >> 32
}

/// The group of a stored key: its number, or nothing for the unnamed group.
pub(super) trait InGroup: Value {
    fn group(self) -> usize;
}

impl InGroup for () {
    #[inline(always)]
    fn group(self) -> usize {
        0
    }
}

impl InGroup for u64 {
    #[inline(always)]
    fn group(self) -> usize {
        self as usize
    }
}

/// A key that is read back.
pub(super) type Stored<V> = Item<u64, V>;

/// The hash of a stored key, with its group mixed in.
#[inline(always)]
pub(super) fn hash_of<V>(stored: &Stored<V>) -> u64 {
    unscramble(stored.hash)
}

/// The two sides of an exact set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Members,
    Others,
}

/// The keys of the unnamed group, or those of all named groups.
pub(super) struct Sides<V> {
    members: Store<V>,
    others: Store<V>,
}

impl<V> Default for Sides<V> {
    fn default() -> Self {
        Self { members: Store::default(), others: Store::default() }
    }
}

impl<V: InGroup> Sides<V> {
    fn side(&mut self, side: Side) -> &mut Store<V> {
        match side {
            Side::Members => &mut self.members,
            Side::Others => &mut self.others,
        }
    }

    #[inline]
    fn push(&mut self, side: Side, hash: u64, value: V, budget: u64) -> Result<(), BuildError> {
        let store = self.side(side);
        if store.items.len() == store.items.capacity() {
            grow(store, budget)?;
        }
        store.items.push(Item { hash: scramble(hash), value });
        Ok(())
    }

    /// Sorts the keys in memory and removes duplicates; of spilled keys, writes all to the file.
    fn settle(&mut self, overlap: bool) -> Result<(), BuildError> {
        for store in [&mut self.members, &mut self.others] {
            store.write_rest()?;
            store.items.sort_unstable();
            store.items.dedup();
        }
        if overlap {
            // Where members are spilled, this is left to `each_piece`.
            remove_members(&self.members.items, &mut self.others.items);
        }
        Ok(())
    }

    /// The bytes that all keys take in memory, without a piece of spilled ones.
    fn bytes_in_memory(&self) -> u64 {
        let bytes = |store: &Store<V>| {
            (store.items.len() * size_of::<Stored<V>>()) as u64 + store.spill_bytes()
        };
        bytes(&self.members) + bytes(&self.others)
    }

    /// The number of pieces, as a power of two, so that a piece of spilled keys takes at most
    /// `max` bytes, and the bytes that one takes.
    fn pieces(&self, max: u64) -> (u32, u64) {
        let stores = [&self.members, &self.others];
        let finest = stores.iter().filter_map(|store| store.cell_bits()).min().unwrap_or(0);
        let bytes = |bits| {
            let items: u64 = stores.iter().map(|store| store.fullest(bits)).sum();
            items * size_of::<Stored<V>>() as u64
        };
        let bits = (0..finest).find(|&bits| bytes(bits) <= max).unwrap_or(finest);
        (bits, bytes(bits))
    }

    /// Passes all keys to `work`, piece by piece. A key on both sides is an error or, if `overlap`,
    /// no longer among the others.
    fn each_piece(
        &self,
        max: u64,
        overlap: bool,
        mut work: impl FnMut(&[Stored<V>], &[Stored<V>]) -> Result<(), BuildError>,
    ) -> Result<(), BuildError> {
        let (bits, _) = self.pieces(max);
        for number in 0..1 << bits {
            let members = piece(&self.members, bits, number)?;
            let mut others = piece(&self.others, bits, number)?;
            if let Some(both) = first_common(&members, &others) {
                if !overlap {
                    return Err(BuildError::BothSides { key_hash: hash_of(&both) });
                }
                remove_members(&members, others.to_mut());
            }
            work(&members, &others)?;
        }
        Ok(())
    }
}

/// Reserves memory for more keys, or spills those that are there.
#[cold]
fn grow<V: Value>(store: &mut Store<V>, budget: u64) -> Result<(), BuildError> {
    let limits = Limits { threads: 1, max_memory: budget, runs: store.runs(budget) };
    store.grow(1, &Resources::new(Kernel::best(), limits))
}

/// The keys of a piece, sorted and without duplicates.
fn piece<V: InGroup>(
    store: &Store<V>,
    bits: u32,
    number: u64,
) -> Result<Cow<'_, [Stored<V>]>, BuildError> {
    if let Some(mut items) = store.read_piece(bits, number)? {
        items.sort_unstable();
        items.dedup();
        return Ok(items.into());
    }
    if bits == 0 {
        return Ok(store.items[..].into());
    }
    let begin = |number: u64| match number >> bits {
        0 => store.items.partition_point(|item| item.hash < number << (64 - bits)),
        _ => store.items.len(),
    };
    Ok(store.items[begin(number)..begin(number + 1)].into())
}

/// The first key that is on both sides.
fn first_common<V: InGroup>(members: &[Stored<V>], others: &[Stored<V>]) -> Option<Stored<V>> {
    let mut others = others.iter().copied();
    let mut next = others.next()?;
    for &member in members {
        while next < member {
            next = others.next()?;
        }
        if next == member {
            return Some(member);
        }
    }
    None
}

fn remove_members<V: InGroup>(members: &[Stored<V>], others: &mut Vec<Stored<V>>) {
    let mut members = members.iter().copied().peekable();
    others.retain(|&other| {
        while members.next_if(|&member| member < other).is_some() {}
        members.peek() != Some(&other)
    });
}

/// What is done with the keys of a piece: of the unnamed group, or of all named groups.
pub(super) trait EachPiece {
    fn piece<V: InGroup>(
        &mut self,
        members: &[Stored<V>],
        others: &[Stored<V>],
    ) -> Result<(), BuildError>;
}

/// All keys, with their groups.
pub(super) struct Keys {
    pub(super) groups: Groups,
    unnamed: Sides<()>,
    named: Sides<u64>,
    /// Whether others may be members, too, and then count as members.
    pub(super) overlap: bool,
    pub(super) max_memory: Option<u64>,
    pub(super) members: u64,
    pub(super) others: u64,
    /// The numbers of others that will be read, by group, if they were given.
    pub(super) expected: Vec<u64>,
}

impl Default for Keys {
    fn default() -> Self {
        Self {
            groups: Groups::new(),
            unnamed: Sides::default(),
            named: Sides::default(),
            overlap: false,
            max_memory: None,
            members: 0,
            others: 0,
            expected: Vec::new(),
        }
    }
}

/// Each of the four stores spills a run when it takes this fraction of the memory limit, times two.
const STORES: u64 = 4;
/// A piece of spilled keys may take this fraction of the memory limit.
const PIECES: u64 = 4;

impl Keys {
    #[cfg(feature = "std")]
    pub(super) fn spill_to(&mut self, directory: Option<std::path::PathBuf>) {
        self.unnamed.members.directory = directory.clone();
        self.unnamed.others.directory = directory.clone();
        self.named.members.directory = directory.clone();
        self.named.others.directory = directory;
    }

    /// Adds a key of a group, which has the number of its hash.
    #[inline]
    pub(super) fn push(
        &mut self,
        side: Side,
        group_hash: u64,
        key_hash: u64,
    ) -> Result<(), BuildError> {
        match side {
            Side::Members => self.members += 1,
            Side::Others => self.others += 1,
        }
        let budget = self.max_memory.unwrap_or(u64::MAX) / STORES;
        if group_hash == UNNAMED {
            return self.unnamed.push(side, key_hash, (), budget);
        }
        let group = self.groups.number(group_hash) as u64;
        self.named.push(side, in_group(group_hash, key_hash), group, budget)
    }

    /// Notes that this number of others of a group will be read.
    pub(super) fn expect_others(&mut self, group_hash: u64, count: u64) {
        let group = self.groups.number(group_hash);
        self.expected.resize(self.expected.len().max(group + 1), 0);
        self.expected[group] = self.expected[group].saturating_add(count);
    }

    /// Prepares the keys for [`each_piece`](Self::each_piece); no more may be added.
    pub(super) fn settle(&mut self) -> Result<(), BuildError> {
        self.unnamed.settle(self.overlap)?;
        self.named.settle(self.overlap)
    }

    fn piece_limit(&self) -> u64 {
        self.max_memory.unwrap_or(u64::MAX) / PIECES
    }

    /// The bytes that keys take in memory while pieces are processed.
    pub(super) fn bytes(&self) -> u64 {
        let max = self.piece_limit();
        let piece = self.unnamed.pieces(max).1.max(self.named.pieces(max).1);
        self.unnamed.bytes_in_memory() + self.named.bytes_in_memory() + piece
    }

    pub(super) fn each_piece(&self, work: &mut impl EachPiece) -> Result<(), BuildError> {
        let (max, overlap) = (self.piece_limit(), self.overlap);
        self.unnamed.each_piece(max, overlap, |members, others| work.piece(members, others))?;
        self.named.each_piece(max, overlap, |members, others| work.piece(members, others))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Random;

    #[test]
    fn scrambling_is_reversible() {
        let mut random = Random(1);
        for _ in 0..1000 {
            let hash = random.next() >> (random.next() % 64);
            assert_eq!(unscramble(scramble(hash)), hash);
        }
    }

    fn items(hashes: &[u64]) -> Vec<Stored<()>> {
        hashes.iter().map(|&hash| Item { hash, value: () }).collect()
    }

    #[test]
    fn common_keys_are_found_and_removed() {
        let members = items(&[2, 4, 6, 9]);
        for (others, first, rest) in [
            (items(&[]), None, items(&[])),
            (items(&[1, 3, 5, 10]), None, items(&[1, 3, 5, 10])),
            (items(&[1, 4, 9]), Some(4), items(&[1])),
            (items(&[2, 3, 4, 6, 9]), Some(2), items(&[3])),
            (items(&[7, 8, 9]), Some(9), items(&[7, 8])),
        ] {
            assert_eq!(first_common(&members, &others).map(|item| item.hash), first);
            let mut left = others;
            remove_members(&members, &mut left);
            assert_eq!(left, rest);
        }
    }
}
