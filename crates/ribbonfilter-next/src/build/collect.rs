//! The common core of both builders: settings and pushed keys in, bytes out.

use crate::build::{self, BuildOptions, Item, Resources, Slabs, Store, Value};
use crate::error::BuildError;
use crate::kernel::Kernel;
use crate::plan::{Limits, Plan, Settings, Target};
use crate::progress::{Progress, Reporter};
use crate::storage::bytes::OwnedBytes;
use core::ops::ControlFlow;

/// Keys with their values, and the settings of the build.
pub(crate) struct Collected<'p, V> {
    pub(crate) target: Target,
    pub(crate) options: BuildOptions,
    pub(crate) store: Store<V>,
    pub(crate) kernel: Option<Kernel>,
    progress: Reporter<'p>,
    /// The first failure while keys were pushed, reported by `build`.
    failure: Option<BuildError>,
}

impl<V> Default for Collected<'_, V> {
    fn default() -> Self {
        Self {
            target: Target::Rate(0.01),
            options: BuildOptions::default(),
            store: Store::default(),
            kernel: None,
            progress: Reporter::default(),
            failure: None,
        }
    }
}

/// More threads than any build has work for.
#[cfg(feature = "parallel")]
const MAX_THREADS: usize = 1024;

impl<'p, V: Value> Collected<'p, V> {
    pub(crate) fn progress<'q>(
        self,
        callback: impl FnMut(Progress) -> ControlFlow<()> + Send + 'q,
    ) -> Collected<'q, V> {
        Collected {
            target: self.target,
            options: self.options,
            store: self.store,
            kernel: self.kernel,
            progress: Reporter::new(callback),
            failure: self.failure,
        }
    }

    /// Sets the seed under which keys are hashed. Keys that were already pushed cannot be hashed
    /// again and would not be found, so the build fails if there are any.
    pub(crate) fn set_key_seed(&mut self, key_seed: u64) {
        if self.len() > 0 {
            self.fail(BuildError::TooLate { setting: "key_seed" });
        }
        self.options.key_seed = key_seed;
    }

    /// Sets all options. The directory for spilled hashes is ignored unless the keys of this build
    /// may be spilled.
    pub(crate) fn set_options(&mut self, options: BuildOptions, spills: bool) {
        if options.key_seed != self.options.key_seed {
            self.set_key_seed(options.key_seed);
        }
        #[cfg(feature = "std")]
        if spills {
            self.store.directory = options.spill_to.clone();
        }
        #[cfg(not(feature = "std"))]
        let _ = spills;
        self.options = options;
    }

    /// What the planner needs to know.
    pub(crate) fn settings(&self) -> Settings {
        let BuildOptions { variant, width, effort, overhead, fast, key_seed, .. } = self.options;
        Settings { target: self.target, variant, width, overhead, effort, fast, key_seed }
    }

    #[inline]
    pub(crate) fn push(&mut self, key_hash: u64, value: V) {
        if self.store.is_full() {
            self.grow(1);
        }
        if self.failure.is_none() {
            self.store.push(Item { hash: key_hash, value });
        }
    }

    pub(crate) fn extend(&mut self, pairs: impl IntoIterator<Item = (u64, V)>) {
        let pairs = pairs.into_iter();
        if self.store.is_full() {
            self.grow(pairs.size_hint().0 as u64);
        }
        for (key_hash, value) in pairs {
            self.push(key_hash, value);
        }
    }

    /// The number of keys pushed.
    pub(crate) fn len(&self) -> u64 {
        self.store.len()
    }

    /// Reserves capacity for more keys. A failure is stored and reported by `build`; all keys are
    /// then dropped, and no more are kept.
    #[cold]
    fn grow(&mut self, additional: u64) {
        if self.failure.is_some() {
            return;
        }
        let runs = self.limits().runs;
        if let Err(failure) = self.store.grow(additional, runs) {
            self.fail(failure);
        }
    }

    /// Stores the first failure, and drops the keys.
    fn fail(&mut self, failure: BuildError) {
        self.failure.get_or_insert(failure);
        self.store.clear();
    }

    pub(crate) fn plan_for(&self, keys: u64) -> Result<Plan, BuildError> {
        Ok(self.settings().plan(keys, 0)?.with_limits(self.limits()))
    }

    /// Builds according to the settings. Consumes the keys, and keeps a buffer for the next ones.
    pub(crate) fn build(&mut self) -> Result<OwnedBytes, BuildError> {
        let settings = self.settings();
        let resources = self.resources();
        if let Some(failure) = self.failure.take() {
            return Err(failure);
        }
        build::build(&mut self.store, &settings, resources, &mut self.progress)
    }

    /// Takes the pushed items, for a build of shards, which reports its progress as well.
    pub(crate) fn take(&mut self) -> Result<(Slabs<V>, &mut Reporter<'p>), BuildError> {
        match self.failure.take() {
            Some(failure) => Err(failure),
            None => Ok((self.store.take_slabs(), &mut self.progress)),
        }
    }

    /// Removes all keys, and any failure while they were pushed. Keeps their buffer.
    pub(crate) fn reset(&mut self) {
        self.failure = None;
        self.store.clear();
    }

    /// What the build may use.
    pub(crate) fn resources(&self) -> Resources {
        Resources { kernel: self.kernel.unwrap_or_else(Kernel::best), limits: self.limits() }
    }

    fn limits(&self) -> Limits {
        let max_memory = self.options.max_memory.unwrap_or(u64::MAX);
        let runs = self.store.runs(max_memory);
        Limits { threads: self.thread_count() as u64, max_memory, runs }
    }

    /// The number of threads that a build will use.
    pub(crate) fn thread_count(&self) -> usize {
        match self.options.threads {
            #[cfg(feature = "parallel")]
            0 => std::thread::available_parallelism().map_or(1, Into::into),
            #[cfg(feature = "parallel")]
            threads => threads.min(MAX_THREADS),
            #[cfg(not(feature = "parallel"))]
            _ => 1,
        }
    }

    /// Writes the built bytes. Returns their number.
    #[cfg(feature = "std")]
    pub(crate) fn write(
        &mut self,
        bytes: &[u8],
        writer: impl std::io::Write,
    ) -> Result<u64, BuildError> {
        self.progress.write(bytes, writer)
    }
}
