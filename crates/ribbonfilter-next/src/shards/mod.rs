//! A container of filters, one for each part of the hashes (paper, section 5.4).
//!
//! ```text
//! key hash ── mix ── times the number of shards ──┬─ integer part: the shard
//!                                                 └─ fraction: the key hash in its filter
//! ```
//!
//! Shards are ordinary filters. They are built one by one ([`by_hash`]), in any process, and
//! [`assemble`] puts them into one file. A query finds the filter of its shard in the directory, and
//! the [`Probe`] of the filter does the rest.

mod assemble;
#[cfg(any(test, feature = "build"))]
mod builder;
#[cfg(any(test, feature = "build"))]
mod by_hash;
mod shard;
mod split;

#[cfg(any(test, feature = "build"))]
pub use builder::{ShardBuilder, ShardsBuilder};
pub use shard::Shard;
pub use split::Split;

use crate::error::{JoinError, OpenError};
use crate::format::Footer;
use crate::format::container::Container;
use crate::kernel::Kernel;
use crate::query::Probe;
use crate::ribbon::rate::{mean_columns, with_collisions};
use crate::storage::bytes::OwnedBytes;
use crate::storage::memory::try_reserve;
use crate::storage::over_bytes::over_bytes;
use crate::{Key, Variant, Width};
use alloc::vec;
use alloc::vec::Vec;
use assemble::Assembly;
use core::fmt;
use core::ops::Range;
use split::locate;

/// Hashes of a batch that are brought into the order of their shards at a time: at least this number,
/// and [`WORTHWHILE`] for each shard, unless they would be more than the second number.
const GROUPED: (u64, u64) = (1 << 13, 1 << 18);
/// With fewer hashes for each shard the order is not worth its cost.
const WORTHWHILE: u64 = 8;
/// Up to this number of shards, their filters are opened with the container. If there are more,
/// every query opens the filter that it needs.
const PREPARED: u64 = 1 << 10;

/// A static set in shards: one file of many filters, queried like one.
///
/// For sets whose filter cannot be built in one piece, because the keys exceed memory or are
/// distributed over several processes, and for filters that are to be made of small pieces. [`Split`]
/// says which ways there are to split a set.
///
/// ```
/// use ribbonfilter_next::{Shards, Split};
///
/// let mut builder = Shards::builder(Split::ByHash { bits: 4 }).false_positive_rate(0.01);
/// builder.extend(0..100_000);
/// let shards = builder.finish()?;
/// assert!(shards.contains(4711));
///
/// let view = Shards::open(shards.as_bytes())?;
/// view.verify()?;
/// assert!(view.contains(4711));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// As with a [`Filter`](crate::Filter), `D` may be any bytes, and if a foreign `AsRef` later
/// returns bytes of another length, every key is reported as possibly present.
#[derive(Clone)]
pub struct Shards<D = OwnedBytes> {
    data: D,
    container: Container,
    kernel: Kernel,
    /// The filters of all shards, unless there are too many. `None` where the bytes are corrupt.
    prepared: Vec<Option<Prepared>>,
    /// The number of bytes with which it was opened.
    len: usize,
}

/// The filter of a shard: how it is queried, and where it lies.
#[derive(Clone)]
struct Prepared {
    probe: Probe,
    range: Range<usize>,
}

impl Prepared {
    /// The filter in the bytes of the container, which are as many as when it was opened.
    #[inline]
    fn contains(&self, bytes: &[u8], key_hash: u64) -> bool {
        self.probe.contains(&bytes[self.range.clone()], key_hash)
    }
}

impl Shards {
    /// A builder of a container that is split in some way.
    #[cfg(any(test, feature = "build"))]
    pub fn builder(split: Split) -> ShardsBuilder<'static> {
        ShardsBuilder::new(split)
    }

    /// Makes a container of all its shards, given in any order.
    ///
    /// The bytes are those that one process would have built.
    ///
    /// ```
    /// use ribbonfilter_next::{Shards, Split};
    ///
    /// let shards = (0..4).map(|number| {
    ///     let mut builder = Shards::builder(Split::ByHash { bits: 2 }).only(number)?;
    ///     builder.extend(["ada", "grace", "edsger"]);
    ///     builder.finish()
    /// });
    /// let shards: Vec<_> = shards.collect::<Result<_, _>>()?;
    /// assert!(Shards::assemble(shards)?.contains("grace"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If a shard is missing, duplicate, corrupt, or built with other settings than the others; or
    /// if memory runs out.
    pub fn assemble<S: AsRef<[u8]>>(
        shards: impl IntoIterator<Item = Shard<S>>,
    ) -> Result<Self, JoinError> {
        let shards = Vec::from_iter(shards);
        let bytes = Assembly::new(&shards)?.into_bytes()?;
        Ok(Self::open(bytes).expect("what was assembled can be opened"))
    }

    /// Writes a container of all its shards, and returns the number of bytes. No more memory is taken
    /// than the directory needs, so mapped shards may be larger than memory.
    ///
    /// ```
    /// # use ribbonfilter_next::{Shards, Split};
    /// # let shard = Shards::builder(Split::ByHash { bits: 0 }).only(0)?.finish()?;
    /// let mut bytes = Vec::new(); // or a file
    /// Shards::assemble_to([shard], &mut bytes)?;
    /// assert!(Shards::open(bytes)?.is_empty());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`assemble`](Self::assemble), before anything is written; and if writing fails.
    #[cfg(feature = "std")]
    pub fn assemble_to<S: AsRef<[u8]>>(
        shards: impl IntoIterator<Item = Shard<S>>,
        writer: impl std::io::Write,
    ) -> Result<u64, JoinError> {
        let shards = Vec::from_iter(shards);
        Ok(Assembly::new(&shards)?.write(writer)?)
    }
}

