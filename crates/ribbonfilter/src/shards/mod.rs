//! A container of filters, one for each part of the hashes (paper, section 5.4).
//!
//! A shard is given by the top bits of [`equation::mix`](crate::ribbon::equation::mix), or by a range of
//! it, and is independent of the others. Shards by hash are ordinary filters of what is left of
//! the hash: they are built one by one ([`by_hash`]), in any process, and [`assemble`] puts them
//! into one file. Shards that are filled until they are full ([`until_full`]) are of one system
//! whose segments have borders found on the way.
//!
//! Queries are those of filters: the directory locates a shard, and its probe does the rest.

mod assemble;
#[cfg(any(test, feature = "build"))]
mod builder;
#[cfg(any(test, feature = "build"))]
mod by_hash;
mod shard;
mod split;
#[cfg(any(test, feature = "build"))]
mod until_full;

#[cfg(any(test, feature = "build"))]
pub use builder::{ShardBuilder, ShardsBuilder};
pub use shard::Shard;
pub use split::Split;

use crate::error::{JoinError, OpenError};
use crate::format::{Container, Filling};
use crate::kernel::Kernel;
use crate::query::{Membership, Probe, Ranges, in_hashes};
use crate::ribbon::equation::{below_segment, mix, segment};
use crate::ribbon::rate::with_collisions;
use crate::storage::bytes::OwnedBytes;
use crate::storage::memory::try_reserve;
use crate::storage::over_bytes::over_bytes;
use crate::{Key, Variant, Width};
use alloc::vec;
use alloc::vec::Vec;
use assemble::Assembly;
use core::fmt;
use core::ops::Range;

/// Hashes of a batch that are brought into the order of their shards at a time.
const GROUPED: usize = 1 << 13;
/// With fewer hashes for each shard the order is not worth its cost.
const WORTHWHILE: u64 = 8;
/// Up to this number of shards by hash, probes are made when a container is opened, which takes
/// some 50 ns each. If there are more, every query makes the probe that it needs.
const PREPARED: u64 = 1 << 10;

/// A static set in shards: one file of many filters, queried like one.
///
/// For sets whose filter cannot be built in one piece, because the keys exceed memory or are
/// distributed over several processes, and for filters that are to be made of small pieces. [`Split`] says
/// which ways there are to split a set.
///
/// ```
/// use ribbonfilter::{Shards, Split};
///
/// let mut builder = Shards::builder(Split::UntilFull).false_positive_rate(0.01);
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
    /// For shards that were filled until they were full: one probe for all.
    ranges: Option<Probe<Membership, Ranges>>,
    /// For shards by hash, unless there are too many. `None` where the directory is corrupt.
    prepared: Vec<Option<ShardProbe>>,
    /// The bytes that `data` had when it was opened.
    len: usize,
}

/// The filter of a shard: how it is queried, and its bytes with those that must follow them.
#[derive(Clone)]
struct ShardProbe {
    probe: Probe<Membership>,
    bytes: Range<usize>,
}

