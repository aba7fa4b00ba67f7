//! The subcommands, one file each.

mod build;
mod completions;
mod cut;
mod exact;
mod info;
mod join;
mod man;
mod map;
mod plan;
mod query;
mod shrink;
mod split;
mod verify;

use crate::error::Result;
use clap::Subcommand;

#[derive(Subcommand)]
pub enum Command {
    Build(build::Arguments),
    Query(query::Arguments),
    Info(info::Arguments),
    Verify(verify::Arguments),
    Plan(plan::Arguments),
    Shrink(shrink::Arguments),
    Split(split::Arguments),
    Cut(cut::Arguments),
    Join(join::Arguments),
    Map(map::Arguments),
    Exact(exact::Arguments),
    Completions(completions::Arguments),
    Man(man::Arguments),
}

impl Command {
    pub fn run(self) -> Result {
        match self {
            Self::Build(arguments) => build::run(&arguments),
            Self::Query(arguments) => query::run(&arguments),
            Self::Info(arguments) => info::run(&arguments),
            Self::Verify(arguments) => verify::run(&arguments),
            Self::Plan(arguments) => plan::run(&arguments),
            Self::Shrink(arguments) => shrink::run(&arguments),
            Self::Split(arguments) => split::run(&arguments),
            Self::Cut(arguments) => cut::run(&arguments),
            Self::Join(arguments) => join::run(&arguments),
            Self::Map(arguments) => map::run(&arguments),
            Self::Exact(arguments) => exact::run(&arguments),
            Self::Completions(arguments) => completions::run(&arguments),
            Self::Man(arguments) => man::run(&arguments),
        }
    }
}
