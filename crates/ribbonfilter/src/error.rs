//! What can go wrong, and what to do about it.
//!
//! Every variant's message names the cause with its figures and ends with the way out.

use crate::format::Kind;
use crate::{Variant, Width};
use core::fmt;

/// A filter that could not be planned or built.
///
/// ```
/// use ribbonfilter::{BuildError, Filter};
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
        /// The rate asked for.
        rate: f64,
    },
    /// The false-positive rate is below what the most columns can give.
    RateTooLow {
        /// The rate asked for.
        rate: f64,
        /// The lowest that this variant and width can promise for so many keys.
        lowest: f64,
    },
    /// The number of columns is out of range.
    InvalidColumns {
        /// The columns asked for.
        columns: f64,
        /// The most that this variant and width can use.
        most: u32,
    },
    /// The bits a key are not a positive number.
    InvalidBitsPerKey {
        /// The bits a key asked for.
        bits_per_key: f64,
    },
    /// The extra overhead is negative, not a number, or above 100 (a hundredfold).
    InvalidOverhead {
        /// The overhead asked for.
        overhead: f64,
    },
    /// The size cannot hold even one column.
    SizeTooSmall {
        /// The bytes allowed.
        bytes: u64,
        /// The least that a filter of so many keys takes.
        needed: u64,
        /// The number of keys.
        keys: u64,
    },
    /// More keys than the format can describe.
    TooManyKeys {
        /// The number of keys.
        keys: u64,
        /// The most that this variant and width allow.
        most: u64,
    },
    /// This variant makes no sense with this width for so many keys.
    Unsuitable {
        /// The variant asked for.
        variant: Variant,
        /// The width asked for.
        width: Width,
        /// The number of keys.
        keys: u64,
        /// A width that does make sense with this variant.
        instead: Width,
    },
    /// The bits of a function's values and fingerprints are none, or too many together.
    InvalidBits {
        /// The bits of a value.
        value_bits: u32,
        /// The bits of a fingerprint.
        fingerprint_bits: u32,
        /// The most that both may have together.
        most: u32,
    },
    /// This variant maps keys to nothing, and cannot be a function.
    NotForFunctions {
        /// The variant asked for.
        variant: Variant,
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
        /// The bits of the hash that were to tell the shard.
        bits: u32,
        /// The most that may.
        most: u32,
    },
    /// A container has no shard of that number, or no shard that can be built alone.
    NoSuchShard {
        /// The number asked for.
        shard: u64,
        /// How many shards there are that can be built alone.
        shards: u64,
    },
    /// Shards that are filled until they are full are Standard ribbons.
    NotForShards {
        /// The variant asked for.
        variant: Variant,
    },
    /// More bytes than a container can hold.
    ContainerTooLarge {
        /// The most that its shards may take together.
        most: u64,
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
        /// The bytes that were asked for.
        bytes: usize,
    },
    /// The progress callback asked to stop.
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
    /// Writing failed.
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
            Self::InvalidColumns { columns, most } => {
                write!(f, "the columns must be more than 0 and at most {most}, but are {columns}")
            }
            Self::InvalidBitsPerKey { bits_per_key } => {
                write!(f, "the bits a key must be a positive number, but are {bits_per_key}")
            }
            Self::InvalidOverhead { overhead } => {
                write!(f, "the overhead must lie between 0 and 100, but is {overhead}")
            }
            Self::SizeTooSmall { bytes, needed, keys } => {
                write!(f, "{bytes} bytes are too few for {keys} keys: allow at least {needed}")
            }
            Self::TooManyKeys { keys, most } => write!(
                f,
                "{keys} keys are more than one filter can hold: split them into sets of at most {most}"
            ),
            Self::Unsuitable { variant, width, keys, instead } => write!(
                f,
                "a {variant} ribbon of width {width} makes no sense for {keys} keys: use width {instead}"
            ),
            Self::InvalidBits { value_bits, fingerprint_bits, most } => write!(
                f,
                "values must have at least 1 bit and with their fingerprints at most {most}, but \
                 value_bits are {value_bits} and fingerprint_bits {fingerprint_bits}"
            ),
            Self::NotForFunctions { variant } => write!(
                f,
                "a {variant} ribbon cannot store values: use Standard, Balanced or Bumped"
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
            Self::TooManyShards { bits, most } => {
                write!(f, "2^{bits} shards are too many: split by at most {most} bits")
            }
            Self::NoSuchShard { shard, shards: 0 } => write!(
                f,
                "shard {shard} cannot be built alone, since where it begins depends on those \
                 before it: split the keys by hash"
            ),
            Self::NoSuchShard { shard, shards } => {
                write!(f, "there is no shard {shard}: the {shards} shards are counted from 0")
            }
            Self::NotForShards { variant } => write!(
                f,
                "a {variant} ribbon cannot be filled until it is full: use Standard, or split the \
                 keys by hash"
            ),
            Self::ContainerTooLarge { most } => write!(
                f,
                "the shards take more than {most} bytes together: spread them over several \
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
            Self::Cancelled => f.write_str("the build was cancelled by its progress callback"),
            #[cfg(feature = "std")]
            Self::Spill { directory, error } => write!(
                f,
                "hashes could not be spilled to {}: {error}: {}",
                directory.display(),
                instead_of_spilling(error.kind()),
            ),
            #[cfg(feature = "std")]
            Self::Io(error) => write!(f, "the filter could not be written: {error}"),
        }
    }
}

