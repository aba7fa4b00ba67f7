//! Slots, segments and seeds of a Homogeneous ribbon.
//!
//! There are two regimes; the one with fewer slots is used.
//!
//! **Screened**, for smaller sets and wide ribbons: with 8 columns, 10^3 keys at w = 32, 10^6 at
//! w = 64 and 10^7 at w = 128, but not ten times as many. A rate above the nominal one is caused by
//! queues of starts that leave a window fewer than about `r` free dimensions. Seeds are screened so
//! that no queue comes closer to the width than a *margin* of `r + 6`. The larger the set, the
//! smaller the effect of one bad range on its rate: a factor of two in size is worth one step of
//! the margin. The number of slots follows from the formula of the Standard ribbon at a smaller
//! width, because a Standard system fails when a queue comes within 5 of its width.
//!
//! **On average**, for larger sets and narrow ribbons, where bad ranges are so numerous that their
//! sum hardly varies. By queueing theory, the probability of a queue of length `q` falls as
//! `exp(-theta q)`, where `theta` solves `theta / (exp(theta) - 1) = n / m`. So the rate exceeds
//! its nominal value by a fraction of
//!
//! ```text
//! X = A 2^r exp(-theta (w - 7)).
//! ```
//!
//! Space is minimal where `X / (1 + X)` is `r ln 2 / (1.9 (w - 7))`. The planner takes three
//! quarters of that `X`. The paper has `m = n (1 + (4 + r/4) / w)`, its equation (7). At r = 8 the
//! planner's slots are 47.3, 20.0, 10.1 and 5.4 % above the keys for w = 16 to 128, the paper's
//! 37.5, 18.8, 9.4 and 4.7 %. The planner's overhead is then 0.32, 0.05, 0.15 and 0.26 points above
//! the least that any number of slots gives, the paper's 2.50, 0.10, 0.00 and 0.01 points
//! (`ribbon-bench theory sweep`).
//!
//! The figures 5, 6, 7, 1.9 and `A` come from simulations. Regenerate and compare with
//!
//! ```text
//! cargo run --release -p ribbonfilter-bench --bin ribbon-bench -- constants homogeneous
//! ```

use super::frame::System;
use super::standard;
use crate::Width;
use core::f64::consts::LN_2;

/// Minimum number of keys in a segment, as a power of two: few enough for the cache, and for large
/// sets to have a segment for every thread.
pub(super) const SEGMENT_LOG: u32 = 18;
/// Below `1 << SMALL_LOG` keys the ends of the system matter (smash), seeds are cheap, and the rate
/// can be kept close to the nominal one.
const SMALL_LOG: u32 = 17;

/// From `1 << FORGIVING_LOG` keys on, the effect of one bad range decreases with the number of
/// keys.
const FORGIVING_LOG: u32 = 12;

/// Spare slots that even the smallest system needs in addition to its columns.
const MIN_SPARE: u64 = 9;

/// The maximum number of columns that a width supports: a window of `w` slots must span all of
/// them.
pub(super) fn max_columns(width: Width) -> u32 {
    (width.bits() / 2).min(32)
}

/// Fewer columns are planned as this number. The fit would have their slots grow without limit, for a
/// rate that is nearly 1 anyway.
const MIN_COLUMNS: f64 = 1.0 / 1024.0;

/// The system for a number of columns, which may be fractional: bad ranges add the same rate for
/// any number of columns, so only the average matters.
pub(super) fn system(keys: u64, width: Width, columns: f64) -> System {
    let segment_bits = (keys >> SEGMENT_LOG).max(1).ilog2();
    let segment_keys = keys as f64 / (1u64 << segment_bits) as f64;
    let screened = Regime::screened(keys, width, columns);
    let average = Regime::on_average(keys, width, columns.max(MIN_COLUMNS));
    let regime = if screened.overhead < average.overhead { screened } else { average };
    let wanted = libm::ceil(segment_keys * (1.0 + regime.overhead)) as u64;
    let min = segment_keys as u64 + libm::ceil(columns) as u64 + MIN_SPARE;
    let segment_slots = wanted.max(min);
    System {
        smash: keys < 1 << SMALL_LOG,
        queue_limit: regime.queue_limit.map(|limit| {
            // Where spare slots are few, the end of the system alone causes a queue.
            let spare = segment_slots - segment_keys as u64;
            limit.max(width.bits().saturating_sub(spare as u32 - 3))
        }),
        allowance: regime.allowance,
        // Only the narrowest ribbon has more than a few redundant equations.
        expected_redundant: if width == Width::W16 { keys / 512 } else { 0 },
        ..System::new(segment_bits, segment_slots)
    }
}

struct Regime {
    overhead: f64,
    queue_limit: Option<u32>,
    allowance: f64,
}

impl Regime {
    fn screened(keys: u64, width: Width, columns: f64) -> Self {
        let forgiven = keys.ilog2().saturating_sub(FORGIVING_LOG);
        let margin = (columns + 6.0 - f64::from(forgiven)).max(1.0);
        // Some of the seeds that keep this margin still have a worse rate than planned. A wider
        // margin costs slots or, with the same slots, more seeds to screen.
        let small = keys < 1 << SMALL_LOG;
        let (planned, screened) = match width {
            Width::W16 | Width::W32 => (2.5, 3),
            Width::W64 => (0.7, 2),
            Width::W128 => (2.0, 3),
        };
        let limit = f64::from(width.bits()) - margin - planned;
        // One seed in five, or two in five, passes the screen.
        let minus_ln_p = if small { 1.6 } else { 0.92 };
        Self {
            overhead: match limit > 8.0 {
                true => standard::overhead(keys as f64, limit + 5.0, minus_ln_p),
                false => f64::INFINITY,
            },
            queue_limit: Some(width.bits().saturating_sub(libm::ceil(margin) as u32 + screened)),
            allowance: 1.02,
        }
    }

    fn on_average(keys: u64, width: Width, r: f64) -> Self {
        let w = f64::from(width.bits());
        let reach = w - 7.0;
        let fraction = r * LN_2 / (1.9 * reach);
        // Slightly below the optimum, which is flat: a lower rate for the same space.
        let excess = 0.75 * fraction / (1.0 - fraction);
        let amplitude = libm::pow(w / 16.0, 1.45);
        let theta = (libm::log(amplitude / excess) + r * LN_2) / reach;
        // The standard deviation, over seeds, of the sum over all bad ranges. It is the same for
        // all numbers of keys in an octave, so that the columns and the size do not decrease while
        // the keys increase.
        let octave = (1u64 << keys.ilog2()) as f64;
        let deviation = 30.0 * libm::pow(w / 16.0, 2.7) / libm::sqrt(octave);
        // Enough deviations above the mean that nearly every seed stays below. Narrow ribbons have
        // the heavier tail, which grows with the columns.
        let (mean, aim) = match width.bits() < 64 {
            true => (1.25 + (r - 8.0).max(0.0) / 16.0, 3.0 * (r / 8.0).max(1.0)),
            false => (1.1, 1.5),
        };
        Self {
            overhead: libm::expm1(theta) / theta - 1.0,
            queue_limit: None,
            // Below some thousand keys it is no longer a sum of many terms.
            allowance: 1.0 + excess * (mean + aim * deviation).min(4.0),
        }
    }
}
