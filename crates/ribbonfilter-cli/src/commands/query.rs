//! `ribbon query`: which of these keys might be in the set?

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
/// Keys are arguments, or lines of standard input or of files. Those that match are printed as
/// they came, in their order. A key that was put in always matches; others match at the filter's
/// expected rate.
///
/// The filter is mapped into memory, not read in: nobody may change its file while it is in use.
/// `ribbon build --force` does not change a file, it puts a new one in its place.
///
/// Exit status: 0 if a key was printed or counted, 1 if none, 2 after an error.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// The filter's file, which nobody may change meanwhile
    #[arg(value_name = "FILTER")]
    filter: PathBuf,
    /// Keys to ask for; none reads them from standard input
    #[arg(value_name = "KEY")]
    keys: Vec<OsString>,
    /// Read the keys from this file (`-` is standard input); may be given several times
    #[arg(long = "keys", value_name = "FILE", conflicts_with = "keys")]
    files: Vec<PathBuf>,
    /// Print the keys that do not match: those that are surely not in the set
    #[arg(long, short = 'v')]
    invert_match: bool,
    /// Print only how many there are
    #[arg(long, short)]
    count: bool,
    /// Print nothing and stop at the first: the exit status tells
    #[arg(long, short)]
    quiet: bool,
    /// Threads; 0 takes all there are. One keeps up with most input
    #[arg(long, value_name = "N", default_value_t = 1)]
    threads: usize,
    #[command(flatten)]
    input: InputArguments,
}

const EXAMPLES: &str = "\
Examples:
  ribbon query words.ribbon apple pear          those of the two that might be words
  ribbon query -v words.ribbon < text.txt       lines that are surely no words
  ribbon query -c words.ribbon --keys text.gz   how many match
  ribbon query -q words.ribbon apple && echo probably
  ribbon query --input hex pwned.ribbon 7C4A8D09CA3762AF61E59520943DC26494F8941B";

pub fn run(arguments: &Arguments) -> Result {
    let filter = filter_file::open_set(&arguments.filter)?;
    let selected = match arguments.keys.as_slice() {
        [] => ask_stream(arguments, &filter)?,
        keys => ask_keys(arguments, &filter, keys)?,
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

/// Asks for the keys that were given as arguments; how many were selected.
fn ask_keys(arguments: &Arguments, filter: &Set, keys: &[OsString]) -> Result<u64> {
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

/// Asks for the records of the input; how many were selected.
fn ask_stream(arguments: &Arguments, filter: &Set) -> Result<u64> {
    let inputs = Inputs::new(&arguments.files)?;
    let format = arguments.input.format()?;
    let options = input::Options {
        key_seed: filter.key_seed(),
        threads: arguments.threads,
        progress: &Progress::none(),
    };
    let mut selected = 0;
    let work = |batch: &Batch, found: &mut Found| {
        found.ask(arguments, filter, batch);
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

/// What one batch gave.
#[derive(Default)]
struct Found {
    hits: Vec<bool>,
    selected: u64,
    /// The selected records, ready to be printed.
    text: Vec<u8>,
}

impl Found {
    fn ask(&mut self, arguments: &Arguments, filter: &Set, batch: &Batch) {
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
