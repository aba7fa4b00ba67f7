//! Every kernel of this machine returns the same results as the portable one, for any bytes.

use crate::{fitted, probes, random, sealed};
use ribbonfilter::{Filter, Function, Kernel, Shards};

/// Runs the target.
pub fn run(bytes: &[u8]) {
    let seed = bytes.iter().fold(0, |sum: u64, &byte| sum << 1 ^ u64::from(byte));
    let mut hashes = probes();
    hashes.extend((0..200).map(|index| random(seed & 0xff_ffff, index)));
    compare(&sealed(bytes), &hashes);
    if let Some(fitted) = fitted(bytes) {
        compare(&sealed(&fitted), &hashes);
    }
}

fn compare(bytes: &[u8], hashes: &[u64]) {
    let portable = answers(bytes, hashes, Kernel::by_name("portable").expect("always there"));
    for kernel in Kernel::available() {
        assert!(answers(bytes, hashes, kernel) == portable, "{}", kernel.name());
    }
}

/// The results of a filter, a function or a container, for single queries and for batches.
fn answers(bytes: &[u8], hashes: &[u64], kernel: Kernel) -> Vec<u64> {
    let mut answers = Vec::new();
    if let Ok(filter) = Filter::open(bytes).map(|filter| filter.with_kernel(kernel)) {
        answers.extend(filter.contains_hash_batch(hashes).into_iter().map(u64::from));
        answers.extend(hashes.iter().map(|&hash| u64::from(filter.contains_hash(hash))));
    }
    if let Ok(function) = Function::open(bytes).map(|function| function.with_kernel(kernel)) {
        answers.extend(function.get_hash_batch(hashes));
        answers.extend(hashes.iter().map(|&hash| function.get_hash(hash)));
    }
    if let Ok(shards) = Shards::open(bytes).map(|shards| shards.with_kernel(kernel)) {
        answers.extend(shards.contains_hash_batch(hashes).into_iter().map(u64::from));
        answers.extend(hashes.iter().map(|&hash| u64::from(shards.contains_hash(hash))));
    }
    answers
}
