//! `ribbon-paper build`: a filter from lines.

use super::{Failure, Outcome, files, lines};
use ribbonfilter_paper::{
    Error, Filter, Settings, Shards, Stored, UntilFull, Variant, Width, hash::key_hash,
};
use std::path::PathBuf;
use std::process::ExitCode;

/// Build a filter from a file with one key per line
#[derive(clap::Args)]
pub struct Arguments {
    /// The file of keys; - is standard input
    keys: PathBuf,
    /// The file to write
    #[arg(short, long)]
    output: PathBuf,
    /// standard, homogeneous, balanced, bumped or soft
    #[arg(long)]
    variant: Variant,
    /// The ribbon width: 16, 32, 64 or 128
    #[arg(long)]
    width: Width,
    /// The number of solution columns r; the rate is about 2^-r. May be a fraction
    #[arg(long)]
    columns: f64,
    /// The smash value [default: a quarter of the width]
    #[arg(long)]
    smash: Option<u64>,
    /// Slots in addition to the keys, as a fraction of the keys [default: what the variant needs]
    #[arg(long, allow_negative_numbers = true)]
    epsilon: Option<f64>,
    /// The seed of the key hash
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Partition the keys by hash into this number of filters of one size
    #[arg(long, conflicts_with = "until_full")]
    shards: Option<usize>,
    /// Fill shards of this number of slots until a key does not fit
    #[arg(long, value_name = "SLOTS")]
    until_full: Option<u64>,
}

/// Reads the keys, builds and writes the file.
pub fn run(arguments: &Arguments) -> Outcome {
    let mut hashes = Vec::new();
    lines::for_each_line(&arguments.keys, |key| {
        hashes.push(key_hash(key, arguments.seed));
        Ok(())
    })?;
    // Duplicates would be harmless, but take space.
    hashes.sort_unstable();
    hashes.dedup();
    let stored = arguments.build(&hashes);
    let stored = stored.map_err(|error| Failure::at(&arguments.keys, error))?;
    files::write(&arguments.output, &stored)?;
    Ok(ExitCode::SUCCESS)
}

impl Arguments {
    fn build(&self, hashes: &[u64]) -> Result<Stored, Error> {
        let settings = Settings {
            variant: self.variant,
            width: self.width,
            columns: self.columns,
            smash: self.smash,
            epsilon: self.epsilon,
            key_seed: self.seed,
        };
        Ok(match (self.shards, self.until_full) {
            (Some(shards), _) => Stored::Shards(Shards::from_hashes(&settings, hashes, shards)?),
            (_, Some(slots)) => {
                Stored::UntilFull(UntilFull::from_hashes(&settings, hashes, slots)?)
            }
            _ => Stored::Filter(Filter::from_hashes(&settings, hashes)?),
        })
    }
}
