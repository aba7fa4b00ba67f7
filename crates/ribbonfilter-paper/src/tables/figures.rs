//! The figures of the paper that are of ribbons alone, as text and as rows: figures 2 and 3 (the
//! shape of the system), 5 (what every width reaches) and 7 (the levels of Balanced).

use crate::banding::Banding;
use crate::hash::Seeded;
use crate::random::hashes;
use crate::ribbon::{Ribbon, balanced::Balanced};
use crate::simulate::equation;
use crate::width::Word;
use crate::{Filter, Settings, Starts, Variant, Width};
use std::io::{self, Write};

/// A figure: its number, and what prints it for a number of keys.
pub type Figure = (u32, fn(&mut dyn Write, usize) -> io::Result<()>);

/// All figures.
pub const ALL: [Figure; 4] = [(2, sorted), (3, banded), (5, reach), (7, levels)];

const SLOTS: u64 = 48;
const KEYS: usize = 36;

fn line<W: Word>(start: u64, coefficients: W) -> String {
    let bit = |slot: u64| match slot.checked_sub(start) {
        Some(k) if k < W::WIDTH.slots() => b".1"[(coefficients.to_bits() >> k & 1) as usize],
        _ => b' ',
    };
    (0..SLOTS).map(|slot| char::from(bit(slot))).collect()
}

/// Figure 2: the equations of a small system, sorted by their starts.
fn sorted(out: &mut dyn Write, _: usize) -> io::Result<()> {
    writeln!(
        out,
        "# figure 2: equations of {KEYS} keys in {SLOTS} slots, w = 16, by their starts"
    )?;
    let starts = Starts::new(SLOTS, Width::W16, 0);
    let mut equations: Vec<_> =
        hashes(KEYS, 1).into_iter().map(|hash| equation::<u16, ()>(&starts, hash, ())).collect();
    equations.sort_by_key(|equation| equation.start);
    equations.iter().try_for_each(|e| writeln!(out, "{}", line(e.start, e.coefficients)))
}

/// Figure 3: the same system after banding.
fn banded(out: &mut dyn Write, _: usize) -> io::Result<()> {
    writeln!(out, "# figure 3: the system M of these equations; an empty row is a free variable")?;
    let starts = Starts::new(SLOTS, Width::W16, 0);
    let mut banding = Banding::<u16, ()>::new(SLOTS);
    banding.insert_all(hashes(KEYS, 1).into_iter().map(|hash| equation(&starts, hash, ())));
    (0..SLOTS).try_for_each(|row| match banding.is_filled(row) {
        true => writeln!(out, "{}", line(row, banding.row(row).0)),
        false => writeln!(out),
    })
}

/// Figure 5: overhead and rate of Homogeneous with equation (7), and of Balanced and Bumped.
fn reach(out: &mut dyn Write, keys: usize) -> io::Result<()> {
    writeln!(out, "# figure 5: what every width reaches with {keys} keys; exact rates")?;
    writeln!(out, "variant\tw\tr\trate\toverhead %")?;
    let members = hashes(keys, 1);
    for variant in [Variant::Homogeneous, Variant::Balanced, Variant::Bumped] {
        for width in Width::ALL {
            // Windows of 16 slots do not span more columns.
            for r in 1..=16.min(width.slots() / 2) {
                let settings = Settings::new(variant, width, r as f64);
                let filter = Filter::from_hashes(&settings, &members).map_err(io::Error::other)?;
                let (rate, overhead) = (filter.rate(), 100.0 * filter.overhead());
                writeln!(out, "{variant}\t{width}\t{r}\t{rate:.3e}\t{overhead:.2}")?;
            }
        }
        out.flush()?;
    }
    Ok(())
}

