//! From members and others to the bytes of an exact set.
//!
//! ```text
//! count the keys of each group -> plan -> filters of the stored keys
//!   -> query the filters with all other keys -> function of the stored keys and those that pass
//! ```
//!
//! A key on both sides passes its filter and meets itself when pieces are compared. So every
//! conflict is found, also if most of the others were never kept.

use super::OtherKeys;
use super::group::label;
use super::keys::{EachPiece, InGroup, Keys, Side, Stored, hash_of};
use super::other_keys::Pass;
use super::plan::{Choice, Counts, Plan, check_keys, filter_of, function_of, lower_bound};
use crate::error::{BuildError, ShrinkError};
use crate::format::exact::{Content, Rule, split};
use crate::kernel::Kernel;
use crate::progress::{Phase, Progress, Reporter};
use crate::storage::bytes::OwnedBytes;
use crate::{Effort, Filter, FilterBuilder, FunctionBuilder};
use alloc::vec;
use alloc::vec::Vec;
use core::ops::ControlFlow;

/// The settings of a build that are not those of its keys.
#[derive(Clone, Copy, Debug)]
pub(super) struct Settings {
    pub(super) effort: Effort,
    pub(super) threads: usize,
    pub(super) kernel: Option<Kernel>,
    pub(super) key_seed: u64,
}

/// A source of others that can be read several times.
pub(super) type Source<'s> = &'s mut dyn FnMut(&mut OtherKeys<'_>) -> Result<(), BuildError>;

/// Builds an exact set of pushed keys.
pub(super) fn build(
    mut keys: Keys,
    settings: &Settings,
    progress: &mut Reporter<'_>,
) -> Result<OwnedBytes, BuildError> {
    keys.settle()?;
    let counts = counted(&keys)?;
    check_keys(&counts)?;
    let plan = Plan::new(&counts, settings.effort)?;
    check_memory(&plan, &keys, 0, settings.threads)?;
    let filters = first_stage(&keys, &plan, settings, progress)?;
    complete(keys, &plan, &filters, &counts, settings, progress)
}

/// Builds an exact set of pushed keys and of others that are read from a source. (A function of its
/// own, so that programs without a source do not contain it.)
pub(super) fn build_with(
    mut keys: Keys,
    source: Source<'_>,
    settings: &Settings,
    progress: &mut Reporter<'_>,
) -> Result<OwnedBytes, BuildError> {
    keys.settle()?;
    let mut counts = counted(&keys)?;
    let mut source = Reading::count(source, &mut keys, &mut counts, settings, progress)?;
    check_keys(&counts)?;
    let mut plan = Plan::new(&counts, settings.effort)?;
    // The others that are kept now, members among them, and those that pass later: 16 bytes each in a
    // named group.
    let passing = |plan: &Plan| 16 * plan.function_keys(0.0);
    let collected = 16 * source.stored(&plan) + passing(&plan);
    check_memory(&plan, &keys, collected, settings.threads)?;
    source.collect_stored(&mut keys, &mut plan, &mut counts, progress)?;
    check_memory(&plan, &keys, passing(&plan), settings.threads)?;
    let filters = first_stage(&keys, &plan, settings, progress)?;
    source.collect_passing(&mut keys, &plan, &filters, progress)?;
    correct_unfiltered(&keys, &mut plan, &mut counts)?;
    complete(keys, &plan, &filters, &counts, settings, progress)
}

/// What follows the filters: the function, and the bytes of everything.
fn complete(
    keys: Keys,
    plan: &Plan,
    filters: &[Split],
    counts: &[Counts],
    settings: &Settings,
    progress: &mut Reporter<'_>,
) -> Result<OwnedBytes, BuildError> {
    let groups = groups(&keys, plan, filters, counts);
    let function = second_stage(keys, plan, filters, settings, progress)?;
    assemble(filters, &function, &groups, counts, settings.key_seed)
}

/// Reads others from their source, several times.
struct Reading<'s> {
    source: Source<'s>,
    key_seed: u64,
    /// The number of keys of each group, as counted first or as expected.
    keys: Vec<u64>,
}

