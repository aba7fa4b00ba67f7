//! `ribbon`: Ribbon filters from files of keys, without a line of Rust.
//!
//! The way of a key: [`input`] reads chunks, splits them into records and hashes the keys;
//! the [`commands`], one file each, push the hashes into a builder or ask a filter for them.
//! Whatever goes wrong is an [`error::Error`], one line on standard error and exit status 2.
//!
//! A new subcommand is a file in [`commands`] with its `Arguments` and a `run`, and a line in
//! the enum there: completions and manual pages follow.

mod building;
mod collector;
mod commands;
mod error;
mod filter_file;
mod input;
mod output;
mod progress;
mod show;
mod target;
mod values;

use clap::Parser;
use std::process::ExitCode;

/// Static sets in a few bits a key: Ribbon filters from files of keys
///
/// A filter answers "might this key be in the set?": always yes for a key that was put in, and
/// wrongly yes for others at a rate that you choose.
#[derive(Parser)]
#[command(name = "ribbon", version, after_help = EXAMPLES)]
struct Arguments {
    #[command(subcommand)]
    command: commands::Command,
}

const EXAMPLES: &str = "\
Examples:
  ribbon build words.txt -o words.ribbon            one wrong yes in a hundred
  ribbon query words.ribbon apple                   prints apple, exit status 0
  ribbon query words.ribbon < text.txt              the lines that are words
  ribbon info words.ribbon                          size, rate, overhead
  ribbon plan --keys 1e9 --fpr 0.001                what it will take, before building
  ribbon map build ages.tsv -o ages.ribbon          values for keys, without the keys

`ribbon COMMAND --help` shows more of each.";

fn main() -> ExitCode {
    let outcome = match Arguments::try_parse() {
        Ok(arguments) => arguments.command.run(),
        Err(error) => error::usage(&error),
    };
    outcome.unwrap_or_else(error::Error::report)
}
