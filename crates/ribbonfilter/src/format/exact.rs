//! The bytes of an exact set: the table of groups, the stages, their entries, and the footer.
//!
//! ```text
//! group labels | rules | filter 1 | … | filter F | function | entries | footer
//! ```
//!
//! A stage is the data of a filter or a function, without its footer, most of whose fields would
//! be the same in all sets: the entry has the others. Opening reads footer and entries and locates
//! the stages from the last to the first; entries of the table are checked when they are read.

use super::checks::{check_kind, data_check, seal_footer, split_footer};
use super::{FOOTER_BYTES, Footer, at, get, put};
use crate::Variant;
use crate::error::{Kind, OpenError};
use alloc::vec::Vec;
use core::ops::Range;

/// The maximum number of stages: a filter for every number of columns, and the function.
const MAX_STAGES: usize = 33;
/// A stage of at least `LARGE` bytes begins at a multiple of `ALIGNMENT`: on a cache line.
const ALIGNMENT: u64 = 64;
const LARGE: u64 = 1 << 16;
/// Bytes of a stage's entry: the number of zeros that precede the stage, then fields of its footer.
const ENTRY: usize = 10;
/// The fields of a stage's footer that its entry has. The others follow: there are keys, the
/// columns are a whole number, and the rate is the nominal one.
const FIELDS: [Range<usize>; 2] = [at::SEGMENT_SLOTS, at::COLUMNS.start..at::VERSIONS];
/// The number of keys that stands for any: what else the entry has does not depend on it.
const SOME_KEYS: u64 = 1;
/// Bytes of a group's label, at least and at most. The builder takes as many as keep the groups
/// apart, and give an unknown group the label of a known one with a probability of at most
/// `2^-UNKNOWN`.
const LABEL_BYTES: core::ops::RangeInclusive<usize> = 4..=8;
const UNKNOWN: u32 = 20;
/// The filling, in bits 5 and 6 of byte 29, that distinguishes an exact set from a container.
pub(super) const FILLING: u8 = 3;

/// The offsets of the fields that are not those of a filter's footer.
mod field {
    use core::ops::Range;

    pub(super) const OTHERS: Range<usize> = 14..20;
    pub(super) const GROUPS: Range<usize> = 20..24;
    pub(super) const BOUND: Range<usize> = 24..28;
    pub(super) const STAGES: usize = 30;
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

    /// The rule of a set with this number of stages, of which the last is the function.
    #[inline]
    fn decode(code: u8, stages: usize) -> Option<Self> {
        let filter = usize::from(code / 2).wrapping_sub(1);
        match code {
            0 | 1 => Some(Self::All(code == 1)),
            _ if filter < stages => Some(Self::Stages { filter, inverted: code % 2 == 1 }),
            _ => None,
        }
    }
}

/// A filter or the function of an exact set.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Stage {
    pub(crate) footer: Footer,
    data: Range<usize>,
}

impl Stage {
    /// Reads the stage that ends at `end`. Returns also the number of zeros that precede it.
    fn read(
        bytes: &[u8],
        end: usize,
        entry: &[u8; ENTRY],
        kind: Kind,
    ) -> Result<(Self, usize), OpenError> {
        let mut raw = [0; FOOTER_BYTES];
        put(&mut raw, at::KEYS, SOME_KEYS);
        let (padding, fields) = (usize::from(entry[0]), &entry[1..]);
        let (slots, rest) = fields.split_at(FIELDS[0].len());
        raw[FIELDS[0].clone()].copy_from_slice(slots);
        raw[FIELDS[1].clone()].copy_from_slice(rest);
        let mut footer = Footer::EMPTY;
        footer.decode(&bytes[..end], &raw, kind)?;
        if !matches!(footer.shape.variant, Variant::Standard | Variant::Bumped) {
            return wrong("variant of a stage");
        }
        let size = usize::try_from(footer.shape.data_bytes()).ok();
        let Some(start) = size.and_then(|size| end.checked_sub(size)) else {
            return wrong("size of a stage");
        };
        if padding as u64 >= ALIGNMENT || padding > start {
            return wrong("padding");
        }
        Ok((Self { footer, data: start..end }, padding))
    }

