//! `ribbon build`: a file of keys becomes a filter.

use crate::building::BuildArguments;
use crate::error::{Error, Result};
use crate::filter_file::Description;
use crate::input::{self, Flow, InputArguments, Inputs};
use crate::output::print;
use crate::target::TargetArguments;
use clap::Args;
use ribbonfilter::{BuildError, FilterBuilder};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

/// Build a filter from keys in files or on standard input
///
/// The input may be plain, gzip or zstd: its content tells. The order of the keys, the number of
/// files and of threads do not matter: the same keys give the same filter. It takes its name when
/// it is complete; a build that is interrupted leaves nothing behind.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// Files of keys; `-` or none is standard input
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
    #[command(flatten)]
    build: BuildArguments,
    /// The folder for hashes beyond --memory, 8 bytes a key; nothing stays there
    #[arg(long, value_name = "DIR", requires = "memory")]
    spill: Option<PathBuf>,
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
  ribbon build --column 2 --delimiter , --memory 2GiB people.csv -o names.ribbon
  ribbon build --memory 1GiB --spill /var/tmp huge.txt.zst -o huge.ribbon";

/// Bytes that are kept of a key.
const HASH: u64 = 8;

pub fn run(arguments: &Arguments) -> Result {
    let started = Instant::now();
    let build = &arguments.build;
    let output = build.create()?;
    let builder = read(arguments)?;
    let keys = builder.len();
    let filter = builder.progress(build.watch_solving(keys)).finish().map_err(Error::new)?;
    build.write(filter.as_bytes(), output)?;
    if !build.quiet {
        let summary = Description::of(&filter).summary();
        print(format!("{summary}, {:.2} seconds\n", started.elapsed().as_secs_f64()))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Hashes all keys into a builder.
fn read(arguments: &Arguments) -> Result<FilterBuilder<'static>> {
    let inputs = Inputs::new(&arguments.files)?;
    let build = &arguments.build;
    let mut builder = arguments.target.builder().key_seed(build.key_seed);
    if let Some(bytes) = build.memory {
        builder = builder.max_memory(bytes);
    }
    if let Some(folder) = &arguments.spill {
        check_folder(folder)?;
        builder = builder.spill_to(folder);
    }
    plan_early(&builder)?;
    let progress = build.watch_bytes("reading", inputs.total());
    let options = input::Options {
        key_seed: build.key_seed,
        threads: arguments.target.threads,
        progress: &progress,
    };
    let mut read = 0;
    input::read(
        &inputs,
        arguments.input.format()?,
        options,
        |_, ()| (),
        |batch, ()| {
            read += batch.hashes().len() as u64;
            builder.extend_hashes(batch.hashes().iter().copied());
            if builder.len() < read {
                // It could not keep them, and will tell why.
                return Ok(Flow::Stop);
            }
            if arguments.spill.is_none() {
                build.check_memory(builder.len(), HASH)?;
            }
            Ok(Flow::Continue)
        },
    )?;
    if read == 0 {
        return Err(inputs.empty());
    }
    Ok(builder)
}

/// Refuses settings that are wrong for any number of keys, before a long reading.
fn plan_early(builder: &FilterBuilder<'_>) -> Result<()> {
    match builder.plan_for(0) {
        Ok(_) | Err(BuildError::SizeTooSmall { .. }) => Ok(()),
        Err(error) => Err(Error::new(error)),
    }
}

/// Refuses, before a long reading, a folder that hashes could not go to.
fn check_folder(folder: &Path) -> Result<()> {
    let metadata = folder.metadata().map_err(|error| Error::io(folder, &error))?;
    match metadata.is_dir() {
        true => Ok(()),
        false => Err(Error::at(folder, "is no folder: name one for hashes to be spilled to")),
    }
}
