//! Slots, segments and seeds of a Standard ribbon.
//!
//! One seed of a system of `n` keys and width `w` works with chance `p` if the slots
//! exceed the keys by a share
//!
//! ```text
//! eps(x) = b s ln(1 + exp((x - x0) / s)),      x = log2(n / -ln p),
//! ```
//!
//! three numbers a width. Up to about `w^2 / 12` keys the system behaves like a dense
//! random matrix (with smash) and needs no extra slot: even `n` slots for `n` keys work
//! for one seed in 3.5. The constants are fitted to simulations of keys added until the
//! first failure; regenerate and compare with
//!
//! ```text
//! cargo run --release -p ribbonfilter-bench --bin ribbon-bench -- constants standard
//! ```
//!
//! Seeds are cheap, since most bad ones are screened off before any banding, so slots are
//! planned for a low `p`: two sevenths, or with [`Effort::Thorough`] one sixteenth. A large set is
//! cut into segments that each have a seed; the slots are those that the fullest segment needs,
//! for all alike.

use super::{Effort, System};
use crate::Width;
use crate::ribbon::equation::Balance;
use crate::ribbon::layers::Further;
use crate::ribbon::shape::Shape;

/// How likely one seed is to work.
#[derive(Clone, Copy)]
pub(super) struct Chance {
    /// `-ln p` of one seed of a single system.
    single: f64,
    /// The same of the fullest segment.
    fullest: f64,
    /// The most slots besides those of the formula, which is for larger systems: up to some
    /// thousand keys a system is like a dense random matrix and works with chance 0.29, 0.58,
    /// 0.77, 0.88, 0.94, 0.97 if it has 0, 1, 2, 3, 4, 5 spare slots.
    more: u64,
}

impl Chance {
    /// One seed in 16 works, of the fullest segment one in 12.
    pub(super) const LOW: Self = Self { single: 2.772_588_722_239_781, fullest: 2.5, more: 0 };
    /// One seed in 8 works.
    pub(super) const MEDIUM: Self = Self { single: 2.079_441_541_679_836, ..Self::LOW };
    /// Two seeds in 7 work, of the fullest segment one in 4. (One in 2 takes 0.1 point more slots at
    /// 10^4 keys for a seventh of the time.)
    const FAIR: Self = Self { single: 1.25, fullest: 1.386_294_361_119_891, more: 8 };

    fn of(effort: Effort) -> Self {
        match effort {
            Effort::Normal => Self::FAIR,
            Effort::Thorough => Self::LOW,
        }
    }

    /// Spare slots of a single system.
    pub(super) fn spare(self, keys: f64, width: Width) -> f64 {
        // Of a few hundred keys a slot would be a larger share than the time is worth.
        let more = self.more.min(keys as u64 / 256);
        keys * overhead(keys, width.bits().into(), self.single) + more as f64
    }
}

/// A queue must stay this far below the width …
const QUEUE_MARGIN: u32 = 4;
/// … unless there are fewer spare slots than this: then the end of the system alone makes
/// a longer one.
const FEW_SPARE_SLOTS: u64 = 8;

/// The constants of one width.
#[derive(Clone, Copy)]
struct Fit {
    b: f64,
    x0: f64,
    s: f64,
}

/// The constants of w = 16, 32, 64 and 128.
const FITS: [Fit; 4] = [
    Fit { b: 0.057, x0: 6.1, s: 0.85 },
    Fit { b: 0.0205, x0: 8.2, s: 0.6 },
    Fit { b: 0.0087, x0: 10.25, s: 0.35 },
    Fit { b: 0.004_05, x0: 12.3, s: 0.4 },
];

/// The constants of any width, between those that were fitted: geometric for `b`, which
/// about halves when the width doubles, linear for the others.
fn fit(width: f64) -> Fit {
    let place = (libm::log2(width) - 4.0).clamp(0.0, 3.0);
    let lower = (place as usize).min(2);
    let (low, high, part) = (FITS[lower], FITS[lower + 1], place - lower as f64);
    Fit {
        b: low.b * libm::pow(high.b / low.b, part),
        x0: low.x0 + (high.x0 - low.x0) * part,
        s: low.s + (high.s - low.s) * part,
    }
}

