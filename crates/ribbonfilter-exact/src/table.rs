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

use ribbonfilter::internals::{mix, position};

/// Entries of a bucket, and bytes of an entry.
pub(crate) const BUCKET: usize = 4;
const ENTRY: usize = 4;
/// There are 5 buckets for 19 groups: 95 % of the entries are used.
const FILLED: [u64; 2] = [5, 19];
/// Bits of a rule in an entry, and all of them. Rules are counted from 1, so an entry without a group
/// is zero.
const RULE_BITS: u32 = 7;
const RULE: u32 = (1 << RULE_BITS) - 1;
/// The number of seeds that may be tried.
pub(crate) const SEEDS: u8 = 32;

/// The maximum number of groups. Of that number, two have the same entry under three of four seeds, and
/// under all seeds with a probability of `2^-13`; with half as many groups it is `2^-37`.
pub(crate) const MAX_GROUPS: u64 = 1 << 23;

/// The size and the seed of a table of groups.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Table {
    /// The number of groups; 0 if only the unnamed group has keys, and there is no table.
    pub(crate) groups: usize,
    pub(crate) seed: u8,
    pub(crate) buckets: u64,
}

impl Table {
    pub(crate) const NONE: Self = Self { groups: 0, seed: 0, buckets: 0 };

    pub(crate) fn new(groups: usize, seed: u8) -> Self {
        Self { groups, seed, buckets: (groups as u64 * FILLED[0]).div_ceil(FILLED[1]) }
    }

    /// A table with the numbers of a footer; `None` if no builder writes them.
    pub(crate) fn checked(groups: u64, seed: u8) -> Option<Self> {
        let fits = groups > 0 && groups <= MAX_GROUPS && seed < SEEDS;
        fits.then(|| Self::new(groups as usize, seed))
    }

    /// The size in bytes.
    pub(crate) fn size(self) -> u64 {
        self.buckets * (BUCKET * ENTRY) as u64
    }

    /// The two buckets of a label, and its entry without the rule.
    #[inline]
    pub(crate) fn locate(self, label: u64) -> ([u64; 2], u32) {
        // Labels with a structure, such as multiples of a power of two, are not random after one
        // multiplication, but after two.
        let first = mix(mix(label, self.seed), self.seed);
        let second = mix(first, self.seed);
        ([first, second].map(|hash| position(hash, self.buckets)), second as u32 & !RULE)
    }

    /// The stored rule of the group with this label.
    #[inline]
    pub(crate) fn find(self, bytes: &[u8], label: u64) -> Option<u8> {
        let ([first, second], searched) = self.locate(label);
        let (buckets, _) = bytes.as_chunks();
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
    pub(crate) fn is_valid(self, bytes: &[u8], known: impl Fn(u8) -> bool) -> bool {
        let entries = bytes.as_chunks().0.iter();
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
