//! The bytes of an exact set: its stages, the table of groups, entries of the stages, and the footer.
//!
//! ```text
//! filter | … | filter | map | table of groups | entries | footer
//! ```
//!
//! A *stage* is a filter or, the last one, the map, without its footer: an entry stands for it, as
//! [`Embedded`] describes. Opening reads footer and entries and locates the stages from the last to
//! the first, which begins at offset 0; the table is checked where it is read.

use crate::table::Table;
use alloc::vec::Vec;
use core::ops::Range;
use ribbonfilter::internals::{ENTRY_BYTES, Embedded, FOOTER_BYTES, check_data, get, split_footer};
#[cfg(feature = "build")]
use ribbonfilter::internals::{Raw, embed, put, seal};
use ribbonfilter::{Kernel, Kind, OpenError};

/// The maximum number of filters: one for every number of columns.
pub(crate) const MAX_FILTERS: usize = 32;

/// The fields of the footer, besides those that all footers have.
mod at {
    use core::ops::Range;

    pub(super) const KEY_SEED: Range<usize> = 0..8;
    pub(super) const MEMBERS: Range<usize> = 8..14;
    pub(super) const OTHERS: Range<usize> = 14..20;
    pub(super) const GROUPS: Range<usize> = 20..24;
    pub(super) const BOUND: Range<usize> = 24..28;
    /// The rule of the unnamed group if there is no table, or else the seed of the table.
    pub(super) const RULE: usize = 29;
    pub(super) const STAGES: usize = 30;
    pub(super) const RESERVED: usize = 31;
}

/// How the keys of a group are queried: the stages that they pass, and whether these store the
/// members or the others. The number is what is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rule(pub(crate) u8);

impl Rule {
    /// All keys are members, or none is: no stage has any of them.
    pub(crate) const fn all(members: bool) -> Self {
        Self(members as u8)
    }

    /// A filter, counted from 1, and then the map; 0 stands for no filter. They store the members or,
    /// if `inverted`, the others.
    #[cfg(feature = "build")]
    pub(crate) const fn stages(filter: usize, inverted: bool) -> Self {
        Self(2 + 2 * filter as u8 + inverted as u8)
    }

    /// Whether keys pass through the map.
    #[inline]
    pub(crate) const fn has_map(self) -> bool {
        self.0 >= 2
    }

    /// The index of the filter, if there is one.
    #[inline]
    pub(crate) const fn filter(self) -> Option<usize> {
        (self.0 as usize / 2).checked_sub(2)
    }

    /// Whether the keys that are stored are the others; in a group without stages, whether all keys
    /// are members.
    #[inline]
    pub(crate) const fn inverted(self) -> bool {
        self.0 % 2 == 1
    }
}

/// An opened exact set without its bytes: the numbers of its footer, and its stages.
#[derive(Clone, Debug)]
pub(crate) struct Layout {
    pub(crate) key_seed: u64,
    pub(crate) members: u64,
    pub(crate) others: u64,
    /// The fewest bits that any exact set of the same sizes takes on average.
    pub(crate) bound: f32,
    pub(crate) filters: Vec<Embedded>,
    /// The map, if any group has keys on both sides.
    pub(crate) map: Option<Embedded>,
    table: Table,
    /// The location of the table.
    table_bytes: Range<usize>,
    /// The rule of the unnamed group, if there is no table.
    only: Option<Rule>,
}

