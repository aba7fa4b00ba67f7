//! The one filter type, over any bytes.

#[cfg(any(test, feature = "build"))]
mod builder;
#[cfg(any(test, feature = "build"))]
mod shrink;

#[cfg(any(test, feature = "build"))]
pub use builder::FilterBuilder;

#[cfg(any(test, feature = "build"))]
use crate::error::BuildError;
use crate::error::{Kind, OpenError};
use crate::format::{self, Footer};
use crate::kernel::Kernel;
use crate::query::Probe;
use crate::ribbon::rate::{mean_columns, with_collisions};
use crate::storage::bytes::OwnedBytes;
use crate::storage::over_bytes::over_bytes;
use crate::{Key, Variant, Width};
use alloc::vec;
use alloc::vec::Vec;
use core::fmt;

/// A static set of keys, which might contain other keys by mistake.
///
/// A key that was put in is always found. Any other key is found by mistake with a probability of
/// [`expected_rate`](Self::expected_rate), on average. Keys are hashed to 64 bits; this rate
/// includes the probability of `n / 2^64` that an absent key has the hash of one of `n` keys (see
/// [`key`](crate::key)). The filter *is* its bytes: `D` may be the owned buffer of a fresh build, a
/// borrowed slice, a memory map or anything else that is `AsRef<[u8]>`, at any alignment.
///
/// ```
/// use ribbonfilter_next::Filter;
///
/// let filter = Filter::build(["ada", "grace", "edsger"], 0.01)?;
/// assert!(filter.contains("ada"));
///
/// let view = Filter::open(filter.as_bytes())?;
/// assert!(view.contains("grace"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// A foreign `AsRef` that later returns bytes of another length than it was opened with
/// can no longer be queried; every key is then reported as possibly present.
#[derive(Clone)]
pub struct Filter<D = OwnedBytes> {
    data: D,
    probe: Probe,
    summary: Summary,
}

/// The keys that a batch hashes, or queries, at a time.
const CHUNK: usize = 1024;

/// Writes bits as `bool`s, eight at a time: byte `i` of a product has bit `i`.
#[inline]
fn expand(hits: &mut [bool], bits: u64) {
    let spread = |bits: u8| {
        let spread = (u64::from(bits) * 0x0101_0101_0101_0101) & 0x8040_2010_0804_0201;
        spread.to_le_bytes().map(|byte| byte != 0)
    };
    let (octets, rest) = hits.as_chunks_mut();
    let mut bits = bits.to_le_bytes().into_iter();
    for (hits, bits) in octets.iter_mut().zip(&mut bits) {
        *hits = spread(bits);
    }
    if let Some(bits) = bits.next() {
        rest.copy_from_slice(&spread(bits)[..rest.len()]);
    }
}

/// The properties of a filter: what its footer says, decoded once.
#[derive(Clone, Copy, Debug)]
struct Summary {
    keys: u64,
    key_seed: u64,
    rate: f64,
    columns: f64,
    variant: Variant,
    width: Width,
}

impl Summary {
    fn of(footer: &Footer) -> Self {
        Self {
            keys: footer.keys,
            key_seed: footer.key_seed,
            rate: footer.rate(),
            columns: mean_columns(&footer.shape.first),
            variant: footer.shape.variant(),
            width: footer.shape.first.width,
        }
    }
}

impl Filter {
    #[cfg(any(test, feature = "build"))]
    /// Builds a filter of all keys with a false-positive rate of at most `rate`.
    ///
    /// ```
    /// use ribbonfilter_next::Filter;
    ///
    /// let squares = Filter::build((0..1000u64).map(|n| n * n), 0.001)?;
    /// assert!(squares.contains(144));
    /// # Ok::<(), ribbonfilter_next::BuildError>(())
    /// ```
    ///
    /// # Errors
    /// See [`FilterBuilder::finish`].
    pub fn build<I>(keys: I, rate: f64) -> Result<Self, BuildError>
    where
        I: IntoIterator<Item: Key>,
    {
        let mut builder = Self::builder().false_positive_rate(rate);
        builder.extend(keys);
        builder.finish()
    }

