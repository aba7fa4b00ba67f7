//! How many slots a system gets: `m = (1 + eps) n`, rounded up to a multiple of `w`.
//!
//! - *Standard* (section 5.4): the paper has Table 1 and no formula. The fraction with which a seed
//!   works with probability `p` is close to
//!
//!   ```text
//!   eps(x) = b s ln(1 + exp((x - x0) / s)),      x = log2(n / -ln p),
//!   ```
//!
//!   fitted to simulations as in Table 1. The paper considers a failure probability of 5 % a good
//!   trade, and so it is here.
//! - *Homogeneous* (section 4): equation (7), `eps = (4 + r/4) / w`.
//! - *Balanced* (section 6): hardly more than the keys, plus what the last shard needs.

use crate::Width;

/// The probability that a seed of a Standard system fails.
const FAILURE: f64 = 0.05;
/// Slots in addition to the formula, which is for large systems: a small system is like a dense
/// random matrix and fails with a probability of 3 % at that number.
const SPARE: f64 = 5.0;

/// The constants `b`, `x0` and `s` of the formula for Standard systems.
const fn fit(width: Width) -> [f64; 3] {
    match width {
        Width::W16 => [0.057, 6.1, 0.85],
        Width::W32 => [0.0205, 8.2, 0.6],
        Width::W64 => [0.0087, 10.25, 0.35],
        Width::W128 => [0.004_05, 12.3, 0.4],
    }
}

/// The fraction of slots in addition to the keys with which a seed of a Standard system fails with
/// the given probability.
pub fn standard_epsilon(keys: f64, width: Width, failure: f64) -> f64 {
    let [b, x0, s] = fit(width);
    let x = libm::log2(keys / -libm::log1p(-failure));
    b * s * libm::log1p(libm::exp((x - x0) / s))
}

/// Equation (7): where the overhead of a Homogeneous ribbon is about least.
pub fn homogeneous_epsilon(columns: f64, width: Width) -> f64 {
    (4.0 + columns / 4.0) / width.slots() as f64
}

/// The slots of a Standard system.
pub fn standard(keys: u64, width: Width) -> u64 {
    let n = keys as f64;
    multiple(n * (1.0 + standard_epsilon(n.max(1.0), width, FAILURE)) + SPARE, width)
}

/// The slots of any system with a fraction `epsilon` more slots than keys.
pub fn with_epsilon(keys: u64, width: Width, epsilon: f64) -> u64 {
    multiple(keys as f64 * (1.0 + epsilon), width)
}

/// After a failure: `m` times `(w+1) / w` (section 5.3).
pub fn enlarged(slots: u64, width: Width) -> u64 {
    (slots + slots / width.slots() + 1).next_multiple_of(width.slots())
}

/// Whole blocks, and at least one: a minor disadvantage of interleaved columns (section 5.2).
fn multiple(slots: f64, width: Width) -> u64 {
    (libm::ceil(slots) as u64).max(1).next_multiple_of(width.slots())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Table 1 with the failure probability of 5 %: the formula is within a point of the paper.
    #[test]
    fn the_formula_is_near_table_1() {
        for (width, slots_log, paper) in [
            (Width::W128, 14, 2.6),
            (Width::W128, 17, 3.7),
            (Width::W128, 24, 5.9),
            (Width::W64, 14, 7.0),
            (Width::W64, 17, 9.4),
            (Width::W64, 24, 15.0),
        ] {
            let slots = f64::from(1 << slots_log);
            let keys = slots / (1.0 + paper / 100.0);
            let epsilon = 100.0 * standard_epsilon(keys, width, 0.05);
            assert!((epsilon - paper).abs() < 1.0, "w = {width}, 2^{slots_log}: {epsilon}");
        }
    }

    /// The paper's example in section 4: r = 7 and w = 64 take eps of about 0.09.
    #[test]
    fn equation_7_is_that_of_the_paper() {
        assert_eq!(homogeneous_epsilon(7.0, Width::W64), 5.75 / 64.0);
    }

    #[test]
    fn slots_are_multiples_of_the_width_and_grow() {
        for width in Width::ALL {
            let mut slots = standard(1000, width);
            assert_eq!(slots % width.slots(), 0);
            assert_eq!(standard(0, width), width.slots());
            for _ in 0..50 {
                let next = enlarged(slots, width);
                assert!(next > slots && next.is_multiple_of(width.slots()));
                slots = next;
            }
        }
    }
}
