//! `ribbon exact info`: shows the properties of an exact set.

use super::has_unnamed;
use crate::commands::info::{json, table};
use crate::error::Result;
use crate::filter_file::{self, format_version};
use crate::output::print;
use crate::show;
use clap::Args;
use ribbonfilter::ExactSet;
use serde::Serialize;
use std::path::PathBuf;
use std::process::ExitCode;

/// Show the properties of an exact set: members, universe, groups, size
///
/// Reads only the footers of the set and of its parts.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// The file of the exact set, which must not be modified during the run
    #[arg(value_name = "SET")]
    set: PathBuf,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "\
Examples:
  ribbon exact info revoked.ribbon
  ribbon exact info revoked.ribbon --json | jq .bits_per_member

`lower bound` is the least size that any exact set of these numbers of keys has on average, and
`overhead` is the stored bits over it, minus one. `outside rate` is how often a key outside the
universe, without a group, is reported as a member.";

pub fn run(arguments: &Arguments) -> Result {
    let description = Description::of(&filter_file::open_exact(&arguments.set)?);
    print(if arguments.json { json(&description)? } else { table(&description.lines()) })?;
    Ok(ExitCode::SUCCESS)
}

/// The properties of an exact set: the fields of `ribbon exact info --json`. What is infinite or
/// undefined is `null`.
#[derive(Serialize)]
pub struct Description {
    members: u64,
    /// All keys for which the set is exact.
    universe: u64,
    groups: u64,
    bytes: u64,
    bits_per_member: f64,
    lower_bound_bits: f64,
    overhead: f64,
    overhead_bytes: f64,
    /// How often a key outside the universe is reported as a member, if keys have no groups.
    outside_rate: Option<f64>,
    /// The seed under which keys are hashed.
    seed: u64,
    /// The version of the byte format.
    version: u8,
}

impl Description {
    pub fn of<D: AsRef<[u8]>>(set: &ExactSet<D>) -> Self {
        Self {
            members: set.len(),
            universe: set.universe_len(),
            groups: set.groups(),
            bytes: set.size_in_bytes() as u64,
            bits_per_member: set.bits_per_member(),
            lower_bound_bits: set.lower_bound_bits(),
            overhead: set.overhead(),
            overhead_bytes: set.size_in_bytes() as f64 - set.lower_bound_bits() / 8.0,
            outside_rate: has_unnamed(set).then(|| set.expected_rate()),
            seed: set.key_seed(),
            version: format_version(set.as_bytes()),
        }
    }

    /// The overhead in percent or, if the lower bound is 0, in bytes.
    fn overhead(&self) -> String {
        match self.overhead.is_finite() {
            true => show::percent(self.overhead),
            false => format!("{} bytes", show::count(self.bytes)),
        }
    }

    /// Labels and values of the text output.
    fn lines(&self) -> Vec<(&'static str, String)> {
        let bound = (self.lower_bound_bits / 8.0).ceil() as u64;
        vec![
            ("members", show::count(self.members)),
            ("universe", format!("{} keys", show::count(self.universe))),
            ("groups", show::count(self.groups)),
            ("size", show::size(self.bytes)),
            ("per member", format!("{} bits", show::bits(self.bits_per_member))),
            ("lower bound", show::size(bound)),
            ("overhead", self.overhead()),
            ("outside rate", self.outside_rate.map_or("-".into(), show::rate)),
            ("key seed", self.seed.to_string()),
            ("format version", self.version.to_string()),
        ]
    }

    /// The main properties in one line.
    pub fn summary(&self) -> String {
        format!(
            "{} members, universe of {} keys, {} bytes, {} bits per member, overhead {}",
            show::count(self.members),
            show::count(self.universe),
            show::count(self.bytes),
            show::bits(self.bits_per_member),
            self.overhead(),
        )
    }
}
