//! A linear system that takes the keys of a class together: all of them, or none.
//!
//! Standard and Bumped ribbons use it. Where the CPU has the instructions, a class is eliminated in
//! byte-sliced form; elsewhere by the method of four Russians. For w = 16 its keys are inserted one
//! by one. All three fill the same rows and produce the same solution.

use super::window::Class;
use crate::Width;
use crate::build::Item;
use crate::error::OutOfMemory;
#[cfg(target_arch = "x86_64")]
use crate::kernel::portable;
use crate::kernel::{Instructions, Kernel, Work};
use crate::ribbon::equation::{Seeded, Starts};
use crate::ribbon::layers::Buckets;
use crate::ribbon::layout::Layout;
use crate::ribbon::shape::Shape;
use crate::ribbon::width::Band;
use crate::solve::back_substitution::Solve;
use crate::solve::banding::{Banding, Equation, Insertion};
use crate::solve::byte_sliced::{ByteSliced, Eliminator, MAX_LANES};
use crate::solve::four_russians::FourRussians;
use crate::solve::right_side::RightSide;
use crate::storage::memory::try_reserve;
use alloc::vec::Vec;
use core::marker::PhantomData;

/// The rows of a linear system, and a way to eliminate many equations together.
pub(crate) trait Elimination: Sized + Send {
    type Band: Band;
    type RightSide: RightSide;
    /// Which instructions the CPU has; for some eliminations the proof that it has enough.
    type Cpu: Copy + Sync + Send;

    /// Runs work on such a system. It is compiled only for the instruction sets with which the
    /// elimination is used.
    fn run<W: Work>(cpu: Self::Cpu, work: W) -> W::Output;

    /// A system of `slots` empty rows, a multiple of 64, and `columns` columns.
    fn new(cpu: Self::Cpu, slots: u64, columns: usize) -> Result<Self, OutOfMemory>;

    /// Removes all rows.
    fn clear(&mut self);

    /// Turns `lanes` equations, at most [`MAX_LANES`], into rows. They are given in the order of
    /// their starts. If they are not independent of each other and of the existing rows, nothing
    /// changes and the result is `false`.
    fn insert(
        &mut self,
        lanes: usize,
        equations: impl Iterator<Item = Equation<Self::Band, Self::RightSide>>,
    ) -> Result<bool, OutOfMemory>;

    /// Sets every free variable, until the rows are cleared.
    fn set_free(&mut self, free: impl Fn(u64) -> u64);

    /// Solves the system into a segment's bytes; free variables are zero unless they were set.
    fn solve<I: Instructions>(&self, instructions: I, layout: &Layout, bytes: &mut [u8]);
}

/// The value of a key in a system with such an elimination.
pub(super) type ValueOf<E> = <<E as Elimination>::RightSide as RightSide>::Value;

/// Calls a function with the elimination for a width and CPU as its generic parameter, and its
/// [`Elimination::Cpu`] as its first argument. With `narrow`, that is the result for w = 16, and the
/// function is not compiled for it.
macro_rules! with_elimination {
    ($width:expr, $kernel:expr, $R:ty, $function:ident($($argument:expr),*)) => {{
        use $crate::build::variant::system::{OneByOne, with_elimination};
        use $crate::ribbon::width::COMPACT;
        let kernel = $kernel;
        with_elimination!($width, kernel, $R, $function($($argument),*), narrow: match COMPACT {
            true => $function::<FourRussians<u128, $R>>(kernel, $($argument),*),
            false => $function::<OneByOne<u16, $R>>(kernel, $($argument),*),
        })
    }};
    ($width:expr, $kernel:expr, $R:ty, $function:ident($($argument:expr),*), narrow: $narrow:expr) => {{
        use $crate::build::variant::system::InBytes;
        use $crate::solve::byte_sliced::Eliminator;
        use $crate::solve::four_russians::FourRussians;
        use $crate::Width;
        match ($width, Eliminator::of($kernel)) {
            (Width::W16, _) => $narrow,
            _ if $crate::ribbon::width::COMPACT => {
                $function::<FourRussians<u128, $R>>($kernel, $($argument),*)
            }
            (Width::W32, Some(cpu)) => $function::<InBytes<u32, $R>>(cpu, $($argument),*),
            (Width::W64, Some(cpu)) => $function::<InBytes<u64, $R>>(cpu, $($argument),*),
            (Width::W128, Some(cpu)) => $function::<InBytes<u128, $R>>(cpu, $($argument),*),
            (Width::W32, None) => $function::<FourRussians<u32, $R>>($kernel, $($argument),*),
            (Width::W64, None) => $function::<FourRussians<u64, $R>>($kernel, $($argument),*),
            (Width::W128, None) => $function::<FourRussians<u128, $R>>($kernel, $($argument),*),
        }
    }};
}
pub(crate) use with_elimination;

