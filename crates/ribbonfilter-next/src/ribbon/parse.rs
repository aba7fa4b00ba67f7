//! Choices by their names.

use super::variant::Variant;
use super::width::Width;
use core::fmt;
use core::str::FromStr;

/// A text that names no [`Variant`], [`Width`] or [`Effort`](crate::Effort).
///
/// ```
/// let error = "64.5".parse::<ribbonfilter_next::Width>().unwrap_err();
/// assert_eq!(error.to_string(), "expected one of 128, 192 and 256");
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
        found.ok_or(ParseError::expected("standard and bumped"))
    }
}

impl FromStr for Width {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        let mut all = Self::ALL.into_iter().chain([Self::W64]);
        let found = all.find(|width| text.parse() == Ok(width.slots()));
        found.ok_or(ParseError::expected("128, 192 and 256"))
    }
}
