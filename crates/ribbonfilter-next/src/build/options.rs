//! The options that all builders share, and the methods that set them.

use crate::{Effort, Variant, Width};

/// The options of a build, the same for filters, functions, shards and exact sets.
///
/// Builders have a method for each. A program that gets its options from elsewhere, such as
/// arguments, a file or another language, fills this struct and passes it to the `options` method of
/// any builder.
///
/// ```
/// use ribbonfilter_next::{BuildOptions, Filter, Function, Variant};
///
/// let mut options = BuildOptions::default();
/// options.variant = Some(Variant::Standard);
/// options.key_seed = 7;
/// let mut builder = Filter::builder().options(options.clone());
/// builder.extend(["ada", "grace"]);
/// assert_eq!(builder.finish()?.variant(), Variant::Standard);
/// let mut builder = Function::builder().options(options).value_bits(7);
/// builder.push("ada", 36);
/// assert_eq!(builder.finish()?.get("ada"), 36);
/// # Ok::<(), ribbonfilter_next::BuildError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct BuildOptions {
    /// The variant; by default the planner's choice.
    pub variant: Option<Variant>,
    /// The width; by default the planner's choice.
    pub width: Option<Width>,
    /// How much time a build may take for a smaller result.
    pub effort: Effort,
    /// Whether speed counts more than size: whole columns, and nothing is bumped.
    pub fast: bool,
    /// The minimum fraction of slots in addition to one per key; 0 by default.
    pub overhead: f64,
    /// The number of threads, by default 1; 0 stands for all that the system offers.
    pub threads: usize,
    /// The maximum number of bytes of memory that a build takes; by default there is no limit.
    pub max_memory: Option<u64>,
    /// The directory for hashes that exceed `max_memory`; by default they are not written to disk.
    /// Only filters and exact sets use it.
    #[cfg(feature = "std")]
    pub spill_to: Option<std::path::PathBuf>,
    /// The seed under which keys are hashed.
    pub key_seed: u64,
}

impl Default for BuildOptions {
    fn default() -> Self {
        Self {
            variant: None,
            width: None,
            effort: Effort::default(),
            fast: false,
            overhead: 0.0,
            threads: 1,
            max_memory: None,
            #[cfg(feature = "std")]
            spill_to: None,
            key_seed: 0,
        }
    }
}

/// The methods of a builder that set its options, which it keeps in `self.collected`. `$spills` is
/// whether its keys may be spilled.
macro_rules! option_methods {
    (spills: $spills:literal) => {
        /// Sets all options that builders have in common. It must precede the first key if it
        /// changes the seed of the keys, as [`key_seed`](Self::key_seed) must.
        #[must_use]
        pub fn options(mut self, options: $crate::BuildOptions) -> Self {
            self.collected.set_options(options, $spills);
            self
        }

        /// Uses this variant instead of the planner's choice.
        #[must_use]
        pub fn variant(mut self, variant: $crate::Variant) -> Self {
            self.collected.options.variant = Some(variant);
            self
        }

        /// Uses this width instead of the planner's choice.
        #[must_use]
        pub fn width(mut self, width: $crate::Width) -> Self {
            self.collected.options.width = Some(width);
            self
        }

        /// Sets how much time the build may take for a smaller result.
        #[must_use]
        pub fn effort(mut self, effort: $crate::Effort) -> Self {
            self.collected.options.effort = effort;
            self
        }

        /// Prefers speed to size: the result is built and queried faster, and still smaller than a
        /// binary fuse filter. Columns are whole, and nothing is bumped.
        #[must_use]
        pub fn fast(mut self) -> Self {
            self.collected.options.fast = true;
            self
        }

        /// Uses at least this fraction of slots in addition to one per key, for a faster build: 0.2
        /// is 20 %. Never fewer than the planner would.
        #[must_use]
        pub fn overhead(mut self, fraction: f64) -> Self {
            self.collected.options.overhead = fraction;
            self
        }

        /// Hashes keys under this seed, which is stored. It must be set before the first key; after
        /// that it makes `finish` fail.
        #[must_use]
        pub fn key_seed(mut self, key_seed: u64) -> Self {
            self.collected.set_key_seed(key_seed);
            self
        }

        /// Builds on this number of threads, by default one; 0 stands for all that the system
        /// offers. Without the feature `parallel` it is always one. The bytes are the same for any
        /// number.
        #[must_use]
        pub fn threads(mut self, threads: usize) -> Self {
            self.collected.options.threads = threads;
            self
        }

        /// Takes no more memory than this for the build, pushed keys and the result included, or
        /// refuses before any work.
        #[must_use]
        pub fn max_memory(mut self, bytes: u64) -> Self {
            self.collected.options.max_memory = Some(bytes);
            self
        }

        /// Uses another kernel, for tests and benchmarks.
        #[cfg(feature = "internals")]
        #[must_use]
        pub fn kernel(mut self, kernel: $crate::Kernel) -> Self {
            self.collected.kernel = Some(kernel);
            self
        }
    };
}
pub(crate) use option_methods;
