//! Standard Ribbon (paper, section 3): fingerprints, and another seed when it fails.
//!
//! Every segment is a system of its own with a seed of its own, so a failure costs one
//! segment's work and the overhead does not grow with the number of keys. Seeds are tried
//! in order, 0 first, and the lowest that works is taken: the bytes are a function of the
//! keys alone. A seed is banded only if the longest queue of its starts is short enough.

use super::{Failure, Solved};
use crate::Width;
use crate::construct::{Goal, Item, Task, Workspace, contradiction_among};
use crate::error::OutOfMemory;
use crate::width::{Band, with_band};

/// After so many hopeless queues no other seed is tried.
const HOPELESS_SEEDS: u32 = 4;

/// Whether a queue is so long, four widths, that it tells of duplicates or of skewed hashes,
/// not of bad luck.
pub(super) fn is_hopeless(queue: u32, width: Width) -> bool {
    queue >= 4 * width.bits()
}

pub(super) fn solve<R: Goal>(task: &mut Task<'_, '_, R::Value>) -> Result<Solved, Failure> {
    with_band!(task.plan.shape.width, B => solve_segments::<B, R>(task))
}

fn solve_segments<B: Band, R: Goal>(task: &mut Task<'_, '_, R::Value>) -> Result<Solved, Failure> {
    let plan = task.plan;
    let mut crew = task.crew::<B, R>()?;
    let found = task.each(&mut crew, |workspace, segment| {
        let found =
            first_seed(plan.queue_limit, workspace, segment.keys)?.ok_or(Failure::NoSeed)?;
        // A free variable may be anything; zero serves any number of columns.
        workspace.solve(|_| 0, &segment.layout, segment.bytes);
        Ok(found)
    })?;
    Ok(Solved {
        redundant: found.iter().map(|&(_, redundant)| redundant).sum(),
        seeds: found.into_iter().map(|(seed, _)| seed).collect(),
        ..Solved::default()
    })
}

/// The lowest seed whose system is solvable, and the number of redundant keys; leaves that
/// system in the workspace.
pub(crate) fn first_seed<B: Band, R: Goal>(
    queue_limit: Option<u32>,
    workspace: &mut Workspace<B, R>,
    keys: &[Item<u64, R::Value>],
) -> Result<Option<(u8, u64)>, OutOfMemory> {
    let (mut hopeless, mut compared) = (0, false);
    for seed in 0..=u8::MAX {
        if let Some(limit) = queue_limit {
            let queue = workspace.longest_queue(keys, seed);
            hopeless += u32::from(is_hopeless(queue, B::WIDTH));
            if hopeless == HOPELESS_SEEDS {
                return Ok(None);
            }
            if queue > limit {
                continue;
            }
        }
        if let Some(redundant) = workspace.band(keys, seed)? {
            return Ok(Some((seed, redundant)));
        }
        // No other seed helps against two values for one key.
        if !core::mem::replace(&mut compared, true) && contradiction_among(keys)? {
            return Ok(None);
        }
    }
    Ok(None)
}
