//! One fold and structured hashes, the words of the coefficients, large filters.

use crate::filter::{Band, Bumped, standard_shape};
use crate::patterns::{NAMES, pattern};
use crate::{Rng, list, mix, thresholds};
use ribbonfilter_next::internals::{mix as fold, position, word};

fn hashes(kind: usize, from: u64, n: u64, seed: u8) -> Vec<u64> {
    let mut all: Vec<u64> = (from..from + n).map(|i| fold(pattern(kind, i), seed)).collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// Slots of Standard systems at p = 0.9 for 100,000 and 300,000 keys, and the second layer's.
fn planned(n: u64, w: u64) -> u64 {
    let fraction = match (n, w) {
        (100_000, 2) => 0.066,
        (100_000, 3) => 0.0275,
        (_, 2) => 0.0775,
        _ => 0.0335,
    };
    n + (n as f64 * fraction) as u64
}

fn bumped(all: &[u64], n: u64) -> Result<Bumped<3>, &'static str> {
    let blocks = n as f64 / 64.0 / 1.025;
    let starts = blocks as u64 - 2 * (blocks as u64).div_ceil(4098);
    let max = n as f64 - blocks * 64.0 + n as f64 * 6e-4 + 120.0 + 0.2 * (n as f64).sqrt() * 2.5;
    let slots = max * 1.008 + 10.0;
    Bumped::build(all, starts, thresholds(3), n.ilog2() - 5, max as u64, slots as u64)
}

/// structured N SEEDS: dependent keys and seeds that fail, by pattern
pub fn structured(a: &[String]) {
    let (n, seeds) = (a[0].parse::<f64>().unwrap() as u64, a[1].parse::<u8>().unwrap());
    println!(
        "dependent keys per 10^5 at 1 % more slots (mean, largest of seeds); seeds that fail as planned"
    );
    for kind in 0..NAMES.len() {
        let (mut d2, mut d3, mut f) = (vec![], vec![], [0; 3]);
        let mut why = String::new();
        for seed in 0..seeds {
            let all = hashes(kind, 0, n, seed);
            let (starts, slots) = standard_shape(n + n / 100, 2);
            d2.push(Band::<2>::of(&all, starts, slots, word).dependent);
            let (starts, slots) = standard_shape(n + n / 100, 3);
            d3.push(Band::<3>::of(&all, starts, slots, word).dependent);
            let (starts, slots) = standard_shape(planned(n, 2), 2);
            f[0] += (Band::<2>::of(&all, starts, slots, word).contradictions > 0) as u32;
            let (starts, slots) = standard_shape(planned(n, 3), 3);
            f[1] += (Band::<3>::of(&all, starts, slots, word).contradictions > 0) as u32;
            if let Err(e) = bumped(&all, n) {
                f[2] += 1;
                why = format!("{why} {seed}: {e}");
            }
        }
        let scale = 1e5 / n as f64;
        let show = |d: &[u64]| {
            format!(
                "{:7.1} {:7.1}",
                d.iter().sum::<u64>() as f64 / d.len() as f64 * scale,
                *d.iter().max().unwrap() as f64 * scale
            )
        };
        println!(
            "{:22} W=2 {} W=3 {} | of {seeds} fail: W=2 {} W=3 {} Bumped {}{why}",
            NAMES[kind],
            show(&d2),
            show(&d3),
            f[0],
            f[1],
            f[2]
        );
    }
}

/// rates N ABSENT: the rate times 256 of the lowest seed that builds, absent keys continue the pattern
pub fn rates(a: &[String]) {
    let (n, absent) = (a[0].parse::<f64>().unwrap() as u64, a[1].parse::<f64>().unwrap() as u64);
    let error = (256.0 / absent as f64).sqrt();
    for kind in 0..NAMES.len() {
        print!("{:22}", NAMES[kind]);
        let mut worst = 0f64;
        // The patterns repeat after some numbers: no absent key may be a key.
        let keys: std::collections::HashSet<u64> = (0..n).map(|i| pattern(kind, i)).collect();
        let absent: Vec<u64> =
            (n..n + absent).map(|i| pattern(kind, i)).filter(|k| !keys.contains(k)).collect();
        let mut show = |name: &str, seed: u8, positive: usize| {
            let rate = positive as f64 / absent.len() as f64 * 256.0;
            worst = worst.max(((rate - 1.0) / error).abs());
            print!("  {name} seed {seed} {rate:.4} ({:+.1})", (rate - 1.0) / error);
        };
        fn plain<const W: usize>(kind: usize, n: u64) -> (u8, Band<W>) {
            let (starts, slots) = standard_shape(planned(n, W as u64), W as u64);
            (0..255)
                .map(|seed| (seed, Band::<W>::of(&hashes(kind, 0, n, seed), starts, slots, word)))
                .find(|(_, b)| b.contradictions == 0)
                .unwrap()
        }
        let (seed, band) = plain::<2>(kind, n);
        let z = band.solve(false);
        show("W=2", seed, absent.iter().filter(|k| band.matches(&z, fold(**k, seed))).count());
        let (seed, band) = plain::<3>(kind, n);
        let z = band.solve(false);
        show("W=3", seed, absent.iter().filter(|k| band.matches(&z, fold(**k, seed))).count());
        let (seed, filter) = (0..255)
            .find_map(|seed| Some((seed, bumped(&hashes(kind, 0, n, seed), n).ok()?)))
            .unwrap();
        assert!(keys.iter().all(|k| filter.matches(fold(*k, seed))));
        show("Bumped", seed, absent.iter().filter(|k| filter.matches(fold(**k, seed))).count());
        println!("  {} absent{}", absent.len(), if worst > 5.0 { "  <-- OFF" } else { "" });
    }
}