    /// The entry of a complete filter or function, and its data.
    fn entry(complete: &[u8], padding: u64) -> ([u8; ENTRY], &[u8]) {
        let (data, raw) = complete.split_last_chunk::<FOOTER_BYTES>().expect("a footer");
        debug_assert!(raw[at::BOUNDARY.start..at::RATE.end] == [0; 8]);
        let mut entry = [0; ENTRY];
        entry[0] = padding as u8;
        let (slots, rest) = entry[1..].split_at_mut(FIELDS[0].len());
        slots.copy_from_slice(&raw[FIELDS[0].clone()]);
        rest.copy_from_slice(&raw[FIELDS[1].clone()]);
        (entry, data)
    }

    /// The location of the data, followed by as many bytes as follow the data of a filter: a
    /// footer's size, since entries and footer follow the last stage.
    #[inline]
    pub(crate) fn with_what_follows(&self) -> Range<usize> {
        self.data.start..self.data.end + FOOTER_BYTES
    }
}

/// The table of groups at the beginning of the bytes: labels in ascending order, then rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Table {
    /// The number of groups; 0 if only the unnamed group has keys.
    groups: usize,
    /// Bytes of a label; 0 without groups.
    label_bytes: usize,
}

impl Table {
    /// The table of groups with these labels, which ascend and differ.
    fn of(labels: impl Iterator<Item = u64> + Clone) -> Self {
        let groups = labels.clone().count();
        let suffice = |&bytes: &usize| {
            let short = labels.clone().map(|label| shortened(label, bytes));
            groups.ilog2() + 1 + UNKNOWN <= 8 * bytes as u32
                && short.clone().zip(short.skip(1)).all(|(label, next)| label != next)
        };
        let label_bytes = LABEL_BYTES.clone().find(suffice).unwrap_or(*LABEL_BYTES.end());
        Self { groups, label_bytes }
    }

    const NONE: Self = Self { groups: 0, label_bytes: 0 };

    fn size(self) -> u64 {
        // Without groups there are no labels, either.
        self.groups as u64 * (self.label_bytes as u64 + 1)
    }

    /// The label of a group. At least 8 bytes follow any label: the table is not at the end.
    #[inline]
    fn label(self, bytes: &[u8], group: usize) -> Option<u64> {
        let stored = bytes.get(group * self.label_bytes..)?.first_chunk()?;
        Some(u64::from_le_bytes(*stored) & u64::MAX >> (64 - 8 * self.label_bytes))
    }

    /// The rule of a group in its stored form.
    #[inline]
    fn code(self, bytes: &[u8], group: usize) -> Option<u8> {
        bytes.get(self.groups * self.label_bytes + group).copied()
    }

    /// The number of the group with this label.
    ///
    /// Labels are products, whose top bits are evenly distributed: the label determines about where
    /// it is stored, and the difference from the label there determines it more closely. Labels
    /// near the second guess are compared without a branch, since which of them it is cannot be
    /// predicted. The few searches that miss, and those in a table with any other content, continue
    /// as binary searches.
    #[inline]
    fn find(self, bytes: &[u8], label: u64) -> Option<usize> {
        /// Labels that are compared near the second guess. Of 800 groups it is within 8 of the
        /// label 97 times in 100.
        const NEAR: usize = 16;
        let label = shortened(label, self.label_bytes);
        let position = |label: i128| (label * self.groups as i128) >> (8 * self.label_bytes);
        let guess = position(label.into());
        let there = self.label(bytes, guess as usize)?;
        let near = guess + position(i128::from(label) - i128::from(there));
        let near = near.clamp(0, self.groups as i128) as usize;
        let begin = near.saturating_sub(NEAR / 2).min(self.groups.saturating_sub(NEAR));
        let count = NEAR.min(self.groups);
        let (mut found, mut before) = (self.groups, 0);
        for group in begin..begin + count {
            let there = self.label(bytes, group)?;
            found = core::hint::select_unpredictable(there == label, group, found);
            before += usize::from(there < label);
        }
        if found < self.groups {
            return Some(found);
        }
        // Where labels ascend, it would be between two labels that were compared.
        let between =
            (before > 0 || begin == 0) && (before < count || begin + count == self.groups);
        if between { None } else { self.search(bytes, label) }
    }

