//! Keys and values go in, a function comes out.

use super::{Function, Rows};
use crate::Key;
use crate::build::collect::Collected;
use crate::build::option_methods;
use crate::error::BuildError;
use crate::plan::{Plan, Target};
use crate::progress::Progress;
use crate::storage::bytes::OwnedBytes;
use core::fmt;
use core::ops::ControlFlow;

/// Collects keys with their values, and settings, and builds a [`Function`].
///
/// Pairs are kept as 16 bytes each. [`value_bits`](Self::value_bits) must be given; settings
/// are checked when the plan is made.
///
/// ```
/// use ribbonfilter_next::{Function, Variant, Width};
///
/// let mut builder = Function::builder()
///     .value_bits(7)
///     .fingerprint_bits(8)
///     .variant(Variant::Standard)
///     .width(Width::W64);
/// builder.push("ada", 36);
/// builder.extend([("grace", 85), ("edsger", 72)]);
/// assert_eq!(builder.finish()?.lookup("edsger"), Some(72));
/// # Ok::<(), ribbonfilter_next::BuildError>(())
/// ```
///
/// The bytes that come out are a function of the pairs and the settings: the order does not
/// matter. The same pair twice does no harm; if more than one in 1024 is there already, they
/// are removed. Two values for one key are an error.
pub struct FunctionBuilder<'p> {
    collected: Collected<'p, u64>,
    rows: Rows,
}

impl FunctionBuilder<'static> {
    pub(super) fn new() -> Self {
        let builder = Self {
            collected: Collected::default(),
            rows: Rows { value_bits: 0, fingerprint_bits: 0 },
        };
        builder.value_bits(0)
    }
}

impl<'p> FunctionBuilder<'p> {
    /// Stores this number of bits per value, 1 to 64.
    ///
    /// ```
    /// let plan = ribbonfilter_next::Function::builder().value_bits(8).plan_for(1_000_000)?;
    /// assert!(plan.size_in_bytes() < 1_002_000);
    /// # Ok::<(), ribbonfilter_next::BuildError>(())
    /// ```
    #[must_use]
    pub fn value_bits(self, bits: u32) -> Self {
        let rows = Rows { value_bits: bits, ..self.rows };
        self.with(rows)
    }

    /// Stores this number of bits of a fingerprint with each value, together with it at most 64:
    /// [`Function::lookup`] then finds a key that was not put in with probability `2^-bits` only.
    ///
    /// ```
    /// let builder = ribbonfilter_next::Function::builder().value_bits(7).fingerprint_bits(8);
    /// assert_eq!(builder.plan_for(1000)?.columns(), 15.0);
    /// # Ok::<(), ribbonfilter_next::BuildError>(())
    /// ```
    #[must_use]
    pub fn fingerprint_bits(self, bits: u32) -> Self {
        let rows = Rows { fingerprint_bits: bits, ..self.rows };
        self.with(rows)
    }

    option_methods!(spills: false);

    fn with(mut self, rows: Rows) -> Self {
        let Rows { value_bits: value, fingerprint_bits: fingerprint } = rows;
        self.collected.target = Target::Bits { value, fingerprint };
        self.rows = rows;
        self
    }

