//! The members of the ribbon family: how each turns keys into a solution.
//!
//! A variant knows equations, bandings and rates; it knows nothing of files. Its work is
//! to choose seeds and to say whether they are good enough.

mod at_once;
mod balanced;
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

use crate::construct::{Goal, Task};
use crate::error::BuildError;
use crate::layers::Codes;
use alloc::vec::Vec;
use core::fmt;

/// A member of the ribbon family.
///
/// | variant | paper | answers | size |
/// |---|---|---|---|
/// | `Standard` | section 3 | fingerprints in a system that is retried until it is solvable | the smallest for small sets; a seed for every segment |
/// | `Balanced` | section 6 | fingerprints; keys that find no room move to a second place | small for large sets: about 0.4 % over the least at width 64 |
/// | `Homogeneous` | section 4 | zero: no fingerprints, never fails | some percent more; the fastest query |
/// | `Bumped` | [its successor] | fingerprints in layers that pass on the keys they cannot hold | the smallest for large sets: 0.06 to 0.23 % above the least at widths 64 and 128 |
///
/// [its successor]: https://arxiv.org/abs/2109.01892
///
/// ```
/// use ribbonfilter::{Filter, Variant};
///
/// let mut builder = Filter::builder().variant(Variant::Homogeneous);
/// builder.extend(0..1000);
/// assert_eq!(builder.finish()?.variant(), Variant::Homogeneous);
/// # Ok::<(), ribbonfilter::BuildError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Variant {
    /// Standard Ribbon: a static function of fingerprints.
    Standard,
    /// Homogeneous Ribbon: a random solution of a homogeneous system.
    Homogeneous,
    /// Balanced Ribbon: fingerprints, and two places for every key.
    Balanced,
    /// Bumped Ribbon (BuRR): overloaded layers, each of which bumps a few keys to the next.
    /// For widths 32, 64 and 128.
    Bumped,
}

impl Variant {
    /// Every variant.
    ///
    /// ```
    /// use ribbonfilter::Variant;
    ///
    /// assert!(Variant::ALL.contains(&Variant::Bumped));
    /// ```
    pub const ALL: &[Self] = &[Self::Standard, Self::Homogeneous, Self::Balanced, Self::Bumped];
}

impl fmt::Display for Variant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Standard => "Standard",
            Self::Homogeneous => "Homogeneous",
            Self::Balanced => "Balanced",
            Self::Bumped => "Bumped",
        })
    }
}

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
