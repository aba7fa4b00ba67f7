//! The cost of fractional columns. With `floor(r)` columns in one part of the slots and `ceil(r)` in
//! the rest, the rate is the average of two rates, which is more than that of `r` columns (paper,
//! section 5.1: 1.57 % for 5.5 columns, 6.00 % for 1.5, 0.82 % for 10.5).

use crate::random::hashes;
use crate::{Filter, Settings, Variant, Width};
use std::io::{self, Write};

/// The overhead of `r` columns that fractions alone cause.
pub fn ideal(columns: f64) -> f64 {
    let fewer = libm::ceil(columns) - columns;
    let rate = fewer * libm::exp2(-libm::floor(columns))
        + (1.0 - fewer) * libm::exp2(-libm::ceil(columns));
    columns / -libm::log2(rate) - 1.0
}

/// The overhead of a filter over the mean of those with the next whole numbers of columns.
pub fn measured(settings: &Settings, keys: usize) -> f64 {
    let hashes = hashes(keys, 1);
    let overhead = |columns: f64| {
        let filter = Filter::from_hashes(&Settings { columns, ..*settings }, &hashes);
        filter.expect("a seed for random keys").overhead()
    };
    let columns = settings.columns;
    let whole = overhead(libm::floor(columns)).midpoint(overhead(libm::ceil(columns)));
    (1.0 + overhead(columns)) / (1.0 + whole) - 1.0
}

/// Prints the cost in percent, by the formula and in filters.
pub fn run(out: &mut dyn Write, scale: f64) -> io::Result<()> {
    writeln!(out, "# what fractional columns add to the overhead, in %")?;
    writeln!(out, "r\tpaper\tformula\tstandard w=64\tbumped w=128")?;
    let keys = ((1e6 * scale) as usize).clamp(2000, 4_000_000);
    for (columns, paper) in [(1.5, "6.00"), (5.5, "1.57"), (10.5, "0.82"), (7.7, "about 1")] {
        let of = |variant, width| 100.0 * measured(&Settings::new(variant, width, columns), keys);
        let (standard, bumped) =
            (of(Variant::Standard, Width::W64), of(Variant::Bumped, Width::W128));
        let formula = 100.0 * ideal(columns);
        writeln!(out, "{columns}\t{paper}\t{formula:.2}\t{standard:.2}\t{bumped:.2}")?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_theory_is_that_of_the_paper() {
        for (columns, paper) in [(1.5, 6.00), (5.5, 1.57), (10.5, 0.82)] {
            assert!((100.0 * ideal(columns) - paper).abs() < 0.005, "{columns}");
        }
    }

    #[test]
    fn fractional_columns_are_worth_their_bits() {
        for variant in [Variant::Standard, Variant::Balanced, Variant::Bumped] {
            for columns in [1.5, 5.5, 7.7] {
                let settings = Settings::new(variant, Width::W64, columns);
                let cost = measured(&settings, 100_000);
                assert!((cost - ideal(columns)).abs() < 0.004, "{variant}, {columns}: {cost}");
            }
        }
    }
}
