//! Layers, slots and capacity for exceptions of a Bumped ribbon.
//!
//! A bumping layer has fewer slots than keys. Nearly all of its slots are filled, so it bumps its
//! surplus keys and one key for each of the few slots that stay empty. The same holds for the next
//! layer. So the number of keys that reach the last layer is known in advance except for the number
//! of empty slots, which is close to a normal variable with
//!
//! ```text
//! mean      segments * END + slots * HOLE
//! variance  segments * END_VARIANCE + slots * HOLE_VARIANCE
//! ```
//!
//! *END* slots are lost at the end of each segment, and *HOLE* is the fraction lost elsewhere. So
//! all sizes are a function of the number of keys. The last layer, a Standard ribbon, gets slots
//! for the mean plus [`DEVIATIONS`] standard deviations. In about one build in a hundred that is
//! too few, and construction restarts with more.
//!
//! The constants come from simulations of single layers. Regenerate and compare with
//!
//! ```text
//! cargo run --release -p ribbonfilter-bench --bin ribbon-bench -- constants bumped
//! ```
//!
//! The numbers of layers and of segments change only where the number of keys is a power of two,
//! and the total slots of all bumping layers grow with the keys. So the size grows with the keys,
//! too.

use super::Effort;
use super::frame::System;
use super::standard::Probability;
use crate::Width;
use crate::ribbon::layers::{Buckets, Further, Layer, MAX_FURTHER};
use alloc::vec::Vec;

/// Standard deviations by which the last layer exceeds the size that it needs on average.
const DEVIATIONS: f64 = 3.0;
/// The same for w = 64 and `1 << 15` to `1 << 18` keys. In one build of twenty there is a bucket that
/// bumps all its keys, which is more than three deviations.
const DEVIATIONS_WITH_BUCKET: f64 = 5.0;

/// The constants of one width.
struct Fit {
    /// Slots of a bumping layer per key.
    load: f64,
    end: f64,
    end_variance: f64,
    hole: f64,
    hole_variance: f64,
    /// Number of buckets that bump all their keys, per key of a layer.
    exceptions: f64,
    /// A layer of at least `1 << bumping_log` keys is a bumping layer: its end and its codes cost
    /// fewer bits than the empty slots of a Standard ribbon.
    bumping_log: u32,
    /// A segment of a large layer has at least `1 << segment_log` keys and fewer than twice
    /// as many.
    segment_log: u32,
}

impl Fit {
    /// The fraction of its keys that a layer bumps.
    const fn bumped(&self) -> f64 {
        1.0 - self.load * (1.0 - self.hole)
    }
}

const fn fit(width: Width) -> Fit {
    match width {
        Width::W16 | Width::W32 => Fit {
            load: 0.89,
            end: 9.0,
            end_variance: 42.0,
            hole: 1.57e-3,
            hole_variance: 0.018,
            exceptions: 0.0,
            bumping_log: 10,
            segment_log: 17,
        },
        Width::W64 => Fit {
            load: 0.92,
            end: 10.0,
            end_variance: 53.0,
            hole: 5.6e-5,
            hole_variance: 2.4e-3,
            exceptions: 4e-7,
            bumping_log: 12,
            segment_log: 18,
        },
        Width::W128 => Fit {
            load: 0.964,
            end: 27.0,
            end_variance: 220.0,
            hole: 4.6e-5,
            hole_variance: 1.4e-3,
            exceptions: 5e-8,
            bumping_log: 14,
            segment_log: 19,
        },
    }
}

/// Minimum number of keys in a segment of a large layer, as a power of two.
pub(super) const fn segment_log(width: Width) -> u32 {
    fit(width).segment_log
}

