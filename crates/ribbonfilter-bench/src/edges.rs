//! What hashes that are not random cost a build, and what it costs to open a filter anew for
//! every query.

use crate::kernel;
use crate::random::Random;
use crate::times::least;
use ribbonfilter::{Filter, Variant};
use std::hint::black_box;

#[derive(clap::Args)]
pub struct Arguments {
    /// Number of keys
    #[arg(long, default_value_t = 1e6)]
    keys: f64,
    /// Times that each figure is taken, in turn; the least is shown
    #[arg(long, default_value_t = 5)]
    rounds: u32,
}

type Hashes = fn(usize) -> Vec<u64>;

/// Ordinary hashes first: the others are compared with them.
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
    println!("build, ns a key on one thread (and over that of random hashes)");
    for &variant in Variant::ALL {
        print!("{:<12}", variant.to_string());
        let times = least(arguments.rounds, &sets.each_ref().map(|(_, hashes)| hashes), |hashes| {
            black_box(build(variant, hashes));
        });
        for ((name, _), time) in sets.iter().zip(times) {
            print!("  {name} {:.1} ({:.2})", time / keys as f64, time / times[0]);
        }
        println!();
    }
    println!("query, ns: of a filter that is kept, of a view that is opened for it, in one step");
    for &variant in Variant::ALL {
        let filter = build(variant, &sets[0].1).with_kernel(kernel());
        let bytes = filter.as_bytes();
        let queries: Vec<u64> = Random::new(2).take(1 << 20).collect();
        let kept = || queries.iter().filter(|&&hash| filter.contains_hash(hash)).count();
        let anew = || {
            let opened = |hash| Filter::open(black_box(bytes)).map(|view| view.contains_hash(hash));
            queries.iter().filter(|&&hash| matches!(opened(hash), Ok(true))).count()
        };
        let once = || {
            let found = |hash| Filter::contains_hash_in(black_box(bytes), hash);
            queries.iter().filter(|&&hash| matches!(found(hash), Ok(true))).count()
        };
        let ways: [&dyn Fn() -> usize; 3] = [&kept, &anew, &once];
        let [kept, anew, once] = least(arguments.rounds, &ways, |way| {
            black_box(way());
        })
        .map(|time| time / queries.len() as f64);
        println!(
            "{:<12}  {kept:.1}  {anew:.1} (+ {:.1})  {once:.1} (+ {:.1})",
            variant.to_string(),
            anew - kept,
            once - kept,
        );
    }
}

fn build(variant: Variant, hashes: &[u64]) -> Filter {
    let mut builder = Filter::builder().variant(variant).columns(8.0).threads(1).kernel(kernel());
    builder.extend_hashes(hashes.iter().copied());
    builder.finish().expect("these hashes build")
}
