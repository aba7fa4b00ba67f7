//! `ribbon build`: a file of keys becomes a filter.

use crate::collector::Collector;
use crate::error::{Error, Result};
use crate::filter_file::Set;
use crate::input::{self, Flow, InputArguments, Inputs};
use crate::output::{Output, print};
use crate::progress::Progress;
use crate::target::TargetArguments;
use crate::{show, values};
use clap::Args;
use ribbonfilter::{BuildError, Control, OwnedBytes, Phase, Split};
use std::path::PathBuf;
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
    /// The file to write the filter to
    #[arg(long, short, value_name = "OUT")]
    output: PathBuf,
    /// Replace the output if it exists
    #[arg(long, short)]
    force: bool,
    /// The memory that the build may take, as 2GiB; more is refused
    #[arg(long, value_name = "BYTES", value_parser = values::bytes)]
    memory: Option<u64>,
    /// Split the filter into so many shards by hash, a power of two, in one file
    #[arg(long, value_name = "N", value_parser = values::shards,
          conflicts_with_all = ["memory", "bits_per_key", "size"])]
    shards: Option<u32>,
    /// Hash the keys under this seed, which is stored in the filter
    #[arg(long, value_name = "SEED", value_parser = values::seed, default_value = "0")]
    key_seed: u64,
    /// Print nothing but errors
    #[arg(long, short)]
    quiet: bool,
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
  ribbon build --column 2 --delimiter , --memory 2GiB people.csv -o names.ribbon";

/// Bytes that are written between two reports.
const PIECE: usize = 1 << 20;

pub fn run(arguments: &Arguments) -> Result {
    let started = Instant::now();
    let mut output = Output::create(&arguments.output, arguments.force)?;
    let builder = read(arguments)?;
    let filter = solve(arguments, builder)?;
    write(arguments, &filter, &mut output)?;
    output.commit()?;
    if !arguments.quiet {
        let summary = filter.description().summary();
        print(format!("{summary}, {:.2} seconds\n", started.elapsed().as_secs_f64()))?;
    }
    Ok(ExitCode::SUCCESS)
}

impl Arguments {
    /// What collects the keys.
    fn collector(&self) -> Collector {
        if let Some(bits) = self.shards {
            let builder = self.target.shards_builder(Split::ByHash { bits });
            return Collector::Shards(builder.key_seed(self.key_seed));
        }
        let mut builder = self.target.builder().key_seed(self.key_seed);
        if let Some(bytes) = self.memory {
            builder = builder.max_memory(bytes);
        }
        Collector::Filter(builder)
    }

    fn progress_bytes(&self, phase: &'static str, total: Option<u64>) -> Progress {
        if self.quiet { Progress::none() } else { Progress::bytes(phase, total) }
    }

    fn progress_keys(&self, phase: Phase, total: u64) -> Progress {
        let name = match phase {
            Phase::Partitioning => "partitioning",
            _ => "solving",
        };
        if self.quiet { Progress::none() } else { Progress::keys(name, total) }
    }
}

/// Hashes all keys into a builder.
fn read(arguments: &Arguments) -> Result<Collector> {
    let inputs = Inputs::new(&arguments.files)?;
    let mut builder = arguments.collector();
    builder.check().map_err(|error| failed(&error))?;
    let progress = arguments.progress_bytes("reading", inputs.total());
    let options = input::Options {
        key_seed: arguments.key_seed,
        threads: arguments.target.threads,
        progress: &progress,
    };
    input::read(
        &inputs,
        arguments.input.format()?,
        options,
        |_, ()| (),
        |batch, ()| {
            builder.extend_hashes(batch.hashes());
            check_memory(&builder, arguments.memory)?;
            Ok(Flow::Continue)
        },
    )?;
    if builder.len() == 0 {
        let name = crate::error::shown(inputs.name(0));
        return Err(Error::new(format_args!("{name}: no keys there: give some")));
    }
    Ok(builder)
}

/// Stops reading as soon as the hashes alone are too many.
fn check_memory(builder: &Collector, memory: Option<u64>) -> Result<()> {
    match memory {
        Some(memory) if builder.len() * 8 > memory => Err(Error::new(format_args!(
            "the hashes of the first {} keys alone exceed the {} allowed: allow more by --memory, \
             or split the keys into several filters",
            show::count(builder.len()),
            show::bytes(memory),
        ))),
        _ => Ok(()),
    }
}

fn solve(arguments: &Arguments, builder: Collector) -> Result<Set<OwnedBytes>> {
    let keys = builder.len();
    let mut present: Option<(Phase, Progress)> = None;
    let built = builder.finish(|news| {
        // The old bar leaves before the new one comes.
        present.take_if(|(phase, _)| *phase != news.phase);
        let new = || (news.phase, arguments.progress_keys(news.phase, keys));
        let (_, progress) = present.get_or_insert_with(new);
        progress.set((news.share() * keys as f64) as u64);
        Control::Continue
    });
    built.map_err(|error| failed(&error))
}

fn write(arguments: &Arguments, filter: &Set<OwnedBytes>, output: &mut Output) -> Result<()> {
    let bytes = filter.as_bytes();
    let progress = arguments.progress_bytes("writing", Some(bytes.len() as u64));
    for piece in bytes.chunks(PIECE) {
        output.write(piece)?;
        progress.advance(piece.len() as u64);
    }
    Ok(())
}

fn failed(error: &BuildError) -> Error {
    Error::new(error)
}
