//! Homogeneous Ribbon (paper, section 4): no fingerprints, no failure.
//!
//! Every equation is `c * Z = 0`, so a system always has a solution, and the free
//! variables are set to pseudo-random rows lest it be the zero one. What varies is the
//! rate: a stretch with too many keys leaves rows that say yes to everything. So a seed
//! is screened by the queue of its starts, and the exact rate of the solution it gives is
//! computed; if that is above the plan, the next seed is tried. After
//! [`MAX_SOLUTIONS`] solutions the best of them is taken, and its rate is the one that the
//! filter reports. One seed serves all segments, so a query need not look it up.

use super::{Failure, Solved};
use crate::back_substitution;
use crate::banding::{Banding, Insertion};
use crate::construct::{Screen, Task};
use crate::equation::{free_row, seeded};
use crate::layout::Layout;
use crate::progress::Phase;
use crate::rate::{Rate, homogeneous_rate};
use crate::shape::Shape;
use crate::width::{Band, with_band};
use alloc::vec;

/// Solutions that are tried before the best of them is taken.
const MAX_SOLUTIONS: u32 = 16;
/// Seeds that are screened for one solution; if all fail, the one with the shortest queue
/// is solved.
const MAX_SCREENED: u8 = 64;

pub(super) fn solve(task: &mut Task<'_, '_>) -> Result<Solved, Failure> {
    with_band!(task.plan.shape.width, B => choose_seed::<B>(task))
}

fn choose_seed<B: Band>(task: &mut Task<'_, '_>) -> Result<Solved, Failure> {
    let shape = task.plan.shape;
    let mut banding = Banding::<B, ()>::new(shape.segment_slots as usize)?;
    let mut screen = Screen::new(&shape)?;
    let mut best = Candidate {
        seed: 0,
        rate: f64::INFINITY,
        redundant: 0,
    };
    let mut last = None;
    let mut next = Some(0);
    for _ in 0..MAX_SOLUTIONS {
        let Some(seed) = next.and_then(|from| promising_seed(task, &mut screen, from)) else {
            break;
        };
        let candidate = solve_all(task, &mut banding, seed)?;
        last = Some(seed);
        if candidate.rate < best.rate {
            best = candidate;
        }
        if best.rate <= task.plan.expected_rate {
            break;
        }
        next = seed.checked_add(1);
    }
    if last != Some(best.seed) {
        best = solve_all(task, &mut banding, best.seed)?;
    }
    Ok(Solved {
        seeds: vec![best.seed],
        redundant: best.redundant,
        rate: Some(best.rate),
    })
}

struct Candidate {
    seed: u8,
    rate: f64,
    redundant: u64,
}

/// The first seed from `from` on whose queues are short enough; of [`MAX_SCREENED`] that
/// are not, the best.
fn promising_seed(task: &Task<'_, '_>, screen: &mut Screen, from: u8) -> Option<u8> {
    let Some(limit) = task.plan.queue_limit else {
        return Some(from);
    };
    let mut shortest = None;
    for seed in from..=from.saturating_add(MAX_SCREENED - 1) {
        let segments = 0..task.plan.shape.segments();
        let queue = segments
            .map(|segment| screen.longest_queue(task.keys.segment(segment), seed))
            .max()?;
        if queue <= limit {
            return Some(seed);
        }
        if shortest.is_none_or(|(least, _)| queue < least) {
            shortest = Some((queue, seed));
        }
    }
    shortest.map(|(_, seed)| seed)
}

/// Solves every segment under one seed and computes the exact rate.
fn solve_all<B: Band>(
    task: &mut Task<'_, '_>,
    banding: &mut Banding<B, ()>,
    seed: u8,
) -> Result<Candidate, Failure> {
    let shape = task.plan.shape;
    let mut rate = Rate::default();
    let mut redundant = 0;
    for segment in 0..shape.segments() {
        task.progress
            .report(Phase::Solving, segment, shape.segments())?;
        redundant += band(task.keys.segment(segment), seed, &shape, banding);
        let first_slot = segment * shape.segment_slots;
        back_substitution::solve(banding, free_row, &task.layout, first_slot, task.bytes);
        rate = rate.and(segment_rate(&shape, &task.layout, task.bytes, first_slot));
    }
    Ok(Candidate {
        seed,
        rate: rate.value(),
        redundant,
    })
}

/// Inserts all keys; the number of redundant ones.
fn band<B: Band>(keys: &[u64], seed: u8, shape: &Shape, banding: &mut Banding<B, ()>) -> u64 {
    let starts = shape.starts();
    banding.clear();
    let inserted = keys.iter().map(|&key| {
        let hash = seeded(key, shape.segment_bits, seed);
        banding.insert(starts.start(hash) as usize, starts.coefficients(hash), ())
    });
    inserted
        .filter(|&insertion| insertion == Insertion::Redundant)
        .count() as u64
}

/// The exact rate of a solved segment: before the boundary with a column fewer.
pub(crate) fn segment_rate(shape: &Shape, layout: &Layout, bytes: &[u8], first_slot: u64) -> Rate {
    let starts = shape.starts();
    let window = u64::from(shape.width.bits()).min(shape.segment_slots);
    let boundary = layout
        .boundary_slot()
        .saturating_sub(first_slot)
        .min(starts.count());
    let all = layout.columns() as usize;
    let part = |columns, from, to| {
        let row = |slot| layout.row(bytes, first_slot + slot, columns);
        homogeneous_rate(row, starts, window, columns, from, to)
    };
    match boundary {
        0 => part(all, 0, starts.count()),
        _ => part(all - 1, 0, boundary).and(part(all, boundary, starts.count())),
    }
}
