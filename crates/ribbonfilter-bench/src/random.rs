//! Random 64-bit numbers for experiments, and trials on all cores.

use std::sync::atomic::{AtomicU64, Ordering};

/// `SplitMix64`: a counter and a mixing function.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// Creates the stream of a seed. Different seeds give different streams.
    pub fn new(seed: u64) -> Self {
        Self(mix(seed.wrapping_add(1)))
    }
}

impl Iterator for Random {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        Some(mix(self.0))
    }
}

/// The `index`-th number of a stream without duplicates.
pub fn distinct(index: u64) -> u64 {
    // Both steps are invertible, so different indices give different numbers.
    mix(index.wrapping_mul(0x9e37_79b9_7f4a_7c15))
}

fn mix(mut x: u64) -> u64 {
    x = (x ^ x >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ x >> 31
}

/// Runs `trials` trials on all cores, each with its own stream of random numbers.
///
/// The results do not depend on the number of cores.
pub fn trials<T: Send>(trials: u64, trial: impl Fn(Random) -> T + Sync) -> Vec<T> {
    let next = AtomicU64::new(0);
    let threads = std::thread::available_parallelism().map_or(1, Into::into);
    let mut results: Vec<(u64, T)> = std::thread::scope(|scope| {
        let worker = || {
            let mut mine = Vec::new();
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                if number >= trials {
                    return mine;
                }
                mine.push((number, trial(Random::new(number))));
            }
        };
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(worker)).collect();
        workers.into_iter().flat_map(|worker| worker.join().expect("no trial panics")).collect()
    });
    results.sort_unstable_by_key(|&(number, _)| number);
    results.into_iter().map(|(_, result)| result).collect()
}
