//! `ribbon map build`: builds a static function from lines of keys and values.

use super::info::Description;
use crate::building::BuildArguments;
use crate::error::{Error, Result};
use crate::input::{self, Batch, Flow, Format, Inputs, PairArguments};
use crate::output::print;
use crate::values;
use clap::Args;
use ribbonfilter::{BuildError, BuildOptions, Effort, Function, FunctionBuilder, Variant, Width};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

/// Build a map from keys and values in files or on standard input
///
/// A line is a key, a tab, and an integer from 0 to 2^64 - 1; or a digest with `:count`. The input
/// may be plain, gzip or zstd; the format is detected from its content. The map depends only on the
/// set of pairs, not on their order, the number of files or the number of threads. A pair may occur
/// more than once, but two values for one key are an error.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// Files of keys and values; `-` or no file reads standard input
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
#[command(next_help_heading = "Map options")]
struct Shape {
    /// Bits per value, 1 to 64 [default: what the largest value needs]
    #[arg(long, value_name = "BITS", value_parser = clap::value_parser!(u32).range(1..=64))]
    value_bits: Option<u32>,
    /// Bits per fingerprint. Fingerprints detect absent keys: all but one in 2^BITS. Values and
    /// fingerprints together have at most 64 bits
    #[arg(long, value_name = "BITS", default_value_t = 0)]
    fingerprint_bits: u32,
    /// The ribbon variant: standard, balanced or bumped [default: the smallest]
    #[arg(long, ignore_case = true, value_parser = values::variant())]
    variant: Option<Variant>,
    /// The ribbon width; wider is smaller and slower [default: the best for the variant]
    #[arg(long, value_parser = values::width())]
    width: Option<Width>,
    /// How long the build may search for a smaller map. Thorough takes several times as long for
    /// small sets; use it for maps that are built once and shipped to many
    #[arg(long, ignore_case = true, value_parser = values::effort(), default_value_t)]
    effort: Effort,
    /// Number of threads; 0 for one per core. The map does not depend on it
    #[arg(long, value_name = "N", default_value_t = 0)]
    threads: usize,
}

const EXAMPLES: &str = "\
Examples:
  ribbon map build ages.tsv -o ages.ribbon
  ribbon map build --value-bits 7 --fingerprint-bits 12 ages.tsv.gz -o ages.ribbon
  ribbon map build --input hex pwned.txt.zst -o counts.ribbon      the counts of digests
  cut -d, -f1,3 people.csv | ribbon map build --delimiter , -o people.ribbon";

/// Bytes that the builder stores per pair.
const PAIR_BYTES: u64 = 16;

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
    /// Creates a builder for values of `value_bits` bits. Rejects settings that are invalid for
    /// every number of keys.
    fn builder(&self, value_bits: u32) -> Result<FunctionBuilder<'static>> {
        let mut options = BuildOptions::default();
        (options.variant, options.width) = (self.shape.variant, self.shape.width);
        (options.effort, options.threads) = (self.shape.effort, self.shape.threads);
        (options.max_memory, options.key_seed) = (self.build.memory, self.build.key_seed);
        let builder = Function::builder().options(options).value_bits(value_bits);
        let builder = builder.fingerprint_bits(self.shape.fingerprint_bits);
        builder.plan_for(0).map_err(Error::new)?;
        Ok(builder)
    }
}

/// Maps the positions of pairs in the builder to lines of the input.
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

    fn location(&self, position: u64) -> String {
        let preceding = self.firsts.iter().rev().find(|&&(_, first)| first <= position);
        let &(input, first) = preceding.unwrap_or(&(0, 0));
        self.inputs.location(input, &self.format, position - first)
    }

    /// Converts an error of the builder and names the lines that caused it.
    fn failed(&self, error: &BuildError) -> Error {
        match *error {
            BuildError::Contradiction { first, second } => Error::new(format_args!(
                "{}: the key has another value in {}: remove one of the lines or, if the keys \
                 differ, choose another --key-seed",
                self.location(second),
                self.location(first)
            )),
            _ => Error::new(error),
        }
    }
}

/// The pairs that have been read so far.
struct Reading<'a> {
    builder: FunctionBuilder<'static>,
    order: Order<'a>,
    largest: u64,
    /// The number of pairs that have been read.
    read: u64,
}

impl<'a> Reading<'a> {
    fn new(arguments: &Arguments, inputs: &'a Inputs) -> Result<Self> {
        // If the number of bits is not known yet, check the other settings with one bit: they are
        // invalid for more bits if they are invalid for one.
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
            // If the builder could not store all pairs, `finish` returns the error.
            let stored = self.builder.len() == self.read;
            Ok(if stored { Flow::Continue } else { Flow::Stop })
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
        arguments.build.check_memory(self.builder.len(), PAIR_BYTES)
    }

    /// The error for the first value of a batch that has more than `bits` bits.
    fn too_wide(&self, batch: &Batch, bits: u32) -> Error {
        let index = batch.values().iter().position(|&value| bits_of(value) > bits).unwrap_or(0);
        let location = batch.location(index, self.order.inputs, &self.order.format);
        let value = batch.values()[index];
        Error::new(format_args!(
            "{location}: the value {value} does not fit in {bits} bits: raise --value-bits"
        ))
    }

    /// Returns the builder with all pairs and the final number of bits per value.
    fn finish(self, arguments: &Arguments) -> Result<(FunctionBuilder<'static>, Order<'a>)> {
        if self.read == 0 {
            return Err(self.order.inputs.empty());
        }
        let bits = arguments.shape.value_bits.unwrap_or_else(|| bits_of(self.largest));
        Ok((self.builder.value_bits(bits), self.order))
    }
}

/// The number of bits that a value needs, at least one.
fn bits_of(value: u64) -> u32 {
    (u64::BITS - value.leading_zeros()).max(1)
}
