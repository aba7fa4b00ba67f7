//! `ribbon shrink`: makes a filter smaller, without its keys.

use crate::error::{Error, Result};
use crate::filter_file::{self, Description};
use crate::output::{Output, print};
use crate::values;
use clap::Args;
use ribbonfilter::{Filter, MappedBytes, ShrinkError};
use std::path::PathBuf;
use std::process::ExitCode;

/// Make a filter smaller, without its keys
///
/// The smaller filter has the same keys and a higher false-positive rate. For every variant except
/// homogeneous, it is identical to the file that a build for that rate or size writes.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// The filter file, which must not be modified during the run
    #[arg(value_name = "FILTER")]
    filter: PathBuf,
    /// The file to write the smaller filter to
    #[arg(long, short, value_name = "OUT")]
    output: PathBuf,
    /// Replace the output if it exists
    #[arg(long, short)]
    force: bool,
    #[command(flatten)]
    target: Target,
}

#[derive(Args)]
#[group(required = true, multiple = false)]
struct Target {
    /// Maximum false-positive rate, such as 0.05, 5% or 1/20
    #[arg(long, value_name = "RATE", value_parser = values::rate)]
    fpr: Option<f64>,
    /// Maximum size of the file, such as 4096 or 1.5GiB
    #[arg(long, value_name = "BYTES", value_parser = values::bytes)]
    size: Option<u64>,
    /// Number of columns, such as 4 or 5.5
    #[arg(long, value_name = "COLUMNS")]
    columns: Option<f64>,
}

const EXAMPLES: &str = "\
Examples:
  ribbon shrink words.ribbon --fpr 5% -o small.ribbon
  ribbon shrink words.ribbon --size 64K -o small.ribbon";

pub fn run(arguments: &Arguments) -> Result {
    let path = &arguments.filter;
    let mut output = Output::create(&arguments.output, arguments.force)?;
    let filter = filter_file::open(path)?;
    let smaller = shrunk(&arguments.target, &filter).map_err(|error| Error::at(path, error))?;
    output.write(smaller.as_bytes())?;
    output.commit()?;
    print(format!("{}\n", Description::of(&smaller).summary()))?;
    Ok(ExitCode::SUCCESS)
}

fn shrunk(
    target: &Target,
    filter: &Filter<MappedBytes>,
) -> std::result::Result<Filter, ShrinkError> {
    match (target.fpr, target.size, target.columns) {
        (Some(rate), _, _) => filter.shrink_to_rate(rate),
        (_, Some(bytes), _) => filter.shrink_to_bytes(bytes),
        (_, _, columns) => filter.shrink_to_columns(columns.unwrap_or_default()),
    }
}
