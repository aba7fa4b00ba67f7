//! What both builders are inside: settings and pushed keys, up to the bytes.

use crate::arch::Kernel;
use crate::bytes::OwnedBytes;
use crate::construct::{self, Item, Resources, Value};
use crate::equation::mix;
use crate::error::{BuildError, OutOfMemory};
use crate::memory::try_reserve;
use crate::plan::{Plan, Settings};
use crate::progress::{Control, Progress, Reporter};
use alloc::vec::Vec;

/// Keys, each mapped to something, and how they are to be built.
#[derive(Default)]
pub(crate) struct Collected<'p, V> {
    pub(crate) settings: Settings,
    /// By their mixed hashes, in the order in which they were pushed.
    pub(crate) items: Vec<Item<u64, V>>,
    pub(crate) threads: usize,
    pub(crate) max_memory: Option<u64>,
    pub(crate) kernel: Option<Kernel>,
    progress: Reporter<'p>,
    /// The first allocation that failed, reported at the end.
    failure: Option<OutOfMemory>,
}

/// All that a build needs besides its settings.
pub(crate) type Taken<'a, 'p, V> = (Vec<Item<u64, V>>, Resources, &'a mut Reporter<'p>);

impl<'p, V: Value> Collected<'p, V> {
    pub(crate) fn progress<'q>(
        self,
        callback: impl FnMut(Progress) -> Control + Send + 'q,
    ) -> Collected<'q, V> {
        Collected {
            settings: self.settings,
            items: self.items,
            threads: self.threads,
            max_memory: self.max_memory,
            kernel: self.kernel,
            progress: Reporter::new(callback),
            failure: self.failure,
        }
    }

    #[inline]
    pub(crate) fn push(&mut self, key_hash: u64, value: V) {
        if self.items.len() == self.items.capacity() {
            self.grow(1);
        }
        if self.failure.is_none() {
            self.items.push(Item { hash: mix(key_hash), value });
        }
    }

    pub(crate) fn extend(&mut self, pairs: impl IntoIterator<Item = (u64, V)>) {
        let pairs = pairs.into_iter();
        let expected = pairs.size_hint().0;
        if expected > self.items.capacity() - self.items.len() {
            self.grow(expected);
        }
        for (key_hash, value) in pairs {
            self.push(key_hash, value);
        }
    }

    /// Makes room for more keys. A refusal is remembered and reported by `build`.
    #[cold]
    fn grow(&mut self, additional: usize) {
        let additional = additional.max(self.items.len());
        if let Err(failure) = try_reserve(&mut self.items, additional) {
            self.failure.get_or_insert(failure);
        }
    }

    pub(crate) fn plan_for(&self, keys: u64) -> Result<Plan, BuildError> {
        Ok(self.settings.plan(keys, 0)?.on_threads(self.thread_count()))
    }

    /// Builds what the settings say; the keys are gone then.
    pub(crate) fn build(&mut self) -> Result<OwnedBytes, BuildError> {
        let settings = self.settings;
        let (items, resources, progress) = self.take()?;
        construct::build(items, &settings, resources, progress)
    }

    /// The pushed keys, which are gone then, and what a build may use and whom it tells.
    pub(crate) fn take(&mut self) -> Result<Taken<'_, 'p, V>, BuildError> {
        if let Some(failure) = self.failure {
            return Err(failure.into());
        }
        let items = core::mem::take(&mut self.items);
        Ok((items, self.resources(), &mut self.progress))
    }

    fn resources(&self) -> Resources {
        Resources {
            kernel: self.kernel.unwrap_or_else(Kernel::best),
            threads: self.thread_count(),
            max_memory: self.max_memory.unwrap_or(u64::MAX),
        }
    }

    /// The threads that a build will use.
    fn thread_count(&self) -> usize {
        match self.threads {
            #[cfg(feature = "parallel")]
            0 => std::thread::available_parallelism().map_or(1, Into::into),
            #[cfg(feature = "parallel")]
            threads => threads,
            #[cfg(not(feature = "parallel"))]
            _ => 1,
        }
    }

    /// Writes what was built; how many bytes.
    #[cfg(feature = "std")]
    pub(crate) fn write(
        &mut self,
        bytes: &[u8],
        mut writer: impl std::io::Write,
    ) -> Result<u64, BuildError> {
        /// Bytes between two reports.
        const PIECE: usize = 1 << 20;
        let (mut done, total) = (0, bytes.len() as u64);
        for piece in bytes.chunks(PIECE) {
            self.progress.report(crate::progress::Phase::Writing, done, total)?;
            writer.write_all(piece)?;
            done += piece.len() as u64;
        }
        writer.flush()?;
        self.progress.report(crate::progress::Phase::Writing, total, total)?;
        Ok(total)
    }
}
