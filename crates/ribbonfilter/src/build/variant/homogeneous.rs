//! Homogeneous Ribbon (paper, section 4): no fingerprints, no failure.
//!
//! Every equation is `c * Z = 0`, so a system always has a solution. The free variables are set to
//! pseudo-random rows, so that it is not the zero solution. What varies is the rate: a range with
//! too many keys leaves rows that accept every key. So seeds are screened by the queue of their
//! starts, and the exact rate of the resulting solution is computed. If it is above the planned
//! rate, the next seed is tried. After [`MAX_SOLUTIONS`] solutions the best of them is taken, and
//! the filter reports its rate. One seed serves all segments, so a query need not look it up.

use super::banding_workspace::BandingWorkspace;
use super::standard::{HOPELESS, Workspace, is_hopeless};
use super::system::{Elimination, with_elimination};
use super::{Failure, Solved};
use crate::Width;
use crate::build::{Group, Segment, Task, for_each_segment, workspaces};
use crate::kernel::{Instructions, Kernel, Work};
use crate::progress::Phase;
use crate::ribbon::equation::free_row;
use crate::ribbon::layout::Layout;
use crate::ribbon::rate::{Rate, homogeneous_rate};
use crate::ribbon::shape::Shape;
use crate::ribbon::width::{Band, with_rows};
use crate::solve::right_side::Zero;
use alloc::vec;

/// Number of solutions to try before the best of them is taken.
const MAX_SOLUTIONS: u32 = 16;
/// Below this number of keys, a system of width 32 or 64 has few spare slots.
const SMALL: u64 = 1 << 14;
/// Number of seeds that [`solve_small`] tries to solve. It rejects seeds with dependent keys.
const FEW_SOLUTIONS: u32 = 8;
/// Maximum number of seeds that are screened for one solution; the next is taken unscreened.
const MAX_SCREENED: u8 = 64;

pub(super) fn solve(task: &mut Task<'_, '_, ()>) -> Result<Solved, Failure> {
    if is_small(task) {
        let (width, kernel) = (task.plan.shape.width, task.resources.kernel);
        if let Some(solved) =
            with_elimination!(width, kernel, Zero, solve_small(task), narrow: Ok(None))?
        {
            return Ok(solved);
        }
    }
    with_rows!(task.plan.shape.width, B => choose_seed::<B>(task))
}

fn choose_seed<B: Band>(task: &mut Task<'_, '_, ()>) -> Result<Solved, Failure> {
    let (shape, resources) = (&task.plan.shape, task.resources);
    let new = || BandingWorkspace::<B, ()>::new(shape, resources.kernel);
    let workspaces = &mut workspaces(shape, resources.threads(), new)?;
    let mut best = Candidate { seed: 0, rate: f64::INFINITY, redundant: 0 };
    let mut last = None;
    let (mut next, mut solutions) = (Some(0), 0);
    for _ in 0..MAX_SOLUTIONS {
        let Some(from) = next else { break };
        let seed = promising_seed(task, workspaces, from)?;
        let candidate = solve_all(task, workspaces, seed)?;
        solutions += 1;
        last = Some(seed);
        if candidate.rate < best.rate {
            best = candidate;
        }
        if best.rate <= task.plan.solution_rate {
            break;
        }
        next = seed.checked_add(1);
    }
    if last != Some(best.seed) {
        best = solve_all(task, workspaces, best.seed)?;
        solutions += 1;
    }
    let (seeds, rate) = (vec![best.seed], Some(best.rate));
    Ok(Solved { seeds, redundant: best.redundant, rate, solutions, ..Solved::default() })
}

/// Whether the set is small and its seeds are screened, so that [`solve_small`] is faster.
fn is_small(task: &Task<'_, '_, ()>) -> bool {
    let few = match task.plan.shape.width {
        Width::W16 => false,
        Width::W32 | Width::W64 => task.plan.keys() < SMALL,
        Width::W128 => task.plan.shape.segment_bits == 0,
    };
    few && task.plan.queue_limit.is_some()
}