/// The system for a number of keys. The extra slots that the user requests go to the first layer.
/// Growth adds slots to the last layer and capacity for exceptions.
pub(super) fn system(
    keys: u64,
    width: Width,
    overhead: f64,
    effort: Effort,
    growth: u32,
) -> System {
    let mut layers = bumping_layers(keys, width);
    let fit = fit(width);
    let slots: u64 = layers.iter().map(|layer| layer.slots()).sum();
    let segments: u64 = layers.iter().map(|layer| 1 << layer.segment_bits()).sum();
    let (slots, segments) = (slots as f64, segments as f64);
    let lost = segments * fit.end + slots * fit.hole;
    let variance = segments * fit.end_variance + slots * fit.hole_variance;
    let last_keys = keys as f64 - slots + lost;
    // The same for all numbers of keys in an octave, so that the size does not decrease while the
    // keys increase.
    let max_last_keys = match layers.last() {
        Some(_) => max_last_keys(keys, width, segments * fit.end),
        None => last_keys,
    };
    // Where the last layer holds a small fraction of the keys, many attempts are cheap.
    let probability = match effort {
        Effort::Normal if layers.is_empty() => Probability::MEDIUM,
        _ => Probability::LOW,
    };
    let rare = effort == Effort::Normal && has_rare_exceptions(keys, width);
    let deviations = if rare { DEVIATIONS_WITH_BUCKET } else { DEVIATIONS };
    let spare = probability.spare(max_last_keys, width) + deviations * libm::sqrt(variance);
    let mut last_slots = libm::ceil(last_keys + spare) as u64;
    let requested = libm::ceil(keys as f64 * (1.0 + overhead)) as u64;
    let missing = requested.saturating_sub(slots as u64 + last_slots);
    match layers.first_mut() {
        Some(first) => {
            let unit = Buckets::of(width).unit();
            let more = missing.div_ceil(1 << first.segment_bits()).next_multiple_of(unit);
            *first = Layer::new(first.segment_bits(), first.segment_slots() + more);
        }
        None => last_slots += missing,
    }
    last_slots += grown(keys, growth);
    let exceptions =
        exceptions(keys, width).max(rare.into()) + exceptions_grown(&layers, width, growth);
    layers.push(Layer::new(0, last_slots));
    System {
        further: Further::of(&layers[1..], exceptions),
        // Seeds are not screened here: the keys of the last layer are known when it is built.
        ..System::new(layers[0].segment_bits(), layers[0].segment_slots())
    }
}

/// The bumping layers. The slots of a layer are the keys that reach it, times the load.
fn bumping_layers(keys: u64, width: Width) -> Vec<Layer> {
    let fit = fit(width);
    let octave = (1u64 << keys.ilog2()) as f64;
    let mut layers = Vec::new();
    // Per key of the set: the fraction that reaches a layer, and the slots of all layers up to it.
    let (mut fraction, mut until, mut before) = (1.0, 0.0, 0);
    while layers.len() < MAX_FURTHER && octave * fraction >= (1u64 << fit.bumping_log) as f64 {
        let segment_bits = segment_bits((octave * fraction) as u64, &fit);
        until += fit.load * fraction;
        fraction *= fit.bumped();
        // The sum is rounded, so that the next layer makes up for the rounding of this one.
        let unit = Buckets::of(width).unit() << segment_bits;
        let slots = (keys as f64 * until) as u64 / unit * unit;
        layers.push(Layer::new(segment_bits, (slots - before) >> segment_bits));
        before = slots;
    }
    layers
}

/// Layers below `1 << SINGLE_LOG` keys have one segment.
const SINGLE_LOG: u32 = 18;

/// The number of segments of a layer with at least `keys` keys, as a power of two. A small layer
/// has smaller segments, so that threads can share them and one segment's rows do not take more
/// memory than all hashes. In larger layers they grow to the size at which their ends hardly
/// matter.
fn segment_bits(keys: u64, fit: &Fit) -> u32 {
    match keys.max(1).ilog2() {
        log if log < SINGLE_LOG => 0,
        log => ((log - 15) / 2).max(log.saturating_sub(fit.segment_log)),
    }
}

/// The maximum, over all numbers of keys in the octave, of the average number of keys that reach
/// the last layer.
fn max_last_keys(keys: u64, width: Width, ends: f64) -> f64 {
    let fit = fit(width);
    let top = 2.0 * (1u64 << keys.ilog2()) as f64;
    let layers = bumping_layers(keys, width);
    let rounding = layers.last().map_or(0, |last| Buckets::of(width).unit() << last.segment_bits());
    top * libm::pow(fit.bumped(), layers.len() as f64) + rounding as f64 + ends
}

/// Number of slots added to the last layer after `growth` failures. In the end they suffice for all
/// keys, because all other layers may bump hashes that are far from random.
fn grown(keys: u64, growth: u32) -> u64 {
    let max = (2 * keys).min(1 << 31);
    (((keys >> 10) + 1) * ((1 << growth) - 1)).min(max) + u64::from(growth)
}

/// Whether a single bucket that bumps everything would be more than the last layer is made for.
fn has_rare_exceptions(keys: u64, width: Width) -> bool {
    (1 << 15..1 << 18).contains(&keys) && width == Width::W64
}

/// Capacity for buckets that bump all their keys: the mean of a Poisson variable plus four standard
/// deviations.
fn exceptions(keys: u64, width: Width) -> u32 {
    let mean = keys as f64 * fit(width).exceptions;
    (mean + 4.0 * libm::sqrt(mean)) as u32
}

/// Additional capacity for exceptions after `growth` failures; in the end for all buckets.
fn exceptions_grown(layers: &[Layer], width: Width, growth: u32) -> u32 {
    let buckets = Buckets::of(width);
    if growth == 0 || buckets.covers_all() {
        return 0;
    }
    let all = layers.iter().map(|layer| layer.slots()).sum::<u64>() >> buckets.log;
    (((all >> 12) + 2) << growth).min(all).min(u64::from(u32::MAX / 2)) as u32
}
