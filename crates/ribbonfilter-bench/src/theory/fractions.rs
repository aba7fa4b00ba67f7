//! The cost of fractional columns. With `floor(r)` columns in one part of the slots and `ceil(r)` in
//! the rest, the rate is the average of two rates, which is above that of the average columns. The
//! paper's section 5.1 computes 1.57 % for 5.5 columns, 6.00 % for 1.5 and 0.82 % for 10.5.

use crate::random::Random;
use crate::results::{Folder, Rows};
use crate::table::{Cell, Table};
use ribbonfilter::{Filter, Variant, Width};
use serde::{Deserialize, Serialize};

pub const TEXT: &str = "The paper, section 5.1: half of the slots with one column more than the \
    others adds 1.57 % to the overhead at 5.5 columns, 6.00 % at 1.5 and 0.82 % at 10.5.";

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Row {
    variant: String,
    columns: f64,
    /// The rate of the filter, and the number of false positives among queries.
    rate: f64,
    positives: u64,
    queries: u64,
    overhead: f64,
    /// The mean overhead of the filters with the next whole numbers of columns.
    whole: f64,
}

const KEYS: usize = 1_000_000;
/// Columns, and the paper's cost in percent.
const COLUMNS: [(f64, f64); 3] = [(1.5, 6.00), (5.5, 1.57), (10.5, 0.82)];
const RIBBONS: [(Variant, Width); 3] = [
    (Variant::Bumped, Width::W128),
    (Variant::Standard, Width::W64),
    (Variant::Homogeneous, Width::W64),
];

pub fn run(folder: &Folder) -> Result<(), String> {
    let mut rows = Rows::<Row>::open(folder, "fractions")?;
    if rows.all.is_empty() {
        let of_ribbon = |ribbon| COLUMNS.map(|(columns, _)| measure(ribbon, columns));
        rows.add(RIBBONS.into_iter().flat_map(of_ribbon).collect())?;
    }
    Ok(())
}

fn measure((variant, width): (Variant, Width), columns: f64) -> Row {
    let build = |columns: f64| {
        let mut builder = Filter::builder().variant(variant).width(width).columns(columns);
        builder.extend_hashes(Random::new(1).take(KEYS));
        builder.finish().expect("random hashes build")
    };
    let overhead = |filter: &Filter| filter.bits_per_key() / -filter.expected_rate().log2() - 1.0;
    let filter = build(columns);
    let whole = [columns.floor(), columns.ceil()].map(|columns| overhead(&build(columns)));
    let queries = 1 << 24;
    let positives = Random::new(2).take(queries).filter(|&hash| filter.contains_hash(hash)).count();
    Row {
        variant: format!("{variant} w={width}"),
        columns,
        rate: filter.expected_rate(),
        positives: positives as u64,
        queries: queries as u64,
        overhead: overhead(&filter),
        whole: whole[0].midpoint(whole[1]),
    }
}

/// What the average of two rates costs: the columns over log2(1/rate), minus one.
fn ideal(columns: f64) -> f64 {
    let upper = columns.ceil() - columns;
    let rate = upper * (-columns.floor()).exp2() + (1.0 - upper) * (-columns.ceil()).exp2();
    columns / -rate.log2() - 1.0
}

pub fn tables(rows: &[Row]) -> Vec<Table> {
    let line = |row: &Row| {
        let paper = COLUMNS.iter().find(|(columns, _)| *columns == row.columns);
        let measured = row.positives as f64 / row.queries as f64;
        let error = 1.96 * (measured / row.queries as f64).sqrt();
        vec![
            Cell::text(&row.variant).strong(true),
            Cell::number(row.columns, 1),
            Cell::text(format!("{:.5e}", row.rate)),
            Cell::text(format!("{measured:.5e} ± {error:.0e}")),
            Cell::percent(row.overhead, 2),
            Cell::percent(row.whole, 2),
            Cell::percent((1.0 + row.overhead) / (1.0 + row.whole) - 1.0, 2),
            Cell::percent(ideal(row.columns), 2),
            Cell::or_none(paper.map(|&(_, cost)| Cell::number(cost, 2))),
        ]
    };
    let table = Table {
        title: "10⁶ keys".into(),
        note:
            "Overhead in percent, with everything stored; beside it the mean overhead of filters \
               with one half column less and more, and the cost of the fraction: the quotient of \
               both. In theory: columns over log2(1/rate), minus one."
                .into(),
        columns: vec![
            "filter",
            "r",
            "rate",
            "sampled",
            "overhead",
            "whole columns",
            "cost",
            "in theory",
            "paper",
        ],
        rows: rows.iter().map(line).collect(),
    };
    if rows.is_empty() { vec![] } else { vec![table] }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_theory_is_that_of_the_paper() {
        for (columns, cost) in COLUMNS {
            assert!((ideal(columns) * 100.0 - cost).abs() < 0.005, "{columns}");
        }
    }
}
