//! Turns key hashes into the bytes of a filter, or key hashes and values into those of a map.
//!
//! ```text
//! Store ── take ──> slabs ── arrange ──> items by segment ──┐
//!                                                           ├─ for each segment, on any thread:
//! Sorted: keys by start ── bump ──> keys that stay ── solve ┘   bytes, codes, bumped keys
//! bumped keys ── arrange, sort, solve ──> the second system
//! ```
//!
//! The seed is the lowest one with which a system has a solution and bumps no more keys than
//! planned. Two events restart the work. If duplicates would waste space, or no
//! seed works, duplicates are removed and the distinct keys are planned again. If no seed works for
//! these, the plan gets more slots, at most [`MAX_GROWTH`] times.

mod arranged;
mod bumping;
pub(crate) mod collect;
mod contradiction;
mod equations;
mod item;
mod layer;
mod options;
pub(crate) mod parallel;
mod partition;
mod pieces;
mod segments;
mod sorted;
pub(crate) mod spill;
mod spilled;
mod store;
mod stored;

pub(crate) use arranged::{Arranged, Reserve};
pub(crate) use item::{Item, Value};
pub(crate) use layer::Layer;
pub use options::BuildOptions;
pub(crate) use options::option_methods;
pub(crate) use store::{Slabs, Store};

use crate::error::BuildError;
use crate::format::{Content, Footer};
use crate::kernel::Kernel;
use crate::plan::{Limits, Plan, Settings};
use crate::progress::{Phase, Reporter};
use crate::ribbon::bucket::bumped_fractions;
use crate::storage::bytes::OwnedBytes;
use alloc::vec;
use alloc::vec::Vec;
use segments::{Failure, Outcome, Output, Worker, solve_segments};
use spilled::solve_spilled;
use store::Taken;

/// How many times the number of slots is increased before construction fails.
const MAX_GROWTH: u32 = 16;

/// One key in this many may be a duplicate. Above that fraction, duplicates are removed and the
/// distinct keys are planned again.
const KEYS_PER_DUPLICATE: u64 = 1024;

/// The number of seeds that are tried before duplicates are looked for, which can make every seed
/// fail.
const EARLY_SEEDS: u32 = 8;

/// What a build may use. None of it has an influence on the bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Resources {
    pub(crate) kernel: Kernel,
    pub(crate) limits: Limits,
}

impl Resources {
    pub(crate) fn threads(&self) -> usize {
        usize::try_from(self.limits.threads).unwrap_or(usize::MAX)
    }

    /// A worker for each thread that a layer can use.
    fn workers<V: Value>(&self, layer: &Layer) -> Vec<Worker<V>> {
        let segments = usize::try_from(layer.system.segments()).unwrap_or(usize::MAX);
        let threads = self.threads().min(segments).max(1);
        (0..threads).map(|_| Worker::new(self.kernel)).collect()
    }
}

/// Builds from all keys of a store, which is empty afterwards.
pub(crate) fn build<V: Value>(
    store: &mut Store<V>,
    settings: &Settings,
    resources: Resources,
    progress: &mut Reporter<'_>,
) -> Result<OwnedBytes, BuildError> {
    let plan = Task { settings, resources }.plan(store.len(), 0)?;
    let resources = Resources { limits: plan.limits(), ..resources };
    let task = Task { settings, resources };
    let fatal = |failure| match failure {
        Failure::Fatal(error) => error,
        // Two keys have the same mixed hash and different values, or no seed was left.
        Failure::NoSolution | Failure::Contradiction => {
            BuildError::Unsolvable { keys: plan.keys(), slots: plan.slots() }
        }
    };
    match store.take(plan.spilling())? {
        Taken::Spilled(spill) => task.build(&mut Items::Spilled(spill), progress).map_err(fatal),
        Taken::Here(mut slabs) => {
            // So that an error can name the positions of values that contradict each other, the
            // items of a map stay where they were pushed, and a copy is arranged.
            let kept = match Item::<V>::CAN_CONTRADICT {
                true => Store::copied(&slabs)?,
                false => Vec::new(),
            };
            let threads = resources.threads();
            let mut reserve = Reserve::new(plan.segments() as usize, threads)?;
            let mut items = Items::Here(Arranged::new(&mut slabs, &mut reserve));
            let built = task.build(&mut items, progress);
            if let Err(Failure::Contradiction) = built {
                contradiction::refuse(&kept)?;
            }
            drop(items);
            store.reuse(slabs);
            built.map_err(fatal)
        }
    }
}

