//! Starts and smash (paper, sections 3 and 3.1).
//!
//! A key starts at one of `m - w + 1` slots. Without *smash* all are equally likely, and then too
//! few equations cover the first and the last slots to fill them. So positions are drawn from a
//! range that is longer by `l` at both ends, and clamped: the first and the last start are `1 + l`
//! times as likely as any other.
//!
//! ```text
//! drawn     -l … -1  0  1  2  …  last  last+1 … last+l
//! start      0 …  0  0  1  2  …  last  last   … last
//! ```
//!
//! This is the code of the paper's authors. The paper's text has a range that is longer by `l - 1`,
//! and a factor of `l`.

use crate::Width;
use crate::hash::fastrange;

/// The starts of a system, and their probabilities.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Starts {
    last: u64,
    smash: u64,
}

impl Starts {
    /// The starts in a system of `slots >= w` slots with the smash value `smash`.
    pub fn new(slots: u64, width: Width, smash: u64) -> Self {
        let last = slots - width.slots();
        // With a single start, smash has no effect.
        Self { last, smash: if last > 0 { smash } else { 0 } }
    }

    /// The number of starts.
    pub fn count(&self) -> u64 {
        self.last + 1
    }

    /// The start of a hash; monotone in the hash.
    pub fn of(&self, hash: u64) -> u64 {
        fastrange(hash, self.total_weight()).saturating_sub(self.smash).min(self.last)
    }

    /// The probability of a start, in units of `1 / total_weight`.
    pub fn weight(&self, start: u64) -> u64 {
        let ends = u64::from(start == 0) + u64::from(start == self.last);
        1 + self.smash * ends
    }

    /// The weight of all starts: the number of positions to which a hash can map.
    pub fn total_weight(&self) -> u64 {
        self.last + 1 + 2 * self.smash
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    #[test]
    fn starts_are_monotone_and_inside() {
        for width in Width::ALL {
            for slots in [width.slots(), 3 * width.slots(), 1 << 20] {
                for smash in [0, width.slots() / 4, width.slots() / 2] {
                    let starts = Starts::new(slots, width, smash);
                    let hashes = (0..=4096).map(|i| if i < 4096 { i << 52 } else { u64::MAX });
                    let found: Vec<u64> = hashes.map(|hash| starts.of(hash)).collect();
                    assert!(found.is_sorted());
                    assert_eq!((found[0], found[4096]), (0, slots - width.slots()));
                }
            }
        }
    }

    #[test]
    fn weights_sum_up() {
        for (slots, smash) in [(64, 16), (65, 16), (66, 0), (1000, 32)] {
            let starts = Starts::new(slots, Width::W64, smash);
            let sum: u64 = (0..starts.count()).map(|start| starts.weight(start)).sum();
            assert_eq!(sum, starts.total_weight());
        }
    }

    /// The ends have `1 + l` times the probability of the other starts.
    #[test]
    fn starts_have_their_weights() {
        for smash in [0, 8, 16] {
            let starts = Starts::new(63, Width::W32, smash);
            let mut counts = vec![0u64; starts.count() as usize];
            let keys = 1 << 16;
            Random::new(smash).take(keys).for_each(|hash| counts[starts.of(hash) as usize] += 1);
            for (start, &count) in counts.iter().enumerate() {
                let weight = starts.weight(start as u64);
                assert_eq!(weight, if start == 0 || start == 31 { 1 + smash } else { 1 });
                let expected = (keys as u64 * weight) as f64 / starts.total_weight() as f64;
                let off = (count as f64 - expected) / libm::sqrt(expected);
                assert!(off.abs() < 5.0, "smash {smash}, start {start}: {off:.1} deviations");
            }
        }
    }
}
