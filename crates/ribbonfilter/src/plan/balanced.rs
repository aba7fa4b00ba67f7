//! Slots, shards and levels of a Balanced ribbon.
//!
//! A shard has between `2^k` and `2^(k+1)` keys, where `k` depends on the width. Larger shards have
//! less metadata per key, one byte for each shard, but leave more slots empty, because a shard's
//! keys are more unevenly distributed than the width can balance. The fraction of empty slots
//! follows
//!
//! ```text
//! waste(x) = a (x / 2^(k+1))^2.5
//! ```
//!
//! where `x` is the number of keys per shard. At `x = 2^(k+1)` the empty slots cost about as much
//! as the metadata, with 8 columns. The end of each segment costs about a quarter of a width. Slots
//! do not depend on the columns.
//!
//! The last shard lacks all slots that are left empty elsewhere, so the plan adds them, and what
//! remains is its own need for spare slots. With [`LAST_SHARD`] widths of spare slots, at least
//! five seeds in six work for small sets. For large ones, where rounding segments up adds more,
//! nearly all do.
//!
//! The overload is `2.5 / sqrt(x)`. The paper uses 3.5 for shards of 1000 keys. With a lower
//! overload, fewer keys are bumped, and no more slots are needed because shards are soft.
//!
//! The constants come from simulations of the minimum number of slots with which one seed works.
//! Regenerate and compare with
//!
//! ```text
//! cargo run --release -p ribbonfilter-bench --bin ribbon-bench -- constants balanced
//! ```

use super::frame::System;
use super::standard;
use crate::Width;
use crate::ribbon::equation::Balance;

/// Minimum number of keys in a segment, as a power of two: enough that its end does not matter, few
/// enough for the cache and for distribution among threads.
const SEGMENT_LOG: u32 = 16;
/// The overload of level 0, in standard deviations of a shard's keys.
const OVERLOAD: f64 = 2.5;
/// The exponent with which the waste grows with the keys of a shard.
const WASTE_POWER: f64 = 2.5;
/// Spare slots of the last shard, in widths.
const LAST_SHARD: f64 = 1.0;
/// Spare slots of a segment's end, in widths.
const SEGMENT_END: f64 = 0.25;

/// The factor by which the rate with fractional columns may exceed the nominal rate. Spare slots
/// are at the end of the system and underpopulated shards bump less, so the fraction of queries
/// before the boundary is slightly larger than that of slots: by 0.1 to 0.55 % in simulations.
pub(super) const ALLOWANCE: f64 = 1.006;

/// The constants of one width.
struct Fit {
    /// Minimum number of keys in a shard, as a power of two.
    shard_log: u32,
    /// Minimum number of keys in a set with several shards, as a power of two. For fewer keys one
    /// shard, which is a Standard system, takes no more slots.
    min_log: u32,
    /// The fraction of slots that stay empty with the largest shards.
    max_waste: f64,
}

const fn fit(width: Width) -> Fit {
    match width {
        // Never balanced.
        Width::W16 => Fit { shard_log: 58, min_log: 63, max_waste: 0.0 },
        Width::W32 => Fit { shard_log: 7, min_log: 12, max_waste: 0.0095 },
        Width::W64 => Fit { shard_log: 8, min_log: 13, max_waste: 0.0013 },
        Width::W128 => Fit { shard_log: 9, min_log: 15, max_waste: 0.0004 },
    }
}

/// Minimum number of keys in a segment, as a power of two.
pub(super) fn segment_log(width: Width) -> u32 {
    SEGMENT_LOG.max(fit(width).shard_log)
}

pub(super) fn system(keys: u64, width: Width) -> System {
    let fit = fit(width);
    if keys >> fit.min_log == 0 {
        return standard::single(keys, width);
    }
    let shards_log = (keys >> fit.shard_log).ilog2();
    let segment_bits = (keys >> SEGMENT_LOG).max(1).ilog2();
    let segments = (1u64 << segment_bits) as f64;
    let shard_keys = keys as f64 / (1u64 << shards_log) as f64;
    let largest = (2u64 << fit.shard_log) as f64;
    let waste = fit.max_waste * libm::pow(shard_keys / largest, WASTE_POWER);
    let spare = f64::from(width.bits()) * (LAST_SHARD + SEGMENT_END * segments);
    let slots = keys as f64 * (1.0 + waste) + spare;
    System {
        balance: Balance {
            shard_bits: shards_log - segment_bits,
            overload: libm::round(256.0 * OVERLOAD / libm::sqrt(shard_keys)) as u32,
        },
        ..System::new(segment_bits, libm::ceil(slots / segments) as u64)
    }
}
