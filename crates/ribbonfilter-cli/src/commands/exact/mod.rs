//! `ribbon exact`: sets without false positives in a known universe, one file per subcommand.

mod build;
mod conflict;
mod info;
mod query;
mod verify;

use crate::error::{Error, Result};
use crate::filter_file;
use clap::{Args, Subcommand};
use ribbonfilter::{ExactSet, MappedBytes, Membership};
use std::path::Path;

/// Sets without false positives, for keys of a known universe
///
/// An exact set is built from its members and from all other keys that will ever be looked up, such
/// as revoked and valid certificates. It takes a few bits per member and is right for all of these
/// keys. For a key outside this universe, the result is arbitrary.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    #[command(subcommand)]
    command: Command,
}

const EXAMPLES: &str = "\
Examples:
  ribbon exact build --members revoked.txt --universe issued.txt.gz -o revoked.ribbon
  ribbon exact query revoked.ribbon 03:AB:17
  ribbon exact info revoked.ribbon
  ribbon exact verify revoked.ribbon --members revoked.txt";

#[derive(Subcommand)]
enum Command {
    Build(build::Arguments),
    Query(query::Arguments),
    Info(info::Arguments),
    Verify(verify::Arguments),
}

pub fn run(arguments: &Arguments) -> Result {
    match &arguments.command {
        Command::Build(arguments) => build::run(arguments),
        Command::Query(arguments) => query::run(arguments),
        Command::Info(arguments) => info::run(arguments),
        Command::Verify(arguments) => verify::run(arguments),
    }
}

/// Whether the set has keys without a group.
fn has_unnamed<D: AsRef<[u8]>>(set: &ExactSet<D>) -> bool {
    set.contains_hash_in_group(0, 0) != Membership::UnknownGroup
}

/// Maps the file of a set. Rejects queries with groups if no key has one, and queries without
/// groups if all have one: every result would be wrong.
fn open(path: &Path, groups: bool) -> Result<ExactSet<MappedBytes>> {
    let set = filter_file::open_exact(path)?;
    let complaint = match (groups, has_unnamed(&set)) {
        (false, false) if set.groups() > 0 => "all of its keys have groups: use --groups",
        (true, true) if set.groups() == 1 => "none of its keys has a group: leave out --groups",
        _ => return Ok(set),
    };
    Err(Error::at(path, complaint))
}