impl Shards {
    #[cfg(any(test, feature = "build"))]
    /// A builder of a container that is split in some way.
    pub fn builder(split: Split) -> ShardsBuilder<'static> {
        ShardsBuilder::new(split)
    }

    /// Makes a container of all its shards, given in any order.
    ///
    /// The bytes are those that one process would have built.
    ///
    /// ```
    /// use ribbonfilter::{Shards, Split};
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

    /// Writes a container of all its shards; how many bytes. No more memory is taken than the
    /// directory needs, so mapped shards may be larger than memory.
    ///
    /// ```
    /// # use ribbonfilter::{Shards, Split};
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
    /// The footer at the end is read and checked, and the directory of up to 1024 shards by
    /// hash; [`verify`](Self::verify) checks the rest. Queries on unverified bytes are safe: their
    /// results may be wrong, but they never panic or read outside.
    ///
    /// ```
    /// use ribbonfilter::{Filter, Kind, OpenError, Shards};
    ///
    /// let filter = Filter::build(["ada"], 0.01)?;
    /// let error = Shards::open(filter.as_bytes()).unwrap_err();
    /// assert!(matches!(error, OpenError::WrongKind { found: Kind::Filter, .. }));
    /// # Ok::<(), ribbonfilter::BuildError>(())
    /// ```
    ///
    /// # Errors
    /// If the bytes are not a container that this version can read, or not all of one.
    pub fn open(data: D) -> Result<Self, OpenError> {
        let bytes = data.as_ref();
        let (len, container) = (bytes.len(), Container::read(bytes)?);
        let shards = Self {
            data,
            container,
            kernel: Kernel::best(),
            ranges: None,
            prepared: Vec::new(),
            len,
        };
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
        self.ranges = match self.container.filling {
            Filling::UntilFull(ranges) => {
                let (layout, width) = (ranges.layout(), ranges.width);
                let bytes = self.data.as_ref();
                Some(Probe::new(layout, width, bytes, kernel, Ranges::new(ranges), 0))
            }
            _ => None,
        };
        self.prepared = self.prepare();
        self
    }

    /// The probes of all shards by hash; none if they are too many.
    fn prepare(&self) -> Vec<Option<ShardProbe>> {
        let (bytes, count) = (self.data.as_ref(), self.shard_count());
        let mut prepared = Vec::new();
        if self.ranges.is_none()
            && count <= PREPARED
            && bytes.len() == self.len
            && try_reserve(&mut prepared, count as usize).is_ok()
        {
            prepared.extend((0..count).map(|shard| self.shard_probe(bytes, shard)));
        }
        prepared
    }

    /// Checks every byte against the checksums, shard by shard.
    ///
    /// ```
    /// use ribbonfilter::{OpenError, Shards, Split};
    ///
    /// let mut builder = Shards::builder(Split::ByHash { bits: 1 });
    /// builder.extend(0..1000);
    /// let mut bytes = builder.finish()?.as_bytes().to_vec();
    /// bytes[0] ^= 1;
    /// let corrupt = Shards::open(bytes).unwrap();
    /// assert!(matches!(corrupt.verify(), Err(OpenError::CorruptShard { shard: 0 })));
    /// # Ok::<(), ribbonfilter::BuildError>(())
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
    /// # use ribbonfilter::{Shards, Split};
    /// # let mut builder = Shards::builder(Split::UntilFull);
    /// # builder.push("ada");
    /// assert!(builder.finish()?.contains("ada"));
    /// # Ok::<(), ribbonfilter::BuildError>(())
    /// ```
    #[inline]
    pub fn contains(&self, key: impl Key) -> bool {
        self.contains_hash(key.key_hash(self.container.key_seed))
    }

    /// Whether the key with this hash might be in the set.
    #[inline]
    pub fn contains_hash(&self, key_hash: u64) -> bool {
        let bytes = self.data.as_ref();
        match &self.ranges {
            Some(probe) => probe.query(bytes, key_hash),
            None => {
                let (shard, within) = self.locate(key_hash);
                self.query_shard(bytes, shard, |probe, bytes| probe.query(bytes, within))
                    .unwrap_or(true)
            }
        }
    }

    /// [`contains`](Self::contains) for many keys.
    ///
    /// ```
    /// # use ribbonfilter::{Shards, Split};
    /// # let mut builder = Shards::builder(Split::ByHash { bits: 1 }).columns(20.0);
    /// # builder.extend([3, 5, 7]);
    /// assert_eq!(builder.finish()?.contains_batch(&[3, 4, 5]), [true, false, true]);
    /// # Ok::<(), ribbonfilter::BuildError>(())
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
        let mut hashes = vec![0; keys.len().clamp(1, GROUPED)];
        in_hashes(keys, self.container.key_seed, &mut hashes, hits, |hashes, hits| {
            self.contains_hash_batch_into(hashes, hits);
        });
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
        let bytes = self.data.as_ref();
        if let Some(probe) = &self.ranges {
            return probe.query_hashes(bytes, key_hashes, hits);
        }
        for (hashes, hits) in key_hashes.chunks(GROUPED).zip(hits.chunks_mut(GROUPED)) {
            match hashes.len() as u64 >= WORTHWHILE * self.shard_count() {
                true => self.query_grouped(bytes, hashes, hits),
                false => {
                    for (&hash, hit) in hashes.iter().zip(hits) {
                        *hit = self.contains_hash(hash);
                    }
                }
            }
        }
    }

    /// Queries hashes in the order of their shards, so that each shard is queried for a batch of
    /// them, and prefetches.
    fn query_grouped(&self, bytes: &[u8], hashes: &[u64], hits: &mut [bool]) {
        let mut ends = vec![0; self.shard_count() as usize];
        for &hash in hashes {
            ends[self.locate(hash).0 as usize] += 1;
        }
        let mut begin = 0;
        for end in &mut ends {
            begin += core::mem::replace(end, begin);
        }
        let (mut within, mut from) = (vec![0; hashes.len()], vec![0; hashes.len()]);
        for (index, &hash) in hashes.iter().enumerate() {
            let (shard, hash) = self.locate(hash);
            let end = &mut ends[shard as usize];
            (within[*end], from[*end]) = (hash, index);
            *end += 1;
        }
        // If a shard cannot be queried, every key may be in the set.
        let mut results = vec![true; hashes.len()];
        let mut begin = 0;
        for (shard, end) in (0..).zip(ends) {
            let results = &mut results[begin..end];
            let within = &within[begin..end];
            let _ = self.query_shard(bytes, shard, |probe, bytes| {
                probe.query_hashes(bytes, within, results);
            });
            begin = end;
        }
        for (from, result) in from.into_iter().zip(results) {
            if let Some(hit) = hits.get_mut(from) {
                *hit = result;
            }
        }
    }

    /// The shard of a key, where they are by hash, and its hash there.
    #[inline]
    fn locate(&self, key_hash: u64) -> (u64, u64) {
        let (mixed, bits) = (mix(key_hash), self.container.filling.bits());
        (segment(mixed, bits), below_segment(mixed, bits))
    }

    /// Queries the filter of a shard; `None` if the bytes are not those that were opened, or the
    /// directory is corrupt.
    #[inline]
    fn query_shard<T>(
        &self,
        bytes: &[u8],
        shard: u64,
        query: impl FnOnce(&Probe<Membership>, &[u8]) -> T,
    ) -> Option<T> {
        if bytes.len() != self.len {
            return None;
        }
        match self.prepared.get(shard as usize) {
            Some(prepared) => {
                let prepared = prepared.as_ref()?;
                Some(query(&prepared.probe, &bytes[prepared.bytes.clone()]))
            }
            None => {
                let made = self.shard_probe(bytes, shard)?;
                Some(query(&made.probe, &bytes[made.bytes]))
            }
        }
    }

    /// How the filter of a shard is queried, in bytes of the length that was opened.
    #[inline]
    fn shard_probe(&self, bytes: &[u8], shard: u64) -> Option<ShardProbe> {
        let listed = self.container.shard(bytes, shard).ok()?;
        let bytes = listed.with_what_follows();
        let probe = Probe::of_filter_once(&listed.footer, bytes.len(), self.kernel);
        Some(ShardProbe { probe, bytes })
    }

    /// The shard of the key with this hash, counted from 0.
    ///
    /// ```
    /// # use ribbonfilter::{Shards, Split};
    /// let split = Split::ByHash { bits: 3 };
    /// let shards = Shards::builder(split).finish()?;
    /// assert_eq!(Some(shards.shard_of_hash(4711)), split.shard_of_hash(4711));
    /// # Ok::<(), ribbonfilter::BuildError>(())
    /// ```
    pub fn shard_of_hash(&self, key_hash: u64) -> u64 {
        let bytes = self.data.as_ref();
        match self.container.filling {
            Filling::UntilFull(ranges) if bytes.len() == self.len => {
                Ranges::new(ranges).shard(bytes, mix(key_hash))
            }
            Filling::UntilFull(_) => 0,
            _ => self.locate(key_hash).0,
        }
    }

    /// The number of shards.
    pub fn shard_count(&self) -> u64 {
        self.container.shards()
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
    /// # use ribbonfilter::{Shards, Split};
    /// let shards = Shards::builder(Split::FixedSize { bits: 2, bytes: 100 }).finish()?;
    /// assert_eq!(shards.directory_bytes(), 4 * 32 + 40);
    /// assert_eq!(shards.size_in_bytes(), 4 * 100 + shards.directory_bytes());
    /// # Ok::<(), ribbonfilter::BuildError>(())
    /// ```
    pub fn directory_bytes(&self) -> usize {
        self.container.directory_bytes(self.data.as_ref())
    }

    /// All stored bits over the number of keys; infinite without keys.
    pub fn bits_per_key(&self) -> f64 {
        self.len as f64 * 8.0 / self.len() as f64
    }

    /// The false-positive rate: the fraction of absent keys that are reported as present. It
    /// includes keys with equal hashes, as [`Filter::expected_rate`](crate::Filter::expected_rate)
    /// does.
    pub fn expected_rate(&self) -> f64 {
        with_collisions(self.container.rate(), self.len())
    }

    /// The variant of all shards.
    pub fn variant(&self) -> Variant {
        self.container.variant
    }

    /// The ribbon width of all shards.
    pub fn width(&self) -> Width {
        self.container.width
    }

    /// The mean number of columns: bits that a query compares. Reads the directory.
    pub fn columns(&self) -> f64 {
        let bytes = self.data.as_ref();
        let layouts: Vec<_> = match self.container.filling {
            Filling::UntilFull(ranges) => vec![ranges.layout()],
            _ => (0..self.shard_count())
                .filter_map(|shard| self.container.shard(bytes, shard).ok())
                .map(|listed| listed.footer.shape.layout())
                .collect(),
        };
        let (bits, slots) = layouts.iter().fold((0.0, 0.0), |(bits, slots), layout| {
            (bits + layout.size_in_bits() as f64, slots + layout.slots() as f64)
        });
        if slots > 0.0 { bits / slots } else { 0.0 }
    }

    /// The seed under which keys are hashed.
    pub fn key_seed(&self) -> u64 {
        self.container.key_seed
    }
}

over_bytes!(
    Shards,
    "container",
    "Shards::builder(ribbonfilter::Split::ByHash { bits: 1 }).finish()?"
);

impl<D: AsRef<[u8]>> fmt::Debug for Shards<D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shards")
            .field("shard_count", &self.shard_count())
            .field("variant", &self.variant())
            .field("width", &self.width())
            .field("len", &self.len())
            .field("size_in_bytes", &self.size_in_bytes())
            .field("expected_rate", &self.expected_rate())
            .finish_non_exhaustive()
    }
}
