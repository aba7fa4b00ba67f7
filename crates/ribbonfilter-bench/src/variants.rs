//! Every variant and width on one set of random keys: size, rate, build and query times.

use crate::random::Random;
use ribbonfilter::{Filter, Variant, Width};
use std::hint::black_box;
use std::time::Instant;

#[derive(clap::Args)]
pub struct Arguments {
    /// Number of keys
    #[arg(long, default_value_t = 1e6)]
    keys: f64,
    /// Columns; the rate is about 2^-COLUMNS
    #[arg(long, default_value_t = 8.0)]
    columns: f64,
    /// Number of measurements; the minimum of each time is shown
    #[arg(long, default_value_t = 5)]
    rounds: u32,
}

/// Queries per measurement.
const QUERIES: usize = 1 << 21;

pub fn run(arguments: &Arguments) {
    let present: Vec<u64> = Random::new(1).take(arguments.keys as usize).collect();
    let absent: Vec<u64> = Random::new(2).take(QUERIES).collect();
    println!(
        "{} keys, {} columns; overhead: all stored bits, at the filter's own exact rate",
        present.len(),
        arguments.columns
    );
    println!(
        "{:<12} {:>4}  {:>11}  {:>8}  {:>10}  {:>8}  {:>10}  {:>9}  {:>9}",
        "variant", "w", "bytes", "bits/key", "rate", "overhead", "build", "absent", "present"
    );
    for &variant in Variant::ALL {
        for width in Width::ALL {
            print_line(variant, width, &present, &absent, arguments);
        }
    }
}

fn print_line(
    variant: Variant,
    width: Width,
    present: &[u64],
    absent: &[u64],
    arguments: &Arguments,
) {
    let build = || {
        let mut builder =
            Filter::builder().variant(variant).width(width).columns(arguments.columns);
        present.iter().for_each(|&hash| builder.push_hash(hash));
        builder.finish()
    };
    let Ok(filter) = build() else {
        return;
    };
    let queries: Vec<u64> = present.iter().copied().cycle().take(QUERIES).collect();
    let per_key = |keys: usize, work: &dyn Fn()| {
        let times = (0..arguments.rounds).map(|_| {
            let start = Instant::now();
            work();
            start.elapsed().as_secs_f64() * 1e9 / keys as f64
        });
        times.fold(f64::INFINITY, f64::min)
    };
    let query = |hashes: &[u64]| {
        let found = hashes.iter().filter(|&&hash| filter.contains_hash(hash)).count();
        black_box(found);
    };
    println!(
        "{:<12} {:>4}  {:>11}  {:>8.3}  {:>10.3e}  {:>6.2} %  {:>7.1} ns  {:>6.2} ns  {:>6.2} ns",
        variant.to_string(),
        width.to_string(),
        filter.size_in_bytes(),
        filter.bits_per_key(),
        filter.expected_rate(),
        (filter.bits_per_key() / -filter.expected_rate().log2() - 1.0) * 100.0,
        per_key(present.len(), &|| {
            black_box(build().expect("the first build succeeded"));
        }),
        per_key(QUERIES, &|| query(absent)),
        per_key(QUERIES, &|| query(&queries)),
    );
}
