//! Choices by their names.

use super::{Variant, Width};
use core::fmt;
use core::str::FromStr;

/// A text that names no [`Variant`], [`Width`] or [`Effort`](crate::Effort).
///
/// ```
/// let error = "64.5".parse::<ribbonfilter::Width>().unwrap_err();
/// assert_eq!(error.to_string(), "expected one of 16, 32, 64 and 128");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParseError {
    expected: &'static str,
}

impl ParseError {
    pub(crate) fn expected(expected: &'static str) -> Self {
        Self { expected }
    }
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "expected one of {}", self.expected)
    }
}

impl core::error::Error for ParseError {}

/// Ignores case.
impl FromStr for Variant {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        let named = |variant: &&Self| text.eq_ignore_ascii_case(variant.name());
        let found = Self::ALL.iter().find(named).copied();
        found.ok_or(ParseError::expected("standard, homogeneous, balanced and bumped"))
    }
}

impl FromStr for Width {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        let found = Self::ALL.into_iter().find(|width| text.parse() == Ok(width.bits()));
        found.ok_or(ParseError::expected("16, 32, 64 and 128"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Effort;
    use alloc::string::ToString;

    #[test]
    fn every_choice_is_read_as_it_is_written() {
        for &variant in Variant::ALL {
            assert_eq!(variant.to_string().parse(), Ok(variant));
            assert_eq!(variant.to_string().to_lowercase().parse(), Ok(variant));
        }
        for width in Width::ALL {
            assert_eq!(width.to_string().parse(), Ok(width));
        }
        for &effort in Effort::ALL {
            assert_eq!(effort.to_string().parse(), Ok(effort));
        }
        for wrong in ["", "17", "ribbon", " 64", "standard "] {
            assert!(wrong.parse::<Variant>().is_err() && wrong.parse::<Width>().is_err());
            assert!(wrong.parse::<Effort>().is_err());
        }
    }
}
