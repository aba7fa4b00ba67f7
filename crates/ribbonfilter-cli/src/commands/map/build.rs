//! `ribbon map build`: lines of keys and values become a static function.

use super::info::Description;
use crate::building::BuildArguments;
use crate::error::{Error, Result};
use crate::input::{self, Batch, Flow, Format, Inputs, PairArguments};
use crate::output::print;
use crate::values;
use clap::Args;
use ribbonfilter::{BuildError, Effort, Function, FunctionBuilder, Variant, Width};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

/// Build a map from keys and values in files or on standard input
///
/// A line is a key, a tab, and a whole number from 0 to 2^64 - 1; or a digest with `:count`. The
/// input may be plain, gzip or zstd: its content tells. The order of the lines, the number of files
/// and of threads do not matter: the same pairs give the same map. A pair may be there twice, but
/// two values for one key are an error.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// Files of keys and values; `-` or none is standard input
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
    #[command(flatten)]
    build: BuildArguments,
    #[command(flatten)]
    shape: Shape,
    #[command(flatten)]
    input: PairArguments,
}

#[derive(Args)]
#[command(next_help_heading = "What it shall be")]
struct Shape {
    /// Bits of every value, 1 to 64 [default: as many as the largest value needs]
    #[arg(long, value_name = "BITS", value_parser = clap::value_parser!(u32).range(1..=64))]
    value_bits: Option<u32>,
    /// Bits of a fingerprint, by which keys that were not put in are recognised: all but one in
    /// 2^BITS. With the value at most 64
    #[arg(long, value_name = "BITS", default_value_t = 0)]
    fingerprint_bits: u32,
    /// The member of the ribbon family: standard, balanced or bumped [default: the smallest]
    #[arg(long, ignore_case = true, value_parser = values::variant())]
    variant: Option<Variant>,
    /// The ribbon width: wider is smaller and slower [default: the variant's best]
    #[arg(long, value_parser = values::width())]
    width: Option<Width>,
    /// How much time the build may take for a smaller map. Thorough takes several times as long for
    /// small sets: for whoever builds once and ships to many
    #[arg(long, ignore_case = true, value_parser = values::effort(), default_value_t)]
    effort: Effort,
    /// Threads; 0 takes all there are. The map is the same for any number
    #[arg(long, value_name = "N", default_value_t = 0)]
    threads: usize,
}

const EXAMPLES: &str = "\
Examples:
  ribbon map build ages.tsv -o ages.ribbon
  ribbon map build --value-bits 7 --fingerprint-bits 12 ages.tsv.gz -o ages.ribbon
  ribbon map build --input hex pwned.txt.zst -o counts.ribbon      the counts of digests
  cut -d, -f1,3 people.csv | ribbon map build --delimiter , -o people.ribbon";

/// Bytes that are kept of a key and its value.
const PAIR: u64 = 16;

pub fn run(arguments: &Arguments) -> Result {
    let started = Instant::now();
    let build = &arguments.build;
    let output = build.create()?;
    let inputs = Inputs::new(&arguments.files)?;
    let mut reading = Reading::new(arguments, &inputs)?;
    reading.read_all(arguments)?;
    let (builder, order) = reading.finish(arguments)?;
    let keys = builder.len();
    let function = builder.progress(build.watch_solving(keys)).finish();
    let function = function.map_err(|error| order.failed(&error))?;
    build.write(function.as_bytes(), output)?;
    if !build.quiet {
        let summary = Description::of(&function).summary();
        print(format!("{summary}, {:.2} seconds\n", started.elapsed().as_secs_f64()))?;
    }
    Ok(ExitCode::SUCCESS)
}

impl Arguments {
    /// A builder for values of so many bits, refused if no number of keys could have them.
    fn builder(&self, value_bits: u32) -> Result<FunctionBuilder<'static>> {
        let Shape { fingerprint_bits, variant, width, effort, threads, .. } = self.shape;
        let builder = Function::builder().key_seed(self.build.key_seed).threads(threads);
        let builder = builder.value_bits(value_bits).fingerprint_bits(fingerprint_bits);
        let mut builder = builder.effort(effort);
        if let Some(variant) = variant {
            builder = builder.variant(variant);
        }
        if let Some(width) = width {
            builder = builder.width(width);
        }
        if let Some(bytes) = self.build.memory {
            builder = builder.max_memory(bytes);
        }
        builder.plan_for(0).map_err(Error::new)?;
        Ok(builder)
    }
}