impl<'s> Reading<'s> {
    /// Counts the keys of all groups, unless their numbers were given.
    fn count(
        source: Source<'s>,
        keys: &mut Keys,
        counts: &mut Vec<Counts>,
        settings: &Settings,
        progress: &mut Reporter<'_>,
    ) -> Result<Self, BuildError> {
        let mut reading = Self { source, key_seed: settings.key_seed, keys: Vec::new() };
        reading.keys = match core::mem::take(&mut keys.expected) {
            expected if expected.is_empty() => reading.pass(keys, Pass::Count, progress)?,
            expected => expected,
        };
        counts.resize(keys.groups.hashes().len(), Counts::default());
        for (counts, &given) in counts.iter_mut().zip(&reading.keys) {
            let others = match keys.overlap {
                // It is not known how many of them are members. If all members are among them,
                // this is exact. It must not be 0, since a group without others stores no keys.
                true => given.saturating_sub(counts.members).max(given.min(1)),
                false => given,
            };
            counts.others = counts.others.saturating_add(others);
        }
        Ok(reading)
    }

    /// The number of others of all groups whose others are stored in a filter.
    fn stored(&self, plan: &Plan) -> u64 {
        let stored = self.keys.iter().zip(&plan.choices);
        let stored = stored.filter(|(_, choice)| others_in_filter(choice)).map(|(&keys, _)| keys);
        stored.fold(0, u64::saturating_add)
    }

    /// Keeps the others of all groups whose others are stored in a filter. Then these are known
    /// without duplicates and without members, so the groups are planned again if there were any.
    fn collect_stored(
        &mut self,
        keys: &mut Keys,
        plan: &mut Plan,
        counts: &mut [Counts],
        progress: &mut Reporter<'_>,
    ) -> Result<(), BuildError> {
        if !plan.choices.iter().any(others_in_filter) {
            return Ok(());
        }
        self.again(keys, Pass::Stored(&plan.choices), progress)?;
        keys.settle()?;
        let mut exact = counts.to_vec();
        for (group, kept) in counted(keys)?.into_iter().enumerate() {
            if others_in_filter(&plan.choices[group]) {
                exact[group].others = kept.others;
            }
        }
        plan.correct(counts, &exact)?;
        counts.copy_from_slice(&exact);
        Ok(())
    }

    /// Keeps the others that pass a filter, and those of groups without one. They are not read if
    /// there is no such group, since [`collect_stored`](Self::collect_stored) has kept all.
    fn collect_passing(
        &mut self,
        keys: &mut Keys,
        plan: &Plan,
        filters: &[Split],
        progress: &mut Reporter<'_>,
    ) -> Result<(), BuildError> {
        let columns = |choice: &&Choice| matches!(choice, Choice::Columns { .. });
        let mut stored = plan.choices.iter().filter(columns).map(others_in_filter).peekable();
        if stored.peek().is_some() && stored.all(|in_filter| in_filter) {
            return Ok(());
        }
        self.again(keys, Pass::passing(&plan.choices, filters), progress)?;
        keys.settle()
    }

    fn again(
        &mut self,
        keys: &mut Keys,
        pass: Pass<'_>,
        progress: &mut Reporter<'_>,
    ) -> Result<(), BuildError> {
        let later = self.pass(keys, pass, progress)?;
        let of = |keys: &[u64], group| keys.get(group).copied().unwrap_or(0);
        let groups = 0..later.len().max(self.keys.len());
        // A group without others would be stored without keys: the set would be wrong for those that
        // come later.
        if groups.into_iter().all(|group| of(&later, group) == of(&self.keys, group)) {
            return Ok(());
        }
        let [first, later] = [&self.keys, &later].map(|keys| total(keys));
        Err(BuildError::OthersChanged { first, later })
    }

    /// Reads all others; returns the number of keys of each group.
    fn pass(
        &mut self,
        keys: &mut Keys,
        pass: Pass<'_>,
        progress: &mut Reporter<'_>,
    ) -> Result<Vec<u64>, BuildError> {
        let total = total(&self.keys);
        let mut others = OtherKeys::new(keys, pass, self.key_seed, total, progress);
        let read = (self.source)(&mut others);
        let keys = others.end()?;
        read?;
        Ok(keys)
    }
}

/// Corrects the groups without a filter: all their others are kept now, without duplicates and
/// without members.
fn correct_unfiltered(
    keys: &Keys,
    plan: &mut Plan,
    counts: &mut [Counts],
) -> Result<(), BuildError> {
    let unfiltered = |choice: &Choice| matches!(choice, Choice::Columns { columns: 0, .. });
    if !plan.choices.iter().any(unfiltered) {
        return Ok(());
    }
    let kept = counted(keys)?;
    for ((choice, counts), kept) in plan.choices.iter_mut().zip(counts).zip(kept) {
        if unfiltered(choice) {
            *counts = kept;
            *choice = match kept.others {
                0 => Choice::All(true),
                others => Choice::Columns { columns: 0, inverted: others < kept.members },
            };
        }
    }
    Ok(())
}

