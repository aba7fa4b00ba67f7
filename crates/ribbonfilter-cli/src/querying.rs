//! Shared by `query` and `exact query`: which keys are looked up, and what is printed.

use crate::error::{Error, NOT_FOUND, Result};
use crate::input::{self, Batch, Flow, Format, Inputs};
use crate::lookup::{Hits, Lookup};
use crate::output::print;
use crate::progress::Progress;
use crate::show;
use clap::Args;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

#[derive(Args)]
pub struct QueryArguments {
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
}

impl QueryArguments {
    fn prints_keys(&self) -> bool {
        !self.count && !self.quiet
    }

    /// Looks up all keys in the set of a file, and prints what was requested.
    pub fn run(&self, path: &Path, set: &impl Lookup, format: Format) -> Result {
        let outcome = match self.keys.as_slice() {
            [] => self.query_stream(set, format)?,
            keys => self.query_keys(set, format, keys)?,
        };
        if self.count && !self.quiet {
            print(format!("{}\n", outcome.selected))?;
        }
        if outcome.unknown > 0 && !(self.quiet && outcome.selected > 0) {
            return Err(outcome.unknown_groups(path));
        }
        Ok(if outcome.selected > 0 { ExitCode::SUCCESS } else { ExitCode::from(NOT_FOUND) })
    }

    /// Looks up the keys that were given as arguments.
    fn query_keys(&self, set: &impl Lookup, format: Format, keys: &[OsString]) -> Result<Outcome> {
        let (mut groups, mut hashes) = (Vec::new(), Vec::new());
        for key in keys {
            let bytes = key.as_encoded_bytes();
            let hashed = format.hash_grouped_argument(bytes, set.key_seed());
            let (group, hash) = hashed.map_err(|complaint| {
                Error::new(format_args!("{}: {complaint}", bytes.escape_ascii()))
            })?;
            groups.extend(format.grouped.then_some(group));
            hashes.push(hash);
        }
        let (mut hits, mut text, mut outcome) = (Hits::default(), Vec::new(), Outcome::default());
        set.look_up(&groups, &hashes, &mut hits);
        for index in hits.select(self.invert_match) {
            outcome.selected += 1;
            text.extend_from_slice(keys[index].as_encoded_bytes());
            text.push(format.end);
        }
        let describe = |index: usize| keys[index].as_encoded_bytes().escape_ascii().to_string();
        outcome.note_unknown(&hits, describe);
        if self.prints_keys() {
            print(text)?;
        }
        Ok(outcome)
    }

    /// Looks up the records of the input.
    fn query_stream(&self, set: &impl Lookup, format: Format) -> Result<Outcome> {
        let inputs = Inputs::new(&self.files)?;
        let options = input::Options {
            key_seed: set.key_seed(),
            threads: self.threads,
            progress: &Progress::none(),
        };
        let mut outcome = Outcome::default();
        let work = |batch: &Batch, found: &mut Found| {
            found.query(self, set, batch);
            format.complete(&mut found.text);
        };
        input::read(&inputs, format, options, work, |batch, found| {
            outcome.selected += found.selected;
            outcome.note_unknown(&found.hits, |index| batch.describe(index, &inputs, &format));
            if !found.text.is_empty() {
                print(&found.text)?;
            }
            Ok(if self.quiet && outcome.selected > 0 { Flow::Stop } else { Flow::Continue })
        })?;
        Ok(outcome)
    }
}

/// What came out of all queries.
#[derive(Default)]
struct Outcome {
    /// The number of selected keys.
    selected: u64,
    /// The number of keys of unknown groups.
    unknown: u64,
    /// A description of the first of them.
    first_unknown: String,
}

impl Outcome {
    fn note_unknown(&mut self, hits: &Hits, describe: impl Fn(usize) -> String) {
        if let (0, Some(&first)) = (self.unknown, hits.unknown.first()) {
            self.first_unknown = describe(first);
        }
        self.unknown += hits.unknown.len() as u64;
    }

    fn unknown_groups(&self, path: &Path) -> Error {
        let (unknown, first) = (show::count(self.unknown), &self.first_unknown);
        Error::at(
            path,
            format_args!(
                "has no key of the group of {first}: nothing is known about {unknown} of the keys"
            ),
        )
    }
}

/// The results of one batch.
#[derive(Default)]
struct Found {
    hits: Hits,
    selected: u64,
    /// The selected records, ready to be printed.
    text: Vec<u8>,
}

impl Found {
    fn query(&mut self, arguments: &QueryArguments, set: &impl Lookup, batch: &Batch) {
        set.look_up(batch.groups(), batch.hashes(), &mut self.hits);
        self.selected = 0;
        self.text.clear();
        for index in self.hits.select(arguments.invert_match) {
            self.selected += 1;
            if arguments.prints_keys() {
                self.text.extend_from_slice(batch.record(index));
            }
        }
    }
}