/// words: rank, and correlations of pairs of bits
pub fn words(_: &[String]) {
    let mut rng = Rng(5);
    // rank of 20,000 keys' 5 words
    let mut basis = vec![[0u64; 5]; 320];
    let mut rank = 0;
    for _ in 0..20_000 {
        let h = rng.next();
        let mut v: [u64; 5] = core::array::from_fn(|i| word(h, i));
        for bit in 0..320 {
            if v[bit / 64] >> (bit % 64) & 1 == 0 {
                continue;
            }
            if basis[bit] == [0; 5] {
                basis[bit] = v;
                rank += 1;
                break;
            }
            for j in 0..5 {
                v[j] ^= basis[bit][j];
            }
        }
    }
    println!("rank of five words: {rank} of 320");
    // Columns: 320 bits of words, 32 of the fingerprint, 12 of start and 16 of fraction for 10^6 starts,
    // each over 2^18 keys.
    for starts in [1000u64, 1 << 20, 1_000_003, 1 << 30] {
        const N: usize = 1 << 18;
        let mut columns = vec![vec![0u64; N / 64]; 320 + 32 + 32];
        for i in 0..N {
            let h = rng.next();
            let p = position(h, starts << 16);
            let all: [u64; 6] =
                core::array::from_fn(
                    |i| if i < 5 { word(h, i) } else { h & 0xffff_ffff | p << 32 },
                );
            for (bit, column) in columns.iter_mut().enumerate() {
                column[i / 64] |= (all[bit / 64] >> (bit % 64) & 1) << (i % 64);
            }
        }
        let (mut worst, mut above) = ([(0f64, 0, 0); 3], 0);
        let mut pairs = 0;
        for a in 0..columns.len() {
            for b in 0..a {
                let ones: u32 =
                    columns[a].iter().zip(&columns[b]).map(|(x, y)| (x ^ y).count_ones()).sum();
                let z = ((f64::from(ones) - N as f64 / 2.0) / (N as f64).sqrt() * 2.0).abs();
                let kind = usize::from(a >= 320) + usize::from(b >= 320);
                pairs += 1;
                above += u32::from(z > 5.0);
                if z > worst[kind].0 {
                    worst[kind] = (z, a, b);
                }
            }
        }
        println!(
            "{starts} starts: {pairs} pairs; largest correlation (deviations, bits) words {:?}, words with others {:?}, others {:?}; above 5: {above}",
            worst[0], worst[1], worst[2]
        );
    }
}

/// large STARTS_LOG,.. W,.. OVER%,..: dependent keys of a range of a filter with 2^k starts, against
/// independent words
pub fn large(a: &[String]) {
    for log in list::<u32>(&a[0]) {
        for w in list::<usize>(&a[1]) {
            for over in list::<f64>(&a[2]) {
                let row = |words: fn(u64, usize) -> u64| match w {
                    2 => range::<2>(log, over, words),
                    3 => range::<3>(log, over, words),
                    _ => range::<4>(log, over, words),
                };
                println!(
                    "2^{log} starts W={w} {over}% more slots: dependent of 1,200,000 {} independent words {}",
                    row(word),
                    row(|h, i| mix(h ^ mix(i as u64 + 9)))
                );
            }
        }
    }
}

