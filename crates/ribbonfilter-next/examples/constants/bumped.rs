//! First layers of Bumped filters: empty slots, deviation, thresholds.

use crate::filter::Band;
use crate::layer::{SEGMENT, layer};
use crate::{Rng, list, mix, sorted, thresholds};
use ribbonfilter_next::internals::{FOOTER, plan_bumped, position, word};

struct Outcome {
    slots: u64,
    segments: u64,
    buckets: u64,
    /// of the bumped keys
    mean: f64,
    sd: f64,
    /// quantiles 0.5, 0.9, 0.97, 0.99
    quantiles: [f64; 4],
    absent: f64,
    contradictions: f64,
    codes: [f64; 4],
}

fn run(
    w: u64,
    n: usize,
    load: f64,
    t: &[u32; 4],
    spare: u32,
    trials: usize,
    exact: bool,
) -> Outcome {
    let blocks = (n as f64 / load) as u64 / 64;
    let (full, rest) = (blocks / (SEGMENT + w - 1), blocks % (SEGMENT + w - 1));
    let starts = (full * SEGMENT + rest.saturating_sub(w - 1)).max(1);
    let segments = starts.div_ceil(SEGMENT);
    let slots = 64 * (starts + segments * (w - 1));
    let (mut rng, mut chain) = (Rng(n as u64), Rng(7));
    let (mut all, mut absent, mut contradictions) = (vec![], 0.0, 0.0);
    let mut codes = [0f64; 4];
    for _ in 0..trials {
        let keys = sorted(n, &mut rng);
        let chain = if exact { Some(&mut chain) } else { None };
        let (b, a, c) = layer(w as usize, starts, t, spare, &keys, chain, &mut |code| {
            codes[code as usize] += 1.0
        });
        all.push(b as f64);
        absent += a / trials as f64;
        contradictions += c / trials as f64;
    }
    let mean = all.iter().sum::<f64>() / trials as f64;
    let sd = (all.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / trials as f64).sqrt();
    all.sort_by(f64::total_cmp);
    let quantiles =
        [0.5, 0.9, 0.97, 0.99].map(|p| all[((p * trials as f64) as usize).min(trials - 1)]);
    let buckets = starts.div_ceil(8);
    let codes = codes.map(|c| c / (buckets as f64 * trials as f64));
    Outcome { slots, segments, buckets, mean, sd, quantiles, absent, contradictions, codes }
}

/// bumped N,.. W LOAD,.. SPARE,.. KEYS_IN_ALL (spare 0: log2(n) - 5)
pub fn measure(a: &[String]) {
    let w: u64 = a[1].parse().unwrap();
    for n in list::<f64>(&a[0]) {
        for load in list::<f64>(&a[2]) {
            for spare in list::<u32>(&a[3]) {
                let spare = if spare == 0 { (n as u64).ilog2() - 5 } else { spare };
                let trials = ((a[4].parse::<f64>().unwrap() / n) as usize).clamp(12, 4000);
                let o = run(w, n as usize, load, &thresholds(w as usize), spare, trials, true);
                let surplus = n - o.slots as f64;
                let [q50, q90, q97, q99] = o.quantiles.map(|q| q - o.mean);
                println!(
                    "n={n:e} W={w} load {load} spare {spare}: {} segments, empty {:.1} ({:.1} per segment, {:.4} %), deviation {:.1} ({:.3} sqrt n), quantiles {q50:+.0} {q90:+.0} {q97:+.0} {q99:+.0}; bumped {:.3} %, of absent {:.3} %; codes {:.5?}; contradictions {:.1e} per bucket, {:.4} in all",
                    o.segments,
                    o.mean - surplus,
                    (o.mean - surplus) / o.segments as f64,
                    (o.mean - surplus) / n * 100.0,
                    o.sd,
                    o.sd / n.sqrt(),
                    o.mean / n * 100.0,
                    o.absent * 100.0,
                    o.codes,
                    o.contradictions / o.buckets as f64,
                    o.contradictions,
                );
            }
        }
    }
}

