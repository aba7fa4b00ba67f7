//! The buffers of a thread that solves systems by Algorithm 1 of the paper: Homogeneous ribbons,
//! and shards that are filled until the first failure.

use super::screen::Screen;
use crate::build::{Item, Ordered};
use crate::error::OutOfMemory;
use crate::kernel::{Instructions, Kernel, Work};
use crate::ribbon::equation::Seed;
use crate::ribbon::layout::Layout;
use crate::ribbon::shape::Shape;
use crate::ribbon::width::Band;
use crate::solve::back_substitution::Solve;
use crate::solve::banding::Banding;
#[cfg(any(test, feature = "internals"))]
use crate::solve::banding::Insertion;
use crate::solve::right_side::RightSide;

/// The linear system of one segment and the buffers around it, reused for every segment.
pub(crate) struct BandingWorkspace<B, R: RightSide> {
    shape: Shape,
    kernel: Kernel,
    screen: Screen,
    ordered: Ordered<R::Value>,
    banding: Banding<B, R>,
}

impl<B: Band, R: RightSide> BandingWorkspace<B, R> {
    pub(crate) fn new(shape: &Shape, kernel: Kernel) -> Result<Self, OutOfMemory> {
        Ok(Self {
            shape: *shape,
            kernel,
            screen: Screen::new(shape)?,
            ordered: Ordered::default(),
            banding: Banding::new(shape.segment_slots as usize)?,
        })
    }

    /// The longest queue of a segment's keys under a seed, or any queue longer than `limit`.
    pub(crate) fn longest_queue(
        &mut self,
        keys: &[Item<u64, R::Value>],
        seed: u8,
        limit: u32,
    ) -> u32 {
        self.kernel.run_scalar(Count {
            screen: &mut self.screen,
            keys,
            seed: Seed::new(seed),
            limit,
        })
    }

    /// Builds the system of a segment's keys under a seed. Returns the number of redundant keys, or
    /// `None` if a key is inconsistent.
    pub(crate) fn band(
        &mut self,
        keys: &[Item<u64, R::Value>],
        seed: u8,
    ) -> Result<Option<u64>, OutOfMemory> {
        self.kernel.run_scalar(BandAll { workspace: self, keys, seed: Seed::new(seed) })
    }

    /// Whether the system implies an equation whose right-hand side is zero.
    #[cfg(any(test, feature = "internals"))]
    pub(crate) fn is_redundant(&mut self, start: usize, coefficients: B) -> bool {
        match self.banding.insert(start, coefficients, R::ZERO) {
            Insertion::At(row) => {
                self.banding.undo([row]);
                false
            }
            Insertion::Redundant => true,
            Insertion::Inconsistent => false,
        }
    }

    pub(crate) fn kernel(&self) -> Kernel {
        self.kernel
    }

    /// Solves the system into a segment's bytes. `free` maps the slot of a free variable to its
    /// value.
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

struct BandAll<'a, B, R: RightSide> {
    workspace: &'a mut BandingWorkspace<B, R>,
    keys: &'a [Item<u64, R::Value>],
    seed: Seed,
}

impl<B: Band, R: RightSide> Work for BandAll<'_, B, R> {
    type Output = Result<Option<u64>, OutOfMemory>;

    #[inline(always)]
    fn run<I: Instructions>(self, _: I) -> Self::Output {
        let BandingWorkspace { shape, ordered, banding, .. } = self.workspace;
        let starts = shape.starts();
        ordered.fill(self.keys, self.seed)?;
        banding.clear();
        let mut redundant = 0;
        for part in ordered.parts() {
            match banding.insert_all(part.iter().map(|&item| item.equation(starts))) {
                Some(more) => redundant += more,
                None => return Ok(None),
            }
        }
        Ok(Some(redundant))
    }
}
