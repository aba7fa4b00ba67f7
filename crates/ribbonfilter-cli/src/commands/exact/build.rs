//! `ribbon exact build`: builds an exact set from its members and its universe.

use super::conflict::Sides;
use super::info::Description;
use crate::building::{BuildArguments, check_folder};
use crate::error::{Error, Result};
use crate::input::{self, Batch, Flow, Format, GroupedArguments, Inputs};
use crate::output::print;
use crate::values;
use clap::Args;
use ribbonfilter::{BuildError, Effort, ExactSet, ExactSetBuilder, OtherKeys};
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::time::Instant;

/// Build an exact set from its members and all other keys
///
/// The set is right for every key of both inputs, and arbitrary for all other keys. The input may be
/// plain, gzip or zstd; the format is detected from its content. The set depends only on the keys,
/// not on their order, the number of files or the number of threads. The output file appears when it
/// is complete; an interrupted build leaves no file.
///
/// A universe in files is read two or three times, and takes hardly any memory. One on standard
/// input is read once and takes 8 bytes per key, or 16 with --groups. Duplicates are harmless; in
/// files, `ribbon exact info` counts them as keys of the universe.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// A file of the members (`-` is standard input); may be repeated
    #[arg(long, value_name = "FILE", required = true)]
    members: Vec<PathBuf>,
    /// A file of all keys that will be looked up (`-` is standard input); may be repeated. Members
    /// may be among them or not
    #[arg(
        long,
        value_name = "FILE",
        required_unless_present = "others",
        conflicts_with = "others"
    )]
    universe: Vec<PathBuf>,
    /// A file of all keys that will be looked up, without the members, instead of --universe; may
    /// be repeated. A member among them is an error
    #[arg(long, value_name = "FILE")]
    others: Vec<PathBuf>,
    #[command(flatten)]
    build: BuildArguments,
    /// Directory for the hashes that exceed --memory, 8 bytes per key or 16 with --groups; they are
    /// removed afterwards
    #[arg(long, value_name = "DIR", requires = "memory")]
    spill: Option<PathBuf>,
    /// How long the build may search for a smaller set. Thorough takes several times as long for
    /// small sets; use it for sets that are built once and shipped to many
    #[arg(long, ignore_case = true, value_parser = values::effort(), default_value_t)]
    effort: Effort,
    /// Number of threads; 0 for one per core. The set does not depend on it
    #[arg(long, value_name = "N", default_value_t = 0)]
    threads: usize,
    #[command(flatten)]
    input: GroupedArguments,
}