/// Chooses a seed for a small set, with the elimination of a Standard ribbon. It is faster where
/// spare slots are few: at w = 32 and w = 64 below 2^14 keys, at w = 128 for any set of one
/// segment. A key that depends on others indicates a crowded range and rules a seed out. Returns
/// `None` if none of the first few seeds is good enough: dependent keys then have to be accepted.
fn solve_small<E: Elimination<RightSide = Zero>>(
    cpu: E::Cpu,
    task: &mut Task<'_, '_, ()>,
) -> Result<Option<Solved>, Failure> {
    let shape = task.plan.shape;
    let Some(limit) = task.plan.queue_limit else { return Ok(None) };
    let mut workspace = Workspace::<E>::new(cpu, &shape, task.resources.kernel)?;
    let group = task.keys.group(Group::all(0))?;
    let (keys, layout) = (group.segment(0), shape.layout());
    let mut solutions = 0;
    for seed in 0..MAX_SCREENED {
        if solutions == FEW_SOLUTIONS {
            break;
        }
        let queue = workspace.longest_queue(keys, seed, HOPELESS * shape.width.bits());
        if is_hopeless(queue, shape.width) {
            break;
        }
        if queue > limit {
            continue;
        }
        task.progress.report(Phase::Solving, 0, 1)?;
        solutions += 1;
        let Some(redundant) = workspace.attempt(keys, seed)? else { continue };
        workspace.set_free(|slot| free_row(slot).into());
        workspace.solve(&layout, task.bytes);
        let rate = exact_rate(&shape, task.bytes).value();
        if rate <= task.plan.solution_rate {
            let (seeds, rate) = (vec![seed], Some(rate));
            return Ok(Some(Solved { seeds, redundant, rate, solutions, ..Solved::default() }));
        }
    }
    Ok(None)
}

struct Candidate {
    seed: u8,
    rate: f64,
    redundant: u64,
}

/// The first seed, starting with `from`, whose queues are short enough.
fn promising_seed<B: Band>(
    task: &mut Task<'_, '_, ()>,
    workspaces: &mut [BandingWorkspace<B, ()>],
    from: u8,
) -> Result<u8, Failure> {
    let Task { plan, keys, bytes, progress, .. } = task;
    let Some(limit) = plan.queue_limit else {
        return Ok(from);
    };
    // Every segment is examined under the first seed, even after one has failed: the seed that is
    // taken must not depend on the number of threads.
    let queue_of = |workspace: &mut BandingWorkspace<B, ()>, segment: Segment<'_, ()>| {
        Ok(workspace.longest_queue(segment.keys, from, HOPELESS * plan.shape.width.bits()))
    };
    let queues = for_each_segment(workspaces, &plan.shape, keys, bytes, progress, queue_of)?;
    let longest = queues.into_iter().max().unwrap_or(0);
    if longest <= limit || is_hopeless(longest, plan.shape.width) {
        return Ok(from);
    }
    let end = from.saturating_add(MAX_SCREENED);
    for seed in from.saturating_add(1)..end {
        let screen =
            |workspace: &mut BandingWorkspace<B, ()>, segment: Segment<'_, ()>| match workspace
                .longest_queue(segment.keys, seed, limit)
                <= limit
            {
                true => Ok(()),
                false => Err(Failure::NoSeed),
            };
        match for_each_segment(workspaces, &plan.shape, keys, bytes, progress, screen) {
            Ok(_) => return Ok(seed),
            Err(Failure::NoSeed) => {}
            Err(failure) => return Err(failure),
        }
    }
    Ok(end)
}

/// Solves every segment under one seed and computes the exact rate.
fn solve_all<B: Band>(
    task: &mut Task<'_, '_, ()>,
    workspaces: &mut [BandingWorkspace<B, ()>],
    seed: u8,
) -> Result<Candidate, Failure> {
    let Task { plan, keys, bytes, progress, .. } = task;
    let shape = &plan.shape;
    let solved =
        for_each_segment(workspaces, shape, keys, bytes, progress, |workspace, segment| {
            let redundant = workspace.band(segment.keys, seed)?.unwrap_or(0);
            let free = |slot| free_row(segment.first_slot + slot).into();
            workspace.solve(free, &segment.layout, segment.bytes);
            let rate = SegmentRate { shape, layout: &segment.layout, bytes: segment.bytes };
            Ok((workspace.kernel().run_scalar(rate), redundant))
        })?;
    Ok(Candidate {
        seed,
        rate: solved.iter().fold(Rate::default(), |sum, &(rate, _)| sum.and(rate)).value(),
        redundant: solved.iter().map(|&(_, redundant)| redundant).sum(),
    })
}

