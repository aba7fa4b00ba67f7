//! The bytes of an exact set: its stages, the table of groups, the directory, and the footer.
//!
//! ```text
//! filter 1 | … | filter F | function | group hashes | rules | lengths | footer
//! ```
//!
//! Every stage is a complete filter or function with a footer of its own, so that opening one
//! checks it as it would be checked alone. Opening reads the directory and these footers; entries
//! of the table are checked when they are read.

use super::kind::kind_of;
use super::{
    FOOTER_BYTES, MAX_KEYS, at, check_recognised, data_check, get, little_endian, put, seal_footer,
};
use crate::error::{Kind, OpenError};
use alloc::vec::Vec;
use core::ops::Range;

/// The maximum number of filters: one for every number of columns.
pub(crate) const MAX_FILTERS: usize = 32;
/// The unit of the stored lower bound: this many make a bit.
const UNITS: f64 = 16.0;
/// A stage of at least `LARGE` bytes begins at a multiple of this: on a cache line.
const ALIGNMENT: u64 = 64;
const LARGE: u64 = 1 << 16;
/// Bytes of a stage's length in the directory.
const LENGTH: usize = 6;
/// Bytes of a group's hash and of its rule.
const HASH: usize = 8;
const ENTRY: usize = HASH + 1;
/// The rule in the footer if the table has the rules of all groups.
const IN_TABLE: u8 = 0xff;
/// The filling, in bits 5 and 6 of byte 29, that distinguishes an exact set from a container.
pub(super) const FILLING: u8 = 3;

/// The offsets of the fields that are not those of a filter's footer.
mod field {
    use core::ops::Range;

    pub(super) const OTHERS: Range<usize> = 14..20;
    pub(super) const BOUND: Range<usize> = 20..26;
    pub(super) const FILTERS: usize = 26;
    pub(super) const UNNAMED: usize = 27;
}

/// How the keys of a group are queried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rule {
    /// All keys are members, or none is: nothing is stored of them.
    All(bool),
    /// Filter number `filter`, counted from 1, and then the function; 0 stands for no filter. They
    /// describe the members or, if `inverted`, the others.
    Stages { filter: usize, inverted: bool },
}

impl Rule {
    fn encode(self) -> u8 {
        match self {
            Self::All(members) => u8::from(members),
            Self::Stages { filter, inverted } => 2 + 2 * filter as u8 + u8::from(inverted),
        }
    }

    /// The rule of a set with this number of filters, and a function or none.
    #[inline]
    fn decode(code: u8, filters: usize, function: bool) -> Option<Self> {
        let filter = usize::from(code / 2).wrapping_sub(1);
        match code {
            0 | 1 => Some(Self::All(code == 1)),
            _ if function && filter <= filters => {
                Some(Self::Stages { filter, inverted: code % 2 == 1 })
            }
            _ => None,
        }
    }
}

/// The location of all that an exact set consists of, and the numbers of its footer.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Exact {
    pub(crate) key_seed: u64,
    pub(crate) members: u64,
    pub(crate) others: u64,
    /// The lower bound of the size, in the stored form.
    bound: u64,
    /// The locations of the filters.
    pub(crate) filters: Vec<Range<usize>>,
    /// The location of the function, if any group needs it.
    pub(crate) function: Option<Range<usize>>,
    /// The location of the table of groups, which is empty if only the unnamed group has keys.
    table: Range<usize>,
    /// The rule of the unnamed group; `None` if the table has it.
    unnamed: Option<Rule>,
}

impl Exact {
    /// Reads footer and directory at the end of `bytes`, and locates everything else.
    pub(crate) fn read(bytes: &[u8]) -> Result<Self, OpenError> {
        let Some((data, raw)) = bytes.split_last_chunk::<FOOTER_BYTES>() else {
            return Err(OpenError::TooShort { len: bytes.len(), needed: FOOTER_BYTES });
        };
        check_recognised(raw)?;
        let (found, expected) = (kind_of(raw), Kind::ExactSet);
        if found != expected {
            return Err(OpenError::WrongKind { expected, found });
        }
        if raw[at::WHAT] >> 2 > 0 || raw[at::SEGMENTS] & 31 > 0 || raw[at::SEED] > 0 {
            return wrong("reserved part");
        }
        Self::locate(data, raw)
    }

