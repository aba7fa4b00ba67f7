//! What a build may use: CPU, threads and memory. None of it has an influence on the bytes.

use crate::build::variant::Failure;
use crate::kernel::Kernel;
use crate::plan::{Limits, Plan, Schedule};
use core::sync::atomic::{AtomicUsize, Ordering};

/// The resources that a build may use.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Resources {
    pub(crate) kernel: Kernel,
    pub(crate) limits: Limits,
    /// The maximum number of keys that a layer or level may bump, and the number of bytes to report
    /// as needed if one bumps more.
    bumped: (u64, u64),
}

impl Resources {
    pub(crate) fn new(kernel: Kernel, limits: Limits) -> Self {
        Self { kernel, limits, bumped: (u64::MAX, 0) }
    }

    pub(crate) fn threads(&self) -> usize {
        usize::try_from(self.limits.threads).unwrap_or(usize::MAX)
    }

    /// The same resources with the given number of threads.
    pub(crate) fn with_threads(self, threads: usize) -> Self {
        Self { limits: Limits { threads: threads as u64, ..self.limits }, ..self }
    }

    /// The resources that a spilling build uses, or [`Failure::Crowded`] if they do not suffice.
    pub(super) fn on_schedule(self, plan: &Plan, schedule: Schedule) -> Result<Self, Failure> {
        if schedule.peak > self.limits.max_memory {
            return Err(Failure::Crowded { needed: schedule.peak });
        }
        let max = plan.bumped_keys();
        Ok(Self {
            limits: Limits { threads: schedule.threads, ..self.limits },
            // Random hashes stay far below this maximum.
            bumped: (max + max / 2 + 1024, schedule.peak + 3 * 8 * plan.keys()),
            ..self
        })
    }

    /// The budget for the keys that a layer or level bumps.
    pub(crate) fn budget_for_bumped(&self) -> Budget {
        let (max, needed) = self.bumped;
        Budget { taken: AtomicUsize::new(0), max, needed }
    }
}

/// A number of keys that threads take from, so that hashes that are far from random do not exceed
/// the memory limit.
pub(crate) struct Budget {
    /// Counts keys in memory, so a `usize` is enough; not every target has 64-bit atomics.
    taken: AtomicUsize,
    max: u64,
    needed: u64,
}

impl Budget {
    /// Takes `keys` keys from the budget, or fails if it is exhausted.
    pub(crate) fn take(&self, keys: usize) -> Result<(), Failure> {
        let before = self.taken.fetch_add(keys, Ordering::Relaxed);
        match before.saturating_add(keys) as u64 > self.max {
            true => Err(Failure::Crowded { needed: self.needed }),
            false => Ok(()),
        }
    }
}
