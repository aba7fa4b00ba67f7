//! The user's settings: their checks, the choice of variant and width, and the plan that results.

use super::frame::Frame;
use super::{Effort, MAX_KEYS, Plan};
use crate::error::BuildError;
use crate::format::container::digest;
use crate::ribbon::equation::MAX_COLUMNS;
use crate::{Variant, Width};

/// The maximum number of columns of a map.
pub(crate) const MAX_MAP_COLUMNS: u32 = 64;

/// What the filter or map is planned for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Target {
    Rate(f64),
    Columns(f64),
    BitsPerKey(f64),
    TotalBytes(u64),
    /// The bits of a map's values and fingerprints.
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
    /// Minimum number of extra slots, as a fraction of the keys.
    pub(crate) overhead: f64,
    pub(crate) effort: Effort,
    /// Whole columns, nothing bumped, the narrowest width that makes sense.
    pub(crate) fast: bool,
    /// The seed of the keys, which the footer stores.
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
            fast: false,
            key_seed: 0,
        }
    }
}

/// The size of a filter is monotone in its keys within an octave, but for this number of keys:
/// boundaries and layers are rounded to blocks.
const RIPPLE: u64 = 512;

impl Settings {
    /// The plan for `keys` keys, with its slots increased `growth` times.
    pub(crate) fn plan(&self, keys: u64, growth: u32) -> Result<Plan, BuildError> {
        self.check()?;
        if keys > MAX_KEYS {
            return Err(BuildError::TooManyKeys { keys, max: MAX_KEYS });
        }
        let frame = Frame::new(self, keys, growth);
        match self.target {
            Target::Bits { value, fingerprint } => Ok(frame.for_bits(value, fingerprint)),
            Target::TotalBytes(bytes) => frame.for_bytes(bytes),
            _ if keys == 0 => Ok(frame.empty()),
            Target::Rate(rate) => frame.for_rate(rate),
            Target::Columns(columns) => Ok(frame.for_columns(columns)),
            Target::BitsPerKey(bits) => frame.for_bytes((keys as f64 * bits / 8.0) as u64),
        }
    }

    /// A digest that distinguishes all settings that have an influence on the bytes.
    pub(crate) fn digest(&self) -> u64 {
        let target = match self.target {
            Target::Rate(rate) => [0, rate.to_bits()],
            Target::Columns(columns) => [1, columns.to_bits()],
            Target::BitsPerKey(bits) => [2, bits.to_bits()],
            Target::TotalBytes(bytes) => [3, bytes],
            Target::Bits { value, fingerprint } => [4 + u64::from(value), fingerprint.into()],
        };
        let variant = self.variant.map_or(0, |variant| 1 + variant as u64);
        let width = self.width.map_or(0, |width| width.slots().into());
        let options =
            [variant, width, self.overhead.to_bits(), self.effort as u64, self.fast as u64];
        digest(&[&target[..], &options].concat())
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
        let (mut low, mut high) = (1 << octave, (2 << octave).min(MAX_KEYS + 1));
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            if fits(middle) { low = middle } else { high = middle }
        }
        // A little above, rounding may make a filter smaller again.
        let max = (low..(low + RIPPLE).min(MAX_KEYS + 1)).rev().find(|&keys| fits(keys));
        let max = max.unwrap_or(low);
        Ok(if self.plan(max, 0).is_ok() { max } else { 0 })
    }

    /// Returns an error for settings that no filter or map can have.
    fn check(&self) -> Result<(), BuildError> {
        match self.target {
            Target::Rate(rate) if !(rate > 0.0 && rate < 1.0) => {
                return Err(BuildError::InvalidRate { rate });
            }
            Target::Columns(columns) if !(columns > 0.0 && columns <= MAX_COLUMNS.into()) => {
                return Err(BuildError::InvalidColumns { columns, max: MAX_COLUMNS });
            }
            Target::BitsPerKey(bits_per_key) if !(bits_per_key > 0.0 && bits_per_key < 1e6) => {
                return Err(BuildError::InvalidBitsPerKey { bits_per_key });
            }
            Target::Bits { value, fingerprint }
                if value == 0
                    || value > MAX_MAP_COLUMNS
                    || fingerprint > MAX_MAP_COLUMNS - value =>
            {
                return Err(BuildError::InvalidBits {
                    value_bits: value,
                    fingerprint_bits: fingerprint,
                    max: MAX_MAP_COLUMNS,
                });
            }
            _ => {}
        }
        if !(0.0..=100.0).contains(&self.overhead) {
            return Err(BuildError::InvalidOverhead { overhead: self.overhead });
        }
        Ok(())
    }
}
