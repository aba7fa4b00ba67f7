//! `ribbon info`: shows the properties of a filter.

use crate::error::{Error, Result};
use crate::filter_file;
use crate::output::print;
use clap::Args;
use std::path::PathBuf;
use std::process::ExitCode;

/// Show the properties of a filter: keys, size, rate, variant
///
/// Reads only the footer and, for a container of shards, the directory. `ribbon verify` reads the
/// whole file.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// The filter file, which must not be modified during the run
    #[arg(value_name = "FILTER")]
    filter: PathBuf,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "\
Examples:
  ribbon info words.ribbon
  ribbon info words.ribbon --json | jq .bits_per_key

`overhead` is the number of stored bits over the theoretical minimum for the expected rate, minus one.";

pub fn run(arguments: &Arguments) -> Result {
    let description = filter_file::open_set(&arguments.filter)?.description();
    print(if arguments.json { json(&description)? } else { table(&description.lines()) })?;
    Ok(ExitCode::SUCCESS)
}

/// Formats labels and values, one pair per line.
pub fn table(lines: &[(&str, String)]) -> String {
    lines.iter().map(|(label, value)| format!("{label:14}  {value}\n")).collect()
}

/// Formats a value as JSON, with a final line feed.
pub fn json(value: &impl serde::Serialize) -> Result<String> {
    let text = serde_json::to_string_pretty(value).map_err(Error::new)?;
    Ok(text + "\n")
}
