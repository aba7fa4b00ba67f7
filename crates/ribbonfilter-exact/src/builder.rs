//! Takes members, others and settings, and builds an exact set.

use crate::construct::{self, Settings};
use crate::group::UNNAMED;
use crate::keys::{Keys, Side};
use crate::plan::Counts;
use crate::{ExactError, ExactPlan, ExactSet, OtherKeys};
use alloc::vec::Vec;
use core::fmt;
use core::ops::ControlFlow;
use ribbonfilter::internals::Reporter;
use ribbonfilter::{BuildError, BuildOptions, Effort, Kernel, Key, OwnedBytes, Progress};

/// Collects members, other keys and settings and builds an [`ExactSet`].
///
/// Members and others together are the *universe*: the set is exact for these keys, and for no
/// others. A key is kept as 8 bytes, in a named group as 16. Many more others than members need
/// not be kept: see [`build_with`](Self::build_with) and [`finish_with`](Self::finish_with).
///
/// ```
/// use ribbonfilter_exact::ExactSet;
///
/// let mut builder = ExactSet::builder();
/// builder.extend_members(["serial-17", "serial-99"]);
/// builder.extend_others((100..1000).map(|number| format!("serial-{number}")));
/// let revoked = builder.finish()?;
/// assert!(revoked.contains("serial-17") && !revoked.contains("serial-100"));
/// # Ok::<(), ribbonfilter_exact::ExactError>(())
/// ```
///
/// The bytes are a function of the two sets of keys, their groups and the settings.
/// The order of the keys does not matter, nor do duplicates on one side.
pub struct ExactSetBuilder<'p> {
    keys: Keys,
    settings: Settings,
    progress: Reporter<'p>,
    /// The first failure while keys were pushed, reported by `finish`.
    failure: Option<BuildError>,
}

impl ExactSetBuilder<'static> {
    pub(crate) fn new() -> Self {
        Self {
            keys: Keys::default(),
            settings: Settings {
                effort: Effort::default(),
                threads: 1,
                kernel: Kernel::best(),
                key_seed: 0,
            },
            progress: Reporter::default(),
            failure: None,
        }
    }
}

/// Settings.
impl<'p> ExactSetBuilder<'p> {
    /// Sets all options that builders have in common. Variant, width and overhead are ignored: they
    /// are chosen for each stage. It must precede the first key if it changes the seed of the keys,
    /// as [`key_seed`](Self::key_seed) must.
    #[must_use]
    pub fn options(mut self, options: BuildOptions) -> Self {
        if options.key_seed != self.settings.key_seed {
            self = self.key_seed(options.key_seed);
        }
        (self.settings.effort, self.settings.threads) = (options.effort, options.threads);
        self.keys.limits.max_memory = options.max_memory;
        #[cfg(feature = "std")]
        {
            self.keys.limits.directory = options.spill_to;
        }
        self
    }

    /// How much time the build may take for a smaller set.
    ///
    /// ```
    /// use ribbonfilter_exact::{Effort, ExactSet};
    ///
    /// let normal = ExactSet::builder().plan_for(10_000, 9_990_000)?;
    /// let thorough = ExactSet::builder().effort(Effort::Thorough).plan_for(10_000, 9_990_000)?;
    /// assert!(thorough.expected_size() < normal.expected_size());
    /// # Ok::<(), ribbonfilter_exact::ExactError>(())
    /// ```
    #[must_use]
    pub fn effort(mut self, effort: Effort) -> Self {
        self.settings.effort = effort;
        self
    }

    /// Builds on this number of threads, by default one; 0 stands for all that the system offers.
    /// Without the feature `parallel` it is always one. The bytes are the same for any number.
    ///
    /// ```
    /// use ribbonfilter_exact::ExactSet;
    ///
    /// let build = |threads| {
    ///     let mut builder = ExactSet::builder().threads(threads);
    ///     builder.extend_members(0..20_000);
    ///     builder.extend_others(20_000..200_000);
    ///     builder.finish()
    /// };
    /// assert_eq!(build(1)?.as_bytes(), build(3)?.as_bytes());
    /// # Ok::<(), ribbonfilter_exact::ExactError>(())
    /// ```
    #[must_use]
    pub fn threads(mut self, threads: usize) -> Self {
        self.settings.threads = threads;
        self
    }