fn total(keys: &[u64]) -> u64 {
    keys.iter().copied().fold(0, u64::saturating_add)
}

/// Whether the others of a group are in a filter.
fn others_in_filter(choice: &Choice) -> bool {
    matches!(choice, Choice::Columns { columns: 1.., inverted: true })
}

/// The numbers of the keys of every group that were pushed or kept.
fn counted(keys: &Keys) -> Result<Vec<Counts>, BuildError> {
    let mut counts = Counted(vec![Counts::default(); keys.groups.hashes().len()]);
    keys.each_piece(&mut counts)?;
    Ok(counts.0)
}

/// Counts the keys of every group.
struct Counted(Vec<Counts>);

impl EachPiece for Counted {
    fn piece<V: InGroup>(
        &mut self,
        members: &[Stored<V>],
        others: &[Stored<V>],
    ) -> Result<(), BuildError> {
        members.iter().for_each(|key| self.0[key.value.group()].members += 1);
        others.iter().for_each(|key| self.0[key.value.group()].others += 1);
        Ok(())
    }
}

/// Refuses a set that takes more memory than it may. `collected` bytes of keys are not there yet.
fn check_memory(
    plan: &Plan,
    keys: &Keys,
    collected: u64,
    threads: usize,
) -> Result<(), BuildError> {
    let Some(limit) = keys.max_memory else { return Ok(()) };
    let needed = plan.peak_memory(keys.bytes() + collected, 0.0, threads)?;
    if needed > limit { Err(BuildError::MemoryLimit { needed, limit }) } else { Ok(()) }
}

/// A filter of the stored keys. If it has more columns than a kernel reads in one step, it is split:
/// few keys pass the first columns, so the rest is rarely read.
pub(super) struct Split {
    columns: u32,
    first: Filter,
    rest: Option<Filter>,
}

impl Split {
    fn new(columns: u32, filter: Filter) -> Result<Self, BuildError> {
        let Some(split) = split(columns) else {
            return Ok(Self { columns, first: filter, rest: None });
        };
        match filter.split_columns(&split) {
            Ok(parts) => {
                let mut parts = parts.into_iter();
                let first = parts.next().unwrap_or(filter);
                Ok(Self { columns, first, rest: parts.next() })
            }
            Err(ShrinkError::OutOfMemory { bytes }) => Err(BuildError::OutOfMemory { bytes }),
            // It was just built with these columns.
            Err(_) => Ok(Self { columns, first: filter, rest: None }),
        }
    }

    /// The filters in the order in which they are stored.
    fn parts(&self) -> impl Iterator<Item = &Filter> {
        core::iter::once(&self.first).chain(&self.rest)
    }
}

/// The filters of the stored keys, ascending by their numbers of columns.
fn first_stage(
    keys: &Keys,
    plan: &Plan,
    settings: &Settings,
    progress: &mut Reporter<'_>,
) -> Result<Vec<Split>, BuildError> {
    let builder = |columns| {
        let builder = filter_of(columns, settings.effort).threads(settings.threads);
        builder.key_seed(settings.key_seed).on_kernel(settings.kernel)
    };
    let builders = plan.filters().map(|(columns, _)| (columns, builder(columns))).collect();
    let mut stored = StoredKeys { choices: &plan.choices, builders };
    keys.each_piece(&mut stored)?;
    let mut filters = Vec::new();
    for (columns, builder) in stored.builders {
        let filter = builder.progress(|news| forward(progress, news)).finish()?;
        filters.push(Split::new(columns, filter)?);
    }
    Ok(filters)
}

/// Passes the progress of a stage on.
fn forward(progress: &mut Reporter<'_>, news: Progress) -> ControlFlow<()> {
    match progress.report(news.phase, news.done, news.total) {
        Ok(()) => ControlFlow::Continue(()),
        Err(_) => ControlFlow::Break(()),
    }
}

/// Distributes stored keys among the filters.
struct StoredKeys<'a> {
    choices: &'a [Choice],
    builders: Vec<(u32, FilterBuilder<'static>)>,
}

