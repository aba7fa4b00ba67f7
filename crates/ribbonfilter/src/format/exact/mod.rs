//! The bytes of an exact set: the table of groups, the stages, their entries, and the footer.
//!
//! ```text
//! table of groups | filter | … | filter | function | entries | footer
//! ```
//!
//! A stage is the data of a filter or a function, without its footer, most of whose fields would
//! be the same in all sets: the entry has the others. Opening reads footer and entries and locates
//! the stages from the last to the first; entries of the table are checked when they are read.
//!
//! A filter of more than eight columns is two stages, one after the other: up to eight columns,
//! which a query reads in one step and which few keys pass, and the rest.

mod table;

use table::Table;
pub(crate) use table::{Built, MAX_GROUPS};

use super::checks::{check_kind, data_check, seal_footer, split_footer};
use super::{FOOTER_BYTES, Footer, at, get, put};
use crate::Variant;
use crate::error::{Kind, OpenError};
use crate::ribbon::shape::Shape;
use alloc::vec::Vec;
use core::ops::Range;

/// The maximum number of stages: a filter for every number of columns, and the function.
/// Each of those with more than eight columns is two stages.
const MAX_STAGES: usize = 57;
/// Columns that a kernel reads in one step.
const STEP: u32 = 8;
/// The columns of a second stage, at least. A kernel reads a whole step from the last block on, and
/// what exceeds these columns is within the bytes that follow.
const MIN_REST: u32 = 4;
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

/// How the keys of a group are queried: the stages that they pass, and whether these describe the
/// members or the others. The number is what is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rule(u8);

impl Rule {
    /// All keys are members, or none is: nothing is stored of them.
    pub(crate) const fn all(members: bool) -> Self {
        Self(members as u8)
    }

    /// The filter that begins with stage number `filter`, counted from 1, and then the function; 0
    /// stands for no filter. They describe the members or, if `inverted`, the others.
    pub(crate) const fn stages(filter: usize, inverted: bool) -> Self {
        Self(2 + 2 * filter as u8 + inverted as u8)
    }

    /// The stages that a key passes: none (0), just the function (1), or a filter, by the number of
    /// its first stage and 1, and the function.
    #[inline(always)]
    pub(crate) const fn path(self) -> u8 {
        self.0 / 2
    }

    /// Whether the keys that are stored are the others; in a group without stages, whether all keys
    /// are members.
    #[inline(always)]
    pub(crate) const fn inverted(self) -> bool {
        self.0 % 2 == 1
    }

    /// The rule of a set that has these paths.
    #[inline]
    fn decode(code: u8, paths: Paths) -> Option<Self> {
        let rule = Self(code);
        paths.have(rule.path()).then_some(rule)
    }
}

/// The [paths](Rule::path) that a set has, one bit each. A filter's second stage is never the first
/// of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Paths(u64);

impl Paths {
    /// The paths through these stages, of which the last is the function; at most [`MAX_STAGES`].
    fn of(stages: &[Stage]) -> Self {
        let Some((_, filters)) = stages.split_last() else { return Self(1) };
        let bits = (2..).zip(filters).filter(|(_, filter)| !filter.continues());
        Self(bits.fold(0b11, |paths, (path, _)| paths | 1 << path))
    }

    #[inline(always)]
    const fn have(self, path: u8) -> bool {
        path < u64::BITS as u8 && self.0 >> path & 1 == 1
    }
}

