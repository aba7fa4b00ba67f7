//! `ribbon join`: the parts of a filter become the filter again.

use crate::error::{Error, Result};
use crate::filter_file::{self, Description};
use crate::output::{Output, print};
use clap::Args;
use ribbonfilter::{Filter, JoinError};
use std::path::PathBuf;
use std::process::ExitCode;

/// Put the parts of a filter together again
///
/// Takes all parts that `ribbon cut` made of one filter, in any order, and gives that filter, byte
/// for byte.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// The files of all parts, which nobody may change meanwhile
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

/// The error at the file that it is about.
fn failed(error: &JoinError, paths: &[PathBuf]) -> Error {
    let (position, what) = match error {
        JoinError::Foreign { position } => {
            (position, "is of another filter than the first part, or of another cut: leave it out")
        }
        JoinError::Doubled { position, .. } => {
            (position, "is the same part as one before it: name each once")
        }
        JoinError::Damaged { position } => (position, "was altered: fetch or cut it again"),
        other => return Error::new(other),
    };
    match paths.get(*position) {
        Some(path) => Error::at(path, what),
        None => Error::new(error),
    }
}
