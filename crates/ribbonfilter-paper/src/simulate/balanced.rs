//! Slots and overload of a Balanced ribbon (paper, section 6): the least fraction of extra slots
//! with which one seed works, for an overload `alpha` of 2.5 and of 3.5 standard deviations of the
//! number of keys of a shard; the paper has 3.5. And figure 7: where the keys of each level are.

use super::{Random, mean_and_error, trials};
use crate::Width;
use crate::ribbon::balanced::{self, Shape};
use crate::width::with_word;
use std::io::{self, Write};

/// The least fraction of extra slots with which the first seed works, by binary search.
pub fn min_epsilon(width: Width, shape: Shape, hashes: &[u64]) -> f64 {
    let keys = hashes.len() as u64;
    let works = |slots| with_word!(width, W => balanced::works::<W>(hashes, shape, slots));
    let (mut low, mut high) = (keys - keys / 50, keys + keys / 4);
    while high - low > width.slots() {
        let middle = low.midpoint(high).next_multiple_of(width.slots());
        if middle >= high {
            break;
        }
        if works(middle) { high = middle } else { low = middle }
    }
    high as f64 / keys as f64 - 1.0
}

/// The overload for a number of standard deviations, in units of 1/256.
fn overload(deviations: f64, shard_keys: f64) -> u8 {
    libm::round(256.0 * deviations / libm::sqrt(shard_keys)) as u8
}

/// Prints the least extra slots in percent, and what one seed in two needs.
pub fn run(out: &mut dyn Write, scale: f64) -> io::Result<()> {
    writeln!(
        out,
        "# extra slots in % that a Balanced seed needs, by overload; with metadata at r = 7"
    )?;
    writeln!(out, "w\tkeys\tkeys/shard\tdeviations\textra slots\toverhead, r = 7")?;
    let keys = ((3e5 * scale) as usize).clamp(5000, 10_000_000);
    for (width, logs) in [
        (Width::W16, [5, 6, 7]),
        (Width::W32, [7, 8, 9]),
        (Width::W64, [8, 9, 10]),
        (Width::W128, [9, 10, 11]),
    ] {
        for log in logs {
            let bits = (keys >> log).max(32).ilog2();
            let shard_keys = keys as f64 / libm::exp2(bits.into());
            for deviations in [2.5, 3.5] {
                let shape = Shape { bits, overload: overload(deviations, shard_keys) };
                let one = |random: &mut Random| {
                    min_epsilon(width, shape, &random.take(keys).collect::<Vec<_>>())
                };
                let epsilon = mean_and_error(&trials((8.0 * scale).max(1.0) as u64, one)).0;
                let overhead = epsilon + 8.0 / shard_keys / 7.0;
                writeln!(
                    out,
                    "{width}\t{keys}\t{shard_keys:.0}\t{deviations}\t{:.3}\t{:.3}",
                    100.0 * epsilon,
                    100.0 * overhead
                )?;
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::hashes;

    /// Section 6: hardly more slots than keys, far fewer than a Standard system of that size.
    #[test]
    fn a_balanced_system_needs_few_slots() {
        let hashes = hashes(60_000, 1);
        let shape = Shape::new(60_000, Width::W64).expect("several shards");
        let epsilon = min_epsilon(Width::W64, shape, &hashes);
        assert!((-0.001..0.006).contains(&epsilon), "{epsilon}");
    }
}
