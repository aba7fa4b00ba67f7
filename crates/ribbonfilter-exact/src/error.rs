//! What keeps an exact set from being planned or built.

use core::error::Error;
use core::fmt;
use ribbonfilter::BuildError;

/// An exact set that could not be planned or built.
///
/// ```
/// use ribbonfilter_exact::{ExactError, ExactSet};
///
/// let error = ExactSet::build(["ada", "grace"], ["edsger", "ada"]).unwrap_err();
/// assert!(matches!(error, ExactError::BothSides { .. }));
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub enum ExactError {
    /// A key is a member and not a member, or a member and another key have the same hash.
    BothSides {
        /// The hash; in a named group with that of the group mixed in.
        key_hash: u64,
    },
    /// Two keys have the same hash once their groups are mixed in, or two groups do.
    Collision,
    /// More groups than an exact set can have.
    TooManyGroups {
        /// The number of groups.
        groups: u64,
        /// The maximum.
        max: u64,
    },
    /// The other keys were not the same every time they were read.
    OthersChanged {
        /// Their number when they were first read, or as it was given.
        first: u64,
        /// Their number later.
        later: u64,
    },
    /// A filter or a map of the set could not be planned or built, or a setting is invalid.
    Build(BuildError),
}

impl fmt::Display for ExactError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BothSides { key_hash } => write!(
                f,
                "a member and another key have the same hash, {key_hash:#018x}: put each key on one \
                 side only or, if they are different keys, use another key_seed"
            ),
            Self::Collision => f.write_str(
                "two different keys, or two groups, have the same hash: use another key_seed",
            ),
            Self::TooManyGroups { groups, max } => {
                write!(f, "{groups} groups are too many: use at most {max}")
            }
            Self::OthersChanged { first, later } => write!(
                f,
                "the other keys have changed while they were read: first {first}, later {later}, or \
                 other groups; provide the same keys every time"
            ),
            Self::Build(error) => error.fmt(f),
        }
    }
}

impl Error for ExactError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Build(error) => error.source(),
            _ => None,
        }
    }
}

impl From<BuildError> for ExactError {
    fn from(error: BuildError) -> Self {
        Self::Build(error)
    }
}

/// So that `?` works where other keys are read.
#[cfg(feature = "std")]
impl From<std::io::Error> for ExactError {
    fn from(error: std::io::Error) -> Self {
        Self::Build(error.into())
    }
}
