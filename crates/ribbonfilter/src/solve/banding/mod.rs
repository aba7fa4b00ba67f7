//! The linear system and Algorithm 1 of the paper: Boolean banding on the fly.
//!
//! ```text
//!            slots ->
//! row 0      1 c c c . . . . . | b     A filled row i holds the equation
//! row 1      . 1 c c c . . . . | b         c * Z[i .. i + w) = b,
//! row 2      . . . . . . . . . |       whose first coefficient is 1;
//! row 3      . . . 1 c c c . . | b     an empty row holds none.
//! ```
//!
//! Invariants: a row is empty or its first coefficient is 1, and no coefficient stands for a slot
//! beyond the last. The filled rows and the solution do not depend on the order of insertion (proof
//! of theorem 3.2): the ranks of the system's column prefixes determine which rows are filled. This
//! is what permits partitioning and parallel construction.
//!
//! This module is independent of keys, segments and files.

mod reversible;

use crate::error::OutOfMemory;
use crate::kernel::prefetch;
use crate::ribbon::width::Band;
use crate::solve::right_side::RightSide;
use crate::storage::memory::try_filled_huge;
use alloc::vec::Vec;
use core::hint::select_unpredictable;
use core::ops::Range;

/// The result of inserting an equation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Insertion {
    /// The equation fills this row.
    At(usize),
    /// The system already implies the equation: nothing changed.
    Redundant,
    /// The system contradicts the equation: nothing changed.
    Inconsistent,
}

/// The linear system `M` of the paper.
#[derive(Clone, Debug)]
pub(crate) struct Banding<B, R> {
    /// One word per row, and a spare one that stays empty, at which idle lanes wait.
    coefficients: Vec<B>,
    /// Meaningless where the row is empty.
    right_sides: Vec<R>,
}

/// An equation to be inserted into the system.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Equation<B, R> {
    pub(crate) start: usize,
    pub(crate) coefficients: B,
    pub(crate) right_side: R,
}

/// Number of equations that are inserted in an interleaved fashion.
const LANES: usize = 4;
/// Number of equations that are prepared ahead: few enough for the first-level cache.
const READY: usize = 256;

impl<B: Band, R: RightSide> Banding<B, R> {
    /// A system of `slots` empty rows.
    pub(crate) fn new(slots: usize) -> Result<Self, OutOfMemory> {
        Ok(Self {
            coefficients: try_filled_huge(B::ZERO, slots + 1)?,
            right_sides: try_filled_huge(R::ZERO, slots + 1)?,
        })
    }

    /// Removes all rows.
    pub(crate) fn clear(&mut self) {
        self.coefficients.fill(B::ZERO);
    }

    pub(crate) fn slots(&self) -> usize {
        self.coefficients.len() - 1
    }

    /// The coefficients of some rows, zero where a row is empty, and their right-hand sides, which
    /// are meaningless there.
    #[inline(always)]
    pub(crate) fn rows(&self, rows: Range<usize>) -> (&[B], &[R]) {
        (&self.coefficients[rows.clone()], &self.right_sides[rows])
    }

    /// Algorithm 1: inserts `coefficients * Z[start ..] = right_side`.
    ///
    /// The first coefficient must be 1 and none may reach beyond the last slot.
    #[inline]
    pub(crate) fn insert(&mut self, start: usize, coefficients: B, right_side: R) -> Insertion {
        let (mut row, mut c, mut b) = (start, coefficients, right_side);
        loop {
            let occupant = self.coefficients[row];
            if occupant == B::ZERO {
                self.coefficients[row] = c;
                self.right_sides[row] = b;
                return Insertion::At(row);
            }
            c = c ^ occupant;
            b = b.xor(self.right_sides[row]);
            if c == B::ZERO {
                return if b == R::ZERO { Insertion::Redundant } else { Insertion::Inconsistent };
            }
            let gap = c.leading_gap();
            row += gap as usize;
            c = c.advance(gap);
        }
    }

