//! `ribbon-bench`: what the figures in the documents and the constants in the planner come
//! from, measured here and now.

mod constants;
mod edges;
mod hashes;
mod peers;
mod random;
mod soak;
mod spill;
mod table1;
mod times;
mod variants;

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
    /// Our filters beside the crates that a user would take instead
    Peers(peers::Arguments),
    /// Every variant and width on one set of keys: size, rate, build and query
    Variants(variants::Arguments),
    /// What unusual hashes cost a build, and opening a filter for every query
    Edges(edges::Arguments),
    /// What a key seed and a keyed hash cost
    Hashes(hashes::Arguments),
    /// Builds within little memory, the hashes on disk: what they take, and whether they are right
    Spill(spill::Arguments),
    /// Filters that all threads share, asked billions of times: no key is missing
    Soak(soak::Arguments),
    /// The simulations behind the planner's constants
    Constants(constants::Arguments),
}

fn main() {
    match Arguments::parse().command {
        Command::Table1(arguments) => table1::run(&arguments),
        Command::Peers(arguments) => peers::run(&arguments),
        Command::Variants(arguments) => variants::run(&arguments),
        Command::Edges(arguments) => edges::run(&arguments),
        Command::Hashes(arguments) => hashes::run(&arguments),
        Command::Spill(arguments) => spill::run(&arguments),
        Command::Soak(arguments) => soak::run(&arguments),
        Command::Constants(arguments) => constants::run(&arguments),
    }
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
