//! What keeps parts from being a filter again.

use core::fmt;

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
    Empty,
    /// A part is of another filter than the first that was given, or of another cut of it.
    Foreign {
        /// Its position among those that were given, from 0 on.
        position: usize,
    },
    /// A part was given twice.
    Duplicate {
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
    /// A part is corrupt.
    Corrupt {
        /// Its position among those that were given, from 0 on.
        position: usize,
    },
    /// Every part is whole, but together they are not the filter that was cut.
    NotTheFilter,
    /// The system refused memory.
    OutOfMemory {
        /// The requested bytes.
        bytes: usize,
    },
}

impl fmt::Display for JoinError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("there is nothing to join: give all parts of a filter"),
            Self::Foreign { position } => write!(
                f,
                "the part at position {position} is of another filter than the first, or of \
                 another cut of it: leave it out"
            ),
            Self::Duplicate { number, position } => write!(
                f,
                "part {number} is given once more at position {position}: leave one of them out"
            ),
            Self::Missing { number, parts } => {
                write!(f, "part {number} of {parts} is missing: give all of them")
            }
            Self::Corrupt { position } => {
                write!(f, "the part at position {position} is corrupt: copy it or cut it again")
            }
            Self::NotTheFilter => {
                f.write_str("the parts are not those of one filter: copy or cut them again")
            }
            Self::OutOfMemory { bytes } => {
                write!(f, "the system refused {bytes} bytes of memory")
            }
        }
    }
}

impl core::error::Error for JoinError {}
