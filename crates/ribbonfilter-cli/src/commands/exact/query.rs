//! `ribbon exact query`: prints the keys that are members.

use super::open;
use crate::error::Result;
use crate::input::GroupedArguments;
use crate::querying::QueryArguments;
use clap::Args;
use std::path::PathBuf;

/// Print the keys that are members
///
/// Keys are arguments, or lines of standard input or of files. Keys that are members are printed
/// unchanged and in order. The result is right for every key of the universe from which the set was
/// built, and arbitrary for all other keys: `ribbon exact info` shows how often such a key is
/// printed.
///
/// With --groups, a key is a group, a tab and a key. A key of a group that the universe does not
/// have is neither printed nor counted, also with -v, and the exit status is 2.
///
/// The file is memory-mapped: it must not be modified while it is in use. `ribbon exact build
/// --force` is safe: it replaces the file and does not modify it.
///
/// Exit status: 0 if a key was printed or counted, 1 if none, 2 after an error.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// The file of the exact set, which must not be modified during the run
    #[arg(value_name = "SET")]
    set: PathBuf,
    #[command(flatten)]
    query: QueryArguments,
    #[command(flatten)]
    input: GroupedArguments,
}

const EXAMPLES: &str = "\
Examples:
  ribbon exact query revoked.ribbon 03AB17 03AB18     those of the two that are revoked
  ribbon exact query -v revoked.ribbon < serials.txt  lines that are not revoked
  ribbon exact query -c revoked.ribbon --keys serials.gz
  ribbon exact query --groups revoked.ribbon < issuers-and-serials.tsv";

pub fn run(arguments: &Arguments) -> Result {
    let format = arguments.input.format()?;
    let set = open(&arguments.set, format.grouped)?;
    arguments.query.run(&arguments.set, &set, format)
}
