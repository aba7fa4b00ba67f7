//! Compares each peer with two of our filters, the smallest and the fastest.

use crate::race::Row;
use crate::table::{Cell, Table};

/// The filters of ours that peers are compared with.
const OURS: [&str; 2] = ["Bumped w=128 r=8", "Homogeneous w=64 r=8"];

type Measure = fn(&Row) -> f64;

/// The measures. "many queries" is the faster one of single and batch queries.
const MEASURES: [(&str, Measure); 5] = [
    ("size", |row| row.bits_per_key / -row.rate.log2()),
    ("build", |row| row.build.min),
    ("query", Row::query),
    ("many queries", |row| row.batched().map_or(row.query(), |batched| batched.min(row.query()))),
    ("latency", |row| row.latency.min),
];

/// For each of `OURS`, a table with the figures of each peer relative to it.
pub fn tables(rows: &[Row]) -> Vec<Table> {
    OURS.iter()
        .filter_map(|name| rows.iter().find(|row| row.name == *name))
        .map(|ours| over(ours, rows))
        .collect()
}

fn over(ours: &Row, rows: &[Row]) -> Table {
    let line = |peer: &Row| {
        let ratios = MEASURES.map(|(_, measure)| {
            let ratio = measure(peer) / measure(ours);
            Cell::number(ratio, 2).strong(ratio < 1.0)
        });
        [Cell::text(&peer.name)].into_iter().chain(ratios).collect()
    };
    let columns = ["peer"].into_iter().chain(MEASURES.map(|(name, _)| name)).collect();
    Table {
        title: format!("Peers over {}", ours.name),
        note: format!(
            "Each peer's figure divided by that of {}. Less than 1, in bold: the peer is better. \
             Size is bits per key over log2(1/rate). Many queries: in a batch if the filter \
             supports it.",
            ours.name
        ),
        columns,
        rows: peers(rows).map(line).collect(),
    }
}

fn peers(rows: &[Row]) -> impl Iterator<Item = &Row> {
    rows.iter().filter(|row| !row.family.is_ours())
}

/// For each measure, a sentence that lists the peers that are better than all of ours.
pub fn sentences(rows: &[Row]) -> Vec<String> {
    let sentence = |(name, measure): &(&str, Measure)| {
        let ours = rows.iter().filter(|row| row.family.is_ours());
        let best = ours.min_by(|one, other| measure(one).total_cmp(&measure(other)))?;
        let ratio = |peer: &Row| measure(best) / measure(peer);
        let mut ahead: Vec<&Row> = peers(rows).filter(|peer| ratio(peer) > 1.0).collect();
        ahead.sort_by(|one, other| ratio(other).total_cmp(&ratio(one)));
        let ahead: Vec<String> =
            ahead.iter().map(|peer| format!("{} ({:.2} times)", peer.name, ratio(peer))).collect();
        Some(match ahead.is_empty() {
            true => format!("{} is the best of all in {name}.", best.name),
            false => format!(
                "In {name}, {} is the best of ours. These are better: {}.",
                best.name,
                ahead.join(", ")
            ),
        })
    };
    MEASURES.iter().filter_map(sentence).collect()
}
