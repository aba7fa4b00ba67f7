//! `ribbon split`: splits a filter into several that together are equivalent to it.

use crate::error::{Error, Result, shown};
use crate::filter_file::{self, Description};
use crate::output::{print, write_numbered};
use clap::Args;
use ribbonfilter::Filter;
use std::path::PathBuf;
use std::process::ExitCode;

/// Split a filter into several smaller ones, by columns
///
/// A key might be in the set if it matches in all parts. It is enough to query the parts that are
/// at hand; each part has the rate of its own columns. The files are named OUT.0, OUT.1, …
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// The filter file, which must not be modified during the run
    #[arg(value_name = "FILTER")]
    filter: PathBuf,
    /// Columns of each part, such as 4,4. The sum must be the columns of the filter, rounded up
    /// (see `ribbon info`)
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',', required = true)]
    columns: Vec<u32>,
    /// Name of the part files, without their number
    #[arg(long, short, value_name = "OUT")]
    output: PathBuf,
    /// Replace existing files
    #[arg(long, short)]
    force: bool,
}

const EXAMPLES: &str = "\
Examples:
  ribbon split words.ribbon --columns 4,3 -o words.part
  ribbon query words.part.0 maple && ribbon query words.part.1 maple";

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