/// The keys of each level of a Balanced ribbon over its slots: with their primary location there,
/// bumped from there, and bumped to there.
fn level_loads(ribbon: &Balanced, hashes: &[u64]) -> Vec<[f64; 3]> {
    let (_, _, shape) = ribbon.fields();
    let mut counts = vec![[0.0; 3]; shape.bits as usize + 1];
    for &hash in hashes {
        let (level, to) = ribbon.levels(hash);
        counts[level as usize][0] += 1.0;
        if let Some(to) = to {
            counts[level as usize][1] += 1.0;
            counts[to as usize][2] += 1.0;
        }
    }
    let slots = ribbon.solution().layout().slots() as f64;
    for (level, counts) in (1..).zip(&mut counts) {
        let fraction = libm::exp2(-f64::from(level.min(shape.bits)));
        counts.iter_mut().for_each(|count| *count /= slots * fraction);
    }
    counts
}

/// Figure 7: the levels of a Balanced ribbon.
fn levels(out: &mut dyn Write, keys: usize) -> io::Result<()> {
    writeln!(out, "# figure 7: keys over slots of each level, balanced w=64, {keys} keys")?;
    writeln!(out, "level\tprimary\tbumped\tadded\tin the level")?;
    let (members, settings) = (hashes(keys, 1), Settings::new(Variant::Balanced, Width::W64, 1.0));
    let filter = Filter::from_hashes(&settings, &members).map_err(io::Error::other)?;
    if let Ribbon::Balanced(ribbon) = filter.ribbon() {
        for (level, [primary, bumped, added]) in (1..).zip(level_loads(ribbon, &members)) {
            let load = primary - bumped + added;
            writeln!(out, "{level}\t{primary:.3}\t{bumped:.3}\t{added:.3}\t{load:.3}")?;
        }
    }
    Ok(())
}

impl Balanced {
    /// The level of a key's primary location, and the level to which it is bumped.
    fn levels(&self, hash: u64) -> (u32, Option<u32>) {
        let (seed, _, shape) = self.fields();
        let (level, is_bumped) = self.primary_level(Seeded::new(hash, seed));
        (level, is_bumped.then(|| shape.next_level(level)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Figure 7: level 1 gets `1 + alpha` times its slots and bumps about `alpha`; the next levels
    /// get `1 - alpha`, and twice `alpha` from above. All are full in the end.
    #[test]
    fn levels_are_overloaded_and_full() {
        let members = hashes(200_000, 1);
        let settings = Settings::new(Variant::Balanced, Width::W64, 1.0);
        let filter = Filter::from_hashes(&settings, &members).expect("a seed");
        let Ribbon::Balanced(ribbon) = filter.ribbon() else { panic!("several shards") };
        let alpha = f64::from(ribbon.fields().2.overload) / 256.0;
        let loads = level_loads(ribbon, &members);
        for (level, &[primary, bumped, added]) in loads.iter().enumerate().take(4) {
            let expected = if level == 0 { [1.0 + alpha, 0.0] } else { [1.0 - alpha, 2.0 * alpha] };
            assert!((primary - expected[0]).abs() < 0.05, "level {level}: {loads:?}");
            assert!((bumped - alpha).abs() < 0.06, "level {level}: {loads:?}");
            assert!((added - expected[1]).abs() < 0.08, "level {level}: {loads:?}");
            assert!((primary - bumped + added - 1.0).abs() < 0.01, "level {level}: {loads:?}");
        }
    }

    #[test]
    fn figures_are_printed() {
        for (number, print) in ALL {
            let mut bytes = Vec::new();
            print(&mut bytes, 10_000).expect("a buffer takes everything");
            let text = String::from_utf8(bytes).expect("text");
            assert!(text.starts_with(&format!("# figure {number}")) && text.lines().count() > 5);
        }
    }

    /// Figure 3: every row begins with a 1 at its own slot, and stays in the ribbon.
    #[test]
    fn the_drawn_system_is_in_echelon_form() {
        let mut bytes = Vec::new();
        banded(&mut bytes, 0).expect("a buffer takes everything");
        let text = String::from_utf8(bytes).expect("text");
        let rows: Vec<&str> = text.lines().skip(1).collect();
        assert_eq!(rows.len() as u64, SLOTS);
        let filled = rows.iter().enumerate().filter(|(_, row)| !row.is_empty());
        assert!(filled.clone().count() > KEYS * 3 / 4);
        assert!(filled.into_iter().all(|(slot, row)| row.find('1') == Some(slot)));
    }
}
