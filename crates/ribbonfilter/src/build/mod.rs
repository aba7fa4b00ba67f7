//! Turns key hashes into the bytes of a filter, or key hashes and values into those of a function.
//!
//! The hashes are partitioned by segment. The variant finds seeds and solves one segment after
//! another, directly into the output bytes, and the footer completes them. Two events restart the
//! work. If the fraction of duplicates is high enough to waste space, they are removed and the
//! distinct keys are planned again. If no seed works for the planned slots, the plan gets more
//! slots (by the paper's factor (w + 1) / w, at most [`MAX_GROWTH`] times).

mod budget;
pub(crate) mod collect;
mod contradiction;
mod group;
mod grouped;
mod item;
mod keys;
mod ordered;
mod partition;
mod screen;
mod spill;
mod store;
#[cfg(feature = "parallel")]
mod threads;
pub(crate) mod variant;
mod workers;
mod workspace;

pub(crate) use contradiction::is_among as contradiction_among;
pub(crate) use group::Group;
pub(crate) use grouped::Grouped;
pub(crate) use item::{Goal, Item, Value, Zero};
pub(crate) use keys::Keys;
pub(crate) use ordered::Ordered;
pub(crate) use partition::Partitioned;
pub(crate) use store::Store;
pub(crate) use workers::{Segment, Workers, each, each_group, places};
pub(crate) use workspace::Workspace;

use budget::Budget;
#[cfg(feature = "std")]
use partition::order_in_place;
pub(crate) use screen::Screen;
use spill::{Directory, Spill};

use crate::Variant;
use crate::build::variant::{Failure, Solved};
use crate::error::{BuildError, OutOfMemory};
use crate::format::{self, Footer, Metadata};
use crate::kernel::Kernel;
use crate::plan::{Limits, Plan, Schedule, Settings};
use crate::progress::{Phase, Reporter};
use crate::ribbon::width::Band;
use crate::storage::bytes::OwnedBytes;
use alloc::vec::Vec;

/// How many times the number of slots is increased before construction fails.
pub(crate) const MAX_GROWTH: u32 = 16;

/// One key in this many may be a duplicate. Above that fraction, duplicates are removed and the
/// distinct keys are planned again.
const DUPLICATE_SHARE: u64 = 1024;

/// The input and output of a variant's construction.
pub(crate) struct Task<'a, 'p, V: Value> {
    pub(crate) plan: &'a Plan,
    pub(crate) keys: &'a Keys<'a, V>,
    pub(crate) bytes: &'a mut [u8],
    pub(crate) resources: Resources,
    pub(crate) progress: &'a mut Reporter<'p>,
}

impl<V: Value> Task<'_, '_, V> {
    /// Runs `job` on every segment and returns the results in segment order.
    pub(crate) fn each<B: Band, R: Goal<Value = V>, T: Send>(
        &mut self,
        workers: &mut Workers<B, R>,
        job: impl Fn(&mut Workspace<B, R>, Segment<'_, V>) -> Result<T, Failure> + Sync,
    ) -> Result<Vec<T>, Failure> {
        workers.each(&self.plan.shape, self.keys, self.bytes, self.progress, job)
    }

    /// Whether `is` holds for the keys of any segment.
    pub(crate) fn any_segment(
        &self,
        mut is: impl FnMut(&[Item<u64, V>]) -> Result<bool, BuildError>,
    ) -> Result<bool, BuildError> {
        let group_bits = self.keys.group_bits();
        for number in 0..1 << group_bits {
            let group = Group::new(self.plan.shape.segment_bits, group_bits, number);
            let keys = self.keys.group(group)?;
            for segment in group.segments() {
                if is(keys.segment(segment))? {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    /// One workspace per thread.
    pub(crate) fn workers<B: Band, R: Goal<Value = V>>(
        &self,
    ) -> Result<Workers<B, R>, OutOfMemory> {
        Workers::new(&self.plan.shape, self.resources.kernel, self.resources.threads())
    }
}

/// The resources that a build may use. They have no influence on the bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Resources {
    pub(crate) kernel: Kernel,
    pub(crate) limits: Limits,
    /// The maximum number of keys that a layer or level may bump, and the number of bytes to report
    /// as needed if one bumps more.
    bumped: (u64, u64),
}

impl Resources {
    pub(crate) fn new(kernel: Kernel, limits: Limits) -> Self {
        Self { kernel, limits, bumped: (u64::MAX, 0) }
    }

    pub(crate) fn threads(&self) -> usize {
        usize::try_from(self.limits.threads).unwrap_or(usize::MAX)
    }

    /// The same resources with the given number of threads.
    pub(crate) fn with_threads(self, threads: usize) -> Self {
        Self { limits: Limits { threads: threads as u64, ..self.limits }, ..self }
    }

    /// The resources that a spilling build uses, or [`Failure::Crowded`] if they do not suffice.
    fn on_schedule(self, plan: &Plan, schedule: Schedule) -> Result<Self, Failure> {
        if schedule.peak > self.limits.max_memory {
            return Err(Failure::Crowded { needed: schedule.peak });
        }
        let max = plan.bumped_keys();
        Ok(Self {
            limits: Limits { threads: schedule.threads, ..self.limits },
            // Random hashes stay far below this maximum.
            bumped: (max + max / 2 + 1024, schedule.peak + 3 * 8 * plan.keys()),
            ..self
        })
    }

    /// The budget for the keys that a layer or level bumps.
    pub(crate) fn budget_for_bumped(&self) -> Budget {
        let (max, needed) = self.bumped;
        Budget::new(max, needed)
    }
}

/// Builds a filter from mixed key hashes, or a function from mixed key hashes and values.
pub(crate) fn build<V: Value>(
    store: &mut Store<V>,
    settings: &Settings,
    resources: Resources,
    progress: &mut Reporter<'_>,
) -> Result<OwnedBytes, BuildError> {
    let mut distinct = false;
    let mut growth = 0;
    loop {
        let plan = settings.plan(store.len(), growth)?.with_limits(resources.limits);
        plan.check_memory()?;
        let few = plan.keys() / DUPLICATE_SHARE + plan.expected_redundant;
        let attempt = store.with_keys(&plan, resources, progress, |keys, resources, progress| {
            attempt(&plan, keys, settings.key_seed, resources, progress)
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

/// Solves the plan once. Returns the finished bytes and the number of redundant keys.
fn attempt<V: Value>(
    plan: &Plan,
    keys: &Keys<'_, V>,
    key_seed: u64,
    resources: Resources,
    progress: &mut Reporter<'_>,
) -> Result<(OwnedBytes, u64), Failure> {
    let mut bytes = OwnedBytes::zeroed(plan.size_in_bytes() as usize)?;
    let solved = match plan.keys() {
        0 => Solved::default(),
        _ => V::solve(&mut Task { plan, keys, bytes: bytes.as_mut(), resources, progress })?,
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