/// A [`ByteSliced`] system, whose width and right-hand sides are choices at run time, for one of
/// each.
pub(crate) struct InBytes<B, R>(ByteSliced, PhantomData<(B, R)>);

impl<B: Band, R: RightSide> Elimination for InBytes<B, R> {
    type Band = B;
    type RightSide = R;
    type Cpu = Eliminator;

    #[inline(always)]
    fn run<W: Work>(cpu: Eliminator, work: W) -> W::Output {
        cpu.run(work)
    }

    fn new(cpu: Eliminator, slots: u64, columns: usize) -> Result<Self, OutOfMemory> {
        let system = ByteSliced::new(cpu, B::WIDTH, size_of::<R>(), slots, columns)?;
        Ok(Self(system, PhantomData))
    }

    fn clear(&mut self) {
        self.0.clear();
    }

    #[inline(always)]
    fn insert(
        &mut self,
        lanes: usize,
        equations: impl Iterator<Item = Equation<B, R>>,
    ) -> Result<bool, OutOfMemory> {
        let words = |equation| {
            let (start, coefficients, right_side) = cyclic::<B, R>(equation);
            (start, coefficients.to_words(), right_side.bits())
        };
        self.0.fill(lanes, equations.map(words));
        Ok(self.0.eliminate())
    }

    fn set_free(&mut self, free: impl Fn(u64) -> u64) {
        self.0.set_free(free);
    }

    #[inline(always)]
    fn solve<I: Instructions>(&self, _: I, layout: &Layout, bytes: &mut [u8]) {
        self.0.solve(layout, bytes);
    }
}

impl<B: Band, R: RightSide> Elimination for FourRussians<B, R> {
    type Band = B;
    type RightSide = R;
    type Cpu = Kernel;

    /// On x86-64 only the portable kernel has no [`Eliminator`].
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    fn run<W: Work>(_: Kernel, work: W) -> W::Output {
        portable::run(work)
    }

    #[cfg(not(target_arch = "x86_64"))]
    #[inline(always)]
    fn run<W: Work>(kernel: Kernel, work: W) -> W::Output {
        kernel.run_scalar(work)
    }

    fn new(_: Kernel, slots: u64, _: usize) -> Result<Self, OutOfMemory> {
        Self::new(slots as usize)
    }

    fn clear(&mut self) {
        self.clear();
    }

    #[inline(always)]
    fn insert(
        &mut self,
        lanes: usize,
        equations: impl Iterator<Item = Equation<B, R>>,
    ) -> Result<bool, OutOfMemory> {
        self.fill(lanes, equations.map(cyclic))?;
        Ok(self.eliminate())
    }

    fn set_free(&mut self, free: impl Fn(u64) -> u64) {
        self.set_free(free);
    }

    #[inline(always)]
    fn solve<I: Instructions>(&self, _: I, layout: &Layout, bytes: &mut [u8]) {
        self.solve(layout, bytes);
    }
}

/// The start, cyclic coefficients and right-hand side of an equation.
#[inline(always)]
fn cyclic<B: Band, R: RightSide>(equation: Equation<B, R>) -> (u32, B, R) {
    let Equation { start, coefficients, right_side } = equation;
    (start as u32, coefficients.cyclic(start as u32), right_side)
}

/// Algorithm 1 of the paper, one equation after another. For w = 16, and as the oracle for the
/// other eliminations.
pub(crate) struct OneByOne<B, R> {
    banding: Banding<B, R>,
    /// The rows that the current equations have filled.
    filled: Vec<usize>,
}

impl<B: Band, R: RightSide> Elimination for OneByOne<B, R> {
    type Band = B;
    type RightSide = R;
    type Cpu = Kernel;

    #[inline(always)]
    fn run<W: Work>(kernel: Kernel, work: W) -> W::Output {
        kernel.run(work)
    }

    fn new(_: Kernel, slots: u64, _: usize) -> Result<Self, OutOfMemory> {
        Ok(Self { banding: Banding::new(slots as usize)?, filled: Vec::new() })
    }

    fn clear(&mut self) {
        self.banding.clear();
    }

