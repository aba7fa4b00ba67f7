//! The keys that an exact set is built from: members and others, in memory or spilled.
//!
//! A key is kept as its hash, 8 bytes, and in a named group as 16 bytes with the number of the group.
//! Keys are visited in ascending order and without duplicates, members and others together: so a key
//! on both sides is noticed, wherever it was kept.

use crate::ExactError;
use crate::group::UNNAMED;
use crate::groups::{Groups, in_group};
#[cfg(feature = "std")]
use crate::spill::{Merge, Spill};
use alloc::vec::Vec;
use ribbonfilter::BuildError;
use ribbonfilter::internals::try_reserve;

/// A key as it is kept: the hash that identifies it, with its group mixed in, and its group.
pub(crate) trait Kept: Copy + Ord {
    fn new(hash: u64, group: usize) -> Self;
    fn hash(self) -> u64;
    /// The number of the group.
    fn group(self) -> usize;
}

/// A key of the unnamed group.
impl Kept for u64 {
    #[inline]
    fn new(hash: u64, _: usize) -> Self {
        hash
    }

    #[inline]
    fn hash(self) -> u64 {
        self
    }

    #[inline]
    fn group(self) -> usize {
        0
    }
}

/// A key of a named group.
impl Kept for (u64, u64) {
    #[inline]
    fn new(hash: u64, group: usize) -> Self {
        (hash, group as u64)
    }

    #[inline]
    fn hash(self) -> u64 {
        self.0
    }

    #[inline]
    fn group(self) -> usize {
        self.1 as usize
    }
}

/// The two sides of an exact set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    Members,
    Others,
}

/// What keys may take.
#[derive(Default)]
pub(crate) struct Limits {
    pub(crate) max_memory: Option<u64>,
    /// Where keys are spilled to, if they may be.
    #[cfg(feature = "std")]
    pub(crate) directory: Option<std::path::PathBuf>,
}

/// Each of the four stores may take this fraction of the memory limit before it spills, and so may
/// the buffers through which one is read back.
#[cfg(feature = "std")]
const STORES: u64 = 8;

#[cfg(feature = "std")]
impl Limits {
    /// The bytes that a store may take in memory; `None` if nothing is spilled.
    fn of_store(&self) -> Option<u64> {
        self.directory.as_ref().and(self.max_memory).map(|limit| limit / STORES)
    }
}

/// The keys of one side, in the unnamed group or in all others.
struct Store<K> {
    items: Vec<K>,
    #[cfg(feature = "std")]
    spill: Option<Spill>,
}

impl<K> Default for Store<K> {
    fn default() -> Self {
        Self {
            items: Vec::new(),
            #[cfg(feature = "std")]
            spill: None,
        }
    }
}

impl<K: Kept> Store<K> {
    #[inline]
    fn push(&mut self, item: K, limits: &Limits) -> Result<(), BuildError> {
        if self.items.len() == self.items.capacity() {
            self.grow(limits)?;
        }
        self.items.push(item);
        Ok(())
    }

    /// Reserves memory for more keys, or spills the present ones.
    #[cold]
    fn grow(&mut self, limits: &Limits) -> Result<(), BuildError> {
        let additional = self.items.len().max(4);
        #[cfg(feature = "std")]
        let additional = match limits.of_store() {
            None => additional,
            Some(bytes) => {
                let run = bytes as usize / size_of::<K>();
                if self.items.len() >= run {
                    self.spill_all(limits)?;
                }
                additional.min(run.saturating_sub(self.items.len())).max(1)
            }
        };
        #[cfg(not(feature = "std"))]
        let _ = limits;
        try_reserve(&mut self.items, additional)
    }

    fn sort(&mut self) {
        self.items.sort_unstable();
        self.items.dedup();
    }

    /// Writes the keys in memory to the file.
    #[cfg(feature = "std")]
    fn spill_all(&mut self, limits: &Limits) -> Result<(), BuildError> {
        self.sort();
        if let (None, Some(directory)) = (&self.spill, &limits.directory) {
            self.spill = Some(Spill::create(directory)?);
        }
        if let Some(spill) = &mut self.spill {
            spill.write(&self.items)?;
            self.items.clear();
        }
        Ok(())
    }

    /// Prepares the keys for [`sorted`](Self::sorted). Those of a file are all in the file then.
    fn settle(&mut self, limits: &Limits) -> Result<(), BuildError> {
        #[cfg(feature = "std")]
        if self.spill.is_some() {
            self.spill_all(limits)?;
            self.items = Vec::new();
        }
        #[cfg(not(feature = "std"))]
        let _ = limits;
        self.sort();
        Ok(())
    }

