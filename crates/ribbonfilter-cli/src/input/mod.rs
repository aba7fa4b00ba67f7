//! Reads keys from files: [`source`] reads chunks of complete records, [`records`] splits and
//! hashes them, [`parallel`] does this on several threads and delivers the batches in order.
//! [`columnar`] reads files that have columns instead of records.
//!
//! Only a few chunks are in memory at the same time. Files are read, not mapped: a mapping would
//! count as memory of the process, and the process would be killed if the file were truncated.

pub mod columnar;
mod hex;
mod parallel;
mod records;
mod source;

pub use parallel::{Batch, Flow, Options, read};
pub use source::Inputs;

use columnar::{Columnar, Container, Nulls};

use crate::error::{Error, Result};
use crate::values;
use clap::{Args, ValueEnum};
use records::Column;
pub use records::Format;

/// How the records of the input become keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    Lines,
    Hex,
    U64le,
}

/// The formats of the input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum InputFormat {
    /// A key is a line, without its line end (LF or CRLF)
    Lines,
    /// A key is a line of hexadecimal digits, decoded to bytes; `:count` may follow
    Hex,
    /// A key is an integer of 8 bytes in little-endian order
    U64le,
    /// A key is a value of a column of a Parquet file
    Parquet,
    /// A key is a value of a column of an Arrow IPC file or stream, or of several streams in sequence.
    /// A stream cut between two batches is not detected, since its end marker is optional
    Arrow,
}

#[derive(Args)]
#[command(next_help_heading = "Input")]
pub struct InputArguments {
    /// Format of the input
    #[arg(long, value_enum, value_name = "WHAT", default_value = "lines")]
    input: InputFormat,
    /// Lines end with a NUL byte instead of LF
    #[arg(long, short = '0')]
    null: bool,
    /// The key is the N-th field of its line, counted from 1; or the column of this name in a
    /// Parquet or Arrow file
    #[arg(long, value_name = "N|NAME")]
    column: Option<String>,
    /// Separator of the fields of a line: one character [default: a tab]
    #[arg(long, value_name = "D", value_parser = values::delimiter, requires = "column")]
    delimiter: Option<u8>,
    /// Do not decompress input that begins like gzip or zstd
    #[arg(long)]
    plain: bool,
}

/// How the lines of the input become keys that may have groups.
#[derive(Args)]
#[command(next_help_heading = "Input")]
pub struct GroupedArguments {
    /// Lines are a group, a tab and a key. The same key in two groups is two keys
    #[arg(long, conflicts_with = "column")]
    pub groups: bool,
    #[command(flatten)]
    input: InputArguments,
}

impl GroupedArguments {
    /// Converts the arguments. Rejects options for lines if the input has none.
    pub fn format(&self) -> Result<Format> {
        let format = Format { grouped: self.groups, ..self.input.format()? };
        if self.groups && format.encoding == Encoding::U64le {
            return Err(Error::new("--groups is for lines: do not use it with u64le"));
        }
        Ok(format)
    }
}

/// How the lines of the input become keys with values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum PairEncoding {
    /// A key is the part of a line that precedes the last delimiter
    Lines,
    /// A key is hexadecimal digits, decoded to bytes; `:count` follows
    Hex,
}

#[derive(Args)]
#[command(next_help_heading = "Input")]
pub struct PairArguments {
    /// Format of the input
    #[arg(long, value_enum, value_name = "WHAT", default_value = "lines")]
    input: PairEncoding,
    /// Lines end with a NUL byte instead of LF
    #[arg(long, short = '0')]
    null: bool,
    /// Separator of key and value: one character [default: a tab, or a colon for hex]
    #[arg(long, value_name = "D", value_parser = values::delimiter)]
    delimiter: Option<u8>,
    /// Do not decompress input that begins like gzip or zstd
    #[arg(long)]
    plain: bool,
}

impl PairArguments {
    pub fn format(&self) -> Format {
        let (encoding, default) = match self.input {
            PairEncoding::Lines => (Encoding::Lines, b'\t'),
            PairEncoding::Hex => (Encoding::Hex, b':'),
        };
        Format {
            encoding,
            end: if self.null { 0 } else { b'\n' },
            column: None,
            grouped: false,
            value_after: Some(self.delimiter.unwrap_or(default)),
            plain: self.plain,
        }
    }
}

/// What files of a format consist of.
enum Kind {
    Records(Encoding),
    Columns(Container),
}

/// The number of a field of a line.
fn field_number(column: &str) -> Result<u32> {
    column.parse().ok().filter(|&number| number > 0).ok_or_else(|| {
        Error::new(format_args!(
            "--column {column}: of lines it is the number of a field, 1 for the first; names are \
             for --input parquet and arrow"
        ))
    })
}

impl InputArguments {
    fn kind(&self) -> Kind {
        match self.input {
            InputFormat::Lines => Kind::Records(Encoding::Lines),
            InputFormat::Hex => Kind::Records(Encoding::Hex),
            InputFormat::U64le => Kind::Records(Encoding::U64le),
            InputFormat::Parquet => Kind::Columns(Container::Parquet),
            InputFormat::Arrow => Kind::Columns(Container::Arrow),
        }
    }

    /// Converts the arguments for files that have columns; `None` if the input has records. Rejects
    /// options for lines.
    pub fn columnar(&self, nulls: Option<Nulls>) -> Result<Option<Columnar>> {
        let Kind::Columns(container) = self.kind() else {
            return match nulls {
                Some(_) => Err(Error::new("--nulls is for --input parquet and arrow")),
                None => Ok(None),
            };
        };
        if self.null || self.delimiter.is_some() || self.plain {
            return Err(Error::new(format_args!(
                "--null, --delimiter and --plain are for lines: do not use them with {}",
                container.name()
            )));
        }
        let (column, nulls) = (self.column.clone(), nulls.unwrap_or(Nulls::Error));
        Ok(Some(Columnar { container, column, nulls }))
    }

    /// Converts the arguments. Rejects options for lines if the input has none.
    pub fn format(&self) -> Result<Format> {
        let encoding = match self.kind() {
            Kind::Records(encoding) => encoding,
            Kind::Columns(container) => {
                return Err(Error::new(format_args!(
                    "--input {} is for `ribbon build`: pass the keys as lines",
                    container.name()
                )));
            }
        };
        if encoding == Encoding::U64le && (self.null || self.column.is_some()) {
            return Err(Error::new(
                "--null and --column are for lines: do not use them with u64le",
            ));
        }
        let delimiter = self.delimiter.unwrap_or(b'\t');
        let column = self.column.as_deref().map(field_number).transpose()?;
        Ok(Format {
            encoding,
            end: if self.null { 0 } else { b'\n' },
            column: column.map(|number| Column { number, delimiter }),
            grouped: false,
            value_after: None,
            plain: self.plain,
        })
    }
}
