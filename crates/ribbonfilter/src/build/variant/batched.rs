//! Systems that insert the keys of a class in a batch: all of them, or none.
//!
//! Standard and Bumped ribbons use these systems. Where the CPU has the instructions, a class is
//! eliminated in byte-sliced form ([`ByteSliced`]); elsewhere by the method of four Russians
//! ([`FourRussians`]). Both fill the same rows and produce the same solution.

use super::window::Class;
use crate::Width;
use crate::build::{Goal, Item, Value};
use crate::error::OutOfMemory;
use crate::kernel::Instructions;
use crate::ribbon::equation::{Seeded, Starts};
use crate::ribbon::layers::Buckets;
use crate::ribbon::layout::Layout;
use crate::ribbon::width::Band;
use crate::solve::banding::RightSide;
use crate::solve::byte_sliced::{ByteSliced, Eliminator, MAX_LANES};
use crate::solve::four_russians::FourRussians;
use crate::storage::memory::try_reserve;
use alloc::vec::Vec;
use core::marker::PhantomData;

/// The linear system of a segment, in any representation.
pub(super) trait System: Sized + Send {
    /// The value of a key.
    type Value: Value;
    /// Proof that the CPU supports the required instructions.
    type Means: Copy;

    /// `slots` empty rows, a multiple of 64, for keys with these starts and `columns` columns.
    fn new(
        means: Self::Means,
        slots: u64,
        starts: Starts,
        columns: usize,
    ) -> Result<Self, OutOfMemory>;

    /// Removes all rows.
    fn clear(&mut self);

    /// Inserts the equations of a class and returns the number of rows that they fill. If its
    /// distinct keys are not independent of each other and of the existing rows, inserts nothing
    /// and returns `None`.
    fn insert<I: Instructions>(
        &mut self,
        instructions: I,
        class: Class<'_, Self::Value>,
    ) -> Result<Option<usize>, OutOfMemory>;

    /// Solves the system into a segment's bytes.
    fn solve<I: Instructions>(&self, instructions: I, layout: &Layout, bytes: &mut [u8]);
}

/// A linear system that eliminates many equations in a batch.
pub(super) trait Elimination<B, R>: Sized + Send {
    /// Proof that the CPU supports the required instructions.
    type Means: Copy;

    /// A system of `slots` empty rows and `columns` columns.
    fn new(means: Self::Means, slots: u64, columns: usize) -> Result<Self, OutOfMemory>;

    /// Removes all rows.
    fn clear(&mut self);

    /// Turns `lanes` equations, at most [`MAX_LANES`], into rows. They are given in the order of
    /// their starts, each as start, cyclic coefficients and right-hand side. If they are not
    /// independent of each other and of the existing rows, nothing changes and the result is
    /// `false`.
    fn eliminate(
        &mut self,
        lanes: usize,
        equations: impl Iterator<Item = (u32, B, R)>,
    ) -> Result<bool, OutOfMemory>;

    /// Sets every free variable, until the rows are cleared.
    fn set_free(&mut self, free: impl Fn(u64) -> u64);

    /// Solves the system into a segment's bytes; free variables are zero unless they were set.
    fn solve(&self, layout: &Layout, bytes: &mut [u8]);
}

impl<B: Band, R: RightSide> Elimination<B, R> for ByteSliced {
    type Means = Eliminator;

    fn new(means: Eliminator, slots: u64, columns: usize) -> Result<Self, OutOfMemory> {
        Self::new(means, B::WIDTH, size_of::<R>(), slots, columns)
    }

    fn clear(&mut self) {
        self.clear();
    }

    #[inline(always)]
    fn eliminate(
        &mut self,
        lanes: usize,
        equations: impl Iterator<Item = (u32, B, R)>,
    ) -> Result<bool, OutOfMemory> {
        let words = |(start, cyclic, right_side): (u32, B, R)| {
            (start, cyclic.to_words(), right_side.bits())
        };
        self.fill(lanes, equations.map(words));
        Ok(self.eliminate())
    }

    fn set_free(&mut self, free: impl Fn(u64) -> u64) {
        self.set_free(free);
    }

    fn solve(&self, layout: &Layout, bytes: &mut [u8]) {
        self.solve(layout, bytes);
    }
}

impl<B: Band, R: RightSide> Elimination<B, R> for FourRussians<B, R> {
    type Means = ();

    fn new((): (), slots: u64, _: usize) -> Result<Self, OutOfMemory> {
        Self::new(slots as usize)
    }

