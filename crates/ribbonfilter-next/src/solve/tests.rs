//! Every kernel against dense Gaussian elimination, and large systems against their own equations.

use super::{Equations, Failure, RowBuffer, Workspace, solve};
use crate::kernel::Kernel;
use crate::testing::Random;
use alloc::vec;
use alloc::vec::Vec;
use core::array;

/// A system and, after it was solved, its solution.
#[derive(Clone, Default)]
struct System<const K: usize> {
    /// For each block its rows, coefficients and right side.
    blocks: Vec<Vec<([u64; K], u64)>>,
    right_bits: u32,
    solution: Vec<Vec<u64>>,
}

impl<const K: usize> Equations<K> for System<K> {
    fn blocks(&self) -> usize {
        self.blocks.len()
    }

    fn rows(&mut self, block: usize, rows: &mut RowBuffer<K>) -> Result<(), Failure> {
        // In two parts, so that appending to rows is tested.
        let (first, second) = self.blocks[block].split_at(self.blocks[block].len() / 3);
        for part in [first, second] {
            let (mut words, right) = rows.append(part.len())?;
            for (i, row) in part.iter().enumerate() {
                for (array, word) in words.iter_mut().zip(row.0) {
                    array[i] = word;
                }
                right[i] = row.1;
            }
        }
        Ok(())
    }

    fn solved(&mut self, block: usize, columns: &[u64]) {
        assert_eq!(self.solution.len(), self.blocks.len() - 1 - block, "in this order");
        self.solution.push(columns.to_vec());
    }
}

impl<const K: usize> System<K> {
    /// A random system. `starts` blocks get the number of rows that `count` returns.
    fn random(
        random: &mut Random,
        starts: usize,
        right_bits: u32,
        mut count: impl FnMut(&mut Random, usize) -> u64,
    ) -> Self {
        let row = |random: &mut Random| {
            (array::from_fn(|_| random.next()), low_bits(random.next(), right_bits))
        };
        let mut blocks: Vec<Vec<_>> = (0..starts)
            .map(|start| (0..count(random, start)).map(|_| row(random)).collect())
            .collect();
        blocks.resize(starts + K - 1, Vec::new());
        Self { blocks, right_bits, solution: Vec::new() }
    }

    /// Gives the rows right sides of which a solution exists: that of random values.
    fn make_solvable(&mut self, random: &mut Random) {
        let values: Vec<u64> =
            (0..64 * self.blocks.len()).map(|_| low_bits(random.next(), self.right_bits)).collect();
        for (block, rows) in self.blocks.iter_mut().enumerate() {
            for (words, right) in rows {
                *right = 0;
                for slot in (0..64 * K).filter(|slot| words[slot / 64] >> (slot % 64) & 1 != 0) {
                    *right ^= values[64 * block + slot];
                }
            }
        }
    }

    fn rows(&self) -> usize {
        self.blocks.iter().map(Vec::len).sum()
    }

    /// The solution, from the first block on, and the number of redundant rows.
    fn solve(&self, kernel: Kernel, workspace: &mut Workspace) -> Result<Solution, Failure> {
        let mut system = self.clone();
        let redundant = solve(kernel, workspace, &mut system, self.right_bits)?;
        system.solution.reverse();
        Ok((system.solution, redundant))
    }

    /// The same by dense Gaussian elimination, a bit at a time.
    fn oracle(&self) -> Result<Solution, Failure> {
        let columns = 64 * self.blocks.len();
        let mut dense = Vec::new();
        for (block, rows) in self.blocks.iter().enumerate() {
            for (words, right) in rows {
                let mut bits = vec![0u64; self.blocks.len() + K];
                bits[block..block + K].copy_from_slice(words);
                dense.push((bits, *right));
            }
        }
        let has =
            |row: &(Vec<u64>, u64), column: usize| row.0[column / 64] >> (column % 64) & 1 != 0;
        let mut pivots = Vec::new();
        for column in 0..columns {
            let rank = pivots.len();
            let Some(row) = (rank..dense.len()).find(|&row| has(&dense[row], column)) else {
                continue;
            };
            dense.swap(rank, row);
            let pivot = dense[rank].clone();
            for (row, other) in dense.iter_mut().enumerate() {
                if row != rank && has(other, column) {
                    other.0.iter_mut().zip(&pivot.0).for_each(|(word, with)| *word ^= with);
                    other.1 ^= pivot.1;
                }
            }
            pivots.push(column);
        }
        if dense[pivots.len()..].iter().any(|row| row.1 != 0) {
            return Err(Failure::NoSolution);
        }
        let mut solution = vec![vec![0; self.right_bits as usize]; self.blocks.len()];
        for (row, &column) in dense.iter().zip(&pivots) {
            for (bit, word) in solution[column / 64].iter_mut().enumerate() {
                *word |= (row.1 >> bit & 1) << (column % 64);
            }
        }
        Ok((solution, (dense.len() - pivots.len()) as u64))
    }

