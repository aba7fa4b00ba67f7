//! The user's settings: their checks, the choice of variant and width, and the plan that results.

use super::frame::Frame;
use super::{Effort, Plan};
use crate::error::BuildError;
use crate::format::{Content, MAX_KEYS};
use crate::ribbon::equation::FINGERPRINT_BITS;
use crate::ribbon::layout::MAX_COLUMNS;
use crate::ribbon::search::partition_point;
use crate::ribbon::width::COMPACT;
use crate::{Variant, Width};

/// From this number of keys on, a Bumped filter of width 64 is built faster than a Standard one and
/// is hardly larger.
const MEDIUM: u64 = 1 << 14;

/// From this number of keys on, a Bumped filter of width 128 is the smallest.
const LARGE: u64 = 1 << 15;

/// What the filter or function is planned for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Target {
    Rate(f64),
    Columns(f64),
    BitsPerKey(f64),
    TotalBytes(u64),
    /// The bits of a function's values and fingerprints.
    Bits {
        value: u32,
        fingerprint: u32,
    },
}

/// The user's settings. The planner chooses the rest.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Settings {
    pub(crate) target: Target,
    pub(crate) variant: Option<Variant>,
    pub(crate) width: Option<Width>,
    pub(crate) overhead: f64,
    pub(crate) effort: Effort,
    pub(crate) key_seed: u64,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            target: Target::Rate(0.01),
            variant: None,
            width: None,
            overhead: 0.0,
            effort: Effort::default(),
            key_seed: 0,
        }
    }
}

impl Settings {
    /// The plan for `keys` keys, with its slots increased `growth` times.
    pub(crate) fn plan(&self, keys: u64, growth: u32) -> Result<Plan, BuildError> {
        self.check()?;
        let frame = Frame::new(self, keys, growth)?;
        match self.target {
            _ if keys == 0 => frame.empty(),
            Target::Rate(rate) => frame.for_rate(rate),
            Target::Columns(columns) => frame.for_columns(columns),
            Target::BitsPerKey(bits) => frame.for_bytes((keys as f64 * bits / 8.0) as u64),
            Target::TotalBytes(bytes) => frame.for_bytes(bytes),
            Target::Bits { value, fingerprint } => Ok(frame.for_bits(value, fingerprint)),
        }
    }

    /// The maximum number of keys whose filter takes at most `bytes` bytes.
    pub(crate) fn max_keys(&self, bytes: u64) -> Result<u64, BuildError> {
        self.check()?;
        // For few keys a target of bits per key is too small, because of the footer. That is no
        // reason to search for fewer keys.
        let fits = |keys| match self.plan(keys, 0) {
            Ok(plan) => plan.size_in_bytes() <= bytes,
            Err(error) => matches!(error, BuildError::SizeTooSmall { .. }),
        };
        let mut octaves = (0..=MAX_KEYS.ilog2()).rev();
        let Some(octave) = octaves.find(|&octave| fits(1 << octave)) else {
            return Ok(0);
        };
        let end = (2 << octave).min(MAX_KEYS + 1) - (1 << octave);
        let max = (1 << octave) + partition_point(end, |more| fits((1 << octave) + more)) - 1;
        Ok(if self.plan(max, 0).is_ok() { max } else { 0 })
    }

    /// Returns an error for settings that no filter or function can have.
    fn check(&self) -> Result<(), BuildError> {
        match self.target {
            Target::Rate(rate) if !(rate > 0.0 && rate < 1.0) => {
                return Err(BuildError::InvalidRate { rate });
            }
            Target::Columns(columns) if !(columns > 0.0 && columns <= FINGERPRINT_BITS.into()) => {
                return Err(BuildError::InvalidColumns { columns, max: FINGERPRINT_BITS });
            }
            Target::BitsPerKey(bits_per_key) if !(bits_per_key > 0.0 && bits_per_key < 1e6) => {
                return Err(BuildError::InvalidBitsPerKey { bits_per_key });
            }
            Target::Bits { value, fingerprint } => self.check_bits(value, fingerprint)?,
            _ => {}
        }
        if let (true, Some(variant @ Variant::Balanced)) = (COMPACT, self.variant) {
            return Err(BuildError::NotBuiltHere { variant });
        }
        if !(0.0..=100.0).contains(&self.overhead) {
            return Err(BuildError::InvalidOverhead { overhead: self.overhead });
        }
        Ok(())
    }

    fn check_bits(&self, value_bits: u32, fingerprint_bits: u32) -> Result<(), BuildError> {
        let max = MAX_COLUMNS as u32;
        if value_bits == 0 || value_bits > max || fingerprint_bits > max - value_bits {
            return Err(BuildError::InvalidBits { value_bits, fingerprint_bits, max });
        }
        match self.variant {
            Some(variant @ Variant::Homogeneous) => Err(BuildError::NotForFunctions { variant }),
            _ => Ok(()),
        }
    }

    /// The user's choice, or the smallest variant for the effort: Standard for small sets, Bumped
    /// for others (`docs/choosing.md`).
    pub(super) fn choose(&self, keys: u64) -> (Variant, Width) {
        let few = match self.effort {
            Effort::Normal => MEDIUM,
            Effort::Thorough => LARGE,
        };
        let small = keys < few || self.width == Some(Width::W16);
        let smallest = if small { Variant::Standard } else { Variant::Bumped };
        let variant = self.variant.unwrap_or(smallest);
        let width = self.width.unwrap_or(match variant {
            Variant::Bumped if self.effort == Effort::Normal && (few..LARGE).contains(&keys) => {
                Width::W64
            }
            Variant::Standard | Variant::Bumped => Width::W128,
            Variant::Homogeneous | Variant::Balanced => Width::W64,
        });
        (variant, width)
    }

    pub(super) fn content(&self) -> Content {
        match self.target {
            Target::Bits { fingerprint, .. } => Content::Function { fingerprint_bits: fingerprint },
            _ => Content::Filter { first_column: 0 },
        }
    }
}
