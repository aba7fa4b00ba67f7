//! What keeps shards from being assembled.

use core::fmt;

/// [Shards](crate::Shard) that do not make a container.
///
/// Shards are numbered from 0, and so are their positions among those that were given.
///
/// ```
/// use ribbonfilter_next::{JoinError, Shards, Split};
///
/// let shard = Shards::builder(Split::ByHash { bits: 1 }).only(1)?.finish()?;
/// let error = Shards::assemble([shard]).unwrap_err();
/// assert!(matches!(error, JoinError::Missing { number: 0, count: 2 }));
/// # Ok::<(), ribbonfilter_next::BuildError>(())
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub enum JoinError {
    /// No shard was given.
    Empty,
    /// A shard was not given.
    Missing {
        /// The first number that is missing.
        number: u64,
        /// The number of shards there should be.
        count: u64,
    },
    /// A shard was given twice.
    Duplicate {
        /// The number of the shard.
        number: u64,
        /// The position where it was given for the second time.
        position: usize,
    },
    /// A shard was built with other settings than the first that was given.
    Mismatch {
        /// The number of the shard.
        number: u64,
        /// The position where it was given.
        position: usize,
        /// What differs.
        field: &'static str,
    },
    /// A shard is corrupt.
    Corrupt {
        /// The number of the shard.
        number: u64,
        /// The position where it was given.
        position: usize,
    },
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
            Self::Empty => f.write_str("there are no shards: give all shards of a container"),
            Self::Missing { number, count } => {
                write!(f, "shard {number} is missing: give all {count}, numbered from 0")
            }
            Self::Duplicate { number, position } => write!(
                f,
                "shard {number} was given twice, again at position {position}: give each once"
            ),
            Self::Mismatch { number, position, field } => write!(
                f,
                "shard {number} at position {position} does not belong with the first: its {field} \
                 differs; build all shards with the same settings"
            ),
            Self::Corrupt { number, position } => write!(
                f,
                "shard {number} at position {position} is corrupt: copy it or build it again"
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
