//! Measures builds from hashes that are not random, and queries that open the filter each time.

use crate::kernel;
use crate::random::Random;
use crate::times::min_times;
use ribbonfilter::{Filter, Variant};
use std::hint::black_box;

#[derive(clap::Args)]
pub struct Arguments {
    /// Number of keys
    #[arg(long, default_value_t = 1e6)]
    keys: f64,
    /// Rounds over all measurements; the minimum of each time is shown
    #[arg(long, default_value_t = 5)]
    rounds: u32,
}

type Hashes = fn(usize) -> Vec<u64>;

/// Random hashes come first, as the baseline.
const KINDS: [(&str, Hashes); 5] = [
    ("random", |keys| Random::new(1).take(keys).collect()),
    ("sorted", |keys| {
        let mut hashes: Vec<u64> = Random::new(1).take(keys).collect();
        hashes.sort_unstable();
        hashes
    }),
    ("top 20 bits equal", |keys| Random::new(1).take(keys).map(|hash| hash >> 20).collect()),
    ("0, 1, 2, …", |keys| (0..keys as u64).collect()),
    ("all equal", |keys| vec![7; keys]),
];

pub fn run(arguments: &Arguments) {
    let keys = arguments.keys as usize;
    let sets = KINDS.map(|(name, hashes)| (name, hashes(keys)));
    println!("build, ns per key on one thread (ratio to random hashes)");
    for &variant in Variant::ALL {
        print!("{:<12}", variant.to_string());
        let hashes = sets.each_ref().map(|(_, hashes)| hashes);
        let times = min_times(arguments.rounds, &hashes, |hashes| {
            black_box(build(variant, hashes));
        });
        for ((name, _), time) in sets.iter().zip(times) {
            print!("  {name} {:.1} ({:.2})", time / keys as f64, time / times[0]);
        }
        println!();
    }
    println!("query, ns: of an open filter, with opening, with `contains_hash_in`");
    for &variant in Variant::ALL {
        let filter = build(variant, &sets[0].1).with_kernel(kernel());
        let bytes = filter.as_bytes();
        let queries: Vec<u64> = Random::new(2).take(1 << 20).collect();
        let open = || queries.iter().filter(|&&hash| filter.contains_hash(hash)).count();
        let opening = || {
            let opened = |hash| Filter::open(black_box(bytes)).map(|view| view.contains_hash(hash));
            queries.iter().filter(|&&hash| matches!(opened(hash), Ok(true))).count()
        };
        let one_step = || {
            let found = |hash| Filter::contains_hash_in(black_box(bytes), hash);
            queries.iter().filter(|&&hash| matches!(found(hash), Ok(true))).count()
        };
        let ways: [&dyn Fn() -> usize; 3] = [&open, &opening, &one_step];
        let [open, opening, one_step] = min_times(arguments.rounds, &ways, |way| {
            black_box(way());
        })
        .map(|time| time / queries.len() as f64);
        println!(
            "{:<12}  {open:.1}  {opening:.1} (+ {:.1})  {one_step:.1} (+ {:.1})",
            variant.to_string(),
            opening - open,
            one_step - open,
        );
    }
}

fn build(variant: Variant, hashes: &[u64]) -> Filter {
    let mut builder = Filter::builder().variant(variant).columns(8.0).threads(1).kernel(kernel());
    builder.extend_hashes(hashes.iter().copied());
    builder.finish().expect("these hashes build")
}
