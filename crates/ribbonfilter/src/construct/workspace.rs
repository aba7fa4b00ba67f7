//! What one thread needs to solve one segment after another.

use super::{Ordered, Screen, Shelves};
use crate::arch::{Instructions, Kernel, Work};
use crate::back_substitution::Solve;
use crate::banding::{Banding, Equation, RightSide};
use crate::equation::{Seed, Seeded};
use crate::error::OutOfMemory;
use crate::layout::Layout;
use crate::shape::Shape;
use crate::width::Band;

/// The right-hand side that a filter's key has.
pub(crate) trait Fingerprint: RightSide {
    fn of(hash: Seeded) -> Self;
}

impl Fingerprint for () {
    #[inline(always)]
    fn of(_: Seeded) {}
}

impl Fingerprint for u32 {
    #[inline(always)]
    fn of(hash: Seeded) -> Self {
        hash.fingerprint()
    }
}

/// The system of one segment and the room around it, used from segment to segment.
pub(crate) struct Workspace<B, R> {
    shape: Shape,
    kernel: Kernel,
    screen: Screen,
    ordered: Ordered,
    banding: Banding<B, R>,
    shelves: Shelves,
}

impl<B: Band, R: Fingerprint> Workspace<B, R> {
    pub(crate) fn new(shape: &Shape, kernel: Kernel) -> Result<Self, OutOfMemory> {
        Ok(Self {
            shape: *shape,
            kernel,
            screen: Screen::new(shape)?,
            ordered: Ordered::default(),
            banding: Banding::new(shape.segment_slots as usize)?,
            shelves: Shelves::default(),
        })
    }

    /// The longest queue of a segment's keys under a seed.
    pub(crate) fn longest_queue(&mut self, keys: &[u64], seed: u8) -> u32 {
        self.kernel.run(Count { screen: &mut self.screen, keys, seed: Seed::new(seed) })
    }

    /// Makes the system of a segment's keys under a seed: the number of redundant ones, or
    /// nothing if one is inconsistent.
    pub(crate) fn band(&mut self, keys: &[u64], seed: u8) -> Result<Option<u64>, OutOfMemory> {
        self.kernel.run(BandAll { workspace: self, keys, seed: Seed::new(seed) })
    }

    /// The system as it is, and shelves, for a variant that orders and inserts keys itself.
    pub(crate) fn system(&mut self) -> (Kernel, &mut Banding<B, R>, &mut Shelves) {
        (self.kernel, &mut self.banding, &mut self.shelves)
    }

    /// Solves the system into a segment's bytes.
    pub(crate) fn solve(&self, free: impl Fn(u64) -> u32, layout: &Layout, bytes: &mut [u8]) {
        self.kernel.run(Solve { banding: &self.banding, free, layout, bytes });
    }
}

struct Count<'a> {
    screen: &'a mut Screen,
    keys: &'a [u64],
    seed: Seed,
}

impl Work for Count<'_> {
    type Output = u32;

    #[inline(always)]
    fn run<I: Instructions>(self, _: I) -> u32 {
        self.screen.longest_queue(self.keys, self.seed)
    }
}

struct BandAll<'a, B, R> {
    workspace: &'a mut Workspace<B, R>,
    keys: &'a [u64],
    seed: Seed,
}

impl<B: Band, R: Fingerprint> Work for BandAll<'_, B, R> {
    type Output = Result<Option<u64>, OutOfMemory>;

    #[inline(always)]
    fn run<I: Instructions>(self, _: I) -> Self::Output {
        let Workspace { shape, ordered, banding, .. } = self.workspace;
        let starts = shape.starts();
        ordered.fill(self.keys, shape.segment_bits, self.seed)?;
        banding.clear();
        let mut redundant = 0;
        for part in ordered.parts() {
            let equations = part.iter().map(|&hash| Equation {
                start: starts.start(hash) as usize,
                coefficients: starts.coefficients(hash),
                right_side: R::of(hash),
            });
            match banding.insert_all(equations) {
                Some(more) => redundant += more,
                None => return Ok(None),
            }
        }
        Ok(Some(redundant))
    }
}