impl core::error::Error for BuildError {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match self {
            #[cfg(feature = "std")]
            Self::Spill { error, .. } | Self::Io(error) => Some(error),
            _ => None,
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
            "free some space, 8 bytes a key and twice that if many are duplicates, or name \
             another directory"
        }
        _ => "try again, name another directory, or allow more memory",
    }
}

#[cfg(feature = "std")]
impl From<std::io::Error> for BuildError {
    fn from(error: std::io::Error) -> Self {
        Self::Io(error)
    }
}

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
    /// Fewer bytes than the fixed part has.
    TooShort {
        /// The bytes given.
        len: usize,
        /// The bytes of the fixed part.
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
        /// What was asked for.
        expected: Kind,
        /// What was found.
        found: Kind,
    },
    /// The fixed part was altered.
    HeaderDamaged,
    /// The fixed part is whole but describes something that cannot be.
    Inconsistent {
        /// The field that cannot be.
        field: &'static str,
    },
    /// More or fewer bytes than the fixed part tells.
    WrongLength {
        /// The bytes given.
        len: u64,
        /// The bytes that it should have.
        expected: u64,
    },
    /// The solution or its metadata was altered: only [`verify`] looks.
    ///
    /// [`verify`]: crate::Filter::verify
    DataDamaged,
    /// The data of one shard of a container was altered: only [`verify`] looks.
    ///
    /// [`verify`]: crate::Shards::verify
    ShardDamaged {
        /// The shard, counted from 0.
        shard: u64,
    },
    /// The directory of a container was altered: only [`verify`] looks at all of it.
    ///
    /// [`verify`]: crate::Shards::verify
    DirectoryDamaged,
    /// The system refused memory.
    OutOfMemory {
        /// The bytes that were asked for.
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
                write!(f, "the bytes hold a {found}, not a {expected}: open them as a {found}")
            }
            Self::HeaderDamaged => {
                f.write_str("the fixed part of the filter was altered: fetch or build it again")
            }
            Self::Inconsistent { field } => write!(
                f,
                "the filter's {field} cannot be: it was not written by ribbonfilter, or altered"
            ),
            Self::WrongLength { len, expected } => write!(
                f,
                "the filter has {len} bytes but should have {expected}: it was cut short or \
                 extended"
            ),
            Self::DataDamaged => {
                f.write_str("the filter's data was altered: fetch or build it again")
            }
            Self::ShardDamaged { shard } => {
                write!(f, "the data of shard {shard} was altered: fetch or build that shard again")
            }
            Self::DirectoryDamaged => f.write_str(
                "the directory of the container was altered: fetch it or assemble its shards again",
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
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match self {
            #[cfg(feature = "std")]
            Self::Io(error) => Some(error),
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

/// A filter that could not be made smaller, or taken apart.
///
/// ```
/// use ribbonfilter::{Filter, ShrinkError};
///
/// let filter = Filter::build(0..1000, 0.01)?;
/// let error = filter.shrink_to_rate(0.001).unwrap_err();
/// assert!(matches!(error, ShrinkError::RateTooLow { .. }));
/// # Ok::<(), ribbonfilter::BuildError>(())
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub enum ShrinkError {
    /// The false-positive rate is not between 0 and 1.
    InvalidRate {
        /// The rate asked for.
        rate: f64,
    },
    /// A smaller filter cannot have a lower rate.
    RateTooLow {
        /// The rate asked for.
        rate: f64,
        /// The rate that the filter has.
        lowest: f64,
    },
    /// The number of columns is not positive, or more than there are.
    InvalidColumns {
        /// The columns asked for.
        columns: f64,
        /// The columns that the filter has.
        most: f64,
    },
    /// The size cannot hold even one block of one column.
    SizeTooSmall {
        /// The bytes allowed.
        bytes: u64,
        /// The least that a filter of so many slots takes.
        needed: u64,
    },
    /// The size is larger than the filter is.
    SizeTooLarge {
        /// The bytes asked for.
        bytes: u64,
        /// The bytes that the filter has.
        size: u64,
    },
    /// The columns of the parts do not add up to those of the filter, or a part has none.
    WrongColumns {
        /// The columns of all parts together.
        asked: u64,
        /// The columns of the filter, the fraction counted as one.
        columns: u32,
    },
    /// Some keys of this variant have places elsewhere, so that no cut keeps them together.
    CannotBeCut {
        /// The filter's variant.
        variant: Variant,
    },
    /// The filter cannot be cut into so many parts.
    WrongParts {
        /// The parts asked for.
        parts: u64,
        /// The most there can be: one a block.
        most: u64,
    },
    /// The filter was altered: what is made of it would seem whole.
    Damaged,
    /// The system refused memory.
    OutOfMemory {
        /// The bytes that were asked for.
        bytes: usize,
    },
}

impl fmt::Display for ShrinkError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::InvalidRate { rate } => write!(
                f,
                "the false-positive rate must lie between 0 and 1, both excluded, but is {rate}"
            ),
            Self::RateTooLow { rate, lowest } => write!(
                f,
                "a false-positive rate of {rate:e} is out of reach: the filter itself has \
                 {lowest:.4e}, and shrinking only raises it"
            ),
            Self::InvalidColumns { columns, most } => write!(
                f,
                "the columns must be more than 0 and at most the filter's {most}, but are {columns}"
            ),
            Self::SizeTooSmall { bytes, needed } => {
                write!(f, "{bytes} bytes are too few: the least is {needed}")
            }
            Self::SizeTooLarge { bytes, size } => {
                write!(f, "the filter has only {size} bytes and cannot grow to {bytes}")
            }
            Self::WrongColumns { asked, columns } => write!(
                f,
                "parts of at least one column each must have {columns} columns together, but \
                 have {asked}"
            ),
            Self::CannotBeCut { variant } => write!(
                f,
                "a {variant} filter cannot be cut, since some of its keys have places elsewhere: \
                 build shards, or a Standard or Homogeneous filter"
            ),
            Self::WrongParts { parts, most } => write!(
                f,
                "the parts must be at least 1 and at most the filter's blocks, {most}, but are \
                 {parts}"
            ),
            Self::Damaged => f.write_str("the filter was altered: fetch or build it again"),
            Self::OutOfMemory { bytes } => {
                write!(f, "the system refused {bytes} bytes of memory")
            }
        }
    }
}

