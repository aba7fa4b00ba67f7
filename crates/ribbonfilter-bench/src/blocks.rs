//! Measures lookups in an LSM engine: each lookup queries a filter block in place for one hash, as
//! in `examples/lsm_tree.rs`. The baseline is the Bloom filter of fjall's lsm-tree.

use crate::random::Random;
use lsm_tree::table::filter::standard_bloom::{Builder as BloomBuilder, StandardBloomFilterReader};
use ribbonfilter::{Filter, FilterBuilder, Variant, Width};
use std::hint::black_box;
use std::time::Instant;

#[derive(clap::Args)]
pub struct Arguments {
    /// Keys per table
    #[arg(long, default_value_t = 1e5)]
    keys: f64,
    /// Number of tables, queried in turn
    #[arg(long, default_value_t = 1)]
    tables: usize,
    /// Rounds over all filters; the minimum of each time is shown
    #[arg(long, default_value_t = 500)]
    rounds: u32,
}

/// Lookups per round: few enough that even on a busy machine some rounds are not interrupted.
const LOOKUPS: usize = 1 << 12;

type Build = fn(&[u64]) -> Vec<u8>;
type Query = fn(&[u8], u64) -> bool;

/// How blocks are built and queried. The engine's own filter comes first, as the baseline.
const KINDS: [(&str, Build, Query); 6] = [
    ("lsm-tree's Bloom, 10 bits", bloom, query_bloom),
    ("ribbon, 1 %", |hashes| ribbon(hashes, None, None), query_ribbon),
    ("Bumped, w = 64", |h| ribbon(h, Some(Variant::Bumped), Some(Width::W64)), query_ribbon),
    ("Standard, w = 64", |h| ribbon(h, Some(Variant::Standard), Some(Width::W64)), query_ribbon),
    ("Standard, w = 128", |h| ribbon(h, Some(Variant::Standard), Some(Width::W128)), query_ribbon),
    (
        "Homogeneous, w = 64",
        |h| ribbon(h, Some(Variant::Homogeneous), Some(Width::W64)),
        query_ribbon,
    ),
];

fn bloom(hashes: &[u64]) -> Vec<u8> {
    let mut builder = BloomBuilder::with_bpk(hashes.len(), 10.0);
    hashes.iter().for_each(|&hash| builder.set_with_hash(hash));
    builder.build()
}

fn query_bloom(block: &[u8], hash: u64) -> bool {
    StandardBloomFilterReader::new(block).is_ok_and(|reader| reader.contains_hash(hash))
}

fn ribbon(hashes: &[u64], variant: Option<Variant>, width: Option<Width>) -> Vec<u8> {
    let builder = Filter::builder().false_positive_rate(0.01).threads(1);
    let builder = variant.into_iter().fold(builder, FilterBuilder::variant);
    let mut builder = width.into_iter().fold(builder, FilterBuilder::width);
    builder.extend_hashes(hashes.iter().copied());
    builder.finish().expect("these hashes build").into_inner().to_vec()
}

fn query_ribbon(block: &[u8], hash: u64) -> bool {
    Filter::contains_hash_in(block, hash).unwrap_or(false)
}

/// The minimum times of one kind, in nanoseconds per lookup.
#[derive(Clone, Copy)]
struct MinTimes {
    absent: f64,
    present: f64,
    /// Every hash depends on the preceding result.
    chained: f64,
}

pub fn run(arguments: &Arguments) {
    let keys = arguments.keys as usize;
    let tables: Vec<Vec<u64>> =
        (0..arguments.tables as u64).map(|seed| Random::new(seed).take(keys).collect()).collect();
    let absent: Vec<u64> = Random::new(u64::MAX).take(LOOKUPS).collect();
    let blocks = KINDS.map(|(_, build, _)| tables.iter().map(|t| build(t)).collect::<Vec<_>>());
    let infinite = f64::INFINITY;
    let unknown = MinTimes { absent: infinite, present: infinite, chained: infinite };
    let mut times = KINDS.map(|_| unknown);
    for _ in 0..arguments.rounds {
        for (((_, _, query), blocks), times) in KINDS.iter().zip(&blocks).zip(&mut times) {
            note(&mut times.absent, || lookups(blocks, *query, |n, _| absent[n]));
            note(&mut times.present, || {
                lookups(blocks, *query, |n, table| tables[table][n * 7919 % keys])
            });
            note(&mut times.chained, || chained(blocks, *query, &absent));
        }
    }
    print(&blocks, &times, keys);
}

fn note(min: &mut f64, work: impl FnOnce() -> usize) {
    let begin = Instant::now();
    black_box(work());
    *min = min.min(begin.elapsed().as_secs_f64() * 1e9 / LOOKUPS as f64);
}

/// Looks up hashes, in each block in turn. Returns how many pass.
fn lookups(blocks: &[Vec<u8>], query: Query, hash: impl Fn(usize, usize) -> u64) -> usize {
    let table = |number| number % blocks.len();
    let passes =
        |&number: &usize| query(black_box(&blocks[table(number)]), hash(number, table(number)));
    (0..LOOKUPS).filter(passes).count()
}

fn chained(blocks: &[Vec<u8>], query: Query, hashes: &[u64]) -> usize {
    let next = |passed: usize, (number, hash): (usize, &u64)| {
        passed + usize::from(query(&blocks[number % blocks.len()], hash ^ (passed as u64) << 40))
    };
    hashes.iter().enumerate().fold(0, next)
}

fn print(blocks: &[Vec<Vec<u8>>], times: &[MinTimes], keys: usize) {
    println!("ns (ratio to lsm-tree); {keys} keys per table, {} tables", blocks[0].len());
    for (((name, _, _), blocks), time) in KINDS.iter().zip(blocks).zip(times) {
        let figure =
            |of: fn(&MinTimes) -> f64| format!("{:.1} ({:.2})", of(time), of(time) / of(&times[0]));
        println!(
            "{name:<26} bits {:.2}  absent {}  present {}  chained {}",
            blocks[0].len() as f64 * 8.0 / keys as f64,
            figure(|times| times.absent),
            figure(|times| times.present),
            figure(|times| times.chained),
        );
    }
}
