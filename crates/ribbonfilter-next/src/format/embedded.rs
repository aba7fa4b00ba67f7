//! Filters and maps within the bytes of another structure.
//!
//! ```text
//! … | data of a filter or map | … | entry | … | footer of the other structure |
//! ```
//!
//! A footer takes 40 bytes, most of which are the same for everything that a structure contains. So
//! the structure stores an [`Entry`] for each filter or map instead, from which the footer follows.
//! Columns must be whole, and a map has no fingerprints.

use super::fields::{Raw, at, put};
use super::{FOOTER_BYTES, Footer};
use crate::error::{Kind, OpenError};
use crate::kernel::Kernel;
use crate::query::{Layout, Probe};
use core::ops::Range;

/// The size of an entry.
pub const ENTRY_BYTES: usize = 9;

/// What distinguishes the footer of an embedded filter or map from others.
pub type Entry = [u8; ENTRY_BYTES];

/// The fields of a footer that an entry has, in this order. The others follow: there are keys, the
/// boundary is 0, and columns begin with the first one.
const FIELDS: [Range<usize>; 4] =
    [at::STARTS, at::COLUMNS..at::COLUMNS + 1, at::STORAGE..at::SEED + 1, at::SHAPE..at::SHAPE + 1];
const _: () = assert!(at::SEED == at::STORAGE + 1);

/// The number of keys that stands for any: what else an entry says does not depend on it.
const SOME_KEYS: u64 = 1;

/// Splits a complete filter or map of whole columns into its data, which may be embedded, and their
/// entry.
///
/// # Panics
/// If the bytes are not one.
pub fn embed(complete: &[u8]) -> (&[u8], Entry) {
    let (data, raw) = complete.split_last_chunk::<FOOTER_BYTES>().expect("a footer");
    let (mut entry, mut filled) = ([0; ENTRY_BYTES], 0);
    for field in FIELDS {
        entry[filled..filled + field.len()].copy_from_slice(&raw[field.clone()]);
        filled += field.len();
    }
    (data, entry)
}

/// A filter or map that is embedded in other bytes.
#[derive(Clone, Debug)]
pub struct Embedded {
    probe: Probe,
    /// The offset at which the data begin.
    start: usize,
    columns: u32,
}

impl Embedded {
    /// Opens the filter or map whose data end at offset `end`. O(1). At least 40 bytes must follow.
    ///
    /// Contents are not trusted: any bytes can be queried.
    ///
    /// # Errors
    /// If the entry is not one of this kind, or if the bytes are too few.
    pub fn open(
        bytes: &[u8],
        end: usize,
        entry: &Entry,
        kind: Kind,
        kernel: Kernel,
    ) -> Result<Self, OpenError> {
        let mut raw: Raw = [0; FOOTER_BYTES];
        put(&mut raw, at::KEYS, SOME_KEYS);
        let mut rest = &entry[..];
        for field in FIELDS {
            let (stored, others) = rest.split_at(field.len());
            raw[field].copy_from_slice(stored);
            rest = others;
        }
        let too_short = |needed| OpenError::TooShort { len: bytes.len(), needed };
        let followed = end.saturating_add(FOOTER_BYTES);
        let data = bytes.get(..end).filter(|_| followed <= bytes.len());
        let data = data.ok_or(too_short(followed))?;
        let footer = Footer::of_data(data, &raw, kind)?;
        let size = usize::try_from(footer.shape.data_bytes()).unwrap_or(usize::MAX);
        let missing = || too_short(size.saturating_add(followed - end));
        let start = end.checked_sub(size).ok_or_else(missing)?;
        // Some queries are faster if they may read more bytes than follow a filter that stands alone.
        let layout = Layout { len: bytes.len() - start, ..footer.layout() };
        let probe = footer.probe_of(&layout, kernel)?;
        Ok(Self { probe, start, columns: footer.shape.first.columns })
    }

    /// The offset at which the data begin.
    pub fn start(&self) -> usize {
        self.start
    }

