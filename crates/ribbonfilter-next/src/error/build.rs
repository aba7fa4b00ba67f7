//! What keeps a filter, a function or a container from being planned or built.

use core::fmt;

/// A filter that could not be planned or built.
///
/// ```
/// use ribbonfilter_next::{BuildError, Filter};
///
/// let error = Filter::build(["ada"], 1.5).unwrap_err();
/// assert!(matches!(error, BuildError::InvalidRate { .. }));
/// assert_eq!(
///     error.to_string(),
///     "the false-positive rate must lie between 0 and 1, both excluded, but is 1.5"
/// );
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub enum BuildError {
    /// The false-positive rate is not between 0 and 1.
    InvalidRate {
        /// The requested rate.
        rate: f64,
    },
    /// The false-positive rate is below what the maximum number of columns can give.
    RateTooLow {
        /// The requested rate.
        rate: f64,
        /// The lowest that this variant and width can promise for this number of keys.
        lowest: f64,
    },
    /// The number of columns is out of range.
    InvalidColumns {
        /// The requested columns.
        columns: f64,
        /// The maximum for this variant and width.
        max: u32,
    },
    /// The bits per key are not a positive number.
    InvalidBitsPerKey {
        /// The requested bits per key.
        bits_per_key: f64,
    },
    /// The extra overhead is negative, not a number, or above 100 (a hundredfold).
    InvalidOverhead {
        /// The requested overhead.
        overhead: f64,
    },
    /// The size cannot hold even one column.
    SizeTooSmall {
        /// The bytes allowed.
        bytes: u64,
        /// The fewest bytes that a filter of this number of keys takes.
        needed: u64,
        /// The number of keys.
        keys: u64,
    },
    /// More keys than the format can describe.
    TooManyKeys {
        /// The number of keys.
        keys: u64,
        /// The maximum for this variant and width.
        max: u64,
    },
    /// The bits of a function's values and fingerprints are none, or too many together.
    InvalidBits {
        /// The bits of a value.
        value_bits: u32,
        /// The bits of a fingerprint.
        fingerprint_bits: u32,
        /// The maximum for both together.
        max: u32,
    },
    /// A value has more bits than it may.
    ValueTooWide {
        /// The first such value's position: 0 for the pair that was pushed first.
        position: u64,
        /// The value.
        value: u64,
        /// The bits that it may have.
        value_bits: u32,
    },
    /// One key, or two keys with one hash, with different values.
    Contradiction {
        /// The position of the earlier pair: 0 for the one that was pushed first.
        first: u64,
        /// The position of the pair that contradicts it.
        second: u64,
    },
    /// No seed gave a solvable system, however many slots were added.
    Unsolvable {
        /// The number of keys.
        keys: u64,
        /// The slots of the last try.
        slots: u64,
    },
    /// More shards than a container can have.
    TooManyShards {
        /// The bits of the hash that were to choose the shard.
        bits: u32,
        /// The maximum.
        max: u32,
    },
    /// A container has no shard of that number.
    NoSuchShard {
        /// The requested shard.
        shard: u64,
        /// The number of shards.
        shards: u64,
    },
    /// More bytes than a container can hold.
    ContainerTooLarge {
        /// The maximum for all shards together.
        max: u64,
    },
    /// The build would take more memory than it may.
    MemoryLimit {
        /// The bytes that it would take.
        needed: u64,
        /// The bytes that it may take.
        limit: u64,
    },
    /// The system refused memory.
    OutOfMemory {
        /// The requested bytes.
        bytes: usize,
    },
    /// A setting that decides how keys are hashed was changed after the first key.
    TooLate {
        /// The setting.
        setting: &'static str,
    },
    /// The progress callback requested to stop.
    Cancelled,
    /// Hashes beyond the memory that is allowed could not be written to a temporary file, or
    /// not be read from it.
    #[cfg(feature = "std")]
    Spill {
        /// The directory that the file was to be in.
        directory: std::path::PathBuf,
        /// What went wrong.
        error: std::io::Error,
    },
    /// Writing failed, or reading the other keys of an exact set.
    #[cfg(feature = "std")]
    Io(std::io::Error),
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::InvalidRate { rate } => write!(
                f,
                "the false-positive rate must lie between 0 and 1, both excluded, but is {rate}"
            ),
            Self::RateTooLow { rate, lowest } => write!(
                f,
                "a false-positive rate of {rate:e} is out of reach: the lowest here is {lowest:.4e}"
            ),
            Self::InvalidColumns { columns, max } => {
                write!(f, "the columns must be more than 0 and at most {max}, but are {columns}")
            }
            Self::InvalidBitsPerKey { bits_per_key } => {
                write!(f, "the bits per key must be a positive number, but are {bits_per_key}")
            }
            Self::InvalidOverhead { overhead } => {
                write!(f, "the overhead must lie between 0 and 100, but is {overhead}")
            }
            Self::SizeTooSmall { bytes, needed, keys } => {
                write!(f, "{bytes} bytes are too few for {keys} keys: allow at least {needed}")
            }
            Self::TooManyKeys { keys, max } => write!(
                f,
                "{keys} keys are more than one filter can hold: split them into sets of at most {max}"
            ),
            Self::InvalidBits { value_bits, fingerprint_bits, max } => write!(
                f,
                "values must have at least 1 bit and with their fingerprints at most {max}, but \
                 value_bits are {value_bits} and fingerprint_bits {fingerprint_bits}"
            ),
            Self::ValueTooWide { position, value, value_bits } => write!(
                f,
                "the value {value} at position {position} does not fit {value_bits} bits: allow \
                 more value_bits"
            ),
            Self::Contradiction { first, second } => write!(
                f,
                "the pairs at positions {first} and {second} have the same key hash but different \
                 values: leave out one of them or, if their keys differ, hash the keys under \
                 another key_seed"
            ),
            Self::Unsolvable { keys, slots } => write!(
                f,
                "no solvable system for {keys} keys in up to {slots} slots: the key hashes are \
                 far from random; hash the keys again under another key_seed"
            ),
            Self::TooManyShards { bits, max } => {
                write!(f, "2^{bits} shards are too many: split by at most {max} bits")
            }
            Self::NoSuchShard { shard, shards } => {
                write!(f, "there is no shard {shard}: the {shards} shards are counted from 0")
            }
            Self::ContainerTooLarge { max } => write!(
                f,
                "the shards take more than {max} bytes together: spread them over several \
                 containers"
            ),
            Self::MemoryLimit { needed, limit } => write!(
                f,
                "the build needs {needed} bytes of memory but may take only {limit}: allow more, \
                 use fewer threads, spill hashes to disk, or split the keys into several filters"
            ),
            Self::OutOfMemory { bytes } => {
                write!(f, "the system refused {bytes} bytes of memory: build fewer keys at a time")
            }
            Self::TooLate { setting } => {
                write!(f, "{setting} was set after the first key: set it before any key is pushed")
            }
            Self::Cancelled => f.write_str("the build was cancelled by its progress callback"),
            #[cfg(feature = "std")]
            Self::Spill { directory, error } => write!(
                f,
                "hashes could not be spilled to {}: {error}: {}",
                directory.display(),
                instead_of_spilling(error.kind()),
            ),
            #[cfg(feature = "std")]
            Self::Io(error) => write!(f, "reading or writing failed: {error}"),
        }
    }
}

/// What to do if a temporary file cannot be written.
#[cfg(feature = "std")]
fn instead_of_spilling(kind: std::io::ErrorKind) -> &'static str {
    use std::io::ErrorKind;
    match kind {
        ErrorKind::NotFound | ErrorKind::NotADirectory => "name a directory that exists",
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => {
            "name a directory that may be written to"
        }
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge => {
            "free some space, 8 bytes per key and twice that if many are duplicates, or name \
             another directory"
        }
        _ => "try again, name another directory, or allow more memory",
    }
}
