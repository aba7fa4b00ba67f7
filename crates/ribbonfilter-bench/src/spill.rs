//! Builds a large filter with little memory and the hashes on disk. Measures time and memory, and
//! checks the filter.

use crate::random::Random;
use crate::results::{Folder, Rows, Run, Running};
use crate::svg::keys_text;
use crate::table::{Cell, Table};
use ribbonfilter::{Filter, Plan, Variant, Width};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::path::PathBuf;
use std::time::Instant;

#[derive(clap::Args)]
pub struct Arguments {
    /// Number of keys
    #[arg(long, default_value_t = 1e7)]
    keys: f64,
    /// Maximum memory of the build, in bytes or such as 64MiB or 1GiB
    #[arg(long, default_value = "64MiB", value_parser = bytes)]
    memory: u64,
    /// The false-positive rate
    #[arg(long, default_value_t = 0.01)]
    fpr: f64,
    /// Number of threads; 0 for one per core
    #[arg(long, default_value_t = 0)]
    threads: usize,
    /// Only this variant [default: all variants]
    #[arg(long, value_parser = variant)]
    variant: Option<Variant>,
    /// Only this width [default: the planner's choice]
    #[arg(long, value_parser = width)]
    width: Option<Width>,
    /// Number of queries for present keys, and for absent keys
    #[arg(long, default_value_t = 1e7)]
    probes: f64,
    /// The directory for the hashes
    #[arg(long, default_value = "/var/tmp")]
    directory: PathBuf,
    #[command(flatten)]
    folder: Folder,
}

/// What was measured of one build.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Spilled {
    variant: String,
    width: String,
    keys: u64,
    bytes: u64,
    /// Seconds until all keys were pushed, and until the filter was built.
    pushed: f64,
    seconds: f64,
    peak_memory: u64,
    planned_memory: u64,
    queried: u64,
    missing: u64,
    rate: f64,
    planned_rate: f64,
}

/// Exits with status 1 if a key is missing, the rate is wrong or the memory limit is exceeded.
pub fn run(arguments: &Arguments) -> Result<(), String> {
    let running = Running::begin("spill");
    println!(
        "{} keys, rate {}, {} bytes of memory allowed, hashes in {}",
        arguments.keys,
        arguments.fpr,
        arguments.memory,
        arguments.directory.display()
    );
    let variants = match arguments.variant {
        Some(variant) => vec![variant],
        None => Variant::ALL.to_vec(),
    };
    let mut all_correct = true;
    let mut measured = Vec::new();
    for variant in variants {
        match build(variant, arguments) {
            Ok(spilled) => {
                println!("{spilled}");
                all_correct &= spilled.is_correct(arguments.memory);
                measured.push(spilled);
            }
            Err(error) => {
                println!("{variant}: {error}");
                all_correct = false;
            }
        }
    }
    let folder = arguments.folder.begin(&["spill"])?;
    let is_same =
        |one: &Spilled, other: &Spilled| (&one.variant, one.keys) == (&other.variant, other.keys);
    Rows::<Spilled>::open(&folder, "spill")?.replace(measured, is_same)?;
    running.end(&folder)?;
    if !all_correct {
        std::process::exit(1);
    }
    Ok(())
}

fn build(variant: Variant, arguments: &Arguments) -> Result<Spilled, String> {
    let keys = arguments.keys as u64;
    let mut builder = Filter::builder()
        .variant(variant)
        .false_positive_rate(arguments.fpr)
        .threads(arguments.threads)
        .max_memory(arguments.memory)
        .spill_to(&arguments.directory);
    if let Some(width) = arguments.width {
        builder = builder.width(width);
    }
    let initial = reset_peak();
    let start = Instant::now();
    builder.extend_hashes(Random::new(1).take(keys as usize));
    let pushed = start.elapsed().as_secs_f64();
    let built = builder.plan().and_then(|plan| Ok((plan, builder.finish()?)));
    let seconds = start.elapsed().as_secs_f64();
    let peak_memory = resident("VmHWM").saturating_sub(initial);
    let (plan, filter) = built.map_err(|error| error.to_string())?;
    let queries = queries(&filter, keys, arguments.probes as u64);
    Ok(Spilled { pushed, seconds, peak_memory, ..Spilled::new(&plan, &filter, queries) })
}

/// Queries that were made: for keys, of which none should be missing, and the measured rate.
struct Queries {
    queried: u64,
    missing: u64,
    rate: f64,
}

fn queries(filter: &Filter, keys: u64, probes: u64) -> Queries {
    let step = (keys / probes).max(1) as usize;
    let present = Random::new(1).take(keys as usize).step_by(step);
    let missing = present.filter(|&hash| !filter.contains_hash(hash)).count() as u64;
    let found = Random::new(2).take(probes as usize).filter(|&hash| filter.contains_hash(hash));
    let rate = found.count() as f64 / probes as f64;
    Queries { queried: keys.div_ceil(step as u64), missing, rate }
}

