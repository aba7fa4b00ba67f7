//! Reads keys from a column of Parquet files and of Arrow files and streams.
//!
//! Keys are those of the same values elsewhere: a string or a binary value is its bytes, an integer
//! is the same key in every integer type. So a filter has the same bytes whether it was built from
//! a Parquet file, from its lines, or from the column in Python.
//!
//! A file is divided into *tasks*: the row groups of a Parquet file, or the whole of an Arrow file.
//! Threads take one task after another and deliver the hashes of each record batch. The order of
//! the batches is not kept, since it does not change a filter.
//!
//! The `arrow` and `parquet` crates take as long to compile as everything else, so they are
//! optional. Without them [`read`] is in `unsupported.rs` and says how to install them.

#[cfg(feature = "parquet")]
mod column;
#[cfg(feature = "parquet")]
mod files;
#[cfg(feature = "parquet")]
mod guard;
#[cfg(feature = "parquet")]
mod ipc;
#[cfg(feature = "parquet")]
mod row_groups;
#[cfg(not(feature = "parquet"))]
mod unsupported;

#[cfg(feature = "parquet")]
pub use files::read;
#[cfg(not(feature = "parquet"))]
pub use unsupported::read;

use clap::ValueEnum;

/// Which column of which kind of file holds the keys.
#[cfg_attr(not(feature = "parquet"), expect(dead_code, reason = "nothing is read"))]
#[derive(Clone, Debug)]
pub struct Columnar {
    pub container: Container,
    /// The name of the column; files with a single column need none.
    pub column: Option<String>,
    pub nulls: Nulls,
}

/// The kinds of files that have columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Container {
    Parquet,
    Arrow,
}

impl Container {
    /// The name in messages and arguments.
    pub fn name(self) -> &'static str {
        match self {
            Self::Parquet => "parquet",
            Self::Arrow => "arrow",
        }
    }
}

/// What to do with nulls, which are not keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Nulls {
    /// A null is an error
    Error,
    /// Nulls are skipped, and their number is printed
    Skip,
}

/// The number of keys and of nulls that were read.
#[cfg_attr(not(feature = "parquet"), expect(dead_code, reason = "nothing is read"))]
#[derive(Clone, Copy, Debug, Default)]
pub struct Counts {
    pub keys: u64,
    pub nulls: u64,
}