    #[cfg(any(test, feature = "build"))]
    /// A builder, for all options.
    ///
    /// ```
    /// use ribbonfilter_next::Filter;
    ///
    /// let mut builder = Filter::builder().bits_per_key(9.5);
    /// builder.extend(0..1000);
    /// assert!(builder.finish()?.bits_per_key() <= 9.5);
    /// # Ok::<(), ribbonfilter_next::BuildError>(())
    /// ```
    pub fn builder() -> FilterBuilder<'static> {
        FilterBuilder::default()
    }

    /// Whether the key with this hash might be in the set whose filter these bytes are: opens
    /// the filter and queries it once, in one step.
    ///
    /// For engines that open a filter block for each lookup. The same bytes are refused as by
    /// [`open`](Filter::open). To query a filter more than once, open it.
    ///
    /// ```
    /// use ribbonfilter_next::{Filter, Key};
    ///
    /// let block: Vec<u8> = Filter::build(["ada"], 0.01)?.as_bytes().to_vec();
    /// assert!(Filter::contains_hash_in(&block, "ada".key_hash(0))?);
    /// assert!(Filter::contains_hash_in(&block[1..], "ada".key_hash(0)).is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If the bytes are not a filter that this version can read, or not all of one.
    #[inline]
    pub fn contains_hash_in(bytes: &[u8], key_hash: u64) -> Result<bool, OpenError> {
        let footer = Footer::read(bytes, Kind::Filter)?;
        let probe = footer.probe(Kernel::best())?;
        Ok(footer.keys > 0 && probe.contains(bytes, key_hash))
    }
}

/// Engines keep a handle for each block of some KiB.
#[cfg(target_pointer_width = "64")]
const _: () = assert!(size_of::<Filter>() <= 300);

over_bytes!(Filter, "filter", "Filter::build([\"ada\"], 0.01)?");

impl<D: AsRef<[u8]>> Filter<D> {
    /// Opens a filter over existing bytes, in constant time and without a copy.
    ///
    /// Only the footer at the end is read and checked; [`verify`](Self::verify) checks
    /// the rest. Queries on unverified bytes are safe: the results may be wrong, but they
    /// never panic or read outside the bytes.
    ///
    /// ```
    /// use ribbonfilter_next::Filter;
    ///
    /// let bytes: Vec<u8> = Filter::build(["ada"], 0.01)?.as_bytes().to_vec();
    /// let filter = Filter::open(&bytes[..])?;
    /// filter.verify()?;
    /// assert!(filter.contains("ada"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If the bytes are not a filter that this version can read, or not all of one.
    #[inline]
    pub fn open(data: D) -> Result<Self, OpenError> {
        let footer = Footer::read(data.as_ref(), Kind::Filter)?;
        let probe = footer.probe(Kernel::best())?;
        Ok(Self { data, probe, summary: Summary::of(&footer) })
    }

    /// Checks every byte against the checksums.
    ///
    /// ```
    /// use ribbonfilter_next::{Filter, OpenError};
    ///
    /// let mut bytes = Filter::build(["ada"], 0.01)?.as_bytes().to_vec();
    /// bytes[0] ^= 1;
    /// let corrupt = Filter::open(bytes).unwrap();
    /// assert!(matches!(corrupt.verify(), Err(OpenError::CorruptData)));
    /// # Ok::<(), ribbonfilter_next::BuildError>(())
    /// ```
    ///
    /// # Errors
    /// If a byte is corrupt.
    pub fn verify(&self) -> Result<(), OpenError> {
        format::verify(self.data.as_ref(), Kind::Filter)
    }

    /// Whether the key might be in the set. Never false for a key that was put in.
    ///
    /// ```
    /// # let filter = ribbonfilter_next::Filter::build([3, 5, 7], 0.01)?;
    /// assert!(filter.contains(5));
    /// # Ok::<(), ribbonfilter_next::BuildError>(())
    /// ```
    #[inline]
    pub fn contains(&self, key: impl Key) -> bool {
        self.contains_hash(key.key_hash(self.summary.key_seed))
    }

    /// Whether the key with this hash might be in the set.
    ///
    /// For keys that were put in by [`FilterBuilder::push_hash`], or whose
    /// [`Key::key_hash`] is known. The key seed has no influence on a hash that is passed in.
    ///
    /// ```
    /// use ribbonfilter_next::{Filter, Key};
    ///
    /// let filter = Filter::build(["ada"], 0.01)?;
    /// assert!(filter.contains_hash("ada".key_hash(0)));
    /// # Ok::<(), ribbonfilter_next::BuildError>(())
    /// ```
    #[inline]
    pub fn contains_hash(&self, key_hash: u64) -> bool {
        self.probe.contains(self.data.as_ref(), key_hash)
    }

