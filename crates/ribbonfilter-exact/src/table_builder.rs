//! Builds the table of groups: cuckoo hashing with buckets of four.

use crate::format::Rule;
use crate::table::{BUCKET, SEEDS, Table};
use alloc::vec;
use alloc::vec::Vec;
use ribbonfilter::internals::mix;

/// Groups that are moved to make space for one, at most.
const MOVES: u32 = 1000;

impl Table {
    /// The size of a table of this number of groups.
    pub(crate) fn size_for(groups: u64) -> u64 {
        Self::new(groups as usize, 0).size()
    }

    /// The table of these groups and its bytes, under the first seed for which there is one. `None`
    /// if there is none, as for two groups with the same label. The order of the groups determines
    /// the bytes.
    pub(crate) fn build(groups: &[(u64, Rule)]) -> Option<(Self, Vec<u8>)> {
        let tables = (0..SEEDS).map(|seed| Self::new(groups.len(), seed));
        let mut built = tables.filter_map(|table| {
            let bytes = encoded(table, &entries(table, groups)?, groups);
            Some((table, bytes))
        });
        built.find(|(table, bytes)| {
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
    let choice = mix(moves.into(), 0);
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

    fn rule(label: u64) -> Rule {
        Rule::all(label.count_ones().is_multiple_of(2))
    }

    fn built(labels: &[u64]) -> Option<(Table, Vec<u8>)> {
        let groups: Vec<_> = labels.iter().map(|&label| (label, rule(label))).collect();
        Table::build(&groups)
    }

    /// Random labels, and small ones with many bits in common.
    fn labels(groups: u64, structured: bool) -> Vec<u64> {
        (0..groups).map(|group| if structured { group << 30 } else { mix(group, 7) }).collect()
    }

    #[test]
    fn every_group_is_found_and_no_other() {
        for groups in (1..=40).chain([77, 78, 800, 5000, 100_000]) {
            for structured in [false, true] {
                let labels = labels(groups, structured);
                let Some((table, bytes)) = built(&labels) else {
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
        let mut labels = (0..).map(|label| mix(label, 8));
        let mut seen = alloc::collections::BTreeMap::new();
        let (a, b) = loop {
            let label = labels.next().expect("endless");
            if let Some(other) = seen.insert(table.locate(label).1, label)
                && rule(other) != rule(label)
            {
                break (label, other);
            }
        };
        assert_eq!(built(&[a, b]).map(|(table, _)| table.seed), Some(1));
        let both = [(a, Rule::all(true)), (a, Rule::all(false))];
        assert!(Table::build(&both).is_none());
    }

    #[test]
    fn corrupt_tables_are_noticed_or_at_least_harmless() {
        let labels = labels(100, false);
        let (table, bytes) = built(&labels).expect("a table");
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
