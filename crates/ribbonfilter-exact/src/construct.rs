//! From members and others to the bytes of an exact set.
//!
//! ```text
//! count the keys of each group -> plan -> filters of the stored keys
//!   -> query the filters with all other keys -> map of the stored keys and those that pass
//! ```
//!
//! A key on both sides passes its filter, so it is kept on both sides, where they are compared. So
//! every conflict is found, also if most of the others were never kept.

use crate::format::{Content, Rule};
use crate::group::label;
use crate::keys::{Keys, Side};
use crate::other_keys::Pass;
use crate::plan::{Choice, Counts, Plan, check_keys, filter_of, lower_bound, map_of};
use crate::sieve::Sieve;
use crate::{ExactError, OtherKeys};
use alloc::vec;
use alloc::vec::Vec;
use core::ops::ControlFlow;
use ribbonfilter::internals::Reporter;
use ribbonfilter::{BuildError, Effort, Filter, Function, Kernel, OwnedBytes, Phase, Progress};

/// The settings of a build that are not those of its keys.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Settings {
    pub(crate) effort: Effort,
    pub(crate) threads: usize,
    pub(crate) kernel: Kernel,
    pub(crate) key_seed: u64,
}

/// A source of others that can be read several times.
pub(crate) type Source<'s> = &'s mut dyn FnMut(&mut OtherKeys<'_>) -> Result<(), ExactError>;

/// Builds an exact set of pushed keys.
pub(crate) fn build(
    keys: Keys,
    settings: Settings,
    progress: &mut Reporter<'_>,
) -> Result<OwnedBytes, ExactError> {
    let mut build = Build::new(keys, settings, progress)?;
    build.plan()?;
    build.check_memory(0)?;
    build.solve_filters()?;
    build.complete()
}

/// Builds an exact set of pushed keys and of others that are read from a source. (A function of its
/// own, so that programs without a source do not contain it.)
pub(crate) fn build_with(
    keys: Keys,
    source: Source<'_>,
    settings: Settings,
    progress: &mut Reporter<'_>,
) -> Result<OwnedBytes, ExactError> {
    let mut build = Build::new(keys, settings, progress)?;
    let counts = build.count_others(source)?;
    build.plan()?;
    // The others that are kept now, members among them, and those that pass later: 16 bytes each in a
    // named group.
    let kept = counts.iter().zip(&build.plan.choices);
    let kept = kept.filter(|(_, choice)| choice.others_in_filter());
    let kept = kept.fold(0u64, |sum, (&count, _)| sum.saturating_add(count));
    build.check_memory(16 * (kept + build.plan.map_keys(0.0)))?;
    build.collect_stored(source, &counts)?;
    build.check_memory(16 * build.plan.map_keys(0.0))?;
    build.solve_filters()?;
    build.collect_passing(source, &counts)?;
    build.correct_unfiltered()?;
    build.complete()
}

/// A build, step by step.
struct Build<'a, 'p> {
    keys: Keys,
    settings: Settings,
    progress: &'a mut Reporter<'p>,
    /// The numbers of keys of each group.
    counts: Vec<Counts>,
    plan: Plan,
    /// The filters of the stored keys, ascending by their numbers of columns.
    filters: Vec<(u32, Filter)>,
}

impl<'a, 'p> Build<'a, 'p> {
    fn new(
        mut keys: Keys,
        settings: Settings,
        progress: &'a mut Reporter<'p>,
    ) -> Result<Self, ExactError> {
        keys.settle()?;
        let (counts, plan) = (counted(&keys)?, Plan::new(&[], settings.effort)?);
        Ok(Self { keys, settings, progress, counts, plan, filters: Vec::new() })
    }

    /// Plans for the numbers of keys.
    fn plan(&mut self) -> Result<(), ExactError> {
        check_keys(&self.counts)?;
        self.plan = Plan::new(&self.counts, self.settings.effort)?;
        Ok(())
    }

    /// Refuses a set that takes more memory than it may. `more` bytes of keys are still to come.
    fn check_memory(&self, more: u64) -> Result<(), ExactError> {
        let Some(limit) = self.keys.limits.max_memory else { return Ok(()) };
        let held = self.keys.bytes() + more;
        let needed = self.plan.peak_memory(held, 0.0, self.settings.threads)?;
        match needed > limit {
            true => Err(BuildError::MemoryLimit { needed, limit }.into()),
            false => Ok(()),
        }
    }

    /// Counts the others of all groups, unless their numbers were given; returns these numbers.
    fn count_others(&mut self, source: Source<'_>) -> Result<Vec<u64>, ExactError> {
        let others = match core::mem::take(&mut self.keys.expected) {
            expected if expected.is_empty() => self.pass(source, &[], Pass::Count)?,
            expected => expected,
        };
        self.counts.resize(self.keys.groups.hashes().len(), Counts::default());
        for (counts, &given) in self.counts.iter_mut().zip(&others) {
            let others = match self.keys.overlap {
                // It is not known how many of them are members. If all members are among them,
                // this is exact. It must not be 0, since a group without others stores no keys.
                true => given.saturating_sub(counts.members).max(given.min(1)),
                false => given,
            };
            counts.others = counts.others.saturating_add(others);
        }
        Ok(others)
    }

    /// Keeps the others of all groups whose others are stored in a filter. Then these are known
    /// without duplicates and without members, so the groups are planned again if there were any.
    fn collect_stored(&mut self, source: Source<'_>, counts: &[u64]) -> Result<(), ExactError> {
        if !self.plan.choices.iter().any(Choice::others_in_filter) {
            return Ok(());
        }
        let choices = self.plan.choices.clone();
        self.pass(source, counts, Pass::Stored(&choices))?;
        self.keys.settle()?;
        let mut exact = self.counts.clone();
        for ((exact, kept), choice) in exact.iter_mut().zip(counted(&self.keys)?).zip(&choices) {
            if choice.others_in_filter() {
                exact.others = kept.others;
            }
        }
        self.plan.correct(&self.counts, &exact)?;
        self.counts = exact;
        Ok(())
    }

    /// Keeps the others that pass a filter, and those of groups without one. They are not read if
    /// there is no such group, since [`collect_stored`](Self::collect_stored) has kept all.
    fn collect_passing(&mut self, source: Source<'_>, counts: &[u64]) -> Result<(), ExactError> {
        let choices = self.plan.choices.clone();
        let mut stored = choices.iter().filter(|choice| choice.columns().is_some()).peekable();
        if stored.peek().is_some() && stored.all(Choice::others_in_filter) {
            return Ok(());
        }
        let filters = core::mem::take(&mut self.filters);
        self.pass(source, counts, Pass::Passing(&choices, Sieve::new(&filters)))?;
        self.filters = filters;
        Ok(self.keys.settle()?)
    }

    /// Reads all others; returns the number of keys of each group. It must be that of `counts`,
    /// unless there are none: a group without others would be stored without keys, and the set would
    /// be wrong for those that come later.
    fn pass(
        &mut self,
        source: Source<'_>,
        counts: &[u64],
        pass: Pass<'_>,
    ) -> Result<Vec<u64>, ExactError> {
        let sum = |counts: &[u64]| counts.iter().copied().fold(0, u64::saturating_add);
        let (first, progress) = (sum(counts), &mut *self.progress);
        let mut report = |done: u64| progress.report(Phase::Partitioning, done, first.max(done));
        let is_count = matches!(pass, Pass::Count);
        let mut others = OtherKeys::new(&mut self.keys, pass, self.settings.key_seed, &mut report);
        let read = source(&mut others);
        let later = others.end()?;
        read?;
        let of = |counts: &[u64], group| counts.get(group).copied().unwrap_or(0);
        let same = |group| of(&later, group) == of(counts, group);
        match is_count || (0..later.len().max(counts.len())).all(same) {
            true => Ok(later),
            false => Err(ExactError::OthersChanged { first, later: sum(&later) }),
        }
    }

    /// Corrects the groups without a filter: all their others are kept now, without duplicates and
    /// without members.
    fn correct_unfiltered(&mut self) -> Result<(), ExactError> {
        let groups = self.plan.choices.iter_mut().zip(&mut self.counts).zip(counted(&self.keys)?);
        for ((choice, counts), kept) in groups {
            if choice.columns() == Some(0) {
                *counts = kept;
                *choice = match kept.others {
                    0 => Choice::All(true),
                    others => Choice::Columns { columns: 0, inverted: others < kept.members },
                };
            }
        }
        Ok(())
    }

    /// Builds the filters of the stored keys.
    fn solve_filters(&mut self) -> Result<(), ExactError> {
        let Self { keys, settings, plan, .. } = self;
        let builder = |columns| {
            let builder = filter_of(columns, settings.effort).threads(settings.threads);
            (columns, builder.key_seed(settings.key_seed).kernel(settings.kernel))
        };
        let mut builders: Vec<_> = plan.filters().map(|(columns, _)| builder(columns)).collect();
        keys.each(|side, group, hash| {
            if let Choice::Columns { columns, inverted } = plan.choices[group]
                && inverted == (side == Side::Others)
                && let Some(filter) = builders.iter_mut().find(|filter| filter.0 == columns)
            {
                filter.1.push_hash(hash);
            }
        })?;
        for (columns, builder) in builders {
            let filter = builder.progress(|news| forward(self.progress, news)).finish()?;
            self.filters.push((columns, filter));
        }
        Ok(())
    }

    /// What follows the filters: the map, and the bytes of everything.
    fn complete(mut self) -> Result<OwnedBytes, ExactError> {
        let groups = self.groups();
        // Every group with a choice of columns has keys on both sides, so the map has keys. (The
        // builder could not tell: it is empty, too, after it has failed to allocate memory.)
        let map = match self.plan.choices.iter().any(|choice| choice.columns().is_some()) {
            true => Some(self.solve_map()?),
            false => None,
        };
        let mut stages: Vec<_> = self.filters.iter().map(|filter| filter.1.as_bytes()).collect();
        stages.extend(map.as_ref().map(Function::as_bytes));
        let rules: Vec<_> = groups.iter().map(|&(label, rule, _)| (label, rule)).collect();
        let content = Content {
            key_seed: self.settings.key_seed,
            members: self.counts.iter().map(|counts| counts.members).sum(),
            others: self.counts.iter().map(|counts| counts.others).sum(),
            // In the order of the labels, because the order of a sum changes its rounding.
            bound: lower_bound(groups.iter().map(|&(.., counts)| counts)),
            stages: &stages,
            groups: &rules,
        };
        content.write(allocate)?.ok_or(ExactError::Collision)
    }

    /// The groups that have keys: their labels, rules and counts, ascending by label.
    fn groups(&self) -> Vec<(u64, Rule, Counts)> {
        let rule = |choice: &Choice| match *choice {
            Choice::All(members) => Rule::all(members),
            Choice::Columns { columns, inverted } => {
                let filter = self.filters.iter().position(|filter| filter.0 == columns);
                Rule::stages(filter.map_or(0, |index| index + 1), inverted)
            }
        };
        let all = self.keys.groups.hashes().iter().zip(&self.plan.choices).zip(&self.counts);
        let mut groups: Vec<_> = all
            .filter(|(_, counts)| **counts != Counts::default())
            .map(|((&hash, choice), &counts)| (label(hash), rule(choice), counts))
            .collect();
        groups.sort_unstable_by_key(|&(label, ..)| label);
        groups
    }

    /// Builds the map of all stored keys and of the others that pass their filter. The keys are gone
    /// then.
    fn solve_map(&mut self) -> Result<Function, ExactError> {
        let (keys, settings) = (core::mem::take(&mut self.keys), self.settings);
        let mut builder = map_of(settings.effort).threads(settings.threads);
        builder = builder.key_seed(settings.key_seed).kernel(settings.kernel);
        let held = self.filters.iter().map(|filter| filter.1.size_in_bytes() as u64).sum::<u64>();
        if let Some(limit) = keys.limits.max_memory {
            builder = builder.max_memory(limit.saturating_sub(held));
        }
        let mut sieve = Sieve::new(&self.filters);
        self.progress.report(Phase::Partitioning, 0, 1)?;
        keys.each(|side, group, hash| {
            let Choice::Columns { columns, inverted } = self.plan.choices[group] else { return };
            if inverted == (side == Side::Others) {
                builder.push_hash(hash, 1);
            } else {
                let filter = sieve.position(columns);
                sieve.push(filter, group, hash, |_, hash| builder.push_hash(hash, 0));
            }
        })?;
        sieve.finish(|_, hash| builder.push_hash(hash, 0));
        self.progress.report(Phase::Partitioning, 1, 1)?;
        drop(keys);
        let built = builder.progress(|news| forward(self.progress, news)).finish();
        built.map_err(|error| match error {
            // Both sides of a group were compared, so the keys are of different groups.
            BuildError::Contradiction { .. } => ExactError::Collision,
            BuildError::MemoryLimit { needed, limit } => {
                BuildError::MemoryLimit { needed: needed + held, limit: limit + held }.into()
            }
            error => error.into(),
        })
    }
}

/// Passes the progress of a stage on.
fn forward(progress: &mut Reporter<'_>, news: Progress) -> ControlFlow<()> {
    match progress.report(news.phase, news.done, news.total) {
        Ok(()) => ControlFlow::Continue(()),
        Err(_) => ControlFlow::Break(()),
    }
}

/// The numbers of the keys of every group that were pushed or kept.
fn counted(keys: &Keys) -> Result<Vec<Counts>, ExactError> {
    let mut counts = vec![Counts::default(); keys.groups.hashes().len()];
    keys.each(|side, group, _| match side {
        Side::Members => counts[group].members += 1,
        Side::Others => counts[group].others += 1,
    })?;
    Ok(counts)
}

fn allocate(size: u64) -> Result<OwnedBytes, BuildError> {
    let bytes = usize::try_from(size).unwrap_or(usize::MAX);
    OwnedBytes::zeroed(bytes).map_err(|_| BuildError::OutOfMemory { bytes })
}
