//! `ribbon join`: joins the parts of a filter.

use crate::error::{Error, Result};
use crate::filter_file::{self, Description};
use crate::output::{Output, print};
use clap::Args;
use ribbonfilter::{Filter, JoinError};
use std::path::PathBuf;
use std::process::ExitCode;

/// Join the parts of a filter
///
/// Takes all parts that `ribbon cut` wrote for one filter, in any order, and writes the original
/// filter, byte for byte.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// The files of all parts, which must not be modified during the run
    #[arg(value_name = "PART", required = true)]
    parts: Vec<PathBuf>,
    /// The file to write the filter to
    #[arg(long, short, value_name = "OUT")]
    output: PathBuf,
    /// Replace the output if it exists
    #[arg(long, short)]
    force: bool,
}

const EXAMPLES: &str = "\
Examples:
  ribbon join words.part.* -o words.ribbon";

pub fn run(arguments: &Arguments) -> Result {
    let mut output = Output::create(&arguments.output, arguments.force)?;
    let parts: Vec<_> =
        arguments.parts.iter().map(|path| filter_file::open_part(path)).collect::<Result<_>>()?;
    let filter = Filter::join(&parts).map_err(|error| failed(&error, &arguments.parts))?;
    output.write(filter.as_bytes())?;
    output.commit()?;
    print(format!("{}\n", Description::of(&filter).summary()))?;
    Ok(ExitCode::SUCCESS)
}

/// Attributes the error to the file that caused it.
fn failed(error: &JoinError, paths: &[PathBuf]) -> Error {
    let (position, what) = match error {
        JoinError::Mismatch { position, .. } => (
            position,
            "belongs to another filter than the first part, or to another cut: leave it out",
        ),
        JoinError::Duplicate { position, .. } => {
            (position, "is a duplicate of an earlier part: name each part once")
        }
        JoinError::Corrupt { position, .. } => {
            (position, "is corrupt: copy it again, or cut the filter again")
        }
        other => return Error::new(other),
    };
    match paths.get(*position) {
        Some(path) => Error::at(path, what),
        None => Error::new(error),
    }
}
