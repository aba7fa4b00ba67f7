//! Buckets of a Bumped system, and the codes that say which of their keys are bumped.
//!
//! A bucket is eight starts. Its keys, in the order of their positions, are bumped up to a
//! threshold: the first ones go to the second layer, the others stay. The threshold is one of four,
//! and a code of two bits per bucket says which. The last threshold bumps the whole bucket, so there
//! is a code for any keys, and nothing is an exception.
//!
//! ```text
//! positions of a bucket   0 ........ threshold ................ 8 starts
//!                         | bumped   | solved in the first layer |
//! ```
//!
//! Only the first ones are bumped, because an equation covers blocks to the right of its start:
//! bumping the last keys cannot repair an overflow at the first ones (`docs/decisions/bumping.md`).

use super::equation::FRACTION_BITS;
use super::system::System;
use super::width::Width;

/// log2 of the starts of a bucket.
pub(crate) const BUCKET_BITS: u32 = 3;
/// The starts of a bucket.
pub(crate) const BUCKET_STARTS: u64 = 1 << BUCKET_BITS;
/// The bits of a position below the bucket.
pub(crate) const IN_BUCKET_BITS: u32 = FRACTION_BITS + BUCKET_BITS;

/// The positions below which keys are bumped, by code.
pub(crate) type Thresholds = [u32; 4];

/// The thresholds of a width, in starts, found by search: `constants thresholds`
/// (`docs/decisions/bumping.md`).
pub(crate) const fn thresholds(width: Width) -> Thresholds {
    let [second, third] = match width {
        Width::W64 | Width::W128 => [0.4, 1.2],
        Width::W192 => [0.55, 1.35],
        Width::W256 => [0.51, 1.3],
    };
    let unit = (1 << FRACTION_BITS) as f64;
    [0, (second * unit) as u32, (third * unit) as u32, 1 << IN_BUCKET_BITS]
}

/// The number of buckets of a system.
pub(crate) const fn buckets(starts: u64) -> u64 {
    starts.div_ceil(BUCKET_STARTS)
}

/// The bytes of the codes of a system.
pub(crate) const fn codes_in_bytes(starts: u64) -> u64 {
    buckets(starts).div_ceil(4)
}

/// Whether the key at a position is bumped, if the threshold of its bucket is this one.
#[inline(always)]
pub(crate) const fn is_bumped(position: u64, threshold: u32) -> bool {
    (position as u32 & ((1 << IN_BUCKET_BITS) - 1)) < threshold
}

/// The fractions of all hashes that the codes of a system bump, in units of 2^-16, rounded down: of
/// all starts, and of those before the boundary of columns.
pub(crate) fn bumped_fractions(system: &System, codes: &[u8]) -> [u16; 2] {
    let thresholds = thresholds(system.width);
    let mut sums = [0; 2];
    for start in 0..system.starts {
        let bucket = start / BUCKET_STARTS;
        let code = codes[(bucket / 4) as usize] >> (2 * (bucket % 4)) & 3;
        let before = (start % BUCKET_STARTS) << FRACTION_BITS;
        let bumped = u64::from(thresholds[usize::from(code)]).saturating_sub(before);
        let bumped = bumped.min(1 << FRACTION_BITS);
        sums[0] += bumped;
        sums[1] += if system.block(start) < system.boundary { bumped } else { 0 };
    }
    sums.map(|sum| (sum / system.starts.max(1)).min(u16::MAX.into()) as u16)
}
