//! The false-positive rate: nominal (paper, sections 2 and 5.1), and exact for a homogeneous
//! solution (section 4).
//!
//! A query of a homogeneous filter returns "yes" if `c * Z = 0`. For a start `s` the first
//! coefficient is 1 and the `w - 1` others are random, so the probability of "yes" is
//!
//! ```text
//! 2^-rank(Z[s+1 .. s+w))   if Z[s] is in the span of these rows, else 0,
//! ```
//!
//! and the rate is the average over the starts. The paper sees "no obvious way to detect" a bad
//! rate of a small filter; this sum does, in one pass over the solution. The pass goes from the
//! last start to the first with a basis that prefers rows near to the current one, so the rows of
//! every window are a part of the basis.

use crate::{Solution, Starts};

/// The rate of a static function of fingerprints: `2^-r`, averaged over slots with different `r`.
pub fn nominal(solution: &Solution) -> f64 {
    let layout = solution.layout();
    let fewer = layout.boundary_slot() as f64 / (layout.slots() as f64).max(1.0);
    libm::exp2(-f64::from(layout.max_columns())) * (1.0 + fewer)
}

/// The rate with the keys whose 64-bit hash is that of a member (section 5.3).
pub fn with_collisions(rate: f64, keys: u64) -> f64 {
    rate + (1.0 - rate) * keys as f64 / 18_446_744_073_709_551_616.0 // 2^64
}

/// The exact rate of a homogeneous solution.
pub fn homogeneous(solution: &Solution, starts: &Starts) -> f64 {
    let boundary = solution.layout().boundary_slot().min(starts.count());
    let max = solution.layout().max_columns();
    // Windows that start in front of the boundary have one column fewer.
    let fewer = if boundary > 0 { sum(solution, starts, 0..boundary, max - 1) } else { 0.0 };
    let others = sum(solution, starts, boundary..starts.count(), max);
    (fewer + others) / starts.total_weight() as f64
}

/// The weighted sum of the rates of a range of starts, with the first `columns` columns.
fn sum(solution: &Solution, starts: &Starts, range: std::ops::Range<u64>, columns: u32) -> f64 {
    let w = solution.layout().width().slots();
    let mask = ((1u128 << columns) - 1) as u64;
    let mut basis = Basis::new(columns as usize);
    let mut sum = 0.0;
    for slot in (range.start..(range.end + w - 1).min(solution.layout().slots())).rev() {
        let row = solution.row(slot) & mask;
        if slot < range.end && basis.spans(row, slot + w) {
            sum += starts.weight(slot) as f64 * libm::exp2(-f64::from(basis.rank(slot + w)));
        }
        basis.insert(row, slot);
    }
    sum
}

/// A basis of rows in which each vector needs only rows up to a certain one, the nearest possible.
struct Basis {
    /// The vector whose highest bit is `i`, or 0.
    vectors: Vec<u64>,
    /// The last row that the vector needs.
    needs: Vec<u64>,
}

impl Basis {
    fn new(columns: usize) -> Self {
        Self { vectors: vec![0; columns], needs: vec![u64::MAX; columns] }
    }

    /// Adds a row. Rows must come in descending order.
    fn insert(&mut self, mut row: u64, mut needs: u64) {
        while row != 0 {
            let lead = row.ilog2() as usize;
            if self.vectors[lead] == 0 {
                (self.vectors[lead], self.needs[lead]) = (row, needs);
                return;
            }
            if needs < self.needs[lead] {
                std::mem::swap(&mut self.vectors[lead], &mut row);
                std::mem::swap(&mut self.needs[lead], &mut needs);
            }
            row ^= self.vectors[lead];
        }
    }

    /// The rank of the rows before `end`.
    fn rank(&self, end: u64) -> u32 {
        // An empty place of the basis needs a row that does not exist.
        self.needs.iter().filter(|&&needs| needs < end).count() as u32
    }

    /// Whether a row is in the span of the rows before `end`.
    fn spans(&self, mut row: u64, end: u64) -> bool {
        while row != 0 {
            let lead = row.ilog2() as usize;
            if self.vectors[lead] == 0 || self.needs[lead] >= end {
                return false;
            }
            row ^= self.vectors[lead];
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Layout;
    use crate::Width;
    use crate::random::Random;

    /// All coefficients of all starts of a small random solution, with deficient windows, are
    /// counted one by one.
    #[test]
    fn the_rate_is_the_fraction_of_coefficients_that_give_zero() {
        let (w, slots) = (16, 64);
        for (columns, zeros, smash) in [(1.0, 0, 0), (3.0, 0, 4), (4.5, 20, 0), (8.0, 25, 8)] {
            let layout = Layout::new(Width::W16, slots, columns);
            let mut random = Random::new(zeros);
            let mut bytes: Vec<u8> = (0..layout.size()).map(|_| random.number() as u8).collect();
            // Some rows are zero, and so windows lack rank.
            for slot in 0..zeros {
                let block = slot / w;
                for column in 0..layout.columns_of(block) {
                    let bit = slot % w;
                    bytes[layout.offset(block) + 2 * column + bit as usize / 8] &=
                        !(1 << (bit % 8));
                }
            }
            let solution = Solution::from_bytes(layout, bytes).expect("the right size");
            let starts = Starts::new(slots, Width::W16, smash);
            let mut expected = 0.0;
            for start in 0..starts.count() {
                let all = (0..1u32 << 15).map(|c| (c << 1 | 1) as u16);
                let zero = all.filter(|&c| solution.query(start, c) == 0).count();
                expected += starts.weight(start) as f64 * zero as f64 / f64::from(1 << 15);
            }
            expected /= starts.total_weight() as f64;
            let rate = homogeneous(&solution, &starts);
            assert!((rate - expected).abs() < 1e-12, "{rate}, not {expected}");
        }
    }

    #[test]
    fn equal_hashes_are_part_of_the_rate() {
        let rate = with_collisions(libm::exp2(-32.0), 1 << 32);
        assert!((rate * libm::exp2(32.0) - 2.0).abs() < 1e-6);
        assert_eq!(with_collisions(1.0, 1 << 40), 1.0);
    }
}
