//! The natural size of a shard (paper, section 5.4): if keys are added until one fails, the median
//! fraction of empty slots is least at about `w^2 / 4` slots.

use super::until_failure::keys_until_failure;
use super::{mean_and_error, trials, widths};
use crate::Width;
use std::io::{self, Write};

/// The numbers of slots that stay empty in some systems, in ascending order.
pub fn empty_slots(width: Width, slots: u64, smash: u64, systems: u64) -> Vec<u64> {
    let keys = |random: &mut _| keys_until_failure(width, slots, smash, random);
    let mut empty = trials(systems, |random| slots - keys(random));
    empty.sort_unstable();
    empty
}

/// The median of sorted integers, interpolated within the integer that contains it: a whole number
/// of slots would be too coarse for small shards.
pub fn median(sorted: &[u64]) -> f64 {
    let (count, middle) = (sorted.len(), sorted[sorted.len() / 2]);
    let below = sorted.partition_point(|&value| value < middle);
    let up_to = sorted.partition_point(|&value| value <= middle);
    let within = (count as f64 / 2.0 - below as f64) / (up_to - below) as f64;
    middle as f64 - 0.5 + within
}

/// Prints medians and means in percent of the slots, from `w^2 / 32` to `2 w^2` slots.
pub fn run(out: &mut dyn Write, scale: f64) -> io::Result<()> {
    writeln!(out, "# empty slots in % at the first failure (paper: median least at w^2/4)")?;
    writeln!(out, "w\tslots\tslots/w^2\tmedian, w/4\tmean, w/4\tmedian, w/2\tmean, w/2")?;
    for (width, w) in widths() {
        for slots in (0..7).map(|step| (w * w / 32) << step).filter(|&slots| slots >= w) {
            let systems = (1e7 * scale / slots as f64).clamp(10.0, 20_000.0) as u64;
            write!(out, "{w}\t{slots}\t{}", slots as f64 / (w * w) as f64)?;
            for smash in [w / 4, w / 2] {
                let empty = empty_slots(width, slots, smash, systems);
                let all: Vec<f64> = empty.iter().map(|&empty| empty as f64).collect();
                let percent = 100.0 / slots as f64;
                let (median, mean) = (percent * median(&empty), percent * mean_and_error(&all).0);
                write!(out, "\t{median:.3}\t{mean:.3}")?;
            }
            writeln!(out)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_interpolated() {
        assert_eq!(median(&[1, 1, 1, 1]), 1.0);
        assert_eq!(median(&[0, 1, 1, 1]), 0.5 + 1.0 / 3.0);
        assert_eq!(median(&[0, 0, 1, 2]), 0.5);
    }

    /// The median fraction decreases up to about the natural size and increases beyond it.
    #[test]
    fn the_natural_size_wastes_least() {
        for width in [Width::W32, Width::W64] {
            let w = width.slots();
            let of = |slots: u64| {
                let systems = 2_000_000 / slots;
                median(&empty_slots(width, slots, w / 2, systems)) / slots as f64
            };
            let (small, natural, large) = (of(w.max(w * w / 32)), of(w * w / 4), of(4 * w * w));
            assert!(natural < small && natural < large, "{small}, {natural}, {large}");
        }
    }
}