    /// Takes no more memory than this for the build, pushed keys and the set included, or refuses
    /// as soon as the keys are counted. With `spill_to`, pushed keys go to disk instead. The stored
    /// keys and those that pass the first stage are always in memory, with 32 bytes each.
    ///
    /// ```
    /// use ribbonfilter_exact::{BuildError, ExactError, ExactSet};
    ///
    /// let mut builder = ExactSet::builder().max_memory(10_000);
    /// builder.extend_others(0..10_000);
    /// builder.push_member(10_000);
    /// assert!(matches!(builder.finish(), Err(ExactError::Build(BuildError::MemoryLimit { .. }))));
    /// ```
    #[must_use]
    pub fn max_memory(mut self, bytes: u64) -> Self {
        self.keys.limits.max_memory = Some(bytes);
        self
    }

    /// Lets pushed keys beyond [`max_memory`](Self::max_memory) go to temporary files in this
    /// directory: 8 bytes per key, 16 in named groups. The bytes are the same.
    /// Without `max_memory` nothing is spilled. Both should be set before the first key.
    ///
    /// The files have no names and are gone with the builder. If one cannot be written,
    /// [`finish`](Self::finish) returns the error.
    ///
    /// ```
    /// use ribbonfilter_exact::ExactSet;
    ///
    /// let build = |builder: ribbonfilter_exact::ExactSetBuilder<'static>| {
    ///     let mut builder = builder;
    ///     builder.extend_members(0..1000);
    ///     builder.extend_others(1000..300_000);
    ///     builder.finish()
    /// };
    /// let spilling = ExactSet::builder().max_memory(1 << 20).spill_to(std::env::temp_dir());
    /// assert_eq!(build(spilling)?.as_bytes(), build(ExactSet::builder())?.as_bytes());
    /// # Ok::<(), ribbonfilter_exact::ExactError>(())
    /// ```
    #[cfg(feature = "std")]
    #[must_use]
    pub fn spill_to(mut self, directory: impl Into<std::path::PathBuf>) -> Self {
        self.keys.limits.directory = Some(directory.into());
        self
    }

    /// Calls back while the set is built; the callback can stop the build. The phases repeat for
    /// every stage.
    ///
    /// ```
    /// use core::ops::ControlFlow;
    /// use ribbonfilter_exact::ExactSet;
    ///
    /// let mut calls = 0;
    /// let mut builder = ExactSet::builder().progress(|_| {
    ///     calls += 1;
    ///     ControlFlow::Continue(())
    /// });
    /// builder.push_member("ada");
    /// builder.push_other("grace");
    /// builder.finish()?;
    /// assert!(calls > 0);
    /// # Ok::<(), ribbonfilter_exact::ExactError>(())
    /// ```
    #[must_use]
    pub fn progress<'q>(
        self,
        callback: impl FnMut(Progress) -> ControlFlow<()> + Send + 'q,
    ) -> ExactSetBuilder<'q> {
        ExactSetBuilder {
            keys: self.keys,
            settings: self.settings,
            progress: Reporter::new(callback),
            failure: self.failure,
        }
    }

    /// Hashes keys and groups under this seed, which the set keeps. It must be set before the first
    /// key; after that it makes [`finish`](Self::finish) fail.
    ///
    /// ```
    /// use ribbonfilter_exact::ExactSet;
    ///
    /// let mut builder = ExactSet::builder().key_seed(0x5eed);
    /// builder.push_member("ada");
    /// builder.push_other("grace");
    /// assert!(builder.finish()?.contains("ada"));
    /// # Ok::<(), ribbonfilter_exact::ExactError>(())
    /// ```
    #[must_use]
    pub fn key_seed(mut self, key_seed: u64) -> Self {
        if !self.is_empty() || !self.keys.expected.is_empty() {
            self.failure.get_or_insert(BuildError::TooLate { setting: "key_seed" });
        }
        self.settings.key_seed = key_seed;
        self
    }

    /// Lets the others include members, which then count as members: so the others may be the whole
    /// universe. Otherwise a key on both sides is an error.
    ///
    /// ```
    /// use ribbonfilter_exact::ExactSet;
    ///
    /// let mut builder = ExactSet::builder().others_include_members(true);
    /// builder.push_member(17);
    /// builder.extend_others(0..1000);
    /// let set = builder.finish()?;
    /// assert_eq!((set.len(), set.universe_len()), (1, 1000));
    /// assert!(set.contains(17) && !set.contains(18));
    /// # Ok::<(), ribbonfilter_exact::ExactError>(())
    /// ```
    #[must_use]
    pub fn others_include_members(mut self, include: bool) -> Self {
        self.keys.overlap = include;
        self
    }

    /// Builds with another kernel, for tests and benchmarks.
    #[cfg(feature = "internals")]
    #[must_use]
    pub fn kernel(mut self, kernel: Kernel) -> Self {
        self.settings.kernel = kernel;
        self
    }
}