    /// Binary search for a label, which ends soon with any content.
    #[cold]
    fn search(self, bytes: &[u8], label: u64) -> Option<usize> {
        let (mut begin, mut count) = (0, self.groups);
        while count > 1 {
            let half = count / 2;
            // Which half is random, so this must not become a branch.
            begin = core::hint::select_unpredictable(
                self.label(bytes, begin + half)? <= label,
                begin + half,
                begin,
            );
            count -= half;
        }
        (self.label(bytes, begin)? == label).then_some(begin)
    }
}

/// The top bytes of a label.
#[inline]
fn shortened(label: u64, bytes: usize) -> u64 {
    label >> (64 - 8 * bytes)
}

/// The location of all that an exact set consists of, and the numbers of its footer.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Exact {
    pub(crate) key_seed: u64,
    pub(crate) members: u64,
    pub(crate) others: u64,
    table: Table,
    /// The least bits that any exact set of the same sizes takes on average.
    pub(crate) bound: f32,
    /// The filters and, if any group needs it, the function as the last.
    pub(crate) stages: Vec<Stage>,
    /// The rule of the unnamed group, if there is no table.
    unnamed: Option<Rule>,
}

impl Exact {
    /// Reads footer and entries at the end of `bytes`, and locates everything else.
    pub(crate) fn read(bytes: &[u8]) -> Result<Self, OpenError> {
        let (data, raw) = split_footer(bytes)?;
        check_kind(raw, Kind::ExactSet)?;
        let stages = usize::from(raw[field::STAGES]);
        let (groups, code) = (get(raw, field::GROUPS) as usize, raw[at::SEGMENTS] & 31);
        if raw[at::WHAT] >> 2 > 0 {
            return wrong("reserved part");
        }
        let (table, unnamed) = match groups {
            0 => (Table::NONE, Rule::decode(code, stages)),
            _ => (Table { groups, label_bytes: code.into() }, None),
        };
        if groups == 0 && unnamed.is_none() {
            return wrong("rule");
        }
        if groups > 0 && !LABEL_BYTES.contains(&table.label_bytes) {
            return wrong("table of groups");
        }
        let bound = f32::from_bits(get(raw, field::BOUND) as u32);
        if !(0.0..f32::INFINITY).contains(&bound) || bound.is_sign_negative() {
            return wrong("lower bound");
        }
        Ok(Self {
            key_seed: get(raw, at::KEY_SEED),
            members: get(raw, at::KEYS),
            others: get(raw, field::OTHERS),
            table,
            bound,
            stages: locate(data, stages, table.size())?,
            unnamed,
        })
    }

    /// The number of groups; 1 if there is only the unnamed one.
    pub(crate) fn groups(&self) -> u64 {
        self.table.groups.max(1) as u64
    }

    /// The rule of the group with this label; `None` if there is no such group. 0 is the label of
    /// the unnamed group.
    #[inline]
    pub(crate) fn rule(&self, bytes: &[u8], label: u64) -> Option<Rule> {
        if self.table == Table::NONE {
            return self.unnamed.filter(|_| label == 0);
        }
        let group = self.table.find(bytes, label)?;
        Rule::decode(self.table.code(bytes, group)?, self.stages.len())
    }