    /// The number of columns.
    pub fn columns(&self) -> u32 {
        self.columns
    }

    /// The bytes of the probe, which declines them if they are not as many as when it was opened.
    #[inline]
    fn bytes<'a>(&self, bytes: &'a [u8]) -> &'a [u8] {
        bytes.get(self.start..).unwrap_or_default()
    }

    /// Whether the key of this hash may be in the set of a filter. `bytes` are those in which it was
    /// opened; if their length is another one now, every key may be.
    #[inline]
    pub fn contains(&self, bytes: &[u8], key_hash: u64) -> bool {
        self.probe.contains(self.bytes(bytes), key_hash)
    }

    /// [`contains`](Self::contains) for each key: bit `i % 64` of word `i / 64`.
    ///
    /// # Panics
    /// If there are fewer than `key_hashes.len().div_ceil(64)` words.
    pub fn contains_batch(&self, bytes: &[u8], key_hashes: &[u64], bits: &mut [u64]) {
        self.probe.contains_batch(self.bytes(bytes), key_hashes, bits);
    }

    /// The value of the key of this hash in a map. `bytes` are those in which it was opened; if
    /// their length is another one now, it is 0.
    #[inline]
    pub fn get(&self, bytes: &[u8], key_hash: u64) -> u64 {
        self.probe.get(self.bytes(bytes), key_hash)
    }

    /// [`get`](Self::get) for each key.
    ///
    /// # Panics
    /// If there are fewer values than keys.
    pub fn get_batch(&self, bytes: &[u8], key_hashes: &[u64], values: &mut [u64]) {
        self.probe.get_batch(self.bytes(bytes), key_hashes, values);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Filter, Function};
    use alloc::vec;
    use alloc::vec::Vec;

    /// Opens what is embedded at any offset, and queries it. Fewer bytes are refused.
    fn check(complete: &[u8], kind: Kind, is_right: impl Fn(&Embedded, &[u8]) -> bool) {
        let (data, entry) = embed(complete);
        for offset in [0, 13] {
            let end = offset + data.len();
            let mut bytes: Vec<u8> = vec![0xa5; end + FOOTER_BYTES];
            bytes[offset..end].copy_from_slice(data);
            let open = |bytes: &[u8], end| Embedded::open(bytes, end, &entry, kind, Kernel::best());
            let embedded = open(&bytes, end).expect("just embedded");
            assert_eq!(embedded.start(), offset);
            assert!(is_right(&embedded, &bytes));
            assert!(open(&bytes[..end + FOOTER_BYTES - 1], end).is_err());
            assert!(open(&bytes, usize::MAX).is_err());
        }
        assert!(Embedded::open(data, data.len() - 1, &entry, kind, Kernel::best()).is_err());
    }

    /// One system, and two.
    #[test]
    fn embedded_filters_and_maps_are_those_alone() {
        for keys in [1, 1000, 20_000] {
            let mut filter = Filter::builder().columns(3.0);
            filter.extend_hashes(0..keys);
            let filter = filter.finish().expect("ordinary keys build");
            check(filter.as_bytes(), Kind::Filter, |embedded, bytes| {
                let same = |hash| embedded.contains(bytes, hash) == filter.contains_hash(hash);
                embedded.columns() == 3 && (0..2 * keys).all(same)
            });
            let mut map = Function::builder().value_bits(1);
            map.extend_hashes((0..keys).map(|hash| (hash, hash & 1)));
            let map = map.finish().expect("ordinary keys build");
            check(map.as_bytes(), Kind::Function, |embedded, bytes| {
                let mut values = vec![0; keys as usize];
                embedded.get_batch(bytes, &(0..keys).collect::<Vec<_>>(), &mut values);
                values.iter().zip(0..keys).all(|(&value, hash)| {
                    (value, value) == (embedded.get(bytes, hash), map.get_hash(hash))
                })
            });
        }
    }
}
