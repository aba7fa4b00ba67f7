//! Keys go in, a container of shards or one shard comes out.

use super::assemble::Assembly;
use super::by_hash::Building;
use super::split::locate;
use super::{Shard, Shards, Split};
use crate::Key;
use crate::build::collect::Collected;
use crate::build::option_methods;
use crate::error::{BuildError, JoinError};
use crate::format::container::Common;
use crate::plan::Target;
use crate::progress::Progress;
use crate::storage::bytes::OwnedBytes;
use core::fmt;
use core::ops::ControlFlow;

/// Collects keys and settings and builds a container of [`Shards`].
///
/// Keys are kept as 8 bytes each. Without a target the rate is 0.01. Each shard is planned for its
/// own keys, so variant and width may differ unless they are chosen. Options that builders share are
/// in [`BuildOptions`](crate::BuildOptions).
///
/// ```
/// use ribbonfilter_next::{Shards, Split};
///
/// let mut builder = Shards::builder(Split::ByHash { bits: 4 }).false_positive_rate(0.001);
/// builder.extend(0..100_000);
/// let shards = builder.finish()?;
/// assert_eq!(shards.shard_count(), 16);
/// assert!(shards.contains(99_999));
/// # Ok::<(), ribbonfilter_next::BuildError>(())
/// ```
///
/// The bytes depend only on the set of keys and the options, not on the order of the keys, the
/// threads, or the processes that built the shards. Duplicates do no harm; a few of them count in the
/// plan of their shard, many are removed.
pub struct ShardsBuilder<'p> {
    split: Split,
    collected: Collected<'p, ()>,
}

impl ShardsBuilder<'static> {
    pub(super) fn new(split: Split) -> Self {
        Self { split, collected: Collected::default() }
    }
}

impl<'p> ShardsBuilder<'p> {
    /// Aims for a false-positive rate: at most this in every shard.
    ///
    /// ```
    /// # use ribbonfilter_next::{Shards, Split};
    /// let mut builder = Shards::builder(Split::ByHash { bits: 3 }).false_positive_rate(0.05);
    /// builder.extend(0..10_000);
    /// assert!(builder.finish()?.expected_rate() <= 0.05);
    /// # Ok::<(), ribbonfilter_next::BuildError>(())
    /// ```
    #[must_use]
    pub fn false_positive_rate(mut self, rate: f64) -> Self {
        self.collected.target = Target::Rate(rate);
        self
    }

    /// Aims for a number of columns, more than 0 and at most 32, fractions included.
    ///
    /// ```
    /// # use ribbonfilter_next::{Shards, Split};
    /// let mut builder = Shards::builder(Split::ByHash { bits: 2 }).columns(8.0);
    /// builder.extend(0..10_000);
    /// assert_eq!(builder.finish()?.columns(), 8.0);
    /// # Ok::<(), ribbonfilter_next::BuildError>(())
    /// ```
    #[must_use]
    pub fn columns(mut self, columns: f64) -> Self {
        self.collected.target = Target::Columns(columns);
        self
    }

    option_methods!(spills: false);

