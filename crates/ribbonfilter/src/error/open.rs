//! What keeps bytes from being opened, or verified.

use super::Kind;
use core::fmt;

/// Bytes that are not a filter, or not one that this version can read.
///
/// ```
/// use ribbonfilter::{Filter, OpenError};
///
/// let error = Filter::open(b"not a filter").unwrap_err();
/// assert!(matches!(error, OpenError::TooShort { len: 12, .. }));
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub enum OpenError {
    /// Fewer bytes than the footer has.
    TooShort {
        /// The bytes given.
        len: usize,
        /// The bytes of the footer.
        needed: usize,
    },
    /// The bytes do not end as a ribbon filter does.
    NotAFilter,
    /// A format version that this library does not know.
    UnsupportedVersion {
        /// The version found.
        found: u8,
        /// The version that this library reads.
        supported: u8,
    },
    /// The filter uses features that this library does not know.
    UnsupportedFeatures {
        /// The unknown feature bits.
        features: u8,
    },
    /// The bytes hold another kind of structure.
    WrongKind {
        /// What was requested.
        expected: Kind,
        /// What was found.
        found: Kind,
    },
    /// The footer is corrupt.
    CorruptFooter,
    /// The footer is whole but describes something that cannot be.
    Inconsistent {
        /// The field that cannot be.
        field: &'static str,
    },
    /// More or fewer bytes than the footer says.
    WrongLength {
        /// The bytes given.
        len: u64,
        /// The bytes that it should have.
        expected: u64,
    },
    /// The solution or its metadata is corrupt: only [`verify`] looks.
    ///
    /// [`verify`]: crate::Filter::verify
    CorruptData,
    /// The data of one shard of a container is corrupt: only [`verify`] looks.
    ///
    /// [`verify`]: crate::Shards::verify
    CorruptShard {
        /// The shard, counted from 0.
        shard: u64,
    },
    /// The directory of a container is corrupt: only [`verify`] looks at all of it.
    ///
    /// [`verify`]: crate::Shards::verify
    CorruptDirectory,
    /// The system refused memory.
    OutOfMemory {
        /// The requested bytes.
        bytes: usize,
    },
    /// Reading failed.
    #[cfg(feature = "std")]
    Io(std::io::Error),
}

impl fmt::Display for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooShort { len, needed } => write!(
                f,
                "{len} bytes are too few for a ribbon filter, which has at least {needed}: \
                 was it cut short?"
            ),
            Self::NotAFilter => f.write_str(
                "the bytes do not end as a ribbon filter does: they are another file, or were \
                 cut short or extended",
            ),
            Self::UnsupportedVersion { found, supported } => write!(
                f,
                "format version {found} is not known here, only {supported}: use a newer \
                 release of ribbonfilter"
            ),
            Self::UnsupportedFeatures { features } => write!(
                f,
                "the filter needs features that are not known here ({features:#05b}): use a \
                 newer release of ribbonfilter"
            ),
            Self::WrongKind { expected, found } => {
                let [found, expected] = [found, expected].map(Kind::with_article);
                write!(f, "the bytes hold {found}, not {expected}: open them as {found}")
            }
            Self::CorruptFooter => {
                f.write_str("the footer of the filter is corrupt: copy it or build it again")
            }
            Self::Inconsistent { field } => write!(
                f,
                "the filter's {field} cannot be: it was not written by ribbonfilter, or is corrupt"
            ),
            Self::WrongLength { len, expected } => write!(
                f,
                "the filter has {len} bytes but should have {expected}: it was cut short or \
                 extended"
            ),
            Self::CorruptData => {
                f.write_str("the filter's data is corrupt: copy it or build it again")
            }
            Self::CorruptShard { shard } => {
                write!(f, "the data of shard {shard} is corrupt: copy it or build that shard again")
            }
            Self::CorruptDirectory => f.write_str(
                "the directory of the container is corrupt: copy it or assemble its shards again",
            ),
            Self::OutOfMemory { bytes } => write!(
                f,
                "the system refused {bytes} bytes of memory: open the filter as a view of bytes \
                 that are there already"
            ),
            #[cfg(feature = "std")]
            Self::Io(error) => write!(f, "the filter could not be read: {error}"),
        }
    }
}

impl core::error::Error for OpenError {
    /// What caused the error beyond what its message says already.
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match self {
            #[cfg(feature = "std")]
            Self::Io(error) => error.source(),
            _ => None,
        }
    }
}

#[cfg(feature = "std")]
impl From<std::io::Error> for OpenError {
    fn from(error: std::io::Error) -> Self {
        Self::Io(error)
    }
}
