//! Slots, shards and levels of a Balanced ribbon.
//!
//! A shard has between `2^k` and `2^(k+1)` keys, `k` by the width. The larger the shards,
//! the less a byte of metadata for each weighs, and the more slots stay empty, since a
//! shard's keys are more unevenly spread than the width can level out. The share of empty
//! slots follows
//!
//! ```text
//! waste(x) = a (x / 2^(k+1))^2.5,      x keys a shard,
//! ```
//!
//! and at `x = 2^(k+1)` it is about as much as the metadata of 8 columns. Each segment's
//! end costs about a quarter of a width. Slots do not depend on the columns.
//!
//! All that is wasted is missing in the last shard, so what remains is its own need: a
//! [`LAST_SHARD`] of the width lets at least five seeds in six work for small sets; for large
//! ones, where the grain of the segments adds to it, nearly all do.
//!
//! The overload is `2.5 / sqrt(x)`. The paper takes 3.5 for shards of 1000 keys; with fewer
//! keys are bumped and no more slots are needed, because shards are soft.
//!
//! The constants come from simulations: the least slots with which one seed works.
//! Regenerate and compare with
//!
//! ```text
//! cargo run --release -p ribbonfilter-bench --bin ribbon-bench -- constants balanced
//! ```

use super::{System, standard};
use crate::Width;
use crate::ribbon::equation::Balance;
use crate::ribbon::layers::Further;

/// A segment has at least so many keys, as a power of two: enough that its end does not
/// matter, few enough for the cache and for threads to share.
const SEGMENT_LOG: u32 = 16;
/// The overload of level 0, in standard deviations of a shard's keys.
const OVERLOAD: f64 = 2.5;
/// How the waste grows with the keys of a shard.
const WASTE_POWER: f64 = 2.5;
/// Spare slots of the last shard, in widths.
const LAST_SHARD: f64 = 1.0;
/// Spare slots of a segment's end, in widths.
const SEGMENT_END: f64 = 0.25;

/// How far above the nominal rate that of fractional columns may lie. Spare slots are at the
/// end of the system and underpopulated shards bump less, so a little more of the queries
/// than of the slots lie before the boundary: 0.1 to 0.55 % in simulations.
pub(super) const ALLOWANCE: f64 = 1.006;

/// A shard has at least so many keys, as a power of two.
const fn shard_log(width: Width) -> u32 {
    match width {
        // Never balanced.
        Width::W16 => 58,
        Width::W32 => 7,
        Width::W64 => 8,
        Width::W128 => 9,
    }
}

/// A set has at least so many keys, as a power of two; below, one shard, which is a Standard
/// system, takes no more slots.
const fn least_log(width: Width) -> u32 {
    match width {
        Width::W16 => 63,
        Width::W32 => 12,
        Width::W64 => 13,
        Width::W128 => 15,
    }
}

/// The share of slots that stay empty with the largest shards.
const fn max_waste(width: Width) -> f64 {
    match width {
        Width::W16 | Width::W32 => 0.0095,
        Width::W64 => 0.0013,
        Width::W128 => 0.0004,
    }
}

/// A segment has at least so many keys, as a power of two.
pub(super) fn segment_log(width: Width) -> u32 {
    SEGMENT_LOG.max(shard_log(width))
}

/// The most keys for which a width makes sense.
pub(super) fn max_keys(width: Width) -> u64 {
    standard::max_keys(width)
}

pub(super) fn system(keys: u64, width: Width) -> System {
    if keys >> least_log(width) == 0 {
        return standard::single(keys, width);
    }
    let shards_log = (keys >> shard_log(width)).ilog2();
    let segment_bits = (keys >> SEGMENT_LOG).max(1).ilog2();
    let segments = (1u64 << segment_bits) as f64;
    let shard_keys = keys as f64 / (1u64 << shards_log) as f64;
    let largest = (2u64 << shard_log(width)) as f64;
    let waste = max_waste(width) * libm::pow(shard_keys / largest, WASTE_POWER);
    let spare = f64::from(width.bits()) * (LAST_SHARD + SEGMENT_END * segments);
    let slots = keys as f64 * (1.0 + waste) + spare;
    System {
        segment_bits,
        segment_slots: libm::ceil(slots / segments) as u64,
        further: Further::default(),
        smash: true,
        queue_limit: None,
        allowance: 1.0,
        expected_redundant: 0,
        balance: Balance {
            shard_bits: shards_log - segment_bits,
            overload: libm::round(256.0 * OVERLOAD / libm::sqrt(shard_keys)) as u32,
        },
    }
}