    /// Checks that all bytes are intact, and that the table is one that a builder writes.
    pub(crate) fn verify(&self, bytes: &[u8]) -> Result<(), OpenError> {
        let stored = bytes.last_chunk::<FOOTER_BYTES>().map(|raw| get(raw, at::DATA_CHECK));
        if stored != Some(data_check(bytes)) {
            return Err(OpenError::CorruptData);
        }
        let table = self.table;
        let label = |group| table.label(bytes, group);
        let code = |group| table.code(bytes, group);
        let known = |code: u8| Rule::decode(code, self.stages.len()).is_some();
        let ascending = (1..table.groups).all(|group| label(group - 1) < label(group));
        match ascending && (0..table.groups).all(|group| code(group).is_some_and(known)) {
            true => Ok(()),
            false => wrong("table of groups"),
        }
    }
}

/// Locates the stages, and checks that the table of groups precedes the first.
fn locate(data: &[u8], stages: usize, table: u64) -> Result<Vec<Stage>, OpenError> {
    if stages > MAX_STAGES {
        return wrong("number of stages");
    }
    let Some(mut end) = data.len().checked_sub(stages * ENTRY) else {
        return wrong("number of stages");
    };
    let entries = data[end..].as_chunks().0;
    let mut located = Vec::with_capacity(stages);
    for entry in entries.iter().rev() {
        // The function is the last stage.
        let kind = if located.is_empty() { Kind::Function } else { Kind::Filter };
        let (stage, padding) = Stage::read(data, end, entry, kind)?;
        end = stage.data.start - padding;
        located.push(stage);
    }
    if end as u64 != table {
        let len = (data.len() + FOOTER_BYTES) as u64;
        return Err(OpenError::WrongLength { len, expected: len - end as u64 + table });
    }
    located.reverse();
    Ok(located)
}

/// All that is written of an exact set.
pub(crate) struct Content<'a> {
    pub(crate) key_seed: u64,
    pub(crate) members: u64,
    pub(crate) others: u64,
    /// The lower bound of the size in bits.
    pub(crate) bound: f64,
    /// The filters and the function, complete; none if no group needs any.
    pub(crate) stages: &'a [&'a [u8]],
    /// The labels and rules of all groups, ascending by label.
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

    fn table(&self) -> Table {
        match self.unnamed() {
            Some(_) => Table::NONE,
            None => Table::of(self.groups.iter().map(|&(label, _)| label)),
        }
    }

    /// The size of the exact set in bytes.
    pub(crate) fn size_in_bytes(&self) -> u64 {
        let stages = self.stages.iter().map(|stage| stage.len() as u64);
        size_of_stages(stages, self.table().size())
    }

    /// Writes the exact set into bytes of its size, which are zero.
    pub(crate) fn write(&self, bytes: &mut [u8]) {
        let (mut end, mut entries) = (self.write_table(bytes), Vec::new());
        for stage in self.stages {
            let place = place(end as u64, stage.len() as u64);
            let (entry, data) = Stage::entry(stage, place.start - end as u64);
            bytes[place.start as usize..place.end as usize].copy_from_slice(data);
            entries.extend_from_slice(&entry);
            end = place.end as usize;
        }
        bytes[end..][..entries.len()].copy_from_slice(&entries);
        seal_footer(bytes, self.encode());
    }

    /// Writes the table of groups; returns its size.
    fn write_table(&self, bytes: &mut [u8]) -> usize {
        let Table { groups, label_bytes } = self.table();
        for (group, &(label, rule)) in self.groups.iter().enumerate().take(groups) {
            let label = shortened(label, label_bytes).to_le_bytes();
            bytes[group * label_bytes..][..label_bytes].copy_from_slice(&label[..label_bytes]);
            bytes[groups * label_bytes + group] = rule.encode();
        }
        self.table().size() as usize
    }

    fn encode(&self) -> [u8; FOOTER_BYTES] {
        let mut raw = [0; FOOTER_BYTES];
        put(&mut raw, at::KEY_SEED, self.key_seed);
        put(&mut raw, at::KEYS, self.members);
        put(&mut raw, field::OTHERS, self.others);
        let table = self.table();
        put(&mut raw, field::GROUPS, table.groups as u64);
        put(&mut raw, field::BOUND, (self.bound as f32).to_bits().into());
        raw[field::STAGES] = self.stages.len() as u8;
        raw[at::WHAT] = Kind::Container as u8;
        raw[at::SEGMENTS] =
            FILLING << 5 | self.unnamed().map_or(table.label_bytes as u8, Rule::encode);
        raw[at::VERSIONS] = super::VERSIONS;
        raw[at::MAGIC].copy_from_slice(&super::MAGIC);
        raw
    }
}

