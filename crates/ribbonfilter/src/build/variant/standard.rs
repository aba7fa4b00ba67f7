//! Standard Ribbon (paper, section 3): fingerprints, and another seed if construction fails.
//!
//! Every segment is a system of its own with a seed of its own, so a failure costs one
//! segment's work and the overhead does not grow with the number of keys. Seeds are tried
//! in order, 0 first, and the lowest that works is taken: the bytes are a function of the
//! keys alone. A seed is banded only if the longest queue of its starts is short enough.
//!
//! Algorithm 1, key by key, is slowest on a system with few spare slots: an equation passes
//! hundreds of rows before it finds an empty one. So keys are sorted by their starts and inserted
//! by classes ([`batched`](super::batched)), as in a Bumped ribbon. Here every class must fit, and
//! the first that does not ends the attempt.

use super::batched::{Batched, System};
use super::one_by_one::OneByOne;
use super::sorted::Sorted;
use super::{Failure, Solved};
use crate::Width;
use crate::build::{Goal, Item, Task, Value, contradiction_among, each_group};
use crate::error::OutOfMemory;
use crate::kernel::{Instructions, Kernel, Work};
use crate::ribbon::equation::Seed;
use crate::ribbon::layout::Layout;
use crate::ribbon::shape::Shape;
use crate::ribbon::width::{Band, with_band};
use crate::solve::byte_sliced::{ByteSliced, Eliminator};
use crate::solve::four_russians::FourRussians;
use alloc::vec::Vec;

/// After this many seeds with a hopeless queue, no other seed is tried.
const HOPELESS_SEEDS: u32 = 4;

/// Number of starts in a class. Larger classes have more keys in a vector; smaller ones pass over
/// fewer rows that none of their keys can use. (128, 256, 384 and 480 took 67, 61, 59 and 60 ns per
/// key at 1,000 keys.)
const CLASS: usize = 384;

/// A queue of this many widths indicates duplicates or skewed hashes, not bad luck.
pub(super) const HOPELESS: u32 = 4;

pub(super) fn is_hopeless(queue: u32, width: Width) -> bool {
    queue >= HOPELESS * width.bits()
}

pub(super) fn solve<R: Goal>(task: &mut Task<'_, '_, R::Value>) -> Result<Solved, Failure> {
    with_band!(task.plan.shape.width, B => solve_segments::<B, R>(task))
}

fn solve_segments<B: Band, R: Goal>(task: &mut Task<'_, '_, R::Value>) -> Result<Solved, Failure> {
    let Task { plan, keys, bytes, resources, progress } = task;
    let segments = usize::try_from(plan.shape.segments()).unwrap_or(usize::MAX);
    let mut workspaces = Vec::new();
    for _ in 0..resources.threads().min(segments).max(1) {
        workspaces.push(Workspace::<B, R>::new(&plan.shape, resources.kernel)?);
    }
    let found =
        each_group(&mut workspaces, &plan.shape, keys, bytes, progress, |workspace, segment| {
            let found = workspace.first_seed(plan.queue_limit, segment.keys)?;
            let found = found.ok_or(Failure::NoSeed)?;
            workspace.solve(&segment.layout, segment.bytes);
            Ok(found)
        })?;
    Ok(Solved {
        redundant: found.iter().map(|&(_, redundant)| redundant).sum(),
        seeds: found.into_iter().map(|(seed, _)| seed).collect(),
        ..Solved::default()
    })
}

/// The buffers that one thread uses to solve one Standard system after another.
pub(crate) struct Workspace<B: Band, R: Goal> {
    kernel: Kernel,
    sorted: Sorted<R::Value>,
    starts: usize,
    system: AnySystem<B, R>,
    /// Whether the system may hold rows of an earlier attempt.
    used: bool,
}

/// The available systems. The CPU determines which one is used, except for w = 16.
#[expect(clippy::large_enum_variant, reason = "there is one for each thread")]
enum AnySystem<B: Band, R: Goal> {
    ByteSliced(Batched<B, R, ByteSliced>),
    FourRussians(Batched<B, R, FourRussians<B, R>>),
    OneByOne(OneByOne<B, R>),
}

/// Evaluates an expression with the system in use.
macro_rules! with_system {
    ($any:expr, $system:ident => $expression:expr) => {
        match $any {
            AnySystem::ByteSliced($system) => $expression,
            AnySystem::FourRussians($system) => $expression,
            AnySystem::OneByOne($system) => $expression,
        }
    };
}

impl<B: Band, R: Goal> Workspace<B, R> {
    /// Allocates buffers for systems of this shape, of one segment each.
    pub(crate) fn new(shape: &Shape, kernel: Kernel) -> Result<Self, OutOfMemory> {
        let (slots, starts) = (shape.segment_slots.next_multiple_of(64), shape.starts());
        let columns = shape.columns as usize;
        let system = match (B::WIDTH, Eliminator::of(kernel)) {
            (Width::W16, _) => AnySystem::OneByOne(System::new((), slots, starts, columns)?),
            (_, Some(means)) => AnySystem::ByteSliced(System::new(means, slots, starts, columns)?),
            (_, None) => AnySystem::FourRussians(System::new((), slots, starts, columns)?),
        };
        let (sorted, starts) = (Sorted::new(starts)?, starts.count() as usize);
        Ok(Self { kernel, sorted, starts, system, used: false })
    }