/// The exact rate of a finished solution.
pub(crate) fn exact_rate(shape: &Shape, bytes: &[u8]) -> Rate {
    let layout = shape.layout();
    // Segments without a column accept every key. A few bytes can declare more such segments than
    // could be visited one by one, so their weight is computed.
    let without = layout.first_slot_of(layout.without_columns()) / shape.segment_slots.max(1);
    let weight = (u128::from(shape.starts().total_weight()) * u128::from(without)) << 64;
    (without..shape.segments()).fold(Rate::new(weight, weight), |sum, segment| {
        let first_slot = segment * shape.segment_slots;
        let part = layout.part(first_slot, shape.segment_slots);
        let begin = layout.offset(layout.block_of(first_slot));
        let rate = SegmentRate { shape, layout: &part, bytes: &bytes[begin..] };
        sum.and(Kernel::best().run_scalar(rate))
    })
}

/// Computes the exact rate of a solved segment. Slots before the boundary have one column fewer.
pub(crate) struct SegmentRate<'a> {
    pub(crate) shape: &'a Shape,
    pub(crate) layout: &'a Layout,
    pub(crate) bytes: &'a [u8],
}

impl Work for SegmentRate<'_> {
    type Output = Rate;

    /// Correct under any kernel, which only selects the instructions that the compiler may use.
    #[inline(always)]
    fn run<I: Instructions>(self, _: I) -> Rate {
        let Self { shape, layout, bytes } = self;
        let starts = shape.starts();
        let window = u64::from(shape.width.bits()).min(shape.segment_slots);
        let boundary = layout.boundary_slot().min(starts.count());
        let all = layout.columns() as usize;
        let runs =
            [(all - usize::from(boundary > 0), 0, boundary), (all, boundary, starts.count())];
        let rate_of = |(columns, from, to)| {
            let row = |slot| layout.row(bytes, slot, columns);
            let half =
                |slot, words: &mut [u64]| layout.columns_from(bytes, slot, window / 2, words);
            homogeneous_rate(row, half, starts, window, columns, from, to)
        };
        runs.into_iter().map(rate_of).fold(Rate::default(), Rate::and)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::build::{Item, Keys, Partitioned, Resources};
    use crate::plan::{Limits, Settings, Target};
    use crate::progress::Reporter;
    use crate::ribbon::equation::mix;
    use crate::ribbon::width::with_band;
    use crate::{Variant, Width};
    use alloc::vec::Vec;

    /// Runs `work` on a task of `keys` keys and 7.5 columns. Returns its result and the bytes.
    fn with_task<T>(
        width: Width,
        keys: u64,
        kernel: Kernel,
        work: impl FnOnce(&mut Task<'_, '_, ()>) -> T,
    ) -> (T, Vec<u8>) {
        let settings = Settings {
            target: Target::Columns(7.5),
            variant: Some(Variant::Homogeneous),
            width: Some(width),
            ..Settings::default()
        };
        let plan = settings.plan(keys, 0).expect("a plan");
        let items: Vec<Item<u64, ()>> = (0..keys).map(|key| mix(key).into()).collect();
        let progress = &mut Reporter::default();
        let keys = Partitioned::new(items, Group::all(0), 1, progress).expect("memory");
        let keys = Keys::Here(keys);
        let mut bytes = vec![0; plan.size_in_bytes() as usize];
        let resources = Resources::new(kernel, Limits::default());
        let result =
            work(&mut Task { plan: &plan, keys: &keys, bytes: &mut bytes, resources, progress });
        (result, bytes)
    }

    /// Small sets use the elimination by classes, and it yields the same bytes as the banding.
    #[test]
    fn both_ways_give_the_same_bytes() {
        for (width, keys) in [
            (Width::W32, 200),
            (Width::W32, 1000),
            (Width::W64, 65),
            (Width::W64, 1000),
            (Width::W64, 10_000),
            (Width::W128, 1000),
            (Width::W128, 30_000),
        ] {
            for kernel in Kernel::available() {
                let (fast, fast_bytes) = with_task(width, keys, kernel, |task| {
                    assert!(is_small(task));
                    with_elimination!(width, kernel, Zero, solve_small(task), narrow: Ok(None))
                });
                let fast = fast.expect("memory").expect("a good seed");
                let (slow, slow_bytes) = with_task(width, keys, kernel, |task| {
                    with_band!(width, B => {
                        let workspace = BandingWorkspace::<B, ()>::new(&task.plan.shape, kernel);
                        solve_all(task, &mut [workspace.expect("memory")], fast.seeds[0])
                    })
                });
                let slow = slow.expect("memory");
                let context = format_args!("w = {width}, {keys} keys, {}", kernel.name());
                assert_eq!((fast.rate, fast.redundant), (Some(slow.rate), 0), "{context}");
                assert!(fast_bytes == slow_bytes, "{context}");
            }
        }
    }
}
