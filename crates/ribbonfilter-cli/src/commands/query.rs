//! `ribbon query`: prints the keys that might be in the set.

use crate::error::{Error, NOT_FOUND, Result};
use crate::filter_file::{self, Set};
use crate::input::{self, Batch, Flow, InputArguments, Inputs};
use crate::output::print;
use crate::progress::Progress;
use clap::Args;
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

/// Print the keys that might be in the set
///
/// Keys are arguments, or lines of standard input or of files. Keys that match are printed
/// unchanged and in order. A key of the set always matches; any other key matches with the filter's
/// expected rate.
///
/// The file is memory-mapped: it must not be modified while it is in use. `ribbon build --force` is
/// safe: it replaces the file and does not modify it.
///
/// Exit status: 0 if a key was printed or counted, 1 if none, 2 after an error.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// The filter file, which must not be modified during the run
    #[arg(value_name = "FILTER")]
    filter: PathBuf,
    /// Keys to look up; no key reads them from standard input
    #[arg(value_name = "KEY")]
    keys: Vec<OsString>,
    /// Read the keys from this file (`-` is standard input); may be repeated
    #[arg(long = "keys", value_name = "FILE", conflicts_with = "keys")]
    files: Vec<PathBuf>,
    /// Print the keys that do not match: they are certainly not in the set
    #[arg(long, short = 'v')]
    invert_match: bool,
    /// Print only the number of keys
    #[arg(long, short)]
    count: bool,
    /// Print nothing and stop at the first match; only set the exit status
    #[arg(long, short)]
    quiet: bool,
    /// Number of threads; 0 for one per core. One is fast enough for most input
    #[arg(long, value_name = "N", default_value_t = 1)]
    threads: usize,
    #[command(flatten)]
    input: InputArguments,
}

const EXAMPLES: &str = "\
Examples:
  ribbon query words.ribbon apple pear          those of the two that might be words
  ribbon query -v words.ribbon < text.txt       lines that are certainly not words
  ribbon query -c words.ribbon --keys text.gz   the number of matches
  ribbon query -q words.ribbon apple && echo probably
  ribbon query --input hex pwned.ribbon 7C4A8D09CA3762AF61E59520943DC26494F8941B";

pub fn run(arguments: &Arguments) -> Result {
    let filter = filter_file::open_set(&arguments.filter)?;
    let selected = match arguments.keys.as_slice() {
        [] => query_stream(arguments, &filter)?,
        keys => query_keys(arguments, &filter, keys)?,
    };
    if arguments.count && !arguments.quiet {
        print(format!("{selected}\n"))?;
    }
    Ok(if selected > 0 { ExitCode::SUCCESS } else { ExitCode::from(NOT_FOUND) })
}

impl Arguments {
    fn prints_keys(&self) -> bool {
        !self.count && !self.quiet
    }

    fn selects(&self, hit: bool) -> bool {
        hit != self.invert_match
    }
}

/// Looks up the keys that were given as arguments. Returns the number of selected keys.
fn query_keys(arguments: &Arguments, filter: &Set, keys: &[OsString]) -> Result<u64> {
    let format = arguments.input.format()?;
    let (mut selected, mut text) = (0, Vec::new());
    for key in keys {
        let bytes = key.as_encoded_bytes();
        let hash = format.hash_argument(bytes, filter.key_seed()).map_err(|complaint| {
            Error::new(format_args!("{}: {complaint}", bytes.escape_ascii()))
        })?;
        if arguments.selects(filter.contains_hash(hash)) {
            selected += 1;
            text.extend_from_slice(bytes);
            text.push(format.end);
        }
    }
    if arguments.prints_keys() {
        print(text)?;
    }
    Ok(selected)
}

/// Looks up the records of the input. Returns the number of selected records.
fn query_stream(arguments: &Arguments, filter: &Set) -> Result<u64> {
    let inputs = Inputs::new(&arguments.files)?;
    let format = arguments.input.format()?;
    let options = input::Options {
        key_seed: filter.key_seed(),
        threads: arguments.threads,
        progress: &Progress::none(),
    };
    let mut selected = 0;
    let work = |batch: &Batch, found: &mut Found| {
        found.query(arguments, filter, batch);
        format.complete(&mut found.text);
    };
    input::read(&inputs, format, options, work, |_, found| {
        selected += found.selected;
        if !found.text.is_empty() {
            print(&found.text)?;
        }
        Ok(if arguments.quiet && selected > 0 { Flow::Stop } else { Flow::Continue })
    })?;
    Ok(selected)
}

/// The results of one batch.
#[derive(Default)]
struct Found {
    hits: Vec<bool>,
    selected: u64,
    /// The selected records, ready to be printed.
    text: Vec<u8>,
}

impl Found {
    fn query(&mut self, arguments: &Arguments, filter: &Set, batch: &Batch) {
        self.hits.resize(batch.hashes().len(), false);
        filter.contains_hash_batch_into(batch.hashes(), &mut self.hits);
        self.selected = 0;
        self.text.clear();
        for (index, &hit) in self.hits.iter().enumerate() {
            if arguments.selects(hit) {
                self.selected += 1;
                if arguments.prints_keys() {
                    self.text.extend_from_slice(batch.record(index));
                }
            }
        }
    }
}
