//! Experiments on the real code, from which the planner's constants come.
//!
//! Not part of the public interface: for the project's own tools.

use crate::back_substitution;
use crate::banding::{Banding, Insertion};
use crate::construct::Screen;
use crate::equation::{free_row, mix, seeded};
use crate::layout::READ_AHEAD;
use crate::shape::Shape;
use crate::variant::homogeneous_rate;
use crate::width::{Band, with_band};
use crate::{Variant, Width};
use alloc::vec;
use alloc::vec::Vec;

/// The planner's formula: the share of extra slots with which one seed of a Standard
/// system works with chance `chance`.
pub fn standard_overhead(keys: f64, width: Width, chance: f64) -> f64 {
    crate::plan::standard_overhead(keys, width.bits().into(), -libm::log(chance))
}

/// How many keys of a stream a system takes until one depends on those before it.
pub fn keys_until_failure(
    width: Width,
    slots: u64,
    smash: u64,
    key_hashes: impl Iterator<Item = u64>,
) -> u64 {
    fn run<B: Band>(slots: u64, smash: u64, mut keys: impl Iterator<Item = u64>) -> u64 {
        let starts = crate::equation::Starts::with_smash(slots, B::WIDTH, smash);
        let mut banding = Banding::<B, ()>::new(slots as usize).expect("memory");
        let dependent = keys.position(|key_hash| {
            let hash = seeded(mix(key_hash), 0, 0);
            let start = starts.start(hash) as usize;
            banding.insert(start, starts.coefficients(hash), ()) == Insertion::Redundant
        });
        dependent.expect("more keys than slots") as u64
    }
    with_band!(width, B => run::<B>(slots, smash, key_hashes))
}

/// One homogeneous system: what a seed gave.
#[derive(Clone, Copy, Debug)]
pub struct Instance {
    /// The exact rate over the nominal one.
    pub ratio: f64,
    /// The longest queue of starts.
    pub longest_queue: u32,
    /// Keys that added nothing.
    pub redundant: u64,
}

/// Solves one homogeneous system and computes its exact rate.
pub fn homogeneous_instance(
    width: Width,
    slots: u64,
    smash: bool,
    columns: u32,
    key_hashes: impl Iterator<Item = u64>,
) -> Instance {
    fn run<B: Band>(shape: &Shape, keys: &[u64]) -> Instance {
        let starts = shape.starts();
        let longest_queue = Screen::new(shape).expect("memory").longest_queue(keys, 0);
        let mut banding = Banding::<B, ()>::new(shape.segment_slots as usize).expect("memory");
        let insertions = keys.iter().map(|&key| {
            let hash = seeded(key, 0, 0);
            banding.insert(starts.start(hash) as usize, starts.coefficients(hash), ())
        });
        let redundant = insertions.filter(|&i| i == Insertion::Redundant).count() as u64;
        let layout = shape.layout();
        let mut bytes = vec![0; layout.size_in_bytes() as usize + READ_AHEAD];
        back_substitution::solve(&banding, free_row, &layout, 0, &mut bytes);
        let rate = homogeneous_rate(shape, &layout, &bytes, 0).value();
        Instance {
            ratio: rate / shape.nominal_rate().value(),
            longest_queue,
            redundant,
        }
    }
    let shape = Shape {
        variant: Variant::Homogeneous,
        width,
        smash,
        segment_bits: 0,
        segment_slots: slots,
        columns,
        boundary: 0,
    };
    let keys: Vec<u64> = key_hashes.map(mix).collect();
    with_band!(width, B => run::<B>(&shape, &keys))
}
