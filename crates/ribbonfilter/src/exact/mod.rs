//! Exact sets: no false positive within a known universe.
//!
//! A filter of the members has false positives, but if all keys that will ever be queried are
//! known, so are these. A function of one bit per key distinguishes them from the members. Both together
//! are exact for every key of the universe.
//!
//! ```text
//!                 no                                 0
//! key --> filter -----> not a member      function -----> not a member
//!           |  yes                            |  1
//!           +---------------------------------+-----> member
//! ```
//!
//! If there are fewer others than members, the filter has the others, and the result is inverted.
//! Groups differ in their fraction of members, and so in the best number of columns of the filter:
//! all groups of the same number share a filter, and all groups share the function.

#[cfg(any(test, feature = "build"))]
mod bound;
#[cfg(any(test, feature = "build"))]
mod builder;
#[cfg(any(test, feature = "build"))]
mod construct;
mod group;
#[cfg(any(test, feature = "build"))]
mod keys;
#[cfg(any(test, feature = "build"))]
mod other_keys;
#[cfg(any(test, feature = "build"))]
mod plan;

#[cfg(any(test, feature = "build"))]
pub use builder::ExactSetBuilder;
#[cfg(any(test, feature = "build"))]
pub use other_keys::OtherKeys;
#[cfg(any(test, feature = "build"))]
pub use plan::ExactPlan;

use crate::Key;
#[cfg(any(test, feature = "build"))]
use crate::error::BuildError;
use crate::error::OpenError;
use crate::format::exact::{self, Exact, Rule};
use crate::format::{Content, Footer};
use crate::kernel::Kernel;
use crate::query::{BATCH, Path, Stages, in_hashes};
use crate::storage::bytes::OwnedBytes;
use crate::storage::over_bytes::over_bytes;
use alloc::vec;
use alloc::vec::Vec;
use core::fmt;
use group::{UNNAMED, label};

/// A static set that answers "is this key in it?" exactly, for every key of a known universe.
///
/// The universe is given when the set is built: its *members*, and all *others*. Both are hashed,
/// and only little of them is stored: about 8.6 bits per member if one key in a hundred is a
/// member. The set *is* its bytes, as a [`Filter`](crate::Filter) is.
///
/// ```
/// use ribbonfilter::ExactSet;
///
/// let issued = 0..100_000;
/// let is_revoked = |serial: &u32| serial % 100 == 17;
/// let (members, others): (Vec<u32>, Vec<u32>) = issued.clone().partition(is_revoked);
/// let revoked = ExactSet::build(members, others)?;
/// assert!(issued.into_iter().all(|serial| revoked.contains(serial) == is_revoked(&serial)));
/// # Ok::<(), ribbonfilter::BuildError>(())
/// ```
///
/// # Keys outside the universe
///
/// **A key that was neither a member nor another key gets an arbitrary result.** It is a member by
/// mistake as often as [`expected_rate`](Self::expected_rate) says, and nothing can show that.
/// Query only keys that were in the universe when the set was built, or accept such mistakes.
///
/// # Groups
///
/// A key may belong to a group, such as the issuer of a certificate: see
/// [`push_member_in`](ExactSetBuilder::push_member_in) and [`contains_in`](Self::contains_in).
/// What identifies a key is then the group *and* the key. Each group is stored in the way that is
/// best for its own fraction of members, and one without members, or without others, takes
/// 4.2 bytes.
/// Keys without a group belong to the unnamed group, which is a group like any other.
///
/// A foreign `AsRef` that later returns bytes of another length than it was opened with can no
/// longer be queried; the results are then arbitrary.
#[derive(Clone)]
pub struct ExactSet<D = OwnedBytes> {
    data: D,
    exact: Exact,
    stages: Stages,
    /// The rule of the unnamed group. If it has no keys, none is a member.
    unnamed: Rule,
    /// The bytes that `data` had when it was opened.
    len: usize,
}