/// Keys.
impl ExactSetBuilder<'_> {
    /// Adds a member.
    ///
    /// ```
    /// let mut builder = ribbonfilter_exact::ExactSet::builder();
    /// builder.push_member("ada");
    /// assert_eq!((builder.members(), builder.others()), (1, 0));
    /// ```
    #[inline]
    pub fn push_member(&mut self, key: impl Key) {
        self.push_member_hash(key.key_hash(self.settings.key_seed));
    }

    /// Adds a key that is not a member.
    ///
    /// ```
    /// let mut builder = ribbonfilter_exact::ExactSet::builder();
    /// builder.push_other("grace");
    /// assert_eq!((builder.members(), builder.others()), (0, 1));
    /// ```
    #[inline]
    pub fn push_other(&mut self, key: impl Key) {
        self.push_other_hash(key.key_hash(self.settings.key_seed));
    }

    /// Adds a member by a 64-bit hash of the caller's, to be queried by
    /// [`ExactSet::contains_hash`]. Any hash that is different for different keys will do.
    ///
    /// ```
    /// let mut builder = ribbonfilter_exact::ExactSet::builder();
    /// builder.push_member_hash(17);
    /// builder.push_other_hash(18);
    /// assert!(builder.finish()?.contains_hash(17));
    /// # Ok::<(), ribbonfilter_exact::ExactError>(())
    /// ```
    #[inline]
    pub fn push_member_hash(&mut self, key_hash: u64) {
        self.push_to(Side::Members, UNNAMED, key_hash);
    }

    /// Adds a key that is not a member by its hash, as
    /// [`push_member_hash`](Self::push_member_hash) does.
    ///
    /// ```
    /// let mut builder = ribbonfilter_exact::ExactSet::builder();
    /// builder.push_member_hash(17);
    /// builder.push_other_hash(18);
    /// assert!(!builder.finish()?.contains_hash(18));
    /// # Ok::<(), ribbonfilter_exact::ExactError>(())
    /// ```
    #[inline]
    pub fn push_other_hash(&mut self, key_hash: u64) {
        self.push_to(Side::Others, UNNAMED, key_hash);
    }

    /// Adds a member of a group. The same key in another group is another key.
    ///
    /// ```
    /// let mut builder = ribbonfilter_exact::ExactSet::builder();
    /// builder.push_member_in("issuer", 17);
    /// builder.push_other_in("another issuer", 17);
    /// let set = builder.finish()?;
    /// assert!(set.contains_in("issuer", 17).is_member());
    /// assert!(!set.contains_in("another issuer", 17).is_member());
    /// # Ok::<(), ribbonfilter_exact::ExactError>(())
    /// ```
    #[inline]
    pub fn push_member_in(&mut self, group: impl Key, key: impl Key) {
        let key_seed = self.settings.key_seed;
        self.push_to(Side::Members, group.key_hash(key_seed), key.key_hash(key_seed));
    }

    /// Adds a key of a group that is not a member.
    ///
    /// ```
    /// use ribbonfilter_exact::{ExactSet, Membership};
    ///
    /// let mut builder = ExactSet::builder();
    /// builder.push_other_in("issuer", 17);
    /// assert_eq!(builder.finish()?.contains_in("issuer", 17), Membership::NotMember);
    /// # Ok::<(), ribbonfilter_exact::ExactError>(())
    /// ```
    #[inline]
    pub fn push_other_in(&mut self, group: impl Key, key: impl Key) {
        let key_seed = self.settings.key_seed;
        self.push_to(Side::Others, group.key_hash(key_seed), key.key_hash(key_seed));
    }

    /// Adds a member of a group by the hashes of both, to be queried by
    /// [`ExactSet::contains_hash_in_group`]. The hash 0 stands for the group without a name.
    ///
    /// ```
    /// let mut builder = ribbonfilter_exact::ExactSet::builder();
    /// builder.push_member_hash_in(1, 17);
    /// assert!(builder.finish()?.contains_hash_in_group(1, 17).is_member());
    /// # Ok::<(), ribbonfilter_exact::ExactError>(())
    /// ```
    #[inline]
    pub fn push_member_hash_in(&mut self, group_hash: u64, key_hash: u64) {
        self.push_to(Side::Members, group_hash, key_hash);
    }

    /// Adds a key of a group that is not a member by the hashes of both, as
    /// [`push_member_hash_in`](Self::push_member_hash_in) does.
    ///
    /// ```
    /// let mut builder = ribbonfilter_exact::ExactSet::builder();
    /// builder.push_other_hash_in(1, 17);
    /// assert!(!builder.finish()?.contains_hash_in_group(1, 17).is_member());
    /// # Ok::<(), ribbonfilter_exact::ExactError>(())
    /// ```
    #[inline]
    pub fn push_other_hash_in(&mut self, group_hash: u64, key_hash: u64) {
        self.push_to(Side::Others, group_hash, key_hash);
    }

    /// Adds many members.
    ///
    /// ```
    /// let mut builder = ribbonfilter_exact::ExactSet::builder();
    /// builder.extend_members(["ada", "grace"]);
    /// assert_eq!(builder.members(), 2);
    /// ```
    pub fn extend_members(&mut self, keys: impl IntoIterator<Item: Key>) {
        keys.into_iter().for_each(|key| self.push_member(key));
    }

    /// Adds many keys that are not members.
    ///
    /// ```
    /// let mut builder = ribbonfilter_exact::ExactSet::builder();
    /// builder.extend_others(0..1000);
    /// assert_eq!(builder.others(), 1000);
    /// ```
    pub fn extend_others(&mut self, keys: impl IntoIterator<Item: Key>) {
        keys.into_iter().for_each(|key| self.push_other(key));
    }

    /// Adds many members by hashes of the caller's.
    ///
    /// ```
    /// let mut builder = ribbonfilter_exact::ExactSet::builder();
    /// builder.extend_member_hashes([1, 2, 3]);
    /// assert_eq!(builder.members(), 3);
    /// ```
    pub fn extend_member_hashes(&mut self, key_hashes: impl IntoIterator<Item = u64>) {
        key_hashes.into_iter().for_each(|key_hash| self.push_member_hash(key_hash));
    }

    /// Adds many keys that are not members by hashes of the caller's.
    ///
    /// ```
    /// let mut builder = ribbonfilter_exact::ExactSet::builder();
    /// builder.extend_other_hashes([1, 2, 3]);
    /// assert_eq!(builder.others(), 3);
    /// ```
    pub fn extend_other_hashes(&mut self, key_hashes: impl IntoIterator<Item = u64>) {
        key_hashes.into_iter().for_each(|key_hash| self.push_other_hash(key_hash));
    }

    /// Adds many members of one group.
    ///
    /// ```
    /// let mut builder = ribbonfilter_exact::ExactSet::builder();
    /// builder.extend_members_in("issuer", 0..10);
    /// assert_eq!(builder.members(), 10);
    /// ```
    pub fn extend_members_in(&mut self, group: impl Key, keys: impl IntoIterator<Item: Key>) {
        let key_seed = self.settings.key_seed;
        let group_hash = group.key_hash(key_seed);
        keys.into_iter()
            .for_each(|key| self.push_member_hash_in(group_hash, key.key_hash(key_seed)));
    }

    /// Adds many keys of one group that are not members.
    ///
    /// ```
    /// let mut builder = ribbonfilter_exact::ExactSet::builder();
    /// builder.extend_others_in("issuer", 10..1000);
    /// assert_eq!(builder.others(), 990);
    /// ```
    pub fn extend_others_in(&mut self, group: impl Key, keys: impl IntoIterator<Item: Key>) {
        let key_seed = self.settings.key_seed;
        let group_hash = group.key_hash(key_seed);
        keys.into_iter()
            .for_each(|key| self.push_other_hash_in(group_hash, key.key_hash(key_seed)));
    }

    /// Notes the number of others that [`finish_with`](Self::finish_with) will read, duplicates
    /// included. If the numbers of all groups are given, they need not be counted, so the others are
    /// read once less. A number that turns out to be wrong is an error.
    ///
    /// ```
    /// use ribbonfilter_exact::{ExactError, ExactSet};
    ///
    /// let build = |expected| {
    ///     let mut builder = ExactSet::builder();
    ///     builder.expect_others(expected);
    ///     builder.build_with(0..10, || 10..1000)
    /// };
    /// assert!(build(990)?.contains(7));
    /// assert!(matches!(build(991), Err(ExactError::OthersChanged { first: 991, later: 990 })));
    /// # Ok::<(), ribbonfilter_exact::ExactError>(())
    /// ```
    pub fn expect_others(&mut self, count: u64) {
        self.keys.expect_others(UNNAMED, count);
    }

    /// [`expect_others`](Self::expect_others) for the others of a group.
    ///
    /// ```
    /// let mut builder = ribbonfilter_exact::ExactSet::builder();
    /// builder.expect_others_in("issuer", 2);
    /// let set = builder.build_with_groups([("issuer", 1)], || [("issuer", 2), ("issuer", 3)])?;
    /// assert!(set.contains_in("issuer", 1).is_member());
    /// # Ok::<(), ribbonfilter_exact::ExactError>(())
    /// ```
    pub fn expect_others_in(&mut self, group: impl Key, count: u64) {
        self.expect_others_hash_in(group.key_hash(self.settings.key_seed), count);
    }

    /// [`expect_others_in`](Self::expect_others_in) for the hash of a group.
    ///
    /// ```
    /// let mut builder = ribbonfilter_exact::ExactSet::builder();
    /// builder.push_member_hash_in(7, 1);
    /// builder.expect_others_hash_in(7, 1);
    /// let set = builder.finish_with(|others| {
    ///     others.push_hash_in(7, 2);
    ///     Ok(())
    /// })?;
    /// assert!(set.contains_hash_in_group(7, 1).is_member());
    /// # Ok::<(), ribbonfilter_exact::ExactError>(())
    /// ```
    pub fn expect_others_hash_in(&mut self, group_hash: u64, count: u64) {
        self.keys.expect_others(group_hash, count);
    }

    #[inline]
    fn push_to(&mut self, side: Side, group_hash: u64, key_hash: u64) {
        if self.failure.is_none()
            && let Err(failure) = self.keys.push(side, group_hash, key_hash)
        {
            self.failure = Some(failure);
        }
    }

    /// The number of members added so far, duplicates included.
    ///
    /// ```
    /// assert_eq!(ribbonfilter_exact::ExactSet::builder().members(), 0);
    /// ```
    pub fn members(&self) -> u64 {
        self.keys.members
    }

    /// The number of other keys added so far, duplicates included.
    ///
    /// ```
    /// assert_eq!(ribbonfilter_exact::ExactSet::builder().others(), 0);
    /// ```
    pub fn others(&self) -> u64 {
        self.keys.others
    }

    /// Whether no key was added yet.
    ///
    /// ```
    /// assert!(ribbonfilter_exact::ExactSet::builder().is_empty());
    /// ```
    pub fn is_empty(&self) -> bool {
        self.members() + self.others() == 0
    }
}

