//! Homogeneous systems (all right sides zero): how often a fresh equation lies in the span of the
//! keys' equations, by the slots.

use crate::filter::{Band, standard_shape};
use crate::{Rng, list, mix, sorted};
use ribbonfilter_next::internals::word;

fn go<const W: usize>(n: usize, over: f64, seeds: u64, probes: u64) {
    let (starts, slots) = standard_shape((n as f64 * (1.0 + over / 100.0)) as u64, W as u64);
    let (mut spanned, mut works, mut dependent, mut worst) = (0, 0, 0, 0);
    let mut good = 0u64;
    for seed in 0..seeds {
        let mut rng = Rng(mix(seed) + n as u64);
        let keys: Vec<u64> =
            sorted(n, &mut rng).into_iter().map(|h| h & !0xffff | mix(h) & 0xffff).collect();
        let band = Band::<W>::of(&keys, starts, slots, word);
        let hits = (0..probes)
            .filter(|_| {
                let (b, c) = band.equation(rng.next(), word);
                band.spans(b, c)
            })
            .count() as u64;
        spanned += hits;
        worst = worst.max(hits);
        works += u64::from(band.dependent == 0);
        good += if band.dependent == 0 { hits } else { 0 };
        dependent += band.dependent;
    }
    let inflation =
        |hits: u64, sets: u64| 1.0 + hits as f64 / (probes * sets.max(1)) as f64 * 255.0;
    println!(
        "n={n} W={W} {over} % ({:.2} % with ends): Standard works {:.2}; Homogeneous rate * 256: mean {:.4}, largest {:.4}, of seeds without dependent keys {:.4}; dependent {:.1} per set",
        (slots as f64 / n as f64 - 1.0) * 100.0,
        works as f64 / seeds as f64,
        inflation(spanned, seeds),
        inflation(worst, 1),
        inflation(good, works),
        dependent as f64 / seeds as f64
    );
}

/// homogeneous N W,.. OVER,.. SEEDS PROBES
pub fn measure(a: &[String]) {
    let n = a[0].parse::<f64>().unwrap() as usize;
    for w in list::<usize>(&a[1]) {
        for over in list::<f64>(&a[2]) {
            let (seeds, probes) = (a[3].parse().unwrap(), a[4].parse::<f64>().unwrap() as u64);
            match w {
                2 => go::<2>(n, over, seeds, probes),
                3 => go::<3>(n, over, seeds, probes),
                _ => go::<4>(n, over, seeds, probes),
            }
        }
    }
}
