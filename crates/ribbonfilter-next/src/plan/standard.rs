//! Slots of a Standard system.
//!
//! A seed works with probability `p` if a system of `n` keys has
//!
//! ```text
//! n (1 + extra(x)) + ends + spare slots,      x = log2(n / -ln p).
//! ```
//!
//! - `extra`: the rows that wait at a block are a random walk, which must not become higher than
//!   `64 W`. It does so with some rate per start, so that `-ln p` is proportional to `n`, and the
//!   slots depend on `n / -ln p` only. [`EXTRA`] is this function: measured up to 2^18, computed
//!   from the exact chain of waiting rows beyond.
//! - `ends`: all segments but the first lose the `W - 1` blocks at their ends. (The first one's are
//!   part of the measurements.)
//! - `spare`: a dense random system of `n` equations and `n + s` slots is solvable with probability
//!   `exp(-2^-s)`, approximately.
//!
//! Regenerate and compare with
//!
//! ```text
//! cargo run --release -p ribbonfilter-next --features internals --example constants -- standard
//! ```

use super::Effort;
use crate::Width;
use crate::ribbon::system::System;
use crate::ribbon::width::BLOCK;

/// The first `x` of [`EXTRA`], and the step.
const FIRST: f64 = 8.0;
const STEP: f64 = 2.0;

/// Extra slots in 1 / 10,000 of the keys, for W128, W192 and W256, at x = 8, 10, ..., 48.
const EXTRA: [[u16; 21]; 3] = [
    [
        0, 30, 120, 250, 395, 540, 672, 806, 936, 1066, 1197, 1328, 1460, 1593, 1728, 1864, 2003,
        2143, 2285, 2428, 2573,
    ],
    [
        0, 5, 25, 68, 136, 212, 284, 352, 418, 484, 548, 612, 675, 739, 802, 865, 928, 992, 1055,
        1118, 1182,
    ],
    [
        0, 0, 7, 33, 68, 115, 162, 211, 257, 301, 344, 387, 429, 471, 512, 554, 595, 636, 677, 718,
        759,
    ],
];

/// The fraction of extra slots with which a seed works with probability `exp(-minus_ln_p)`.
fn extra(keys: f64, width: Width, minus_ln_p: f64) -> f64 {
    // One block is one dense system, as are the few starts for which the table begins with 0.
    let table = &EXTRA[width.blocks().saturating_sub(2)];
    let x = (libm::log2(keys / minus_ln_p) - FIRST) / STEP;
    let x = x.clamp(0.0, (table.len() - 1) as f64);
    let knot = (x as usize).min(table.len() - 2);
    let (low, high) = (f64::from(table[knot]), f64::from(table[knot + 1]));
    (low + (high - low) * (x - knot as f64)) / 10_000.0
}

/// The slots that equations over eight slots miss at the ends of a system. Otherwise they take as
/// many as equations over three whole blocks.
const ROW_ENDS: f64 = 32.0;

/// The slots, more than the keys, with which a seed works with probability `exp(-minus_ln_p)`; all
/// but the ends of segments. `rows` means equations over eight slots.
pub(super) fn spare(keys: f64, width: Width, rows: bool, minus_ln_p: f64) -> f64 {
    let (width, ends) = if rows { (Width::W192, ROW_ENDS) } else { (width, 0.0) };
    keys * extra(keys, width, minus_ln_p) + ends + libm::ceil(-libm::log2(minus_ln_p)).max(0.0)
}

/// From this number of keys on, a failed attempt takes noticeable time, and from the second on
/// seconds.
const SLOW: u64 = 1 << 14;
const VERY_SLOW: u64 = 1 << 23;

/// `-ln` of the probabilities 0.8, 0.9, 0.97 and 1/16.
const LIKELY: f64 = 0.223_143_551_314_209_76;
const VERY_LIKELY: f64 = 0.105_360_515_657_826_3;
const NEARLY_SURE: f64 = 0.030_459_207_484_708_574;
const RARE: f64 = 2.772_588_722_239_781;

/// `-ln` of the probability that a seed works.
pub(super) fn minus_ln_p(keys: u64, effort: Effort) -> f64 {
    match effort {
        Effort::Thorough => RARE,
        Effort::Normal if keys < SLOW => LIKELY,
        Effort::Normal if keys < VERY_SLOW => VERY_LIKELY,
        Effort::Normal => NEARLY_SURE,
    }
}

/// The same for the second layer of a Bumped filter, by effort: one seed in 2, or in 16. It has few
/// of the keys, so that its seeds are cheap.
pub(super) const SECOND_LAYER: [f64; 2] = [core::f64::consts::LN_2, RARE];

/// The fewest bytes of a column of the last block, by width. As many keys start at the last start as
/// at any other; in few slots more than 64 they would often have no solution.
const MIN_LAST: [u64; 4] = [1, 6, 1, 1];

/// The fewest slots: those of one start, with the last block trimmed.
pub(super) const fn min_slots(width: Width) -> u64 {
    (width.blocks() as u64 - 1) * BLOCK + 8
}

/// The system with at least this number of slots, not counting the ends of segments but the first.
/// Its last block is trimmed.
pub(super) fn system(slots: u64, width: Width) -> System {
    let width = if width == Width::W64 && slots > BLOCK { Width::W128 } else { width };
    let tail = width.blocks() as u64 - 1;
    let slots = slots.max(min_slots(width));
    let starts = slots.div_ceil(BLOCK) - tail;
    let last = (slots - (starts + tail - 1) * BLOCK).div_ceil(8);
    // With one start the system is dense.
    let min = if starts == 1 { 1 } else { MIN_LAST[width.blocks() - 1] };
    System { starts, last_bytes: last.max(min) as u32, ..System::empty(width, 0) }
}

/// The slots that [`system`] is to have for a number of keys.
pub(super) fn slots(keys: u64, width: Width, rows: bool, minus_ln_p: f64) -> u64 {
    keys + libm::ceil(spare(keys as f64, width, rows, minus_ln_p)) as u64
}
