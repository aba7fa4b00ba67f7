//! Static functions: the one function type, over any bytes (paper, section 2).
//!
//! A ribbon maps every key to the sum of the slots that it selects. A filter makes that sum
//! a fingerprint; a function makes it a value of up to 64 bits, and may add a fingerprint.

#[cfg(any(test, feature = "build"))]
mod builder;
mod row;

#[cfg(any(test, feature = "build"))]
pub use builder::FunctionBuilder;

use row::Rows;

#[cfg(any(test, feature = "build"))]
use crate::error::BuildError;
use crate::error::{Kind, OpenError};
use crate::format::{self, Content, Footer, Shape};
use crate::kernel::Kernel;
use crate::query::Probe;
use crate::storage::bytes::OwnedBytes;
use crate::storage::over_bytes::over_bytes;
use crate::{Key, Variant, Width};
use alloc::vec;
use alloc::vec::Vec;
use core::fmt;

/// A static map from keys to values of a fixed number of bits, without the keys.
///
/// A key that was put in gives its value, always. Any other key gives an arbitrary one,
/// unless there are [fingerprints](FunctionBuilder::fingerprint_bits): then
/// [`lookup`](Self::lookup) mostly reports that it is absent. For large sets it takes less than
/// 0.1 % more than the bits of the values if these have 8 bits or more, and 0.5 % more if they
/// have one.
///
/// The function *is* its bytes, as a [`Filter`](crate::Filter) is.
///
/// ```
/// use ribbonfilter_next::Function;
///
/// let ages = Function::build([("ada", 36), ("grace", 85)], 7)?;
/// assert_eq!(ages.get("ada"), 36);
/// assert_eq!(ages.get("grace"), 85);
/// # Ok::<(), ribbonfilter_next::BuildError>(())
/// ```
///
/// A foreign `AsRef` that later returns bytes of another length than it was opened with can
/// no longer be queried; every key is then mapped to 0.
#[derive(Clone)]
pub struct Function<D = OwnedBytes> {
    data: D,
    probe: Probe,
    rows: Rows,
    keys: u64,
    key_seed: u64,
    variant: Variant,
    width: Width,
}

#[cfg(any(test, feature = "build"))]
impl Function {
    /// Builds a function of all pairs of a key and a value, of the given number of bits per value.
    ///
    /// ```
    /// use ribbonfilter_next::Function;
    ///
    /// let squares = Function::build((0..1000u64).map(|n| (n, n * n)), 20)?;
    /// assert_eq!(squares.get(12), 144);
    /// # Ok::<(), ribbonfilter_next::BuildError>(())
    /// ```
    ///
    /// # Errors
    /// See [`FunctionBuilder::finish`].
    pub fn build<I, K>(pairs: I, value_bits: u32) -> Result<Self, BuildError>
    where
        I: IntoIterator<Item = (K, u64)>,
        K: Key,
    {
        let mut builder = Self::builder().value_bits(value_bits);
        builder.extend(pairs);
        builder.finish()
    }

    /// A builder, for all options.
    ///
    /// ```
    /// use ribbonfilter_next::Function;
    ///
    /// let mut builder = Function::builder().value_bits(7).fingerprint_bits(8);
    /// builder.push("ada", 36);
    /// assert_eq!(builder.finish()?.lookup("ada"), Some(36));
    /// # Ok::<(), ribbonfilter_next::BuildError>(())
    /// ```
    pub fn builder() -> FunctionBuilder<'static> {
        FunctionBuilder::new()
    }
}

over_bytes!(Function, "function", "Function::build([(\"ada\", 36)], 7)?");

impl<D: AsRef<[u8]>> Function<D> {
    /// Opens a function over existing bytes, in constant time and without a copy.
    ///
    /// Only the footer at the end is read and checked; [`verify`](Self::verify) checks
    /// the rest. Queries on unverified bytes are safe: the results may be wrong, but they
    /// never panic or read outside the bytes.
    ///
    /// ```
    /// use ribbonfilter_next::Function;
    ///
    /// let bytes: Vec<u8> = Function::build([("ada", 36)], 7)?.as_bytes().to_vec();
    /// let ages = Function::open(&bytes[..])?;
    /// ages.verify()?;
    /// assert_eq!(ages.get("ada"), 36);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If the bytes are not a function that this version can read, or not all of one.
    #[inline]
    pub fn open(data: D) -> Result<Self, OpenError> {
        let footer = Footer::read(data.as_ref(), Kind::Function)?;
        let fingerprint_bits = match footer.content {
            Content::Map { fingerprint_bits } => fingerprint_bits,
            Content::Filter { .. } => 0,
        };
        let Shape { first, .. } = footer.shape;
        Ok(Self {
            data,
            probe: footer.probe(Kernel::best())?,
            rows: Rows { value_bits: first.columns - fingerprint_bits, fingerprint_bits },
            keys: footer.keys,
            key_seed: footer.key_seed,
            variant: footer.shape.variant(),
            width: first.width,
        })
    }