    fn clear(&mut self) {
        self.clear();
    }

    #[inline(always)]
    fn eliminate(
        &mut self,
        lanes: usize,
        equations: impl Iterator<Item = (u32, B, R)>,
    ) -> Result<bool, OutOfMemory> {
        self.fill(lanes, equations)?;
        Ok(self.eliminate())
    }

    fn set_free(&mut self, free: impl Fn(u64) -> u64) {
        self.set_free(free);
    }

    fn solve(&self, layout: &Layout, bytes: &mut [u8]) {
        self.solve(layout, bytes);
    }
}

/// A system that inserts each class in a batch.
pub(super) struct Batched<B, R: Goal, E> {
    starts: Starts,
    elimination: E,
    /// The keys of a class without its duplicates.
    distinct: Vec<(u32, Item<Seeded, R::Value>)>,
    types: PhantomData<(B, R)>,
}

/// The equations of a class touch at most as many columns as it has starts, plus `w - 1`, so more
/// keys than that are never independent. This checks that the lanes hold that many: a class with
/// too many distinct keys for the lanes does not fit in any case.
const _: () = {
    let mut width = 0;
    while width < Width::ALL.len() {
        let Buckets { log, thresholds } = Buckets::of(Width::ALL[width]);
        let mut upper = 1 << log;
        let mut class = 0;
        while class < thresholds.len() {
            let rows = upper - thresholds[class] + Width::ALL[width].bits() - 1;
            assert!(rows as usize <= MAX_LANES);
            upper = thresholds[class];
            class += 1;
        }
        width += 1;
    }
};

impl<B: Band, R: Goal, E: Elimination<B, R>> System for Batched<B, R, E> {
    type Value = R::Value;
    type Means = E::Means;

    fn new(
        means: E::Means,
        slots: u64,
        starts: Starts,
        columns: usize,
    ) -> Result<Self, OutOfMemory> {
        let elimination = E::new(means, slots, columns)?;
        Ok(Self { starts, elimination, distinct: Vec::new(), types: PhantomData })
    }

    fn clear(&mut self) {
        self.elimination.clear();
    }

    #[inline(always)]
    fn insert<I: Instructions>(
        &mut self,
        _: I,
        class: Class<'_, R::Value>,
    ) -> Result<Option<usize>, OutOfMemory> {
        let keys = class.items.len();
        if keys <= MAX_LANES {
            if self.eliminate(class.keys())? {
                return Ok(Some(keys));
            }
            // Usually the class does not fit, but a duplicate key may be the only reason.
            if class.duplicates() == 0 {
                return Ok(None);
            }
        }
        self.insert_distinct(class)
    }

    #[inline(always)]
    fn solve<I: Instructions>(&self, _: I, layout: &Layout, bytes: &mut [u8]) {
        self.elimination.solve(layout, bytes);
    }
}

impl<B: Band, R: Goal, E: Elimination<B, R>> Batched<B, R, E> {
    /// See [`Elimination::set_free`].
    pub(super) fn set_free(&mut self, free: impl Fn(u64) -> u64) {
        self.elimination.set_free(free);
    }

    /// Turns keys, given in the order of their starts, into rows if they are independent.
    #[inline(always)]
    fn eliminate(
        &mut self,
        keys: impl ExactSizeIterator<Item = (u32, Item<Seeded, R::Value>)>,
    ) -> Result<bool, OutOfMemory> {
        let starts = self.starts;
        let lanes = keys.len();
        let equations = keys.map(|(start, item)| {
            let coefficients: B = starts.coefficients(item.hash, start.into());
            (start, coefficients.cyclic(start), R::of(item))
        });
        self.elimination.eliminate(lanes, equations)
    }

    /// Inserts a class without its duplicates, whose equations are redundant.
    #[cold]
    #[inline(never)]
    fn insert_distinct(
        &mut self,
        class: Class<'_, R::Value>,
    ) -> Result<Option<usize>, OutOfMemory> {
        let mut distinct = core::mem::take(&mut self.distinct);
        distinct.clear();
        try_reserve(&mut distinct, class.items.len())?;
        distinct.extend(class.keys());
        distinct.sort_unstable();
        distinct.dedup();
        let fits = distinct.len() <= MAX_LANES && self.eliminate(distinct.iter().copied())?;
        let filled = fits.then_some(distinct.len());
        self.distinct = distinct;
        Ok(filled)
    }
}