impl EachPiece for StoredKeys<'_> {
    fn piece<V: InGroup>(
        &mut self,
        members: &[Stored<V>],
        others: &[Stored<V>],
    ) -> Result<(), BuildError> {
        for (side, keys) in [(Side::Members, members), (Side::Others, others)] {
            for key in keys {
                if let Choice::Columns { columns, inverted } = self.choices[key.value.group()]
                    && inverted == (side == Side::Others)
                    && let Some(filter) =
                        self.builders.iter().position(|builder| builder.0 == columns)
                {
                    self.builders[filter].1.push_hash(hash_of(key));
                }
            }
        }
        Ok(())
    }
}

/// The bytes of the function of all stored keys and of the others that pass their filter; empty if
/// there are no such keys.
fn second_stage(
    keys: Keys,
    plan: &Plan,
    filters: &[Split],
    settings: &Settings,
    progress: &mut Reporter<'_>,
) -> Result<OwnedBytes, BuildError> {
    // Every group with a choice of columns has keys on both sides, so the function has keys. (The
    // builder could not tell: it is empty, too, after it has failed to allocate memory.)
    if !plan.choices.iter().any(|choice| matches!(choice, Choice::Columns { .. })) {
        return Ok(OwnedBytes::default());
    }
    let mut builder = function_of(settings.effort).threads(settings.threads);
    builder = builder.key_seed(settings.key_seed).on_kernel(settings.kernel);
    let held: usize = filters.iter().flat_map(Split::parts).map(Filter::size_in_bytes).sum();
    if let Some(limit) = keys.max_memory {
        builder = builder.max_memory(limit.saturating_sub(held as u64));
    }
    let queries = Queries::new(filters);
    let mut passing = Passing { choices: &plan.choices, queries, builder };
    progress.report(Phase::Partitioning, 0, 1)?;
    keys.each_piece(&mut passing)?;
    progress.report(Phase::Partitioning, 1, 1)?;
    let Passing { mut queries, mut builder, .. } = passing;
    queries.finish(|hash, ()| builder.push_hash(hash, 0));
    drop(keys);
    match builder.progress(|news| forward(progress, news)).finish() {
        Ok(function) => Ok(function.into_inner()),
        // Within a group both sides were compared, so the keys are of different groups, or differ
        // and have the same mixed hash.
        Err(BuildError::Contradiction { .. }) => Err(BuildError::Collision),
        Err(BuildError::MemoryLimit { needed, limit }) => {
            let held = held as u64;
            Err(BuildError::MemoryLimit { needed: needed + held, limit: limit + held })
        }
        Err(error) => Err(error),
    }
}

/// Passes stored keys to the function, and the others that pass their filter.
struct Passing<'a> {
    choices: &'a [Choice],
    queries: Queries<'a, ()>,
    builder: FunctionBuilder<'static>,
}

impl EachPiece for Passing<'_> {
    fn piece<V: InGroup>(
        &mut self,
        members: &[Stored<V>],
        others: &[Stored<V>],
    ) -> Result<(), BuildError> {
        let Self { choices, queries, builder } = self;
        for (side, keys) in [(Side::Members, members), (Side::Others, others)] {
            for key in keys {
                let Choice::Columns { columns, inverted } = choices[key.value.group()] else {
                    continue;
                };
                if inverted == (side == Side::Others) {
                    builder.push_hash(hash_of(key), 1);
                } else {
                    queries.push(columns, hash_of(key), (), |hash, ()| builder.push_hash(hash, 0));
                }
            }
        }
        Ok(())
    }
}

/// Queries filters in batches: keys, each with something that is kept with it, go in, and those
/// that pass come out later.
pub(super) struct Queries<'a, T> {
    filters: &'a [Split],
    /// Of each filter, keys that are not yet queried.
    pending: Vec<(Vec<u64>, Vec<T>)>,
}

/// Keys that are queried together.
const BATCH: usize = 1 << 10;

impl<'a, T: Copy> Queries<'a, T> {
    pub(super) fn new(filters: &'a [Split]) -> Self {
        let pending =
            filters.iter().map(|_| (Vec::with_capacity(BATCH), Vec::with_capacity(BATCH)));
        Self { filters, pending: pending.collect() }
    }

    /// The position of the filter with this number of columns; `None` for 0 columns.
    #[inline]
    fn position(&self, columns: u32) -> Option<usize> {
        self.filters.iter().position(|filter| filter.columns == columns)
    }

    /// Adds a key for the filter with this number of columns. Without a filter, it passes.
    #[inline]
    pub(super) fn push(
        &mut self,
        columns: u32,
        hash: u64,
        kept: T,
        mut passes: impl FnMut(u64, T),
    ) {
        let Some(filter) = self.position(columns) else {
            return passes(hash, kept);
        };
        let pending = &mut self.pending[filter];
        pending.0.push(hash);
        pending.1.push(kept);
        if pending.0.len() == BATCH {
            self.query(filter, passes);
        }
    }

