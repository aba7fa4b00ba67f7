//! What keeps pieces from being joined: the parts of a filter, or the shards of a container.

use super::Kind;
use core::fmt;

/// Pieces that cannot be joined: [parts](crate::Part) that do not make a filter, or
/// [shards](crate::Shard) that do not make a container.
///
/// Pieces are numbered from 0, and so are their positions among those that were given.
///
/// ```
/// use ribbonfilter::{Filter, JoinError, Kind, Shards, Split, Variant};
///
/// let mut builder = Filter::builder().variant(Variant::Standard);
/// builder.extend(0..1000);
/// let parts = builder.finish()?.cut(3)?;
/// let error = Filter::join(&parts[..2]).unwrap_err();
/// assert!(matches!(error, JoinError::Missing { kind: Kind::Part, number: 2, count: 3 }));
///
/// let shard = Shards::builder(Split::ByHash { bits: 1 }).only(1)?.finish()?;
/// let error = Shards::assemble([shard]).unwrap_err();
/// assert!(matches!(error, JoinError::Missing { kind: Kind::Shard, number: 0, count: 2 }));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub enum JoinError {
    /// No piece was given.
    Empty,
    /// A piece was not given.
    Missing {
        /// A part or a shard.
        kind: Kind,
        /// The first number that is missing.
        number: u64,
        /// The number of pieces there should be.
        count: u64,
    },
    /// A piece was given twice.
    Duplicate {
        /// A part or a shard.
        kind: Kind,
        /// The number of the piece.
        number: u64,
        /// The position where it was given for the second time.
        position: usize,
    },
    /// A piece belongs to another filter or another cut than the first that was given, or was
    /// built with other settings.
    Mismatch {
        /// A part or a shard.
        kind: Kind,
        /// The number of the piece.
        number: u64,
        /// The position where it was given.
        position: usize,
        /// What differs.
        field: &'static str,
    },
    /// A piece is corrupt.
    Corrupt {
        /// A part or a shard.
        kind: Kind,
        /// The number of the piece.
        number: u64,
        /// The position where it was given.
        position: usize,
    },
    /// Every part is intact, but the joined filter does not have the checksum of the original.
    WrongChecksum,
    /// More bytes than a container can hold.
    TooLarge {
        /// The maximum for all shards together.
        max: u64,
    },
    /// More keys than a container can count.
    TooManyKeys {
        /// The maximum for all shards together.
        max: u64,
    },
    /// The system refused memory.
    OutOfMemory {
        /// The requested bytes.
        bytes: usize,
    },
    /// Writing failed.
    #[cfg(feature = "std")]
    Io(std::io::Error),
}

impl fmt::Display for JoinError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str(
                "there are no pieces to join: give all parts of a filter, or all shards of a \
                 container",
            ),
            Self::Missing { kind, number, count } => {
                write!(f, "{} {number} is missing: give all {count}, numbered from 0", piece(*kind))
            }
            Self::Duplicate { kind, number, position } => write!(
                f,
                "{} {number} was given twice, again at position {position}: give each once",
                piece(*kind)
            ),
            Self::Mismatch { kind, number, position, field } => write!(
                f,
                "{} {number} at position {position} does not belong with the first: its {field} \
                 differs; {}",
                piece(*kind),
                match kind {
                    Kind::Part => "give only the parts of one cut",
                    _ => "build all shards with the same settings",
                }
            ),
            Self::Corrupt { kind, number, position } => write!(
                f,
                "{} {number} at position {position} is corrupt: copy it or make it again",
                piece(*kind)
            ),
            Self::WrongChecksum => f.write_str(
                "the joined filter does not have the checksum of the original: cut it again",
            ),
            Self::TooLarge { max } => write!(
                f,
                "the shards have more than {max} bytes together: spread them over several \
                 containers"
            ),
            Self::TooManyKeys { max } => write!(
                f,
                "the shards claim more than {max} keys together: spread them over several \
                 containers, or build those again that claim too many"
            ),
            Self::OutOfMemory { bytes } => write!(
                f,
                "the system refused {bytes} bytes of memory: free some, or assemble shards to a \
                 file"
            ),
            #[cfg(feature = "std")]
            Self::Io(error) => write!(f, "the container could not be written: {error}"),
        }
    }
}

/// What a piece is called in messages.
fn piece(kind: Kind) -> &'static str {
    if kind == Kind::Part { "part" } else { "shard" }
}