/// How many seeds a segment tries, on average.
pub(super) fn expected_seeds(keys: u64, shape: &Shape) -> f64 {
    let keys = keys as f64 / shape.segments() as f64;
    let spare = (shape.segment_slots as f64 - keys).max(0.0);
    1.0 / probability(keys, spare, shape.width)
}

/// The probability that a seed works: that neither a queue becomes too long (the formula of
/// [`overhead`], solved for `p`) nor the equations depend on each other as those of a dense random
/// matrix do.
fn probability(keys: f64, spare: f64, width: Width) -> f64 {
    let Fit { b, x0, s } = fit(width.bits().into());
    let x = x0 + s * libm::log(libm::expm1(spare / keys / (b * s)));
    let queues = libm::exp(-keys / libm::exp2(x));
    // The product of 1 - 2^-i over all i above the spare slots.
    let dense = (1..20).map(|i| 1.0 - libm::exp2(-spare - f64::from(i))).product::<f64>();
    dense.min(queues)
}

/// The share of extra slots with which a seed works with chance `exp(-minus_ln_p)`.
pub(crate) fn overhead(keys: f64, width: f64, minus_ln_p: f64) -> f64 {
    let Fit { b, x0, s } = fit(width);
    let x = libm::log2(keys / minus_ln_p);
    b * s * libm::log1p(libm::exp((x - x0) / s))
}

/// A segment has at least so many keys and fewer than twice as many, as a power of two.
/// Smaller segments need fewer slots a key, but their sizes vary more: these are where the
/// sum is least.
pub(super) const fn segment_log(width: Width) -> u32 {
    match width {
        Width::W16 => 63,
        Width::W32 => 12,
        Width::W64 => 14,
        Width::W128 => 16,
    }
}

/// The most keys for which a width makes sense.
pub(super) fn max_keys(width: Width) -> u64 {
    match width {
        // Beyond that a third of the slots would stay empty, and segments would be all ends.
        Width::W16 => 1 << 10,
        _ => u64::MAX,
    }
}

pub(super) fn system(keys: u64, width: Width, effort: Effort) -> System {
    let segment_bits = (keys >> segment_log(width)).max(1).ilog2();
    in_segments(keys, width, segment_bits, Chance::of(effort))
}

/// The system of one segment, however many keys there are, that a few seeds solve.
pub(super) fn single(keys: u64, width: Width) -> System {
    in_segments(keys, width, 0, Chance::LOW)
}

fn in_segments(keys: u64, width: Width, segment_bits: u32, chance: Chance) -> System {
    let segment_keys = keys as f64 / (1u64 << segment_bits) as f64;
    let slots = match segment_bits {
        0 => segment_keys + chance.spare(segment_keys, width),
        _ => {
            let full = fullest(segment_keys, segment_bits);
            full * (1.0 + overhead(full, width.bits().into(), chance.fullest))
        }
    };
    let segment_slots = libm::ceil(slots) as u64;
    System {
        segment_bits,
        segment_slots,
        further: Further::default(),
        smash: true,
        queue_limit: queue_limit(segment_keys as u64, segment_slots, width),
        allowance: 1.0,
        expected_redundant: 0,
        balance: Balance::default(),
    }
}

/// The longest queue with which a seed is worth banding.
pub(crate) fn queue_limit(keys: u64, slots: u64, width: Width) -> Option<u32> {
    let spare = slots.saturating_sub(keys);
    (slots > u64::from(width.bits())).then(|| match spare < FEW_SPARE_SLOTS {
        true => width.bits() - 1,
        false => width.bits() - QUEUE_MARGIN,
    })
}

/// How many keys the fullest of `1 << bits` segments is likely to have: the mean and as
/// many standard deviations as the largest of so many normal variables lies above it.
fn fullest(mean: f64, bits: u32) -> f64 {
    let segments = (1u64 << bits) as f64;
    mean + libm::sqrt(mean * 2.0 * libm::log(segments))
}
