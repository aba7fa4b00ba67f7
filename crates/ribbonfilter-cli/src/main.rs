//! `ribbon`: a command that builds and queries Ribbon filters.
//!
//! [`input`] reads chunks, splits them into records and hashes the keys. The [`commands`], one file
//! each, push the hashes into a builder or look them up in a filter. Every failure is an
//! [`error::Error`]: one line on standard error and exit status 2.
//!
//! To add a subcommand, add a file to [`commands`] with its `Arguments` and a `run` function, and a
//! variant to the enum there. Completions and manual pages are generated from it.

mod building;
mod collector;
mod commands;
mod error;
mod filter_file;
mod input;
mod lookup;
mod output;
mod progress;
mod querying;
mod show;
mod target;
mod values;

use clap::Parser;
use std::process::ExitCode;

/// Static sets in a few bits per key: Ribbon filters from files of keys
///
/// A filter reports whether a key might be in the set. It finds every key of the set, and other
/// keys with a false-positive rate that you choose.
#[derive(Parser)]
#[command(name = "ribbon", version, after_help = EXAMPLES)]
struct Arguments {
    #[command(subcommand)]
    command: commands::Command,
}

const EXAMPLES: &str = "\
Examples:
  ribbon build words.txt -o words.ribbon            false-positive rate 1 %
  ribbon query words.ribbon apple                   prints apple, exit status 0
  ribbon query words.ribbon < text.txt              the lines that are words
  ribbon info words.ribbon                          size, rate, overhead
  ribbon plan --keys 1e9 --fpr 0.001                size and memory, before building
  ribbon map build ages.tsv -o ages.ribbon          a map from keys to values
  ribbon exact build --members revoked --universe issued -o revoked.ribbon

`ribbon COMMAND --help` shows the options of a command.";

fn main() -> ExitCode {
    let outcome = match Arguments::try_parse() {
        Ok(arguments) => arguments.command.run(),
        Err(error) => error::usage(&error),
    };
    outcome.unwrap_or_else(error::Error::report)
}
