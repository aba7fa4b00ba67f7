//! Builds a large filter with little memory and the hashes on disk. Measures time and memory, and
//! checks the filter.

use crate::random::Random;
use ribbonfilter::{Filter, Variant, Width};
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
}

/// Exits with status 1 if a key is missing, the rate is wrong or the memory limit is exceeded.
pub fn run(arguments: &Arguments) {
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
    let correct = variants.into_iter().map(|variant| build_and_check(variant, arguments));
    if correct.filter(|correct| !correct).count() > 0 {
        std::process::exit(1);
    }
}

fn build_and_check(variant: Variant, arguments: &Arguments) -> bool {
    let (keys, probes) = (arguments.keys as u64, arguments.probes as u64);
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
    let peak = resident("VmHWM").saturating_sub(initial);
    let (plan, filter) = match built {
        Ok(built) => built,
        Err(error) => {
            println!("{variant}: {error}");
            return false;
        }
    };
    let step = (keys / probes).max(1) as usize;
    let present = Random::new(1).take(keys as usize).step_by(step);
    let missing = present.filter(|&hash| !filter.contains_hash(hash)).count();
    let found = Random::new(2).take(probes as usize).filter(|&hash| filter.contains_hash(hash));
    let rate = found.count() as f64 / probes as f64;
    println!(
        "{variant} w = {}: {} bytes, {:.3} bits per key; {pushed:.1} s to push, {seconds:.1} s in \
         total, {:.0} ns per key",
        filter.width(),
        filter.size_in_bytes(),
        filter.bits_per_key(),
        seconds * 1e9 / keys as f64,
    );
    println!(
        "    resident set at most {:.1} MB, planned {:.1} MB; {missing} of {} keys missing; rate \
         {rate:.6}, planned {:.6}",
        peak as f64 / 1e6,
        plan.peak_memory() as f64 / 1e6,
        keys.div_ceil(step as u64),
        plan.expected_rate(),
    );
    // Five standard deviations of the measured rate.
    let tolerance = 5.0 * (plan.expected_rate() / probes as f64).sqrt();
    missing == 0 && rate <= plan.expected_rate() + tolerance && peak <= arguments.memory
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