impl core::error::Error for ShrinkError {}

/// Parts that are not all parts of one filter, each once.
///
/// ```
/// use ribbonfilter::{Filter, JoinError, Variant};
///
/// let mut builder = Filter::builder().variant(Variant::Standard);
/// builder.extend(0..1000);
/// let parts = builder.finish()?.cut(3)?;
/// let error = Filter::join(&parts[..2]).unwrap_err();
/// assert!(matches!(error, JoinError::Missing { number: 3, parts: 3 }));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub enum JoinError {
    /// No parts were given.
    Nothing,
    /// A part is of another filter than the first that was given, or of another cut of it.
    Foreign {
        /// Its position among those that were given, from 0 on.
        position: usize,
    },
    /// A part was given twice.
    Doubled {
        /// The part's number, from 1 on.
        number: u32,
        /// The position where it was given for the second time, from 0 on.
        position: usize,
    },
    /// A part was not given.
    Missing {
        /// The part's number, from 1 on.
        number: u32,
        /// All parts that there are.
        parts: u32,
    },
    /// A part was altered.
    Damaged {
        /// Its position among those that were given, from 0 on.
        position: usize,
    },
    /// Every part is whole, but together they are not the filter that was cut.
    NotTheFilter,
    /// The system refused memory.
    OutOfMemory {
        /// The bytes that were asked for.
        bytes: usize,
    },
}

