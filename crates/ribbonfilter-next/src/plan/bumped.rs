//! The two layers of a Bumped filter or map.
//!
//! The first layer has fewer slots than keys. Nearly all of its slots are used, so it bumps its
//! surplus keys, and one key for each slot that stays empty:
//!
//! ```text
//! empty slots     segments * END + slots * HOLE * 2^((spare - 14) / DOUBLING)
//! ```
//!
//! END slots are lost where a segment begins without waiting rows and ends with the last blocks not
//! full, and the fraction HOLE elsewhere, where no rows happen to wait. It grows with the rows that
//! are spared when codes are chosen.
//!
//! The second layer, a Standard system, has slots for these keys and [`Fit::margin`] times the square
//! root of all keys. If a seed of the first layer bumps more, which counts of keys tell before
//! anything is solved, the next seed is tried: one build in 30.
//!
//! Regenerate and compare with
//!
//! ```text
//! cargo run --release -p ribbonfilter-next --features internals --example constants -- bumped
//! ```

use super::{Effort, standard};
use crate::Width;
use crate::ribbon::system::{SEGMENT_STARTS, System};
use crate::ribbon::width::BLOCK;

/// The constants of a width and a range of numbers of keys.
#[derive(Clone, Copy)]
struct Fit {
    /// Keys per slot of the first layer.
    load: f64,
    end: f64,
    hole: f64,
    /// The slots to spare that double the holes.
    doubling: f64,
    margin: f64,
}

/// The range of 2^14 to 2^16 keys, up to 2^18, and beyond. Fewer keys need a higher load, so that
/// the margin is smaller; for many keys it would only bump more of them.
const fn fit(width: Width, keys: u64) -> Fit {
    let octave = if keys == 0 { 0 } else { keys.ilog2() };
    let fit = Fit { load: 1.0, end: 0.0, hole: 0.0, doubling: 11.0, margin: 0.25 };
    match (width, octave) {
        (Width::W64 | Width::W128, _) => {
            Fit { end: 60.0, hole: 0.022, doubling: 10.0, margin: 4.0, ..fit }
        }
        (Width::W192, ..16) => Fit { load: 1.04, end: 42.0, hole: 2.8e-4, ..fit },
        (Width::W192, ..18) => Fit { load: 1.03, end: 48.0, hole: 1.5e-4, ..fit },
        (Width::W192, _) => Fit { load: 1.025, end: 50.0, hole: 2.4e-4, ..fit },
        (Width::W256, ..18) => Fit { load: 1.025, end: 48.0, hole: 1e-4, ..fit },
        (Width::W256, _) => Fit { load: 1.02, end: 60.0, hole: 1.2e-4, doubling: 17.0, ..fit },
    }
}

/// The same for equations over eight slots, whose window is that of W256. One slot in e^8 is in no
/// equation, and more where keys are bumped.
const ROWS: Fit =
    Fit { load: 1.02, end: 70.0, hole: 2.4e-3, doubling: f64::INFINITY, margin: 0.25 };

/// How the codes of buckets are chosen from counts of keys alone, so that all codes are known
/// before anything is solved. From left to right in each segment, with no rows that wait at first:
///
/// ```text
/// x = rows that wait + keys of this start that are not bumped,     x <= 64 W - spare
/// rows that wait at the next block = max(0, x - 64 + loss / 16)
/// ```
///
/// The smallest code is taken with which all starts of the bucket satisfy this.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counting {
    /// Slots that must stay free in the blocks that a start sees, because random equations are not
    /// independent if they fill all slots. Each one halves the probability of a contradiction.
    pub(crate) spare: u32,
    /// Slots of a block that are expected to stay empty although rows wait, in 1/16: only if there
    /// are few coefficients in each equation.
    pub(crate) loss: u32,
}

impl Counting {
    /// With this rule fewer than one build in 100 meets a contradiction, at any size. It costs a
    /// seed.
    fn of(keys: u64, rows: bool) -> Self {
        let log = keys.max(1 << 13).ilog2();
        match rows {
            false => Self { spare: log - 5, loss: 0 },
            true => Self { spare: log + 28, loss: 2 },
        }
    }
}

/// The layers without columns.
pub(super) struct Layers {
    pub(super) first: System,
    pub(super) second: System,
    /// The number of keys that the first layer may bump.
    pub(super) bumped: u64,
    pub(super) counting: Counting,
}

/// The width of the second layer.
const SECOND: Width = Width::W256;

/// The layers for a number of keys, with rows of eight slots or not. The user's overhead goes to the
/// first layer.
pub(super) fn layers(
    keys: u64,
    (width, rows): (Width, bool),
    effort: Effort,
    overhead: f64,
    growth: u32,
) -> Layers {
    let counting = Counting::of(keys, rows);
    let fit = if rows { ROWS } else { fit(width, keys) };
    let first = first((keys as f64 / fit.load) as u64, width);
    let holes = fit.hole * libm::exp2((f64::from(counting.spare) - 14.0) / fit.doubling);
    let empty = first.segments() as f64 * fit.end + first.slots() as f64 * holes;
    let margin = if effort == Effort::Normal { fit.margin } else { fit.margin / 4.0 };
    let bumped = keys as f64 - first.slots() as f64 + empty + margin * libm::sqrt(keys as f64);
    let bumped = libm::ceil(bumped).max(1.0) as u64 + grown(keys, growth);
    // What the second layer has in addition grows with all keys, not with those that are left by
    // the first layer, so that it does not decrease where the first layer gets another block.
    let usual = keys as f64 * (1.0 - 1.0 / fit.load) + empty;
    let spare = standard::spare(usual, SECOND, rows, standard::SECOND_LAYER[effort as usize]);
    let second = standard::system(bumped + libm::ceil(spare) as u64, SECOND);
    let requested = libm::ceil(keys as f64 * (1.0 + overhead)) as u64;
    let missing = requested.saturating_sub(first.slots() + second.slots()).div_ceil(BLOCK);
    let first = System { starts: first.starts + missing, ..first };
    Layers { first, second, bumped, counting }
}

/// The first layer with about this number of slots, the ends of segments included.
fn first(slots: u64, width: Width) -> System {
    let tail = width.blocks() as u64 - 1;
    let blocks = slots / BLOCK;
    let (full, rest) = (blocks / (SEGMENT_STARTS + tail), blocks % (SEGMENT_STARTS + tail));
    let starts = full * SEGMENT_STARTS + rest.saturating_sub(tail);
    System { starts: starts.max(1), ..System::empty(width, 0) }
}

/// The number of additional keys that the second layer is made for after `growth` failures. In the
/// end they are all keys, because the first layer may bump hashes that are far from random.
fn grown(keys: u64, growth: u32) -> u64 {
    (((keys >> 10) + 1) * ((1 << growth) - 1)).min(2 * keys)
}
