//! Bumped Ribbon (BuRR): layers that pass the few keys they cannot hold to the next layer.
//!
//! Dillinger, Hübschle-Schneider, Sanders and Walzer, "Fast succinct retrieval and approximate
//! membership using ribbon" (2022), sections 4 and 5. A system with fewer slots than keys is filled
//! almost completely. Where it has too many keys, some are *bumped* to the next layer, a smaller
//! system of the same kind. The bumped keys are those in certain ranges of starts, which two bits
//! per bucket describe. The last layer is a Standard ribbon, the only one that can fail and that
//! has a seed.
//!
//! - [`window`](super::window) orders the keys of a segment,
//! - [`segment`] decides which keys each bucket bumps,
//! - [`system`](super::system) inserts classes of keys, each completely or not at all.
//!
//! Layers are solved one after another, because each receives the keys that the preceding one
//! bumps. The segments of a layer are independent and distributed among threads. Neither the codes
//! nor the bumped keys depend on the number of columns, because a class fits or not by its
//! coefficients alone. This keeps a shrunk filter identical to one that was built with fewer
//! columns.

mod segment;

use self::segment::{Bumping, Fill, Workspace};
use super::system::{Elimination, ValueOf, with_elimination};
use super::{Failure, Solved, standard};
use crate::build::{
    Group, Item, Keys, Partitioned, Resources, Task, Value, for_each_segment, workspaces,
};
use crate::error::OutOfMemory;
use crate::plan::standard_queue_limit;
use crate::progress::Reporter;
use crate::ribbon::layers::Codes;
use crate::ribbon::shape::Shape;
use crate::solve::right_side::RightSide;
use crate::storage::memory::try_reserve;
use alloc::vec;
use alloc::vec::Vec;

pub(super) fn solve<R: RightSide>(task: &mut Task<'_, '_, R::Value>) -> Result<Solved, Failure> {
    let (width, kernel) = (task.plan.shape.width, task.resources.kernel);
    // The planner has no Bumped ribbon of w = 16.
    with_elimination!(width, kernel, R, solve_layers(task), narrow: Err(Failure::NoSeed))
}

fn solve_layers<E: Elimination>(
    cpu: E::Cpu,
    task: &mut Task<'_, '_, ValueOf<E>>,
) -> Result<Solved, Failure> {
    let Task { plan, keys, bytes, resources, progress } = task;
    let shape = plan.shape;
    let mut solved = Solved::default();
    let (mut bytes, mut first_slot, mut bumped) = (&mut **bytes, 0, None);
    for (number, layer) in shape.layers().enumerate() {
        let alone = shape.of_layer(first_slot, layer);
        let all = Group::all(alone.segment_bits);
        let further = match bumped.take() {
            None => None,
            Some(bumped) => {
                Some(Keys::Here(Partitioned::new(bumped, all, resources.threads(), progress)?))
            }
        };
        let keys = further.as_ref().unwrap_or(keys);
        if number == shape.further.layers().len() {
            let last = keys.group(all)?;
            solve_last::<E>(cpu, &alone, last.segment(0), bytes, *resources, &mut solved)?;
            break;
        }
        let (mine, rest) = bytes.split_at_mut(alone.layout().size_in_bytes() as usize);
        let found = fill_layer::<E>(cpu, &alone, keys, mine, *resources, progress)?;
        bumped = Some(gather(&mut solved, found)?);
        (bytes, first_slot) = (rest, first_slot + layer.slots());
    }
    if solved.codes.exceptions.len() > shape.further.exceptions as usize {
        return Err(Failure::NoSeed);
    }
    Ok(solved)
}

/// Fills and solves all segments of a bumping layer.
fn fill_layer<E: Elimination>(
    cpu: E::Cpu,
    layer: &Shape,
    keys: &Keys<'_, ValueOf<E>>,
    bytes: &mut [u8],
    resources: Resources,
    progress: &mut Reporter<'_>,
) -> Result<Vec<Bumping<ValueOf<E>>>, Failure> {
    let new = || Workspace::<E>::new(cpu, layer);
    let mut workspaces = workspaces(layer, resources.threads(), new)?;
    let budget = resources.budget_for_bumped();
    for_each_segment(&mut workspaces, layer, keys, bytes, progress, |workspace, segment| {
        let bumping = E::run(cpu, Fill { workspace, segment })?;
        budget.take(bumping.bumped.len())?;
        Ok(bumping)
    })
}

/// Appends the codes and exceptions of a layer's segments to `solved`. Returns the bumped keys.
fn gather<V: Value>(
    solved: &mut Solved,
    found: Vec<Bumping<V>>,
) -> Result<Vec<Item<u64, V>>, OutOfMemory> {
    let Codes { codes, exceptions } = &mut solved.codes;
    let mut bumped = Vec::new();
    try_reserve(&mut bumped, found.iter().map(|segment| segment.bumped.len()).sum())?;
    try_reserve(codes, found.iter().map(|segment| segment.codes.len()).sum())?;
    for segment in found {
        try_reserve(exceptions, segment.exceptions.len())?;
        let first = codes.len() as u64;
        exceptions.extend(segment.exceptions.iter().map(|bucket| first + bucket));
        codes.extend_from_slice(&segment.codes);
        bumped.extend_from_slice(&segment.bumped);
        solved.redundant += segment.redundant;
    }
    Ok(bumped)
}

/// Solves the last layer under the lowest seed that works.
fn solve_last<E: Elimination>(
    cpu: E::Cpu,
    layer: &Shape,
    keys: &[Item<u64, ValueOf<E>>],
    bytes: &mut [u8],
    resources: Resources,
    solved: &mut Solved,
) -> Result<(), Failure> {
    let limit = standard_queue_limit(keys.len() as u64, layer.segment_slots, layer.width);
    let mut workspace = standard::Workspace::<E>::new(cpu, layer, resources.kernel)?;
    let found = workspace.first_seed(limit, keys)?;
    let (seed, redundant) = found.ok_or(Failure::NoSeed)?;
    workspace.solve(&layer.layout(), bytes);
    solved.seeds = vec![seed];
    solved.redundant += redundant;
    Ok(())
}

/// The numbers of empty slots in a bumping layer of one segment and of buckets that bump all their
/// keys, for simulations.
#[cfg(any(test, feature = "internals"))]
pub(crate) fn empty_slots(
    layer: &Shape,
    keys: &[Item<u64, ()>],
    kernel: crate::kernel::Kernel,
) -> (u64, usize) {
    fn fill<E: Elimination<RightSide = u32>>(
        cpu: E::Cpu,
        layer: &Shape,
        keys: &[Item<u64, ()>],
    ) -> Bumping<()> {
        let layout = layer.layout();
        let bytes = &mut vec![0; layout.size_in_bytes() as usize];
        let segment = crate::build::Segment { number: 0, keys, first_slot: 0, layout, bytes };
        let mut workspace = Workspace::<E>::new(cpu, layer).expect("memory");
        E::run(cpu, Fill { workspace: &mut workspace, segment }).expect("memory")
    }
    let bumping = with_elimination!(layer.width, kernel, u32, fill(layer, keys));
    let rows = keys.len() as u64 - bumping.bumped.len() as u64 - bumping.redundant;
    (layer.segment_slots - rows, bumping.exceptions.len())
}

#[cfg(test)]
mod tests;
