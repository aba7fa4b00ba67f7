//! Experiments on the real code, from which the planner's constants come.
//!
//! Not part of the public interface: for the project's own tools.

use crate::arch::Kernel;
use crate::banding::{Banding, Insertion};
use crate::construct::Workspace;
use crate::equation::{Seed, free_row, mix, seeded};
use crate::layers::Further;
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
            let hash = seeded(mix(key_hash), Seed::new(0));
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
        let mut workspace = Workspace::<B, ()>::new(shape, Kernel::best()).expect("memory");
        let longest_queue = workspace.longest_queue(keys, 0);
        let redundant = workspace.band(keys, 0).expect("memory").unwrap_or(0);
        let layout = shape.layout();
        let mut bytes = vec![0; layout.size_in_bytes() as usize + READ_AHEAD];
        workspace.solve(free_row, &layout, &mut bytes);
        let rate = homogeneous_rate(shape, &layout, &bytes).value();
        Instance { ratio: rate / shape.nominal_rate().value(), longest_queue, redundant }
    }
    let shape = Shape {
        variant: Variant::Homogeneous,
        width,
        smash,
        segment_bits: 0,
        segment_slots: slots,
        further: Further::default(),
        columns,
        boundary: 0,
    };
    let keys: Vec<u64> = key_hashes.map(mix).collect();
    with_band!(width, B => run::<B>(&shape, &keys))
}
