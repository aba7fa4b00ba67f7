//! The members of the ribbon family: how each turns keys into a solution.
//!
//! A variant knows equations, bandings and rates; it knows nothing of files. Its work is
//! to choose seeds and to say whether they are good enough.

mod balanced;
mod batched;
mod bumped;
mod homogeneous;
mod one_by_one;
mod sorted;
mod standard;
mod window;

pub(crate) use balanced::fits as balanced_fits;
pub(crate) use bumped::empty_slots as bumped_empty_slots;
pub(crate) use homogeneous::{SegmentRate, exact_rate};
pub(crate) use standard::Workspace as StandardWorkspace;

use crate::Variant;
use crate::build::{Goal, Task};
use crate::error::BuildError;
use crate::ribbon::layers::Codes;
use alloc::vec::Vec;

/// What a variant found besides the solution.
#[derive(Clone, Debug, Default)]
pub(crate) struct Solved {
    /// The seed of every segment, or the one seed of all.
    pub(crate) seeds: Vec<u8>,
    /// What else a query needs: the bumped buckets of every shard.
    pub(crate) metadata: Vec<u8>,
    /// Equations that said nothing new: duplicates, for the most part.
    pub(crate) redundant: u64,
    /// The exact rate, where it is not the nominal one.
    pub(crate) rate: Option<f64>,
    /// How many times a Homogeneous system was solved.
    pub(crate) solutions: u32,
    /// What the buckets of a Bumped ribbon bump.
    pub(crate) codes: Codes,
}

/// Why a variant could not go on.
#[derive(Debug)]
pub(crate) enum Failure {
    /// No seed is good for these slots.
    NoSeed,
    /// The keys are so unevenly spread that they need so many bytes of memory, more than
    /// there may be.
    Crowded { needed: u64 },
    /// Nothing that more slots would mend.
    Fatal(BuildError),
}

impl<E: Into<BuildError>> From<E> for Failure {
    fn from(error: E) -> Self {
        Self::Fatal(error.into())
    }
}

/// Solves the task of a filter, writing the solution to its bytes.
pub(crate) fn solve_filter(task: &mut Task<'_, '_, ()>) -> Result<Solved, Failure> {
    match task.plan.shape.variant {
        Variant::Homogeneous => homogeneous::solve(task),
        _ => solve::<u32>(task),
    }
}

/// The same for a function.
pub(crate) fn solve_function(task: &mut Task<'_, '_, u64>) -> Result<Solved, Failure> {
    solve::<u64>(task)
}

/// Solves a system in which the slots of each key sum to something.
fn solve<R: Goal>(task: &mut Task<'_, '_, R::Value>) -> Result<Solved, Failure> {
    match task.plan.shape.variant {
        Variant::Standard => standard::solve::<R>(task),
        Variant::Balanced => balanced::solve::<R>(task),
        Variant::Bumped => bumped::solve::<R>(task),
        Variant::Homogeneous => {
            Err(BuildError::NotForFunctions { variant: Variant::Homogeneous }.into())
        }
    }
}
