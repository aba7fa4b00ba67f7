//! The time of a batch of hashes in native code, to compare WebAssembly with: `native FILTER HASHES [KERNEL]`
//! prints nanoseconds per key, the best of several rounds. `bench/compare.mjs` writes the files and runs it.

use ribbonfilter::{Filter, Kernel};
use std::time::Instant;
use std::{env, error, fs};

const ROUNDS: usize = 5;

fn main() -> Result<(), Box<dyn error::Error>> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [filter, hashes, kernel @ ..] = arguments.as_slice() else {
        return Err("usage: native FILTER HASHES [KERNEL]".into());
    };
    let name = kernel.first().map_or("portable", String::as_str);
    let kernel = Kernel::by_name(name).ok_or("this CPU has no such kernel")?;
    let filter = Filter::open(fs::read(filter)?)?.with_kernel(kernel);
    let bytes = fs::read(hashes)?;
    let (hashes, _) = bytes.as_chunks();
    let hashes: Vec<u64> = hashes.iter().map(|&hash| u64::from_le_bytes(hash)).collect();
    let mut hits = vec![false; hashes.len()];
    let mut best = f64::INFINITY;
    for _ in 0..ROUNDS {
        let begin = Instant::now();
        filter.contains_hash_batch_into(&hashes, &mut hits);
        best = best.min(begin.elapsed().as_secs_f64());
    }
    println!("{}", best * 1e9 / hashes.len() as f64);
    Ok(())
}
