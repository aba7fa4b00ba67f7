//! Queries: from a key hash to a result, over untrusted bytes.
//!
//! ```text
//! key hash ── mix ── position ──┬─ first system ── block ──┬─ regular: W blocks, one stride ─┬─ row
//!                               │                          └─ otherwise: general function ───┤
//!                               └─ bumped: second system ───── general function ─────────────┘
//! ```
//!
//! - `layout.rs`: what is opened, and the checks that make queries memory-safe.
//! - `stored.rs`: a system in bytes: which blocks belong to a hash, and the general function.
//! - `regular.rs`: the row of a regular equation, compiled for the usual shapes.
//! - `slots.rs`: the same for wide maps, whose rows are read slot by slot.
//! - `single.rs`: the query of one key: a regular equation, or else the general function.
//! - `batch.rs`: queries of many keys.
//! - `choose.rs`: which of them a filter or map uses. It decides about speed only: each compiled
//!   query comes with a function that says whether it may be used for a system.
//!
//! A query of a filter yields the row of its key plus (exclusive or) the fingerprint, so 0 if the
//! key may be in the set. A query of a map yields the row. That is the only difference.
//!
//! What must hold: bytes with other contents than those that were built may give wrong results, but
//! every read stays in the bytes. See [`stored::Stored::new`] for the proof.
#![expect(unsafe_code, reason = "compiled queries are called through pointers")]

mod batch;
mod choose;
mod layout;
#[cfg(test)]
mod oracle;
mod regular;
mod single;
mod slots;
mod stored;
#[cfg(test)]
mod tests;

pub(crate) use layout::{Layout, PADDING, Second};

use crate::kernel::Kernel;
use layout::Opened;

/// The query of one key.
type Single = unsafe fn(&Opened, *const u8, u64) -> u64;
/// The queries of many keys: a bit for each key of a filter, a row for each key of a map.
type Batch = unsafe fn(&Opened, *const u8, &[u64], &mut [u64]);

/// A filter or map that was opened: all that a query needs except the bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Probe {
    single: Single,
    batch: Batch,
    /// The length of the bytes with which the layout was checked.
    len: usize,
    opened: Opened,
}

impl Probe {
    /// Opens a filter; `None` if the layout does not fit its length or is not one of a filter.
    pub(crate) fn filter(layout: &Layout, kernel: Kernel) -> Option<Self> {
        let opened = Opened::filter(layout, kernel)?;
        let (single, batch) = choose::filter(layout, kernel);
        Some(Self { single, batch, len: layout.len, opened })
    }

    /// Opens a map; `None` if the layout does not fit its length or is not one of a map.
    pub(crate) fn map(layout: &Layout, kernel: Kernel) -> Option<Self> {
        let opened = Opened::map(layout, kernel)?;
        let (single, batch) = choose::map(layout, kernel);
        Some(Self { single, batch, len: layout.len, opened })
    }

    /// The length of the bytes with which it was opened.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Whether the key of this hash may be in the set of a filter. Of bytes of another length than
    /// those that were opened nothing is known: `true`.
    #[inline]
    pub(crate) fn contains(&self, bytes: &[u8], key_hash: u64) -> bool {
        if bytes.len() != self.len {
            return of_other_length(true);
        }
        // SAFETY: the kernel proves that the CPU has the instructions, `choose` returns only queries
        // that may be used for the layout, and the bytes are as long as the layout says.
        unsafe { (self.single)(&self.opened, bytes.as_ptr(), key_hash) == 0 }
    }

    /// [`contains`](Self::contains) for each key: bit `i % 64` of word `i / 64`. Bits after the last
    /// key are 0.
    ///
    /// # Panics
    /// If there are fewer than `key_hashes.len().div_ceil(64)` words.
    pub(crate) fn contains_batch(&self, bytes: &[u8], key_hashes: &[u64], bits: &mut [u64]) {
        let bits = &mut bits[..key_hashes.len().div_ceil(64)];
        if bytes.len() == self.len {
            // SAFETY: as in `contains`, and there are as many words as needed.
            return unsafe { (self.batch)(&self.opened, bytes.as_ptr(), key_hashes, bits) };
        }
        for (word, keys) in bits.iter_mut().zip(key_hashes.chunks(64)) {
            *word = u64::MAX >> (64 - keys.len());
        }
    }

    /// The row of the key of this hash in a map. Of bytes of another length than those that were
    /// opened nothing is known: 0.
    #[inline]
    pub(crate) fn get(&self, bytes: &[u8], key_hash: u64) -> u64 {
        if bytes.len() != self.len {
            return of_other_length(0);
        }
        // SAFETY: as in `contains`.
        unsafe { (self.single)(&self.opened, bytes.as_ptr(), key_hash) }
    }

    /// [`get`](Self::get) for each key.
    ///
    /// # Panics
    /// If there are fewer rows than keys.
    pub(crate) fn get_batch(&self, bytes: &[u8], key_hashes: &[u64], rows: &mut [u64]) {
        let rows = &mut rows[..key_hashes.len()];
        match bytes.len() == self.len {
            // SAFETY: as in `contains`, and there is a row for each key.
            true => unsafe { (self.batch)(&self.opened, bytes.as_ptr(), key_hashes, rows) },
            false => rows.fill(0),
        }
    }
}

/// The result of a query of bytes of another length than those that were opened.
#[cold]
fn of_other_length<T>(result: T) -> T {
    result
}
