//! `ribbon man`: writes manual pages, generated from the definitions of the commands.

use crate::error::{Error, Result};
use clap::{Args, CommandFactory};
use std::path::PathBuf;
use std::process::ExitCode;

/// Write the manual pages into a directory
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// An existing directory
    #[arg(value_name = "FOLDER")]
    folder: PathBuf,
}

const EXAMPLES: &str = "\
Examples:
  ribbon man ~/.local/share/man/man1 && man ribbon-build";

pub fn run(arguments: &Arguments) -> Result {
    let written = clap_mangen::generate_to(crate::Arguments::command(), &arguments.folder);
    written.map_err(|error| Error::io(&arguments.folder, &error))?;
    Ok(ExitCode::SUCCESS)
}
