//! What the user chooses: variant, width, columns, and what the paper lets vary besides.

use crate::hash::FINGERPRINT_BITS;
use crate::{Error, Width};
use std::fmt;
use std::str::FromStr;

/// The variants of the paper, and two that follow from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Variant {
    /// One system of fingerprints, with another seed until it has a solution (sections 3 and 5.4).
    Standard,
    /// One system without fingerprints, which always has a solution (section 4).
    Homogeneous,
    /// Shards of one system that bump keys to later shards (section 6).
    Balanced,
    /// Layers of systems that bump keys to the next layer: BuRR, what the authors published next.
    Bumped,
    /// One system whose soft shards have a seed each (section 5.4).
    Soft,
}

impl Variant {
    /// All variants.
    pub const ALL: [Self; 5] =
        [Self::Standard, Self::Homogeneous, Self::Balanced, Self::Bumped, Self::Soft];

    fn name(self) -> &'static str {
        match self {
            Self::Standard => "standard",
            Self::Homogeneous => "homogeneous",
            Self::Balanced => "balanced",
            Self::Bumped => "bumped",
            Self::Soft => "soft",
        }
    }
}

impl fmt::Display for Variant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Variant {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|variant| variant.name() == text);
        found.ok_or_else(|| "expected standard, homogeneous, balanced, bumped or soft".into())
    }
}

/// How a filter or a function is built.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// The variant.
    pub variant: Variant,
    /// The ribbon width `w`.
    pub width: Width,
    /// The number of solution columns `r`, which may be a fraction. The rate is about `2^-r`.
    pub columns: f64,
    /// The smash value `l`; `None`: `w / 4`.
    pub smash: Option<u64>,
    /// The fraction of slots in addition to the keys; `None`: what the variant needs.
    pub epsilon: Option<f64>,
    /// The seed of the key hash.
    pub key_seed: u64,
}

impl Settings {
    /// The paper's recommendations for a variant.
    pub fn new(variant: Variant, width: Width, columns: f64) -> Self {
        Self { variant, width, columns, smash: None, epsilon: None, key_seed: 0 }
    }

    /// The smash value.
    pub fn smash(&self) -> u64 {
        self.smash.unwrap_or(self.width.slots() / 4)
    }

    /// Refuses what no variant can do.
    pub(crate) fn check(&self) -> Result<(), Error> {
        let max = f64::from(FINGERPRINT_BITS);
        if !(1.0..=max).contains(&self.columns) {
            return Err(Error::Columns { columns: self.columns, max });
        }
        if self.smash() > self.width.slots() {
            return Err(Error::Setting("the smash value exceeds the width: use at most w/2"));
        }
        match self.epsilon {
            Some(epsilon) if !(-0.5..=100.0).contains(&epsilon) => {
                Err(Error::Setting("epsilon must be between -0.5 and 100"))
            }
            _ => Ok(()),
        }
    }
}
