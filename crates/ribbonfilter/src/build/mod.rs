//! Turns key hashes into the bytes of a filter, or key hashes and values into those of a function.
//!
//! The hashes are partitioned by segment. The variant finds seeds and solves one segment after
//! another, directly into the output bytes, and the footer completes them. Two events restart the
//! work. If the fraction of duplicates is high enough to waste space, they are removed and the
//! distinct keys are planned again. If no seed works for the planned slots, the plan gets more
//! slots (by the paper's factor (w + 1) / w, or more in the last layer of a Bumped ribbon, at most
//! [`MAX_GROWTH`] times).

pub(crate) mod collect;
mod contradiction;
mod group;
mod item;
mod options;
mod ordered;
mod parallel;
mod partition;
mod resources;
mod segments;
mod spill;
mod store;
pub(crate) mod variant;

pub(crate) use contradiction::is_among as contradiction_among;
pub(crate) use group::Group;
pub(crate) use item::Item;
pub use options::BuildOptions;
pub(crate) use options::option_methods;
pub(crate) use ordered::Ordered;
pub(crate) use parallel::for_each;
pub(crate) use partition::Partitioned;
pub(crate) use resources::Resources;
pub(crate) use segments::{Segment, for_each_segment, segments, workspaces};
pub(crate) use store::{Keys, Store};

#[cfg(feature = "std")]
use partition::order_in_place;
use spill::{Directory, Spill};

use crate::Variant;
use crate::build::variant::{Failure, Solved};
use crate::error::BuildError;
use crate::format::{self, Footer, Metadata};
use crate::plan::{Plan, Settings};
use crate::progress::{Phase, Reporter};
pub(crate) use crate::solve::right_side::Value;
use crate::storage::bytes::OwnedBytes;

/// How many times the number of slots is increased before construction fails.
pub(crate) const MAX_GROWTH: u32 = 16;

/// One key in this many may be a duplicate. Above that fraction, duplicates are removed and the
/// distinct keys are planned again.
const KEYS_PER_DUPLICATE: u64 = 1024;

/// The input and output of a variant's construction.
pub(crate) struct Task<'a, 'p, V: Value> {
    pub(crate) plan: &'a Plan,
    pub(crate) keys: &'a Keys<'a, V>,
    pub(crate) bytes: &'a mut [u8],
    pub(crate) resources: Resources,
    pub(crate) progress: &'a mut Reporter<'p>,
}

/// Solves a task with the variant of its plan: [`variant::solve_filter`] or
/// [`variant::solve_function`].
pub(crate) type Solver<V> = fn(&mut Task<'_, '_, V>) -> Result<Solved, Failure>;

/// Builds a filter from mixed key hashes, or a function from mixed key hashes and values.
pub(crate) fn build<V: Value>(
    store: &mut Store<V>,
    settings: &Settings,
    solve: Solver<V>,
    resources: Resources,
    progress: &mut Reporter<'_>,
) -> Result<OwnedBytes, BuildError> {
    let mut distinct = false;
    let mut growth = 0;
    loop {
        let plan = settings.plan(store.len(), growth)?.with_limits(resources.limits);
        plan.check_memory()?;
        let few = plan.keys() / KEYS_PER_DUPLICATE + plan.expected_redundant;
        let attempt = store.with_keys(&plan, resources, progress, |keys, resources, progress| {
            attempt(&plan, keys, settings.key_seed, solve, resources, progress)
        });
        match attempt {
            Ok((bytes, redundant)) => {
                let kept = bytes.as_ref().len();
                if distinct || redundant <= few || store.remove_duplicates(kept, &resources)? == 0 {
                    return Ok(bytes);
                }
                growth = 0;
            }
            Err(Failure::Fatal(error)) => return Err(error),
            Err(Failure::NoSeed) => {
                if !distinct && store.remove_duplicates(0, &resources)? > 0 {
                    growth = 0;
                } else if growth < MAX_GROWTH {
                    growth += 1;
                } else {
                    return Err(BuildError::Unsolvable { keys: plan.keys(), slots: plan.slots() });
                }
            }
            // Duplicates may have caused this, so they are removed, as with many redundant keys. If
            // at most `few` were removed, a build with more memory would have kept them. The bytes
            // must not depend on the memory limit, so this build fails.
            Err(Failure::Crowded { needed }) => {
                if distinct || store.remove_duplicates(0, &resources)? <= few {
                    let limit = resources.limits.max_memory;
                    return Err(BuildError::MemoryLimit { needed, limit });
                }
                growth = 0;
            }
        }
        distinct = true;
    }
}

/// Solves the plan once, into new bytes. Returns them and the number of redundant keys.
fn attempt<V: Value>(
    plan: &Plan,
    keys: &Keys<'_, V>,
    key_seed: u64,
    solve: Solver<V>,
    resources: Resources,
    progress: &mut Reporter<'_>,
) -> Result<(OwnedBytes, u64), Failure> {
    let mut bytes = OwnedBytes::allocate(plan.size_in_bytes())?;
    let solved = match plan.keys() {
        0 => Solved::default(),
        _ => solve(&mut Task { plan, keys, bytes: bytes.as_mut(), resources, progress })?,
    };
    complete(bytes.as_mut(), plan, key_seed, &solved);
    progress.report(Phase::Solving, plan.shape.segments(), plan.shape.segments())?;
    Ok((bytes, solved.redundant))
}

/// Writes metadata and footer after the solution, and returns the footer.
pub(crate) fn complete(bytes: &mut [u8], plan: &Plan, key_seed: u64, solved: &Solved) -> Footer {
    let footer = footer(plan, key_seed, solved);
    let metadata = match plan.shape.variant {
        Variant::Bumped => Metadata::Codes(&solved.codes),
        _ if plan.shape.segment_seeds() => Metadata::Bytes(&solved.seeds),
        _ => Metadata::Bytes(&solved.metadata),
    };
    format::finish(bytes, &footer, &metadata);
    footer
}

/// The footer of a solved system.
pub(crate) fn footer(plan: &Plan, key_seed: u64, solved: &Solved) -> Footer {
    let seed = if plan.shape.segment_seeds() { None } else { solved.seeds.first() };
    let mut footer = Footer::EMPTY.with_rate(solved.rate);
    (footer.shape, footer.content) = (plan.shape, plan.content);
    (footer.keys, footer.key_seed) = (plan.keys(), key_seed);
    footer.seed = seed.copied().unwrap_or(0);
    footer
}