/// thresholds N W LOAD,.. SPARE TRIALS: the best two by coordinate descent
pub fn search(a: &[String]) {
    let (n, w) = (a[0].parse::<f64>().unwrap(), a[1].parse::<u64>().unwrap());
    let (spare, trials) = (a[3].parse::<u32>().unwrap(), a[4].parse::<usize>().unwrap());
    let of = |t: &[f64; 2]| [0, (t[0] * 65536.0) as u32, (t[1] * 65536.0) as u32, 1 << 19];
    for load in list::<f64>(&a[2]) {
        let cost = |t: &[f64; 2]| run(w, n as usize, load, &of(t), spare, trials, false).mean;
        let (mut best, mut step) = ([0.5, 1.3], 0.3);
        let mut lowest = cost(&best);
        while step > 0.03 {
            let mut better = false;
            for i in 0..2 {
                for f in [1.0 + step, 1.0 / (1.0 + step)] {
                    let mut t = best;
                    t[i] *= f;
                    if t[0] < t[1] && t[1] < 8.0 && cost(&t) < lowest {
                        (lowest, best, better) = (cost(&t), t, true);
                    }
                }
            }
            if !better {
                step /= 2.0;
            }
        }
        let o = run(w, n as usize, load, &of(&best), spare, trials * 2, true);
        println!(
            "W={w} load {load} spare {spare}: thresholds {best:.3?}, empty {:.4} %, bumped {:.3} %, codes {:.5?}",
            (o.mean - n + o.slots as f64) / n * 100.0,
            o.mean / n * 100.0,
            o.codes
        );
    }
}

/// planned W,.. N,.. KEYS_IN_ALL: how often the planned second layer suffices, and the planned size
pub fn planned(a: &[String]) {
    for w in list::<usize>(&a[0]) {
        for n in list::<f64>(&a[1]) {
            let plan = plan_bumped(n as u64, w);
            let trials = ((a[2].parse::<f64>().unwrap() / n) as usize).clamp(12, 4000);
            if n > 5e7 {
                let overhead = (plan.size_in_bytes - FOOTER) as f64 / n - 1.0;
                println!(
                    "W={w} n={n:e}: overhead at 8 columns {:+.4} %, not simulated",
                    overhead * 100.0
                );
                continue;
            }
            let mut rng = Rng(n as u64 * 3 + 1);
            let mut bumped: Vec<u64> = (0..trials)
                .map(|_| {
                    layer(
                        w,
                        plan.starts,
                        &thresholds(w),
                        plan.spare,
                        &sorted(n as usize, &mut rng),
                        None,
                        &mut |_| (),
                    )
                    .0
                })
                .collect();
            bumped.sort_unstable();
            let works = bumped.partition_point(|b| *b <= plan.bumped) as f64 / trials as f64;
            let mean = bumped.iter().sum::<u64>() as f64 / trials as f64;
            println!(
                "W={w} n={n}: overhead at 8 columns {:+.4} % (slots {:+.4} %); planned bumped {} ({:.3} %), mean {mean:.0}, margin {:.0}, works {works:.3} of {trials}; second layer {} slots",
                ((plan.size_in_bytes - FOOTER) as f64 / n - 1.0) * 100.0,
                ((plan.slots + plan.second_slots) as f64 / n - 1.0) * 100.0,
                plan.bumped,
                plan.bumped as f64 / n * 100.0,
                plan.bumped as f64 - mean,
                plan.second_slots,
            );
        }
    }
}

/// check N W LOAD SPARE,.. SETS: contradictions expected by the chain and met by elimination
pub fn check(a: &[String]) {
    let (n, load) = (a[0].parse::<f64>().unwrap() as usize, a[2].parse::<f64>().unwrap());
    for spare in list::<u32>(&a[3]) {
        let sets = a[4].parse::<u64>().unwrap();
        match a[1].as_str() {
            "2" => eliminate::<2>(n, load, spare, sets),
            "3" => eliminate::<3>(n, load, spare, sets),
            _ => eliminate::<4>(n, load, spare, sets),
        }
    }
}

fn eliminate<const W: usize>(n: usize, load: f64, spare: u32, sets: u64) {
    let (w, t) = (W as u64, thresholds(W));
    let blocks = (n as f64 / load) as u64 / 64;
    let starts = blocks - (w - 1) * blocks.div_ceil(SEGMENT + w - 1);
    let slots = 64 * (starts + starts.div_ceil(SEGMENT) * (w - 1));
    let (mut expected, mut dependent, mut rng, mut chain) = (0.0, 0, Rng(spare.into()), Rng(5));
    for _ in 0..sets {
        // The low bits of `sorted` are not random enough for coefficients.
        let keys: Vec<u64> =
            sorted(n, &mut rng).into_iter().map(|h| h & !0xffff | mix(h) & 0xffff).collect();
        let mut codes = vec![];
        expected += layer(W, starts, &t, spare, &keys, Some(&mut chain), &mut |c| codes.push(c)).2;
        let bumps = |h: &u64| {
            let p = position(*h, starts << 16);
            ((p & 0x7_ffff) as u32) < t[codes[(p >> 19) as usize] as usize]
        };
        let kept: Vec<u64> = keys.into_iter().filter(|h| !bumps(h)).collect();
        dependent += Band::<W>::of(&kept, starts, slots, word).dependent;
    }
    println!(
        "n={n} W={W} load {load} spare {spare}: {} buckets in {sets} sets; contradictions expected {expected:.3}, met {dependent}",
        sets * starts.div_ceil(8)
    );
}
