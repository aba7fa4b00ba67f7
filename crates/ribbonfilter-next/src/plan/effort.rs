//! How much time a build may take for a smaller filter.

use crate::ParseError;
use core::fmt;
use core::str::FromStr;

/// How much time a build may take for a smaller filter.
///
/// A system with hardly a spare slot is solvable under few seeds, so finding one takes many
/// attempts. With a few more slots, nearly every seed works.
///
/// ```
/// use ribbonfilter_next::Effort;
///
/// assert_eq!("thorough".parse::<Effort>()?, Effort::Thorough);
/// assert_eq!(Effort::default().to_string(), "normal");
/// # Ok::<(), ribbonfilter_next::ParseError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Effort {
    /// About the time of a single solution, and the smallest filter that this allows.
    #[default]
    Normal,
    /// The smallest filter, for filters that are built once and distributed widely. Small sets take
    /// up to twice as long.
    Thorough,
}

impl Effort {
    /// Every effort.
    pub const ALL: &[Self] = &[Self::Normal, Self::Thorough];
}

impl fmt::Display for Effort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Normal => "normal",
            Self::Thorough => "thorough",
        })
    }
}

/// Ignores case.
impl FromStr for Effort {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        match text {
            _ if text.eq_ignore_ascii_case("normal") => Ok(Self::Normal),
            _ if text.eq_ignore_ascii_case("thorough") => Ok(Self::Thorough),
            _ => Err(ParseError::expected("normal and thorough")),
        }
    }
}
