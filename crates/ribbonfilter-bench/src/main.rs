//! `ribbon-bench`: measures the figures of the documentation and simulates the constants of the
//! planner.

mod blocks;
mod check;
mod constants;
mod edges;
mod exact;
mod figures;
mod functions;
mod hashes;
mod html;
mod latency;
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
mod theory;
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
    /// The paper's Table 1: simulated overheads of Standard ribbons, compared with the paper
    Table1(table1::Arguments),
    /// The paper's Table 2: size, build and query times of every ribbon and its peers
    Table2(table2::Arguments),
    /// Compare our filters with other crates
    Peers(peers::Arguments),
    /// Compare our functions with those of sux, with values of 1 to 64 bits
    Functions(functions::Arguments),
    /// Measure chains of queries, in which each key depends on the previous result
    Latency(latency::Arguments),
    /// Measure the figures: the fastest filter for each overhead and rate, times against keys and
    /// threads
    Figures(figures::Arguments),
    /// Write a page with all tables and figures of the finished rows
    Report(report::Arguments),
    /// Check that nothing has become slower or larger than the baseline
    Check(check::Arguments),
    /// Every variant and width on one set of keys: size, rate, build and query times
    Variants(variants::Arguments),
    /// Measure builds from unusual hashes, and queries that open the filter each time
    Edges(edges::Arguments),
    /// Compare filter blocks, opened for every lookup, with the Bloom filter of lsm-tree
    Blocks(blocks::Arguments),
    /// Measure the cost of a key seed and of a keyed hash function
    Hashes(hashes::Arguments),
    /// Build with little memory and the hashes on disk; check time, memory and results
    Spill(spill::Arguments),
    /// Compare exact sets with clubcard; or build one of many certificates and check all of them
    Exact(exact::Arguments),
    /// Query filters from all threads billions of times; check that no key is missing
    Soak(soak::Arguments),
    /// Count the seeds that builds try, compared with the plan
    Solutions(solutions::Arguments),
    /// Experiments on the paper's claims beside its tables
    Theory(theory::Arguments),
    /// Queries one filter, for `theory smash-time`
    #[command(hide = true)]
    SmashQueries(theory::smash_time::Queries),
    /// The simulations for the planner's constants
    Constants(constants::Arguments),
}

fn main() -> ExitCode {
    let result = match Arguments::parse().command {
        Command::Table1(arguments) => table1::run(&arguments),
        Command::Table2(arguments) => table2::run(&arguments),
        Command::Peers(arguments) => peers::run(&arguments),
        Command::Functions(arguments) => functions::run(&arguments),
        Command::Latency(arguments) => latency::run(&arguments),
        Command::Figures(arguments) => figures::run(&arguments),
        Command::Report(arguments) => report::run(&arguments),
        Command::Check(arguments) => check::run(&arguments),
        Command::Variants(arguments) => print(|| variants::run(&arguments)),
        Command::Edges(arguments) => print(|| edges::run(&arguments)),
        Command::Hashes(arguments) => print(|| hashes::run(&arguments)),
        Command::Blocks(arguments) => print(|| blocks::run(&arguments)),
        Command::Spill(arguments) => spill::run(&arguments),
        Command::Exact(arguments) => exact::run(&arguments),
        Command::Soak(arguments) => print(|| soak::run(&arguments)),
        Command::Solutions(arguments) => print(|| solutions::run(&arguments)),
        Command::Theory(arguments) => theory::run(&arguments),
        Command::SmashQueries(arguments) => theory::smash_time::run_queries(&arguments),
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

/// Runs a command that cannot fail.
fn print(command: impl FnOnce()) -> Result<(), String> {
    command();
    Ok(())
}

/// The kernel that `RIBBONFILTER_KERNEL` names, or the best one for this CPU.
fn kernel() -> ribbonfilter::Kernel {
    match std::env::var("RIBBONFILTER_KERNEL") {
        Ok(name) => ribbonfilter::Kernel::by_name(&name).unwrap_or_else(|| {
            eprintln!("ribbon-bench: RIBBONFILTER_KERNEL={name}: no such kernel on this CPU");
            std::process::exit(2)
        }),
        Err(_) => ribbonfilter::Kernel::best(),
    }
}