    #[inline(always)]
    fn insert(
        &mut self,
        lanes: usize,
        equations: impl Iterator<Item = Equation<B, R>>,
    ) -> Result<bool, OutOfMemory> {
        self.filled.clear();
        try_reserve(&mut self.filled, lanes)?;
        for Equation { start, coefficients, right_side } in equations {
            match self.banding.insert(start, coefficients, right_side) {
                Insertion::At(row) => self.filled.push(row),
                Insertion::Redundant | Insertion::Inconsistent => {
                    self.banding.undo(self.filled.drain(..));
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }

    /// Without effect: only Homogeneous ribbons set free variables, and none of w = 16 does so here.
    fn set_free(&mut self, _: impl Fn(u64) -> u64) {}

    #[inline(always)]
    fn solve<I: Instructions>(&self, instructions: I, layout: &Layout, bytes: &mut [u8]) {
        Solve { banding: &self.banding, free: |_| 0, layout, bytes }.run(instructions);
    }
}

/// The linear system of a segment, into which classes of keys are inserted.
pub(crate) struct System<E: Elimination> {
    starts: Starts,
    elimination: E,
    /// Whether the system may hold rows of an earlier segment or seed.
    used: bool,
    /// The keys of a class without its duplicates.
    distinct: Vec<(u32, Item<Seeded, ValueOf<E>>)>,
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

impl<E: Elimination> System<E> {
    /// A system for the segments of a shape.
    pub(super) fn new(cpu: E::Cpu, shape: &Shape) -> Result<Self, OutOfMemory> {
        let slots = shape.segment_slots.next_multiple_of(64);
        Ok(Self {
            starts: shape.starts(),
            elimination: E::new(cpu, slots, shape.columns as usize)?,
            used: false,
            distinct: Vec::new(),
        })
    }

    /// Removes the rows of an earlier segment or seed, if there are any.
    pub(super) fn begin(&mut self) {
        if core::mem::replace(&mut self.used, true) {
            self.elimination.clear();
        }
    }

    /// Inserts the equations of a class and returns the number of rows that they fill. If its
    /// distinct keys are not independent of each other and of the existing rows, inserts nothing
    /// and returns `None`.
    #[inline(always)]
    pub(super) fn insert(
        &mut self,
        class: Class<'_, ValueOf<E>>,
    ) -> Result<Option<usize>, OutOfMemory> {
        let keys = class.items.len();
        if keys <= MAX_LANES {
            if self.insert_keys(class.keys())? {
                return Ok(Some(keys));
            }
            // Usually the class does not fit, but a duplicate key may be the only reason.
            if class.duplicates() == 0 {
                return Ok(None);
            }
        }
        self.insert_distinct(class)
    }

    /// Turns keys, given in the order of their starts, into rows if they are independent.
    #[inline(always)]
    fn insert_keys(
        &mut self,
        keys: impl ExactSizeIterator<Item = (u32, Item<Seeded, ValueOf<E>>)>,
    ) -> Result<bool, OutOfMemory> {
        let starts = self.starts;
        let lanes = keys.len();
        let equations = keys.map(|(start, Item { hash, value })| Equation {
            start: start as usize,
            coefficients: starts.coefficients(hash, start.into()),
            right_side: E::RightSide::of(hash, value),
        });
        self.elimination.insert(lanes, equations)
    }

    /// Inserts a class without its duplicates, whose equations are redundant.
    #[cold]
    #[inline(never)]
    fn insert_distinct(
        &mut self,
        class: Class<'_, ValueOf<E>>,
    ) -> Result<Option<usize>, OutOfMemory> {
        let mut distinct = core::mem::take(&mut self.distinct);
        distinct.clear();
        try_reserve(&mut distinct, class.items.len())?;
        distinct.extend(class.keys());
        distinct.sort_unstable();
        distinct.dedup();
        let fits = distinct.len() <= MAX_LANES && self.insert_keys(distinct.iter().copied())?;
        let filled = fits.then_some(distinct.len());
        self.distinct = distinct;
        Ok(filled)
    }

    /// See [`Elimination::set_free`].
    pub(super) fn set_free(&mut self, free: impl Fn(u64) -> u64) {
        self.elimination.set_free(free);
    }

    /// See [`Elimination::solve`].
    #[inline(always)]
    pub(super) fn solve<I: Instructions>(
        &self,
        instructions: I,
        layout: &Layout,
        bytes: &mut [u8],
    ) {
        self.elimination.solve(instructions, layout, bytes);
    }
}