impl<D: AsRef<[u8]>> Shards<D> {
    /// Opens a container over existing bytes, in constant time and without a copy.
    ///
    /// The footer at the end is read and checked, and the filters of up to 1024 shards are opened;
    /// [`verify`](Self::verify) checks the rest. Queries on unverified bytes are safe: their
    /// results may be wrong, but they never panic or read outside.
    ///
    /// ```
    /// use ribbonfilter_next::{Filter, Kind, OpenError, Shards};
    ///
    /// let filter = Filter::build(["ada"], 0.01)?;
    /// let error = Shards::open(filter.as_bytes()).unwrap_err();
    /// assert!(matches!(error, OpenError::WrongKind { found: Kind::Filter, .. }));
    /// # Ok::<(), ribbonfilter_next::BuildError>(())
    /// ```
    ///
    /// # Errors
    /// If the bytes are not a container that this version can read, or not all of one.
    pub fn open(data: D) -> Result<Self, OpenError> {
        let (len, container) = (data.as_ref().len(), Container::read(data.as_ref())?);
        let shards = Self { data, container, kernel: Kernel::best(), prepared: Vec::new(), len };
        Ok(shards.prepared_for(Kernel::best()))
    }

    /// The same container with another kernel, for tests and benchmarks.
    #[cfg(feature = "internals")]
    #[must_use]
    pub fn with_kernel(self, kernel: Kernel) -> Self {
        self.prepared_for(kernel)
    }

    fn prepared_for(mut self, kernel: Kernel) -> Self {
        self.kernel = kernel;
        let (bytes, count) = (self.data.as_ref(), self.shard_count());
        let mut prepared = Vec::new();
        if count <= PREPARED
            && bytes.len() == self.len
            && try_reserve(&mut prepared, count as usize).is_ok()
        {
            prepared.extend((0..count).map(|shard| self.prepare(bytes, shard)));
        }
        self.prepared = prepared;
        self
    }

    /// Opens the filter of a shard, in bytes of the length that was opened.
    #[inline]
    fn prepare(&self, bytes: &[u8], shard: u64) -> Option<Prepared> {
        let (footer, range) = self.container.footer(bytes, shard)?;
        Some(Prepared { probe: footer.probe(self.kernel).ok()?, range })
    }

    /// Checks every byte against the checksums, shard by shard.
    ///
    /// ```
    /// use ribbonfilter_next::{OpenError, Shards, Split};
    ///
    /// let mut builder = Shards::builder(Split::ByHash { bits: 1 });
    /// builder.extend(0..1000);
    /// let mut bytes = builder.finish()?.as_bytes().to_vec();
    /// bytes[0] ^= 1;
    /// let corrupt = Shards::open(bytes).unwrap();
    /// assert!(matches!(corrupt.verify(), Err(OpenError::CorruptShard { shard: 0 })));
    /// # Ok::<(), ribbonfilter_next::BuildError>(())
    /// ```
    ///
    /// # Errors
    /// If a byte is corrupt; names the first shard with one, or the directory.
    pub fn verify(&self) -> Result<(), OpenError> {
        let bytes = self.data.as_ref();
        // A foreign `AsRef` may have other bytes by now.
        Container::read(bytes)?.verify(bytes)
    }

    /// Whether the key might be in the set. Never false for a key that was put in.
    ///
    /// ```
    /// # use ribbonfilter_next::{Shards, Split};
    /// # let mut builder = Shards::builder(Split::ByHash { bits: 4 });
    /// # builder.push("ada");
    /// assert!(builder.finish()?.contains("ada"));
    /// # Ok::<(), ribbonfilter_next::BuildError>(())
    /// ```
    #[inline]
    pub fn contains(&self, key: impl Key) -> bool {
        self.contains_hash(key.key_hash(self.container.common.key_seed))
    }

