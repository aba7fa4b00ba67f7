//! The lower bound of the size of an exact set: the logarithm of the number of sets of its size.
//!
//! Differences of `lgamma` lose all digits for large sets: `ln (10^14)!` is about 3 * 10^15, where
//! neighbouring numbers differ by 0.5. So Stirling's formula is applied to the quotient, where the
//! large terms cancel algebraically.

use core::f64::consts::{LN_2, PI};

/// Up to this number of keys the logarithms of all factors are added.
const FEW: u64 = 64;

/// The logarithm to base 2 of the number of subsets of `k` out of `n` keys.
pub(crate) fn log2_binomial(n: u64, k: u64) -> f64 {
    let k = k.min(n - k);
    if k <= FEW {
        // Not `sum`: that of nothing is negative zero, and the bound is stored.
        let factors = (0..k).map(|i| libm::log2((n - i) as f64 / (i + 1) as f64));
        return factors.fold(0.0, |sum, factor| sum + factor);
    }
    let rest = (n - k) as f64;
    let (n, k) = (n as f64, k as f64);
    // The quotient of n^n by k^k (n - k)^(n - k), then that of the roots, then that of the series
    // of Stirling's formula.
    let powers = k * libm::log(n / k) - rest * libm::log1p(-k / n);
    let roots = 0.5 * libm::log(n / (2.0 * PI * k * rest));
    let series = |x: f64| 1.0 / (12.0 * x) - 1.0 / (360.0 * x * x * x);
    (powers + roots + series(n) - series(k) - series(rest)) / LN_2
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The same as the sum over all factors, within rounding errors of that sum.
    #[test]
    fn agrees_with_the_sum_of_logarithms() {
        for n in [0, 1, 2, 100, 129, 130, 131, 1000, 100_000, 1 << 47] {
            for k in [0, 1, 2, 63, 64, 65, 66, 100, 500, 50_000] {
                if k > n {
                    continue;
                }
                let sum: f64 = (0..k).map(|i| libm::log2((n - i) as f64 / (k - i) as f64)).sum();
                let found = log2_binomial(n, k);
                let difference = (found - sum).abs();
                assert!(difference <= 1e-11 * sum.max(1.0), "{n} {k}: {found} {sum}");
                assert_eq!(found.to_bits(), log2_binomial(n, n - k).to_bits());
            }
        }
        assert_eq!(log2_binomial(4, 1), 2.0);
        assert_eq!(log2_binomial(4, 0).to_bits(), 0.0f64.to_bits());
    }
}
