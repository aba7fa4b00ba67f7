//! The groups that a builder has seen, and one hash for a group and a key.

use crate::group::{UNNAMED, label};
use alloc::vec::Vec;

/// The hash of a key in a group. Those of the unnamed group keep the key's hash.
#[inline]
pub(crate) const fn in_group(group_hash: u64, key_hash: u64) -> u64 {
    key_hash ^ label(group_hash)
}

/// Numbers the groups in the order of their first key. The unnamed group is number 0.
pub(crate) struct Groups {
    /// By number.
    hashes: Vec<u64>,
    /// An open hash table with linear probing: the numbers of the groups, or 0 where it is free.
    /// The unnamed group needs no entry.
    slots: Vec<u32>,
    /// The group of the last key, since keys often come group by group.
    last: usize,
}

impl Groups {
    pub(crate) fn new() -> Self {
        Self { hashes: Vec::from([UNNAMED]), slots: Vec::from([0; 16]), last: 0 }
    }

    /// The hash of every group, by number.
    pub(crate) fn hashes(&self) -> &[u64] {
        &self.hashes
    }

    /// The number of a group, which is a new one if it has not been seen before.
    #[inline]
    pub(crate) fn number(&mut self, hash: u64) -> usize {
        if self.hashes[self.last] != hash {
            self.last = self.search(hash);
        }
        self.last
    }

    fn search(&mut self, hash: u64) -> usize {
        if hash == UNNAMED {
            return 0;
        }
        let slot = self.slot(hash);
        if self.slots[slot] == 0 {
            self.slots[slot] = self.hashes.len() as u32;
            self.hashes.push(hash);
            let number = self.hashes.len() - 1;
            if self.hashes.len() > self.slots.len() / 2 {
                self.grow();
            }
            return number;
        }
        self.slots[slot] as usize
    }

    /// The slot of a group, or the free one where it belongs.
    fn slot(&self, hash: u64) -> usize {
        let mask = self.slots.len() - 1;
        // The caller may pass hashes such as 1, 2, 3.
        let mut slot = (label(hash) >> 32) as usize & mask;
        while self.slots[slot] != 0 && self.hashes[self.slots[slot] as usize] != hash {
            slot = (slot + 1) & mask;
        }
        slot
    }

    fn grow(&mut self) {
        self.slots = Vec::from_iter(core::iter::repeat_n(0, self.slots.len() * 2));
        for number in 1..self.hashes.len() {
            let slot = self.slot(self.hashes[number]);
            self.slots[slot] = number as u32;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ribbonfilter::Key;
    use ribbonfilter::internals::mix;

    #[test]
    fn groups_keep_their_numbers() {
        for structured in [false, true] {
            let mut groups = Groups::new();
            let hash = |index: u64| if structured { index << 40 } else { mix(index, 0) };
            for index in 1..1000 {
                assert_eq!(groups.number(hash(index)), index as usize);
                assert_eq!(groups.number(UNNAMED), 0);
                let earlier = 1 + mix(index, 1) % index;
                assert_eq!(groups.number(hash(earlier)), earlier as usize);
            }
            assert_eq!(groups.hashes().len(), 1000);
        }
    }

    /// Group and key are not interchangeable, and the unnamed group changes nothing.
    #[test]
    fn a_key_of_a_group_is_neither_the_key_nor_the_group() {
        let hash = |group: &str, key: &str| in_group(group.key_hash(0), key.key_hash(0));
        let hashes = [hash("a", "b"), hash("b", "a"), hash("a", "a"), hash("b", "b")];
        for (index, hash) in hashes.iter().enumerate() {
            assert!(!hashes[..index].contains(hash));
            assert_ne!(*hash, "b".key_hash(0));
        }
        assert_eq!(in_group(UNNAMED, 17), 17);
    }
}