    /// Checks every byte against the checksums.
    ///
    /// ```
    /// use ribbonfilter_next::{Function, OpenError};
    ///
    /// let mut bytes = Function::build([("ada", 36)], 7)?.as_bytes().to_vec();
    /// bytes[0] ^= 1;
    /// let corrupt = Function::open(bytes).unwrap();
    /// assert!(matches!(corrupt.verify(), Err(OpenError::CorruptData)));
    /// # Ok::<(), ribbonfilter_next::BuildError>(())
    /// ```
    ///
    /// # Errors
    /// If a byte is corrupt.
    pub fn verify(&self) -> Result<(), OpenError> {
        format::verify(self.data.as_ref(), Kind::Function)
    }

    /// The value of a key that was put in; an arbitrary one for another key.
    ///
    /// ```
    /// # let roots = ribbonfilter_next::Function::build([(9, 3), (25, 5)], 3)?;
    /// assert_eq!(roots.get(25), 5);
    /// assert!(roots.get(26) < 8);
    /// # Ok::<(), ribbonfilter_next::BuildError>(())
    /// ```
    #[inline]
    pub fn get(&self, key: impl Key) -> u64 {
        self.get_hash(key.key_hash(self.key_seed))
    }

    /// The value of the key with this hash.
    ///
    /// For keys that were put in by [`FunctionBuilder::push_hash`], or whose
    /// [`Key::key_hash`] is known. The key seed has no influence on a hash that is passed in.
    ///
    /// ```
    /// use ribbonfilter_next::{Function, Key};
    ///
    /// let ages = Function::build([("ada", 36)], 7)?;
    /// assert_eq!(ages.get_hash("ada".key_hash(0)), 36);
    /// # Ok::<(), ribbonfilter_next::BuildError>(())
    /// ```
    #[inline]
    pub fn get_hash(&self, key_hash: u64) -> u64 {
        self.rows.value(self.probe.get(self.data.as_ref(), key_hash))
    }

    /// The value of a key, or `None` if its fingerprint shows that it was not put in.
    ///
    /// With `k` [bits of fingerprints](FunctionBuilder::fingerprint_bits) a key that was not
    /// put in has a value by mistake with probability `2^-k`: always, if there are none.
    ///
    /// ```
    /// use ribbonfilter_next::Function;
    ///
    /// let mut builder = Function::builder().value_bits(7).fingerprint_bits(20);
    /// builder.extend([("ada", 36), ("grace", 85)]);
    /// let ages = builder.finish()?;
    /// assert_eq!(ages.lookup("grace"), Some(85));
    /// assert_eq!(ages.lookup("edsger"), None);
    /// # Ok::<(), ribbonfilter_next::BuildError>(())
    /// ```
    #[inline]
    pub fn lookup(&self, key: impl Key) -> Option<u64> {
        self.lookup_hash(key.key_hash(self.key_seed))
    }

    /// [`lookup`](Self::lookup) for the key with this hash.
    ///
    /// ```
    /// use ribbonfilter_next::{Function, Key};
    ///
    /// let ages = Function::build([("ada", 36)], 7)?;
    /// assert_eq!(ages.lookup_hash("ada".key_hash(0)), Some(36));
    /// # Ok::<(), ribbonfilter_next::BuildError>(())
    /// ```
    #[inline]
    pub fn lookup_hash(&self, key_hash: u64) -> Option<u64> {
        self.found(key_hash, self.probe.get(self.data.as_ref(), key_hash))
    }

    /// The value in a row that a key has, if it is there.
    #[inline]
    fn found(&self, key_hash: u64, row: u64) -> Option<u64> {
        match self.keys {
            0 if self.rows.fingerprint_bits > 0 => None,
            _ => self.rows.value_of(key_hash, row),
        }
    }

