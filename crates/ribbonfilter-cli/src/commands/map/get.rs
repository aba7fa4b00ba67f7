//! `ribbon map get`: looks up the values of keys.

use crate::error::{Error, NOT_FOUND, Result};
use crate::filter_file;
use crate::input::{self, Batch, Flow, Format, InputArguments, Inputs};
use crate::output::print;
use crate::progress::Progress;
use clap::Args;
use ribbonfilter::{Function, MappedBytes};
use std::ffi::OsString;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

/// Print keys and their values, separated by a tab
///
/// Keys are arguments, or lines of standard input or of files. For a key of the map, prints its
/// value. An absent key is not printed if its fingerprint does not match; without fingerprints, the
/// map returns an arbitrary value for an absent key.
///
/// The file is memory-mapped: it must not be modified while it is in use. `ribbon map build
/// --force` is safe: it replaces the file and does not modify it.
///
/// Exit status: 0 if a value was printed, 1 if none, 2 after an error.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// The map file, which must not be modified during the run
    #[arg(value_name = "MAP")]
    map: PathBuf,
    /// Keys to look up; no key reads them from standard input
    #[arg(value_name = "KEY")]
    keys: Vec<OsString>,
    /// Read the keys from this file (`-` is standard input); may be repeated
    #[arg(long = "keys", value_name = "FILE", conflicts_with = "keys")]
    files: Vec<PathBuf>,
    /// Number of threads; 0 for one per core. One is fast enough for most input
    #[arg(long, value_name = "N", default_value_t = 1)]
    threads: usize,
    #[command(flatten)]
    input: InputArguments,
}

const EXAMPLES: &str = "\
Examples:
  ribbon map get ages.ribbon ada grace             ada, a tab and 36; grace, a tab and 85
  ribbon map get ages.ribbon < names.txt
  ribbon map get --input hex counts.ribbon 7C4A8D09CA3762AF61E59520943DC26494F8941B";

pub fn run(arguments: &Arguments) -> Result {
    let map = filter_file::open_function(&arguments.map)?;
    let found = match arguments.keys.as_slice() {
        [] => get_stream(arguments, &map)?,
        keys => get_keys(arguments, &map, keys)?,
    };
    Ok(if found { ExitCode::SUCCESS } else { ExitCode::from(NOT_FOUND) })
}

/// Prints the values of the keys that were given as arguments. Returns whether there is any.
fn get_keys(arguments: &Arguments, map: &Function<MappedBytes>, keys: &[OsString]) -> Result<bool> {
    let format = arguments.input.format()?;
    let mut text = Vec::new();
    for key in keys {
        let bytes = key.as_encoded_bytes();
        let hash = format.hash_argument(bytes, map.key_seed()).map_err(|complaint| {
            Error::new(format_args!("{}: {complaint}", bytes.escape_ascii()))
        })?;
        if let Some(value) = map.lookup_hash(hash) {
            text.extend_from_slice(bytes);
            end_line(&mut text, value, &format);
        }
    }
    print(&text)?;
    Ok(!text.is_empty())
}

/// Prints the values of the keys of the input. Returns whether there is any.
fn get_stream(arguments: &Arguments, map: &Function<MappedBytes>) -> Result<bool> {
    let inputs = Inputs::new(&arguments.files)?;
    let format = arguments.input.format()?;
    let options = input::Options {
        key_seed: map.key_seed(),
        threads: arguments.threads,
        progress: &Progress::none(),
    };
    let mut found = false;
    let work = |batch: &Batch, text: &mut Vec<u8>| {
        text.clear();
        for (index, value) in map.lookup_hash_batch(batch.hashes()).into_iter().enumerate() {
            if let Some(value) = value {
                format.write_key(batch.record(index), text);
                end_line(text, value, &format);
            }
        }
    };
    input::read(&inputs, format, options, work, |_, text| {
        found |= !text.is_empty();
        if !text.is_empty() {
            print(text)?;
        }
        Ok(Flow::Continue)
    })?;
    Ok(found)
}

/// Appends the value of a key to its line, and the line end.
fn end_line(text: &mut Vec<u8>, value: u64, format: &Format) {
    // Writing to memory does not fail.
    let _ = write!(text, "\t{value}");
    text.push(format.end);
}