impl Layout {
    /// Reads footer and entries at the end of `bytes`, and locates everything else.
    pub(crate) fn read(bytes: &[u8], kernel: Kernel) -> Result<Self, OpenError> {
        let (data, raw) = split_footer(bytes, Kind::ExactSet)?;
        let (stages, groups) = (usize::from(raw[at::STAGES]), get(raw, at::GROUPS));
        ensure(raw[at::RESERVED] == 0, "reserved part")?;
        ensure(stages <= MAX_FILTERS + 1, "number of stages")?;
        let table = match groups {
            0 => Some(Table::NONE),
            _ => Table::checked(groups, raw[at::RULE]),
        };
        let table = table.ok_or(OpenError::Inconsistent { field: "number of groups" })?;
        let bound = f32::from_bits(get(raw, at::BOUND) as u32);
        ensure(bound.is_finite() && bound.is_sign_positive(), "lower bound")?;
        let tail = table.size() + (stages * ENTRY_BYTES) as u64;
        let too_short = OpenError::TooShort { len: bytes.len(), needed: FOOTER_BYTES + 1 };
        let begin = (data.len() as u64).checked_sub(tail).ok_or(too_short)? as usize;
        let table_bytes = begin..begin + table.size() as usize;
        let (entries, _) = data[table_bytes.end..].as_chunks();
        let (mut end, mut located) = (begin, Vec::with_capacity(stages));
        for entry in entries.iter().rev() {
            let kind = if located.is_empty() { Kind::Function } else { Kind::Filter };
            let stage = Embedded::open(bytes, end, entry, kind, kernel)?;
            end = stage.start();
            located.push(stage);
        }
        if end > 0 {
            let len = bytes.len() as u64;
            return Err(OpenError::WrongLength { len, expected: len - end as u64 });
        }
        located.reverse();
        let map = located.pop();
        ensure(map.as_ref().is_none_or(|map| map.columns() == 1), "columns of the map")?;
        let layout = Self {
            key_seed: get(raw, at::KEY_SEED),
            members: get(raw, at::MEMBERS),
            others: get(raw, at::OTHERS),
            bound,
            filters: located,
            map,
            table,
            table_bytes,
            only: (groups == 0).then_some(Rule(raw[at::RULE])),
        };
        ensure(layout.only.is_none_or(|rule| layout.has(rule)), "rule")?;
        Ok(layout)
    }

    /// Whether there are the stages of a rule.
    #[inline]
    fn has(&self, rule: Rule) -> bool {
        (!rule.has_map() || self.map.is_some())
            && rule.filter().is_none_or(|filter| filter < self.filters.len())
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
            return self.only.filter(|_| label == 0);
        }
        let table = bytes.get(self.table_bytes.clone())?;
        self.table.find(table, label).map(Rule).filter(|&rule| self.has(rule))
    }

    /// Checks that all bytes are intact, and that the table is one that a builder writes.
    pub(crate) fn verify(&self, bytes: &[u8]) -> Result<(), OpenError> {
        if !check_data(bytes) {
            return Err(OpenError::CorruptData);
        }
        let table = bytes.get(self.table_bytes.clone()).unwrap_or_default();
        ensure(self.table.is_valid(table, |code| self.has(Rule(code))), "table of groups")
    }
}

/// Everything that is written of an exact set.
#[cfg(feature = "build")]
pub(crate) struct Content<'a> {
    pub(crate) key_seed: u64,
    pub(crate) members: u64,
    pub(crate) others: u64,
    /// The lower bound of the size in bits.
    pub(crate) bound: f64,
    /// The filters and the map, complete; none if no group needs any.
    pub(crate) stages: &'a [&'a [u8]],
    /// The labels and rules of all groups, ascending by label.
    pub(crate) groups: &'a [(u64, Rule)],
}

#[cfg(feature = "build")]
impl Content<'_> {
    /// The bytes of the set, into a buffer of the given size that `allocate` provides. `None` if no
    /// table distinguishes the groups.
    pub(crate) fn write<B: AsMut<[u8]>, E>(
        &self,
        allocate: impl FnOnce(u64) -> Result<B, E>,
    ) -> Result<Option<B>, E> {
        let only = match *self.groups {
            [] => Some(Rule::all(false)),
            [(0, rule)] => Some(rule),
            _ => None,
        };
        let (table, table_bytes) = match only {
            Some(_) => (Table::NONE, Vec::new()),
            None => match Table::build(self.groups) {
                Some(built) => built,
                None => return Ok(None),
            },
        };
        let size =
            size_in_bytes(self.stages.iter().map(|stage| stage.len() as u64), table.groups as u64);
        let mut buffer = allocate(size)?;
        let (mut rest, mut entries) = (buffer.as_mut(), Vec::new());
        for stage in self.stages {
            let (data, entry) = embed(stage);
            rest = append(rest, data);
            entries.extend_from_slice(&entry);
        }
        append(append(rest, &table_bytes), &entries);
        let rule = only.map_or(table.seed, |rule| rule.0);
        seal(buffer.as_mut(), self.footer(table.groups as u64, rule), Kind::ExactSet);
        Ok(Some(buffer))
    }

    fn footer(&self, groups: u64, rule: u8) -> Raw {
        let mut raw = [0; FOOTER_BYTES];
        put(&mut raw, at::KEY_SEED, self.key_seed);
        put(&mut raw, at::MEMBERS, self.members);
        put(&mut raw, at::OTHERS, self.others);
        put(&mut raw, at::GROUPS, groups);
        put(&mut raw, at::BOUND, (self.bound as f32).to_bits().into());
        raw[at::RULE] = rule;
        raw[at::STAGES] = self.stages.len() as u8;
        raw
    }
}

