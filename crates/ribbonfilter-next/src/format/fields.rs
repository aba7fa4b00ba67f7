//! The fields of a footer: where they are, and how numbers are stored.

use super::FOOTER_BYTES;
use core::ops::Range;

/// The offsets of the fields in the footer.
pub(crate) mod at {
    use core::ops::Range;

    pub(crate) const KEY_SEED: Range<usize> = 0..8;
    pub(crate) const KEYS: Range<usize> = 8..14;
    pub(crate) const STARTS: Range<usize> = 14..19;
    pub(crate) const BOUNDARY: Range<usize> = 19..24;
    pub(crate) const COLUMNS: usize = 24;
    /// In filters, the first bit of the fingerprint that is stored; in maps, the number of bits of
    /// fingerprints.
    pub(crate) const FINGERPRINT: usize = 25;
    /// 4 bits for the first system, 4 for the second: 3 bits the bytes of a column of the last block,
    /// less 1; 1 bit for slots that are stored row by row.
    pub(crate) const STORAGE: usize = 26;
    pub(crate) const SEED: usize = 27;
    pub(crate) const KIND: usize = 28;
    /// 4 bits variant, 4 bits blocks of an equation.
    pub(crate) const SHAPE: usize = 29;
    /// Of a filter, zero. Other structures use these bytes.
    pub(crate) const RESERVED: Range<usize> = 30..32;
    pub(crate) const DATA_CHECK: Range<usize> = 32..36;
    pub(crate) const FOOTER_CHECK: Range<usize> = 36..37;
    pub(crate) const VERSION: usize = 37;
    pub(crate) const MAGIC: Range<usize> = 38..40;
}

/// The fields of the footer of a container of shards, or of a shard that stands alone, that are not
/// those of a filter.
pub(crate) mod shards {
    use core::ops::Range;

    pub(crate) const BYTES: Range<usize> = 14..19;
    pub(crate) const SETTINGS: Range<usize> = 19..24;
    /// The number of a shard that stands alone.
    pub(crate) const NUMBER: Range<usize> = 24..27;
    /// log2 of the number of shards.
    pub(crate) const BITS: usize = 27;
    /// Whether the filters of a container begin on cache lines.
    pub(crate) const ALIGNED: usize = 29;
}

/// The bytes that describe the second system of a Bumped filter, before the footer.
pub(crate) mod second {
    use core::ops::Range;

    pub(crate) const STARTS: Range<usize> = 0..5;
    pub(crate) const BOUNDARY: Range<usize> = 5..10;
    pub(crate) const SEED: usize = 10;
    pub(crate) const BUMPED: [Range<usize>; 2] = [11..13, 13..15];
    pub(crate) const BYTES: usize = 15;
}

/// A little-endian number of at most eight bytes.
#[inline(always)]
pub fn get(raw: &[u8], field: Range<usize>) -> u64 {
    let mut word = [0; 8];
    word[..field.len()].copy_from_slice(&raw[field]);
    u64::from_le_bytes(word)
}

/// Stores a number that fits the field.
pub fn put(raw: &mut [u8], field: Range<usize>, value: u64) {
    let size = field.len();
    debug_assert!(size == 8 || value >> (8 * size) == 0);
    raw[field].copy_from_slice(&value.to_le_bytes()[..size]);
}

/// A footer, in bytes.
pub type Raw = [u8; FOOTER_BYTES];
