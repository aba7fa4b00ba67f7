//! The five ways to arrange equations into systems. A [`Ribbon`] is a static function: it maps the
//! hash of every key that it was built from to the right-hand side of the key's equation (paper,
//! section 2). A filter is a ribbon of fingerprints.
//!
//! Every variant has a `build`, from keys to one or more solutions, and a `locate`, from a hash to
//! the solution, the start and the coefficients of its equation. What stands in one file is what
//! build and query must agree on.

pub mod balanced;
pub mod bumped;
mod grouped;
pub mod single;
pub mod soft;

use crate::banding::{Equation, RightSide};
use crate::hash::Seeded;
use crate::width::{Word, with_word};
use crate::{Error, Settings, Solution, Starts, Variant, rate, slots};
use balanced::Balanced;
use bumped::Bumped;
use grouped::Grouped;
use single::Single;
use soft::Soft;

/// A key during construction: its hash, and the right-hand side of its equation.
#[derive(Clone, Copy, Debug)]
pub struct Item<R> {
    /// The hash of the key.
    pub hash: u64,
    /// The fingerprint or value.
    pub value: R,
}

impl<R: RightSide> Item<R> {
    /// The equation of the key at a location.
    fn equation<W: Word>(&self, start: u64, seeded: Seeded) -> Equation<W, R> {
        Equation { start, coefficients: seeded.coefficients(), right_side: self.value }
    }
}

/// Where the equation of a key is.
#[derive(Clone, Copy, Debug)]
pub struct Located<'a> {
    solution: &'a Solution,
    start: u64,
    seeded: Seeded,
}

/// The solutions of a set of keys.
#[derive(Clone, Debug, PartialEq)]
pub enum Ribbon {
    /// Standard and Homogeneous.
    Single(Single),
    /// Balanced.
    Balanced(Balanced),
    /// Bumped.
    Bumped(Bumped),
    /// Soft shards.
    Soft(Soft),
}

impl Ribbon {
    /// Builds a ribbon in which every key has its value.
    pub(crate) fn build<R: RightSide>(
        settings: &Settings,
        items: &[Item<R>],
    ) -> Result<Self, Error> {
        with_word!(settings.width, W => Self::build_with::<W, R>(settings, items))
    }

    fn build_with<W: Word, R: RightSide>(
        settings: &Settings,
        items: &[Item<R>],
    ) -> Result<Self, Error> {
        let keys = items.len() as u64;
        let (width, smash, columns) = (settings.width, settings.smash(), settings.columns);
        let requested = settings.epsilon.map(|eps| slots::with_epsilon(keys, width, eps));
        let standard = || {
            let slots = requested.unwrap_or_else(|| slots::standard(keys, width));
            Ok(Self::Single(Single::standard::<W, R>(items, slots, smash, columns)?))
        };
        match settings.variant {
            _ if keys == 0 => Ok(Self::Single(Single::empty(width))),
            Variant::Standard => standard(),
            Variant::Homogeneous => {
                let epsilon = slots::homogeneous_epsilon(columns, width);
                let slots = requested.unwrap_or(slots::with_epsilon(keys, width, epsilon));
                Ok(Self::Single(Single::homogeneous::<W, R>(items, slots, smash, columns)))
            }
            Variant::Balanced => match balanced::Shape::new(keys, width) {
                // "Single shard Balanced Ribbon is Standard Ribbon."
                None => standard(),
                Some(shape) => Ok(Self::Balanced(Balanced::build::<W, R>(
                    items, shape, requested, smash, columns,
                )?)),
            },
            Variant::Bumped => {
                let load = settings.epsilon.map(|epsilon| 1.0 + epsilon);
                Ok(Self::Bumped(Bumped::build::<W, R>(items, load, smash, columns)?))
            }
            Variant::Soft => Ok(Self::Soft(Soft::build::<W, R>(items, requested, smash, columns)?)),
        }
    }

