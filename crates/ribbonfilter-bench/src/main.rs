//! `ribbon-bench`: what the figures in the documents and the constants in the planner come
//! from, measured here and now.

mod blocks;
mod check;
mod constants;
mod edges;
mod figures;
mod hashes;
mod html;
mod machine;
mod peers;
mod progress;
mod race;
mod random;
mod report;
mod results;
mod soak;
mod solutions;
mod spill;
mod svg;
mod table;
mod table1;
mod table2;
mod times;
mod variants;

use clap::{Parser, Subcommand};
use std::process::ExitCode;

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
    /// The paper's Table 2: size, build and queries of every ribbon and its peers
    Table2(table2::Arguments),
    /// Our filters beside the crates that a user would take instead
    Peers(peers::Arguments),
    /// What the figures show: the fastest filter for each overhead and rate, growth with keys and threads
    Figures(figures::Arguments),
    /// One page with all tables and figures of the finished rows
    Report(report::Arguments),
    /// Whether something has become slower or larger: ratios, beside those of the baseline
    Check(check::Arguments),
    /// Every variant and width on one set of keys: size, rate, build and query
    Variants(variants::Arguments),
    /// What unusual hashes cost a build, and opening a filter for every query
    Edges(edges::Arguments),
    /// Filter blocks of an LSM engine, opened for every lookup, beside lsm-tree's own
    Blocks(blocks::Arguments),
    /// What a key seed and a keyed hash cost
    Hashes(hashes::Arguments),
    /// Builds within little memory, the hashes on disk: what they take, and whether they are right
    Spill(spill::Arguments),
    /// Filters that all threads share, asked billions of times: no key is missing
    Soak(soak::Arguments),
    /// How often Homogeneous systems are solved until their rate is as planned
    Solutions(solutions::Arguments),
    /// The simulations behind the planner's constants
    Constants(constants::Arguments),
}

fn main() -> ExitCode {
    let result = match Arguments::parse().command {
        Command::Table1(arguments) => table1::run(&arguments),
        Command::Table2(arguments) => table2::run(&arguments),
        Command::Peers(arguments) => peers::run(&arguments),
        Command::Figures(arguments) => figures::run(&arguments),
        Command::Report(arguments) => report::run(&arguments),
        Command::Check(arguments) => check::run(&arguments),
        Command::Variants(arguments) => print(|| variants::run(&arguments)),
        Command::Edges(arguments) => print(|| edges::run(&arguments)),
        Command::Hashes(arguments) => print(|| hashes::run(&arguments)),
        Command::Blocks(arguments) => print(|| blocks::run(&arguments)),
        Command::Spill(arguments) => print(|| spill::run(&arguments)),
        Command::Soak(arguments) => print(|| soak::run(&arguments)),
        Command::Solutions(arguments) => print(|| solutions::run(&arguments)),
        Command::Constants(arguments) => print(|| constants::run(&arguments)),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("ribbon-bench: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Commands that only print do not fail.
fn print(command: impl FnOnce()) -> Result<(), String> {
    command();
    Ok(())
}

/// The kernel that `RIBBONFILTER_KERNEL` names, else the best of this CPU.
fn kernel() -> ribbonfilter::Kernel {
    match std::env::var("RIBBONFILTER_KERNEL") {
        Ok(name) => ribbonfilter::Kernel::by_name(&name).unwrap_or_else(|| {
            eprintln!("ribbon-bench: RIBBONFILTER_KERNEL={name}: no such kernel on this CPU");
            std::process::exit(2)
        }),
        Err(_) => ribbonfilter::Kernel::best(),
    }
}