/// 19,000 starts of a filter with 2^log starts, in segments of 4096 starts
fn range<const W: usize>(log: u32, over: f64, words: fn(u64, usize) -> u64) -> u64 {
    let starts = 19_000u64;
    let n = (starts as f64 * 64.0 / (1.0 + over / 100.0)) as u64;
    let mut rng = Rng(u64::from(log) * 3 + 1);
    let mut all: Vec<(u64, u64)> = (0..n)
        .map(|_| {
            let s = rng.below(starts);
            (s, (s + 12_345) << (64 - log) | rng.next() >> log)
        })
        .collect();
    all.sort_unstable();
    let mut band = Band::<W>::new(starts, 64 * (starts + 5 * W as u64));
    for (s, h) in all {
        let b = crate::filter::block(s, W as u64) as usize;
        band.insert(b, core::array::from_fn(|i| words(h, i)), h as u8);
    }
    band.dependent
}

/// A random structure: a progression, a sum of two or three, multiples of powers of two, addresses,
/// or bits of doubles, with random parameters.
fn family(id: u64, i: u64) -> u64 {
    let random = |j: u64| mix(mix(id * 7 + j) + j);
    let size = |j: u64| random(j) >> (random(j + 100) % 60);
    match id % 8 {
        0 => size(0).wrapping_add(i.wrapping_mul(size(1) | 1)),
        1 => i.wrapping_mul((size(1) | 1) << (random(2) % 40)),
        2 => (i / 512).wrapping_mul(size(0)).wrapping_add((i % 512).wrapping_mul(size(1) | 1)),
        3 => {
            (i / 64 % 64).wrapping_mul(size(0)).wrapping_add((i % 64).wrapping_mul(size(1)))
                ^ (i / 4096).wrapping_mul(size(2) | 1)
        }
        4 => (i % (2 + size(0) % 5000)) << (random(1) % 48) ^ i,
        5 => ((i * (1 + size(0) % 10_000)) as f64
            * [1.0, 0.1, 0.01, 1e6, 1e-9][(random(1) % 5) as usize])
            .to_bits(),
        6 => {
            i.wrapping_mul(10u64.pow((random(0) % 14) as u32)).rotate_left((random(1) % 64) as u32)
        }
        _ => (i * (1 + random(0) % 1000)).swap_bytes() ^ i >> (random(1) % 20),
    }
}

/// families N COUNT SEEDS RATES ABSENT: seeds that fail (W192, planned for 0.9, and Bumped) for random
/// structures; rates of the first RATES of them
pub fn families(a: &[String]) {
    let n = a[0].parse::<f64>().unwrap() as u64;
    let (count, seeds, rates) =
        (a[1].parse::<u64>().unwrap(), a[2].parse::<u8>().unwrap(), a[3].parse::<u64>().unwrap());
    let probes = a[4].parse::<f64>().unwrap() as u64;
    let (starts, slots) = standard_shape(planned(n, 3), 3);
    let (mut failed, mut histogram, mut dispersion, mut worst, mut measured) =
        ([0u64; 2], [[0; 65]; 2], 0.0, 0f64, 0);
    for id in 0..count {
        let (mut fails, mut first) = ([0, 0], None);
        let keys: std::collections::HashSet<u64> = (0..n).map(|i| family(id, i)).collect();
        if (keys.len() as u64) < n {
            continue;
        }
        for seed in 0..seeds {
            let mut all: Vec<u64> = keys.iter().map(|k| fold(*k, seed)).collect();
            all.sort_unstable();
            let band = Band::<3>::of(&all, starts, slots, word);
            if band.contradictions > 0 {
                fails[0] += 1;
            } else if first.is_none() {
                first = Some((seed, band));
            }
            fails[1] += usize::from(bumped(&all, n).is_err());
        }
        for (i, f) in fails.into_iter().enumerate() {
            failed[i] += f as u64;
            histogram[i][f] += 1;
        }
        if id < rates
            && let Some((seed, band)) = first
        {
            let z = band.solve(false);
            let absent: Vec<u64> =
                (n..n + probes).map(|i| family(id, i)).filter(|k| !keys.contains(k)).collect();
            let positive = absent.iter().filter(|k| band.matches(&z, fold(**k, seed))).count();
            let expected = absent.len() as f64 / 256.0;
            let deviations = (positive as f64 - expected) / expected.sqrt();
            dispersion += deviations * deviations;
            worst = worst.max(deviations.abs());
            measured += 1;
            if deviations.abs() > 4.0 {
                println!(
                    "family {id} (kind {}): seed {seed} rate * 256 {:.4} ({deviations:+.1})",
                    id % 8,
                    positive as f64 / expected
                );
            }
        }
    }
    for (name, i) in [("W192", 0), ("Bumped", 1)] {
        let all: u64 = histogram[i].iter().sum();
        println!(
            "{name}: {} of {} seeds failed; structures by failed seeds of {seeds}: {:?}",
            failed[i],
            all * u64::from(seeds),
            &histogram[i][..=seeds as usize]
        );
    }
    println!(
        "rates of {measured}: largest deviation {worst:.2}, mean square {:.3}",
        dispersion / measured as f64
    );
}
