//! Slots, segments and seeds of a Homogeneous ribbon.

use super::System;
use crate::Width;

/// A segment has at least `1 << SEGMENT_LOG` keys: enough for threads to share, too few to
/// leave the cache.
const SEGMENT_LOG: u32 = 18;

/// The most columns that a width supports: a window of `w` slots must span them all.
pub(super) fn most_columns(width: Width) -> u32 {
    (width.bits() / 2).min(32)
}

pub(super) fn system(keys: u64, width: Width, columns: u32) -> System {
    let segment_bits = (keys >> SEGMENT_LOG).max(1).ilog2();
    let segment_keys = keys as f64 / (1u64 << segment_bits) as f64;
    let (w, r) = (f64::from(width.bits()), f64::from(columns));
    let epsilon = (4.0 + r / 4.0) / w;
    let segment_slots = libm::ceil(segment_keys * (1.0 + epsilon)) as u64 + u64::from(columns) + 5;
    System {
        segment_bits,
        segment_slots,
        smash: keys < 1 << 17,
        queue_limit: None,
        allowance: 1.05,
        expected_redundant: keys / 64,
    }
}
