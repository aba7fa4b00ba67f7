//! Experiments on the real code, from which the planner's constants come.
//!
//! Public with the feature `internals`, for the project's own tools. Not covered by semantic
//! versioning.

mod displacement;
mod homogeneous;
mod locality;

pub use displacement::{InsertionOrder, Work, insertion_work};
pub use homogeneous::{
    Instance, homogeneous_instance, homogeneous_rates, rate_and_dependent_fraction,
};
pub use locality::{Locality, interleaved, row_major};

use crate::build::variant::{balanced_fits, bumped_empty_slots, solve_filter};
use crate::build::{Group, Item, Keys, Partitioned, Resources, Task, complete};
use crate::kernel::Kernel;
use crate::plan::{Limits, Plan, Settings, Target};
use crate::progress::Reporter;
use crate::ribbon::equation::{Seed, Starts, mix, seeded};
use crate::ribbon::layers::Buckets;
use crate::ribbon::shape::Shape;
use crate::ribbon::width::{Band, with_band};
use crate::solve::banding::{Banding, Insertion};
use crate::storage::bytes::OwnedBytes;
use crate::{Effort, Filter, Variant, Width};
use alloc::vec;
use alloc::vec::Vec;

/// Number of keys whose rows are prefetched together.
const AHEAD: usize = 64;

/// The planner's formula: the fraction of extra slots with which one seed of a Standard
/// system works with the given probability.
pub fn standard_overhead(keys: f64, width: Width, probability: f64) -> f64 {
    crate::plan::standard_overhead(keys, width.bits().into(), -libm::log(probability))
}

/// The number of keys of a stream that a system takes until one depends on the preceding ones.
pub fn keys_until_failure(
    width: Width,
    slots: u64,
    smash: u64,
    key_hashes: impl Iterator<Item = u64>,
) -> u64 {
    fn run<B: Band>(slots: u64, smash: u64, mut keys: impl Iterator<Item = u64>) -> u64 {
        let starts = Starts::with_smash(slots, B::WIDTH, smash);
        let mut banding = Banding::<B, ()>::new(slots as usize).expect("memory");
        let mut ready = Vec::with_capacity(AHEAD);
        let mut taken = 0;
        loop {
            // A large system is not in the cache, so rows are prefetched.
            ready.clear();
            ready.extend(keys.by_ref().take(AHEAD).map(|key_hash| {
                let hash = seeded(mix(key_hash), Seed::new(0));
                let start = starts.start(hash);
                banding.prefetch(start as usize);
                (start as usize, starts.coefficients::<B>(hash, start))
            }));
            for &(start, coefficients) in &ready {
                if banding.insert(start, coefficients, ()) == Insertion::Redundant {
                    return taken;
                }
                taken += 1;
            }
        }
    }
    with_band!(width, B => run::<B>(slots, smash, key_hashes))
}

/// The keys of a build.
fn mixed(key_hashes: impl Iterator<Item = u64>) -> Vec<Item<u64, ()>> {
    key_hashes.map(|hash| mix(hash).into()).collect()
}

/// The keys of a plan, in one group.
fn partitioned(keys: Vec<Item<u64, ()>>, plan: &Plan) -> Keys<'static, ()> {
    let all = Group::all(plan.shape.segment_bits);
    let keys = Partitioned::new(keys, all, 1, &mut Reporter::default());
    Keys::Here(keys.expect("memory"))
}

/// Calls `solve` with the task to build `plan` on one thread.
fn with_task<T>(
    plan: &Plan,
    keys: &Keys<'_, ()>,
    solve: impl FnOnce(&mut Task<'_, '_, ()>) -> T,
) -> T {
    let mut bytes = vec![0; plan.size_in_bytes() as usize];
    let resources = Resources::new(Kernel::best(), Limits::default());
    let progress = &mut Reporter::default();
    solve(&mut Task { plan, keys, bytes: &mut bytes, resources, progress })
}

/// The figures of a filter that was built.
#[derive(Clone, Copy, Debug)]
pub struct PlannedBuild {
    /// The number of seeds tried: the solutions of a Homogeneous system, or the average over the
    /// segments of another one.
    pub solutions: f64,
    /// The number that the plan expected.
    pub expected_solutions: f64,
    /// The seed that was taken, or the average over the segments.
    pub seed: f64,
    /// The exact rate.
    pub rate: f64,
    /// Bytes without the footer.
    pub bytes: u64,
}

