//! Standard systems: extra slots by the exact chain, and the success of the planned sizes.

use crate::layer::{SEGMENT, insert};
use crate::{Rng, list, sorted};
use ribbonfilter_next::internals::plan_standard;

/// Whether the keys fit, by the chain of free slots.
fn fits(w: usize, starts: u64, slots: u64, keys: &[u64], rng: &mut Rng) -> bool {
    let mut free = vec![64u32; w];
    let mut k = 0;
    let last = ((slots - 1) % 64 + 1) as u32;
    for s in 0..starts {
        if s.is_multiple_of(SEGMENT) {
            free.fill(64);
        }
        if s + 1 == starts {
            free[w - 1] = last;
        }
        let bound = (u128::from(s + 1) << 64).div_ceil(starts.into());
        let before = k;
        while k < keys.len() && u128::from(keys[k]) < bound {
            k += 1;
        }
        if insert(&mut free, (k - before) as u32, rng) > 0 {
            return false;
        }
        free.copy_within(1.., 0);
        free[w - 1] = 64;
    }
    true
}

/// standard W,.. N,.. KEYS_IN_ALL: the fraction of seeds that work with the planned slots, for each
/// effort
pub fn measure(a: &[String]) {
    for w in list::<usize>(&a[0]) {
        for n in list::<f64>(&a[1]) {
            let trials = ((a[2].parse::<f64>().unwrap() / n) as usize).clamp(100, 4000);
            print!("W={w} n={n}:");
            for thorough in [false, true] {
                let (starts, slots, p) = plan_standard(n as u64, w, thorough);
                let mut rng = Rng(n as u64 + w as u64);
                let works = (0..trials)
                    .filter(|t| {
                        fits(w, starts, slots, &sorted(n as usize, &mut rng), &mut Rng(*t as u64))
                    })
                    .count();
                print!(
                    "  {slots} slots ({:+.3} %) planned {p:.3} measured {:.3};",
                    (slots as f64 / n - 1.0) * 100.0,
                    works as f64 / trials as f64
                );
            }
            println!();
        }
    }
}

/// The rate of failure per start in the steady state: `q` rows wait, a Poisson number comes.
fn rate(w: usize, extra: f64) -> f64 {
    let lambda = 64.0 / (1.0 + extra);
    let (max, most) = (64 * w, 64 * (w - 1));
    let mut poisson = vec![(-lambda).exp()];
    for k in 0..max {
        poisson.push(poisson[k] * lambda / (k + 1) as f64);
    }
    // The distribution of the rank of x random rows in 64 columns.
    let mut ranks = vec![vec![0.0; 65]];
    ranks[0][0] = 1.0;
    for x in 1..=max {
        let before = &ranks[x - 1];
        let dependent = |r: usize| 0.5f64.powi(64 - r as i32);
        ranks.push(
            (0..=64)
                .map(|r| {
                    before[r] * dependent(r)
                        + if r > 0 { before[r - 1] * (1.0 - dependent(r - 1)) } else { 0.0 }
                })
                .collect(),
        );
    }
    let mut q = vec![0.0; most + 1];
    q[0] = 1.0;
    let (mut last, mut last_mean) = (0.0, 0.0);
    for step in 0.. {
        let (mut x, mut lost) = (vec![0.0; max + 1], 0.0);
        for (i, v) in q.iter().enumerate() {
            for k in 0..=max - i {
                x[i + k] += v * poisson[k];
            }
            lost += v * (1.0 - poisson[..=max - i].iter().sum::<f64>()).max(0.0);
        }
        let mut next = vec![0.0; most + 1];
        for (k, v) in x.iter().enumerate() {
            let dependent = 0.5f64.powi((max - k) as i32).min(0.75);
            lost += v * dependent;
            for (r, p) in ranks[k].iter().enumerate().filter(|(r, _)| *r <= k) {
                match next.get_mut(k - r) {
                    Some(next) => *next += v * (1.0 - dependent) * p,
                    None => lost += v * (1.0 - dependent) * p,
                }
            }
        }
        let sum: f64 = next.iter().sum();
        next.iter_mut().for_each(|v| *v /= sum);
        let mean: f64 = next.iter().enumerate().map(|(i, v)| i as f64 * v).sum();
        let now = lost / (lost + sum);
        if step > 50 && (now / last - 1.0).abs() < 1e-6 && (mean - last_mean).abs() < 1e-5 {
            return now;
        }
        (last, last_mean, q) = (now, mean, next);
    }
    unreachable!()
}

/// chain W,..: extra slots at n / -ln p = 2^8, 2^10, ..., for large systems
pub fn chain(a: &[String]) {
    for w in list::<usize>(&a[0]) {
        print!("W={w}:");
        for x in (14..=48).step_by(2) {
            let (mut low, mut high) = (0.0005, 0.5);
            while high - low > 2e-5 {
                let middle = (low + high) / 2.0;
                if 2f64.powi(x) * (1.0 + middle) / 64.0 * rate(w, middle) > 1.0 {
                    low = middle
                } else {
                    high = middle
                }
            }
            print!(" {x}: {:.2} %", high * 100.0);
        }
        println!();
    }
}