/// The expected size of an exact set whose stages have these sizes as complete filters and
/// functions, with a table of `groups` groups.
pub(crate) fn size_in_bytes(stages: impl Iterator<Item = u64>, groups: u64) -> u64 {
    let bits = groups.max(1).ilog2() + 1 + UNKNOWN;
    let label_bytes = (bits.div_ceil(8) as usize).clamp(*LABEL_BYTES.start(), *LABEL_BYTES.end());
    size_of_stages(stages, groups * (label_bytes as u64 + 1))
}

/// The size of an exact set whose stages follow a table of this size.
fn size_of_stages(stages: impl Iterator<Item = u64>, table: u64) -> u64 {
    let (end, entries) = stages
        .fold((table, 0), |(end, entries), stage| (place(end, stage).end, entries + ENTRY as u64));
    end + entries + FOOTER_BYTES as u64
}

/// The location of the data of a stage that has `complete` bytes with its footer, given that
/// `before` bytes precede it.
fn place(before: u64, complete: u64) -> Range<u64> {
    let data = complete - FOOTER_BYTES as u64;
    let start = if data >= LARGE { before.next_multiple_of(ALIGNMENT) } else { before };
    start..start + data
}

fn wrong<T>(field: &'static str) -> Result<T, OpenError> {
    Err(OpenError::Inconsistent { field })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Labels are as short as they may be, and longer where short ones would be equal.
    #[test]
    fn labels_keep_groups_apart() {
        let spread = |groups: u64| (0..groups).map(move |group| group * (u64::MAX / groups));
        assert_eq!(Table::of(spread(1)).label_bytes, 4);
        assert_eq!(Table::of(spread(4095)).label_bytes, 4);
        assert_eq!(Table::of(spread(4096)).label_bytes, 5);
        for (bit, bytes) in [(32, 4), (31, 5), (24, 5), (23, 6), (15, 7), (7, 8), (0, 8)] {
            let labels = [0, 5 << 60, (5 << 60) + (1 << bit)];
            assert_eq!(Table::of(labels.into_iter()).label_bytes, bytes, "{bit}");
        }
    }

    #[test]
    fn every_group_is_found_and_no_other() {
        for groups in [1, 2, 3, 800, 5000u64] {
            let label = |group: u64| (group + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            let rule = |group: u64| match group % 4 {
                0 => Rule::All(true),
                1 => Rule::All(false),
                _ => Rule::All(group % 8 < 4),
            };
            let mut listed: Vec<_> = (0..groups).map(|group| (label(group), rule(group))).collect();
            listed.sort_unstable_by_key(|&(label, _)| label);
            let content = Content {
                key_seed: 0,
                members: 0,
                others: 0,
                bound: 0.0,
                stages: &[],
                groups: &listed,
            };
            let mut bytes = alloc::vec![0; content.size_in_bytes() as usize];
            content.write(&mut bytes);
            let exact = Exact::read(&bytes).expect("just written");
            exact.verify(&bytes).expect("just written");
            assert_eq!(exact.groups(), groups);
            for group in 0..groups {
                assert_eq!(exact.rule(&bytes, label(group)), Some(rule(group)));
                assert_eq!(exact.rule(&bytes, label(group + groups)), None);
            }
            assert_eq!(exact.rule(&bytes, 0), None);
        }
    }
}