impl fmt::Display for JoinError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nothing => f.write_str("there is nothing to join: give all parts of a filter"),
            Self::Foreign { position } => write!(
                f,
                "the part at position {position} is of another filter than the first, or of \
                 another cut of it: leave it out"
            ),
            Self::Doubled { number, position } => write!(
                f,
                "part {number} is given once more at position {position}: leave one of them out"
            ),
            Self::Missing { number, parts } => {
                write!(f, "part {number} of {parts} is missing: give all of them")
            }
            Self::Damaged { position } => {
                write!(f, "the part at position {position} was altered: fetch or cut it again")
            }
            Self::NotTheFilter => {
                f.write_str("the parts are not those of one filter: fetch or cut them again")
            }
            Self::OutOfMemory { bytes } => {
                write!(f, "the system refused {bytes} bytes of memory")
            }
        }
    }
}

impl core::error::Error for JoinError {}

impl From<OutOfMemory> for JoinError {
    fn from(error: OutOfMemory) -> Self {
        Self::OutOfMemory { bytes: error.bytes }
    }
}

impl From<OutOfMemory> for ShrinkError {
    fn from(error: OutOfMemory) -> Self {
        Self::OutOfMemory { bytes: error.bytes }
    }
}

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
    Nothing,
    /// A shard was not given.
    Missing {
        /// The first that is missing.
        shard: u64,
        /// How many there should be.
        shards: u64,
    },
    /// A shard was given twice.
    Doubled {
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
    /// A shard was altered.
    Damaged {
        /// Its number.
        shard: u64,
    },
    /// More bytes than a container can hold.
    TooLarge {
        /// The most that the shards may take together.
        most: u64,
    },
    /// More keys than a container can count.
    TooManyKeys {
        /// The most that the shards may have together.
        most: u64,
    },
    /// The system refused memory.
    OutOfMemory {
        /// The bytes that were asked for.
        bytes: usize,
    },
    /// Writing failed.
    #[cfg(feature = "std")]
    Io(std::io::Error),
}

impl fmt::Display for AssembleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nothing => f.write_str("no shard was given: a container has at least one"),
            Self::Missing { shard, shards } => {
                write!(f, "shard {shard} of {shards} is missing: build it, and give all of them")
            }
            Self::Doubled { shard } => {
                write!(f, "shard {shard} was given twice: leave out one of them")
            }
            Self::DifferentSettings { shard, setting } => write!(
                f,
                "shard {shard} was built with another {setting} than the shards before it: build \
                 all shards with the same settings"
            ),
            Self::Damaged { shard } => {
                write!(f, "shard {shard} was altered: fetch or build it again")
            }
            Self::TooLarge { most } => write!(
                f,
                "the shards take more than {most} bytes together: spread them over several \
                 containers"
            ),
            Self::TooManyKeys { most } => write!(
                f,
                "the shards claim more than {most} keys together: spread them over several \
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
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match self {
            #[cfg(feature = "std")]
            Self::Io(error) => Some(error),
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

impl From<OutOfMemory> for AssembleError {
    fn from(error: OutOfMemory) -> Self {
        Self::OutOfMemory { bytes: error.bytes }
    }
}

/// An allocation that failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OutOfMemory {
    bytes: usize,
}

impl OutOfMemory {
    /// So many bytes were refused.
    pub(crate) fn new(bytes: usize) -> Self {
        Self { bytes }
    }
}

impl From<OutOfMemory> for BuildError {
    fn from(error: OutOfMemory) -> Self {
        Self::OutOfMemory { bytes: error.bytes }
    }
}

impl From<OutOfMemory> for OpenError {
    fn from(error: OutOfMemory) -> Self {
        Self::OutOfMemory { bytes: error.bytes }
    }
}
