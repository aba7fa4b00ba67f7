//! `ribbon split`: a filter becomes several that answer together as it does.

use crate::error::{Error, Result, shown};
use crate::filter_file::{self, Description};
use crate::output::{print, write_numbered};
use clap::Args;
use ribbonfilter::Filter;
use std::path::PathBuf;
use std::process::ExitCode;

/// Split a filter into several smaller ones, by columns
///
/// A key might be in the set if all parts say so; as many of them may be asked as are at hand,
/// and each has the rate of its own columns. They are named after the output: OUT.1, OUT.2, …
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// The filter's file, which nobody may change meanwhile
    #[arg(value_name = "FILTER")]
    filter: PathBuf,
    /// The columns of each part, as 4,4; together those of the filter (`ribbon info` tells
    /// them, a fraction counts as one)
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',', required = true)]
    columns: Vec<u32>,
    /// What the parts' files are called, before their number
    #[arg(long, short, value_name = "OUT")]
    output: PathBuf,
    /// Replace files that exist
    #[arg(long, short)]
    force: bool,
}

const EXAMPLES: &str = "\
Examples:
  ribbon split words.ribbon --columns 4,3 -o words.part
  ribbon query words.part.1 maple && ribbon query words.part.2 maple";

pub fn run(arguments: &Arguments) -> Result {
    let path = &arguments.filter;
    let filter = filter_file::open(path)?;
    let parts = filter.split_columns(&arguments.columns);
    let parts = parts.map_err(|error| Error::at(path, error))?;
    let bytes = parts.iter().map(Filter::as_bytes);
    let targets = write_numbered(&arguments.output, arguments.force, bytes)?;
    for (target, part) in targets.iter().zip(&parts) {
        print(format!("{}: {}\n", shown(target), Description::of(part).summary()))?;
    }
    Ok(ExitCode::SUCCESS)
}
