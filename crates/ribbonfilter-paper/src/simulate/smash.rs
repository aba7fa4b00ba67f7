//! Smash helps also with more slots than keys (paper, section 3.1 and Table 1).

use super::until_failure::keys_until_failure;
use super::{mean_and_error, trials, widths};
use crate::Width;
use std::io::{self, Write};

/// Slots over the mean number of keys until the first failure, minus one, and its standard error.
pub fn overhead(width: Width, slots: u64, smash: u64, systems: u64) -> (f64, f64) {
    let keys = trials(systems, |random| keys_until_failure(width, slots, smash, random) as f64);
    let ((mean, error), slots) = (mean_and_error(&keys), slots as f64);
    (slots / mean - 1.0, slots * error / (mean * mean))
}

/// Prints the overhead in percent, with and without smash, for sizes at which the ends matter.
pub fn run(out: &mut dyn Write, scale: f64) -> io::Result<()> {
    writeln!(
        out,
        "# overhead in % at the first failure, with 95 % intervals (paper: smash helps)"
    )?;
    writeln!(out, "w\tslots\tno smash\t+-\tsmash w/4\t+-\tsmash w/2\t+-")?;
    for (width, w) in widths() {
        for slots in [1, 4, 16].map(|times| times * w * w / 4) {
            let systems = (3e7 * scale / slots as f64).clamp(10.0, 50_000.0) as u64;
            write!(out, "{w}\t{slots}")?;
            for smash in [0, w / 4, w / 2] {
                let (overhead, error) = overhead(width, slots, smash, systems);
                write!(out, "\t{:.2}\t{:.2}", 100.0 * overhead, 196.0 * error)?;
            }
            writeln!(out)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Table 1, `w` = 64 and 2^10 slots: 2.2 % without smash, 0.8 % with.
    #[test]
    fn smash_saves_slots() {
        for (width, slots) in [(Width::W32, 256), (Width::W64, 1024)] {
            let (off, off_error) = overhead(width, slots, 0, 2000);
            let (on, on_error) = overhead(width, slots, width.slots() / 4, 2000);
            assert!(off - on > 4.0 * (off_error + on_error), "w = {width}: {off}, {on}");
        }
    }
}