    /// Calls back while the function is built; the callback can stop the build.
    ///
    /// ```
    /// use core::ops::ControlFlow;
    /// use ribbonfilter_next::Function;
    ///
    /// let mut calls = 0;
    /// let mut builder = Function::builder().value_bits(7).progress(|_| {
    ///     calls += 1;
    ///     ControlFlow::Continue(())
    /// });
    /// builder.push("ada", 36);
    /// builder.finish()?;
    /// assert!(calls > 0);
    /// # Ok::<(), ribbonfilter_next::BuildError>(())
    /// ```
    #[must_use]
    pub fn progress<'q>(
        self,
        callback: impl FnMut(Progress) -> ControlFlow<()> + Send + 'q,
    ) -> FunctionBuilder<'q> {
        FunctionBuilder { collected: self.collected.progress(callback), rows: self.rows }
    }

    /// Adds a key and its value.
    ///
    /// ```
    /// let mut builder = ribbonfilter_next::Function::builder();
    /// builder.push("ada", 36);
    /// assert_eq!(builder.len(), 1);
    /// ```
    #[inline]
    pub fn push(&mut self, key: impl Key, value: u64) {
        self.push_hash(key.key_hash(self.collected.options.key_seed), value);
    }

    /// Adds a key by a 64-bit hash of the caller's, to be queried by
    /// [`Function::get_hash`]. Any hash that is different for different keys will do.
    ///
    /// ```
    /// let mut builder = ribbonfilter_next::Function::builder().value_bits(3);
    /// builder.push_hash(0x0123_4567_89ab_cdef, 5);
    /// assert_eq!(builder.finish()?.get_hash(0x0123_4567_89ab_cdef), 5);
    /// # Ok::<(), ribbonfilter_next::BuildError>(())
    /// ```
    #[inline]
    pub fn push_hash(&mut self, key_hash: u64, value: u64) {
        self.collected.push(key_hash, value);
    }

    /// Adds many keys by hashes of the caller's, as [`push_hash`](Self::push_hash) does.
    ///
    /// ```
    /// let mut builder = ribbonfilter_next::Function::builder().value_bits(3);
    /// builder.extend_hashes([(1, 5), (2, 6)]);
    /// assert_eq!(builder.finish()?.get_hash(2), 6);
    /// # Ok::<(), ribbonfilter_next::BuildError>(())
    /// ```
    pub fn extend_hashes(&mut self, pairs: impl IntoIterator<Item = (u64, u64)>) {
        self.collected.extend(pairs);
    }

    /// The number of pairs added so far, duplicates included.
    ///
    /// ```
    /// assert_eq!(ribbonfilter_next::Function::builder().len(), 0);
    /// ```
    pub fn len(&self) -> u64 {
        self.collected.len()
    }

    /// Whether no pair was added yet.
    ///
    /// ```
    /// assert!(ribbonfilter_next::Function::builder().is_empty());
    /// ```
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// What would come out for the pairs added so far.
    ///
    /// ```
    /// let mut builder = ribbonfilter_next::Function::builder().value_bits(7);
    /// builder.push("ada", 36);
    /// assert_eq!(builder.plan()?.keys(), 1);
    /// # Ok::<(), ribbonfilter_next::BuildError>(())
    /// ```
    ///
    /// # Errors
    /// If the settings contradict themselves or the number of keys.
    pub fn plan(&self) -> Result<Plan, BuildError> {
        self.plan_for(self.len())
    }

    /// What would come out for this number of keys. The rate of the plan is the probability that
    /// [`Function::lookup`] finds a key that was not put in.
    ///
    /// ```
    /// let builder = ribbonfilter_next::Function::builder().value_bits(1).fingerprint_bits(3);
    /// assert_eq!(builder.plan_for(1000)?.expected_rate(), 0.125);
    /// # Ok::<(), ribbonfilter_next::BuildError>(())
    /// ```
    ///
    /// # Errors
    /// If the settings contradict themselves or the number of keys.
    pub fn plan_for(&self, keys: u64) -> Result<Plan, BuildError> {
        self.collected.plan_for(keys)
    }

    /// The most keys whose function takes at most this number of bytes; 0 if not even one does.
    ///
    /// ```
    /// let builder = ribbonfilter_next::Function::builder().value_bits(8);
    /// assert!((4000..4056).contains(&builder.max_keys(4096)?));
    /// # Ok::<(), ribbonfilter_next::BuildError>(())
    /// ```
    ///
    /// # Errors
    /// If the settings contradict themselves.
    pub fn max_keys(&self, bytes: u64) -> Result<u64, BuildError> {
        self.collected.settings().max_keys(bytes)
    }

    /// Builds the function.
    ///
    /// ```
    /// use ribbonfilter_next::{BuildError, Function};
    ///
    /// let mut builder = Function::builder().value_bits(7);
    /// builder.extend([("ada", 36), ("grace", 85), ("ada", 63)]);
    /// let error = builder.finish().unwrap_err();
    /// assert!(matches!(error, BuildError::Contradiction { first: 0, second: 2 }));
    /// ```
    ///
    /// # Errors
    /// If a key has two values, if a value has too many bits, if the settings contradict
    /// themselves or the number of keys, if memory runs out, if the progress callback
    /// cancels, or if the key hashes are so far from random that no system of reasonable size
    /// is solvable.
    pub fn finish(mut self) -> Result<Function, BuildError> {
        self.prepare()?;
        opened(self.collected.build())
    }

    /// Builds the function and writes its bytes; returns how many.
    ///
    /// ```
    /// use ribbonfilter_next::Function;
    ///
    /// let mut builder = Function::builder().value_bits(7);
    /// builder.push("ada", 36);
    /// let mut bytes = Vec::new();
    /// builder.finish_to(&mut bytes)?;
    /// assert_eq!(Function::open(bytes)?.get("ada"), 36);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`finish`](Self::finish), or if writing fails.
    #[cfg(feature = "std")]
    pub fn finish_to(mut self, writer: impl std::io::Write) -> Result<u64, BuildError> {
        self.prepare()?;
        let bytes = self.collected.build()?;
        self.collected.write(bytes.as_ref(), writer)
    }

    /// Builds the function and leaves the builder without pairs, with the same settings and the
    /// buffer that held them: for whoever builds many functions, one after another.
    ///
    /// ```
    /// let mut builder = ribbonfilter_next::Function::builder().value_bits(7);
    /// for pair in [("ada", 36), ("grace", 85)] {
    ///     builder.push(pair.0, pair.1);
    ///     assert_eq!(builder.finish_and_reset()?.get(pair.0), pair.1);
    /// }
    /// # Ok::<(), ribbonfilter_next::BuildError>(())
    /// ```
    ///
    /// # Errors
    /// As [`finish`](Self::finish). The pairs are gone then too.
    pub fn finish_and_reset(&mut self) -> Result<Function, BuildError> {
        let built = self.prepare().and_then(|()| self.collected.build());
        self.reset();
        opened(built)
    }

    /// Removes all pairs. The settings and the buffer for pairs stay.
    ///
    /// ```
    /// let mut builder = ribbonfilter_next::Function::builder().value_bits(7);
    /// builder.push("ada", 36);
    /// builder.reset();
    /// assert!(builder.is_empty());
    /// ```
    pub fn reset(&mut self) {
        self.collected.reset();
    }

    /// Makes of every value the bits that are stored, its fingerprint among them.
    fn prepare(&mut self) -> Result<(), BuildError> {
        // Settings first: they say how wide a value may be.
        self.plan()?;
        self.join_rows()
    }

    /// Makes rows of values, unless one has too many bits.
    fn join_rows(&mut self) -> Result<(), BuildError> {
        let (rows, max) = (self.rows, self.rows.max_value());
        for (position, item) in (0..).zip(self.collected.store.items_mut()) {
            if item.value > max {
                let (value, value_bits) = (item.value, rows.value_bits);
                return Err(BuildError::ValueTooWide { position, value, value_bits });
            }
            item.value = rows.join(item.hash, item.value);
        }
        Ok(())
    }
}

fn opened(built: Result<OwnedBytes, BuildError>) -> Result<Function, BuildError> {
    Ok(Function::open(built?).expect("what was built can be opened"))
}

/// Adds many keys with their values.
///
/// ```
/// let mut builder = ribbonfilter_next::Function::builder();
/// builder.extend([("ada", 36), ("grace", 85)]);
/// assert_eq!(builder.len(), 2);
/// ```
impl<K: Key> Extend<(K, u64)> for FunctionBuilder<'_> {
    fn extend<I: IntoIterator<Item = (K, u64)>>(&mut self, pairs: I) {
        let key_seed = self.collected.options.key_seed;
        self.extend_hashes(pairs.into_iter().map(|(key, value)| (key.key_hash(key_seed), value)));
    }
}

impl fmt::Debug for FunctionBuilder<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FunctionBuilder")
            .field("target", &self.collected.target)
            .field("options", &self.collected.options)
            .field("len", &self.len())
            .finish_non_exhaustive()
    }
}
