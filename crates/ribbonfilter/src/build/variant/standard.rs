//! Standard Ribbon (paper, section 3): fingerprints, and another seed if construction fails.
//!
//! Every segment is a system of its own with a seed of its own, so a failure costs one
//! segment's work and the overhead does not grow with the number of keys. Seeds are tried
//! in order, 0 first, and the lowest that works is taken: the bytes are a function of the
//! keys alone. A seed is banded only if the longest queue of its starts is short enough.
//!
//! Algorithm 1, key by key, is slowest on a system with few spare slots: an equation passes
//! hundreds of rows before it finds an empty one. So keys are sorted by their starts and inserted
//! by classes ([`system`](super::system)), as in a Bumped ribbon. Here every class must fit, and
//! the first that does not ends the attempt.

use super::sorted::Sorted;
use super::system::{Elimination, System, ValueOf, with_elimination};
use super::{Failure, Solved};
use crate::Width;
use crate::build::{Item, Segment, Task, Value, contradiction_among, for_each_segment, workspaces};
use crate::error::OutOfMemory;
use crate::kernel::{Instructions, Kernel, Work};
use crate::ribbon::equation::Seed;
use crate::ribbon::layout::Layout;
use crate::ribbon::shape::Shape;
use crate::solve::right_side::RightSide;

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

pub(super) fn solve<R: RightSide>(task: &mut Task<'_, '_, R::Value>) -> Result<Solved, Failure> {
    with_elimination!(task.plan.shape.width, task.resources.kernel, R, solve_segments(task))
}

fn solve_segments<E: Elimination>(
    cpu: E::Cpu,
    task: &mut Task<'_, '_, ValueOf<E>>,
) -> Result<Solved, Failure> {
    let Task { plan, keys, bytes, resources, progress } = task;
    let (shape, kernel) = (&plan.shape, resources.kernel);
    let new = || Workspace::<E>::new(cpu, shape, kernel);
    let mut workspaces = workspaces(shape, resources.threads(), new)?;
    let solve_segment = |workspace: &mut Workspace<E>, segment: Segment<'_, _>| {
        let found = workspace.first_seed(plan.queue_limit, segment.keys)?;
        let found = found.ok_or(Failure::NoSeed)?;
        workspace.solve(&segment.layout, segment.bytes);
        Ok(found)
    };
    let found = for_each_segment(&mut workspaces, shape, keys, bytes, progress, solve_segment)?;
    Ok(Solved {
        redundant: found.iter().map(|&(_, redundant)| redundant).sum(),
        seeds: found.into_iter().map(|(seed, _)| seed).collect(),
        ..Solved::default()
    })
}

/// The buffers that one thread uses to solve one Standard system after another.
pub(crate) struct Workspace<E: Elimination> {
    width: Width,
    kernel: Kernel,
    cpu: E::Cpu,
    sorted: Sorted<ValueOf<E>>,
    system: System<E>,
}

impl<E: Elimination> Workspace<E> {
    /// Allocates buffers for systems of this shape, of one segment each.
    pub(crate) fn new(cpu: E::Cpu, shape: &Shape, kernel: Kernel) -> Result<Self, OutOfMemory> {
        let (sorted, system) = (Sorted::new(shape.starts())?, System::new(cpu, shape)?);
        Ok(Self { width: shape.width, kernel, cpu, sorted, system })
    }

    /// The lowest seed whose system is solvable, and the number of redundant keys; leaves that
    /// system in the workspace.
    pub(crate) fn first_seed(
        &mut self,
        queue_limit: Option<u32>,
        keys: &[Item<u64, ValueOf<E>>],
    ) -> Result<Option<(u8, u64)>, OutOfMemory> {
        let (mut hopeless, mut compared) = (0, false);
        for seed in 0..=u8::MAX {
            let limit = queue_limit.unwrap_or(u32::MAX - 1);
            // A queue longer than this gives no further information.
            let queue = self.longest_queue(keys, seed, limit.max(HOPELESS * self.width.bits()));
            hopeless += u32::from(is_hopeless(queue, self.width) && queue_limit.is_some());
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
        keys: &[Item<u64, ValueOf<E>>],
        seed: u8,
        limit: u32,
    ) -> u32 {
        let seed = Seed::new(seed);
        self.kernel.run_scalar(Count { sorted: &mut self.sorted, keys, seed, limit })
    }

    /// Builds the system of `keys` under `seed`. [`Self::longest_queue`] must have counted the same
    /// keys under the same seed in its last call. Returns the number of duplicates, or `None` if
    /// the distinct keys are not independent.
    pub(super) fn attempt(
        &mut self,
        keys: &[Item<u64, ValueOf<E>>],
        seed: u8,
    ) -> Result<Option<u64>, OutOfMemory> {
        let Self { cpu, sorted, system, .. } = self;
        E::run(*cpu, Attempt { sorted, system, keys, seed: Seed::new(seed) })
    }

    /// Sets every free variable of the system. Has no effect for w = 16.
    pub(super) fn set_free(&mut self, free: impl Fn(u64) -> u64) {
        self.system.set_free(free);
    }

    /// Solves the system into a segment's bytes. A free variable that was not set is zero, which is
    /// valid for any number of columns.
    pub(crate) fn solve(&self, layout: &Layout, bytes: &mut [u8]) {
        E::run(self.cpu, Solve { system: &self.system, layout, bytes });
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
struct Attempt<'a, E: Elimination> {
    sorted: &'a mut Sorted<ValueOf<E>>,
    system: &'a mut System<E>,
    keys: &'a [Item<u64, ValueOf<E>>],
    seed: Seed,
}

impl<E: Elimination> Work for Attempt<'_, E> {
    type Output = Result<Option<u64>, OutOfMemory>;

    #[inline(always)]
    fn run<I: Instructions>(self, _: I) -> Self::Output {
        let Self { sorted, system, keys, seed } = self;
        sorted.sort(keys, seed)?;
        system.begin();
        let (mut redundant, starts) = (0, sorted.starts());
        for first in (0..starts).step_by(CLASS) {
            let class = sorted.keys(first..(first + CLASS).min(starts));
            match system.insert(class)? {
                Some(filled) => redundant += (class.items.len() - filled) as u64,
                None => return Ok(None),
            }
        }
        Ok(Some(redundant))
    }
}

/// See [`System::solve`].
struct Solve<'a, E: Elimination> {
    system: &'a System<E>,
    layout: &'a Layout,
    bytes: &'a mut [u8],
}

impl<E: Elimination> Work for Solve<'_, E> {
    type Output = ();

    #[inline(always)]
    fn run<I: Instructions>(self, instructions: I) {
        self.system.solve(instructions, self.layout, self.bytes);
    }
}
