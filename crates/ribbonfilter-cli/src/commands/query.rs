//! `ribbon query`: prints the keys that might be in the set.

use crate::error::Result;
use crate::filter_file;
use crate::input::InputArguments;
use crate::querying::QueryArguments;
use clap::Args;
use std::path::PathBuf;

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
    #[command(flatten)]
    query: QueryArguments,
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
    arguments.query.run(&arguments.filter, &filter, arguments.input.format()?)
}