    fn locate(data: &[u8], raw: &[u8; FOOTER_BYTES]) -> Result<Self, OpenError> {
        let count = usize::from(raw[field::FILTERS]);
        if count > MAX_FILTERS {
            return wrong("number of filters");
        }
        let Some(directory) = data.len().checked_sub((count + 1) * LENGTH) else {
            return wrong("directory");
        };
        let mut stages = Vec::with_capacity(count + 1);
        let mut end = 0;
        for length in data[directory..].chunks_exact(LENGTH) {
            let stage = place(end, little_endian(length));
            end = stage.end;
            // The length of untrusted bytes may exceed the address space.
            stages.push(stage.start as usize..stage.end as usize);
        }
        if end > directory as u64 {
            let expected = end + (data.len() - directory + FOOTER_BYTES) as u64;
            let len = (data.len() + FOOTER_BYTES) as u64;
            return Err(OpenError::WrongLength { len, expected });
        }
        let function = stages.pop().filter(|function| !function.is_empty());
        let table = end as usize..directory;
        if !table.len().is_multiple_of(ENTRY) {
            return wrong("table of groups");
        }
        let unnamed = match raw[field::UNNAMED] {
            IN_TABLE if !table.is_empty() => None,
            code if table.is_empty() => Rule::decode(code, count, function.is_some()),
            _ => return wrong("table of groups"),
        };
        if unnamed.is_none() && table.is_empty() {
            return wrong("rule");
        }
        let (members, others) = (get(raw, at::KEYS), get(raw, field::OTHERS));
        let (key_seed, bound) = (get(raw, at::KEY_SEED), get(raw, field::BOUND));
        Ok(Self { key_seed, members, others, bound, filters: stages, function, table, unnamed })
    }

    /// The least bits that any exact set of the same sizes takes on average.
    pub(crate) fn bound(&self) -> f64 {
        self.bound as f64 / UNITS
    }

    /// The number of groups; the unnamed group counts if it has keys, and if it is the only one.
    pub(crate) fn groups(&self) -> u64 {
        (self.table.len() / ENTRY).max(1) as u64
    }

    /// Whether the table has the rules of all groups.
    pub(crate) fn has_table(&self) -> bool {
        !self.table.is_empty()
    }

    /// The rule of the group with this hash; `None` if there is no such group. 0 is the hash of
    /// the unnamed group.
    #[inline]
    pub(crate) fn rule(&self, bytes: &[u8], group_hash: u64) -> Option<Rule> {
        if !self.has_table() {
            return self.unnamed.filter(|_| group_hash == 0);
        }
        let (hashes, rules) = self.table(bytes)?;
        let number = find(hashes, group_hash)?;
        Rule::decode(*rules.get(number)?, self.filters.len(), self.function.is_some())
    }

    /// The hashes and the rules of all groups.
    #[inline]
    fn table<'a>(&self, bytes: &'a [u8]) -> Option<(&'a [[u8; HASH]], &'a [u8])> {
        let table = bytes.get(self.table.clone())?;
        let (hashes, rules) = table.split_at(table.len() / ENTRY * HASH);
        Some((hashes.as_chunks().0, rules))
    }

    /// Checks that all bytes are intact, and that the table is one that a builder writes.
    pub(crate) fn verify(&self, bytes: &[u8]) -> Result<(), OpenError> {
        let stored = bytes.last_chunk::<FOOTER_BYTES>().map(|raw| get(raw, at::DATA_CHECK));
        if stored != Some(data_check(bytes)) {
            return Err(OpenError::CorruptData);
        }
        let (hashes, rules) = self.table(bytes).ok_or(OpenError::CorruptData)?;
        let ascending = hashes.windows(2).all(|pair| hash_of(&pair[0]) < hash_of(&pair[1]));
        let decodes =
            |&code| Rule::decode(code, self.filters.len(), self.function.is_some()).is_some();
        match ascending && rules.iter().all(decodes) {
            true => Ok(()),
            false => wrong("table of groups"),
        }
    }
}

