//! `ribbon-bench`: what the figures in the documents and the constants in the planner come
//! from, measured here and now.

mod constants;
mod random;
mod table1;

use clap::{Parser, Subcommand};

#[derive(Parser)]
#[command(version, about = "Experiments and benchmarks for ribbonfilter")]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// The paper's Table 1: overheads of Standard Ribbon, simulated, beside the paper's
    Table1(table1::Arguments),
    /// The simulations behind the planner's constants
    Constants(constants::Arguments),
}

fn main() {
    match Arguments::parse().command {
        Command::Table1(arguments) => table1::run(&arguments),
        Command::Constants(arguments) => constants::run(&arguments),
    }
}
