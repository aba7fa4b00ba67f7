//! Turns the number of keys and one target into a plan, before any work is done.
//!
//! The planner first chooses variant, width and slots from the number of keys, then turns the target
//! into *units*: the columns of all starts of the first system, added up. A rate becomes the fewest
//! units that reach it, a size the most that fit. Slots never depend on the columns, so the columns
//! of a filter are a prefix of those of any filter with more columns.
//!
//! ```text
//! Settings ── choose ──> variant, width ── standard, bumped ──> Frame: systems without columns
//! Frame ── target ──> units ──> Plan: systems with columns
//! ```
//!
//! Every number that influences bytes is computed with integer arithmetic or `libm`, and is the
//! same on every target.

mod bumped;
mod effort;
mod frame;
mod memory;
mod settings;
mod standard;

pub use effort::Effort;

pub(crate) use bumped::Counting;
pub(crate) use frame::Frame;
pub(crate) use memory::{Limits, Runs};
pub(crate) use settings::{Settings, Target};

use crate::format::{self, Shape};
use crate::ribbon::rate::{mean_columns, with_collisions};
use crate::ribbon::system::System;
use crate::{Variant, Width};

/// The maximum number of keys: the formulas are measured and extrapolated up to here.
pub(crate) const MAX_KEYS: u64 = 1 << 37;
const _: () = assert!(MAX_KEYS <= format::MAX_KEYS && MAX_KEYS / 64 < format::MAX_STARTS);

/// The properties of a filter or map, known before any work is done.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plan {
    /// The system, or the first layer of a Bumped filter.
    pub(crate) first: System,
    /// The second layer of a Bumped filter: a Standard system for the bumped keys.
    pub(crate) second: Option<System>,
    /// The maximum number of keys that the first layer may bump. If a seed bumps more, another
    /// seed is tried.
    pub(crate) bumped: u64,
    /// How the codes of a Bumped filter are chosen.
    pub(crate) counting: Counting,
    /// The number of seeds to try, for each system, before more slots are planned.
    pub(crate) seeds: u32,
    /// The probability that a seed of the first system works.
    pub(crate) success: f64,
    /// The bits of a map's fingerprint; the columns of a filter all belong to its fingerprint.
    pub(crate) fingerprint: u32,
    /// Whether this is a map.
    pub(crate) map: bool,
    /// The mean rate over all starts, without equal hashes of different keys.
    pub(crate) solution_rate: f64,
    /// The rate above which another seed is tried; infinite if none was requested.
    pub(crate) max_rate: f64,
    keys: u64,
    limits: Limits,
}

impl Plan {
    /// The number of keys planned for.
    pub fn keys(&self) -> u64 {
        self.keys
    }

    /// The variant.
    pub fn variant(&self) -> Variant {
        if self.second.is_some() { Variant::Bumped } else { Variant::Standard }
    }

    /// The ribbon width.
    pub fn width(&self) -> Width {
        self.first.width
    }

    /// The average number of columns over all starts: the bits that a query compares.
    pub fn columns(&self) -> f64 {
        mean_columns(&self.first)
    }

    /// The number of slots of all systems.
    pub fn slots(&self) -> u64 {
        self.first.slots() + self.second.map_or(0, |second| second.slots())
    }

    /// The number of independent segments of the first system.
    pub fn segments(&self) -> u64 {
        self.first.segments()
    }

    /// The false-positive rate of the filter, on average over the hashes that absent keys can have.
    /// It includes the probability of `n / 2^64` that the hash of an absent key is that of one of
    /// `n` keys.
    pub fn expected_rate(&self) -> f64 {
        with_collisions(self.solution_rate, self.keys)
    }

    /// The expected number of seeds that the first system tries. Each costs at most the time of one
    /// solution, and less if counts of keys rule it out.
    pub fn expected_solutions(&self) -> f64 {
        1.0 / self.success
    }

    /// What the footer will store.
    pub(crate) fn shape(&self) -> Shape {
        Shape { first: self.first, second: self.second }
    }

    /// The size in bytes, including the footer.
    pub fn size_in_bytes(&self) -> u64 {
        self.shape().size_in_bytes()
    }

    /// All stored bits divided by the number of keys; infinite without keys.
    pub fn bits_per_key(&self) -> f64 {
        self.size_in_bytes() as f64 * 8.0 / self.keys as f64
    }
}

#[cfg(test)]
mod tests;
