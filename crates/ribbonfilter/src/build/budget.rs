//! A budget for bumped keys, so that hashes that are far from random do not exceed the memory
//! limit.

use crate::build::variant::Failure;
use core::sync::atomic::{AtomicUsize, Ordering};

/// A number of keys that threads take from.
pub(crate) struct Budget {
    /// Counts keys in memory, so a `usize` is enough; not every target has 64-bit atomics.
    taken: AtomicUsize,
    max: u64,
    needed: u64,
}

impl Budget {
    /// A budget for `max` keys. If more are taken, the failure reports `needed` bytes of memory.
    pub(super) fn new(max: u64, needed: u64) -> Self {
        Self { taken: AtomicUsize::new(0), max, needed }
    }

    /// Takes `keys` keys from the budget, or fails if it is exhausted.
    pub(crate) fn take(&self, keys: usize) -> Result<(), Failure> {
        let before = self.taken.fetch_add(keys, Ordering::Relaxed);
        match before.saturating_add(keys) as u64 > self.max {
            true => Err(Failure::Crowded { needed: self.needed }),
            false => Ok(()),
        }
    }
}
