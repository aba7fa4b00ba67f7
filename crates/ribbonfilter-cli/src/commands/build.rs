//! `ribbon build`: builds a filter from files of keys.

use crate::building::{BuildArguments, check_folder};
use crate::collector::Collector;
use crate::error::{Error, Result};
use crate::input::columnar::{self, Nulls};
use crate::input::{self, Flow, InputArguments, Inputs};
use crate::output::print;
use crate::show;
use crate::target::TargetArguments;
use crate::values::{self, ShardCount};
use clap::Args;
use ribbonfilter::Split;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

/// Build a filter from keys in files or on standard input
///
/// Input in lines, hex and u64le may be plain, gzip or zstd, which is detected from its content;
/// Parquet and Arrow have compression of their own. The filter depends only on the set of keys, not
/// on their order, the number of files or the number of threads. The output file appears when it is
/// complete; an interrupted build leaves no file.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// Files of keys; `-` or no file reads standard input
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
    #[command(flatten)]
    build: BuildArguments,
    /// Directory for the hashes that exceed --memory, 8 bytes per key; they are removed afterwards
    #[arg(long, value_name = "DIR", requires = "memory")]
    spill: Option<PathBuf>,
    /// Make one file of several small filters, called shards: N of them by hash, a power of two; or
    /// as many as it takes, each filled until it is full, with `until-full`
    #[arg(long, value_name = "N|until-full", value_parser = values::shards,
          conflicts_with_all = ["memory", "bits_per_key", "size"])]
    shards: Option<ShardCount>,
    /// Give each of the N shards exactly this size, such as 4K; it determines the rate
    #[arg(long, value_name = "BYTES", value_parser = values::bytes, requires = "shards",
          group = "target")]
    shard_size: Option<u64>,
    /// What to do with nulls in a Parquet or Arrow column [default: error]
    #[arg(long, value_enum, value_name = "WHAT", help_heading = "Input")]
    nulls: Option<Nulls>,
    #[command(flatten)]
    target: TargetArguments,
    #[command(flatten)]
    input: InputArguments,
}

const EXAMPLES: &str = "\
Examples:
  ribbon build words.txt -o words.ribbon
  ribbon build --input hex --fpr 0.001 pwned-*.txt.gz -o pwned.ribbon
  cut -f2 table.tsv | ribbon build --bits-per-key 8 -o ids.ribbon
  ribbon build --shards 256 --fpr 0.001 pages.txt.zst -o pages.ribbon
  ribbon build --shards 1024 --shard-size 4K pages.txt.zst -o pages.ribbon
  ribbon build --column 2 --delimiter , --memory 2GiB people.csv -o names.ribbon
  ribbon build --input parquet --column url pages-*.parquet -o pages.ribbon
  ribbon build --memory 1GiB --spill /var/tmp huge.txt.zst -o huge.ribbon";

/// Bytes that the builder stores per key.
const HASH_BYTES: u64 = 8;

pub fn run(arguments: &Arguments) -> Result {
    let started = Instant::now();
    let build = &arguments.build;
    let output = build.create()?;
    let builder = read(arguments)?;
    let keys = builder.len();
    let filter = builder.finish(build.watch_solving(keys)).map_err(Error::new)?;
    build.write(filter.as_bytes(), output)?;
    if !build.quiet {
        let summary = filter.description().summary();
        print(format!("{summary}, {:.2} seconds\n", started.elapsed().as_secs_f64()))?;
    }
    Ok(ExitCode::SUCCESS)
}

impl Arguments {
    /// The collector that these arguments describe.
    fn collector(&self) -> Result<Collector> {
        let mut options = self.target.options();
        options.key_seed = self.build.key_seed;
        options.max_memory = self.build.memory;
        if let Some(folder) = &self.spill {
            check_folder(folder)?;
            options.spill_to = Some(folder.clone());
        }
        Ok(match self.shards {
            Some(shards) => {
                let builder = self.target.shards_builder(split(shards, self.shard_size)?);
                Collector::Shards(builder.options(options))
            }
            None => Collector::Filter(self.target.builder().options(options)),
        })
    }
}

/// How the keys are split among shards.
fn split(shards: ShardCount, size: Option<u64>) -> Result<Split> {
    match (shards, size) {
        (ShardCount::TwoToThe(bits), None) => Ok(Split::ByHash { bits }),
        (ShardCount::TwoToThe(bits), Some(bytes)) => Ok(Split::FixedSize { bits, bytes }),
        (ShardCount::UntilFull, None) => Ok(Split::UntilFull),
        (ShardCount::UntilFull, Some(_)) => {
            Err(Error::new("--shard-size needs a number of shards, such as --shards 256"))
        }
    }
}

/// Reads and hashes all keys.
fn read(arguments: &Arguments) -> Result<Collector> {
    let inputs = Inputs::new(&arguments.files)?;
    let build = &arguments.build;
    let mut builder = arguments.collector()?;
    builder.check().map_err(Error::new)?;
    let progress = build.watch_bytes("reading", inputs.total());
    let options = input::Options {
        key_seed: build.key_seed,
        threads: arguments.target.threads,
        progress: &progress,
    };
    let mut read = 0;
    let mut push = |hashes: &[u64]| {
        read += hashes.len() as u64;
        builder.extend_hashes(hashes);
        if builder.len() < read {
            // The builder could not store all hashes; `finish` returns the error.
            return Ok(Flow::Stop);
        }
        if arguments.spill.is_none() {
            build.check_memory(builder.len(), HASH_BYTES)?;
        }
        Ok(Flow::Continue)
    };
    let mut skipped = 0;
    match arguments.input.columnar(arguments.nulls)? {
        Some(columnar) => {
            skipped = columnar::read(&inputs, &columnar, &options, &mut push)?.nulls;
        }
        None => {
            let format = arguments.input.format()?;
            let sink = |batch: &input::Batch, (): &mut ()| push(batch.hashes());
            input::read(&inputs, format, options, |_, ()| (), sink)?;
        }
    }
    drop(progress);
    if skipped > 0 && !build.quiet {
        print(format!("{} nulls skipped\n", show::count(skipped)))?;
    }
    if read == 0 {
        return Err(inputs.empty());
    }
    Ok(builder)
}