/// Plans and builds.
impl ExactSetBuilder<'_> {
    /// The plan for these numbers of distinct keys, in one group.
    ///
    /// ```
    /// let plan = ribbonfilter_exact::ExactSet::builder().plan_for(10_000_000, 990_000_000)?;
    /// assert!(plan.bits_per_member() < 8.6);
    /// # Ok::<(), ribbonfilter_exact::ExactError>(())
    /// ```
    ///
    /// # Errors
    /// If there are more keys than the format can hold.
    pub fn plan_for(&self, members: u64, others: u64) -> Result<ExactPlan, ExactError> {
        self.plan_for_groups([(members, others)])
    }

    /// The plan for groups with these numbers of members and others.
    ///
    /// ```
    /// let groups = (0..800).map(|group| (10 * group, 100_000));
    /// let plan = ribbonfilter_exact::ExactSet::builder().plan_for_groups(groups)?;
    /// assert!((plan.expected_size() * 8) as f64 <= 1.09 * plan.lower_bound_bits());
    /// # Ok::<(), ribbonfilter_exact::ExactError>(())
    /// ```
    ///
    /// # Errors
    /// If there are more keys than the format can hold.
    pub fn plan_for_groups(
        &self,
        groups: impl IntoIterator<Item = (u64, u64)>,
    ) -> Result<ExactPlan, ExactError> {
        let counts = groups.into_iter().map(|(members, others)| Counts { members, others });
        let counts: Vec<_> = counts.collect();
        ExactPlan::of(&counts, self.settings.effort, self.settings.threads)
    }

    /// Builds the set.
    ///
    /// ```
    /// use ribbonfilter_exact::{ExactError, ExactSet};
    ///
    /// let mut builder = ExactSet::builder();
    /// builder.push_member("ada");
    /// builder.extend_others(["grace", "ada"]);
    /// assert!(matches!(builder.finish(), Err(ExactError::BothSides { .. })));
    /// ```
    ///
    /// # Errors
    /// [`BothSides`](ExactError::BothSides) if a key is a member and not one, or if a member and
    /// another key have the same 64-bit hash: the probability of that is 0.05 % for 10^7 members
    /// and 10^9 others, and another [`key_seed`](Self::key_seed) avoids it;
    /// [`Collision`](ExactError::Collision) if the two keys are of different groups, or only their
    /// mixed hashes are the same. Also if memory
    /// runs out, if keys cannot be spilled, if the progress callback cancels, or if the key hashes
    /// are so far from random that no system of reasonable size is solvable.
    pub fn finish(self) -> Result<ExactSet, ExactError> {
        opened(self.build()?.0)
    }

    /// Builds the set and writes its bytes; returns how many.
    ///
    /// ```
    /// use ribbonfilter_exact::ExactSet;
    ///
    /// let mut builder = ExactSet::builder();
    /// builder.push_member("ada");
    /// builder.push_other("grace");
    /// let mut bytes = Vec::new();
    /// builder.finish_to(&mut bytes)?;
    /// assert!(ExactSet::open(bytes)?.contains("ada"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`finish`](Self::finish), or if writing fails.
    #[cfg(feature = "std")]
    pub fn finish_to(self, writer: impl std::io::Write) -> Result<u64, ExactError> {
        let (bytes, mut progress) = self.build()?;
        Ok(progress.write(bytes.as_ref(), writer)?)
    }

    /// Builds the set of the members added so far and of others that are not kept: `others` passes
    /// them on, and is called one to three times. Only those that pass the first stage are kept,
    /// about as many as there are members. Others that were added before count, too.
    ///
    /// It must pass the same keys every time, in any order. The first call counts them, unless their
    /// numbers were [given](Self::expect_others). If some group has fewer others than members, the
    /// next call collects these. The last call finds those that pass the first stage, unless all
    /// others are stored already.
    ///
    /// The bytes are those of [`finish`](Self::finish), unless there are duplicates among the
    /// others, or members. Duplicates are counted here: the set is exact then, too, but may have a
    /// column more, and [`universe_len`](ExactSet::universe_len) counts them. With
    /// [`others_include_members`](Self::others_include_members), all members are assumed to be
    /// among the others when these are counted. Of a group with fewer others than members, or
    /// without a filter, both are corrected when its others are read again.
    ///
    /// ```
    /// use ribbonfilter_exact::ExactSet;
    /// use std::io::{BufRead, BufReader};
    /// # let file = std::env::temp_dir().join(format!("ribbon-others-{}", std::process::id()));
    /// # std::fs::write(&file, "grace\nedsger\n")?;
    ///
    /// let mut builder = ExactSet::builder();
    /// builder.push_member("ada");
    /// let set = builder.finish_with(|others| {
    ///     for line in BufReader::new(std::fs::File::open(&file)?).lines() {
    ///         others.push(line?);
    ///     }
    ///     Ok(())
    /// })?;
    /// assert!(set.contains("ada") && !set.contains("grace"));
    /// # std::fs::remove_file(&file)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`finish`](Self::finish), if `others` returns an error, or
    /// [`OthersChanged`](ExactError::OthersChanged) if the number of those of a group is not the same
    /// every time.
    pub fn finish_with(
        mut self,
        mut others: impl FnMut(&mut OtherKeys<'_>) -> Result<(), ExactError>,
    ) -> Result<ExactSet, ExactError> {
        if let Some(failure) = self.failure {
            return Err(failure.into());
        }
        let (settings, progress) = (self.settings, &mut self.progress);
        opened(construct::build_with(self.keys, &mut others, settings, progress)?)
    }

    /// [`finish_with`](Self::finish_with) for members and others that are iterators.
    ///
    /// ```
    /// use ribbonfilter_exact::ExactSet;
    ///
    /// let set = ExactSet::builder().build_with([17, 99], || (100..100_000))?;
    /// assert!(set.contains(17) && !set.contains(4711));
    /// # Ok::<(), ribbonfilter_exact::ExactError>(())
    /// ```
    ///
    /// # Errors
    /// As [`finish_with`](Self::finish_with).
    pub fn build_with<O: IntoIterator<Item: Key>>(
        mut self,
        members: impl IntoIterator<Item: Key>,
        mut others: impl FnMut() -> O,
    ) -> Result<ExactSet, ExactError> {
        self.extend_members(members);
        self.finish_with(|keys| {
            for key in others() {
                if keys.is_stopped() {
                    break;
                }
                keys.push(key);
            }
            Ok(())
        })
    }

    /// [`build_with`](Self::build_with) for pairs of a group and a key.
    ///
    /// ```
    /// use ribbonfilter_exact::{ExactSet, Membership};
    ///
    /// let members = [("issuer", 17)];
    /// let others = || (100..1000).map(|key| ("issuer", key));
    /// let set = ExactSet::builder().build_with_groups(members, others)?;
    /// assert_eq!(set.contains_in("issuer", 17), Membership::Member);
    /// assert_eq!(set.contains_in("issuer", 170), Membership::NotMember);
    /// assert_eq!(set.contains_in("nobody", 17), Membership::UnknownGroup);
    /// # Ok::<(), ribbonfilter_exact::ExactError>(())
    /// ```
    ///
    /// # Errors
    /// As [`finish_with`](Self::finish_with).
    pub fn build_with_groups<O: IntoIterator<Item = (impl Key, impl Key)>>(
        mut self,
        members: impl IntoIterator<Item = (impl Key, impl Key)>,
        mut others: impl FnMut() -> O,
    ) -> Result<ExactSet, ExactError> {
        members.into_iter().for_each(|(group, key)| self.push_member_in(group, key));
        self.finish_with(|keys| {
            for (group, key) in others() {
                if keys.is_stopped() {
                    break;
                }
                keys.push_in(group, key);
            }
            Ok(())
        })
    }
}

impl<'p> ExactSetBuilder<'p> {
    fn build(mut self) -> Result<(OwnedBytes, Reporter<'p>), ExactError> {
        if let Some(failure) = self.failure {
            return Err(failure.into());
        }
        let bytes = construct::build(self.keys, self.settings, &mut self.progress)?;
        Ok((bytes, self.progress))
    }
}

fn opened(bytes: OwnedBytes) -> Result<ExactSet, ExactError> {
    Ok(ExactSet::open(bytes).expect("what was built can be opened"))
}

impl fmt::Debug for ExactSetBuilder<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ExactSetBuilder")
            .field("settings", &self.settings)
            .field("members", &self.members())
            .field("others", &self.others())
            .finish_non_exhaustive()
    }
}
