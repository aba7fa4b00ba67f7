//! The fields of a footer: where they are, and how numbers are stored.

use super::FOOTER_BYTES;
use core::ops::Range;

/// The offsets of the fields in the footer.
pub(super) mod at {
    use core::ops::Range;

    pub(in crate::format) const KEY_SEED: Range<usize> = 0..8;
    pub(in crate::format) const KEYS: Range<usize> = 8..14;
    pub(in crate::format) const SEGMENT_SLOTS: Range<usize> = 14..18;
    /// In containers, in the bytes of the slots: the number of shards, or the number of the
    /// shard if it stands alone.
    pub(in crate::format) const SHARDS: Range<usize> = SEGMENT_SLOTS;
    pub(in crate::format) const BOUNDARY: Range<usize> = 18..23;
    pub(in crate::format) const RATE: Range<usize> = 23..26;
    /// In Balanced ribbons, in the bytes of the rate, which they do not store.
    pub(in crate::format) const SHARD_BITS: usize = 23;
    pub(in crate::format) const OVERLOAD: usize = 24;
    /// 7 bits columns, 6 bits first column or bits of fingerprints, 3 bits features.
    pub(in crate::format) const COLUMNS: Range<usize> = 26..28;
    /// 2 bits each: kind, variant, width, smash.
    pub(in crate::format) const WHAT: usize = 28;
    /// 5 bits segments as a power of two, 3 bits further layers.
    pub(in crate::format) const SEGMENTS: usize = 29;
    pub(in crate::format) const SEED: usize = 30;
    /// 4 bits format, 4 bits construction.
    pub(in crate::format) const VERSIONS: usize = 31;
    pub(in crate::format) const DATA_CHECK: Range<usize> = 32..36;
    pub(in crate::format) const FOOTER_CHECK: Range<usize> = 36..38;
    pub(in crate::format) const MAGIC: Range<usize> = 38..40;
}

#[cfg_attr(not(target_arch = "wasm32"), inline(always))]
pub(super) fn get(raw: &[u8; FOOTER_BYTES], field: Range<usize>) -> u64 {
    // One load of eight bytes for any field, because opening mostly consists of these reads. A
    // field near the end is loaded from the last eight bytes and shifted further.
    let from = field.start.min(FOOTER_BYTES - 8);
    let word = u64::from_le_bytes(raw[from..from + 8].try_into().expect("eight bytes"));
    word >> (8 * (field.start - from)) & u64::MAX >> (64 - 8 * field.len())
}

pub(super) fn put(raw: &mut [u8; FOOTER_BYTES], field: Range<usize>, value: u64) {
    let size = field.len();
    debug_assert!(size == 8 || value >> (8 * size) == 0);
    raw[field].copy_from_slice(&value.to_le_bytes()[..size]);
}

/// The little-endian number in the first four bytes.
#[inline(always)]
pub(super) fn number_of(bytes: &[u8]) -> u32 {
    u32::from_le_bytes(bytes[..4].try_into().expect("four bytes"))
}

/// A little-endian number of at most eight bytes.
#[inline]
pub(crate) fn little_endian(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte))
}

/// Encodes a rate in 24 bits: 6 bits `e` and 18 bits `f` for `(1 + f / 2^18) / 2^(e - 1)`, rounded
/// to the nearest; the relative error is at most 2^-19.
pub(super) fn encode_rate(rate: f64) -> u32 {
    // No built filter has the rate 0, but untrusted input may when it is shrunk. It gets the
    // lowest rate that can be encoded.
    debug_assert!((0.0..=1.0).contains(&rate));
    // Rounding half up may carry into the exponent, which gives the next power of two.
    let rounded = (rate.to_bits() + (1 << 33)) >> 34;
    let (exponent, fraction) = (rounded >> 18, rounded & 0x3ffff);
    let e = (1024 - exponent).min(63);
    (e << 18 | fraction) as u32
}

pub(super) fn decode_rate(stored: u32) -> f64 {
    let (e, fraction) = (u64::from(stored >> 18), u64::from(stored & 0x3ffff));
    f64::from_bits((1024 - e) << 52 | fraction << 34)
}
