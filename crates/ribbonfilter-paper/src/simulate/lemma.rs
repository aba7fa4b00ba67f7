//! Lemma 4.2: if one more key depends on the keys of a homogeneous system with probability `p`, the
//! rate is `f = p + (1 - p) 2^-r`. And Lemma 4.3: `p = exp(-Omega(eps w))`, whatever `n`.

use super::{Random, equation, homogeneous, mean_and_error, trials, widths};
use crate::hash::free_row;
use crate::width::with_word;
use crate::{Solution, Starts, Width, rate, slots};
use std::io::{self, Write};

/// The exact rate of a random system, and the fraction of further keys that depend on it.
pub fn rate_and_dependent(
    width: Width,
    keys: u64,
    epsilon: f64,
    columns: u32,
    random: &mut Random,
) -> (f64, f64) {
    let slots = slots::with_epsilon(keys, width, epsilon);
    let starts = Starts::new(slots, width, 0);
    let hashes: Vec<u64> = random.by_ref().take(keys as usize).collect();
    let probes = 3 * keys as usize;
    with_word!(width, W => {
        let banding = homogeneous::<W>(slots, 0, &hashes);
        let rate = rate::homogeneous(&Solution::of(&banding, columns.into(), free_row), &starts);
        let depends = |hash: &u64| {
            let equation = equation::<W, ()>(&starts, *hash, ());
            banding.depends(equation.start, equation.coefficients)
        };
        (rate, random.take(probes).filter(depends).count() as f64 / probes as f64)
    })
}

/// Prints both sides of Lemma 4.2, and `p` for Lemma 4.3.
pub fn run(out: &mut dyn Write, scale: f64) -> io::Result<()> {
    writeln!(out, "# lemma 4.2: f = p + (1-p) 2^-r, f exact, p counted; lemma 4.3: no n in p")?;
    writeln!(out, "w\teps\tr\tkeys\tp\tp + (1-p) 2^-r\tf\t+-")?;
    for (width, w) in widths() {
        for (epsilon, columns) in [(4.0 / w as f64, 4), (6.0 / w as f64, 8)] {
            for keys in [10_000, 100_000] {
                let systems = (1e6 * scale / keys as f64).clamp(1.0, 200.0) as u64;
                let one =
                    |random: &mut Random| rate_and_dependent(width, keys, epsilon, columns, random);
                let (rates, dependent): (Vec<f64>, Vec<f64>) =
                    trials(systems, one).into_iter().unzip();
                let ((rate, error), p) = (mean_and_error(&rates), mean_and_error(&dependent).0);
                let nominal = libm::exp2(-f64::from(columns));
                let lemma = p + (1.0 - p) * nominal;
                writeln!(
                    out,
                    "{w}\t{epsilon:.4}\t{columns}\t{keys}\t{p:.3e}\t{lemma:.4e}\t{rate:.4e}\t{:.1e}",
                    1.96 * error
                )?;
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Both sides are measured in the same systems. The average difference must be less than four
    /// of its standard errors, and the error less than 4 % of the rate. So a deviation of a fifth
    /// would be seen.
    #[test]
    fn the_rate_is_that_of_dependent_and_other_keys() {
        for (width, columns, epsilon) in [
            (Width::W16, 4, 0.25),
            (Width::W16, 8, 0.35),
            (Width::W32, 8, 0.15),
            (Width::W64, 8, 0.045),
            (Width::W128, 8, 0.011),
        ] {
            let nominal = libm::exp2(-f64::from(columns));
            let all = trials(24, |random| {
                let (rate, p) = rate_and_dependent(width, 10_000, epsilon, columns, random);
                (rate, rate - (p + (1.0 - p) * nominal))
            });
            let (rates, differences): (Vec<f64>, Vec<f64>) = all.into_iter().unzip();
            let (rate, _) = mean_and_error(&rates);
            let (difference, error) = mean_and_error(&differences);
            let case = (width, columns, rate, difference, error);
            assert!(difference.abs() < 4.0 * error && error < 0.04 * rate, "{case:?}");
            // Dependent keys are frequent enough that the rate is not that of columns alone.
            assert!(rate > 1.2 * nominal, "{case:?}");
        }
    }

    /// Lemma 4.3: ten times as many keys do not change `p`, and twice the `eps` makes it much less.
    #[test]
    fn dependence_does_not_grow_with_the_keys() {
        let p = |keys, epsilon, systems| {
            let one =
                |random: &mut Random| rate_and_dependent(Width::W32, keys, epsilon, 8, random).1;
            mean_and_error(&trials(systems, one))
        };
        let ((few, few_error), (many, many_error)) = (p(5000, 0.1, 60), p(50_000, 0.1, 6));
        assert!((few - many).abs() < 4.0 * (few_error + many_error) + 0.1 * few, "{few}, {many}");
        let (more, _) = p(50_000, 0.2, 6);
        assert!(more < 0.2 * many, "{many}, {more}");
    }
}
