//! Standard Ribbon (paper, section 3): fingerprints, and another seed when it fails.
//!
//! Every segment is a system of its own with a seed of its own, so a failure costs one
//! segment's work and the overhead does not grow with the number of keys. Seeds are tried
//! in order, 0 first, and the lowest that works is taken: the bytes are a function of the
//! keys alone. A seed is banded only if the longest queue of its starts is short enough.

use super::{Failure, Solved};
use crate::back_substitution;
use crate::banding::{Banding, Insertion};
use crate::construct::{Screen, Task};
use crate::equation::seeded;
use crate::plan::Plan;
use crate::progress::Phase;
use crate::width::{Band, with_band};
use alloc::vec::Vec;

/// A queue of this many widths tells of duplicates or of skewed hashes, not of bad luck …
const HOPELESS_WIDTHS: u32 = 4;
/// … and after so many of them no other seed is tried.
const HOPELESS_SEEDS: u32 = 4;

pub(super) fn solve(task: &mut Task<'_, '_>) -> Result<Solved, Failure> {
    with_band!(task.plan.shape.width, B => solve_segments::<B>(task))
}

fn solve_segments<B: Band>(task: &mut Task<'_, '_>) -> Result<Solved, Failure> {
    let shape = task.plan.shape;
    let mut system = System::<B> {
        plan: task.plan,
        banding: Banding::new(shape.segment_slots as usize)?,
        screen: Screen::new(&shape)?,
    };
    let mut solved = Solved {
        seeds: Vec::new(),
        ..Solved::default()
    };
    for segment in 0..shape.segments() {
        task.progress
            .report(Phase::Solving, segment, shape.segments())?;
        let (seed, redundant) = system
            .first_seed(task.keys.segment(segment))
            .ok_or(Failure::NoSeed)?;
        solved.seeds.push(seed);
        solved.redundant += redundant;
        let first_slot = segment * shape.segment_slots;
        // A free variable may be anything; zero serves any number of columns.
        back_substitution::solve(&system.banding, |_| 0, &task.layout, first_slot, task.bytes);
    }
    Ok(solved)
}

struct System<'a, B> {
    plan: &'a Plan,
    banding: Banding<B, u32>,
    screen: Screen,
}

impl<B: Band> System<'_, B> {
    /// The lowest seed whose system is solvable, and the number of redundant keys; leaves
    /// that system in the banding.
    fn first_seed(&mut self, keys: &[u64]) -> Option<(u8, u64)> {
        let mut hopeless = 0;
        for seed in 0..=u8::MAX {
            if let Some(limit) = self.plan.queue_limit {
                let queue = self.screen.longest_queue(keys, seed);
                hopeless += u32::from(queue >= HOPELESS_WIDTHS * B::WIDTH.bits());
                if hopeless == HOPELESS_SEEDS {
                    return None;
                }
                if queue > limit {
                    continue;
                }
            }
            if let Some(redundant) = self.band(keys, seed) {
                return Some((seed, redundant));
            }
        }
        None
    }

    /// Inserts all keys; the number of redundant ones, or nothing if one is inconsistent.
    fn band(&mut self, keys: &[u64], seed: u8) -> Option<u64> {
        let shape = &self.plan.shape;
        let starts = shape.starts();
        let mut redundant = 0;
        self.banding.clear();
        for &key in keys {
            let hash = seeded(key, shape.segment_bits, seed);
            let start = starts.start(hash) as usize;
            match self
                .banding
                .insert(start, starts.coefficients(hash), hash.fingerprint())
            {
                Insertion::At(_) => {}
                Insertion::Redundant => redundant += 1,
                Insertion::Inconsistent => return None,
            }
        }
        Some(redundant)
    }
}