/// The result of a query in a group.
///
/// ```
/// use ribbonfilter::{ExactSet, Membership};
///
/// let mut builder = ExactSet::builder();
/// builder.push_member_in("issuer", 17);
/// builder.push_other_in("issuer", 18);
/// let set = builder.finish()?;
/// assert_eq!(set.contains_in("issuer", 17), Membership::Member);
/// assert_eq!(set.contains_in("issuer", 18), Membership::NotMember);
/// assert_eq!(set.contains_in("nobody", 17), Membership::UnknownGroup);
/// # Ok::<(), ribbonfilter::BuildError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Membership {
    /// The key is a member.
    Member,
    /// The key is not a member.
    NotMember,
    /// The universe has no key of this group: nothing is known of the key.
    UnknownGroup,
}

impl Membership {
    /// Whether the key is a member.
    ///
    /// ```
    /// use ribbonfilter::Membership;
    ///
    /// assert!(Membership::Member.is_member());
    /// assert!(!Membership::UnknownGroup.is_member());
    /// ```
    #[inline]
    pub fn is_member(self) -> bool {
        self == Self::Member
    }
}

impl From<bool> for Membership {
    #[inline]
    fn from(is_member: bool) -> Self {
        if is_member { Self::Member } else { Self::NotMember }
    }
}

#[cfg(any(test, feature = "build"))]
impl ExactSet {
    /// Builds a set that is exact for all keys of both sides.
    ///
    /// ```
    /// use ribbonfilter::ExactSet;
    ///
    /// let primes = ExactSet::build([2, 3, 5, 7], [0, 1, 4, 6, 8, 9])?;
    /// assert!(primes.contains(7) && !primes.contains(9));
    /// # Ok::<(), ribbonfilter::BuildError>(())
    /// ```
    ///
    /// # Errors
    /// See [`ExactSetBuilder::finish`].
    pub fn build(
        members: impl IntoIterator<Item: Key>,
        others: impl IntoIterator<Item: Key>,
    ) -> Result<Self, BuildError> {
        let mut builder = Self::builder();
        builder.extend_members(members);
        builder.extend_others(others);
        builder.finish()
    }

    /// A builder, for everything that can be chosen.
    ///
    /// ```
    /// use ribbonfilter::{Effort, ExactSet};
    ///
    /// let mut builder = ExactSet::builder().effort(Effort::Thorough).key_seed(7);
    /// builder.push_member("ada");
    /// builder.push_other("grace");
    /// assert!(builder.finish()?.contains("ada"));
    /// # Ok::<(), ribbonfilter::BuildError>(())
    /// ```
    pub fn builder() -> ExactSetBuilder<'static> {
        ExactSetBuilder::new()
    }
}

over_bytes!(ExactSet, "set", "ExactSet::build([\"ada\"], [\"alan\"])?");

impl<D: AsRef<[u8]>> ExactSet<D> {
    /// Opens a set over bytes that are there already, without a copy and in a time that does not
    /// depend on the number of keys or groups.
    ///
    /// Only the footers of the set and of its stages are read and checked; [`verify`](Self::verify)
    /// checks the rest. Queries on unverified bytes are safe: the results may be wrong, but nothing
    /// panics or reads outside.
    ///
    /// ```
    /// use ribbonfilter::ExactSet;
    ///
    /// let bytes: Vec<u8> = ExactSet::build(["ada"], ["grace"])?.as_bytes().to_vec();
    /// let set = ExactSet::open(&bytes[..])?;
    /// set.verify()?;
    /// assert!(set.contains("ada"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If the bytes are not an exact set that this version can read, or not all of one.
    pub fn open(data: D) -> Result<Self, OpenError> {
        Self::open_with(data, Kernel::best())
    }

    fn open_with(data: D, kernel: Kernel) -> Result<Self, OpenError> {
        let bytes = data.as_ref();
        let exact = Exact::read(bytes)?;
        let (function, filters) = match exact.stages.split_last() {
            Some((function, filters)) => (Some(function), filters),
            None => (None, &[][..]),
        };
        let one_bit = Content::Function { fingerprint_bits: 0 };
        let is_one_bit = |footer: &Footer| footer.content == one_bit && footer.shape.columns == 1;
        if function.is_some_and(|function| !is_one_bit(&function.footer)) {
            return Err(OpenError::Inconsistent { field: "function" });
        }
        // With a table, also of one group, keys of no group must get no result of its stages.
        let only = exact.only_rule().map(|rule| Path::new(rule.path()));
        let stages = Stages::new(filters, function, bytes, only, kernel);
        let unnamed = exact.rule(bytes, UNNAMED).unwrap_or(Rule::all(false));
        let len = bytes.len();
        Ok(Self { data, exact, stages, unnamed, len })
    }

