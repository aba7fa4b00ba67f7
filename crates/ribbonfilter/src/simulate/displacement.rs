//! Counts the work of Algorithm 1: the displacements and row additions of the paper's section 3.

use crate::Width;
use crate::ribbon::equation::{Seed, Starts, mix, seeded};
use crate::ribbon::width::{Band, with_band};
use alloc::vec;
use alloc::vec::Vec;

/// The order in which keys are inserted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InsertionOrder {
    /// The order of the keys.
    Given,
    /// Ascending starts.
    Ascending,
    /// Descending starts.
    Descending,
}

/// The work of inserting keys one by one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// Keys that filled a row.
    pub inserted: u64,
    /// Keys that depended on earlier ones.
    pub redundant: u64,
    /// The paper's `D`: over all inserted keys, the sum of the filled row minus the start.
    pub displacement: u64,
    /// The rows that were added to the equations of inserted keys.
    pub additions: u64,
}

/// Inserts keys into a system without smash by Algorithm 1.
pub fn insertion_work(
    width: Width,
    slots: u64,
    order: InsertionOrder,
    key_hashes: impl Iterator<Item = u64>,
) -> Work {
    fn run<B: Band>(
        slots: u64,
        order: InsertionOrder,
        keys: impl Iterator<Item = u64>,
    ) -> (Work, Vec<B>) {
        let starts = Starts::with_smash(slots, B::WIDTH, 0);
        let equation = |key_hash| {
            let hash = seeded(mix(key_hash), Seed::new(0));
            let start = starts.start(hash);
            (start as usize, starts.coefficients::<B>(hash, start))
        };
        let mut equations: Vec<(usize, B)> = keys.map(equation).collect();
        if order != InsertionOrder::Given {
            equations.sort_by_key(|&(start, _)| start);
        }
        if order == InsertionOrder::Descending {
            equations.reverse();
        }
        let mut rows = vec![B::ZERO; slots as usize];
        let mut work = Work::default();
        for (start, coefficients) in equations {
            insert(&mut rows, start, coefficients, &mut work);
        }
        (work, rows)
    }
    with_band!(width, B => run::<B>(slots, order, key_hashes).0)
}

fn insert<B: Band>(rows: &mut [B], start: usize, coefficients: B, work: &mut Work) {
    let (mut row, mut c, mut additions) = (start, coefficients, 0);
    loop {
        if rows[row] == B::ZERO {
            rows[row] = c;
            work.inserted += 1;
            work.displacement += (row - start) as u64;
            work.additions += additions;
            return;
        }
        c = c ^ rows[row];
        additions += 1;
        if c == B::ZERO {
            work.redundant += 1;
            return;
        }
        let gap = c.leading_gap();
        row += gap as usize;
        c = c.advance(gap);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solve::banding::{Banding, Insertion};
    use crate::testing::Random;

    /// The displacements are those of the system that filters are built with, in any order of the
    /// keys (proof of theorem 3.2), and there are at most as many additions.
    #[test]
    fn displacements_are_those_of_the_system() {
        const SLOTS: u64 = 4000;
        let mut random = Random(3);
        let hashes: Vec<u64> = (0..3700).map(|_| random.next()).collect();
        let work = |order| insertion_work(Width::W64, SLOTS, order, hashes.iter().copied());
        let starts = Starts::with_smash(SLOTS, Width::W64, 0);
        let mut banding = Banding::<u64, ()>::new(SLOTS as usize).unwrap();
        let displacements = hashes.iter().map(|&key_hash| {
            let hash = seeded(mix(key_hash), Seed::new(0));
            let start = starts.start(hash);
            match banding.insert(start as usize, starts.coefficients(hash, start), ()) {
                Insertion::At(row) => row as u64 - start,
                other => panic!("{other:?}"),
            }
        });
        let expected: u64 = displacements.sum();
        for order in [InsertionOrder::Given, InsertionOrder::Ascending, InsertionOrder::Descending]
        {
            let Work { inserted, redundant, displacement, additions } = work(order);
            assert_eq!((inserted, redundant, displacement), (3700, 0, expected), "{order:?}");
            assert!(additions <= displacement, "{order:?}: {additions} of {displacement}");
        }
    }
}