/// Where the pairs that a builder counts through were read.
struct Order<'a> {
    inputs: &'a Inputs,
    format: Format,
    /// The position of the first pair of each input that has one.
    firsts: Vec<(usize, u64)>,
}

impl Order<'_> {
    fn note(&mut self, input: usize, position: u64) {
        if self.firsts.last().is_none_or(|&(last, _)| last != input) {
            self.firsts.push((input, position));
        }
    }

    fn place(&self, position: u64) -> String {
        let before = self.firsts.iter().rev().find(|&&(_, first)| first <= position);
        let &(input, first) = before.unwrap_or(&(0, 0));
        self.inputs.place(input, &self.format, position - first)
    }

    /// An error of the builder, at the lines that it is about.
    fn failed(&self, error: &BuildError) -> Error {
        match *error {
            BuildError::Contradiction { first, second } => Error::new(format_args!(
                "{}: another value for the key of {}: leave out one of them or, if the keys \
                 differ, hash them under another --key-seed",
                self.place(second),
                self.place(first)
            )),
            _ => Error::new(error),
        }
    }
}

/// What has been read so far.
struct Reading<'a> {
    builder: FunctionBuilder<'static>,
    order: Order<'a>,
    largest: u64,
    /// Pairs that were read.
    read: u64,
}

impl<'a> Reading<'a> {
    fn new(arguments: &Arguments, inputs: &'a Inputs) -> Result<Self> {
        // If the bits are not known yet, the fewest tell what is wrong in any case.
        let builder = arguments.builder(arguments.shape.value_bits.unwrap_or(1))?;
        let order = Order { inputs, format: arguments.input.format(), firsts: Vec::new() };
        Ok(Self { builder, order, largest: 0, read: 0 })
    }

    fn read_all(&mut self, arguments: &Arguments) -> Result<()> {
        let (inputs, format) = (self.order.inputs, self.order.format);
        let progress = arguments.build.watch_bytes("reading", inputs.total());
        let options = input::Options {
            key_seed: arguments.build.key_seed,
            threads: arguments.shape.threads,
            progress: &progress,
        };
        let largest_of = |batch: &Batch, largest: &mut u64| {
            *largest = batch.values().iter().copied().max().unwrap_or(0);
        };
        input::read(inputs, format, options, largest_of, |batch, largest| {
            self.largest = self.largest.max(*largest);
            self.take(arguments, batch)?;
            // If it could not keep them it will tell why.
            let kept = self.builder.len() == self.read;
            Ok(if kept { Flow::Continue } else { Flow::Stop })
        })
    }

    fn take(&mut self, arguments: &Arguments, batch: &Batch) -> Result<()> {
        if let Some(bits) = arguments.shape.value_bits.filter(|&bits| bits_of(self.largest) > bits)
        {
            return Err(self.too_wide(batch, bits));
        }
        self.order.note(batch.input(), self.builder.len());
        self.read += batch.hashes().len() as u64;
        let pairs = batch.hashes().iter().zip(batch.values());
        self.builder.extend_hashes(pairs.map(|(&hash, &value)| (hash, value)));
        arguments.build.check_memory(self.builder.len(), PAIR)
    }

    /// The first value of a batch that is too wide.
    fn too_wide(&self, batch: &Batch, bits: u32) -> Error {
        let index = batch.values().iter().position(|&value| bits_of(value) > bits).unwrap_or(0);
        let place = batch.place(index, self.order.inputs, &self.order.format);
        let value = batch.values()[index];
        Error::new(format_args!(
            "{place}: the value {value} does not fit {bits} bits: allow more by --value-bits"
        ))
    }

    /// All pairs, in a builder that knows how wide values are.
    fn finish(self, arguments: &Arguments) -> Result<(FunctionBuilder<'static>, Order<'a>)> {
        if self.read == 0 {
            return Err(self.order.inputs.empty());
        }
        let bits = arguments.shape.value_bits.unwrap_or_else(|| bits_of(self.largest));
        Ok((self.builder.value_bits(bits), self.order))
    }
}

/// The bits that a value needs, at least one.
fn bits_of(value: u64) -> u32 {
    (u64::BITS - value.leading_zeros()).max(1)
}