/// All that is written of an exact set in addition to its stages.
pub(crate) struct Content<'a> {
    pub(crate) key_seed: u64,
    pub(crate) members: u64,
    pub(crate) others: u64,
    /// The lower bound of the size in bits.
    pub(crate) bound: f64,
    /// The bytes of the filters, and those of the function, which may be empty.
    pub(crate) stages: &'a [&'a [u8]],
    /// The groups, ascending by hash.
    pub(crate) groups: &'a [(u64, Rule)],
}

impl Content<'_> {
    /// The rule of the unnamed group, if there is no other group.
    fn unnamed(&self) -> Option<Rule> {
        match *self.groups {
            [] => Some(Rule::All(false)),
            [(0, rule)] => Some(rule),
            _ => None,
        }
    }

    /// The size of the exact set in bytes.
    pub(crate) fn size_in_bytes(&self) -> u64 {
        let groups = if self.unnamed().is_some() { 0 } else { self.groups.len() };
        size_in_bytes(self.stages.iter().map(|stage| stage.len() as u64), groups as u64)
    }

    /// Writes the exact set into bytes of its size, which are zero.
    pub(crate) fn write(&self, bytes: &mut [u8]) {
        let mut end = 0;
        for stage in self.stages {
            let Range { start, end: after } = place(end, stage.len() as u64);
            bytes[start as usize..after as usize].copy_from_slice(stage);
            end = after;
        }
        let mut rest = &mut bytes[end as usize..];
        let mut append = |field: &[u8]| {
            let (place, after) = core::mem::take(&mut rest).split_at_mut(field.len());
            place.copy_from_slice(field);
            rest = after;
        };
        if self.unnamed().is_none() {
            self.groups.iter().for_each(|(hash, _)| append(&hash.to_le_bytes()));
            self.groups.iter().for_each(|(_, rule)| append(&[rule.encode()]));
        }
        for stage in self.stages {
            append(&(stage.len() as u64).to_le_bytes()[..LENGTH]);
        }
        seal_footer(bytes, self.encode());
    }

    fn encode(&self) -> [u8; FOOTER_BYTES] {
        let mut raw = [0; FOOTER_BYTES];
        put(&mut raw, at::KEY_SEED, self.key_seed);
        put(&mut raw, at::KEYS, self.members);
        put(&mut raw, field::OTHERS, self.others);
        put(&mut raw, field::BOUND, (libm::round(self.bound * UNITS) as u64).min(MAX_KEYS));
        raw[field::FILTERS] = (self.stages.len() - 1) as u8;
        raw[field::UNNAMED] = self.unnamed().map_or(IN_TABLE, Rule::encode);
        raw[at::WHAT] = Kind::Container as u8;
        raw[at::SEGMENTS] = FILLING << 5;
        raw[at::VERSIONS] = super::VERSIONS;
        raw[at::MAGIC].copy_from_slice(&super::MAGIC);
        raw
    }
}

/// The size of an exact set whose stages have these sizes, with a table of `groups` groups.
pub(crate) fn size_in_bytes(stages: impl Iterator<Item = u64>, groups: u64) -> u64 {
    let (mut end, mut lengths) = (0, 0);
    for stage in stages {
        end = place(end, stage).end;
        lengths += LENGTH as u64;
    }
    end + groups * ENTRY as u64 + lengths + FOOTER_BYTES as u64
}

/// The location of a stage of `length` bytes, given that `before` bytes precede it.
fn place(before: u64, length: u64) -> Range<u64> {
    let start = if length >= LARGE { before.next_multiple_of(ALIGNMENT) } else { before };
    start..start + length
}

#[inline]
fn hash_of(stored: &[u8; HASH]) -> u64 {
    u64::from_le_bytes(*stored)
}

/// The number of a group in the table. Binary search, which ends soon with any content.
#[inline]
fn find(hashes: &[[u8; HASH]], group_hash: u64) -> Option<usize> {
    let (mut begin, mut count) = (0, hashes.len());
    while count > 1 {
        let half = count / 2;
        // Which half is random, so this must not become a branch.
        begin = core::hint::select_unpredictable(
            hash_of(&hashes[begin + half]) <= group_hash,
            begin + half,
            begin,
        );
        count -= half;
    }
    (hash_of(hashes.get(begin)?) == group_hash).then_some(begin)
}

fn wrong<T>(field: &'static str) -> Result<T, OpenError> {
    Err(OpenError::Inconsistent { field })
}
