//! What keeps bytes from being opened, or verified.

use super::Kind;
use core::fmt;

/// Bytes that are not a filter, or not one that this version can read.
///
/// ```
/// use ribbonfilter_next::{Filter, OpenError};
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
    /// The footer is intact but describes something impossible.
    Inconsistent {
        /// The field whose value is impossible.
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
                "{len} bytes are too few for a ribbon filter, which has at least {needed}: the file is \
                 truncated, or not a filter"
            ),
            Self::NotAFilter => f.write_str(
                "these bytes are not a ribbon filter, or it is truncated or has extra bytes at its \
                 end: name another file, or copy it again",
            ),
            Self::UnsupportedVersion { found, supported } => write!(
                f,
                "format version {found} is not supported, only {supported}: use a newer release of \
                 ribbonfilter"
            ),
            Self::UnsupportedFeatures { features } => write!(
                f,
                "the filter needs features that are not supported ({features:#05b}): use a newer \
                 release of ribbonfilter"
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
                "the footer has an impossible {field}: the bytes are corrupt, or were not written by \
                 ribbonfilter; copy or build them again"
            ),
            Self::WrongLength { len, expected } => write!(
                f,
                "the filter has {len} bytes but should have {expected}: it is truncated or has extra \
                 bytes; copy it again"
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
                "the system refused {bytes} bytes of memory: map the file, or open bytes that are in \
                 memory"
            ),
            #[cfg(feature = "std")]
            Self::Io(error) => write!(f, "the filter could not be read: {error}"),
        }
    }
}