/// The items of a build.
enum Items<'s, V> {
    Here(Arranged<'s, V>),
    Spilled(spill::Spill<V>),
}

impl<V: Value> Items<'_, V> {
    /// Solves a layer of all items.
    fn solve(
        &mut self,
        plan: &Plan,
        layer: &Layer,
        workers: &mut [Worker<V>],
        output: &mut Output<'_>,
        progress: &mut Reporter<'_>,
    ) -> Result<Outcome<V>, Failure> {
        match self {
            Self::Spilled(spill) => solve_spilled(spill, plan, layer, workers, output, progress),
            Self::Here(arranged) => {
                let segments = 0..layer.system.segments();
                arranged.arrange(layer, segments.clone(), progress)?;
                solve_segments(workers, layer, (segments, arranged), output, progress)
            }
        }
    }

    /// Removes duplicates. Returns the number of items that are left.
    fn remove_duplicates(&mut self) -> Result<u64, BuildError> {
        match self {
            Self::Here(arranged) => Ok(arranged.remove_duplicates()?),
            Self::Spilled(spill) => {
                *spill = spill.distinct()?;
                Ok(spill.len())
            }
        }
    }

    fn len(&self) -> u64 {
        match self {
            Self::Here(arranged) => arranged.len(),
            Self::Spilled(spill) => spill.len(),
        }
    }
}

/// The footer of what is built, without its seeds.
fn footer(plan: &Plan, key_seed: u64) -> Footer {
    let content = match plan.map {
        true => Content::Map { fingerprint_bits: plan.fingerprint },
        false => Content::Filter { first_column: 0 },
    };
    Footer {
        shape: plan.shape(),
        content,
        keys: plan.keys(),
        key_seed,
        seeds: [0; 2],
        bumped: [0; 2],
    }
}

/// What is to be built.
#[derive(Clone, Copy)]
struct Task<'a> {
    settings: &'a Settings,
    resources: Resources,
}

