//! The layouts that the paper considers (section 5.2): by rows, by columns, and interleaved columns.
//! A query by rows goes through all `w` rows; by columns, each column is another cache line;
//! interleaved columns have neither problem. All for `w` = 64.

use crate::random::{Random, hashes};
use crate::{Layout, Solution, Width};
use std::hint::black_box;
use std::io::{self, Write};
use std::time::Instant;

const W: u64 = Width::W64.slots();

/// A row of at most 16 columns after the other.
pub struct RowMajor(Vec<u16>);

/// A column after the other, each with a word more than its rows need.
pub struct ColumnMajor(Vec<Vec<u64>>);

impl RowMajor {
    /// The rows of a solution.
    pub fn of(solution: &Solution) -> Self {
        Self((0..solution.layout().slots()).map(|slot| solution.row(slot) as u16).collect())
    }

    /// Equation (1), row by row.
    pub fn query(&self, start: u64, coefficients: u64) -> u64 {
        let rows = &self.0[start as usize..][..W as usize];
        let selected = rows.iter().enumerate().map(|(k, &row)| {
            // Zero or all ones: a branch could not be predicted.
            row & 0u16.wrapping_sub((coefficients >> k & 1) as u16)
        });
        selected.fold(0, |sum, row| sum ^ row).into()
    }
}

impl ColumnMajor {
    /// The columns of a solution.
    pub fn of(solution: &Solution) -> Self {
        let layout = solution.layout();
        let mut columns =
            vec![vec![0; layout.blocks() as usize + 1]; layout.max_columns() as usize];
        for slot in 0..layout.slots() {
            let row = solution.row(slot);
            for (j, column) in columns.iter_mut().enumerate() {
                column[(slot / W) as usize] |= (row >> j & 1) << (slot % W);
            }
        }
        Self(columns)
    }

    /// Equation (1), column by column.
    pub fn query(&self, start: u64, coefficients: u64) -> u64 {
        let (word, shift) = ((start / W) as usize, (start % W) as u32);
        let bit = |column: &Vec<u64>| {
            let pair = u128::from(column[word + 1]) << W | u128::from(column[word]);
            u64::from(((pair >> shift) as u64 & coefficients).count_ones() & 1)
        };
        self.0.iter().enumerate().fold(0, |sum, (j, column)| sum | bit(column) << j)
    }
}

/// A solution of random bits.
fn random_solution(slots: u64, columns: u32) -> Solution {
    let layout = Layout::new(Width::W64, slots, columns.into());
    let bytes = Random::new(1).flat_map(u64::to_le_bytes).take(layout.size()).collect();
    Solution::from_bytes(layout, bytes).expect("the size of the layout")
}

/// The least time of a query in nanoseconds, for random starts and coefficients.
fn time(slots: u64, query: impl Fn(u64, u64) -> u64) -> f64 {
    let equations: Vec<(u64, u64)> =
        hashes(1 << 16, 2).into_iter().map(|hash| (hash % (slots - W), hash | 1)).collect();
    let round = |_| {
        let begin = Instant::now();
        black_box(equations.iter().fold(0, |sum, &(start, c)| sum ^ query(start, c)));
        begin.elapsed().as_nanos() as f64 / equations.len() as f64
    };
    (0..5).map(round).fold(f64::INFINITY, f64::min)
}

/// Prints the time of a query of all columns, in a solution that is not in the cache.
pub fn run(out: &mut dyn Write, scale: f64) -> io::Result<()> {
    let slots = ((1 << 23) as f64 * scale.min(16.0)).max(4096.0) as u64 / W * W;
    writeln!(
        out,
        "# ns for all columns of a query, {slots} slots (paper: by columns only for r <= 2)"
    )?;
    writeln!(out, "r\tby rows\tby columns\tinterleaved")?;
    for columns in [1, 2, 4, 8, 16] {
        let solution = random_solution(slots, columns);
        let (rows, by_columns) = (RowMajor::of(&solution), ColumnMajor::of(&solution));
        let rows = time(slots, |start, c| rows.query(start, c));
        let by_columns = time(slots, |start, c| by_columns.query(start, c));
        let interleaved = time(slots, |start, c| solution.query(start, c));
        writeln!(out, "{columns}\t{rows:.1}\t{by_columns:.1}\t{interleaved:.1}")?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_layouts_give_the_same_results() {
        for columns in [1, 7, 16] {
            let solution = random_solution(640, columns);
            let (rows, by_columns) = (RowMajor::of(&solution), ColumnMajor::of(&solution));
            for (start, c) in (0..=640 - W).zip(Random::new(3)) {
                let expected = solution.query(start, c);
                assert_eq!(rows.query(start, c), expected);
                assert_eq!(by_columns.query(start, c), expected);
            }
        }
    }
}
