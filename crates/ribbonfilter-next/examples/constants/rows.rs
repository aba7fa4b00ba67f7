//! Maps with wide rows: equations over eight slots of four blocks, by simple elimination.

use crate::filter::{Band, standard_shape};
use crate::layer::{SEGMENT, layer};
use crate::{Rng, list, mix, sorted, thresholds};
use ribbonfilter_next::internals::{eight_slots, plan_standard, position};

/// The coefficients: the eight slots lie in a window of four blocks.
pub fn sparse(h: u64, index: usize) -> u64 {
    eight_slots(h)
        .iter()
        .filter(|slot| usize::from(**slot >> 6) == index)
        .fold(0, |word, slot| word | 1 << (slot & 63))
}

/// `sorted` gives hashes whose low bits are good enough for coefficients.
fn keys(n: usize, rng: &mut Rng) -> Vec<u64> {
    sorted(n, rng).into_iter().map(|h| h & !0xffff | mix(h) & 0xffff).collect()
}

/// rows standard N,.. MORE,.. KEYS_IN_ALL: success with the slots of W192 and some more |
/// rows bumped N LOAD,.. SPARE,.. TRIALS: contradictions
pub fn measure(a: &[String]) {
    let mut rng = Rng(3);
    if a[0] == "standard" {
        for n in list::<f64>(&a[1]) {
            let trials = ((a[3].parse::<f64>().unwrap() / n) as usize).clamp(20, 1000);
            let (_, slots, p) = plan_standard(n as u64, 3, false);
            print!("n={n} W192 {slots} slots p {p:.2}:");
            for more in list::<u64>(&a[2]) {
                let ends = ((slots as f64 / 64.0 / 4096.0) as u64) * 128;
                let (starts, slots) = standard_shape(slots - ends + more, 4);
                let works = (0..trials)
                    .filter(|_| {
                        Band::<4>::of(&keys(n as usize, &mut rng), starts, slots, sparse).dependent
                            == 0
                    })
                    .count();
                print!("  +{more}: {slots} {:.3}", works as f64 / trials as f64);
            }
            println!();
        }
        return;
    }
    let n = a[1].parse::<f64>().unwrap() as usize;
    for load in list::<f64>(&a[2]) {
        for spare in list::<u32>(&a[3]) {
            let trials = a[4].parse::<u64>().unwrap();
            let (mut dependent, mut failed, mut out) = (0, 0, 0);
            let blocks = (n as f64 / load) as u64 / 64;
            let starts = blocks - 3 * blocks.div_ceil(SEGMENT + 3);
            let slots = 64 * (starts + 3 * starts.div_ceil(SEGMENT));
            for _ in 0..trials {
                let keys = keys(n, &mut rng);
                let (mut codes, t) = (vec![], thresholds(4));
                let (bumped, ..) = layer(4, starts, &t, spare, &keys, None, &mut |c| codes.push(c));
                let kept: Vec<u64> = keys
                    .into_iter()
                    .filter(|h| {
                        let p = position(*h, starts << 16);
                        (p & 0x7_ffff) as u32 >= t[codes[(p >> 19) as usize] as usize]
                    })
                    .collect();
                let band = Band::<4>::of(&kept, starts, slots, sparse);
                (dependent, failed, out) = (
                    dependent + band.dependent,
                    failed + u32::from(band.dependent > 0),
                    out + bumped,
                );
            }
            let mean = out as f64 / trials as f64;
            println!(
                "n={n} load {load} spare {spare}: bumped {:.3} %, empty {:.4} %; {dependent} dependent, {failed} of {trials} sets, {} buckets",
                mean / n as f64 * 100.0,
                (mean - n as f64 + slots as f64) / n as f64 * 100.0,
                trials * starts.div_ceil(8)
            );
        }
    }
}