/// Builds a filter as planned. `None` if the planner refuses the settings.
pub fn planned_build(
    variant: Variant,
    width: Width,
    effort: Effort,
    columns: f64,
    key_hashes: impl Iterator<Item = u64>,
) -> Option<PlannedBuild> {
    let keys = mixed(key_hashes);
    let settings = Settings {
        target: Target::Columns(columns),
        variant: Some(variant),
        width: Some(width),
        effort,
        ..Settings::default()
    };
    let plan = settings.plan(keys.len() as u64, 0).ok()?;
    let solved = with_task(&plan, &partitioned(keys, &plan), solve_filter).ok()?;
    let seeds: f64 = solved.seeds.iter().map(|&seed| f64::from(seed)).sum();
    let seed = seeds / solved.seeds.len().max(1) as f64;
    Some(PlannedBuild {
        solutions: match variant {
            Variant::Homogeneous => solved.solutions.into(),
            _ => 1.0 + seed,
        },
        expected_solutions: plan.expected_solutions(),
        seed,
        rate: solved.rate.unwrap_or(plan.expected_rate()),
        bytes: plan.shape.data_bytes(),
    })
}

/// A filter built on one thread with or without smash, which the planner otherwise decides. `None`
/// if the planner refuses the settings or no seed works.
pub fn filter_with_smash(
    variant: Variant,
    width: Width,
    columns: f64,
    smash: bool,
    key_hashes: impl Iterator<Item = u64>,
) -> Option<Filter> {
    let keys = mixed(key_hashes);
    let settings = Settings {
        target: Target::Columns(columns),
        variant: Some(variant),
        width: Some(width),
        ..Settings::default()
    };
    let mut plan = settings.plan(keys.len() as u64, 0).ok()?;
    plan.shape.smash = smash;
    let keys = partitioned(keys, &plan);
    let mut bytes = OwnedBytes::zeroed(plan.size_in_bytes() as usize).ok()?;
    let resources = Resources::new(Kernel::best(), Limits::default());
    let progress = &mut Reporter::default();
    let task = &mut Task { plan: &plan, keys: &keys, bytes: bytes.as_mut(), resources, progress };
    let solved = solve_filter(task).ok()?;
    complete(bytes.as_mut(), &plan, 0, &solved);
    Filter::open(bytes).ok()
}

/// One Balanced system: the slots that its first seed needs, and the slots that are planned.
#[derive(Clone, Copy, Debug)]
pub struct BalancedInstance {
    /// Keys of a shard.
    pub shard_keys: f64,
    /// The minimum fraction of extra slots with which the seed works.
    pub min: f64,
    /// The planned fraction of extra slots.
    pub planned: f64,
    /// Whether the seed works with those.
    pub works: bool,
}

/// Finds by binary search the fewest slots with which the first seed of a Balanced system works.
/// `None` if the planner takes a single shard.
pub fn balanced_instance(
    width: Width,
    key_hashes: impl Iterator<Item = u64>,
) -> Option<BalancedInstance> {
    let hashes = mixed(key_hashes);
    let settings = Settings {
        target: Target::Columns(1.0),
        variant: Some(Variant::Balanced),
        width: Some(width),
        ..Settings::default()
    };
    let mut plan = settings.plan(hashes.len() as u64, 0).ok()?;
    let (keys, shards) = (hashes.len() as f64, plan.shape.shards()?.count());
    let segments = plan.segments() as f64;
    let partitioned = partitioned(hashes, &plan);
    // Segments are multiples of 64 slots, unless there is only one.
    let grain = if plan.shape.segment_bits > 0 { 64 } else { 1 };
    let planned = plan.shape.segment_slots;
    let mut fits = |slots: u64| {
        plan.shape.segment_slots = slots;
        with_task(&plan, &partitioned, |task| balanced_fits(task, 0))
    };
    let few = (keys / segments) as u64 / grain - 1;
    let (mut low, mut high) = (few, few + few / 4);
    while low + 1 < high {
        let middle = low.midpoint(high);
        if fits(middle * grain) { high = middle } else { low = middle }
    }
    let extra = |slots: u64| slots as f64 * segments / keys - 1.0;
    Some(BalancedInstance {
        shard_keys: keys / shards as f64,
        min: extra(high * grain),
        planned: extra(planned),
        works: fits(planned),
    })
}

/// One bumping layer of a Bumped system.
#[derive(Clone, Copy, Debug)]
pub struct BumpingLayer {
    /// Slots that no key has filled.
    pub empty: u64,
    /// Buckets that bump all their keys.
    pub exceptions: usize,
}

/// Fills a bumping layer of one segment with `load` slots for each key.
pub fn bumping_layer(
    width: Width,
    load: f64,
    key_hashes: impl Iterator<Item = u64>,
) -> BumpingLayer {
    let keys = mixed(key_hashes);
    let unit = Buckets::of(width).unit();
    let layer = Shape {
        variant: Variant::Bumped,
        width,
        smash: true,
        segment_slots: (keys.len() as f64 * load) as u64 / unit * unit,
        columns: 1,
        ..Shape::EMPTY
    };
    let (empty, exceptions) = bumped_empty_slots(&layer, &keys, Kernel::best());
    BumpingLayer { empty, exceptions }
}