    /// Whether the key with this hash might be in the set.
    #[inline]
    pub fn contains_hash(&self, key_hash: u64) -> bool {
        let (shard, within) = self.locate(key_hash);
        self.with_filter(self.data.as_ref(), shard, |filter, bytes| filter.contains(bytes, within))
            .unwrap_or(true)
    }

    /// [`contains`](Self::contains) for many keys.
    ///
    /// ```
    /// # use ribbonfilter_next::{Shards, Split};
    /// # let mut builder = Shards::builder(Split::ByHash { bits: 1 }).columns(20.0);
    /// # builder.extend([3, 5, 7]);
    /// assert_eq!(builder.finish()?.contains_batch(&[3, 4, 5]), [true, false, true]);
    /// # Ok::<(), ribbonfilter_next::BuildError>(())
    /// ```
    pub fn contains_batch<K: Key>(&self, keys: &[K]) -> Vec<bool> {
        let mut hits = vec![false; keys.len()];
        self.contains_batch_into(keys, &mut hits);
        hits
    }

    /// [`contains_batch`](Self::contains_batch) into an existing buffer. If the lengths
    /// differ, the rest of the longer one is left alone.
    pub fn contains_batch_into<K: Key>(&self, keys: &[K], hits: &mut [bool]) {
        // Each chunk of hashes is grouped by shard.
        let chunk = self.grouped();
        let mut hashes = vec![0; keys.len().min(chunk)];
        for (keys, hits) in keys.chunks(chunk).zip(hits.chunks_mut(chunk)) {
            for (hash, key) in hashes.iter_mut().zip(keys) {
                *hash = key.key_hash(self.container.common.key_seed);
            }
            self.contains_hash_batch_into(&hashes[..keys.len()], hits);
        }
    }

    /// [`contains_hash`](Self::contains_hash) for many hashes.
    pub fn contains_hash_batch(&self, key_hashes: &[u64]) -> Vec<bool> {
        let mut hits = vec![false; key_hashes.len()];
        self.contains_hash_batch_into(key_hashes, &mut hits);
        hits
    }

    /// [`contains_hash_batch`](Self::contains_hash_batch) into an existing buffer.
    /// If the lengths differ, the rest of the longer one is left alone.
    pub fn contains_hash_batch_into(&self, key_hashes: &[u64], hits: &mut [bool]) {
        let chunk = self.grouped();
        for (hashes, hits) in key_hashes.chunks(chunk).zip(hits.chunks_mut(chunk)) {
            match hashes.len() as u64 >= WORTHWHILE * self.shard_count() {
                true => self.query_grouped(hashes, hits),
                false => {
                    for (&hash, hit) in hashes.iter().zip(hits) {
                        *hit = self.contains_hash(hash);
                    }
                }
            }
        }
    }

    /// The hashes that are grouped at a time.
    fn grouped(&self) -> usize {
        (WORTHWHILE * self.shard_count()).clamp(GROUPED.0, GROUPED.1) as usize
    }

    /// Queries hashes in the order of their shards, so that each filter is queried for a batch.
    fn query_grouped(&self, hashes: &[u64], hits: &mut [bool]) {
        // First the number of hashes of each shard, then where they begin, in the end where they end.
        let mut ends = vec![0; self.shard_count() as usize];
        for &hash in hashes {
            ends[self.locate(hash).0 as usize] += 1;
        }
        let mut begin = 0;
        for end in &mut ends {
            begin += core::mem::replace(end, begin);
        }
        let (mut within, mut positions) = (vec![0; hashes.len()], vec![0; hashes.len()]);
        for (position, &hash) in hashes.iter().enumerate() {
            let (shard, hash) = self.locate(hash);
            let end = &mut ends[shard as usize];
            (within[*end], positions[*end]) = (hash, position);
            *end += 1;
        }
        let mut bits = vec![0; hashes.len().div_ceil(64)];
        let mut begin = 0;
        for (shard, end) in (0..).zip(ends) {
            let within = &within[begin..end];
            // If a filter cannot be queried, every key may be in the set.
            let queried = self.with_filter(self.data.as_ref(), shard, |filter, bytes| {
                let bytes = &bytes[filter.range.clone()];
                filter.probe.contains_batch(bytes, within, &mut bits);
            });
            for (i, &position) in positions[begin..end].iter().enumerate() {
                if let Some(hit) = hits.get_mut(position) {
                    *hit = queried.is_none() || bits[i / 64] >> (i % 64) & 1 == 1;
                }
            }
            begin = end;
        }
    }

