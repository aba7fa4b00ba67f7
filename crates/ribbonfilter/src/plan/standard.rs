//! Slots, segments and seeds of a Standard ribbon.
//!
//! A seed of a system of `n` keys and width `w` works with probability `p` if the slots exceed the
//! keys by a fraction of
//!
//! ```text
//! eps(x) = b s ln(1 + exp((x - x0) / s)),      x = log2(n / -ln p),
//! ```
//!
//! with three constants per width. Up to about `w^2 / 12` keys the system behaves like a dense
//! random matrix (with smash) and needs no extra slot: even with `n` slots for `n` keys, one seed
//! in 3.5 works. The constants are fitted to simulations that insert keys until the first failure.
//! Regenerate and compare with
//!
//! ```text
//! cargo run --release -p ribbonfilter-bench --bin ribbon-bench -- constants standard
//! ```
//!
//! Seeds are cheap, because most bad ones are ruled out before any elimination. So slots are
//! planned for a low `p`: two sevenths, or one sixteenth with [`Effort::Thorough`]. A large set is
//! divided into segments that each have a seed. All segments have the number of slots that the
//! fullest one needs.

use super::Effort;
use super::frame::System;
use crate::Width;
use crate::ribbon::shape::Shape;

/// The probability that a seed works.
#[derive(Clone, Copy)]
pub(super) struct Probability {
    /// `-ln p` for one seed of a single system.
    single: f64,
    /// `-ln p` for one seed of the fullest segment.
    fullest: f64,
    /// Maximum number of slots in addition to those of the formula, which is for larger systems. Up
    /// to some thousand keys, a system behaves like a dense random matrix and works with
    /// probability 0.29, 0.58, 0.77, 0.88, 0.94, 0.97 if it has 0, 1, 2, 3, 4, 5 spare slots.
    more: u64,
}

impl Probability {
    /// One seed in 16 works; for the fullest segment, one in 12.
    pub(super) const LOW: Self = Self { single: 2.772_588_722_239_781, fullest: 2.5, more: 0 };
    /// One seed in 8 works.
    pub(super) const MEDIUM: Self = Self { single: 2.079_441_541_679_836, ..Self::LOW };
    /// Two seeds in 7 work; for the fullest segment, one in 4. (One in 2 takes 0.1 percentage
    /// points more slots at 10^4 keys for a seventh of the time.)
    const FAIR: Self = Self { single: 1.25, fullest: 1.386_294_361_119_891, more: 8 };

    fn of(effort: Effort) -> Self {
        match effort {
            Effort::Normal => Self::FAIR,
            Effort::Thorough => Self::LOW,
        }
    }

    /// Spare slots of a single system.
    pub(super) fn spare(self, keys: f64, width: Width) -> f64 {
        // For a few hundred keys, the fraction that a slot costs would outweigh the time that it
        // saves.
        let more = self.more.min(keys as u64 / 256);
        keys * overhead(keys, width.bits().into(), self.single) + more as f64
    }
}

/// The margin by which a queue must stay below the width, unless [`FEW_SPARE_SLOTS`] applies.
const QUEUE_MARGIN: u32 = 4;
/// With fewer spare slots than this, [`QUEUE_MARGIN`] does not apply: the end of the system alone
/// makes a longer queue.
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

/// The constants of any width, interpolated between the fitted ones: geometrically for `b`, which
/// about halves when the width doubles, linearly for the others.
fn fit(width: f64) -> Fit {
    let position = (libm::log2(width) - 4.0).clamp(0.0, 3.0);
    let lower = (position as usize).min(2);
    let (low, high, part) = (FITS[lower], FITS[lower + 1], position - lower as f64);
    Fit {
        b: low.b * libm::pow(high.b / low.b, part),
        x0: low.x0 + (high.x0 - low.x0) * part,
        s: low.s + (high.s - low.s) * part,
    }
}

/// The average number of seeds that a segment tries.
pub(super) fn expected_seeds(keys: u64, shape: &Shape) -> f64 {
    let keys = keys as f64 / shape.segments() as f64;
    let spare = (shape.segment_slots as f64 - keys).max(0.0);
    1.0 / probability(keys, spare, shape.width)
}

/// The probability that a seed works: that no queue becomes too long (the formula of [`overhead`],
/// solved for `p`), and that the equations are not dependent in the way those of a dense random
/// matrix are.
fn probability(keys: f64, spare: f64, width: Width) -> f64 {
    let Fit { b, x0, s } = fit(width.bits().into());
    let x = x0 + s * libm::log(libm::expm1(spare / keys / (b * s)));
    let queues = libm::exp(-keys / libm::exp2(x));
    // The product of 1 - 2^-i over all i above the spare slots.
    let dense = (1..20).map(|i| 1.0 - libm::exp2(-spare - f64::from(i))).product::<f64>();
    dense.min(queues)
}

/// The fraction of extra slots with which a seed works with probability `exp(-minus_ln_p)`.
pub(crate) fn overhead(keys: f64, width: f64, minus_ln_p: f64) -> f64 {
    let Fit { b, x0, s } = fit(width);
    let x = libm::log2(keys / minus_ln_p);
    b * s * libm::log1p(libm::exp((x - x0) / s))
}

/// Minimum number of keys in a segment, as a power of two; a segment of a large set has fewer than
/// twice as many. Smaller segments need fewer slots per key, but their sizes vary more. These
/// values minimise the sum of both costs.
pub(super) const fn segment_log(width: Width) -> u32 {
    match width {
        Width::W16 => 63,
        Width::W32 => 12,
        Width::W64 => 14,
        Width::W128 => 16,
    }
}

pub(super) fn system(keys: u64, width: Width, effort: Effort) -> System {
    let segment_bits = (keys >> segment_log(width)).max(1).ilog2();
    in_segments(keys, width, segment_bits, Probability::of(effort))
}

/// The system of a single segment for any number of keys, planned for a low probability per seed.
pub(super) fn single(keys: u64, width: Width) -> System {
    in_segments(keys, width, 0, Probability::LOW)
}

fn in_segments(keys: u64, width: Width, segment_bits: u32, probability: Probability) -> System {
    let segment_keys = keys as f64 / (1u64 << segment_bits) as f64;
    let slots = match segment_bits {
        0 => segment_keys + probability.spare(segment_keys, width),
        _ => {
            let full = fullest(segment_keys, segment_bits);
            full * (1.0 + overhead(full, width.bits().into(), probability.fullest))
        }
    };
    let segment_slots = libm::ceil(slots) as u64;
    let queue_limit = queue_limit(segment_keys as u64, segment_slots, width);
    System { queue_limit, ..System::new(segment_bits, segment_slots) }
}

/// The longest queue with which a seed is worth an attempt. `None` if seeds are not screened.
pub(crate) fn queue_limit(keys: u64, slots: u64, width: Width) -> Option<u32> {
    let spare = slots.saturating_sub(keys);
    (slots > u64::from(width.bits())).then(|| match spare < FEW_SPARE_SLOTS {
        true => width.bits() - 1,
        false => width.bits() - QUEUE_MARGIN,
    })
}

/// The likely number of keys in the fullest of `1 << bits` segments: the mean, plus the number of
/// standard deviations by which the largest of `1 << bits` normal variables exceeds it.
fn fullest(mean: f64, bits: u32) -> f64 {
    let segments = (1u64 << bits) as f64;
    mean + libm::sqrt(mean * 2.0 * libm::log(segments))
}
