//! Inserts equations into the system all together or not at all.
//!
//! A Balanced ribbon tries to insert a bucket: if one of its equations contradicts the system, the
//! rows that the others have filled are removed again. Neither the outcome nor the rows that a
//! bucket fills depend on the order of its equations.
//!
//! Such a system is almost full, and an equation passes some 36 rows (w = 64) before it finds an
//! empty one. So a lane's step here is a branch, unlike in `insert_all`: it is mispredicted only
//! about once per key, and a step that only adds a row and moves on is short.

use super::{Banding, Equation};
use crate::error::OutOfMemory;
use crate::ribbon::width::Band;
use crate::solve::right_side::RightSide;
use crate::storage::memory::try_reserve;
use alloc::vec::Vec;

/// An equation contradicts the system.
struct Contradiction;

/// Equations that are being inserted into the system.
struct Insertions<'a, B, R, E> {
    coefficients: &'a mut [B],
    right_sides: &'a mut [R],
    equations: E,
    /// The rows that were filled.
    filled: &'a mut Vec<usize>,
    redundant: u64,
    /// Number of equations that are neither in the system nor found to be redundant.
    pending: usize,
}

impl<B: Band, R: RightSide> Banding<B, R> {
    /// Inserts all equations or, if any is inconsistent, none. Returns the number of redundant
    /// ones, or `None` if nothing was inserted. `filled` is a buffer for the rows that are filled.
    #[inline(always)]
    pub(crate) fn insert_all_or_none(
        &mut self,
        equations: impl ExactSizeIterator<Item = Equation<B, R>>,
        filled: &mut Vec<usize>,
    ) -> Result<Option<u64>, OutOfMemory> {
        filled.clear();
        try_reserve(filled, equations.len())?;
        // Slices of equal length, so that one bounds check covers both.
        let rows = self.coefficients.len();
        let mut insertions = Insertions {
            coefficients: &mut self.coefficients[..rows],
            right_sides: &mut self.right_sides[..rows],
            pending: equations.len(),
            equations,
            filled,
            redundant: 0,
        };
        if insertions.run().is_ok() {
            return Ok(Some(insertions.redundant));
        }
        self.undo(filled.iter().copied());
        Ok(None)
    }
}

impl<B: Band, R: RightSide, E: Iterator<Item = Equation<B, R>>> Insertions<'_, B, R, E> {
    /// Four lanes take their steps in turn, because each step waits for memory.
    #[inline(always)]
    fn run(&mut self) -> Result<(), Contradiction> {
        let [mut a, mut b, mut c, mut d] = [(); 4].map(|()| self.next());
        while self.pending > 0 {
            self.step(&mut a)?;
            self.step(&mut b)?;
            self.step(&mut c)?;
            self.step(&mut d)?;
        }
        Ok(())
    }

    /// The next equation. If there is none left, an equation without coefficients at the spare row
    /// after the last, where it changes nothing.
    #[inline(always)]
    fn next(&mut self) -> Equation<B, R> {
        let start = self.coefficients.len() - 1;
        let idle = Equation { start, coefficients: B::ZERO, right_side: R::ZERO };
        self.equations.next().unwrap_or(idle)
    }

    /// One step of Algorithm 1.
    #[inline(always)]
    fn step(&mut self, lane: &mut Equation<B, R>) -> Result<(), Contradiction> {
        let row = lane.start;
        let occupant = self.coefficients[row];
        let sum = lane.coefficients ^ occupant;
        if occupant == B::ZERO {
            if lane.coefficients != B::ZERO {
                self.coefficients[row] = lane.coefficients;
                self.right_sides[row] = lane.right_side;
                self.filled.push(row);
                self.pending -= 1;
            }
            *lane = self.next();
            return Ok(());
        }
        let right_side = lane.right_side.xor(self.right_sides[row]);
        if sum == B::ZERO {
            if right_side != R::ZERO {
                return Err(Contradiction);
            }
            self.redundant += 1;
            self.pending -= 1;
            *lane = self.next();
            return Ok(());
        }
        let gap = sum.leading_gap();
        let (start, coefficients) = (row + gap as usize, sum.advance(gap));
        *lane = Equation { start, coefficients, right_side };
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Random;

    type System<B> = Banding<B, u32>;

    fn equations<B: Band>(random: &mut Random, slots: u64, count: usize) -> Vec<Equation<B, u32>> {
        let one = B::from_words(1, 0);
        let equation = |random: &mut Random| {
            let start = random.below(slots - u64::from(B::WIDTH.bits()) + 1) as usize;
            let bits = random.band::<B>();
            // Set the first coefficient to 1.
            let coefficients = bits ^ (bits & one) ^ one;
            Equation { start, coefficients, right_side: random.next() as u32 }
        };
        (0..count).map(|_| equation(random)).collect()
    }

    /// Inserts one by one. Returns the number of redundant equations, or `None` if one is
    /// inconsistent.
    fn one_by_one<B: Band>(system: &mut System<B>, bucket: &[Equation<B, u32>]) -> Option<u64> {
        let mut redundant = 0;
        for equation in bucket {
            match system.insert(equation.start, equation.coefficients, equation.right_side) {
                crate::solve::banding::Insertion::At(_) => {}
                crate::solve::banding::Insertion::Redundant => redundant += 1,
                crate::solve::banding::Insertion::Inconsistent => return None,
            }
        }
        Some(redundant)
    }

    /// Fills a system completely, bucket by bucket.
    fn check<B: Band>() {
        const SLOTS: usize = 400;
        let mut random = Random(11);
        let mut filled = Vec::new();
        let (mut taken, mut refused) = (0, 0);
        for _ in 0..30 {
            let mut system = System::<B>::new(SLOTS).expect("memory");
            for size in [100, 100, 80, 60, 3, 50, 1, 40, 30, 20, 0, 10, 5] {
                let mut bucket = equations::<B>(&mut random, SLOTS as u64, size);
                if size == 60 {
                    bucket.extend_from_within(20..25); // duplicates
                }
                let mut expected = system.clone();
                let outcome = one_by_one(&mut expected, &bucket);
                let before = system.clone();
                let insertion = system.insert_all_or_none(bucket.into_iter(), &mut filled);
                assert_eq!(insertion.expect("memory"), outcome);
                let now = system.coefficients;
                if outcome.is_some() {
                    taken += 1;
                    // Which rows are filled does not depend on the order; their contents do.
                    for (row, other) in now.iter().zip(&expected.coefficients) {
                        assert_eq!(*row == B::ZERO, *other == B::ZERO);
                    }
                } else {
                    refused += 1;
                    assert_eq!(now, before.coefficients);
                }
                system = System { coefficients: now, right_sides: system.right_sides };
            }
        }
        assert!(taken > 100 && refused > 30, "{taken} taken, {refused} refused");
    }

    #[test]
    fn buckets_go_in_whole_or_not_at_all() {
        check::<u32>();
        check::<u64>();
        check::<u128>();
    }
}
