//! The work of Algorithm 1. A key that starts at slot `s` and fills row `i` takes at most `i - s`
//! row additions. The sum `D` of these displacements does not depend on the order of the keys
//! (proof of theorem 3.2), and about `D/2` additions are expected (section 3, "Efficiency").

use super::{equation, trials, widths};
use crate::banding::{Banding, Insertion};
use crate::random::hashes;
use crate::width::with_word;
use crate::{Starts, Width};
use std::io::{self, Write};

/// The order in which keys are inserted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// As they come.
    Given,
    /// By their starts, as sgauss must.
    Ascending,
    /// By their starts, the last first.
    Descending,
}

/// The work of inserting keys one by one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// Keys that filled a row.
    pub inserted: u64,
    /// The sum, over these keys, of the row minus the start: `D`.
    pub displacement: u64,
    /// Rows that were added to the equations of these keys.
    pub additions: u64,
}

/// Inserts keys by Algorithm 1, without smash.
pub fn work(width: Width, slots: u64, order: Order, hashes: &[u64]) -> Work {
    let starts = Starts::new(slots, width, 0);
    with_word!(width, W => {
        let mut equations: Vec<_> =
            hashes.iter().map(|&hash| equation::<W, ()>(&starts, hash, ())).collect();
        match order {
            Order::Given => {}
            Order::Ascending => equations.sort_by_key(|equation| equation.start),
            Order::Descending => equations.sort_by_key(|equation| u64::MAX - equation.start),
        }
        let (mut banding, mut work) = (Banding::<W, ()>::new(slots), Work::default());
        for equation in equations {
            let before = banding.additions();
            if let Insertion::Row(row) = banding.insert(equation) {
                work.inserted += 1;
                work.displacement += row - equation.start;
                work.additions += banding.additions() - before;
            }
        }
        work
    })
}

/// Prints `D` per key, and the additions in parts of `D`, for widths and loads.
pub fn run(out: &mut dyn Write, scale: f64) -> io::Result<()> {
    writeln!(out, "# displacements D and row additions (paper: D/2 additions; any order, one D)")?;
    writeln!(out, "w\teps\tD/n\tadditions/D\tascending\tdescending")?;
    let slots = ((1 << 18) as f64 * scale.min(4.0)).max(4096.0) as u64 / 128 * 128;
    for (width, w) in widths() {
        for epsilon in [0.4, 0.2, 0.1, 0.05] {
            let keys = (slots as f64 / (1.0 + epsilon)) as usize;
            let orders = [Order::Given, Order::Ascending, Order::Descending];
            let all = trials(4, |random| {
                let hashes = hashes(keys, random.number());
                orders.map(|order| work(width, slots, order, &hashes))
            });
            let sum = |order: usize, of: fn(&Work) -> u64| {
                all.iter().map(|works| of(&works[order])).sum::<u64>() as f64
            };
            let additions = |order| sum(order, |w| w.additions) / sum(order, |w| w.displacement);
            let displacement = sum(0, |w| w.displacement) / sum(0, |w| w.inserted);
            let (given, up, down) = (additions(0), additions(1), additions(2));
            writeln!(out, "{w}\t{epsilon}\t{displacement:.3}\t{given:.3}\t{up:.3}\t{down:.3}")?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn displacements_do_not_depend_on_the_order() {
        let hashes = hashes(3600, 3);
        let of = |order| work(Width::W64, 4032, order, &hashes);
        let given = of(Order::Given);
        assert_eq!(given.inserted, 3600);
        for order in [Order::Ascending, Order::Descending] {
            assert_eq!(of(order).displacement, given.displacement);
        }
    }

    /// About D/2 additions, in every order.
    #[test]
    fn additions_are_half_of_the_displacements() {
        for (width, keys) in [(Width::W32, 80_000), (Width::W64, 90_000), (Width::W128, 95_000)] {
            for order in [Order::Given, Order::Ascending, Order::Descending] {
                let Work { displacement, additions, .. } =
                    work(width, 99_968, order, &hashes(keys, 4));
                let ratio = additions as f64 / displacement as f64;
                assert!((ratio - 0.5).abs() < 0.01, "w = {width}, {order:?}: {ratio}");
            }
        }
    }
}