    /// Inserts many equations. Returns the number of redundant ones, or `None` if any was
    /// inconsistent.
    ///
    /// The result is the same as inserting them one by one in some order. Each step of Algorithm 1
    /// waits for memory, and whether it is the last one cannot be predicted. So [`LANES`] equations
    /// take their steps in turn, without a branch: a step either fills the row and takes up the
    /// next equation, or adds the row and moves on.
    #[inline(always)]
    pub(crate) fn insert_all(
        &mut self,
        mut equations: impl Iterator<Item = Equation<B, R>>,
    ) -> Option<u64> {
        let idle = Equation { start: self.slots(), coefficients: B::ZERO, right_side: R::ZERO };
        let mut lanes = [idle; LANES];
        let mut ready = [idle; READY];
        let (mut redundant, mut contradicts) = (0, false);
        let (mut next, mut end) = (0, 0);
        loop {
            // Equations that the lanes did not take come first.
            ready.copy_within(next..end, 0);
            end -= next;
            next = 0;
            for equation in equations.by_ref().take(READY - end) {
                self.prefetch(equation.start);
                ready[end] = equation;
                end += 1;
            }
            if end < LANES {
                break;
            }
            while next + LANES <= end {
                for lane in &mut lanes {
                    let step = self.step(*lane);
                    redundant += u64::from(step.redundant);
                    contradicts |= step.redundant & (step.equation.right_side != R::ZERO);
                    let done = step.filled | step.redundant;
                    // `next` is below `READY` in any case; the remainder removes the bounds check.
                    let waiting = ready[next % READY];
                    let Equation { start, coefficients, right_side } = step.equation;
                    *lane = Equation {
                        start: select_unpredictable(done, waiting.start, start),
                        coefficients: select_unpredictable(
                            done,
                            waiting.coefficients,
                            coefficients,
                        ),
                        right_side: select_unpredictable(done, waiting.right_side, right_side),
                    };
                    next += usize::from(done);
                }
            }
            if contradicts {
                return None;
            }
        }
        // Idle lanes have no coefficients and are skipped.
        let rest = lanes.into_iter().chain(ready[..end].iter().copied());
        for equation in rest.filter(|equation| equation.coefficients != B::ZERO) {
            match self.insert(equation.start, equation.coefficients, equation.right_side) {
                Insertion::At(_) => {}
                Insertion::Redundant => redundant += 1,
                Insertion::Inconsistent => return None,
            }
        }
        (!contradicts).then_some(redundant)
    }

    /// Prefetches a row.
    #[inline(always)]
    pub(crate) fn prefetch(&self, row: usize) {
        prefetch(self.coefficients.as_ptr().wrapping_add(row).cast());
        if size_of::<R>() > 0 {
            prefetch(self.right_sides.as_ptr().wrapping_add(row).cast());
        }
    }

    /// One step of Algorithm 1.
    #[inline(always)]
    fn step(&mut self, equation: Equation<B, R>) -> Step<B, R> {
        let Equation { start: row, coefficients, right_side } = equation;
        let occupant = self.coefficients[row];
        let filled = occupant == B::ZERO;
        self.coefficients[row] = select_unpredictable(filled, coefficients, occupant);
        // Right-hand sides of size zero need neither a load nor a bounds check.
        let mut other = R::ZERO;
        if size_of::<R>() > 0 {
            other = self.right_sides[row];
            self.right_sides[row] = select_unpredictable(filled, right_side, other);
        }
        let sum = coefficients ^ occupant;
        let gap = sum.leading_gap();
        Step {
            filled,
            redundant: !filled & (sum == B::ZERO),
            equation: Equation {
                start: row + gap as usize,
                coefficients: sum.advance(gap),
                right_side: right_side.xor(other),
            },
        }
    }

    /// Undoes the latest insertions, given the rows that they filled.
    ///
    /// Later rows were reduced by earlier ones, never the other way round, so this is correct for
    /// any set of rows that contains every row inserted after one of its members.
    pub(crate) fn undo(&mut self, latest: impl IntoIterator<Item = usize>) {
        for row in latest {
            self.coefficients[row] = B::ZERO;
        }
    }
}

/// The result of one step: the equation filled its row, vanished, or continues in reduced form.
struct Step<B, R> {
    filled: bool,
    redundant: bool,
    equation: Equation<B, R>,
}

#[cfg(test)]
mod tests;