    /// The bytes that the keys take in memory, also while they are read.
    fn bytes(&self, limits: &Limits) -> u64 {
        let bytes = (self.items.len() * size_of::<K>()) as u64;
        #[cfg(feature = "std")]
        if let Some(spill) = &self.spill {
            return bytes + spill.buffer_bytes(limits.of_store().unwrap_or_default());
        }
        #[cfg(not(feature = "std"))]
        let _ = limits;
        bytes
    }

    fn sorted(&self, limits: &Limits) -> Result<Sorted<'_, K>, BuildError> {
        #[cfg(feature = "std")]
        if let Some(spill) = &self.spill {
            return Ok(Sorted::Spilled(spill.merge(limits.of_store().unwrap_or_default())?));
        }
        #[cfg(not(feature = "std"))]
        let _ = limits;
        Ok(Sorted::Here(self.items.iter()))
    }
}

/// Distinct keys in ascending order.
enum Sorted<'a, K> {
    Here(core::slice::Iter<'a, K>),
    #[cfg(feature = "std")]
    Spilled(Merge<'a, K>),
}

impl<K: Kept> Sorted<'_, K> {
    #[inline]
    fn next(&mut self) -> Result<Option<K>, BuildError> {
        match self {
            Self::Here(items) => Ok(items.next().copied()),
            #[cfg(feature = "std")]
            Self::Spilled(merge) => merge.next(),
        }
    }
}

/// The keys of both sides, in the unnamed group or in all others.
struct Sides<K> {
    members: Store<K>,
    others: Store<K>,
}

impl<K> Default for Sides<K> {
    fn default() -> Self {
        Self { members: Store::default(), others: Store::default() }
    }
}

impl<K: Kept> Sides<K> {
    fn of(&mut self, side: Side) -> &mut Store<K> {
        match side {
            Side::Members => &mut self.members,
            Side::Others => &mut self.others,
        }
    }

    /// Visits all keys. A key on both sides is an error or, if `overlap`, only a member.
    fn each(
        &self,
        limits: &Limits,
        overlap: bool,
        mut visit: impl FnMut(Side, usize, u64),
    ) -> Result<(), ExactError> {
        let mut members = self.members.sorted(limits)?;
        let mut others = self.others.sorted(limits)?;
        let mut member = members.next()?;
        while let Some(other) = others.next()? {
            while let Some(smaller) = member.filter(|&member| member < other) {
                visit(Side::Members, smaller.group(), smaller.hash());
                member = members.next()?;
            }
            if member != Some(other) {
                visit(Side::Others, other.group(), other.hash());
            } else if !overlap {
                return Err(ExactError::BothSides { key_hash: other.hash() });
            }
        }
        while let Some(rest) = member {
            visit(Side::Members, rest.group(), rest.hash());
            member = members.next()?;
        }
        Ok(())
    }
}

/// All keys, with their groups.
pub(crate) struct Keys {
    pub(crate) groups: Groups,
    unnamed: Sides<u64>,
    named: Sides<(u64, u64)>,
    pub(crate) limits: Limits,
    /// Whether others may be members, too, and then count as members.
    pub(crate) overlap: bool,
    /// The numbers of keys that were pushed, duplicates included.
    pub(crate) members: u64,
    pub(crate) others: u64,
    /// The numbers of others that will be read, by group, if they were given.
    pub(crate) expected: Vec<u64>,
}

impl Default for Keys {
    fn default() -> Self {
        Self {
            groups: Groups::new(),
            unnamed: Sides::default(),
            named: Sides::default(),
            limits: Limits::default(),
            overlap: false,
            members: 0,
            others: 0,
            expected: Vec::new(),
        }
    }
}

impl Keys {
    /// Adds a key.
    #[inline]
    pub(crate) fn push(
        &mut self,
        side: Side,
        group_hash: u64,
        key_hash: u64,
    ) -> Result<(), BuildError> {
        match side {
            Side::Members => self.members += 1,
            Side::Others => self.others += 1,
        }
        if group_hash == UNNAMED {
            return self.unnamed.of(side).push(key_hash, &self.limits);
        }
        let group = self.groups.number(group_hash);
        self.keep(side, group, in_group(group_hash, key_hash))
    }

    /// Adds a key of the group with this number by the hash that identifies it.
    pub(crate) fn keep(&mut self, side: Side, group: usize, hash: u64) -> Result<(), BuildError> {
        match group {
            0 => self.unnamed.of(side).push(Kept::new(hash, group), &self.limits),
            _ => self.named.of(side).push(Kept::new(hash, group), &self.limits),
        }
    }

