//! Keys go in, a filter comes out.

use crate::Key;
use crate::build::collect::Collected;
use crate::build::option_methods;
use crate::error::BuildError;
use crate::filter::Filter;
use crate::plan::{Plan, Target};
use crate::progress::Progress;
use crate::storage::bytes::OwnedBytes;
use core::fmt;
use core::ops::ControlFlow;

/// Collects keys and settings and builds a [`Filter`].
///
/// Keys are kept as 8 bytes each. Of the four targets ([rate](Self::false_positive_rate),
/// [columns](Self::columns), [bits per key](Self::bits_per_key),
/// [total bytes](Self::total_bytes)) the last one given counts; without any it is a rate
/// of 0.01. Settings are checked when the plan is made.
///
/// ```
/// use ribbonfilter_next::{Filter, Variant, Width};
///
/// let mut builder = Filter::builder()
///     .false_positive_rate(0.001)
///     .variant(Variant::Standard)
///     .width(Width::W256);
/// builder.push("ada");
/// builder.extend(["grace", "edsger"]);
/// let filter = builder.finish()?;
/// assert!(filter.contains("edsger"));
/// # Ok::<(), ribbonfilter_next::BuildError>(())
/// ```
///
/// The options that all builders have in common are in [`BuildOptions`](crate::BuildOptions); a
/// plan shows their effect before any work:
///
/// ```
/// use ribbonfilter_next::{Effort, Filter};
///
/// let plan = Filter::builder().effort(Effort::Thorough).columns(8.0).plan_for(4000)?;
/// assert!(plan.slots() < 4040);
/// let plan = Filter::builder().overhead(0.2).plan_for(5000)?;
/// assert!((6000..6008).contains(&plan.slots()));
/// # Ok::<(), ribbonfilter_next::BuildError>(())
/// ```
///
/// The bytes depend only on the set of keys and the options, not on the order of the keys, the
/// number of threads or the memory limit. Duplicates do no harm. If more than one key in 1024 is a
/// duplicate, they are removed and the filter is planned for the distinct keys.
#[derive(Default)]
pub struct FilterBuilder<'p> {
    collected: Collected<'p, ()>,
}

impl<'p> FilterBuilder<'p> {
    /// Aims for a false-positive rate, at most this.
    ///
    /// ```
    /// let plan = ribbonfilter_next::Filter::builder().false_positive_rate(0.02).plan_for(5000)?;
    /// assert!(plan.expected_rate() <= 0.02);
    /// # Ok::<(), ribbonfilter_next::BuildError>(())
    /// ```
    #[must_use]
    pub fn false_positive_rate(self, rate: f64) -> Self {
        self.target(Target::Rate(rate))
    }

    /// Aims for at most this number of bits per key, everything stored included. For few keys the
    /// footer counts: prefer a rate there.
    ///
    /// ```
    /// let plan = ribbonfilter_next::Filter::builder().bits_per_key(8.2).plan_for(100_000)?;
    /// assert!(plan.bits_per_key() <= 8.2 && plan.bits_per_key() > 8.19);
    /// # Ok::<(), ribbonfilter_next::BuildError>(())
    /// ```
    #[must_use]
    pub fn bits_per_key(self, bits: f64) -> Self {
        self.target(Target::BitsPerKey(bits))
    }

    /// Aims for the lowest rate in a size, at most this, everything stored included.
    ///
    /// ```
    /// let plan = ribbonfilter_next::Filter::builder().total_bytes(4096).plan_for(3000)?;
    /// assert!((4088..=4096).contains(&plan.size_in_bytes()));
    /// # Ok::<(), ribbonfilter_next::BuildError>(())
    /// ```
    #[must_use]
    pub fn total_bytes(self, bytes: u64) -> Self {
        self.target(Target::TotalBytes(bytes))
    }

    /// Stores this many columns: a rate of about `2^-columns`. A fraction is stored as one
    /// column more in a part of the blocks.
    ///
    /// ```
    /// let plan = ribbonfilter_next::Filter::builder().columns(8.0).plan_for(3000)?;
    /// assert_eq!(plan.expected_rate(), 1.0 / 256.0);
    /// # Ok::<(), ribbonfilter_next::BuildError>(())
    /// ```
    #[must_use]
    pub fn columns(self, columns: f64) -> Self {
        self.target(Target::Columns(columns))
    }

    option_methods!(spills: true);

    fn target(mut self, target: Target) -> Self {
        self.collected.target = target;
        self
    }

