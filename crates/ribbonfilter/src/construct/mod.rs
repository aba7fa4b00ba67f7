//! From key hashes to the bytes of a filter, or with values to those of a function.
//!
//! The hashes are partitioned by segment; the variant finds seeds and solves segment by
//! segment, straight into the bytes; the fixed part closes them. Two things can send the
//! work back to the start: a share of duplicates that would waste space, after which the
//! distinct keys are planned anew, and slots that no seed can use, after which there are
//! more of them (by the paper's factor (w + 1) / w, [`MAX_GROWTH`] times at most).

mod contradiction;
mod crew;
mod item;
mod ordered;
mod partition;
mod screen;
mod shelves;
mod workspace;

pub(crate) use contradiction::is_among as contradiction_among;
pub(crate) use crew::{Crew, Segment, each, segments};
pub(crate) use item::{Goal, Item, Value};
pub(crate) use ordered::Ordered;
pub(crate) use partition::Partitioned;
pub(crate) use shelves::Shelves;
pub(crate) use workspace::Workspace;

use screen::Screen;

use crate::arch::Kernel;
use crate::bytes::OwnedBytes;
use crate::error::{BuildError, OutOfMemory};
use crate::format::{self, Header};
use crate::plan::{Plan, Settings};
use crate::progress::{Phase, Reporter};
use crate::variant::{Failure, Solved};
use crate::width::Band;
use alloc::borrow::Cow;
use alloc::vec::Vec;

/// How often the slots are increased before construction gives up.
pub(crate) const MAX_GROWTH: u32 = 16;

/// Of so many keys one may be a duplicate; with more, duplicates are removed and the
/// distinct keys are planned anew.
const DUPLICATE_SHARE: u64 = 1024;

/// What a variant works on.
pub(crate) struct Task<'a, 'p, V: Value> {
    pub(crate) plan: &'a Plan,
    pub(crate) keys: &'a Partitioned<'a, V>,
    pub(crate) bytes: &'a mut [u8],
    pub(crate) resources: Resources,
    pub(crate) progress: &'a mut Reporter<'p>,
}

impl<'p, V: Value> Task<'_, 'p, V> {
    /// The segments, each with its keys and bytes, and whom to tell about them.
    pub(crate) fn segments_and_progress(
        &mut self,
    ) -> (impl Iterator<Item = Segment<'_, V>> + Send, &mut Reporter<'p>) {
        (segments(&self.plan.shape, self.keys, self.bytes), self.progress)
    }

    /// Threads with room to work in.
    pub(crate) fn crew<B: Band, R: Goal<Value = V>>(&self) -> Result<Crew<B, R>, OutOfMemory> {
        Crew::new(&self.plan.shape, self.resources.kernel, self.resources.threads)
    }
}

/// What may be used for a build; it has no influence on the bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Resources {
    pub(crate) kernel: Kernel,
    pub(crate) threads: usize,
    /// The most bytes that the build may take.
    pub(crate) max_memory: u64,
}

/// Builds a filter from mixed key hashes, or a function from these and rows of bits.
pub(crate) fn build<V: Value>(
    mut items: Vec<Item<u64, V>>,
    settings: &Settings,
    resources: Resources,
    progress: &mut Reporter<'_>,
) -> Result<OwnedBytes, BuildError> {
    let mut distinct = false;
    let mut growth = 0;
    loop {
        let plan = settings.plan(items.len() as u64, growth)?.on_threads(resources.threads);
        plan.check_memory(resources.max_memory)?;
        let given: Cow<'_, [_]> = match V::CONTRADICTS {
            true => (&items).into(),
            false => core::mem::take(&mut items).into(),
        };
        let keys = Partitioned::new(given, plan.shape.segment_bits, resources.threads, progress)?;
        let attempt = attempt(&plan, &keys, settings.key_seed, resources, progress);
        let ordered = keys.into_items();
        match V::CONTRADICTS {
            true => drop(ordered),
            false => items = ordered.into_owned(),
        }
        match attempt {
            Ok((bytes, redundant)) => {
                let few = redundant <= plan.keys() / DUPLICATE_SHARE + plan.expected_redundant;
                if distinct || few || !remove_duplicates(&mut items)? {
                    return Ok(bytes);
                }
                distinct = true;
                growth = 0;
            }
            Err(Failure::Fatal(error)) => return Err(error),
            Err(Failure::NoSeed) => {
                if !distinct && remove_duplicates(&mut items)? {
                    growth = 0;
                } else if growth < MAX_GROWTH {
                    growth += 1;
                } else {
                    return Err(BuildError::Unsolvable { keys: plan.keys(), slots: plan.slots() });
                }
                distinct = true;
            }
        }
    }
}

/// Solves the plan once; the finished bytes and the number of redundant keys.
fn attempt<V: Value>(
    plan: &Plan,
    keys: &Partitioned<'_, V>,
    key_seed: u64,
    resources: Resources,
    progress: &mut Reporter<'_>,
) -> Result<(OwnedBytes, u64), Failure> {
    let mut bytes = OwnedBytes::zeroed(plan.size_in_bytes() as usize)?;
    let solved = match plan.keys() {
        0 => Solved::default(),
        _ => V::solve(&mut Task { plan, keys, bytes: bytes.as_mut(), resources, progress })?,
    };
    let header = Header::new(plan, key_seed, &solved);
    format::finish(bytes.as_mut(), &header, &solved);
    progress.report(Phase::Solving, plan.shape.segments(), plan.shape.segments())?;
    Ok((bytes, solved.redundant))
}

/// Leaves each item once; whether any was removed. Refuses items that contradict each other.
fn remove_duplicates<V: Value>(items: &mut Vec<Item<u64, V>>) -> Result<bool, BuildError> {
    contradiction::refuse(items)?;
    let before = items.len();
    items.sort_unstable();
    items.dedup();
    Ok(items.len() < before)
}