    /// Notes that this number of others of a group will be read.
    pub(crate) fn expect_others(&mut self, group_hash: u64, count: u64) {
        let group = self.groups.number(group_hash);
        self.expected.resize(self.expected.len().max(group + 1), 0);
        self.expected[group] = self.expected[group].saturating_add(count);
    }

    /// Prepares the keys for [`each`](Self::each).
    pub(crate) fn settle(&mut self) -> Result<(), BuildError> {
        for side in [Side::Members, Side::Others] {
            self.unnamed.of(side).settle(&self.limits)?;
            self.named.of(side).settle(&self.limits)?;
        }
        Ok(())
    }

    /// The bytes that keys take in memory, also while they are visited.
    pub(crate) fn bytes(&self) -> u64 {
        let Self { unnamed, named, limits, .. } = self;
        unnamed.members.bytes(limits)
            + unnamed.others.bytes(limits)
            + named.members.bytes(limits)
            + named.others.bytes(limits)
    }

    /// Visits all distinct keys: side, number of the group, and the hash that identifies the key. A
    /// key on both sides is an error, unless the others may be members.
    pub(crate) fn each(&self, mut visit: impl FnMut(Side, usize, u64)) -> Result<(), ExactError> {
        self.unnamed.each(&self.limits, self.overlap, &mut visit)?;
        self.named.each(&self.limits, self.overlap, &mut visit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    /// The keys that are visited, or the key that is on both sides.
    fn visited(keys: &Keys) -> Result<Vec<(Side, usize, u64)>, u64> {
        let mut visited = Vec::new();
        match keys.each(|side, group, hash| visited.push((side, group, hash))) {
            Ok(()) => Ok(visited),
            Err(ExactError::BothSides { key_hash }) => Err(key_hash),
            Err(error) => panic!("{error}"),
        }
    }

    fn keys(members: &[u64], others: &[u64], overlap: bool) -> Keys {
        let mut keys = Keys { overlap, ..Keys::default() };
        for (side, hashes) in [(Side::Members, members), (Side::Others, others)] {
            hashes.iter().for_each(|&hash| keys.keep(side, 0, hash).expect("memory"));
        }
        keys.settle().expect("memory");
        keys
    }

    #[test]
    fn common_keys_are_found_or_left_out() {
        let (member, other) = (|hash| (Side::Members, 0, hash), |hash| (Side::Others, 0, hash));
        let members = [9, 4, 2, 4];
        let disjoint = visited(&keys(&members, &[5, 1, 5, 10], false));
        let expected = [other(1), member(2), member(4), other(5), member(9), other(10)];
        assert_eq!(disjoint, Ok(expected.to_vec()));
        for (others, first) in [(&[1, 4, 9][..], 4), (&[9, 9], 9), (&[2], 2)] {
            assert_eq!(visited(&keys(&members, others, false)), Err(first));
        }
        let overlapping = visited(&keys(&members, &[2, 3, 4, 9], true));
        assert_eq!(overlapping, Ok(vec![member(2), other(3), member(4), member(9)]));
        let one_sided = visited(&keys(&[], &[3, 3], false));
        assert_eq!(one_sided, Ok(vec![other(3)]));
    }

    /// Spilled keys are visited as those in memory are, in any number of runs.
    #[cfg(feature = "std")]
    #[test]
    fn spilled_keys_are_those_in_memory() {
        for (count, max_memory) in [(1, 64), (100, 64), (5000, 1000), (5000, 60_000)] {
            let mut here = Keys { overlap: true, ..Keys::default() };
            let directory = Some(std::env::temp_dir());
            let limits = Limits { max_memory: Some(max_memory), directory };
            let mut spilled = Keys { overlap: true, limits, ..Keys::default() };
            for index in 0..count {
                let random = ribbonfilter::internals::mix(index, 0);
                let side = if random.is_multiple_of(5) { Side::Members } else { Side::Others };
                let (group, key) = (random / 5 % 3, (random >> 8) % count);
                for keys in [&mut here, &mut spilled] {
                    keys.push(side, group, key).expect("memory or a directory");
                }
            }
            for keys in [&mut here, &mut spilled] {
                keys.settle().expect("memory or a directory");
            }
            assert!(spilled.unnamed.others.spill.is_some() == (count > 1));
            assert_eq!(visited(&here), visited(&spilled));
        }
    }
}
