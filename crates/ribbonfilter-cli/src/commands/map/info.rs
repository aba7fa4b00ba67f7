//! `ribbon map info`: shows the properties of a map.

use crate::commands::info::{json, table};
use crate::error::Result;
use crate::filter_file::{self, format_version};
use crate::output::print;
use crate::{show, values};
use clap::Args;
use ribbonfilter::Function;
use serde::Serialize;
use std::path::PathBuf;
use std::process::ExitCode;

/// Show the properties of a map: keys, size, bits of values and fingerprints
///
/// Reads only the last page of the file.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// The map file, which must not be modified during the run
    #[arg(value_name = "MAP")]
    map: PathBuf,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "\
Examples:
  ribbon map info ages.ribbon
  ribbon map info ages.ribbon --json | jq .value_bits

`overhead` is the number of stored bits over the bits of values and fingerprints, minus one.";

pub fn run(arguments: &Arguments) -> Result {
    let description = Description::of(&filter_file::open_function(&arguments.map)?);
    print(if arguments.json { json(&description)? } else { table(&description.lines()) })?;
    Ok(ExitCode::SUCCESS)
}

/// The properties of a map: the fields of `ribbon map info --json`.
#[derive(Serialize)]
pub struct Description {
    keys: u64,
    bytes: u64,
    bits_per_key: f64,
    overhead: f64,
    value_bits: u32,
    fingerprint_bits: u32,
    variant: String,
    width: u32,
    /// The seed under which keys are hashed.
    seed: u64,
    /// The version of the byte format.
    version: u8,
}

impl Description {
    pub fn of<D: AsRef<[u8]>>(map: &Function<D>) -> Self {
        let bits = f64::from(map.value_bits() + map.fingerprint_bits());
        Self {
            keys: map.len(),
            bytes: map.size_in_bytes() as u64,
            bits_per_key: map.bits_per_key(),
            overhead: map.bits_per_key() / bits - 1.0,
            value_bits: map.value_bits(),
            fingerprint_bits: map.fingerprint_bits(),
            variant: values::variant_name(map.variant()),
            width: map.width().bits(),
            seed: map.key_seed(),
            version: format_version(map.as_bytes()),
        }
    }

    /// Labels and values of the text output.
    fn lines(&self) -> Vec<(&'static str, String)> {
        vec![
            ("keys", show::count(self.keys)),
            ("size", show::size(self.bytes)),
            ("bits per key", show::bits(self.bits_per_key)),
            ("overhead", show::percent(self.overhead)),
            ("value bits", self.value_bits.to_string()),
            ("fingerprints", format!("{} bits", self.fingerprint_bits)),
            ("variant", self.variant.clone()),
            ("width", self.width.to_string()),
            ("key seed", self.seed.to_string()),
            ("format version", self.version.to_string()),
        ]
    }

    /// The main properties in one line.
    pub fn summary(&self) -> String {
        format!(
            "{} keys, {} bytes, {} bits per key, overhead {}, values of {} bits",
            show::count(self.keys),
            show::count(self.bytes),
            show::bits(self.bits_per_key),
            show::percent(self.overhead),
            self.value_bits,
        )
    }
}
