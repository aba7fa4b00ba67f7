//! Keys from files: [`source`] reads chunks of whole records, [`records`] splits and hashes
//! them, [`crew`] does so on several threads and hands the batches on in their order.
//!
//! Only a few chunks are in memory at once. Files are read, not mapped: a map would count as
//! memory of the process, and a file that is cut short meanwhile would kill it.

mod crew;
mod hex;
mod records;
mod source;

pub use crew::{Batch, Flow, Options, read};
pub use source::Inputs;

use crate::error::{Error, Result};
use crate::values;
use clap::{Args, ValueEnum};
use records::Column;
pub use records::Format;

/// How the bytes of the input become keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Encoding {
    /// A key is a line, without its end (LF or CRLF)
    Lines,
    /// A key is the bytes that a line of hexadecimal digits stands for; `:count` may follow
    Hex,
    /// A key is an integer of 8 bytes, least significant first
    U64le,
}

#[derive(Args)]
#[command(next_help_heading = "Input")]
pub struct InputArguments {
    /// What the input holds
    #[arg(long, value_enum, value_name = "WHAT", default_value = "lines")]
    input: Encoding,
    /// Lines end with a NUL byte instead of a line feed
    #[arg(long, short = '0')]
    null: bool,
    /// The key is the N-th field of its line, from 1
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    column: Option<u32>,
    /// What separates the fields of a line: one character [default: a tab]
    #[arg(long, value_name = "D", value_parser = values::delimiter, requires = "column")]
    delimiter: Option<u8>,
    /// Take input that begins like gzip or zstd as it is
    #[arg(long)]
    plain: bool,
}

/// How the lines of the input become keys with values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum PairEncoding {
    /// A key is what comes before the last delimiter of a line
    Lines,
    /// A key is the bytes that hexadecimal digits stand for; `:count` follows
    Hex,
}

#[derive(Args)]
#[command(next_help_heading = "Input")]
pub struct PairArguments {
    /// What the input holds
    #[arg(long, value_enum, value_name = "WHAT", default_value = "lines")]
    input: PairEncoding,
    /// Lines end with a NUL byte instead of a line feed
    #[arg(long, short = '0')]
    null: bool,
    /// What separates key and value: one character [default: a tab, or a colon for hex]
    #[arg(long, value_name = "D", value_parser = values::delimiter)]
    delimiter: Option<u8>,
    /// Take input that begins like gzip or zstd as it is
    #[arg(long)]
    plain: bool,
}

impl PairArguments {
    pub fn format(&self) -> Format {
        let (encoding, usual) = match self.input {
            PairEncoding::Lines => (Encoding::Lines, b'\t'),
            PairEncoding::Hex => (Encoding::Hex, b':'),
        };
        Format {
            encoding,
            end: if self.null { 0 } else { b'\n' },
            column: None,
            value_behind: Some(self.delimiter.unwrap_or(usual)),
            plain: self.plain,
        }
    }
}

impl InputArguments {
    /// Refuses what is for lines where there are none.
    pub fn format(&self) -> Result<Format> {
        if self.input == Encoding::U64le && (self.null || self.column.is_some()) {
            return Err(Error::new("--null and --column are for lines: leave them out for u64le"));
        }
        let delimiter = self.delimiter.unwrap_or(b'\t');
        Ok(Format {
            encoding: self.input,
            end: if self.null { 0 } else { b'\n' },
            column: self.column.map(|number| Column { number, delimiter }),
            value_behind: None,
            plain: self.plain,
        })
    }
}
