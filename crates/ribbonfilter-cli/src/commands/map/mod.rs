//! `ribbon map`: static functions from lines of keys and values, one file per subcommand.

mod build;
mod get;
mod info;

use crate::error::Result;
use clap::{Args, Subcommand};

/// Map keys to values, without storing the keys
///
/// A map is hardly larger than its values. It returns the value of every key that it was built
/// from. For any other key it returns an arbitrary value, unless it has fingerprints to detect
/// absent keys.
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
