//! As many slots as keys: with smash, a system of moderate size is as likely to be regular as a
//! random matrix, with probability `c2 = 0.289` (paper, section 3.1). Without smash hardly any is.

use super::{homogeneous, trials, widths};
use crate::Width;
use crate::width::with_word;
use std::io::{self, Write};

/// The limit of the product of `1 - 2^-i`.
pub fn c2() -> f64 {
    (1..60).map(|i| 1.0 - libm::exp2(-f64::from(i))).product()
}

/// The fraction of systems of `slots` keys and as many slots that are regular.
pub fn regular(width: Width, slots: u64, smash: u64, systems: u64) -> f64 {
    let regular = trials(systems, |random| {
        let hashes: Vec<u64> = random.take(slots as usize).collect();
        with_word!(width, W => homogeneous::<W>(slots, smash, &hashes).rank() == slots)
    });
    regular.iter().filter(|&&regular| regular).count() as f64 / systems as f64
}

/// Prints the fraction of regular systems for some sizes and smash values.
pub fn run(out: &mut dyn Write, scale: f64) -> io::Result<()> {
    writeln!(out, "# systems with m = n that have a solution (paper: {:.3} with smash w/2)", c2())?;
    writeln!(out, "w\tslots\tno smash\tsmash w/4\tsmash w/2")?;
    for (width, w) in widths().skip(1) {
        for slots in [w, 2 * w, 4 * w, w * w / 16] {
            let systems = (2e8 * scale / (slots * slots) as f64).clamp(100.0, 50_000.0) as u64;
            let of = |smash| regular(width, slots, smash, systems);
            let (none, quarter, half) = (of(0), of(w / 4), of(w / 2));
            writeln!(out, "{w}\t{slots}\t{none:.3}\t{quarter:.3}\t{half:.3}")?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn with_smash_systems_are_regular_with_probability_0_289() {
        assert!((c2() - 0.2888).abs() < 1e-4);
        // Six standard deviations of 8,000 systems.
        let found = regular(Width::W128, 512, 64, 8000);
        assert!((found - c2()).abs() < 0.031, "{found}");
        let without = regular(Width::W128, 512, 0, 2000);
        assert!(without < 0.1, "{without}");
    }
}
