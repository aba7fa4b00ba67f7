//! The table of groups of an exact set: a static hash table from a group's label to its rule.
//!
//! ```text
//! buckets of four entries, each of 25 bits of hash and 7 bits of rule
//! ```
//!
//! A group is in one of two buckets that its hash chooses (cuckoo hashing), and other bits of the
//! hash distinguish it from the groups there. A query reads both buckets, which do not depend on each
//! other, and compares eight entries without a branch. 95 of 100 entries are used, so a group takes
//! 4.2 bytes.
//!
//! The builder tries seeds until all groups have an entry, and each is found. An unknown group is
//! taken for a known one if its 25 bits are those of one of the groups in its buckets: in fewer than 8
//! of `2^25` cases.

use super::Rule;
use crate::ribbon::equation::{fastrange, mix};
use alloc::vec;
use alloc::vec::Vec;

/// Entries of a bucket, and bytes of an entry.
const BUCKET: usize = 4;
const ENTRY: usize = 4;
/// There are 5 buckets for 19 groups: 95 % of the entries are used.
const FILLED: [u64; 2] = [5, 19];
/// Bits of a rule in an entry, and all of them. Rules are counted from 1, so an entry without a group
/// is zero.
const RULE_BITS: u32 = 7;
const RULE: u32 = (1 << RULE_BITS) - 1;
/// Seeds that may be tried: as many as the footer can store.
const SEEDS: u8 = 32;
/// The difference between the hashed numbers of two seeds: an odd number, the fractional bits of the
/// square root of 61.
const SEED: u64 = 0xcf6c_85d3_9d1a_1e15;
/// Groups that are moved to make space for one, at most.
const MOVES: u32 = 1000;

/// The maximum number of groups. Of that number, two have the same entry under three of four seeds, and
/// under all seeds with a probability of `2^-13`; with half as many groups it is `2^-37`.
pub(crate) const MAX_GROUPS: u64 = 1 << 23;

/// The size and the seed of a table of groups at the beginning of the bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Table {
    /// The number of groups; 0 if only the unnamed group has keys, and there is no table.
    pub(super) groups: usize,
    pub(super) seed: u8,
    buckets: u64,
}

impl Table {
    pub(super) const NONE: Self = Self { groups: 0, seed: 0, buckets: 0 };

    fn new(groups: usize, seed: u8) -> Self {
        Self { groups, seed, buckets: (groups as u64 * FILLED[0]).div_ceil(FILLED[1]) }
    }

    /// A table with the numbers of a footer; `None` if no builder writes them.
    pub(super) fn checked(groups: u64, seed: u8) -> Option<Self> {
        let fits = groups > 0 && groups <= MAX_GROUPS && seed < SEEDS;
        fits.then(|| Self::new(groups as usize, seed))
    }

    /// The size of a table of this number of groups.
    pub(super) fn size_for(groups: u64) -> u64 {
        Self::new(groups as usize, 0).size()
    }

    pub(super) fn size(self) -> u64 {
        self.buckets * (BUCKET * ENTRY) as u64
    }

    /// The two buckets of a label, and its entry without the rule.
    #[cfg_attr(not(target_arch = "wasm32"), inline(always))]
    fn locate(self, label: u64) -> ([u64; 2], u32) {
        // Labels with a structure, such as multiples of a power of two, are not random after one
        // multiplication, but after two.
        let first = mix(mix(label.wrapping_add(u64::from(self.seed).wrapping_mul(SEED))));
        let second = mix(first);
        ([first, second].map(|hash| fastrange(hash, self.buckets)), second as u32 & !RULE)
    }

    /// The stored rule of the group with this label.
    #[cfg_attr(not(target_arch = "wasm32"), inline(always))]
    pub(super) fn find(self, bytes: &[u8], label: u64) -> Option<u8> {
        let ([first, second], searched) = self.locate(label);
        let (buckets, _) = bytes.get(..self.size() as usize)?.as_chunks();
        let bucket = |bucket: u64| buckets.get(bucket as usize).map(entries_of);
        let (first, second) = (bucket(first)?, bucket(second)?);
        // Zero for all entries but that of the group: the others differ, or have no rule.
        let rule = |entry: u32| {
            let differs = entry ^ searched;
            if differs >> RULE_BITS == 0 { differs } else { 0 }
        };
        // One entry of each bucket in a step, so that the compiler uses vectors of four.
        let mut rules = [0; BUCKET];
        for ((rules, first), second) in rules.iter_mut().zip(first).zip(second) {
            *rules = rule(first) | rule(second);
        }
        let [a, b, c, d] = rules;
        (a | b | c | d).checked_sub(1).map(|rule| rule as u8)
    }

    /// Checks that there are as many entries as groups, and that `known` holds for all rules.
    pub(super) fn is_valid(self, bytes: &[u8], known: impl Fn(u8) -> bool) -> bool {
        let entries = bytes[..self.size() as usize].as_chunks().0.iter();
        let mut used = entries.map(|entry| u32::from_le_bytes(*entry)).filter(|&entry| entry != 0);
        let is_known =
            |entry: u32| (entry & RULE).checked_sub(1).is_some_and(|rule| known(rule as u8));
        used.clone().count() == self.groups && used.all(is_known)
    }
}

/// The entries of a bucket.
#[inline(always)]
fn entries_of(bucket: &[u8; BUCKET * ENTRY]) -> [u32; BUCKET] {
    core::array::from_fn(|index| {
        let entry = &bucket[index * ENTRY..];
        u32::from_le_bytes([entry[0], entry[1], entry[2], entry[3]])
    })
}

/// The bytes of a table of groups, and its size and seed.
pub(crate) struct Built {
    pub(super) table: Table,
    pub(super) bytes: Vec<u8>,
}