    /// Lets hashes beyond [`max_memory`](Self::max_memory) go to a temporary file in this
    /// directory: 8 bytes per key, twice that for a while if many are duplicates. The bytes that
    /// come out are the same. Without `max_memory` nothing is spilled.
    ///
    /// Both should be set before the first key. Hashes are written while keys are pushed, in
    /// runs that take half of `max_memory`; while the filter is built, groups of segments
    /// are read from them, on as many threads as memory allows. [`Plan::peak_memory`] reports what
    /// is taken then. The filter itself counts, so there is a least that a build needs; if
    /// `max_memory` is below it, the error reports it.
    ///
    /// The file has no name and is gone with the builder, whether the build succeeds, fails, is
    /// cancelled or killed. If it cannot be written, all keys are dropped, those pushed later
    /// too, and [`finish`](Self::finish) returns the error.
    ///
    /// ```
    /// use ribbonfilter_next::Filter;
    ///
    /// let mut builder = Filter::builder().max_memory(24 << 20).spill_to(std::env::temp_dir());
    /// builder.extend(0..3_000_000); // 24 MB of hashes alone
    /// assert!(builder.plan()?.peak_memory() <= 24 << 20);
    /// let filter = builder.finish()?;
    /// assert_eq!(filter.as_bytes(), Filter::build(0..3_000_000, 0.01)?.as_bytes());
    /// # Ok::<(), ribbonfilter_next::BuildError>(())
    /// ```
    #[cfg(feature = "std")]
    #[must_use]
    pub fn spill_to(mut self, directory: impl Into<std::path::PathBuf>) -> Self {
        self.collected.store.directory = Some(directory.into());
        self
    }

