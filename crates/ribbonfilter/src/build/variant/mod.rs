//! The variants of the ribbon family: how each turns keys into a solution.
//!
//! A variant deals with equations, bandings and rates, not with files. It chooses seeds and decides
//! whether they are good enough.

mod balanced;
mod banding_workspace;
mod bumped;
mod homogeneous;
mod screen;
mod sorted;
mod standard;
pub(crate) mod system;
mod window;

#[cfg(any(test, feature = "internals"))]
pub(crate) use balanced::fits as balanced_fits;
pub(crate) use banding_workspace::BandingWorkspace;
#[cfg(any(test, feature = "internals"))]
pub(crate) use bumped::empty_slots as bumped_empty_slots;
#[cfg(any(test, feature = "internals"))]
pub(crate) use homogeneous::SegmentRate;
pub(crate) use homogeneous::exact_rate;
pub(crate) use standard::Workspace as StandardWorkspace;

use crate::Variant;
use crate::build::Task;
use crate::error::BuildError;
use crate::ribbon::layers::Codes;
use crate::ribbon::width::COMPACT;
use crate::solve::right_side::RightSide;
use alloc::vec::Vec;

/// What a variant returns in addition to the solution.
#[derive(Clone, Debug, Default)]
pub(crate) struct Solved {
    /// The seed of every segment, or the one seed of all.
    pub(crate) seeds: Vec<u8>,
    /// Other metadata that a query needs: the bumped buckets of every shard.
    pub(crate) metadata: Vec<u8>,
    /// Number of equations that are linear combinations of others: duplicates, for the most part.
    pub(crate) redundant: u64,
    /// The exact false-positive rate, where it is not the nominal one.
    pub(crate) rate: Option<f64>,
    /// How many times a Homogeneous system was solved.
    #[cfg_attr(
        not(any(test, feature = "internals")),
        expect(dead_code, reason = "for `simulate`")
    )]
    pub(crate) solutions: u32,
    /// Which keys the buckets of a Bumped ribbon bump.
    pub(crate) codes: Codes,
}

/// Why a variant failed.
#[derive(Debug)]
pub(crate) enum Failure {
    /// No seed works for these slots.
    NoSeed,
    /// The keys are so unevenly distributed that they need `needed` bytes of memory, which is above
    /// the limit.
    Crowded { needed: u64 },
    /// An error that more slots would not fix.
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

/// Solves the task of a function, writing the solution to its bytes.
pub(crate) fn solve_function(task: &mut Task<'_, '_, u64>) -> Result<Solved, Failure> {
    solve::<u64>(task)
}

/// Solves a system whose right-hand sides are fingerprints or values.
fn solve<R: RightSide>(task: &mut Task<'_, '_, R::Value>) -> Result<Solved, Failure> {
    match task.plan.shape.variant {
        Variant::Standard => standard::solve::<R>(task),
        // Never planned by default; the code would be a seventh of all in WebAssembly.
        variant @ Variant::Balanced if COMPACT => Err(BuildError::NotBuiltHere { variant }.into()),
        Variant::Balanced => balanced::solve::<R>(task),
        Variant::Bumped => bumped::solve::<R>(task),
        Variant::Homogeneous => {
            Err(BuildError::NotForFunctions { variant: Variant::Homogeneous }.into())
        }
    }
}