    /// Queries the keys that are left.
    pub(super) fn finish(&mut self, mut passes: impl FnMut(u64, T)) {
        for filter in 0..self.filters.len() {
            self.query(filter, &mut passes);
        }
    }

    /// Queries keys in a batch of their own, and passes on those that pass the filter. `hash` maps
    /// a key to the hash that the filter knows.
    pub(super) fn run(
        &self,
        columns: u32,
        keys: &[u64],
        hash: impl Fn(u64) -> u64,
        mut passes: impl FnMut(u64),
    ) {
        let Some(filter) = self.position(columns) else {
            return keys.iter().copied().for_each(passes);
        };
        let mut hashes = [0; BATCH];
        for keys in keys.chunks(BATCH) {
            let hashes = &mut hashes[..keys.len()];
            hashes.iter_mut().zip(keys).for_each(|(hashed, &key)| *hashed = hash(key));
            self.each_hit(filter, hashes, |index| passes(keys[index]));
        }
    }

    /// Calls `passes` with the index of every hash, out of at most [`BATCH`], that passes a filter.
    fn each_hit(&self, filter: usize, hashes: &[u64], mut passes: impl FnMut(usize)) {
        let mut hits = [false; BATCH];
        let Split { first, rest, .. } = &self.filters[filter];
        first.contains_hash_batch_into(hashes, &mut hits);
        for (index, _) in hits[..hashes.len()].iter().enumerate().filter(|(_, hit)| **hit) {
            if rest.as_ref().is_none_or(|rest| rest.contains_hash(hashes[index])) {
                passes(index);
            }
        }
    }

    fn query(&mut self, filter: usize, mut passes: impl FnMut(u64, T)) {
        let (hashes, kept) = core::mem::take(&mut self.pending[filter]);
        self.each_hit(filter, &hashes, |index| passes(hashes[index], kept[index]));
        self.pending[filter] = (hashes, kept);
        self.pending[filter].0.clear();
        self.pending[filter].1.clear();
    }
}

/// The groups that have keys: their labels, rules and counts, ascending by label.
fn groups(
    keys: &Keys,
    plan: &Plan,
    filters: &[Split],
    counts: &[Counts],
) -> Vec<(u64, Rule, Counts)> {
    let rule = |choice: &Choice| match *choice {
        Choice::All(members) => Rule::all(members),
        Choice::Columns { columns, inverted } => {
            Rule::stages(first_part(filters, columns), inverted)
        }
    };
    let all = keys.groups.hashes().iter().zip(&plan.choices).zip(counts);
    let mut groups: Vec<_> = all
        .filter(|(_, counts)| **counts != Counts::default())
        .map(|((&hash, choice), &counts)| (label(hash), rule(choice), counts))
        .collect();
    groups.sort_unstable_by_key(|&(label, ..)| label);
    groups
}

/// The number of the stage with which the filter of this number of columns begins, counted from 1;
/// 0 if there is no such filter.
fn first_part(filters: &[Split], columns: u32) -> usize {
    let Some(position) = filters.iter().position(|filter| filter.columns == columns) else {
        return 0;
    };
    1 + filters[..position].iter().flat_map(Split::parts).count()
}

fn assemble(
    filters: &[Split],
    function: &OwnedBytes,
    groups: &[(u64, Rule, Counts)],
    counts: &[Counts],
    key_seed: u64,
) -> Result<OwnedBytes, BuildError> {
    let parts = filters.iter().flat_map(Split::parts);
    let mut stages: Vec<&[u8]> = parts.map(Filter::as_bytes).collect();
    if !function.as_ref().is_empty() {
        stages.push(function.as_ref());
    }
    let rules: Vec<_> = groups.iter().map(|&(label, rule, _)| (label, rule)).collect();
    let content = Content {
        key_seed,
        members: counts.iter().map(|counts| counts.members).sum(),
        others: counts.iter().map(|counts| counts.others).sum(),
        // In the order of the labels, because the order of a sum changes its rounding.
        bound: lower_bound(groups.iter().map(|&(.., counts)| counts)),
        stages: &stages,
        groups: &rules,
    };
    let table = content.table().ok_or(BuildError::Collision)?;
    let mut bytes = OwnedBytes::allocate(content.size_in_bytes(&table))?;
    content.write(&table, bytes.as_mut());
    Ok(bytes)
}
