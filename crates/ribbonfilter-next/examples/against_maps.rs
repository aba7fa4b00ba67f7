//! Maps of the new core beside those of the old one, in one process, alternating: bytes, and the time
//! of a single `get`, as ratios.
use std::hint::black_box;
use std::time::Instant;

fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Nanoseconds for each hash.
fn time(hashes: &[u64], get: impl Fn(u64) -> u64) -> f64 {
    let clock = Instant::now();
    black_box(hashes.iter().fold(0, |sum: u64, &hash| sum.wrapping_add(get(hash))));
    clock.elapsed().as_secs_f64() * 1e9 / hashes.len() as f64
}

fn main() {
    for n in [1_000, 10_000, 100_000, 1_000_000] {
        let hashes: Vec<u64> = (0..1 << 18).map(|i| mix(mix(i) % n)).collect();
        for bits in [1, 2, 4, 8, 12, 16, 32, 64] {
            let pairs = || (0..n).map(|i| (mix(i), mix(i ^ 77) >> (64 - bits)));
            let mut new = ribbonfilter_next::Function::builder().value_bits(bits);
            let mut old = ribbonfilter::Function::builder().value_bits(bits);
            new.extend_hashes(pairs());
            old.extend_hashes(pairs());
            let (new, old) = (new.finish().unwrap(), old.finish().unwrap());
            let mut times = [f64::MAX; 2];
            for _ in 0..6 {
                times[0] = times[0].min(time(&hashes, |hash| new.get_hash(hash)));
                times[1] = times[1].min(time(&hashes, |hash| old.get_hash(hash)));
            }
            let [ours, theirs] = times;
            let bytes = new.size_in_bytes() as f64 / old.size_in_bytes() as f64;
            println!(
                "{n} keys, {bits} bits: bytes {bytes:.4}, get {ours:.2} ns ({:.2})",
                ours / theirs
            );
        }
    }
}
