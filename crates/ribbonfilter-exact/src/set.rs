//! The set, and its queries.

use crate::format::{Layout, Rule};
use crate::group::{UNNAMED, label};
#[cfg(feature = "build")]
use crate::{ExactError, ExactSetBuilder};
use alloc::vec;
use alloc::vec::Vec;
use core::fmt;
use ribbonfilter::{Kernel, Key, OpenError, OwnedBytes};

/// The number of keys of a batch that are queried in the filter before the map.
const BATCH: usize = 1 << 9;

/// A static set that answers "is this key in it?" exactly, for every key of a known universe.
///
/// The universe is given when the set is built: its *members*, and all *others*. Both are hashed,
/// and only little of them is stored: about 8.6 bits per member if one key in a hundred is a
/// member. The set *is* its bytes, as a [`Filter`](ribbonfilter::Filter) is.
///
/// ```
/// use ribbonfilter_exact::ExactSet;
///
/// let issued = 0..100_000;
/// let is_revoked = |serial: &u32| serial % 100 == 17;
/// let (members, others): (Vec<u32>, Vec<u32>) = issued.clone().partition(is_revoked);
/// let revoked = ExactSet::build(members, others)?;
/// assert!(issued.into_iter().all(|serial| revoked.contains(serial) == is_revoked(&serial)));
/// # Ok::<(), ribbonfilter_exact::ExactError>(())
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
    layout: Layout,
    /// The rule of the unnamed group. If it has no keys, none is a member.
    unnamed: Rule,
}

/// The result of a query in a group.
///
/// ```
/// use ribbonfilter_exact::{ExactSet, Membership};
///
/// let mut builder = ExactSet::builder();
/// builder.push_member_in("issuer", 17);
/// builder.push_other_in("issuer", 18);
/// let set = builder.finish()?;
/// assert_eq!(set.contains_in("issuer", 17), Membership::Member);
/// assert_eq!(set.contains_in("issuer", 18), Membership::NotMember);
/// assert_eq!(set.contains_in("nobody", 17), Membership::UnknownGroup);
/// # Ok::<(), ribbonfilter_exact::ExactError>(())
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
    /// use ribbonfilter_exact::Membership;
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

#[cfg(feature = "build")]
impl ExactSet {
    /// Builds a set that is exact for all keys of both sides.
    ///
    /// ```
    /// use ribbonfilter_exact::ExactSet;
    ///
    /// let primes = ExactSet::build([2, 3, 5, 7], [0, 1, 4, 6, 8, 9])?;
    /// assert!(primes.contains(7) && !primes.contains(9));
    /// # Ok::<(), ribbonfilter_exact::ExactError>(())
    /// ```
    ///
    /// # Errors
    /// See [`ExactSetBuilder::finish`].
    pub fn build(
        members: impl IntoIterator<Item: Key>,
        others: impl IntoIterator<Item: Key>,
    ) -> Result<Self, ExactError> {
        let mut builder = Self::builder();
        builder.extend_members(members);
        builder.extend_others(others);
        builder.finish()
    }

    /// A builder, for everything that can be chosen.
    ///
    /// ```
    /// use ribbonfilter_exact::{Effort, ExactSet};
    ///
    /// let mut builder = ExactSet::builder().effort(Effort::Thorough).key_seed(7);
    /// builder.push_member("ada");
    /// builder.push_other("grace");
    /// assert!(builder.finish()?.contains("ada"));
    /// # Ok::<(), ribbonfilter_exact::ExactError>(())
    /// ```
    pub fn builder() -> ExactSetBuilder<'static> {
        ExactSetBuilder::new()
    }
}

#[cfg(feature = "std")]
impl ExactSet {
    /// Reads a set from a file into memory. With the feature `mmap`, a set can stay in its file:
    /// [`open`](Self::open) the bytes of a `MappedBytes`.
    ///
    /// ```
    /// use ribbonfilter_exact::ExactSet;
    ///
    /// # let path = std::env::temp_dir().join(format!("ribbon-open-set-{}", std::process::id()));
    /// let built = ExactSet::build(["ada"], ["alan"])?;
    /// std::fs::write(&path, built.as_bytes())?;
    /// assert_eq!(ExactSet::open_file(&path)?, built);
    /// # std::fs::remove_file(&path)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If the file cannot be read, or as in [`open`](Self::open).
    pub fn open_file(path: impl AsRef<std::path::Path>) -> Result<Self, OpenError> {
        Self::open(OwnedBytes::read_file(path)?)
    }
}

