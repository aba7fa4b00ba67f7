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
//! Invariants: a row is empty or its first coefficient is 1; no coefficient stands for
//! a slot beyond the last. Which rows are filled and the solution do not depend on the
//! order of insertion (proof of theorem 3.2): the filled rows tell the ranks of the
//! system's column prefixes. That is the licence to partition and to parallelise.
//!
//! This file knows nothing of keys, segments or files.

use crate::error::{OutOfMemory, try_filled};
use crate::width::Band;
use alloc::vec::Vec;

/// The right-hand side of an equation: nothing in a homogeneous system, else a
/// fingerprint.
pub(crate) trait RightSide: Copy + Eq + Send + Sync + 'static {
    /// What an empty row and a homogeneous equation have.
    const ZERO: Self;
    /// The sum of two equations' right-hand sides.
    fn xor(self, other: Self) -> Self;
    /// The bit that belongs to `column`.
    fn bit(self, column: usize) -> bool;
}

impl RightSide for () {
    const ZERO: Self = ();
    #[inline(always)]
    fn xor(self, (): ()) {}
    #[inline(always)]
    fn bit(self, _: usize) -> bool {
        false
    }
}

impl RightSide for u32 {
    const ZERO: Self = 0;
    #[inline(always)]
    fn xor(self, other: Self) -> Self {
        self ^ other
    }
    #[inline(always)]
    fn bit(self, column: usize) -> bool {
        self >> column & 1 == 1
    }
}

/// What became of an equation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Insertion {
    /// It fills this row.
    At(usize),
    /// The system implied it already: nothing changed.
    Redundant,
    /// The system contradicts it: nothing changed.
    Inconsistent,
}

/// The linear system `M` of the paper.
#[derive(Clone, Debug)]
pub(crate) struct Banding<B, R> {
    coefficients: Vec<B>,
    right_sides: Vec<R>,
}

impl<B: Band, R: RightSide> Banding<B, R> {
    /// The system of `slots` empty rows.
    pub(crate) fn new(slots: usize) -> Result<Self, OutOfMemory> {
        Ok(Self {
            coefficients: try_filled(B::ZERO, slots)?,
            right_sides: try_filled(R::ZERO, slots)?,
        })
    }

    /// Empties every row.
    pub(crate) fn clear(&mut self) {
        self.coefficients.fill(B::ZERO);
    }

    pub(crate) fn slots(&self) -> usize {
        self.coefficients.len()
    }

    /// The equation of a row, `None` if it is empty.
    #[inline(always)]
    pub(crate) fn row(&self, row: usize) -> Option<(B, R)> {
        let coefficients = self.coefficients[row];
        (coefficients != B::ZERO).then(|| (coefficients, self.right_sides[row]))
    }

    /// Algorithm 1: adds `coefficients * Z[start ..] = right_side`.
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
                return if b == R::ZERO {
                    Insertion::Redundant
                } else {
                    Insertion::Inconsistent
                };
            }
            let gap = c.leading_gap();
            row += gap as usize;
            c = c.advance(gap);
        }
    }

    /// Takes back the latest insertions, given the rows that they filled.
    ///
    /// Later rows were reduced by earlier ones, never the other way round, so this is
    /// right for any set of rows that is closed under "inserted later".
    #[cfg_attr(
        not(test),
        expect(dead_code, reason = "balanced and bumped ribbons undo buckets")
    )]
    pub(crate) fn undo(&mut self, latest: impl IntoIterator<Item = usize>) {
        for row in latest {
            self.coefficients[row] = B::ZERO;
        }
    }
}

#[cfg(test)]
mod tests;