    /// The shard of a key, and its hash there.
    #[inline]
    fn locate(&self, key_hash: u64) -> (u64, u64) {
        locate(key_hash, self.container.common.bits)
    }

    /// Queries the filter of a shard; `None` if the bytes are not those that were opened, or corrupt.
    #[inline]
    fn with_filter<T>(
        &self,
        bytes: &[u8],
        shard: u64,
        query: impl FnOnce(&Prepared, &[u8]) -> T,
    ) -> Option<T> {
        if bytes.len() != self.len {
            return None;
        }
        match self.prepared.get(shard as usize) {
            Some(prepared) => Some(query(prepared.as_ref()?, bytes)),
            None => Some(query(&self.prepare(bytes, shard)?, bytes)),
        }
    }

    /// The shard of the key with this hash, counted from 0.
    ///
    /// ```
    /// # use ribbonfilter_next::{Shards, Split};
    /// let split = Split::ByHash { bits: 3 };
    /// let shards = Shards::builder(split).finish()?;
    /// assert_eq!(shards.shard_of_hash(4711), split.shard_of_hash(4711));
    /// # Ok::<(), ribbonfilter_next::BuildError>(())
    /// ```
    pub fn shard_of_hash(&self, key_hash: u64) -> u64 {
        self.locate(key_hash).0
    }

    /// The number of shards.
    pub fn shard_count(&self) -> u64 {
        self.container.common.shards()
    }

    /// The number of keys, distinct ones unless duplicates are too few to matter.
    pub fn len(&self) -> u64 {
        self.container.keys
    }

    /// Whether there is no key: every query then returns false.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// All bytes, directory and footer included.
    pub fn size_in_bytes(&self) -> usize {
        self.len
    }

    /// The bytes of directory and footer.
    ///
    /// ```
    /// # use ribbonfilter_next::{Shards, Split};
    /// let shards = Shards::builder(Split::FixedSize { bits: 2, bytes: 100 }).finish()?;
    /// assert_eq!(shards.directory_bytes(), 4 * 5 + 40);
    /// assert_eq!(shards.size_in_bytes(), 4 * 100 + shards.directory_bytes());
    /// # Ok::<(), ribbonfilter_next::BuildError>(())
    /// ```
    pub fn directory_bytes(&self) -> usize {
        self.container.directory_bytes()
    }

    /// All stored bits over the number of keys; infinite without keys.
    pub fn bits_per_key(&self) -> f64 {
        self.len as f64 * 8.0 / self.len() as f64
    }

    /// The false-positive rate: the fraction of absent keys that are reported as present. It
    /// includes keys with equal hashes, as [`Filter::expected_rate`](crate::Filter::expected_rate)
    /// does. Reads the footers of all shards.
    pub fn expected_rate(&self) -> f64 {
        // Each shard is queried as often as any other.
        with_collisions(self.mean(Footer::rate), self.len())
    }

    /// The variant of the shard with the most keys. Others may differ unless it was chosen. Reads the
    /// footers of all shards.
    pub fn variant(&self) -> Variant {
        self.fullest().map_or(Variant::Standard, |filter| filter.shape.variant())
    }

    /// The ribbon width of the shard with the most keys. Others may differ unless it was chosen. Reads
    /// the footers of all shards.
    pub fn width(&self) -> Width {
        self.fullest().map_or(Width::W128, |filter| filter.shape.first.width)
    }

    /// The mean number of columns: the bits that a query compares. Reads the footers of all shards.
    pub fn columns(&self) -> f64 {
        self.mean(|filter| mean_columns(&filter.shape.first))
    }

    /// The footers of the filters of all shards, but of those that are corrupt.
    fn footers(&self) -> impl Iterator<Item = Footer> {
        let bytes = self.data.as_ref();
        (0..self.shard_count()).filter_map(|shard| Some(self.container.footer(bytes, shard)?.0))
    }

    fn mean(&self, property: impl Fn(&Footer) -> f64) -> f64 {
        self.footers().map(|filter| property(&filter)).sum::<f64>() / self.shard_count() as f64
    }

    fn fullest(&self) -> Option<Footer> {
        self.footers().max_by_key(|filter| filter.keys)
    }

    /// The seed under which keys are hashed.
    pub fn key_seed(&self) -> u64 {
        self.container.common.key_seed
    }
}

over_bytes!(
    Shards,
    "container",
    "Shards::builder(ribbonfilter_next::Split::ByHash { bits: 1 }).finish()?"
);

impl<D: AsRef<[u8]>> fmt::Debug for Shards<D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shards")
            .field("shard_count", &self.shard_count())
            .field("len", &self.len())
            .field("size_in_bytes", &self.size_in_bytes())
            .finish_non_exhaustive()
    }
}
