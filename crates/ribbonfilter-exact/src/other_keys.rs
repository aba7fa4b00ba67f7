//! Others that are read several times instead of being kept.

use crate::group::UNNAMED;
use crate::groups::in_group;
use crate::keys::{Keys, Side};
use crate::plan::Choice;
use crate::sieve::Sieve;
use alloc::vec::Vec;
use core::fmt;
use ribbonfilter::{BuildError, Key};

/// What is done with the others while they are read.
pub(crate) enum Pass<'a> {
    /// Nothing but counting, which every pass does.
    Count,
    /// Keeps the keys of groups whose others are in a filter.
    Stored(&'a [Choice]),
    /// Keeps the keys that pass a filter, and those of groups without a filter.
    Passing(&'a [Choice], Sieve<'a>),
}

/// Keys between two progress reports.
const REPORTED: u64 = 1 << 16;
/// The maximum number of keys of one group that are taken together.
const RUN: usize = 1 << 10;

/// Takes the other keys of an [`ExactSet`](crate::ExactSet) whenever they are read: see
/// [`ExactSetBuilder::finish_with`](crate::ExactSetBuilder::finish_with).
pub struct OtherKeys<'a> {
    keys: &'a mut Keys,
    pass: Pass<'a>,
    key_seed: u64,
    /// The latest keys, which are all of one group, and the hash of the group.
    run: Vec<u64>,
    group_hash: u64,
    /// The number of keys that were taken before the run, and of these by group.
    seen: u64,
    counts: Vec<u64>,
    report: &'a mut (dyn FnMut(u64) -> Result<(), BuildError> + Send + 'a),
    failure: Option<BuildError>,
}

