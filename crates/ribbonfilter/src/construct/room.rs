//! Room for bumped keys, lest hashes that are far from random take more memory than is allowed.

use crate::error::BuildError;
use core::sync::atomic::{AtomicU64, Ordering};

/// A number of keys, of which threads take their shares.
pub(crate) struct Room {
    taken: AtomicU64,
    most: u64,
    refusal: (u64, u64),
}

impl Room {
    /// Room for so many keys. If more come, so many bytes of memory would be needed, but so
    /// many are allowed.
    pub(super) fn new(most: u64, needed: u64, limit: u64) -> Self {
        Self { taken: AtomicU64::new(0), most, refusal: (needed, limit) }
    }

    /// Takes room for some keys, unless there is not enough.
    pub(crate) fn take(&self, keys: usize) -> Result<(), BuildError> {
        let before = self.taken.fetch_add(keys as u64, Ordering::Relaxed);
        let (needed, limit) = self.refusal;
        match before.saturating_add(keys as u64) > self.most {
            true => Err(BuildError::MemoryLimit { needed, limit }),
            false => Ok(()),
        }
    }
}
