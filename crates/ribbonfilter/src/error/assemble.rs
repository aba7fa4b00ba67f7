//! What keeps shards from being a container.

use core::fmt;

/// Shards that do not make a container.
///
/// ```
/// use ribbonfilter::{AssembleError, Shards, Split};
///
/// let builder = || Shards::builder(Split::ByHash { bits: 1 });
/// let alone = builder().only(1)?.finish()?;
/// let error = Shards::assemble([alone]).unwrap_err();
/// assert!(matches!(error, AssembleError::Missing { shard: 0, shards: 2 }));
/// # Ok::<(), ribbonfilter::BuildError>(())
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub enum AssembleError {
    /// No shard was given.
    Empty,
    /// A shard was not given.
    Missing {
        /// The first that is missing.
        shard: u64,
        /// How many there should be.
        shards: u64,
    },
    /// A shard was given twice.
    Duplicate {
        /// Its number.
        shard: u64,
    },
    /// A shard was built with other settings than the others.
    DifferentSettings {
        /// Its number.
        shard: u64,
        /// The setting.
        setting: &'static str,
    },
    /// A shard is corrupt.
    Corrupt {
        /// Its number.
        shard: u64,
    },
    /// More bytes than a container can hold.
    TooLarge {
        /// The most that the shards may take together.
        max: u64,
    },
    /// More keys than a container can count.
    TooManyKeys {
        /// The most that the shards may have together.
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

impl fmt::Display for AssembleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("no shard was given: a container has at least one"),
            Self::Missing { shard, shards } => {
                write!(f, "shard {shard} of {shards} is missing: build it, and give all of them")
            }
            Self::Duplicate { shard } => {
                write!(f, "shard {shard} was given twice: leave out one of them")
            }
            Self::DifferentSettings { shard, setting } => write!(
                f,
                "shard {shard} was built with another {setting} than the shards before it: build \
                 all shards with the same settings"
            ),
            Self::Corrupt { shard } => {
                write!(f, "shard {shard} is corrupt: copy it or build it again")
            }
            Self::TooLarge { max } => write!(
                f,
                "the shards take more than {max} bytes together: spread them over several \
                 containers"
            ),
            Self::TooManyKeys { max } => write!(
                f,
                "the shards claim more than {max} keys together: spread them over several \
                 containers, or build those again that claim too many"
            ),
            Self::OutOfMemory { bytes } => {
                write!(f, "the system refused {bytes} bytes of memory: assemble to a file instead")
            }
            #[cfg(feature = "std")]
            Self::Io(error) => write!(f, "the container could not be written: {error}"),
        }
    }
}

impl core::error::Error for AssembleError {
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
impl From<std::io::Error> for AssembleError {
    fn from(error: std::io::Error) -> Self {
        Self::Io(error)
    }
}