impl Spilled {
    fn new(plan: &Plan, filter: &Filter, Queries { queried, missing, rate }: Queries) -> Self {
        Self {
            variant: filter.variant().to_string(),
            width: filter.width().to_string(),
            keys: filter.len(),
            bytes: filter.size_in_bytes() as u64,
            pushed: 0.0,
            seconds: 0.0,
            peak_memory: 0,
            planned_memory: plan.peak_memory(),
            queried,
            missing,
            rate,
            planned_rate: plan.expected_rate(),
        }
    }

    fn is_correct(&self, memory: u64) -> bool {
        // Five standard deviations of the measured rate.
        let tolerance = 5.0 * (self.planned_rate / self.queried as f64).sqrt();
        self.missing == 0
            && self.rate <= self.planned_rate + tolerance
            && self.peak_memory <= memory
    }

    fn bits_per_key(&self) -> f64 {
        self.bytes as f64 * 8.0 / self.keys as f64
    }

    fn nanoseconds(&self) -> f64 {
        self.seconds * 1e9 / self.keys as f64
    }
}

impl fmt::Display for Spilled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { variant, width, bytes, pushed, seconds, .. } = self;
        writeln!(
            f,
            "{variant} w = {width}: {bytes} bytes, {:.3} bits per key; {pushed:.1} s to push, \
             {seconds:.1} s in total, {:.0} ns per key",
            self.bits_per_key(),
            self.nanoseconds(),
        )?;
        write!(
            f,
            "    resident set at most {:.1} MB, planned {:.1} MB; {} of {} keys missing; rate \
             {:.6}, planned {:.6}",
            self.peak_memory as f64 / 1e6,
            self.planned_memory as f64 / 1e6,
            self.missing,
            self.queried,
            self.rate,
            self.planned_rate,
        )
    }
}

/// How these filters were built and queried. Without `--threads`, a build takes one per core.
pub fn sentences(rows: &[Spilled], runs: &[Run]) -> Vec<String> {
    let run = runs.iter().rev().find(|run| run.rows == "spill");
    let threads = match run {
        Some(run) if !run.command.contains("--threads") => {
            format!("{} threads; ", run.machine.cores)
        }
        _ => String::new(),
    };
    let sentence = |row: &Spilled| {
        let (hashes, queried) = (row.keys as f64 * 8e-9, keys_text(row.queried));
        format!(
            "{}, {:.0e} keys: {threads}{hashes:.0} GB of hashes on disk. {queried} keys and {queried} \
             absent keys were queried.",
            row.variant, row.keys as f64
        )
    };
    rows.iter().map(sentence).collect()
}

/// The table of the report.
pub fn table(rows: &[Spilled]) -> Table {
    let line = |row: &Spilled| {
        vec![
            Cell::text(format!("{} w={}, {:.0e} keys", row.variant, row.width, row.keys as f64)),
            Cell::number(row.bits_per_key(), 3),
            Cell::number(row.seconds, 0),
            Cell::number(row.nanoseconds(), 0),
            Cell::number(row.peak_memory as f64 / 1e9, 2),
            Cell::number(row.planned_memory as f64 / 1e9, 2),
            Cell::text(format!("{} of {}", row.missing, row.queried)),
            Cell::number(row.rate, 6),
            Cell::number(row.planned_rate, 6),
        ]
    };
    Table {
        title: "Builds with the hashes on disk".into(),
        note: "Keys are pushed one after the other; the time includes that. The hashes \
               take 8 bytes per key on disk. Memory in GB."
            .into(),
        columns: vec![
            "filter",
            "bits per key",
            "seconds",
            "ns per key",
            "memory",
            "planned",
            "keys missing",
            "rate",
            "planned",
        ],
        rows: rows.iter().map(line).collect(),
    }
}

/// Resets the peak of the resident set, where the system allows it. Returns the current size.
pub fn reset_peak() -> u64 {
    let _ = std::fs::write("/proc/self/clear_refs", "5");
    resident("VmRSS")
}

/// A field of `/proc/self/status` in bytes, or 0 if it does not exist.
pub fn resident(field: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with(field));
    let kilobytes = line.and_then(|line| line.split_whitespace().nth(1)?.parse::<u64>().ok());
    kilobytes.unwrap_or(0) * 1024
}

fn bytes(text: &str) -> Result<u64, String> {
    let (number, unit) = match text.split_at(text.find(char::is_alphabetic).unwrap_or(text.len())) {
        (number, "") => (number, 0),
        (number, "KiB") => (number, 10),
        (number, "MiB") => (number, 20),
        (number, "GiB") => (number, 30),
        _ => return Err("write bytes as 4096, 64MiB or 1GiB".into()),
    };
    let number = number.parse::<u64>().map_err(|error| error.to_string())?;
    number.checked_shl(unit).ok_or_else(|| "too many bytes".into())
}

pub fn variant(text: &str) -> Result<Variant, String> {
    let same = |variant: &&Variant| variant.to_string().eq_ignore_ascii_case(text);
    Variant::ALL.iter().find(same).copied().ok_or_else(|| "no such variant".into())
}

fn width(text: &str) -> Result<Width, String> {
    let same = |width: &Width| width.to_string() == text;
    Width::ALL.into_iter().find(same).ok_or_else(|| "write 32, 64 or 128".into())
}
