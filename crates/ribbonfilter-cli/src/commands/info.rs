//! `ribbon info`: what a filter is.

use crate::error::{Error, Result};
use crate::filter_file;
use crate::output::print;
use clap::Args;
use std::path::PathBuf;
use std::process::ExitCode;

/// Show what a filter is: keys, size, rate, variant
///
/// Reads the end of the file alone, and of a container of shards the directory; `ribbon verify`
/// reads all of it.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// The filter's file, which nobody may change meanwhile
    #[arg(value_name = "FILTER")]
    filter: PathBuf,
    /// Print JSON, for programs
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "\
Examples:
  ribbon info words.ribbon
  ribbon info words.ribbon --json | jq .bits_per_key

`overhead` is all that is stored over what theory demands for the expected rate, minus one.";

pub fn run(arguments: &Arguments) -> Result {
    let description = filter_file::open_set(&arguments.filter)?.description();
    print(if arguments.json { json(&description)? } else { table(&description.lines()) })?;
    Ok(ExitCode::SUCCESS)
}

/// Labels and values, one below the other.
pub fn table(lines: &[(&str, String)]) -> String {
    lines.iter().map(|(label, value)| format!("{label:14}  {value}\n")).collect()
}

/// A value as JSON, with an end of line.
pub fn json(value: &impl serde::Serialize) -> Result<String> {
    let text = serde_json::to_string_pretty(value).map_err(Error::new)?;
    Ok(text + "\n")
}
