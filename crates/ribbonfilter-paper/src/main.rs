//! `ribbon-paper`: the filters, tables and figures of the Ribbon filter paper on the command line.
//!
//! Every failure is one line on standard error, what and where and what to do, and exit status 2.

#![forbid(unsafe_code)]

mod cli;

use clap::{Parser, Subcommand};
use std::process::ExitCode;

/// The Ribbon filter paper (Dillinger and Walzer 2021): its filters, tables and figures
#[derive(Parser)]
#[command(name = "ribbon-paper", version, after_help = EXAMPLES)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

const EXAMPLES: &str = "\
Examples:
  ribbon-paper build words.txt -o words.rbp --variant balanced --width 64 --columns 7
  ribbon-paper query words.rbp apple             prints apple, exit status 0
  ribbon-paper query -v words.rbp < text.txt     the lines that are not words
  ribbon-paper shrink words.rbp --columns 5.5 -o small.rbp
  ribbon-paper table2 --keys 1e6                 every ribbon beside the paper's figures";

#[derive(Subcommand)]
enum Command {
    Build(cli::build::Arguments),
    Query(cli::query::Arguments),
    Info(cli::info::Arguments),
    Shrink(cli::change::Shrink),
    Cut(cli::change::Cut),
    Join(cli::change::Join),
    Table1(cli::evidence::Table1),
    Table2(cli::evidence::Table2),
    Figures(cli::evidence::Figures),
    Simulate(cli::evidence::Simulate),
}

fn main() -> ExitCode {
    let outcome = match Arguments::parse().command {
        Command::Build(arguments) => cli::build::run(&arguments),
        Command::Query(arguments) => cli::query::run(&arguments),
        Command::Info(arguments) => cli::info::run(&arguments),
        Command::Shrink(arguments) => cli::change::shrink(&arguments),
        Command::Cut(arguments) => cli::change::cut(&arguments),
        Command::Join(arguments) => cli::change::join(&arguments),
        Command::Table1(arguments) => cli::evidence::table1(&arguments),
        Command::Table2(arguments) => cli::evidence::table2(&arguments),
        Command::Figures(arguments) => cli::evidence::figures(&arguments),
        Command::Simulate(arguments) => cli::evidence::simulate(&arguments),
    };
    outcome.unwrap_or_else(cli::Failure::report)
}