    /// All kernels return what the oracle does, or the first kernel if it would take too long.
    #[track_caller]
    fn check(&self, workspace: &mut Workspace) -> Result<Solution, Failure> {
        let expected = match self.blocks.len() {
            ..=45 => self.oracle(),
            _ => self.solve(Kernel::available().next().expect("portable"), workspace),
        };
        for kernel in Kernel::available() {
            let found = self.solve(kernel, workspace);
            assert!(
                found == expected,
                "{kernel:?}, K = {K}, {} blocks, {} rows, {} right bits: {:?}, expected {:?}",
                self.blocks.len(),
                self.rows(),
                self.right_bits,
                found.map(|found| found.1),
                expected.map(|expected| expected.1),
            );
        }
        expected
    }
}

/// A solution, and the number of redundant rows.
type Solution = (Vec<Vec<u64>>, u64);

fn low_bits(x: u64, bits: u32) -> u64 {
    x & !u64::MAX.checked_shl(bits).unwrap_or(0)
}

/// About Poisson: 16 times the mean as many trials of 1/16.
fn poisson(random: &mut Random, mean: u64) -> u64 {
    (0..16 * mean).filter(|_| random.below(16) == 0).count() as u64
}

const RIGHT_BITS: [u32; 8] = [0, 1, 7, 8, 9, 16, 33, 64];

/// Calls a generic function for every K.
macro_rules! for_every_width {
    ($($name:ident)+) => {$(
        #[test]
        fn $name() {
            generic::$name::<1>();
            generic::$name::<2>();
            generic::$name::<3>();
            generic::$name::<4>();
            generic::$name::<5>();
        }
    )+};
}
for_every_width! {
    small_systems every_load sparse_rows duplicates crowded_block contradictions capacity
    large_systems
}

mod generic {
    use super::*;

    pub(super) fn small_systems<const K: usize>() {
        let mut random = Random(1);
        let mut workspace = Workspace::default();
        for round in 0..24 {
            let right_bits = RIGHT_BITS[round % 8];
            let (starts, rows) = (1 + round / 8, 1 + random.below(70));
            let mut system = System::<K>::random(&mut random, starts, right_bits, |random, _| {
                random.below(rows)
            });
            let _ = system.check(&mut workspace);
            system.make_solvable(&mut random);
            system.check(&mut workspace).expect("solvable");
        }
        let empty =
            System::<K> { blocks: vec![Vec::new(); K], right_bits: 8, ..Default::default() };
        assert_eq!(empty.check(&mut workspace).expect("empty").0, vec![vec![0; 8]; K]);
        let none = System::<K>::default();
        assert_eq!(none.check(&mut workspace), Ok((Vec::new(), 0)));
    }

    pub(super) fn every_load<const K: usize>() {
        let mut random = Random(2);
        let mut workspace = Workspace::default();
        for (round, mean) in [10, 40, 60, 63, 64, 66, 70, 100, 200].into_iter().enumerate() {
            for starts in [2, 5, 12, 40 - 4 * K] {
                let right_bits = RIGHT_BITS[(round + starts) % 8];
                let mut system =
                    System::<K>::random(&mut random, starts, right_bits, |random, _| {
                        poisson(random, mean)
                    });
                if starts == 5 {
                    let _ = system.check(&mut workspace);
                }
                system.make_solvable(&mut random);
                system.check(&mut workspace).expect("solvable");
            }
        }
    }

    /// Rows with few coefficients: many columns are free, and searches fail in the first rows.
    pub(super) fn sparse_rows<const K: usize>() {
        let mut random = Random(3);
        let mut workspace = Workspace::default();
        for round in 0..40 {
            let mut system =
                System::<K>::random(&mut random, 6, RIGHT_BITS[round % 8], |random, start| {
                    match start {
                        3 => 0,
                        _ => poisson(random, 10 + 3 * round as u64),
                    }
                });
            for row in system.blocks.iter_mut().flatten() {
                let bits: [usize; 3] = array::from_fn(|_| random.below(64 * K as u64) as usize);
                row.0 = [0; K];
                for bit in bits {
                    row.0[bit / 64] ^= 1 << (bit % 64);
                }
                // In every other system only the last bits of every byte, or of every word.
                let masks = [!0, 0xc0c0_c0c0_c0c0_c0c0, 0xffff << 48, !0];
                row.0.iter_mut().for_each(|word| *word &= masks[round % 4]);
            }
            let _ = system.check(&mut workspace);
            system.make_solvable(&mut random);
            system.check(&mut workspace).expect("solvable");
        }
    }