    /// [`get`](Self::get) for many keys.
    ///
    /// ```
    /// # let roots = ribbonfilter_next::Function::build([(9, 3), (25, 5)], 3)?;
    /// assert_eq!(roots.get_batch(&[25, 9]), [5, 3]);
    /// # Ok::<(), ribbonfilter_next::BuildError>(())
    /// ```
    pub fn get_batch<K: Key>(&self, keys: &[K]) -> Vec<u64> {
        let mut values = vec![0; keys.len()];
        self.get_batch_into(keys, &mut values);
        values
    }

    /// [`get_batch`](Self::get_batch) into an existing buffer. If the lengths
    /// differ, the longer one's rest is left alone.
    ///
    /// ```
    /// # let roots = ribbonfilter_next::Function::build([(9, 3), (25, 5)], 3)?;
    /// let mut values = [0; 2];
    /// roots.get_batch_into(&[25, 9], &mut values);
    /// assert_eq!(values, [5, 3]);
    /// # Ok::<(), ribbonfilter_next::BuildError>(())
    /// ```
    pub fn get_batch_into<K: Key>(&self, keys: &[K], values: &mut [u64]) {
        let values = first_of(values, keys.len());
        let hashes: Vec<u64> = keys.iter().map(|key| key.key_hash(self.key_seed)).collect();
        self.get_hash_batch_into(&hashes, values);
    }

    /// [`get_hash`](Self::get_hash) for many hashes.
    ///
    /// ```
    /// # use ribbonfilter_next::{Function, Key};
    /// # let ages = Function::build([("ada", 36)], 7)?;
    /// assert_eq!(ages.get_hash_batch(&["ada".key_hash(0)]), [36]);
    /// # Ok::<(), ribbonfilter_next::BuildError>(())
    /// ```
    pub fn get_hash_batch(&self, key_hashes: &[u64]) -> Vec<u64> {
        let mut values = vec![0; key_hashes.len()];
        self.get_hash_batch_into(key_hashes, &mut values);
        values
    }

    /// [`get_hash_batch`](Self::get_hash_batch) into an existing buffer. If the
    /// lengths differ, the longer one's rest is left alone.
    ///
    /// ```
    /// # use ribbonfilter_next::{Function, Key};
    /// # let ages = Function::build([("ada", 36)], 7)?;
    /// let mut values = [0];
    /// ages.get_hash_batch_into(&["ada".key_hash(0)], &mut values);
    /// assert_eq!(values, [36]);
    /// # Ok::<(), ribbonfilter_next::BuildError>(())
    /// ```
    pub fn get_hash_batch_into(&self, key_hashes: &[u64], values: &mut [u64]) {
        let values = first_of(values, key_hashes.len());
        self.probe.get_batch(self.data.as_ref(), &key_hashes[..values.len()], values);
        self.cut(values);
    }

    /// Makes values of rows.
    fn cut(&self, rows: &mut [u64]) {
        rows.iter_mut().for_each(|row| *row = self.rows.value(*row));
    }

    /// [`lookup`](Self::lookup) for many keys.
    ///
    /// ```
    /// # let roots = ribbonfilter_next::Function::build([(9, 3), (25, 5)], 3)?;
    /// assert_eq!(roots.lookup_batch(&[25, 9]), [Some(5), Some(3)]);
    /// # Ok::<(), ribbonfilter_next::BuildError>(())
    /// ```
    pub fn lookup_batch<K: Key>(&self, keys: &[K]) -> Vec<Option<u64>> {
        let hashes = keys.iter().map(|key| key.key_hash(self.key_seed));
        self.lookup_hash_batch(&hashes.collect::<Vec<_>>())
    }

    /// [`lookup_hash`](Self::lookup_hash) for many hashes.
    ///
    /// ```
    /// # use ribbonfilter_next::{Function, Key};
    /// # let ages = Function::build([("ada", 36)], 7)?;
    /// assert_eq!(ages.lookup_hash_batch(&["ada".key_hash(0)]), [Some(36)]);
    /// # Ok::<(), ribbonfilter_next::BuildError>(())
    /// ```
    pub fn lookup_hash_batch(&self, key_hashes: &[u64]) -> Vec<Option<u64>> {
        let mut rows = vec![0; key_hashes.len()];
        self.probe.get_batch(self.data.as_ref(), key_hashes, &mut rows);
        key_hashes.iter().zip(rows).map(|(&key_hash, row)| self.found(key_hash, row)).collect()
    }

