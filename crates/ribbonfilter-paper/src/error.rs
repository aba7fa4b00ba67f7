//! Why something could not be built, cut, joined or read.

use std::fmt;

/// An error, with what to do about it.
#[derive(Clone, Debug, PartialEq)]
pub enum Error {
    /// The number of columns is not in the range that the variant supports.
    Columns {
        /// What was requested.
        columns: f64,
        /// What is possible: 1 to this.
        max: f64,
    },
    /// A setting has a value that makes no sense.
    Setting(&'static str),
    /// No seed solves the system, although it was enlarged again and again.
    Unsolvable {
        /// Keys of the system.
        keys: u64,
        /// Its slots in the last attempt.
        slots: u64,
    },
    /// Two values for keys with the same hash.
    Contradiction,
    /// A value has more bits than the function.
    Value {
        /// The value.
        value: u64,
        /// The bits of the function's values.
        bits: u32,
    },
    /// The variant does not support the operation.
    Unsupported(&'static str),
    /// Parts that do not belong together.
    Parts(&'static str),
    /// The bytes are not what this library writes.
    Corrupt(&'static str),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Columns { columns, max } => {
                write!(f, "{columns} columns are impossible here: use 1 to {max}")
            }
            Self::Setting(what) => f.write_str(what),
            Self::Unsolvable { keys, slots } => write!(
                f,
                "no seed solves the system of {keys} keys in {slots} slots: use a wider ribbon"
            ),
            Self::Contradiction => f.write_str("two values for one key: give every key one value"),
            Self::Value { value, bits } => {
                write!(f, "the value {value} does not fit into {bits} bits: use more bits")
            }
            Self::Unsupported(what) => f.write_str(what),
            Self::Parts(what) => write!(f, "the parts do not belong together: {what}"),
            Self::Corrupt(what) => write!(f, "not a file of ribbon-paper, or corrupt: {what}"),
        }
    }
}

impl std::error::Error for Error {}