    /// [`contains`](Self::contains) for many keys.
    ///
    /// ```
    /// # let filter = ribbonfilter_next::Filter::build([3, 5, 7], 0.0001)?;
    /// assert_eq!(filter.contains_batch(&[3, 4, 5]), [true, false, true]);
    /// # Ok::<(), ribbonfilter_next::BuildError>(())
    /// ```
    pub fn contains_batch<K: Key>(&self, keys: &[K]) -> Vec<bool> {
        let mut hits = vec![false; keys.len()];
        self.contains_batch_into(keys, &mut hits);
        hits
    }

    /// [`contains_batch`](Self::contains_batch) into an existing buffer. If the
    /// lengths differ, the longer one's rest is left alone.
    ///
    /// ```
    /// # let filter = ribbonfilter_next::Filter::build([3, 5, 7], 0.0001)?;
    /// let mut hits = [false; 3];
    /// filter.contains_batch_into(&[3, 4, 5], &mut hits);
    /// assert_eq!(hits, [true, false, true]);
    /// # Ok::<(), ribbonfilter_next::BuildError>(())
    /// ```
    pub fn contains_batch_into<K: Key>(&self, keys: &[K], hits: &mut [bool]) {
        let mut hashes = [0; CHUNK];
        for (keys, hits) in keys.chunks(CHUNK).zip(hits.chunks_mut(CHUNK)) {
            for (hash, key) in hashes.iter_mut().zip(keys) {
                *hash = key.key_hash(self.summary.key_seed);
            }
            self.contains_hash_batch_into(&hashes[..keys.len()], hits);
        }
    }

    /// [`contains_hash`](Self::contains_hash) for many hashes.
    ///
    /// ```
    /// # use ribbonfilter_next::{Filter, Key};
    /// # let filter = Filter::build(["ada"], 0.0001)?;
    /// let hashes = ["ada", "grace"].map(|key| key.key_hash(0));
    /// assert_eq!(filter.contains_hash_batch(&hashes), [true, false]);
    /// # Ok::<(), ribbonfilter_next::BuildError>(())
    /// ```
    pub fn contains_hash_batch(&self, key_hashes: &[u64]) -> Vec<bool> {
        let mut hits = vec![false; key_hashes.len()];
        self.contains_hash_batch_into(key_hashes, &mut hits);
        hits
    }

    /// [`contains_hash_batch`](Self::contains_hash_batch) into an existing
    /// buffer. If the lengths differ, the longer one's rest is left alone.
    ///
    /// ```
    /// # use ribbonfilter_next::{Filter, Key};
    /// # let filter = Filter::build(["ada"], 0.0001)?;
    /// let mut hits = [false; 2];
    /// filter.contains_hash_batch_into(&["ada", "grace"].map(|key| key.key_hash(0)), &mut hits);
    /// assert_eq!(hits, [true, false]);
    /// # Ok::<(), ribbonfilter_next::BuildError>(())
    /// ```
    pub fn contains_hash_batch_into(&self, key_hashes: &[u64], hits: &mut [bool]) {
        let bytes = self.data.as_ref();
        let mut bits = [0; CHUNK / 64];
        for (hashes, hits) in key_hashes.chunks(CHUNK).zip(hits.chunks_mut(CHUNK)) {
            self.probe.contains_batch(bytes, hashes, &mut bits);
            hits.chunks_mut(64).zip(bits).for_each(|(hits, bits)| expand(hits, bits));
        }
    }

    /// The same filter with another kernel, for tests and benchmarks.
    #[cfg(feature = "internals")]
    #[must_use]
    pub fn with_kernel(mut self, kernel: Kernel) -> Self {
        let footer = Footer::read(self.data.as_ref(), Kind::Filter).expect("it was opened");
        self.probe = footer.probe(kernel).expect("it was opened");
        self
    }