    /// Calls back while the filter is built; the callback can stop the build.
    ///
    /// ```
    /// use core::ops::ControlFlow;
    /// use ribbonfilter_next::Filter;
    ///
    /// let mut calls = 0;
    /// let mut builder = Filter::builder().progress(|_| {
    ///     calls += 1;
    ///     ControlFlow::Continue(())
    /// });
    /// builder.extend(0..1000);
    /// builder.finish()?;
    /// assert!(calls > 0);
    /// # Ok::<(), ribbonfilter_next::BuildError>(())
    /// ```
    #[must_use]
    pub fn progress<'q>(
        self,
        callback: impl FnMut(Progress) -> ControlFlow<()> + Send + 'q,
    ) -> FilterBuilder<'q> {
        FilterBuilder { collected: self.collected.progress(callback) }
    }

    /// Adds a key.
    ///
    /// ```
    /// let mut builder = ribbonfilter_next::Filter::builder();
    /// builder.push("ada");
    /// builder.push(String::from("grace"));
    /// assert_eq!(builder.len(), 2);
    /// ```
    #[inline]
    pub fn push(&mut self, key: impl Key) {
        self.push_hash(key.key_hash(self.collected.options.key_seed));
    }

    /// Adds a key by a 64-bit hash of the caller's, to be queried by
    /// [`Filter::contains_hash`]. Any hash that is different for different keys will do.
    ///
    /// ```
    /// let mut builder = ribbonfilter_next::Filter::builder();
    /// builder.push_hash(0x0123_4567_89ab_cdef);
    /// assert!(builder.finish()?.contains_hash(0x0123_4567_89ab_cdef));
    /// # Ok::<(), ribbonfilter_next::BuildError>(())
    /// ```
    #[inline]
    pub fn push_hash(&mut self, key_hash: u64) {
        self.collected.push(key_hash, ());
    }

    /// Adds many keys by hashes of the caller's, as [`push_hash`](Self::push_hash) does.
    ///
    /// ```
    /// let mut builder = ribbonfilter_next::Filter::builder();
    /// builder.extend_hashes([1, 2, 3]);
    /// assert!(builder.finish()?.contains_hash(3));
    /// # Ok::<(), ribbonfilter_next::BuildError>(())
    /// ```
    pub fn extend_hashes(&mut self, key_hashes: impl IntoIterator<Item = u64>) {
        self.collected.extend(key_hashes.into_iter().map(|key_hash| (key_hash, ())));
    }

    /// The number of keys added so far, duplicates included.
    ///
    /// ```
    /// assert_eq!(ribbonfilter_next::Filter::builder().len(), 0);
    /// ```
    pub fn len(&self) -> u64 {
        self.collected.len()
    }

    /// Whether no key was added yet.
    ///
    /// ```
    /// assert!(ribbonfilter_next::Filter::builder().is_empty());
    /// ```
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// What would come out for the keys added so far.
    ///
    /// ```
    /// let mut builder = ribbonfilter_next::Filter::builder();
    /// builder.extend(0..1000);
    /// assert_eq!(builder.plan()?.keys(), 1000);
    /// # Ok::<(), ribbonfilter_next::BuildError>(())
    /// ```
    ///
    /// # Errors
    /// If the settings contradict themselves or the number of keys.
    pub fn plan(&self) -> Result<Plan, BuildError> {
        self.plan_for(self.len())
    }

    /// What would come out for this number of keys.
    ///
    /// ```
    /// let plan = ribbonfilter_next::Filter::builder().plan_for(1_000_000_000)?;
    /// assert!(plan.size_in_bytes() < 900_000_000);
    /// # Ok::<(), ribbonfilter_next::BuildError>(())
    /// ```
    ///
    /// # Errors
    /// If the settings contradict themselves or the number of keys.
    pub fn plan_for(&self, keys: u64) -> Result<Plan, BuildError> {
        self.collected.plan_for(keys)
    }

    /// The most keys whose filter takes at most this number of bytes; 0 if not even one does.
    ///
    /// ```
    /// let builder = ribbonfilter_next::Filter::builder().false_positive_rate(0.01);
    /// let most = builder.max_keys(4096)?;
    /// assert!(builder.plan_for(most)?.size_in_bytes() <= 4096);
    /// assert!(builder.plan_for(most + 1)?.size_in_bytes() > 4096);
    /// # Ok::<(), ribbonfilter_next::BuildError>(())
    /// ```
    ///
    /// # Errors
    /// If the settings contradict themselves.
    pub fn max_keys(&self, bytes: u64) -> Result<u64, BuildError> {
        self.collected.settings().max_keys(bytes)
    }

    /// Builds the filter.
    ///
    /// ```
    /// let mut builder = ribbonfilter_next::Filter::builder();
    /// builder.extend(["ada", "grace"]);
    /// assert!(builder.finish()?.contains("ada"));
    /// # Ok::<(), ribbonfilter_next::BuildError>(())
    /// ```
    ///
    /// # Errors
    /// If the settings contradict themselves or the number of keys, if memory runs out, if
    /// the progress callback cancels, or if the key hashes are so far from random that no
    /// system of reasonable size is solvable.
    pub fn finish(mut self) -> Result<Filter, BuildError> {
        opened(self.collected.build())
    }

    /// Builds the filter and leaves the builder without keys, with the same settings and the
    /// buffer that held them: for whoever builds many filters, one after another.
    ///
    /// ```
    /// let mut builder = ribbonfilter_next::Filter::builder();
    /// for block in [["ada", "grace"], ["edsger", "barbara"]] {
    ///     builder.extend(block);
    ///     let filter = builder.finish_and_reset()?;
    ///     assert!(filter.len() == 2 && filter.contains(block[1]));
    /// }
    /// # Ok::<(), ribbonfilter_next::BuildError>(())
    /// ```
    ///
    /// # Errors
    /// As [`finish`](Self::finish). The keys are gone then too.
    pub fn finish_and_reset(&mut self) -> Result<Filter, BuildError> {
        opened(self.collected.build())
    }

    /// Removes all keys. The settings and the buffer for keys stay.
    ///
    /// ```
    /// let mut builder = ribbonfilter_next::Filter::builder();
    /// builder.push("ada");
    /// builder.reset();
    /// assert!(builder.is_empty());
    /// ```
    pub fn reset(&mut self) {
        self.collected.reset();
    }

    /// Builds the filter and writes its bytes; returns how many.
    ///
    /// ```
    /// use ribbonfilter_next::Filter;
    ///
    /// let mut builder = Filter::builder();
    /// builder.push("ada");
    /// let mut bytes = Vec::new();
    /// builder.finish_to(&mut bytes)?;
    /// assert!(Filter::open(bytes)?.contains("ada"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`finish`](Self::finish), or if writing fails.
    #[cfg(feature = "std")]
    pub fn finish_to(mut self, writer: impl std::io::Write) -> Result<u64, BuildError> {
        let bytes = self.collected.build()?;
        self.collected.write(bytes.as_ref(), writer)
    }
}

fn opened(built: Result<OwnedBytes, BuildError>) -> Result<Filter, BuildError> {
    Ok(Filter::open(built?).expect("what was built can be opened"))
}

/// Adds many keys.
///
/// ```
/// let mut builder = ribbonfilter_next::Filter::builder();
/// builder.extend(["ada", "grace"]);
/// builder.extend(0..10u32);
/// assert_eq!(builder.len(), 12);
/// ```
impl<K: Key> Extend<K> for FilterBuilder<'_> {
    fn extend<I: IntoIterator<Item = K>>(&mut self, keys: I) {
        let key_seed = self.collected.options.key_seed;
        self.extend_hashes(keys.into_iter().map(|key| key.key_hash(key_seed)));
    }
}

impl fmt::Debug for FilterBuilder<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FilterBuilder")
            .field("target", &self.collected.target)
            .field("options", &self.collected.options)
            .field("len", &self.len())
            .finish_non_exhaustive()
    }
}
