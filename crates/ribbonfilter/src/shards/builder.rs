//! Keys go in, a container of shards or one shard comes out.

use super::assemble::Assembly;
use super::by_hash::Plain;
use super::until_full;
use super::{Shard, Shards, Split};
use crate::build::collect::Collected;
use crate::build::{Item, option_methods};
use crate::error::{BuildError, JoinError};
use crate::format::{Container, FOOTER_BYTES, Filling, target_digest};
use crate::plan::{Settings, Target};
use crate::progress::Progress;
use crate::storage::bytes::OwnedBytes;
use crate::{Key, Variant, Width};
use alloc::vec::Vec;
use core::fmt;
use core::ops::ControlFlow;

/// Keys on their way, by their mixed hashes.
pub(super) type Keys = Vec<Item<u64, ()>>;

/// Collects keys and settings and builds a container of [`Shards`].
///
/// Keys are kept as 8 bytes each. Without a target the rate is 0.01. Unless a variant is chosen,
/// shards are Bumped, but Standard at width 16 and where they are filled
/// [until they are full](Split::UntilFull). Unless a width is chosen, it is 128 for Bumped and
/// Standard shards and 64 for others. Options that builders share are in
/// [`BuildOptions`](crate::BuildOptions).
///
/// ```
/// use ribbonfilter::{Shards, Split};
///
/// let mut builder = Shards::builder(Split::ByHash { bits: 4 }).false_positive_rate(0.001);
/// builder.extend(0..100_000);
/// let shards = builder.finish()?;
/// assert_eq!(shards.shard_count(), 16);
/// assert!(shards.contains(99_999));
/// # Ok::<(), ribbonfilter::BuildError>(())
/// ```
///
/// The bytes depend only on the set of keys and the options, not on the order of the keys, the
/// threads, or the processes that built the shards. Duplicates do no harm; a few of them count in the
/// plan of their shard, many are removed. The effort and the
/// overhead have no influence where shards are filled until they are full.
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
    /// Aims for a false-positive rate: at most this in every shard, or, where shards are filled
    /// [until they are full](Split::UntilFull), on average over all.
    ///
    /// ```
    /// # use ribbonfilter::{Shards, Split};
    /// let mut builder = Shards::builder(Split::UntilFull).false_positive_rate(0.05);
    /// builder.extend(0..10_000);
    /// assert!(builder.finish()?.expected_rate() <= 0.05);
    /// # Ok::<(), ribbonfilter::BuildError>(())
    /// ```
    #[must_use]
    pub fn false_positive_rate(mut self, rate: f64) -> Self {
        self.collected.target = Target::Rate(rate);
        self
    }

    /// Aims for a number of columns, more than 0 and at most 32, fractions included.
    ///
    /// ```
    /// # use ribbonfilter::{Shards, Split};
    /// let mut builder = Shards::builder(Split::ByHash { bits: 2 }).columns(8.0);
    /// builder.extend(0..10_000);
    /// assert_eq!(builder.finish()?.columns(), 8.0);
    /// # Ok::<(), ribbonfilter::BuildError>(())
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

    /// A builder of one shard alone, which passes over the keys of the others.
    ///
    /// Keys that were pushed already are sorted out too.
    ///
    /// ```
    /// use ribbonfilter::{Shards, Split};
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
    /// If there is no such shard, or if where it begins follows from all keys
    /// ([`Split::UntilFull`]).
    pub fn only(mut self, shard: u64) -> Result<ShardBuilder<'p>, BuildError> {
        self.split.check()?;
        let shards = self.split.bits().map_or(0, |bits| 1 << bits);
        if shard >= shards {
            return Err(BuildError::NoSuchShard { shard, shards });
        }
        let bits = self.split.bits().unwrap_or(0);
        let is_mine =
            |item: &Item<u64, ()>| crate::ribbon::equation::segment(item.hash, bits) == shard;
        self.collected.store.items.retain(is_mine);
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
        self.collected.store.items.len() as u64
    }

    /// Whether no key was pushed yet.
    pub fn is_empty(&self) -> bool {
        self.collected.store.items.is_empty()
    }

    /// Refuses settings that are wrong for any keys, before a long reading of them.
    ///
    /// ```
    /// # use ribbonfilter::{BuildError, Shards, Split};
    /// let builder = Shards::builder(Split::ByHash { bits: 3 });
    /// builder.check()?;
    /// let error = builder.false_positive_rate(2.0).check().unwrap_err();
    /// assert!(matches!(error, BuildError::InvalidRate { .. }));
    /// # Ok::<(), BuildError>(())
    /// ```
    ///
    /// # Errors
    /// If no container can be of this split, target, variant and width.
    pub fn check(&self) -> Result<(), BuildError> {
        self.way().map(|_| ())
    }

    /// Builds the container.
    ///
    /// # Errors
    /// As [`FilterBuilder::finish`](crate::FilterBuilder::finish), and if the split cannot be.
    /// A shard of a fixed size that is too small for its keys is an error, too.
    pub fn finish(mut self) -> Result<Shards, BuildError> {
        let bytes = self.build()?;
        Ok(Shards::open(bytes).expect("what was built can be opened"))
    }

    /// Builds the container and writes it; how many bytes.
    ///
    /// # Errors
    /// As [`finish`](Self::finish), and if writing fails.
    #[cfg(feature = "std")]
    pub fn finish_to(mut self, writer: impl std::io::Write) -> Result<u64, BuildError> {
        let bytes = self.build()?;
        self.collected.write(bytes.as_ref(), writer)
    }

    fn build(&mut self) -> Result<OwnedBytes, BuildError> {
        let way = self.way()?;
        self.check_memory(&way)?;
        let (keys, resources, progress) = self.collected.take()?;
        let plain = match way {
            Way::ByHash(plain) => plain,
            Way::UntilFull(settings, width) => {
                return until_full::build(keys.items, width, &settings, resources, progress);
            }
        };
        let shards = plain.build_all(keys.items, resources, progress)?;
        let assembled = Assembly::new(&shards).and_then(Assembly::into_bytes);
        assembled.map_err(|error| match error {
            JoinError::OutOfMemory { bytes } => BuildError::OutOfMemory { bytes },
            JoinError::TooLarge { max } => BuildError::ContainerTooLarge { max },
            other => unreachable!("shards of one build: {other}"),
        })
    }

    /// Returns an error if the build would exceed the memory limit. It holds the pushed hashes, the
    /// shards that are being built with a copy of their hashes, and all finished shards twice: on
    /// their own and in the container.
    fn check_memory(&self, way: &Way) -> Result<(), BuildError> {
        let Some(limit) = self.collected.options.max_memory else { return Ok(()) };
        let (shards, settings) = match way {
            Way::ByHash(plain) => (plain.container.shards(), &plain.settings),
            Way::UntilFull(settings, _) => (1, settings),
        };
        // If there is no plan for a shard, building it reports why.
        let Ok(shard) = settings.plan(self.len().div_ceil(shards), 0) else { return Ok(()) };
        let at_a_time = shards.min(self.collected.thread_count() as u64);
        let finished = shards.saturating_mul(2 * shard.size_in_bytes());
        let needed = 8 * self.len() + at_a_time * shard.peak_memory() + finished;
        if needed > limit { Err(BuildError::MemoryLimit { needed, limit }) } else { Ok(()) }
    }

    /// How the shards are built, if the settings are right.
    fn way(&self) -> Result<Way, BuildError> {
        self.split.check()?;
        if self.split == Split::UntilFull {
            return self.standard().map(|(settings, width)| Way::UntilFull(settings, width));
        }
        self.plain().map(Way::ByHash)
    }

    /// What shards that are filled until they are full are made of.
    fn standard(&self) -> Result<(Settings, Width), BuildError> {
        let variant = self.collected.options.variant.unwrap_or(Variant::Standard);
        if variant != Variant::Standard {
            return Err(BuildError::NotForShards { variant });
        }
        let settings = Settings { variant: Some(variant), ..self.collected.settings() };
        // Refuses wrong targets.
        let plan = settings.plan(0, 0)?;
        Ok((settings, plan.width()))
    }

    /// What all shards by hash have in common. Nothing of it depends on the number of keys,
    /// which no single shard knows.
    fn plain(&self) -> Result<Plain, BuildError> {
        let mut settings = self.collected.settings();
        let narrow = settings.width == Some(Width::W16);
        let variant = if narrow { Variant::Standard } else { Variant::Bumped };
        settings.variant = settings.variant.or(Some(variant));
        let filling = match self.split {
            Split::FixedSize { bits, bytes } => {
                settings.target = Target::TotalBytes(bytes + FOOTER_BYTES as u64);
                Filling::FixedSize { bits, bytes }
            }
            _ => {
                let bits = self.split.bits().unwrap_or(0);
                Filling::ByHash { bits, target: digest(settings.target) }
            }
        };
        let plan = settings.plan(0, 0)?;
        settings.width = Some(plan.width());
        let (variant, width) = (plan.variant(), plan.width());
        Ok(Plain {
            container: Container::new(settings.key_seed, variant, width, filling),
            settings,
        })
    }
}

/// How shards are built, and of what.
enum Way {
    ByHash(Plain),
    UntilFull(Settings, Width),
}

/// Forty bits that distinguish this target from others.
fn digest(target: Target) -> u64 {
    match target {
        Target::Columns(columns) => target_digest(1, columns),
        Target::Rate(rate) => target_digest(0, rate),
        _ => 0,
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

/// Builds one shard of a container that is split by hash; [`ShardsBuilder::only`] gives one.
///
/// Keys of other shards are passed over as they come and take no memory: each of several
/// processes can be fed all keys, or those that [`Split::shard_of_hash`] names.
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
        if self.whole.split.shard_of_hash(key_hash) == Some(self.number) {
            self.whole.push_hash(key_hash);
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
        let plain = self.whole.plain()?;
        let (keys, resources, progress) = self.whole.collected.take()?;
        plain.build(self.number, &keys.items, resources, progress)
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