const EXAMPLES: &str = "\
Examples:
  ribbon exact build --members revoked.txt --universe issued.txt -o revoked.ribbon
  ribbon exact build --members bad.txt --others good.txt.gz -o bad.ribbon
  ribbon exact build --groups --members revoked.tsv --universe issued.tsv.zst -o revoked.ribbon
  cat issued/* | ribbon exact build --members revoked.txt --universe - -o revoked.ribbon";

pub fn run(arguments: &Arguments) -> Result {
    let started = Instant::now();
    let build = &arguments.build;
    let output = build.create()?;
    let (members, others) = arguments.inputs()?;
    let reading = Reading { arguments, format: arguments.input.format()? };
    let mut builder = arguments.builder()?;
    reading.push(&members, &mut builder, Side::Members)?;
    let set = match others.are_files() {
        true => reading.build_in_passes(builder, &others),
        false => reading.build_in_memory(builder, &others),
    };
    let set = set.map_err(|failure| match failure {
        Failure::Reading(error) => error,
        Failure::Building(error) => {
            let (format, key_seed) = (reading.format, build.key_seed);
            let threads = arguments.threads;
            Sides { members: &members, others: &others, format, key_seed, threads }.explain(&error)
        }
    })?;
    if set.universe_len() == 0 {
        return Err(others.empty());
    }
    build.write(set.as_bytes(), output)?;
    if !build.quiet {
        let summary = Description::of(&set).summary();
        print(format!("{summary}, {:.2} seconds\n", started.elapsed().as_secs_f64()))?;
    }
    Ok(ExitCode::SUCCESS)
}

impl Arguments {
    /// The members, and the universe or the others.
    fn inputs(&self) -> Result<(Inputs, Inputs)> {
        let others = if self.others.is_empty() { &self.universe } else { &self.others };
        let (members, others) = (Inputs::new(&self.members)?, Inputs::new(others)?);
        match members.include_stdin() && others.include_stdin() {
            true => Err(Error::new("both sides are standard input: name a file for one of them")),
            false => Ok((members, others)),
        }
    }

    fn builder(&self) -> Result<ExactSetBuilder<'static>> {
        let builder = ExactSet::builder().effort(self.effort).threads(self.threads);
        let mut builder = builder.key_seed(self.build.key_seed);
        builder = builder.others_include_members(self.others.is_empty());
        if let Some(bytes) = self.build.memory {
            builder = builder.max_memory(bytes);
        }
        if let Some(folder) = &self.spill {
            check_folder(folder)?;
            builder = builder.spill_to(folder);
        }
        Ok(builder)
    }
}

/// The side on which keys are pushed.
#[derive(Clone, Copy)]
enum Side {
    Members,
    Others,
}

/// The reason why there is no set.
enum Failure {
    Reading(Error),
    Building(BuildError),
}

impl From<BuildError> for Failure {
    fn from(error: BuildError) -> Self {
        Self::Building(error)
    }
}

/// Reads the inputs.
#[derive(Clone, Copy)]
struct Reading<'a> {
    arguments: &'a Arguments,
    format: Format,
}

/// Batches of keys that wait for the builder.
const WAITING: usize = 4;

impl Reading<'_> {
    fn read(
        &self,
        inputs: &Inputs,
        mut sink: impl FnMut(&Batch) -> Result<Flow> + Send,
    ) -> Result<()> {
        let build = &self.arguments.build;
        let progress = build.watch_bytes("reading", inputs.total());
        let options = input::Options {
            key_seed: build.key_seed,
            threads: self.arguments.threads,
            progress: &progress,
        };
        input::read(inputs, self.format, options, |_, ()| (), |batch, ()| sink(batch))
    }

    /// Pushes all keys of the inputs to one side.
    fn push(&self, inputs: &Inputs, builder: &mut ExactSetBuilder<'_>, side: Side) -> Result<()> {
        let bytes_per_key = if self.format.grouped { 16 } else { 8 };
        let mut read = builder.members() + builder.others();
        self.read(inputs, |batch| {
            read += batch.hashes().len() as u64;
            for (group, hash) in batch.grouped() {
                match side {
                    Side::Members => builder.push_member_hash_in(group, hash),
                    Side::Others => builder.push_other_hash_in(group, hash),
                }
            }
            if builder.members() + builder.others() < read {
                // The builder could not store all hashes; `finish` returns the error.
                return Ok(Flow::Stop);
            }
            if self.arguments.spill.is_none() {
                self.arguments.build.check_memory(read, bytes_per_key)?;
            }
            Ok(Flow::Continue)
        })
    }

    /// Builds from others that can be read only once.
    fn build_in_memory(
        &self,
        mut builder: ExactSetBuilder<'_>,
        others: &Inputs,
    ) -> std::result::Result<ExactSet, Failure> {
        self.push(others, &mut builder, Side::Others).map_err(Failure::Reading)?;
        let watch = self.arguments.build.watch_solving(builder.members());
        Ok(builder.progress(watch).finish()?)
    }

    /// Builds from others that are read several times and not kept.
    fn build_in_passes(
        &self,
        builder: ExactSetBuilder<'_>,
        others: &Inputs,
    ) -> std::result::Result<ExactSet, Failure> {
        let mut watch = self.arguments.build.watch_solving(builder.members());
        // While others are read, there is a bar for that.
        let is_reading = AtomicBool::new(false);
        let builder = builder.progress(|report| match is_reading.load(Ordering::Relaxed) {
            true => ControlFlow::Continue(()),
            false => watch(report),
        });
        let mut failure = None;
        let built = builder.finish_with(|keys| {
            is_reading.store(true, Ordering::Relaxed);
            let passed = self.pass(others, keys);
            is_reading.store(false, Ordering::Relaxed);
            passed.map_err(|error| {
                failure = Some(error);
                BuildError::Cancelled
            })
        });
        built.map_err(|error| failure.map_or(Failure::Building(error), Failure::Reading))
    }

    /// Reads all others once, and passes them on. `OtherKeys` stays on this thread; others read and
    /// hash.
    fn pass(&self, inputs: &Inputs, keys: &mut OtherKeys<'_>) -> Result<()> {
        std::thread::scope(|scope| {
            let (sender, receiver) = mpsc::sync_channel::<Vec<(u64, u64)>>(WAITING);
            let read = move || {
                self.read(inputs, |batch| match sender.send(batch.grouped().collect()) {
                    Ok(()) => Ok(Flow::Continue),
                    Err(_) => Ok(Flow::Stop),
                })
            };
            let reader = std::thread::Builder::new().spawn_scoped(scope, read);
            let reader = reader.map_err(|error| Error::new(format_args!("a thread: {error}")))?;
            for batch in receiver {
                batch.into_iter().for_each(|(group, hash)| keys.push_hash_in(group, hash));
                if keys.is_stopped() {
                    break;
                }
            }
            reader.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        })
    }
}
