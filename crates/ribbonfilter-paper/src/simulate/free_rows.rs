//! The free rows of a homogeneous solution: the paper's footnote has `p i mod 2^r` for row `i`,
//! this crate has a hash of `i`. In a small system the last free rows decide the rate.

use super::{homogeneous, mean_and_error, trials};
use crate::hash::free_row;
use crate::{Solution, Starts, Width, rate};
use std::io::{self, Write};

/// The paper's rule, with the fractional bits of the golden ratio as the odd number.
pub fn rule_of_the_paper(row: u64) -> u64 {
    row.wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

/// The exact rate over the nominal rate, by the rule of this crate and by the paper's.
pub fn ratios(slots: u64, columns: u32, hashes: &[u64]) -> [f64; 2] {
    let banding = homogeneous::<u64>(slots, 16, hashes);
    let starts = Starts::new(slots, Width::W64, 16);
    let ratio = |free: fn(u64) -> u64| {
        let solution = Solution::of(&banding, columns.into(), free);
        rate::homogeneous(&solution, &starts) * libm::exp2(columns.into())
    };
    [ratio(free_row), ratio(rule_of_the_paper)]
}

/// Prints means and maxima for small and large systems.
pub fn run(out: &mut dyn Write, scale: f64) -> io::Result<()> {
    writeln!(
        out,
        "# rate over 2^-r, w = 64, eps of equation (7): hashed free rows and the paper's"
    )?;
    writeln!(out, "keys\tr\tsystems\thashed mean\thashed max\tpaper mean\tpaper max")?;
    for (keys, columns) in [(1000, 8), (10_000, 8), (100_000, 8), (1000, 3), (1000, 12)] {
        let epsilon = crate::slots::homogeneous_epsilon(columns.into(), Width::W64);
        let slots = crate::slots::with_epsilon(keys, Width::W64, epsilon);
        let systems = (1e7 * scale / keys as f64).clamp(10.0, 10_000.0) as u64;
        let all = trials(systems, |random| {
            ratios(slots, columns, &random.take(keys as usize).collect::<Vec<_>>())
        });
        write!(out, "{keys}\t{columns}\t{systems}")?;
        for rule in 0..2 {
            let ratios: Vec<f64> = all.iter().map(|ratios| ratios[rule]).collect();
            let max = ratios.iter().copied().fold(0.0, f64::max);
            write!(out, "\t{:.3}\t{max:.3}", mean_and_error(&ratios).0)?;
        }
        writeln!(out)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::hashes;

    /// Free rows are there to span all columns: a window of a system that is nearly empty has full
    /// rank, and so exactly the nominal rate.
    #[test]
    fn free_rows_span_the_columns() {
        for columns in [1, 8, 16] {
            let [ratio, _] = ratios(64 * 50, columns, &hashes(500, 1));
            assert_eq!(ratio, 1.0, "{columns} columns");
        }
    }

    /// Section 4: small filters have a high variance. The exact rate sees it.
    #[test]
    fn small_systems_vary_and_large_ones_do_not() {
        // The worst ratio over the mean, with 1050 keys in 1088 slots, and a hundred times as many.
        let worst = |times: u64, systems| {
            let (slots, keys) = (1088 * times, 1050 * times as usize);
            let all = trials(systems, |random| {
                ratios(slots, 8, &random.take(keys).collect::<Vec<_>>())[0]
            });
            all.iter().copied().fold(0.0, f64::max) / mean_and_error(&all).0
        };
        let (small, large) = (worst(1, 1000), worst(100, 10));
        assert!(small > 5.0 && large < 2.0, "{small}, {large}");
    }
}
