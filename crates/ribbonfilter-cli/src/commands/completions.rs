//! `ribbon completions`: prints a completion script for a shell.

use crate::error::Result;
use crate::output::print;
use clap::{Args, CommandFactory};
use clap_complete::Shell;
use std::process::ExitCode;

/// Print the completions for a shell
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// The shell
    #[arg(value_enum)]
    shell: Shell,
}

const EXAMPLES: &str = "\
Examples:
  ribbon completions bash > ~/.local/share/bash-completion/completions/ribbon
  ribbon completions fish > ~/.config/fish/completions/ribbon.fish";

pub fn run(arguments: &Arguments) -> Result {
    let mut text = Vec::new();
    let mut command = crate::Arguments::command();
    clap_complete::generate(arguments.shell, &mut command, "ribbon", &mut text);
    print(text)?;
    Ok(ExitCode::SUCCESS)
}
