//! Boolean banding on the fly (paper, section 3): Algorithm 1, and how to undo it.
//!
//! The system `M` is kept in echelon form. Row `i` is either empty or an equation
//! `c_i * Z[i .. i+w) = b_i` whose first coefficient, that of slot `i`, is 1.
//!
//! ```text
//! slots ->
//! 1 . 1 1
//!   1 1 . 1
//!     (empty)            w = 4
//!       1 . . 1
//! ```
//!
//! Which rows are filled, and the solution, do not depend on the order of the equations (proof of
//! theorem 3.2). Nothing is sorted, no pivots are stored, and redundant equations are harmless;
//! in these three points the algorithm differs from its predecessor, sgauss.

use crate::width::Word;
use std::fmt::Debug;

/// The right-hand side of an equation: a fingerprint, a value, or nothing.
pub trait RightSide: Copy + Eq + Debug + Send + Sync + 'static {
    /// The right-hand side of a homogeneous equation.
    const ZERO: Self;
    /// The sum of two right-hand sides.
    fn xor(self, other: Self) -> Self;
    /// One bit per column of the solution.
    fn bits(self) -> u64;
}

/// Homogeneous equations store no right-hand sides (section 4).
impl RightSide for () {
    const ZERO: Self = ();

    fn xor(self, (): Self) {}

    fn bits(self) -> u64 {
        0
    }
}

macro_rules! right_sides {
    ($($number:ty)*) => {$(
        impl RightSide for $number {
            const ZERO: Self = 0;

            fn xor(self, other: Self) -> Self {
                self ^ other
            }

            fn bits(self) -> u64 {
                self.into()
            }
        }
    )*};
}

right_sides! { u32 u64 }

/// An equation to be inserted: `coefficients * Z[start .. start+w) = right_side`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Equation<W, R> {
    /// The first slot, at most `m - w`.
    pub start: u64,
    /// The coefficients; the first is 1.
    pub coefficients: W,
    /// The right-hand side.
    pub right_side: R,
}

/// What became of an equation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Insertion {
    /// Case 1: it filled this row.
    Row(u64),
    /// Case 2.1: it follows from the equations that were inserted before.
    Redundant,
    /// Case 2.2: it contradicts them.
    Inconsistent,
}

/// The linear system `M`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Banding<W, R> {
    /// Zero where a row is empty.
    coefficients: Vec<W>,
    /// Meaningless where a row is empty.
    right_sides: Vec<R>,
    /// The number of rows that were added to equations: the steps of Algorithm 1.
    additions: u64,
}

impl<W: Word, R: RightSide> Banding<W, R> {
    /// A system of `slots` empty rows.
    pub fn new(slots: u64) -> Self {
        let (coefficients, right_sides) =
            (vec![W::ZERO; slots as usize], vec![R::ZERO; slots as usize]);
        Self { coefficients, right_sides, additions: 0 }
    }

    /// The number of rows, filled or not.
    pub fn slots(&self) -> u64 {
        self.coefficients.len() as u64
    }

    /// Empties all rows.
    pub fn clear(&mut self) {
        self.coefficients.fill(W::ZERO);
        self.additions = 0;
    }

    /// Algorithm 1.
    pub fn insert(&mut self, equation: Equation<W, R>) -> Insertion {
        let Equation { start, coefficients: mut c, right_side: mut b } = equation;
        let mut i = start as usize;
        loop {
            if self.coefficients[i] == W::ZERO {
                self.coefficients[i] = c;
                self.right_sides[i] = b;
                return Insertion::Row(i as u64);
            }
            c = c ^ self.coefficients[i];
            b = b.xor(self.right_sides[i]);
            self.additions += 1;
            if c == W::ZERO {
                return match b == R::ZERO {
                    true => Insertion::Redundant,
                    false => Insertion::Inconsistent,
                };
            }
            let j = c.first_set();
            i += j as usize;
            c = c.drop_first(j);
        }
    }

    /// Inserts equations until the first that is inconsistent. Returns whether there was none.
    pub fn insert_all(&mut self, equations: impl IntoIterator<Item = Equation<W, R>>) -> bool {
        equations.into_iter().all(|equation| self.insert(equation) != Insertion::Inconsistent)
    }

    /// Inserts all equations or, if one is inconsistent, none: the rows that the others have
    /// filled are emptied again. `filled` is a buffer.
    pub fn insert_all_or_none(
        &mut self,
        equations: impl IntoIterator<Item = Equation<W, R>>,
        filled: &mut Vec<u64>,
    ) -> bool {
        filled.clear();
        for equation in equations {
            match self.insert(equation) {
                Insertion::Row(row) => filled.push(row),
                Insertion::Redundant => {}
                Insertion::Inconsistent => {
                    self.undo(filled);
                    return false;
                }
            }
        }
        true
    }

    /// Removes the latest insertions, given the rows that they filled. Earlier rows were never
    /// changed by later ones, so nothing else is to be restored.
    pub fn undo(&mut self, rows: &[u64]) {
        for &row in rows {
            self.coefficients[row as usize] = W::ZERO;
        }
    }

    /// Whether an equation's left side depends on the rows of the system.
    pub fn depends(&self, start: u64, coefficients: W) -> bool {
        let (mut i, mut c) = (start as usize, coefficients);
        while self.coefficients[i] != W::ZERO {
            c = c ^ self.coefficients[i];
            if c == W::ZERO {
                return true;
            }
            let j = c.first_set();
            i += j as usize;
            c = c.drop_first(j);
        }
        false
    }

    /// The coefficients of a row, zero if it is empty, and its right-hand side.
    pub fn row(&self, row: u64) -> (W, R) {
        (self.coefficients[row as usize], self.right_sides[row as usize])
    }

    /// Whether a row is filled.
    pub fn is_filled(&self, row: u64) -> bool {
        self.coefficients[row as usize] != W::ZERO
    }

    /// The number of filled rows: the rank of the system.
    pub fn rank(&self) -> u64 {
        self.coefficients.iter().filter(|&&c| c != W::ZERO).count() as u64
    }

    /// The number of rows that were added to equations since the system was empty.
    pub fn additions(&self) -> u64 {
        self.additions
    }
}

#[cfg(test)]
mod tests;