impl<D: AsRef<[u8]>> ExactSet<D> {
    /// Opens a set over bytes that are there already, without a copy and in a time that does not
    /// depend on the number of keys or groups.
    ///
    /// Only the footers of the set and of its stages are read and checked; [`verify`](Self::verify)
    /// checks the rest. Queries on unverified bytes are safe: the results may be wrong, but nothing
    /// panics or reads outside.
    ///
    /// ```
    /// use ribbonfilter_exact::ExactSet;
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
        let layout = Layout::read(data.as_ref(), kernel)?;
        // With a table, also of one group, a key without a group must not be queried in any stage.
        let unnamed = layout.rule(data.as_ref(), UNNAMED).unwrap_or(Rule::all(false));
        Ok(Self { data, layout, unnamed })
    }

    /// Checks every byte against the checksum, and the table of groups.
    ///
    /// ```
    /// use ribbonfilter_exact::{ExactSet, OpenError};
    ///
    /// let mut bytes = ExactSet::build(["ada"], ["grace"])?.as_bytes().to_vec();
    /// bytes[0] ^= 1;
    /// let corrupt = ExactSet::open(bytes).unwrap();
    /// assert!(matches!(corrupt.verify(), Err(OpenError::CorruptData)));
    /// # Ok::<(), ribbonfilter_exact::ExactError>(())
    /// ```
    ///
    /// # Errors
    /// If a byte is corrupt.
    pub fn verify(&self) -> Result<(), OpenError> {
        let bytes = self.data.as_ref();
        Layout::read(bytes, Kernel::best())?.verify(bytes)
    }

    /// Whether the key is a member; exact for every key of the universe that has no group.
    /// **Arbitrary for all other keys.** If all keys have groups, no key is a member.
    ///
    /// ```
    /// # let primes = ribbonfilter_exact::ExactSet::build([2, 3, 5, 7], [0, 1, 4, 6, 8, 9])?;
    /// assert!(primes.contains(5));
    /// assert!(!primes.contains(6));
    /// # Ok::<(), ribbonfilter_exact::ExactError>(())
    /// ```
    #[inline]
    pub fn contains(&self, key: impl Key) -> bool {
        self.contains_hash(key.key_hash(self.layout.key_seed))
    }

    /// Whether the key with this hash is a member.
    ///
    /// For keys that were put in by [`ExactSetBuilder::push_member_hash`] and
    /// [`push_other_hash`](ExactSetBuilder::push_other_hash), or whose [`Key::key_hash`] is at
    /// hand. A key seed does not touch a hash that is given.
    ///
    /// ```
    /// use ribbonfilter_exact::{ExactSet, Key};
    ///
    /// let set = ExactSet::build(["ada"], ["grace"])?;
    /// assert!(set.contains_hash("ada".key_hash(0)));
    /// # Ok::<(), ribbonfilter_exact::ExactError>(())
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
    /// use ribbonfilter_exact::{ExactSet, Membership};
    ///
    /// let mut builder = ExactSet::builder();
    /// builder.extend_members_in("issuer", 0..10);
    /// builder.extend_others_in("issuer", 10..1000);
    /// let set = builder.finish()?;
    /// assert_eq!(set.contains_in("issuer", 7), Membership::Member);
    /// assert_eq!(set.contains_in("issuer", 77), Membership::NotMember);
    /// assert_eq!(set.contains_in("nobody", 7), Membership::UnknownGroup);
    /// # Ok::<(), ribbonfilter_exact::ExactError>(())
    /// ```
    #[inline]
    pub fn contains_in(&self, group: impl Key, key: impl Key) -> Membership {
        let key_seed = self.layout.key_seed;
        self.contains_hash_in_group(group.key_hash(key_seed), key.key_hash(key_seed))
    }

    /// [`contains_in`](Self::contains_in) for the hashes of a group and a key. The hash 0 stands
    /// for the unnamed group.
    ///
    /// ```
    /// use ribbonfilter_exact::{ExactSet, Key};
    ///
    /// let mut builder = ExactSet::builder();
    /// builder.push_member_in("issuer", 17);
    /// let set = builder.finish()?;
    /// assert!(set.contains_hash_in_group("issuer".key_hash(0), 17.key_hash(0)).is_member());
    /// # Ok::<(), ribbonfilter_exact::ExactError>(())
    /// ```
    #[inline]
    pub fn contains_hash_in_group(&self, group_hash: u64, key_hash: u64) -> Membership {
        let label = label(group_hash);
        match self.layout.rule(self.data.as_ref(), label) {
            Some(rule) => self.query(rule, key_hash ^ label).into(),
            None => Membership::UnknownGroup,
        }
    }

    #[inline]
    fn query(&self, rule: Rule, hash: u64) -> bool {
        let (bytes, Layout { filters, map, .. }) = (self.data.as_ref(), &self.layout);
        let passes = match rule.filter() {
            Some(filter) => filters.get(filter).is_some_and(|filter| filter.contains(bytes, hash)),
            None => rule.has_map(),
        };
        let is_stored = passes && map.as_ref().is_some_and(|map| map.get(bytes, hash) == 1);
        is_stored != rule.inverted()
    }

    /// [`contains`](Self::contains) for many keys.
    ///
    /// ```
    /// # let primes = ribbonfilter_exact::ExactSet::build([2, 3, 5, 7], [0, 1, 4, 6, 8, 9])?;
    /// assert_eq!(primes.contains_batch(&[3, 4, 5]), [true, false, true]);
    /// # Ok::<(), ribbonfilter_exact::ExactError>(())
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
    /// # let primes = ribbonfilter_exact::ExactSet::build([2, 3, 5, 7], [0, 1, 4, 6, 8, 9])?;
    /// let mut hits = [false; 3];
    /// primes.contains_batch_into(&[3, 4, 5], &mut hits);
    /// assert_eq!(hits, [true, false, true]);
    /// # Ok::<(), ribbonfilter_exact::ExactError>(())
    /// ```
    pub fn contains_batch_into<K: Key>(&self, keys: &[K], hits: &mut [bool]) {
        self.query_keys(self.unnamed, UNNAMED, keys, hits);
    }

    /// [`contains_hash`](Self::contains_hash) for many hashes.
    ///
    /// ```
    /// # use ribbonfilter_exact::{ExactSet, Key};
    /// # let set = ExactSet::build(["ada"], ["grace"])?;
    /// let hashes = ["ada", "grace"].map(|key| key.key_hash(0));
    /// assert_eq!(set.contains_hash_batch(&hashes), [true, false]);
    /// # Ok::<(), ribbonfilter_exact::ExactError>(())
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
    /// # use ribbonfilter_exact::{ExactSet, Key};
    /// # let set = ExactSet::build(["ada"], ["grace"])?;
    /// let mut hits = [false; 2];
    /// set.contains_hash_batch_into(&["ada", "grace"].map(|key| key.key_hash(0)), &mut hits);
    /// assert_eq!(hits, [true, false]);
    /// # Ok::<(), ribbonfilter_exact::ExactError>(())
    /// ```
    pub fn contains_hash_batch_into(&self, key_hashes: &[u64], hits: &mut [bool]) {
        for (hashes, hits) in key_hashes.chunks(BATCH).zip(hits.chunks_mut(BATCH)) {
            let count = hashes.len().min(hits.len());
            self.query_batch(self.unnamed, &hashes[..count], &mut hits[..count]);
        }
    }

    /// [`contains_in`](Self::contains_in) for many keys of one group; `None` if the universe has no
    /// key of the group.
    ///
    /// ```
    /// # let mut builder = ribbonfilter_exact::ExactSet::builder();
    /// # builder.extend_members_in("issuer", 0..10);
    /// # builder.extend_others_in("issuer", 10..1000);
    /// # let set = builder.finish()?;
    /// assert_eq!(set.contains_batch_in("issuer", &[7, 77]), Some(vec![true, false]));
    /// assert_eq!(set.contains_batch_in("nobody", &[7, 77]), None);
    /// # Ok::<(), ribbonfilter_exact::ExactError>(())
    /// ```
    pub fn contains_batch_in<K: Key>(&self, group: impl Key, keys: &[K]) -> Option<Vec<bool>> {
        let label = label(group.key_hash(self.layout.key_seed));
        let rule = self.layout.rule(self.data.as_ref(), label)?;
        let mut hits = vec![false; keys.len()];
        self.query_keys(rule, label, keys, &mut hits);
        Some(hits)
    }

    /// Queries the keys of a group, until `keys` or `hits` ends.
    fn query_keys<K: Key>(&self, rule: Rule, label: u64, keys: &[K], hits: &mut [bool]) {
        let mut hashes = [0; BATCH];
        for (keys, hits) in keys.chunks(BATCH).zip(hits.chunks_mut(BATCH)) {
            let count = keys.len().min(hits.len());
            for (hash, key) in hashes.iter_mut().zip(keys) {
                *hash = key.key_hash(self.layout.key_seed) ^ label;
            }
            self.query_batch(rule, &hashes[..count], &mut hits[..count]);
        }
    }

    /// Queries at most [`BATCH`] keys: the filter with all of them, the map with those that pass.
    fn query_batch(&self, rule: Rule, hashes: &[u64], hits: &mut [bool]) {
        let (bytes, Layout { filters, map, .. }) = (self.data.as_ref(), &self.layout);
        hits.fill(rule.inverted());
        let Some(map) = map.as_ref().filter(|_| rule.has_map()) else { return };
        let mut passing = [u64::MAX; BATCH / 64];
        if let Some(filter) = rule.filter().and_then(|filter| filters.get(filter)) {
            filter.contains_batch(bytes, hashes, &mut passing);
        }
        // The positions of the keys that pass, and their hashes.
        let (mut positions, mut passed, mut count) = ([0; BATCH], [0; BATCH], 0);
        for (word, hashes) in hashes.chunks(64).enumerate() {
            let mut bits = passing[word] & u64::MAX >> (64 - hashes.len());
            while bits != 0 {
                let index = bits.trailing_zeros() as usize;
                (positions[count], passed[count]) = ((64 * word + index) as u16, hashes[index]);
                count += 1;
                bits &= bits - 1;
            }
        }
        let mut values = [0; BATCH];
        map.get_batch(bytes, &passed[..count], &mut values);
        for (&position, &value) in positions[..count].iter().zip(&values) {
            hits[usize::from(position)] ^= value == 1;
        }
    }

    /// The bytes of the set: write them anywhere, [`open`](Self::open) them again.
    ///
    /// ```
    /// use ribbonfilter_exact::ExactSet;
    ///
    /// let built = ExactSet::build(["ada"], ["alan"])?;
    /// assert_eq!(ExactSet::open(built.as_bytes())?, built);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn as_bytes(&self) -> &[u8] {
        self.data.as_ref()
    }

    /// The buffer over which the set was opened.
    ///
    /// ```
    /// use ribbonfilter_exact::ExactSet;
    ///
    /// let built = ExactSet::build(["ada"], ["alan"])?;
    /// let bytes = built.as_bytes().to_vec();
    /// assert_eq!(built.into_inner().as_ref(), bytes);
    /// # Ok::<(), ribbonfilter_exact::ExactError>(())
    /// ```
    pub fn into_inner(self) -> D {
        self.data
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
    /// # let set = ribbonfilter_exact::ExactSet::build([1, 1, 2], [3, 4, 5])?;
    /// assert_eq!(set.len(), 2);
    /// # Ok::<(), ribbonfilter_exact::ExactError>(())
    /// ```
    pub fn len(&self) -> u64 {
        self.layout.members
    }

    /// Whether there is no member.
    ///
    /// ```
    /// # let set = ribbonfilter_exact::ExactSet::build([""; 0], ["ada"])?;
    /// assert!(set.is_empty());
    /// # Ok::<(), ribbonfilter_exact::ExactError>(())
    /// ```
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The number of keys for which the set is exact, members included.
    ///
    /// ```
    /// # let set = ribbonfilter_exact::ExactSet::build([1, 1, 2], [3, 4, 5])?;
    /// assert_eq!(set.universe_len(), 5);
    /// # Ok::<(), ribbonfilter_exact::ExactError>(())
    /// ```
    pub fn universe_len(&self) -> u64 {
        // Untrusted bytes may have any 48 bits in both numbers, whose sum fits.
        self.layout.members + self.layout.others
    }

    /// The number of groups that have keys; 1 if no key has a group.
    ///
    /// ```
    /// # let mut builder = ribbonfilter_exact::ExactSet::builder();
    /// # builder.push_member_in("issuer", 17);
    /// # builder.push_other_in("another", 17);
    /// assert_eq!(builder.finish()?.groups(), 2);
    /// # Ok::<(), ribbonfilter_exact::ExactError>(())
    /// ```
    pub fn groups(&self) -> u64 {
        self.layout.groups()
    }

    /// All bytes, the footer included.
    ///
    /// ```
    /// # let set = ribbonfilter_exact::ExactSet::build(0..1000, 1000..100_000)?;
    /// assert!((1100..1300).contains(&set.size_in_bytes()));
    /// # Ok::<(), ribbonfilter_exact::ExactError>(())
    /// ```
    pub fn size_in_bytes(&self) -> usize {
        self.as_bytes().len()
    }

    /// All stored bits over the number of members; infinite without members.
    ///
    /// ```
    /// # let set = ribbonfilter_exact::ExactSet::build(0..10_000, 10_000..1_000_000)?;
    /// assert!((8.5..8.7).contains(&set.bits_per_member()));
    /// # Ok::<(), ribbonfilter_exact::ExactError>(())
    /// ```
    pub fn bits_per_member(&self) -> f64 {
        self.size_in_bytes() as f64 * 8.0 / self.len() as f64
    }

    /// The least bits that any exact set takes on average: the logarithm of the number of sets of
    /// as many members out of this universe, to base 2. With groups it is the sum of those of all
    /// groups, since their numbers of members are given.
    ///
    /// ```
    /// # let set = ribbonfilter_exact::ExactSet::build(0..10_000, 10_000..1_000_000)?;
    /// assert!((8.07..8.09).contains(&(set.lower_bound_bits() / set.len() as f64)));
    /// # Ok::<(), ribbonfilter_exact::ExactError>(())
    /// ```
    pub fn lower_bound_bits(&self) -> f64 {
        self.layout.bound.into()
    }

    /// All stored bits over the [lower bound](Self::lower_bound_bits), minus one; infinite if that
    /// is 0, as it is without members or without others.
    ///
    /// ```
    /// # let set = ribbonfilter_exact::ExactSet::build(0..10_000, 10_000..1_000_000)?;
    /// assert!((0.05..0.08).contains(&set.overhead()));
    /// # Ok::<(), ribbonfilter_exact::ExactError>(())
    /// ```
    pub fn overhead(&self) -> f64 {
        self.size_in_bytes() as f64 * 8.0 / self.lower_bound_bits() - 1.0
    }

    /// How often a key outside the universe, without a group, is reported as a member: about half
    /// of the rate of the first stage. 0 if all keys have groups.
    ///
    /// ```
    /// # let set = ribbonfilter_exact::ExactSet::build(0..10_000, 10_000..1_000_000)?;
    /// assert_eq!(set.expected_rate(), 1.0 / 128.0);
    /// let outside = (1_000_000..2_000_000).filter(|&key| set.contains(key)).count();
    /// assert!((7500..8200).contains(&outside));
    /// # Ok::<(), ribbonfilter_exact::ExactError>(())
    /// ```
    pub fn expected_rate(&self) -> f64 {
        self.rate(self.unnamed)
    }

    /// How often a key of a group, but outside the universe, is reported as a member; `None` if the
    /// universe has no key of the group.
    ///
    /// ```
    /// # let mut builder = ribbonfilter_exact::ExactSet::builder();
    /// # builder.push_member_in("issuer", 17);
    /// let set = builder.finish()?;
    /// assert_eq!(set.expected_rate_in("issuer"), Some(1.0)); // all of them are members
    /// assert_eq!(set.expected_rate_in("nobody"), None);
    /// # Ok::<(), ribbonfilter_exact::ExactError>(())
    /// ```
    pub fn expected_rate_in(&self, group: impl Key) -> Option<f64> {
        let label = label(group.key_hash(self.layout.key_seed));
        self.layout.rule(self.data.as_ref(), label).map(|rule| self.rate(rule))
    }

    fn rate(&self, rule: Rule) -> f64 {
        let filter = rule.filter().and_then(|filter| self.layout.filters.get(filter));
        let passes = filter.map_or(1.0, |filter| libm::exp2(-f64::from(filter.columns())));
        let stored = if rule.has_map() { passes / 2.0 } else { 0.0 };
        if rule.inverted() { 1.0 - stored } else { stored }
    }

    /// The seed under which keys and groups are hashed.
    ///
    /// ```
    /// # let builder = ribbonfilter_exact::ExactSet::builder().key_seed(7);
    /// assert_eq!(builder.finish()?.key_seed(), 7);
    /// # Ok::<(), ribbonfilter_exact::ExactError>(())
    /// ```
    pub fn key_seed(&self) -> u64 {
        self.layout.key_seed
    }
}

/// Equal if their bytes are equal, in any kind of buffer.
impl<D: AsRef<[u8]>, E: AsRef<[u8]>> PartialEq<ExactSet<E>> for ExactSet<D> {
    fn eq(&self, other: &ExactSet<E>) -> bool {
        self.as_bytes() == other.as_bytes()
    }
}

impl<D: AsRef<[u8]>> Eq for ExactSet<D> {}

/// The bytes, as `as_bytes` returns them.
impl<D: AsRef<[u8]>> AsRef<[u8]> for ExactSet<D> {
    fn as_ref(&self) -> &[u8] {
        self.as_bytes()
    }
}

impl<D: AsRef<[u8]>> fmt::Debug for ExactSet<D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ExactSet")
            .field("len", &self.len())
            .field("universe_len", &self.universe_len())
            .field("groups", &self.groups())
            .field("filters", &self.layout.filters.len())
            .field("size_in_bytes", &self.size_in_bytes())
            .field("overhead", &self.overhead())
            .finish_non_exhaustive()
    }
}