    pub(super) fn duplicates<const K: usize>() {
        let mut random = Random(4);
        let mut workspace = Workspace::default();
        for right_bits in RIGHT_BITS {
            let mut system =
                System::<K>::random(&mut random, 8, right_bits, |random, _| poisson(random, 50));
            for rows in &mut system.blocks {
                let copies = random.below(3) as usize;
                *rows = rows.iter().flat_map(|&row| [row].repeat(1 + copies)).collect();
                random.shuffle(rows);
            }
            let _ = system.check(&mut workspace);
            system.make_solvable(&mut random);
            system.check(&mut workspace).expect("solvable");
        }
        // Many of one row, and one of them with another right side.
        let mut system = System::<K>::random(&mut random, 3, 8, |_, _| 1);
        system.blocks[1] = [system.blocks[1][0]].repeat(100_000);
        assert_eq!(system.check(&mut workspace).expect("solvable").1, 99_999);
        system.blocks[1][77_777].1 ^= 4;
        assert_eq!(system.check(&mut workspace), Err(Failure::NoSolution));
    }

    /// One block with more rows than all blocks have columns, and with just fewer than fit.
    pub(super) fn crowded_block<const K: usize>() {
        let mut random = Random(5);
        let mut workspace = Workspace::default();
        for count in [64 * K as u64, 400, 700, 767, 768, 769, 3000] {
            let mut system = System::<K>::random(&mut random, 5, 9, |random, start| match start {
                2 => count,
                _ => poisson(random, 30),
            });
            system.make_solvable(&mut random);
            system.check(&mut workspace).expect("solvable");
        }
    }

    /// A single wrong right side in a system with redundant rows: the failure is the same.
    pub(super) fn contradictions<const K: usize>() {
        let mut random = Random(6);
        let mut workspace = Workspace::default();
        let mut failures = 0;
        let mean = 64 * (K as u64 + 5) / 6 + 2; // in 6 of K + 5 blocks
        for round in 0..60 {
            let right_bits = RIGHT_BITS[1 + round % 7];
            let mut system =
                System::<K>::random(&mut random, 6, right_bits, |random, _| poisson(random, mean));
            system.make_solvable(&mut random);
            let rows = &mut system.blocks[round % 6];
            let row = random.below(rows.len() as u64) as usize;
            rows[row].1 ^= 1 << random.below(right_bits.into());
            failures += u32::from(system.check(&mut workspace).is_err());
        }
        assert!(failures > 0);
        // A row without coefficients.
        let mut system = System::<K>::random(&mut random, 2, 64, |_, _| 20);
        system.blocks[1][7].0 = [0; K];
        system.blocks[1][7].1 = 1 << 63;
        assert_eq!(system.check(&mut workspace), Err(Failure::NoSolution));
        system.blocks[1][7].1 = 0;
        assert_eq!(system.check(&mut workspace).expect("solvable").1, 1);
    }

    /// Overloaded throughout: redundant rows wait, but never without bound.
    pub(super) fn capacity<const K: usize>() {
        let mut random = Random(7);
        let mut workspace = Workspace::default();
        for mean in [70, 90, 300] {
            let mut system =
                System::<K>::random(&mut random, 300, 16, |random, _| poisson(random, mean));
            system.make_solvable(&mut random);
            let redundant = system.check(&mut workspace).expect("solvable").1;
            assert!(redundant as usize >= system.rows() - 64 * system.blocks.len());
        }
    }

    /// Every equation holds.
    pub(super) fn large_systems<const K: usize>() {
        let mut random = Random(8);
        let mut workspace = Workspace::default();
        for (starts, right_bits) in [(10_000, 8), (1_000, 64)] {
            let mut system = System::<K>::random(&mut random, starts, right_bits, |random, _| {
                poisson(random, 60)
            });
            system.make_solvable(&mut random);
            let (solution, _) = system.check(&mut workspace).expect("solvable");
            for (block, rows) in system.blocks.iter().enumerate() {
                for (words, right) in rows {
                    let value = (0..right_bits as usize).fold(0, |value, bit| {
                        let ones: u32 = (0..K)
                            .map(|j| (words[j] & solution[block + j][bit]).count_ones())
                            .sum();
                        value | u64::from(ones & 1) << bit
                    });
                    assert_eq!(value, *right, "block {block}");
                }
            }
        }
    }
}
