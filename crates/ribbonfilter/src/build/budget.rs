//! Budget for bumped keys, lest hashes that are far from random take more memory than is allowed.

use crate::build::variant::Failure;
use core::sync::atomic::{AtomicUsize, Ordering};

/// A number of keys, of which threads take their shares.
pub(crate) struct Budget {
    /// Keys in memory, so that a word is enough; not every target has atomic words of 64 bits.
    taken: AtomicUsize,
    max: u64,
    needed: u64,
}

impl Budget {
    /// Budget for so many keys; if there are more, so many bytes of memory are needed.
    pub(super) fn new(max: u64, needed: u64) -> Self {
        Self { taken: AtomicUsize::new(0), max, needed }
    }

    /// Takes room for some keys, unless there is not enough.
    pub(crate) fn take(&self, keys: usize) -> Result<(), Failure> {
        let before = self.taken.fetch_add(keys, Ordering::Relaxed);
        match before.saturating_add(keys) as u64 > self.max {
            true => Err(Failure::Crowded { needed: self.needed }),
            false => Ok(()),
        }
    }
}
