//! Measures builds and batched queries in nanoseconds per key, on one thread. The benchmark of the
//! Python package (`crates/ribbonfilter-python/bench`) uses this as its baseline.

use ribbonfilter::{BuildError, Filter, Key};
use std::time::Instant;

fn main() -> Result<(), BuildError> {
    let keys = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(1_000_000);
    // Multiplication by an odd number permutes the 64-bit numbers, so all keys are distinct.
    let numbers: Vec<u64> = (0..keys).map(|n: u64| n.wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect();
    measure("u64", &numbers)?;
    let strings: Vec<String> = (0..keys).map(|n| format!("{n:016}")).collect();
    measure("str", &strings)
}

fn measure<K: Key>(name: &str, keys: &[K]) -> Result<(), BuildError> {
    let start = Instant::now();
    let mut builder = Filter::builder().threads(1);
    builder.extend(keys);
    let filter = builder.finish()?;
    print("build", name, start, keys.len());
    let start = Instant::now();
    let hits = filter.contains_batch(keys);
    print("query", name, start, keys.len());
    assert!(hits.iter().all(|&hit| hit));
    Ok(())
}

fn print(what: &str, name: &str, start: Instant, keys: usize) {
    println!("{what}_{name} {:.2}", start.elapsed().as_secs_f64() * 1e9 / keys as f64);
}
