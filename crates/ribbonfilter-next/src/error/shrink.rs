//! What keeps a filter from being shrunk or split.

use core::fmt;

/// A filter that could not be shrunk or split.
///
/// ```
/// use ribbonfilter_next::{Filter, ShrinkError};
///
/// let filter = Filter::build(0..1000, 0.01)?;
/// let error = filter.shrink_to_rate(0.001).unwrap_err();
/// assert!(matches!(error, ShrinkError::RateTooLow { .. }));
/// # Ok::<(), ribbonfilter_next::BuildError>(())
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub enum ShrinkError {
    /// The false-positive rate is not between 0 and 1.
    InvalidRate {
        /// The requested rate.
        rate: f64,
    },
    /// A smaller filter cannot have a lower rate.
    RateTooLow {
        /// The requested rate.
        rate: f64,
        /// The rate that the filter has.
        lowest: f64,
    },
    /// The number of columns is not positive, or more than there are.
    InvalidColumns {
        /// The requested columns.
        columns: f64,
        /// The columns that the filter has.
        max: f64,
    },
    /// The size cannot hold even one column.
    SizeTooSmall {
        /// The bytes allowed.
        bytes: u64,
        /// The fewest bytes that a filter of this number of slots takes.
        needed: u64,
    },
    /// The size is larger than the filter is.
    SizeTooLarge {
        /// The requested bytes.
        bytes: u64,
        /// The bytes that the filter has.
        size: u64,
    },
    /// The columns of the parts do not add up to those of the filter, or a part has none.
    WrongColumns {
        /// The columns of all parts together.
        requested: u64,
        /// The columns of the filter, the fraction counted as one.
        columns: u32,
    },
    /// The filter is corrupt: what is made of it would seem intact.
    Corrupt,
    /// The system refused memory.
    OutOfMemory {
        /// The requested bytes.
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
            Self::InvalidColumns { columns, max } => write!(
                f,
                "the columns must be more than 0 and at most the filter's {max}, but are {columns}"
            ),
            Self::SizeTooSmall { bytes, needed } => {
                write!(f, "{bytes} bytes are too few: allow at least {needed}")
            }
            Self::SizeTooLarge { bytes, size } => {
                write!(f, "the filter has only {size} bytes and cannot grow to {bytes}")
            }
            Self::WrongColumns { requested, columns } => write!(
                f,
                "parts of at least one column each must have {columns} columns together, but \
                 have {requested}"
            ),
            Self::Corrupt => f.write_str("the filter is corrupt: copy it or build it again"),
            Self::OutOfMemory { bytes } => {
                write!(f, "the system refused {bytes} bytes of memory")
            }
        }
    }
}

impl core::error::Error for ShrinkError {}
