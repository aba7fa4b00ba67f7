//! Builds filters again and again, for a profiler or for large sets, and finds all keys:
//! `builds KEYS ROUNDS default|fast [THREADS]`.
use ribbonfilter_next::{Filter, Kernel};
use std::time::Instant;

fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let (n, rounds) = (args[0].parse::<f64>().unwrap() as u64, args[1].parse::<u64>().unwrap());
    let threads = args.get(3).map_or(1, |threads| threads.parse().unwrap());
    let name = std::env::var("RIBBONFILTER_KERNEL").unwrap_or(Kernel::best().name().into());
    let kernel = Kernel::by_name(&name).unwrap();
    let mut builder = Filter::builder().columns(8.0).kernel(kernel).threads(threads);
    if args[2] == "fast" {
        builder = builder.fast();
    }
    let (mut best, mut bits) = (f64::MAX, 0.0);
    for round in 0..rounds {
        let hash = |i| mix(i ^ round << 40);
        builder.extend_hashes((0..n).map(hash));
        let planned = builder.plan().unwrap().size_in_bytes();
        let clock = Instant::now();
        let filter = builder.finish_and_reset().unwrap().with_kernel(kernel);
        best = best.min(clock.elapsed().as_secs_f64() * 1e9 / n as f64);
        assert_eq!(planned, filter.size_in_bytes() as u64, "the planned size");
        for begin in (0..n).step_by(1 << 16) {
            let hashes: Vec<u64> = (begin..n.min(begin + (1 << 16))).map(hash).collect();
            assert!(filter.contains_hash_batch(&hashes).iter().all(|&hit| hit), "all keys found");
        }
        bits = filter.bits_per_key();
    }
    println!("{n} keys, {name}, {threads} threads: {best:.2} ns per key, {bits:.4} bits per key");
}