/// Copies bytes to the beginning of a buffer; returns the rest of it.
#[cfg(feature = "build")]
fn append<'a>(buffer: &'a mut [u8], bytes: &[u8]) -> &'a mut [u8] {
    let (filled, rest) = buffer.split_at_mut(bytes.len());
    filled.copy_from_slice(bytes);
    rest
}

/// The size of an exact set with stages of these sizes, as complete filters and maps, and a table of
/// `groups` groups; without a table if that is 0.
#[cfg(feature = "build")]
pub(crate) fn size_in_bytes(stages: impl Iterator<Item = u64>, groups: u64) -> u64 {
    let embedded = stages.map(|stage| stage - FOOTER_BYTES as u64 + ENTRY_BYTES as u64);
    embedded.sum::<u64>() + Table::size_for(groups) + FOOTER_BYTES as u64
}

fn ensure(valid: bool, field: &'static str) -> Result<(), OpenError> {
    if valid { Ok(()) } else { Err(OpenError::Inconsistent { field }) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ExactSet;
    use crate::table::MAX_GROUPS;

    /// What is read of a set with a filter and a map, after a change to its footer, with valid
    /// checksums.
    fn changed(change: impl Fn(&mut Raw)) -> Result<Layout, &'static str> {
        let set = ExactSet::build(0..40, 40..40_000).expect("ordinary keys build");
        let mut bytes = set.as_bytes().to_vec();
        let mut raw = *bytes.last_chunk().expect("a footer");
        change(&mut raw);
        seal(&mut bytes, raw, Kind::ExactSet);
        Layout::read(&bytes, Kernel::best()).map_err(|error| match error {
            OpenError::Inconsistent { field } => field,
            OpenError::WrongLength { .. } => "length",
            OpenError::TooShort { .. } => "too short",
            error => panic!("{error}"),
        })
    }

    #[test]
    fn footers_that_no_builder_writes_are_refused() {
        let intact = changed(|_| {}).expect("nothing was changed");
        assert_eq!((intact.filters.len(), intact.map.is_some(), intact.groups()), (1, true, 1));
        let error = |change: &dyn Fn(&mut Raw)| changed(change).err();
        assert_eq!(error(&|raw| raw[at::RESERVED] = 1), Some("reserved part"));
        assert_eq!(error(&|raw| raw[at::STAGES] = 34), Some("number of stages"));
        assert_eq!(error(&|raw| raw[at::STAGES] = 0), Some("length"));
        assert_eq!(error(&|raw| put(raw, at::GROUPS, 1 << 20)), Some("too short"));
        assert_eq!(error(&|raw| put(raw, at::GROUPS, MAX_GROUPS + 1)), Some("number of groups"));
        for bound in [f32::NAN, f32::INFINITY, -1.0, -0.0] {
            let bits = u64::from(bound.to_bits());
            assert_eq!(error(&|raw| put(raw, at::BOUND, bits)), Some("lower bound"), "{bound}");
        }
    }

    /// A rule may have the filter that there is, the map alone, or no stage.
    #[test]
    fn rules_have_stages_that_exist() {
        for code in 0..=u8::MAX {
            let read = changed(|raw| raw[at::RULE] = code);
            assert_eq!(read.err(), (code >= 6).then_some("rule"), "{code}");
        }
        assert_eq!(Rule::stages(1, true), Rule(5));
        assert_eq!((Rule(5).filter(), Rule(3).filter(), Rule(1).has_map()), (Some(0), None, false));
    }
}