impl Task<'_> {
    fn plan(&self, keys: u64, growth: u32) -> Result<Plan, BuildError> {
        let plan = self.settings.plan(keys, growth)?.with_limits(self.resources.limits);
        plan.check_memory()?;
        Ok(plan)
    }

    fn build<V: Value>(
        &self,
        items: &mut Items<'_, V>,
        progress: &mut Reporter<'_>,
    ) -> Result<OwnedBytes, Failure> {
        let (mut keys, mut distinct, mut growth) = (items.len(), false, 0);
        loop {
            let plan = self.plan(keys, growth)?;
            let seeds = if distinct { plan.seeds } else { plan.seeds.min(EARLY_SEEDS) };
            match self.attempt(&plan, seeds, items, progress) {
                Ok((bytes, redundant))
                    if distinct || redundant <= plan.keys() / KEYS_PER_DUPLICATE =>
                {
                    return Ok(bytes);
                }
                Ok(_) => {}
                Err(Failure::NoSolution) if !distinct => {}
                Err(Failure::NoSolution) if growth < MAX_GROWTH => growth += 1,
                Err(Failure::NoSolution) => {
                    return Err(BuildError::Unsolvable { keys, slots: plan.slots() }.into());
                }
                Err(other) => return Err(other),
            }
            if !distinct {
                (keys, distinct) = (items.remove_duplicates()?, true);
            }
        }
    }

    /// Solves the plan once, into new bytes. Returns them and the number of redundant keys.
    fn attempt<V: Value>(
        &self,
        plan: &Plan,
        seeds: u32,
        items: &mut Items<'_, V>,
        progress: &mut Reporter<'_>,
    ) -> Result<(OwnedBytes, u64), Failure> {
        let mut bytes = OwnedBytes::allocate(plan.size_in_bytes())?;
        let mut footer = footer(plan, self.settings.key_seed);
        let mut redundant = 0;
        if plan.keys() > 0 {
            let (first, rest) = bytes.as_mut().split_at_mut(plan.first.size_in_bytes() as usize);
            let (second, rest) =
                rest.split_at_mut(plan.second.map_or(0, |second| second.size_in_bytes()) as usize);
            let (seed, outcome) = self.first_layer(plan, seeds, items, (first, rest), progress)?;
            footer.seeds[0] = seed;
            redundant += outcome.redundant;
            if let Some(system) = plan.second {
                let layer = |seed| Layer::second(system, seed);
                let (seed, outcome) =
                    self.second_layer(layer, plan.seeds, outcome.bumped, second, progress)?;
                footer.seeds[1] = seed;
                redundant += outcome.redundant;
            }
        }
        footer.write(bytes.as_mut());
        let segments = plan.segments();
        progress.report(Phase::Solving, segments, segments)?;
        Ok((bytes, redundant))
    }

    /// Solves the first layer with the lowest seed that works.
    fn first_layer<V: Value>(
        &self,
        plan: &Plan,
        seeds: u32,
        items: &mut Items<'_, V>,
        (bytes, codes): (&mut [u8], &mut [u8]),
        progress: &mut Reporter<'_>,
    ) -> Result<(u8, Outcome<V>), Failure> {
        let mut workers = self.resources.workers(&Layer::first(plan, 0));
        for seed in (0..seeds).map(|seed| seed as u8) {
            let layer = Layer::first(plan, seed);
            let mut output = Output { bytes: &mut *bytes, codes: &mut *codes };
            match items.solve(plan, &layer, &mut workers, &mut output, progress) {
                Ok(outcome) if outcome.bumped.len() as u64 > plan.bumped => {}
                Ok(_) if self.rate(plan, codes) > plan.max_rate => {}
                Ok(outcome) => return Ok((seed, outcome)),
                Err(Failure::NoSolution) => {}
                Err(other) => return Err(other),
            }
        }
        Err(Failure::NoSolution)
    }

    /// The rate of a filter whose first layer has these codes.
    fn rate(&self, plan: &Plan, codes: &[u8]) -> f64 {
        let mut footer = footer(plan, self.settings.key_seed);
        if plan.second.is_some() {
            footer.bumped = bumped_fractions(&plan.first, codes);
        }
        footer.rate()
    }

    /// Solves the layer of the bumped keys with the lowest seed that works.
    fn second_layer<V: Value>(
        &self,
        layer: impl Fn(u8) -> Layer,
        seeds: u32,
        bumped: Vec<Item<V>>,
        bytes: &mut [u8],
        progress: &mut Reporter<'_>,
    ) -> Result<(u8, Outcome<V>), Failure> {
        let segments = layer(0).system.segments();
        let mut slabs = vec![bumped];
        let mut reserve = Reserve::new(segments as usize, self.resources.threads())?;
        let mut arranged = Arranged::new(&mut slabs, &mut reserve);
        let mut workers = self.resources.workers(&layer(0));
        for seed in (0..seeds).map(|seed| seed as u8) {
            let layer = layer(seed);
            arranged.arrange(&layer, 0..segments, progress)?;
            let mut output = Output { bytes: &mut *bytes, codes: &mut [] };
            let all = (0..segments, &arranged);
            match solve_segments(&mut workers, &layer, all, &mut output, progress) {
                Err(Failure::NoSolution) => {}
                solved => return solved.map(|outcome| (seed, outcome)),
            }
        }
        Err(Failure::NoSolution)
    }
}