    /// Checks every byte against the checksum, and the table of groups.
    ///
    /// ```
    /// use ribbonfilter::{ExactSet, OpenError};
    ///
    /// let mut bytes = ExactSet::build(["ada"], ["grace"])?.as_bytes().to_vec();
    /// bytes[0] ^= 1;
    /// let corrupt = ExactSet::open(bytes).unwrap();
    /// assert!(matches!(corrupt.verify(), Err(OpenError::CorruptData)));
    /// # Ok::<(), ribbonfilter::BuildError>(())
    /// ```
    ///
    /// # Errors
    /// If a byte is corrupt.
    pub fn verify(&self) -> Result<(), OpenError> {
        let bytes = self.data.as_ref();
        Exact::read(bytes)?.verify(bytes)
    }

    /// Whether the key is a member; exact for every key of the universe that has no group.
    /// **Arbitrary for all other keys.** If all keys have groups, no key is a member.
    ///
    /// ```
    /// # let primes = ribbonfilter::ExactSet::build([2, 3, 5, 7], [0, 1, 4, 6, 8, 9])?;
    /// assert!(primes.contains(5));
    /// assert!(!primes.contains(6));
    /// # Ok::<(), ribbonfilter::BuildError>(())
    /// ```
    #[inline]
    pub fn contains(&self, key: impl Key) -> bool {
        self.contains_hash(key.key_hash(self.exact.key_seed))
    }

    /// Whether the key with this hash is a member.
    ///
    /// For keys that were put in by [`ExactSetBuilder::push_member_hash`] and
    /// [`push_other_hash`](ExactSetBuilder::push_other_hash), or whose [`Key::key_hash`] is at
    /// hand. A key seed does not touch a hash that is given.
    ///
    /// ```
    /// use ribbonfilter::{ExactSet, Key};
    ///
    /// let set = ExactSet::build(["ada"], ["grace"])?;
    /// assert!(set.contains_hash("ada".key_hash(0)));
    /// # Ok::<(), ribbonfilter::BuildError>(())
    /// ```
    #[inline]
    pub fn contains_hash(&self, key_hash: u64) -> bool {
        self.query(self.unnamed, key_hash)
    }

    /// Whether the key of a group is a member; exact for every key of the universe. **Arbitrary for
    /// all other keys**, unless the universe has no key of the group.
    ///
    /// An unknown group is taken for a known one with a probability of at most 10^-6.
    ///
    /// ```
    /// use ribbonfilter::{ExactSet, Membership};
    ///
    /// let mut builder = ExactSet::builder();
    /// builder.extend_members_in("issuer", 0..10);
    /// builder.extend_others_in("issuer", 10..1000);
    /// let set = builder.finish()?;
    /// assert_eq!(set.contains_in("issuer", 7), Membership::Member);
    /// assert_eq!(set.contains_in("issuer", 77), Membership::NotMember);
    /// assert_eq!(set.contains_in("nobody", 7), Membership::UnknownGroup);
    /// # Ok::<(), ribbonfilter::BuildError>(())
    /// ```
    #[inline]
    pub fn contains_in(&self, group: impl Key, key: impl Key) -> Membership {
        let key_seed = self.exact.key_seed;
        self.contains_hash_in_group(group.key_hash(key_seed), key.key_hash(key_seed))
    }

    /// [`contains_in`](Self::contains_in) for the hashes of a group and a key. The hash 0 stands
    /// for the unnamed group.
    ///
    /// ```
    /// use ribbonfilter::{ExactSet, Key};
    ///
    /// let mut builder = ExactSet::builder();
    /// builder.push_member_in("issuer", 17);
    /// let set = builder.finish()?;
    /// assert!(set.contains_hash_in_group("issuer".key_hash(0), 17.key_hash(0)).is_member());
    /// # Ok::<(), ribbonfilter::BuildError>(())
    /// ```
    #[inline]
    pub fn contains_hash_in_group(&self, group_hash: u64, key_hash: u64) -> Membership {
        let label = label(group_hash);
        match self.exact.rule(self.data.as_ref(), label) {
            Some(rule) => self.query(rule, key_hash ^ label).into(),
            None => Membership::UnknownGroup,
        }
    }

