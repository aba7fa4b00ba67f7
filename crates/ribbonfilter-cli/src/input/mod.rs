//! Reads keys from files: [`source`] reads chunks of complete records, [`records`] splits and
//! hashes them, [`parallel`] does this on several threads and delivers the batches in order.
//!
//! Only a few chunks are in memory at the same time. Files are read, not mapped: a mapping would
//! count as memory of the process, and the process would be killed if the file were truncated.

mod hex;
mod parallel;
mod records;
mod source;

pub use parallel::{Batch, Flow, Options, read};
pub use source::Inputs;

use crate::error::{Error, Result};
use crate::values;
use clap::{Args, ValueEnum};
use records::Column;
pub use records::Format;

/// How the bytes of the input become keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Encoding {
    /// A key is a line, without its line end (LF or CRLF)
    Lines,
    /// A key is a line of hexadecimal digits, decoded to bytes; `:count` may follow
    Hex,
    /// A key is an integer of 8 bytes in little-endian order
    U64le,
}

#[derive(Args)]
#[command(next_help_heading = "Input")]
pub struct InputArguments {
    /// Format of the input
    #[arg(long, value_enum, value_name = "WHAT", default_value = "lines")]
    input: Encoding,
    /// Lines end with a NUL byte instead of LF
    #[arg(long, short = '0')]
    null: bool,
    /// The key is the N-th field of its line, counted from 1
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    column: Option<u32>,
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

impl InputArguments {
    /// Converts the arguments. Rejects options for lines if the input has none.
    pub fn format(&self) -> Result<Format> {
        if self.input == Encoding::U64le && (self.null || self.column.is_some()) {
            return Err(Error::new(
                "--null and --column are for lines: do not use them with u64le",
            ));
        }
        let delimiter = self.delimiter.unwrap_or(b'\t');
        Ok(Format {
            encoding: self.input,
            end: if self.null { 0 } else { b'\n' },
            column: self.column.map(|number| Column { number, delimiter }),
            grouped: false,
            value_after: None,
            plain: self.plain,
        })
    }
}