impl Built {
    pub(super) const NONE: Self = Self { table: Table::NONE, bytes: Vec::new() };

    /// The table of these groups, under the first seed for which there is one. `None` if there is
    /// none, as for two groups with the same label. The order of the groups determines the bytes.
    pub(super) fn new(groups: &[(u64, Rule)]) -> Option<Self> {
        let tables = (0..SEEDS).map(|seed| Table::new(groups.len(), seed));
        let mut built = tables.filter_map(|table| {
            let bytes = encoded(table, &entries(table, groups)?, groups);
            Some(Self { table, bytes })
        });
        built.find(|Self { table, bytes }| {
            groups.iter().all(|&(label, rule)| table.find(bytes, label) == Some(rule.0))
        })
    }
}

/// The group of every entry, counted from 1, or 0; `None` if some group finds no entry.
fn entries(table: Table, groups: &[(u64, Rule)]) -> Option<Vec<u32>> {
    let mut entries = vec![0; table.buckets as usize * BUCKET];
    let mut moves = 0;
    for number in 1..=groups.len() as u32 {
        let (mut group, mut from) = (number, None);
        let limit = moves + MOVES;
        // Takes the entry of another group if there is no free one; then that group moves on.
        while let Some((other, bucket)) = put(table, &mut entries, groups, group, from, moves) {
            (group, from) = (other, Some(bucket));
            moves += 1;
            if moves == limit {
                return None;
            }
        }
    }
    Some(entries)
}

/// Gives a group an entry in a bucket other than `from`. If none is free, returns the group that had
/// the entry, and the bucket.
fn put(
    table: Table,
    entries: &mut [u32],
    groups: &[(u64, Rule)],
    group: u32,
    from: Option<u64>,
    moves: u32,
) -> Option<(u32, u64)> {
    let (buckets, _) = table.locate(groups[group as usize - 1].0);
    for bucket in buckets {
        let entries = &mut entries[bucket as usize * BUCKET..][..BUCKET];
        if let Some(free) = entries.iter_mut().find(|entry| **entry == 0) {
            *free = group;
            return None;
        }
    }
    // Any choice will do, if it varies.
    let choice = mix(moves.into());
    let bucket = match from {
        Some(from) => buckets[usize::from(buckets[0] == from)],
        None => buckets[(choice >> 63) as usize],
    };
    let entry = bucket as usize * BUCKET + (choice % BUCKET as u64) as usize;
    Some((core::mem::replace(&mut entries[entry], group), bucket))
}

fn encoded(table: Table, entries: &[u32], groups: &[(u64, Rule)]) -> Vec<u8> {
    let entry = |&group: &u32| match group.checked_sub(1) {
        Some(group) => {
            let (label, rule) = groups[group as usize];
            table.locate(label).1 | (u32::from(rule.0) + 1)
        }
        None => 0,
    };
    entries.iter().map(entry).flat_map(u32::to_le_bytes).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Random;

    fn rule(label: u64) -> Rule {
        Rule::all(label.count_ones().is_multiple_of(2))
    }

    fn built(labels: &[u64]) -> Option<Built> {
        let groups: Vec<_> = labels.iter().map(|&label| (label, rule(label))).collect();
        Built::new(&groups)
    }

    /// Random labels, and small ones with many bits in common.
    fn labels(groups: u64, structured: bool) -> Vec<u64> {
        let mut random = Random(groups);
        (0..groups).map(|group| if structured { group << 30 } else { random.next() }).collect()
    }

    #[test]
    fn every_group_is_found_and_no_other() {
        for groups in (1..=40).chain([77, 78, 800, 5000, 100_000]) {
            for structured in [false, true] {
                let labels = labels(groups, structured);
                let Some(Built { table, bytes }) = built(&labels) else {
                    panic!("no table of {groups} groups");
                };
                assert_eq!(bytes.len() as u64, Table::size_for(groups));
                assert!(table.is_valid(&bytes, |_| true));
                for &label in &labels {
                    assert_eq!(table.find(&bytes, label), Some(rule(label).0));
                    assert_eq!(table.find(&bytes, label ^ 1 << 20), None, "{groups} {label:x}");
                }
            }
        }
    }

    #[test]
    fn a_group_takes_four_bytes_and_a_fifth() {
        assert_eq!(Table::size_for(1), 16);
        assert_eq!(Table::size_for(1_000_000), 4_210_528);
        assert_eq!(Table::size_for(0), 0);
    }

    /// If two groups have the same entry, another seed separates them; nothing separates equal labels.
    #[test]
    fn groups_with_equal_entries_get_another_seed() {
        let table = Table::new(2, 0);
        let mut random = Random(8);
        let mut seen = alloc::collections::BTreeMap::new();
        let (a, b) = loop {
            let label = random.next();
            if let Some(other) = seen.insert(table.locate(label).1, label)
                && rule(other) != rule(label)
            {
                break (label, other);
            }
        };
        assert_eq!(built(&[a, b]).map(|built| built.table.seed), Some(1));
        let both = [(a, Rule::all(true)), (a, Rule::all(false))];
        assert!(Built::new(&both).is_none());
    }

    #[test]
    fn corrupt_tables_are_noticed_or_at_least_harmless() {
        let labels = labels(100, false);
        let Built { table, bytes } = built(&labels).expect("a table");
        for at in 0..bytes.len() {
            for bit in 0..8 {
                let mut bytes = bytes.clone();
                bytes[at] ^= 1 << bit;
                for &label in &labels {
                    let _ = (table.find(&bytes, label), table.find(&bytes[..at], label));
                }
            }
        }
        assert!(!table.is_valid(&bytes, |code| code == 0));
        assert!(!table.is_valid(&vec![0; bytes.len()], |_| true));
    }
}