/// The columns of the two stages of a filter of more than eight columns; `None` if it is one stage.
pub(crate) fn split(columns: u32) -> Option<[u32; 2]> {
    let first = columns.saturating_sub(MIN_REST).min(STEP);
    (columns > STEP).then_some([first, columns - first])
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

    /// Whether this is the second stage of a filter.
    pub(crate) fn continues(&self) -> bool {
        self.footer.first_column() > 0
    }

    /// Whether this may follow `previous`: a second stage follows a first one of the same shape but
    /// for the columns. Compiled queries rely on that.
    fn follows(&self, previous: Option<&Self>) -> bool {
        if !self.continues() {
            return true;
        }
        let columns = self.footer.shape.columns;
        previous.is_some_and(|previous| {
            let shape = Shape { columns, ..previous.footer.shape };
            !previous.continues() && shape == self.footer.shape
        })
    }

    /// The location of the data, followed by as many bytes as follow the data of a filter: a
    /// footer's size, since entries and footer follow the last stage.
    #[inline]
    pub(crate) fn with_what_follows(&self) -> Range<usize> {
        self.data.start..self.data.end + FOOTER_BYTES
    }
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
    paths: Paths,
    /// The rule of the unnamed group, if there is no table.
    unnamed: Option<Rule>,
}

impl Exact {
    /// Reads footer and entries at the end of `bytes`, and locates everything else.
    pub(crate) fn read(bytes: &[u8]) -> Result<Self, OpenError> {
        let (data, raw) = split_footer(bytes)?;
        check_kind(raw, Kind::ExactSet)?;
        let stages = usize::from(raw[field::STAGES]);
        let (groups, code) = (get(raw, field::GROUPS), raw[at::SEGMENTS] & 31);
        if raw[at::WHAT] >> 2 > 0 {
            return wrong("reserved part");
        }
        let table = match groups {
            0 => Some(Table::NONE),
            _ => Table::checked(groups, code),
        };
        let Some(table) = table else { return wrong("number of groups") };
        let bound = f32::from_bits(get(raw, field::BOUND) as u32);
        if !(0.0..f32::INFINITY).contains(&bound) || bound.is_sign_negative() {
            return wrong("lower bound");
        }
        let stages = locate(data, stages, table.size())?;
        let paths = Paths::of(&stages);
        let unnamed = if groups == 0 { Rule::decode(code, paths) } else { None };
        if groups == 0 && unnamed.is_none() {
            return wrong("rule");
        }
        Ok(Self {
            key_seed: get(raw, at::KEY_SEED),
            members: get(raw, at::KEYS),
            others: get(raw, field::OTHERS),
            table,
            bound,
            stages,
            paths,
            unnamed,
        })
    }

    /// The rule of all keys of the universe, if there is no table of groups.
    pub(crate) fn only_rule(&self) -> Option<Rule> {
        self.unnamed
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
        Rule::decode(self.table.find(bytes, label)?, self.paths)
    }

    /// Checks that all bytes are intact, and that the table is one that a builder writes.
    pub(crate) fn verify(&self, bytes: &[u8]) -> Result<(), OpenError> {
        let stored = bytes.last_chunk::<FOOTER_BYTES>().map(|raw| get(raw, at::DATA_CHECK));
        if stored != Some(data_check(bytes)) {
            return Err(OpenError::CorruptData);
        }
        let known = |code: u8| Rule::decode(code, self.paths).is_some();
        match self.table.is_valid(bytes, known) {
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
    let preceding = core::iter::once(None).chain(located.iter().map(Some));
    if !located.iter().zip(preceding).all(|(stage, previous)| stage.follows(previous)) {
        return wrong("columns of a stage");
    }
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
            [] => Some(Rule::all(false)),
            [(0, rule)] => Some(rule),
            _ => None,
        }
    }

    /// The table of groups; `None` if no table distinguishes them.
    pub(crate) fn table(&self) -> Option<Built> {
        match self.unnamed() {
            Some(_) => Some(Built::NONE),
            None => Built::new(self.groups),
        }
    }

    /// The size of the exact set in bytes.
    pub(crate) fn size_in_bytes(&self, table: &Built) -> u64 {
        let stages = self.stages.iter().map(|stage| stage.len() as u64);
        size_of_stages(stages, table.bytes.len() as u64)
    }