    /// The number of keys. Duplicates are not counted, unless they are too few to matter.
    ///
    /// ```
    /// # let filter = ribbonfilter_next::Filter::build([1, 2, 2, 3], 0.01)?;
    /// assert_eq!(filter.len(), 3);
    /// # Ok::<(), ribbonfilter_next::BuildError>(())
    /// ```
    pub fn len(&self) -> u64 {
        self.summary.keys
    }

    /// Whether there are no keys. Every query then returns `false`.
    ///
    /// ```
    /// # let filter = ribbonfilter_next::Filter::build([""; 0], 0.01)?;
    /// assert!(filter.is_empty());
    /// assert!(!filter.contains("ada"));
    /// # Ok::<(), ribbonfilter_next::BuildError>(())
    /// ```
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The size in bytes, including the footer.
    ///
    /// ```
    /// # let filter = ribbonfilter_next::Filter::builder().columns(8.0);
    /// # let mut filter = filter; filter.extend(0..1000);
    /// # let filter = filter.finish()?;
    /// assert!((1040..1050).contains(&filter.size_in_bytes()));
    /// # Ok::<(), ribbonfilter_next::BuildError>(())
    /// ```
    pub fn size_in_bytes(&self) -> usize {
        self.probe.len()
    }

    /// All stored bits divided by the number of keys; infinite without keys.
    ///
    /// ```
    /// # let filter = ribbonfilter_next::Filter::build(0..10_000, 0.01)?;
    /// assert!((6.6..6.9).contains(&filter.bits_per_key()));
    /// # Ok::<(), ribbonfilter_next::BuildError>(())
    /// ```
    pub fn bits_per_key(&self) -> f64 {
        self.size_in_bytes() as f64 * 8.0 / self.len() as f64
    }

    /// The false-positive rate: the fraction of absent keys that are reported as present.
    ///
    /// It follows from the columns, and in a Bumped filter from the hashes that are bumped. The
    /// probability of `n / 2^64` that the hash of an absent key is that of one of `n` keys is
    /// included, where it is at least a millionth of the rate.
    ///
    /// ```
    /// # let filter = ribbonfilter_next::Filter::build(0..10_000, 0.01)?;
    /// assert!(filter.expected_rate() <= 0.01);
    /// # Ok::<(), ribbonfilter_next::BuildError>(())
    /// ```
    pub fn expected_rate(&self) -> f64 {
        with_collisions(self.summary.rate, self.len())
    }

    /// The variant.
    ///
    /// ```
    /// # use ribbonfilter_next::{Filter, Variant};
    /// assert_eq!(Filter::build(["ada"], 0.01)?.variant(), Variant::Standard);
    /// # Ok::<(), ribbonfilter_next::BuildError>(())
    /// ```
    pub fn variant(&self) -> Variant {
        self.summary.variant
    }

    /// The ribbon width.
    ///
    /// ```
    /// # use ribbonfilter_next::{Filter, Width};
    /// assert_eq!(Filter::build(0..1_000_000, 0.01)?.width(), Width::W192);
    /// # Ok::<(), ribbonfilter_next::BuildError>(())
    /// ```
    pub fn width(&self) -> Width {
        self.summary.width
    }

    /// The average number of columns: the bits that a query compares.
    ///
    /// ```
    /// # let filter = ribbonfilter_next::Filter::build(0..100_000, 0.01)?;
    /// assert!((6.6..6.8).contains(&filter.columns()));
    /// # Ok::<(), ribbonfilter_next::BuildError>(())
    /// ```
    pub fn columns(&self) -> f64 {
        self.summary.columns
    }

    /// The seed under which keys are hashed.
    ///
    /// ```
    /// # use ribbonfilter_next::Filter;
    /// # let mut builder = Filter::builder().key_seed(7);
    /// # builder.push("ada");
    /// assert_eq!(builder.finish()?.key_seed(), 7);
    /// # Ok::<(), ribbonfilter_next::BuildError>(())
    /// ```
    pub fn key_seed(&self) -> u64 {
        self.summary.key_seed
    }
}

impl<D: AsRef<[u8]>> fmt::Debug for Filter<D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Filter")
            .field("variant", &self.variant())
            .field("width", &self.width())
            .field("columns", &self.columns())
            .field("len", &self.len())
            .field("size_in_bytes", &self.size_in_bytes())
            .field("expected_rate", &self.expected_rate())
            .finish_non_exhaustive()
    }
}