    #[inline]
    fn query(&self, rule: Rule, hash: u64) -> bool {
        self.stages.query(self.data.as_ref(), Path::new(rule.path()), hash) != rule.inverted()
    }

    /// [`contains`](Self::contains) for many keys.
    ///
    /// ```
    /// # let primes = ribbonfilter::ExactSet::build([2, 3, 5, 7], [0, 1, 4, 6, 8, 9])?;
    /// assert_eq!(primes.contains_batch(&[3, 4, 5]), [true, false, true]);
    /// # Ok::<(), ribbonfilter::BuildError>(())
    /// ```
    pub fn contains_batch<K: Key>(&self, keys: &[K]) -> Vec<bool> {
        let mut hits = vec![false; keys.len()];
        self.contains_batch_into(keys, &mut hits);
        hits
    }

    /// [`contains_batch`](Self::contains_batch) into a buffer that is there already. If the lengths
    /// differ, the longer one's rest is left alone.
    ///
    /// ```
    /// # let primes = ribbonfilter::ExactSet::build([2, 3, 5, 7], [0, 1, 4, 6, 8, 9])?;
    /// let mut hits = [false; 3];
    /// primes.contains_batch_into(&[3, 4, 5], &mut hits);
    /// assert_eq!(hits, [true, false, true]);
    /// # Ok::<(), ribbonfilter::BuildError>(())
    /// ```
    pub fn contains_batch_into<K: Key>(&self, keys: &[K], hits: &mut [bool]) {
        in_hashes(keys, self.exact.key_seed, &mut [0; BATCH], hits, |hashes, hits| {
            self.query_batch(self.unnamed, hashes, hits);
        });
    }

    /// [`contains_hash`](Self::contains_hash) for many hashes.
    ///
    /// ```
    /// # use ribbonfilter::{ExactSet, Key};
    /// # let set = ExactSet::build(["ada"], ["grace"])?;
    /// let hashes = ["ada", "grace"].map(|key| key.key_hash(0));
    /// assert_eq!(set.contains_hash_batch(&hashes), [true, false]);
    /// # Ok::<(), ribbonfilter::BuildError>(())
    /// ```
    pub fn contains_hash_batch(&self, key_hashes: &[u64]) -> Vec<bool> {
        let mut hits = vec![false; key_hashes.len()];
        self.contains_hash_batch_into(key_hashes, &mut hits);
        hits
    }

    /// [`contains_hash_batch`](Self::contains_hash_batch) into a buffer that is there already. If
    /// the lengths differ, the longer one's rest is left alone.
    ///
    /// ```
    /// # use ribbonfilter::{ExactSet, Key};
    /// # let set = ExactSet::build(["ada"], ["grace"])?;
    /// let mut hits = [false; 2];
    /// set.contains_hash_batch_into(&["ada", "grace"].map(|key| key.key_hash(0)), &mut hits);
    /// assert_eq!(hits, [true, false]);
    /// # Ok::<(), ribbonfilter::BuildError>(())
    /// ```
    pub fn contains_hash_batch_into(&self, key_hashes: &[u64], hits: &mut [bool]) {
        for (hashes, hits) in key_hashes.chunks(BATCH).zip(hits.chunks_mut(BATCH)) {
            self.query_batch(self.unnamed, hashes, hits);
        }
    }