impl<'a> OtherKeys<'a> {
    pub(crate) fn new(
        keys: &'a mut Keys,
        pass: Pass<'a>,
        key_seed: u64,
        report: &'a mut (dyn FnMut(u64) -> Result<(), BuildError> + Send + 'a),
    ) -> Self {
        let (run, group_hash) = (Vec::with_capacity(RUN), UNNAMED);
        let (seen, counts, failure) = (0, Vec::new(), None);
        Self { keys, pass, key_seed, run, group_hash, seen, counts, report, failure }
    }

    /// Takes a key.
    ///
    /// ```
    /// use ribbonfilter_exact::ExactSet;
    ///
    /// let mut builder = ExactSet::builder();
    /// builder.push_member("ada");
    /// let set = builder.finish_with(|others| {
    ///     others.push("grace");
    ///     Ok(())
    /// })?;
    /// assert!(set.contains("ada") && !set.contains("grace"));
    /// # Ok::<(), ribbonfilter_exact::ExactError>(())
    /// ```
    #[inline]
    pub fn push(&mut self, key: impl Key) {
        self.push_hash(key.key_hash(self.key_seed));
    }

    /// Takes a key by its hash, as
    /// [`ExactSetBuilder::push_other_hash`](crate::ExactSetBuilder::push_other_hash) does.
    ///
    /// ```
    /// # use ribbonfilter_exact::ExactSet;
    /// let mut builder = ExactSet::builder();
    /// builder.push_member_hash(1);
    /// let set = builder.finish_with(|others| {
    ///     others.push_hash(2);
    ///     Ok(())
    /// })?;
    /// assert!(set.contains_hash(1) && !set.contains_hash(2));
    /// # Ok::<(), ribbonfilter_exact::ExactError>(())
    /// ```
    #[inline]
    pub fn push_hash(&mut self, key_hash: u64) {
        self.take(UNNAMED, key_hash);
    }

    /// Takes a key of a group.
    ///
    /// ```
    /// # use ribbonfilter_exact::ExactSet;
    /// let mut builder = ExactSet::builder();
    /// builder.push_member_in("poets", "ada");
    /// let set = builder.finish_with(|others| {
    ///     others.push_in("poets", "grace");
    ///     Ok(())
    /// })?;
    /// assert!(set.contains_in("poets", "ada").is_member());
    /// # Ok::<(), ribbonfilter_exact::ExactError>(())
    /// ```
    #[inline]
    pub fn push_in(&mut self, group: impl Key, key: impl Key) {
        self.take(group.key_hash(self.key_seed), key.key_hash(self.key_seed));
    }

    /// Takes a key of a group by the hashes of both, as
    /// [`ExactSetBuilder::push_other_hash_in`](crate::ExactSetBuilder::push_other_hash_in) does.
    ///
    /// ```
    /// # use ribbonfilter_exact::ExactSet;
    /// let mut builder = ExactSet::builder();
    /// builder.push_member_hash_in(7, 1);
    /// let set = builder.finish_with(|others| {
    ///     others.push_hash_in(7, 2);
    ///     Ok(())
    /// })?;
    /// assert!(set.contains_hash_in_group(7, 1).is_member());
    /// # Ok::<(), ribbonfilter_exact::ExactError>(())
    /// ```
    #[inline]
    pub fn push_hash_in(&mut self, group_hash: u64, key_hash: u64) {
        self.take(group_hash, key_hash);
    }

    /// Whether the build has failed or was cancelled: further keys are of no use.
    ///
    /// ```
    /// # use ribbonfilter_exact::ExactSet;
    /// ExactSet::builder().finish_with(|others| {
    ///     assert!(!others.is_stopped());
    ///     Ok(())
    /// })?;
    /// # Ok::<(), ribbonfilter_exact::ExactError>(())
    /// ```
    pub fn is_stopped(&self) -> bool {
        self.failure.is_some()
    }

    #[inline]
    fn take(&mut self, group_hash: u64, key_hash: u64) {
        if group_hash != self.group_hash || self.run.len() == RUN {
            self.take_run();
            self.group_hash = group_hash;
        }
        self.run.push(key_hash);
    }

    /// Processes the latest keys.
    #[inline(never)]
    fn take_run(&mut self) {
        let Self { keys, pass, run, group_hash, counts, failure, .. } = self;
        if run.is_empty() || failure.is_some() {
            return run.clear();
        }
        let group = keys.groups.number(*group_hash);
        counts.resize(counts.len().max(group + 1), 0);
        counts[group] += run.len() as u64;
        let hashes = run.iter().map(|&key_hash| in_group(*group_hash, key_hash));
        match pass {
            Pass::Count => {}
            Pass::Stored(choices) => {
                if choices.get(group).is_some_and(Choice::others_in_filter) {
                    hashes.for_each(|hash| keep(keys, failure, group, hash));
                }
            }
            Pass::Passing(choices, sieve) => {
                let choice = choices.get(group).filter(|choice| !choice.others_in_filter());
                if let Some(columns) = choice.and_then(Choice::columns) {
                    let filter = sieve.position(columns);
                    for hash in hashes {
                        sieve.push(filter, group, hash, |group, hash| {
                            keep(keys, failure, group, hash);
                        });
                    }
                }
            }
        }
        self.count_run();
    }

    /// Counts the latest keys, and reports progress now and then.
    fn count_run(&mut self) {
        let before = self.seen;
        self.seen += self.run.len() as u64;
        self.run.clear();
        if before == 0 || before / REPORTED < self.seen / REPORTED {
            let reported = (self.report)(self.seen);
            note(&mut self.failure, reported);
        }
    }

    /// Ends the pass; returns the number of keys of each group.
    pub(crate) fn end(mut self) -> Result<Vec<u64>, BuildError> {
        self.take_run();
        if let Pass::Passing(_, sieve) = &mut self.pass {
            let (keys, failure) = (&mut *self.keys, &mut self.failure);
            sieve.finish(|group, hash| keep(keys, failure, group, hash));
        }
        match self.failure {
            Some(failure) => Err(failure),
            None => Ok(self.counts),
        }
    }
}

/// Keeps a key, unless an earlier one could not be kept.
fn keep(keys: &mut Keys, failure: &mut Option<BuildError>, group: usize, hash: u64) {
    if failure.is_none() {
        note(failure, keys.keep(Side::Others, group, hash));
    }
}

fn note(failure: &mut Option<BuildError>, done: Result<(), BuildError>) {
    if let Err(error) = done {
        failure.get_or_insert(error);
    }
}

impl fmt::Debug for OtherKeys<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OtherKeys").field("seen", &self.seen).finish_non_exhaustive()
    }
}
