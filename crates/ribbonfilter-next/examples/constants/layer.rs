//! The first layer of a Bumped filter, by counts of keys: codes, bumped keys, and the expected
//! number of contradictions by the exact chain of free slots.

use crate::Rng;

pub const SEGMENT: u64 = 4096;

/// Inserts `x` random equations that start at the block of `free[0]`; `free` are the free slots of
/// the blocks that they cover. Returns the number of dependent ones.
///
/// A fresh equation, reduced by all earlier ones, is uniform over the free slots of its blocks. Its
/// pivot lies in the first block except with probability 2^-free, and so on. So the numbers of free
/// slots are an exact Markov chain, and nothing has to be eliminated.
pub fn insert(free: &mut [u32], mut x: u32, rng: &mut Rng) -> u32 {
    const SURE: u32 = 24;
    let w = free.len();
    let mut dependent = 0;
    while x > 0 {
        let mut i = 0;
        while i < w && free[i] == 0 {
            i += 1;
        }
        if i == w {
            return dependent + x;
        }
        if free[i] > SURE {
            let k = x.min(free[i] - SURE);
            free[i] -= k;
            x -= k;
            continue;
        }
        x -= 1;
        loop {
            if i == w {
                dependent += 1;
                break;
            }
            let f = free[i];
            if f > SURE || (f > 0 && rng.next() & ((1 << f) - 1) != 0) {
                free[i] -= 1;
                break;
            }
            i += 1;
        }
    }
    dependent
}

/// Bumped keys, fraction of absent keys that are bumped, expected contradictions (if `rng`).
pub fn layer(
    w: usize,
    starts: u64,
    thresholds: &[u32; 4],
    spare: u32,
    sorted: &[u64],
    rng: Option<&mut Rng>,
    code: &mut dyn FnMut(u8),
) -> (u64, f64, f64) {
    let leak: u32 = std::env::var("LEAK").map_or(0, |v| v.parse().unwrap());
    let cap = 16 * (64 * w as u32 - spare);
    let span = starts << 16;
    let (mut bumped, mut absent, mut bad) = (0u64, 0u64, 0f64);
    let (mut k, mut free, mut q) = (0, vec![64u32; w], 0u32);
    let mut unused = Rng(1);
    let (exact, rng) = match rng {
        Some(rng) => (true, rng),
        None => (false, &mut unused),
    };
    let mut bucket: Vec<u32> = vec![];
    for b in 0..starts.div_ceil(8) {
        if (b * 8).is_multiple_of(SEGMENT) {
            q = 0;
            free.fill(64);
        }
        let n = (starts - b * 8).min(8) as usize;
        bucket.clear();
        while k < sorted.len() {
            let p = (sorted[k] as u128 * span as u128 >> 64) as u64;
            if p >> 19 != b {
                break;
            }
            bucket.push(p as u32 & 0x7_ffff);
            k += 1;
        }
        for c in 0..4 {
            let (mut x, mut kept) = ([0u32; 8], 0);
            for p in bucket.iter().rev().take_while(|p| **p >= thresholds[c]) {
                x[(p >> 16) as usize] += 1;
                kept += 1;
            }
            let (mut v, mut ok) = (q, true);
            for y in &x[..n] {
                ok &= v + 16 * y <= cap;
                v = (v + 16 * y).saturating_sub(1024 - leak);
            }
            if !ok && c < 3 {
                continue;
            }
            q = v;
            code(c as u8);
            bumped += bucket.len() as u64 - kept;
            absent += u64::from(thresholds[c]).min((n as u64) << 16);
            for y in x[..n].iter().take(if exact { n } else { 0 }) {
                let mut y = *y;
                while y > 0 {
                    let all: u32 = free.iter().sum();
                    let sure = all.saturating_sub(60).min(y);
                    if sure > 0 {
                        insert(&mut free, sure, rng);
                        y -= sure;
                    } else {
                        bad += 0.5f64.powi(all as i32);
                        insert(&mut free, 1, rng);
                        y -= 1;
                    }
                }
                free.copy_within(1.., 0);
                free[w - 1] = 64;
            }
            break;
        }
    }
    (bumped, absent as f64 / span as f64, bad)
}