    /// [`contains_in`](Self::contains_in) for many keys of one group; `None` if the universe has no
    /// key of the group.
    ///
    /// ```
    /// # let mut builder = ribbonfilter::ExactSet::builder();
    /// # builder.extend_members_in("issuer", 0..10);
    /// # builder.extend_others_in("issuer", 10..1000);
    /// # let set = builder.finish()?;
    /// assert_eq!(set.contains_batch_in("issuer", &[7, 77]), Some(vec![true, false]));
    /// assert_eq!(set.contains_batch_in("nobody", &[7, 77]), None);
    /// # Ok::<(), ribbonfilter::BuildError>(())
    /// ```
    pub fn contains_batch_in<K: Key>(&self, group: impl Key, keys: &[K]) -> Option<Vec<bool>> {
        let label = label(group.key_hash(self.exact.key_seed));
        let rule = self.exact.rule(self.data.as_ref(), label)?;
        let mut hits = vec![false; keys.len()];
        in_hashes(keys, self.exact.key_seed, &mut [0; BATCH], &mut hits, |hashes, hits| {
            let mut mixed = [0; BATCH];
            for (mixed, &hash) in mixed.iter_mut().zip(hashes) {
                *mixed = hash ^ label;
            }
            self.query_batch(rule, &mixed[..hashes.len()], hits);
        });
        Some(hits)
    }

    /// Queries at most [`BATCH`] keys, until `hashes` or `hits` ends.
    fn query_batch(&self, rule: Rule, hashes: &[u64], hits: &mut [bool]) {
        let count = hashes.len().min(hits.len());
        let hits = &mut hits[..count];
        self.stages.query_batch(self.data.as_ref(), Path::new(rule.path()), hashes, hits);
        if rule.inverted() {
            hits.iter_mut().for_each(|hit| *hit = !*hit);
        }
    }

    /// The same set with another kernel, for tests and benchmarks.
    ///
    /// # Panics
    /// If the bytes have changed since they were opened.
    #[cfg(feature = "internals")]
    #[must_use]
    pub fn with_kernel(self, kernel: Kernel) -> Self {
        Self::open_with(self.data, kernel).expect("opened before")
    }

    /// The number of members.
    ///
    /// ```
    /// # let set = ribbonfilter::ExactSet::build([1, 1, 2], [3, 4, 5])?;
    /// assert_eq!(set.len(), 2);
    /// # Ok::<(), ribbonfilter::BuildError>(())
    /// ```
    pub fn len(&self) -> u64 {
        self.exact.members
    }

    /// Whether there is no member.
    ///
    /// ```
    /// # let set = ribbonfilter::ExactSet::build([""; 0], ["ada"])?;
    /// assert!(set.is_empty());
    /// # Ok::<(), ribbonfilter::BuildError>(())
    /// ```
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The number of keys for which the set is exact, members included.
    ///
    /// ```
    /// # let set = ribbonfilter::ExactSet::build([1, 1, 2], [3, 4, 5])?;
    /// assert_eq!(set.universe_len(), 5);
    /// # Ok::<(), ribbonfilter::BuildError>(())
    /// ```
    pub fn universe_len(&self) -> u64 {
        // Untrusted bytes may have any 48 bits in both numbers, whose sum fits.
        self.exact.members + self.exact.others
    }

    /// The number of groups that have keys; 1 if no key has a group.
    ///
    /// ```
    /// # let mut builder = ribbonfilter::ExactSet::builder();
    /// # builder.push_member_in("issuer", 17);
    /// # builder.push_other_in("another", 17);
    /// assert_eq!(builder.finish()?.groups(), 2);
    /// # Ok::<(), ribbonfilter::BuildError>(())
    /// ```
    pub fn groups(&self) -> u64 {
        self.exact.groups()
    }

    /// All bytes, the footer included.
    ///
    /// ```
    /// # let set = ribbonfilter::ExactSet::build(0..1000, 1000..100_000)?;
    /// assert!((1100..1300).contains(&set.size_in_bytes()));
    /// # Ok::<(), ribbonfilter::BuildError>(())
    /// ```
    pub fn size_in_bytes(&self) -> usize {
        self.len
    }

    /// All stored bits over the number of members; infinite without members.
    ///
    /// ```
    /// # let set = ribbonfilter::ExactSet::build(0..10_000, 10_000..1_000_000)?;
    /// assert!((8.5..8.7).contains(&set.bits_per_member()));
    /// # Ok::<(), ribbonfilter::BuildError>(())
    /// ```
    pub fn bits_per_member(&self) -> f64 {
        self.len as f64 * 8.0 / self.len() as f64
    }