    /// The lowest seed whose system is solvable, and the number of redundant keys; leaves that
    /// system in the workspace.
    pub(crate) fn first_seed(
        &mut self,
        queue_limit: Option<u32>,
        keys: &[Item<u64, R::Value>],
    ) -> Result<Option<(u8, u64)>, OutOfMemory> {
        let (mut hopeless, mut compared) = (0, false);
        for seed in 0..=u8::MAX {
            let limit = queue_limit.unwrap_or(u32::MAX - 1);
            // A queue longer than this gives no further information.
            let queue = self.longest_queue(keys, seed, limit.max(HOPELESS * B::WIDTH.bits()));
            hopeless += u32::from(is_hopeless(queue, B::WIDTH) && queue_limit.is_some());
            if hopeless == HOPELESS_SEEDS {
                return Ok(None);
            }
            if queue > limit {
                continue;
            }
            if let Some(redundant) = self.attempt(keys, seed)? {
                return Ok(Some((seed, redundant)));
            }
            // No other seed solves a system with two values for one key.
            if !core::mem::replace(&mut compared, true) && contradiction_among(keys)? {
                return Ok(None);
            }
        }
        Ok(None)
    }

    /// The longest queue of keys under a seed, or any queue longer than `limit`.
    pub(super) fn longest_queue(
        &mut self,
        keys: &[Item<u64, R::Value>],
        seed: u8,
        limit: u32,
    ) -> u32 {
        let seed = Seed::new(seed);
        self.kernel.run(Count { sorted: &mut self.sorted, keys, seed, limit })
    }

    /// Builds the system of `keys` under `seed`. [`Self::longest_queue`] must have counted the same
    /// keys under the same seed in its last call. Returns the number of duplicates, or `None` if
    /// the distinct keys are not independent.
    pub(super) fn attempt(
        &mut self,
        keys: &[Item<u64, R::Value>],
        seed: u8,
    ) -> Result<Option<u64>, OutOfMemory> {
        let Self { kernel, sorted, starts, system, used } = self;
        if core::mem::replace(used, true) {
            with_system!(system, system => system.clear());
        }
        let (starts, seed) = (*starts, Seed::new(seed));
        with_system!(system, system => {
            kernel.run(Attempt { sorted, starts, system, keys, seed })
        })
    }

    /// Sets every free variable of the system. Has no effect for w = 16.
    pub(super) fn set_free(&mut self, free: impl Fn(u64) -> u64) {
        match &mut self.system {
            AnySystem::ByteSliced(system) => system.set_free(free),
            AnySystem::FourRussians(system) => system.set_free(free),
            AnySystem::OneByOne(_) => {}
        }
    }

    /// Solves the system into a segment's bytes. A free variable that was not set is zero, which is
    /// valid for any number of columns.
    pub(crate) fn solve(&self, layout: &Layout, bytes: &mut [u8]) {
        with_system!(&self.system, system => self.kernel.run(Solve { system, layout, bytes }));
    }
}

/// Counts keys and returns their longest queue; see [`Sorted::longest_queue`].
struct Count<'a, V> {
    sorted: &'a mut Sorted<V>,
    keys: &'a [Item<u64, V>],
    seed: Seed,
    limit: u32,
}

impl<V: Value> Work for Count<'_, V> {
    type Output = u32;

    #[inline(always)]
    fn run<I: Instructions>(self, _: I) -> u32 {
        self.sorted.count(self.keys, self.seed);
        self.sorted.longest_queue(self.keys.len(), self.limit)
    }
}

/// Builds the system of keys that were counted under the same seed. Returns the number of redundant
/// keys, or `None` if the equations of the distinct keys are not independent.
struct Attempt<'a, V, S> {
    sorted: &'a mut Sorted<V>,
    starts: usize,
    system: &'a mut S,
    keys: &'a [Item<u64, V>],
    seed: Seed,
}

impl<V: Value, S: System<Value = V>> Work for Attempt<'_, V, S> {
    type Output = Result<Option<u64>, OutOfMemory>;

    #[inline(always)]
    fn run<I: Instructions>(self, instructions: I) -> Self::Output {
        let Self { sorted, starts, system, keys, seed } = self;
        sorted.sort(keys, seed)?;
        let mut redundant = 0;
        for first in (0..starts).step_by(CLASS) {
            let class = sorted.keys(first..(first + CLASS).min(starts));
            match system.insert(instructions, class)? {
                Some(filled) => redundant += (class.items.len() - filled) as u64,
                None => return Ok(None),
            }
        }
        Ok(Some(redundant))
    }
}

/// See [`System::solve`].
struct Solve<'a, S> {
    system: &'a S,
    layout: &'a Layout,
    bytes: &'a mut [u8],
}

impl<S: System> Work for Solve<'_, S> {
    type Output = ();

    #[inline(always)]
    fn run<I: Instructions>(self, instructions: I) {
        self.system.solve(instructions, self.layout, self.bytes);
    }
}
