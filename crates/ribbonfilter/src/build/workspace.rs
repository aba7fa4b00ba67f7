//! The buffers that one thread uses to solve one segment after another.

use super::{Goal, Grouped, Item, Ordered, Screen};
use crate::error::OutOfMemory;
use crate::kernel::{Instructions, Kernel, Work};
use crate::ribbon::equation::Seed;
use crate::ribbon::layout::Layout;
use crate::ribbon::shape::Shape;
use crate::ribbon::width::Band;
use crate::solve::back_substitution::Solve;
use crate::solve::banding::{Banding, Equation};

/// The linear system of one segment and the buffers around it, reused for every segment.
pub(crate) struct Workspace<B, R: Goal> {
    shape: Shape,
    kernel: Kernel,
    screen: Screen,
    ordered: Ordered<R::Value>,
    banding: Banding<B, R>,
    grouped: Grouped<R::Value>,
}

impl<B: Band, R: Goal> Workspace<B, R> {
    pub(crate) fn new(shape: &Shape, kernel: Kernel) -> Result<Self, OutOfMemory> {
        Ok(Self {
            shape: *shape,
            kernel,
            screen: Screen::new(shape)?,
            ordered: Ordered::default(),
            banding: Banding::new(shape.segment_slots as usize)?,
            grouped: Grouped::default(),
        })
    }

    /// The longest queue of a segment's keys under a seed, or any queue longer than `limit`.
    pub(crate) fn longest_queue(
        &mut self,
        keys: &[Item<u64, R::Value>],
        seed: u8,
        limit: u32,
    ) -> u32 {
        self.kernel.run(Count { screen: &mut self.screen, keys, seed: Seed::new(seed), limit })
    }

    /// Builds the system of a segment's keys under a seed. Returns the number of redundant keys, or
    /// `None` if a key is inconsistent.
    pub(crate) fn band(
        &mut self,
        keys: &[Item<u64, R::Value>],
        seed: u8,
    ) -> Result<Option<u64>, OutOfMemory> {
        self.kernel.run(BandAll { workspace: self, keys, seed: Seed::new(seed) })
    }

    /// The kernel, the system and the buffer for grouped keys, for a variant that orders and
    /// inserts keys itself.
    pub(crate) fn system(&mut self) -> (Kernel, &mut Banding<B, R>, &mut Grouped<R::Value>) {
        (self.kernel, &mut self.banding, &mut self.grouped)
    }

    pub(crate) fn kernel(&self) -> Kernel {
        self.kernel
    }

    /// Solves the system into a segment's bytes.
    pub(crate) fn solve(&self, free: impl Fn(u64) -> u64, layout: &Layout, bytes: &mut [u8]) {
        self.kernel.run(Solve { banding: &self.banding, free, layout, bytes });
    }
}

struct Count<'a, V> {
    screen: &'a mut Screen,
    keys: &'a [Item<u64, V>],
    seed: Seed,
    limit: u32,
}

impl<V> Work for Count<'_, V> {
    type Output = u32;

    #[inline(always)]
    fn run<I: Instructions>(self, _: I) -> u32 {
        self.screen.longest_queue(self.keys, self.seed, self.limit)
    }
}

struct BandAll<'a, B, R: Goal> {
    workspace: &'a mut Workspace<B, R>,
    keys: &'a [Item<u64, R::Value>],
    seed: Seed,
}

impl<B: Band, R: Goal> Work for BandAll<'_, B, R> {
    type Output = Result<Option<u64>, OutOfMemory>;

    #[inline(always)]
    fn run<I: Instructions>(self, _: I) -> Self::Output {
        let Workspace { shape, ordered, banding, .. } = self.workspace;
        let starts = shape.starts();
        ordered.fill(self.keys, self.seed)?;
        banding.clear();
        let mut redundant = 0;
        for part in ordered.parts() {
            let equations = part.iter().map(|&item| {
                let start = starts.start(item.hash);
                Equation {
                    start: start as usize,
                    coefficients: starts.coefficients(item.hash, start),
                    right_side: R::of(item),
                }
            });
            match banding.insert_all(equations) {
                Some(more) => redundant += more,
                None => return Ok(None),
            }
        }
        Ok(Some(redundant))
    }
}