    /// Reports progress, shard by shard; the callback can stop the build.
    #[must_use]
    pub fn progress<'q>(
        self,
        callback: impl FnMut(Progress) -> ControlFlow<()> + Send + 'q,
    ) -> ShardsBuilder<'q> {
        ShardsBuilder { split: self.split, collected: self.collected.progress(callback) }
    }

    /// A builder of one shard alone, which ignores the keys of the others. Those that were pushed
    /// already are removed.
    ///
    /// ```
    /// use ribbonfilter_next::{Shards, Split};
    ///
    /// let builder = || Shards::builder(Split::ByHash { bits: 1 });
    /// let mut shards = Vec::new();
    /// for number in 0..2 {
    ///     let mut builder = builder().only(number)?; // in a process of its own, say
    ///     builder.extend(0..1000);
    ///     shards.push(builder.finish()?);
    /// }
    /// let mut whole = builder();
    /// whole.extend(0..1000);
    /// assert_eq!(Shards::assemble(shards)?.as_bytes(), whole.finish()?.as_bytes());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If there is no such shard.
    pub fn only(mut self, shard: u64) -> Result<ShardBuilder<'p>, BuildError> {
        self.split.check()?;
        let bits = self.split.bits();
        if shard >= 1 << bits {
            return Err(BuildError::NoSuchShard { shard, shards: 1 << bits });
        }
        let store = &mut self.collected.store;
        store.retain(|item| locate(item.hash, bits).0 == shard);
        // From now on, hashes are those in the filter of the shard.
        store.items_mut().for_each(|item| item.hash = locate(item.hash, bits).1);
        Ok(ShardBuilder { whole: self, number: shard })
    }

    /// Adds a key.
    #[inline]
    pub fn push(&mut self, key: impl Key) {
        self.push_hash(key.key_hash(self.collected.options.key_seed));
    }

    /// Adds a key by its hash; any 64-bit hash that distinguishes keys.
    #[inline]
    pub fn push_hash(&mut self, key_hash: u64) {
        self.collected.push(key_hash, ());
    }

    /// Adds many keys by their hashes.
    pub fn extend_hashes(&mut self, key_hashes: impl IntoIterator<Item = u64>) {
        self.collected.extend(key_hashes.into_iter().map(|key_hash| (key_hash, ())));
    }

    /// The keys pushed so far, duplicates included.
    pub fn len(&self) -> u64 {
        self.collected.len()
    }

    /// Whether no key was pushed yet.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Refuses settings that are wrong for any keys, before many of them are read.
    ///
    /// ```
    /// # use ribbonfilter_next::{BuildError, Shards, Split};
    /// let builder = Shards::builder(Split::ByHash { bits: 3 });
    /// builder.check()?;
    /// let error = builder.false_positive_rate(2.0).check().unwrap_err();
    /// assert!(matches!(error, BuildError::InvalidRate { .. }));
    /// # Ok::<(), BuildError>(())
    /// ```
    ///
    /// # Errors
    /// If no container can have this split, target, variant and width.
    pub fn check(&self) -> Result<(), BuildError> {
        self.building().map(|_| ())
    }

    /// Builds the container.
    ///
    /// # Errors
    /// As [`FilterBuilder::finish`](crate::FilterBuilder::finish), or if a container cannot be
    /// split so. A shard of a fixed size that is too small for its keys is an error, too.
    pub fn finish(mut self) -> Result<Shards, BuildError> {
        let bytes = self.build()?;
        Ok(Shards::open(bytes).expect("what was built can be opened"))
    }

    /// Builds the container and writes its bytes. Returns their number.
    ///
    /// # Errors
    /// As [`finish`](Self::finish), and if writing fails.
    #[cfg(feature = "std")]
    pub fn finish_to(mut self, writer: impl std::io::Write) -> Result<u64, BuildError> {
        let bytes = self.build()?;
        self.collected.write(bytes.as_ref(), writer)
    }

    fn build(&mut self) -> Result<OwnedBytes, BuildError> {
        let building = self.building()?;
        if let Some(limit) = self.collected.options.max_memory {
            building.check_memory(self.len(), self.collected.thread_count(), limit)?;
        }
        let resources = self.collected.resources();
        let (slabs, progress) = self.collected.take()?;
        let shards = building.build_all(slabs, resources, progress)?;
        let assembled = Assembly::new(&shards).and_then(Assembly::into_bytes);
        assembled.map_err(|error| match error {
            JoinError::OutOfMemory { bytes } => BuildError::OutOfMemory { bytes },
            JoinError::TooLarge { max } => BuildError::ContainerTooLarge { max },
            other => unreachable!("shards of one build: {other}"),
        })
    }

    /// How the shards are built, if the settings are right. It does not depend on the number of keys,
    /// which no single shard knows.
    fn building(&self) -> Result<Building, BuildError> {
        self.split.check()?;
        let (bits, bytes) = (self.split.bits(), self.split.bytes());
        let mut settings = self.collected.settings();
        if let Split::FixedSize { .. } = self.split {
            settings.target = Target::TotalBytes(bytes);
        }
        // Refuses settings that contradict themselves.
        settings.plan(0, 0)?;
        let common =
            Common { key_seed: settings.key_seed, bits, bytes, settings: settings.digest() };
        Ok(Building { common, settings })
    }
}

impl fmt::Debug for ShardsBuilder<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ShardsBuilder")
            .field("split", &self.split)
            .field("target", &self.collected.target)
            .field("options", &self.collected.options)
            .field("len", &self.len())
            .finish_non_exhaustive()
    }
}

/// Builds one shard of a container; [`ShardsBuilder::only`] returns one.
///
/// Keys of other shards are ignored and take no memory: each of several processes can be given all
/// keys, or those that [`Split::shard_of_hash`] names.
#[derive(Debug)]
pub struct ShardBuilder<'p> {
    whole: ShardsBuilder<'p>,
    number: u64,
}

impl ShardBuilder<'_> {
    /// Adds a key, if it belongs to this shard.
    #[inline]
    pub fn push(&mut self, key: impl Key) {
        self.push_hash(key.key_hash(self.whole.collected.options.key_seed));
    }

    /// Adds a key by its hash, if it belongs to this shard.
    #[inline]
    pub fn push_hash(&mut self, key_hash: u64) {
        let (shard, within) = locate(key_hash, self.whole.split.bits());
        if shard == self.number {
            self.whole.push_hash(within);
        }
    }

    /// Adds those of many keys, given by their hashes, that belong to this shard.
    pub fn extend_hashes(&mut self, key_hashes: impl IntoIterator<Item = u64>) {
        key_hashes.into_iter().for_each(|key_hash| self.push_hash(key_hash));
    }

    /// The keys of this shard pushed so far, duplicates included.
    pub fn len(&self) -> u64 {
        self.whole.len()
    }

    /// Whether no key of this shard was pushed yet.
    pub fn is_empty(&self) -> bool {
        self.whole.is_empty()
    }

    /// Reports progress; the callback can stop the build.
    #[must_use]
    pub fn progress<'q>(
        self,
        callback: impl FnMut(Progress) -> ControlFlow<()> + Send + 'q,
    ) -> ShardBuilder<'q> {
        ShardBuilder { whole: self.whole.progress(callback), number: self.number }
    }

    /// Builds the shard.
    ///
    /// # Errors
    /// As [`ShardsBuilder::finish`].
    pub fn finish(mut self) -> Result<Shard, BuildError> {
        let building = self.whole.building()?;
        self.whole.collected.target = building.settings.target;
        let filter = self.whole.collected.build()?;
        building.shard(self.number, filter.as_ref())
    }
}

/// Adds many keys.
impl<K: Key> Extend<K> for ShardsBuilder<'_> {
    fn extend<I: IntoIterator<Item = K>>(&mut self, keys: I) {
        let key_seed = self.collected.options.key_seed;
        self.extend_hashes(keys.into_iter().map(|key| key.key_hash(key_seed)));
    }
}

/// Adds those of many keys that belong to this shard.
impl<K: Key> Extend<K> for ShardBuilder<'_> {
    fn extend<I: IntoIterator<Item = K>>(&mut self, keys: I) {
        keys.into_iter().for_each(|key| self.push(key));
    }
}
