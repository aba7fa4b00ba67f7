//! `ribbon map`: static functions from lines of keys and values, one file a subcommand.

mod build;
mod get;
mod info;

use crate::error::Result;
use clap::{Args, Subcommand};

/// Map keys to values, without storing the keys
///
/// A map takes hardly more room than its values. It knows the value of every key that was put in,
/// and tells some value for any other key, too, unless it has fingerprints to recognise them by.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    #[command(subcommand)]
    command: Command,
}

const EXAMPLES: &str = "\
Examples:
  ribbon map build ages.tsv -o ages.ribbon
  ribbon map get ages.ribbon ada
  ribbon map info ages.ribbon";

#[derive(Subcommand)]
enum Command {
    Build(build::Arguments),
    Get(get::Arguments),
    Info(info::Arguments),
}

pub fn run(arguments: &Arguments) -> Result {
    match &arguments.command {
        Command::Build(arguments) => build::run(arguments),
        Command::Get(arguments) => get::run(arguments),
        Command::Info(arguments) => info::run(arguments),
    }
}