    fn locate(&self, hash: u64) -> Option<Located<'_>> {
        match self {
            Self::Single(single) => single.locate(hash),
            Self::Balanced(balanced) => Some(balanced.locate(hash)),
            Self::Bumped(bumped) => bumped.locate(hash),
            Self::Soft(soft) => Some(soft.locate(hash)),
        }
    }

    /// The value of a key: as many bits as columns. Any value for a hash that is not of a key;
    /// `None` if there is no key at all.
    pub fn query(&self, hash: u64) -> Option<u64> {
        self.locate(hash).map(Located::query)
    }

    /// Whether the value of a hash begins with the bits of `expected`.
    pub fn matches(&self, hash: u64, expected: u64) -> bool {
        self.locate(hash).is_some_and(|located| located.matches(expected))
    }

    /// All solutions.
    pub fn solutions(&self) -> Vec<&Solution> {
        match self {
            Self::Single(single) => vec![single.solution()],
            Self::Balanced(balanced) => vec![balanced.solution()],
            Self::Bumped(bumped) => bumped.solutions(),
            Self::Soft(soft) => vec![soft.solution()],
        }
    }

    /// The number of bytes that are stored in addition to solutions: which keys are bumped, seeds.
    pub fn metadata_bytes(&self) -> usize {
        match self {
            Self::Single(_) => 0,
            Self::Balanced(balanced) => balanced.metadata().len(),
            Self::Bumped(bumped) => bumped.code_bytes(),
            Self::Soft(soft) => soft.seeds().len(),
        }
    }

    /// The same ribbon with other solutions, which have the same slots.
    pub(crate) fn with_solutions(&self, new: impl Fn(&Solution) -> Solution) -> Self {
        match self {
            Self::Single(single) => Self::Single(single.with_solution(&new)),
            Self::Balanced(balanced) => Self::Balanced(balanced.with_solution(&new)),
            Self::Bumped(bumped) => Self::Bumped(bumped.with_solutions(&new)),
            Self::Soft(soft) => Self::Soft(soft.with_solution(&new)),
        }
    }

    /// Number of slots.
    pub fn slots(&self) -> u64 {
        self.solutions().iter().map(|solution| solution.layout().slots()).sum()
    }

    /// The average number of columns of a slot.
    pub fn columns(&self) -> f64 {
        self.average(|solution| solution.layout().columns())
    }

    /// The rate if the values are fingerprints.
    pub fn nominal_rate(&self) -> f64 {
        self.average(rate::nominal)
    }

    /// The exact rate if all values are zero.
    pub fn homogeneous_rate(&self) -> f64 {
        match self {
            Self::Single(single) if self.slots() > 0 => {
                rate::homogeneous(single.solution(), &single.starts())
            }
            _ => self.nominal_rate(),
        }
    }

    /// The average over all slots.
    fn average(&self, of: impl Fn(&Solution) -> f64) -> f64 {
        let weighted = |solution: &&Solution| of(solution) * solution.layout().slots() as f64;
        let sum: f64 = self.solutions().iter().map(weighted).sum();
        sum / (self.slots() as f64).max(1.0)
    }
}

impl Located<'_> {
    fn query(self) -> u64 {
        let Self { solution, start, seeded } = self;
        with_word!(solution.layout().width(), W => {
            solution.query(start, seeded.coefficients::<W>())
        })
    }

    fn matches(self, expected: u64) -> bool {
        let Self { solution, start, seeded } = self;
        with_word!(solution.layout().width(), W => {
            solution.matches(start, seeded.coefficients::<W>(), expected)
        })
    }
}

/// The starts of a solution.
fn starts(solution: &Solution, smash: u64) -> Starts {
    Starts::new(solution.layout().slots(), solution.layout().width(), smash)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Filter;
    use crate::random::hashes;

    /// "Single shard Balanced Ribbon is Standard Ribbon": a few shards take as many slots as one.
    #[test]
    fn a_single_balanced_shard_is_standard() {
        for width in crate::Width::ALL {
            let hashes = hashes(1000, 1);
            let build = |variant| {
                let settings = Settings::new(variant, width, 5.0);
                Filter::from_hashes(&settings, &hashes).expect("a seed")
            };
            if balanced::Shape::new(1000, width).is_none() {
                let (balanced, standard) = (build(Variant::Balanced), build(Variant::Standard));
                assert!(balanced.ribbon() == standard.ribbon());
            }
        }
    }
}