    /// Writes the exact set into bytes of its size, which are zero.
    pub(crate) fn write(&self, table: &Built, bytes: &mut [u8]) {
        let (mut end, mut entries) = (table.bytes.len(), Vec::new());
        bytes[..end].copy_from_slice(&table.bytes);
        for stage in self.stages {
            let place = place(end as u64, stage.len() as u64);
            let (entry, data) = Stage::entry(stage, place.start - end as u64);
            bytes[place.start as usize..place.end as usize].copy_from_slice(data);
            entries.extend_from_slice(&entry);
            end = place.end as usize;
        }
        bytes[end..][..entries.len()].copy_from_slice(&entries);
        seal_footer(bytes, self.encode(table.table));
    }

    fn encode(&self, table: Table) -> [u8; FOOTER_BYTES] {
        let mut raw = [0; FOOTER_BYTES];
        put(&mut raw, at::KEY_SEED, self.key_seed);
        put(&mut raw, at::KEYS, self.members);
        put(&mut raw, field::OTHERS, self.others);
        put(&mut raw, field::GROUPS, table.groups as u64);
        put(&mut raw, field::BOUND, (self.bound as f32).to_bits().into());
        raw[field::STAGES] = self.stages.len() as u8;
        raw[at::WHAT] = Kind::Container as u8;
        raw[at::SEGMENTS] = FILLING << 5 | self.unnamed().map_or(table.seed, |rule| rule.0);
        raw[at::VERSIONS] = super::VERSIONS;
        raw[at::MAGIC].copy_from_slice(&super::MAGIC);
        raw
    }
}

/// The expected size of an exact set whose stages have these sizes as complete filters and
/// functions, with a table of `groups` groups.
pub(crate) fn size_in_bytes(stages: impl Iterator<Item = u64>, groups: u64) -> u64 {
    size_of_stages(stages, Table::size_for(groups))
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
    use super::super::checks::write_checks;
    use super::*;
    use crate::ExactSet;
    use alloc::vec::Vec;

    /// A set with a filter of two stages and a function, after a change to its entries and footer,
    /// with valid checksums.
    fn changed(change: impl Fn(&mut [[u8; ENTRY]], &mut [u8])) -> Result<Exact, OpenError> {
        let set = ExactSet::build(0..40, 40..40_000).expect("ordinary keys build");
        let mut bytes: Vec<u8> = set.as_bytes().to_vec();
        let entries = bytes.len() - FOOTER_BYTES - 3 * ENTRY;
        let (entries, footer) = bytes[entries..].split_at_mut(3 * ENTRY);
        change(entries.as_chunks_mut().0, footer);
        write_checks(&mut bytes);
        Exact::read(&bytes)
    }

    /// The offset of a field of a stage's footer in its entry.
    fn in_entry(field: usize) -> usize {
        1 + FIELDS[0].len() + field - FIELDS[1].start
    }

    #[test]
    fn a_second_stage_follows_a_first_one_of_its_shape() {
        let intact = changed(|_, _| {}).expect("nothing was changed");
        assert_eq!(
            intact.stages.iter().map(Stage::continues).collect::<Vec<_>>(),
            [false, true, false]
        );
        let columns = in_entry(at::COLUMNS.start)..in_entry(at::COLUMNS.end);
        // The first stage has the columns of the second.
        let both = changed(|entries, _| {
            let second = entries[1][columns.clone()].to_vec();
            entries[0][columns.clone()].copy_from_slice(&second);
        });
        assert!(both.is_err(), "{both:?}");
        // The second stage is narrower: its slots have the same number of bytes.
        let narrow = changed(|entries, _| entries[1][in_entry(at::WHAT)] ^= 1 << 4);
        assert!(
            matches!(narrow, Err(OpenError::Inconsistent { field: "columns of a stage" })),
            "{narrow:?}"
        );
    }

    #[test]
    fn no_rule_begins_with_a_second_stage() {
        for filter in 0..4 {
            let rule = Rule::stages(filter, false);
            let read = changed(|_, footer| footer[at::SEGMENTS] = FILLING << 5 | rule.0);
            assert_eq!(read.is_ok(), filter < 2, "{read:?}");
        }
    }
}
