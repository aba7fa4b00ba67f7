//! Room for bumped keys, lest hashes that are far from random take more memory than is allowed.

use crate::build::variant::Failure;
use core::sync::atomic::{AtomicUsize, Ordering};

/// A number of keys, of which threads take their shares.
pub(crate) struct Room {
    /// Keys in memory, so that a word is enough; not every target has atomic words of 64 bits.
    taken: AtomicUsize,
    most: u64,
    needed: u64,
}

impl Room {
    /// Room for so many keys; if there are more, so many bytes of memory are needed.
    pub(super) fn new(most: u64, needed: u64) -> Self {
        Self { taken: AtomicUsize::new(0), most, needed }
    }

    /// Takes room for some keys, unless there is not enough.
    pub(crate) fn take(&self, keys: usize) -> Result<(), Failure> {
        let before = self.taken.fetch_add(keys, Ordering::Relaxed);
        match before.saturating_add(keys) as u64 > self.most {
            true => Err(Failure::Crowded { needed: self.needed }),
            false => Ok(()),
        }
    }
}