    /// The same function with another kernel, for tests and benchmarks.
    #[cfg(feature = "internals")]
    #[must_use]
    pub fn with_kernel(mut self, kernel: Kernel) -> Self {
        let footer = Footer::read(self.data.as_ref(), Kind::Function).expect("it was opened");
        self.probe = footer.probe(kernel).expect("it was opened");
        self
    }

    /// The number of keys. Duplicates are not counted, unless they are too few to matter.
    ///
    /// ```
    /// # let ages = ribbonfilter_next::Function::build([("ada", 36), ("ada", 36)], 7)?;
    /// assert_eq!(ages.len(), 1);
    /// # Ok::<(), ribbonfilter_next::BuildError>(())
    /// ```
    pub fn len(&self) -> u64 {
        self.keys
    }

    /// Whether there is no key.
    ///
    /// ```
    /// # let nothing = ribbonfilter_next::Function::build([("", 0); 0], 7)?;
    /// assert!(nothing.is_empty());
    /// # Ok::<(), ribbonfilter_next::BuildError>(())
    /// ```
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The size in bytes, including the footer.
    ///
    /// ```
    /// # let roots = ribbonfilter_next::Function::build((0..1000u64).map(|n| (n * n, n)), 10)?;
    /// assert!((1290..1310).contains(&roots.size_in_bytes()));
    /// # Ok::<(), ribbonfilter_next::BuildError>(())
    /// ```
    pub fn size_in_bytes(&self) -> usize {
        self.probe.len()
    }

    /// All stored bits divided by the number of keys; infinite without keys.
    ///
    /// ```
    /// # let roots = ribbonfilter_next::Function::build((0..1000u64).map(|n| (n * n, n)), 10)?;
    /// assert!((10.0..10.5).contains(&roots.bits_per_key()));
    /// # Ok::<(), ribbonfilter_next::BuildError>(())
    /// ```
    pub fn bits_per_key(&self) -> f64 {
        self.size_in_bytes() as f64 * 8.0 / self.len() as f64
    }

    /// The bits of a value.
    ///
    /// ```
    /// assert_eq!(ribbonfilter_next::Function::build([("ada", 36)], 7)?.value_bits(), 7);
    /// # Ok::<(), ribbonfilter_next::BuildError>(())
    /// ```
    pub fn value_bits(&self) -> u32 {
        self.rows.value_bits
    }

    /// The bits of a fingerprint.
    ///
    /// ```
    /// assert_eq!(ribbonfilter_next::Function::build([("ada", 36)], 7)?.fingerprint_bits(), 0);
    /// # Ok::<(), ribbonfilter_next::BuildError>(())
    /// ```
    pub fn fingerprint_bits(&self) -> u32 {
        self.rows.fingerprint_bits
    }

    /// The variant.
    ///
    /// ```
    /// # use ribbonfilter_next::{Function, Variant};
    /// assert_eq!(Function::build([("ada", 36)], 7)?.variant(), Variant::Standard);
    /// # Ok::<(), ribbonfilter_next::BuildError>(())
    /// ```
    pub fn variant(&self) -> Variant {
        self.variant
    }

    /// The ribbon width.
    ///
    /// ```
    /// # use ribbonfilter_next::{Function, Width};
    /// assert_eq!(Function::build((0..5000).map(|n| (n, n % 8)), 3)?.width(), Width::W256);
    /// # Ok::<(), ribbonfilter_next::BuildError>(())
    /// ```
    pub fn width(&self) -> Width {
        self.width
    }

    /// The seed under which keys are hashed.
    ///
    /// ```
    /// # let mut builder = ribbonfilter_next::Function::builder().value_bits(7).key_seed(5);
    /// # builder.push("ada", 36);
    /// assert_eq!(builder.finish()?.key_seed(), 5);
    /// # Ok::<(), ribbonfilter_next::BuildError>(())
    /// ```
    pub fn key_seed(&self) -> u64 {
        self.key_seed
    }
}

/// At most this many of the values.
fn first_of(values: &mut [u64], count: usize) -> &mut [u64] {
    let count = count.min(values.len());
    &mut values[..count]
}

impl<D: AsRef<[u8]>> fmt::Debug for Function<D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Function")
            .field("variant", &self.variant())
            .field("width", &self.width())
            .field("value_bits", &self.value_bits())
            .field("fingerprint_bits", &self.fingerprint_bits())
            .field("len", &self.len())
            .field("size_in_bytes", &self.size_in_bytes())
            .finish_non_exhaustive()
    }
}