    /// The least bits that any exact set takes on average: the logarithm of the number of sets of
    /// as many members out of this universe, to base 2. With groups it is the sum of those of all
    /// groups, since their numbers of members are given.
    ///
    /// ```
    /// # let set = ribbonfilter::ExactSet::build(0..10_000, 10_000..1_000_000)?;
    /// assert!((8.07..8.09).contains(&(set.lower_bound_bits() / set.len() as f64)));
    /// # Ok::<(), ribbonfilter::BuildError>(())
    /// ```
    pub fn lower_bound_bits(&self) -> f64 {
        self.exact.bound.into()
    }

    /// All stored bits over the [lower bound](Self::lower_bound_bits), minus one; infinite if that
    /// is 0, as it is without members or without others.
    ///
    /// ```
    /// # let set = ribbonfilter::ExactSet::build(0..10_000, 10_000..1_000_000)?;
    /// assert!((0.05..0.08).contains(&set.overhead()));
    /// # Ok::<(), ribbonfilter::BuildError>(())
    /// ```
    pub fn overhead(&self) -> f64 {
        self.len as f64 * 8.0 / self.lower_bound_bits() - 1.0
    }

    /// How often a key outside the universe, without a group, is reported as a member: about half
    /// of the rate of the first stage. 0 if all keys have groups.
    ///
    /// ```
    /// # let set = ribbonfilter::ExactSet::build(0..10_000, 10_000..1_000_000)?;
    /// assert_eq!(set.expected_rate(), 1.0 / 128.0);
    /// let outside = (1_000_000..2_000_000).filter(|&key| set.contains(key)).count();
    /// assert!((7500..8200).contains(&outside));
    /// # Ok::<(), ribbonfilter::BuildError>(())
    /// ```
    pub fn expected_rate(&self) -> f64 {
        self.rate(self.unnamed)
    }

    /// How often a key of a group, but outside the universe, is reported as a member; `None` if the
    /// universe has no key of the group.
    ///
    /// ```
    /// # let mut builder = ribbonfilter::ExactSet::builder();
    /// # builder.push_member_in("issuer", 17);
    /// let set = builder.finish()?;
    /// assert_eq!(set.expected_rate_in("issuer"), Some(1.0)); // all of them are members
    /// assert_eq!(set.expected_rate_in("nobody"), None);
    /// # Ok::<(), ribbonfilter::BuildError>(())
    /// ```
    pub fn expected_rate_in(&self, group: impl Key) -> Option<f64> {
        let label = label(group.key_hash(self.exact.key_seed));
        self.exact.rule(self.data.as_ref(), label).map(|rule| self.rate(rule))
    }

    fn rate(&self, rule: Rule) -> f64 {
        let rate_of = |stage: &exact::Stage| stage.footer.rate();
        let stored = match rule.path() {
            0 => 0.0,
            1 => 0.5,
            path => {
                let mut stages = self.exact.stages.iter().skip(usize::from(path) - 2);
                let first = stages.next().map_or(1.0, rate_of);
                let rest = stages.next().filter(|rest| rest.continues()).map_or(1.0, rate_of);
                first * rest / 2.0
            }
        };
        if rule.inverted() { 1.0 - stored } else { stored }
    }

    /// The seed under which keys and groups are hashed.
    ///
    /// ```
    /// # let builder = ribbonfilter::ExactSet::builder().key_seed(7);
    /// assert_eq!(builder.finish()?.key_seed(), 7);
    /// # Ok::<(), ribbonfilter::BuildError>(())
    /// ```
    pub fn key_seed(&self) -> u64 {
        self.exact.key_seed
    }
}

impl<D: AsRef<[u8]>> fmt::Debug for ExactSet<D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Some filters are stored as two stages; the last stage is the function.
        let filters = self.exact.stages.iter().filter(|stage| !stage.continues());
        f.debug_struct("ExactSet")
            .field("len", &self.len())
            .field("universe_len", &self.universe_len())
            .field("groups", &self.groups())
            .field("filters", &filters.count().saturating_sub(1))
            .field("size_in_bytes", &self.size_in_bytes())
            .field("overhead", &self.overhead())
            .finish_non_exhaustive()
    }
}
