//! The regression check: measures some of our filters relative to binary fuse, and compares the
//! ratios with the committed baseline. Ratios of times carry over to other machines better than
//! times do. Sizes must be the same on every machine.

use crate::kernel;
use crate::peers::{Ribbon, one_of_each};
use crate::progress::Progress;
use crate::race::{Row, Workload};
use crate::table::{Cell, Table};
use ribbonfilter::{Variant, Width};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

#[derive(clap::Args)]
pub struct Arguments {
    /// The baseline [default: the one of this repository]
    #[arg(long)]
    baseline: Option<PathBuf>,
    /// Write the measured ratios as the baseline for the kernel of this CPU
    #[arg(long)]
    write: bool,
    /// How much worse a ratio of times may become: 0.25 is 25 %
    #[arg(long, default_value_t = 0.25)]
    tolerance: f64,
    /// Rounds over all filters; the minimum of each time counts
    #[arg(long, default_value_t = 15)]
    rounds: u32,
}

const KEYS: f64 = 1e6;
const QUERIES: usize = 1 << 20;
/// Bits per key may not grow by more than this fraction.
const SIZE_TOLERANCE: f64 = 1e-4;

const GUARDED: [Ribbon; 5] = [
    Ribbon::new(Variant::Bumped, Width::W128, 8.0),
    Ribbon::new(Variant::Bumped, Width::W64, 8.0),
    Ribbon::new(Variant::Balanced, Width::W64, 8.0),
    Ribbon::new(Variant::Standard, Width::W128, 8.0),
    Ribbon::new(Variant::Homogeneous, Width::W64, 8.0),
];

/// The figures of one filter, with times relative to binary fuse.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Ratios {
    kernel: String,
    name: String,
    bits_per_key: f64,
    build: f64,
    query: f64,
    batch: f64,
    latency: f64,
}

impl Ratios {
    fn new(row: &Row, fuse: &Row) -> Self {
        Self {
            kernel: kernel().name().into(),
            name: row.name.clone(),
            bits_per_key: row.bits_per_key,
            build: row.build.min / fuse.build.min,
            query: row.query() / fuse.query(),
            batch: row.batched().unwrap_or(f64::NAN) / fuse.query(),
            latency: row.latency.min / fuse.latency.min,
        }
    }

    fn times(&self) -> [f64; 4] {
        [self.build, self.query, self.batch, self.latency]
    }
}

pub fn run(arguments: &Arguments) -> Result<(), String> {
    let path = arguments
        .baseline
        .clone()
        .unwrap_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("baseline.json"));
    let mut baseline: Vec<Ratios> = match std::fs::read(&path) {
        Ok(bytes) => serde_json::from_slice(&bytes)
            .map_err(|error| format!("{}: {error}", path.display()))?,
        Err(_) if arguments.write => Vec::new(),
        Err(error) => {
            return Err(format!("{}: {error}; --write creates a baseline", path.display()));
        }
    };
    let found = measure(arguments.rounds);
    if arguments.write {
        baseline.retain(|old| old.kernel != kernel().name());
        baseline.extend(found);
        let text = serde_json::to_string_pretty(&baseline).map_err(|error| error.to_string())?;
        return std::fs::write(&path, text + "\n")
            .map_err(|error| format!("{}: {error}", path.display()));
    }
    let (table, worse) = compare(&found, &baseline, arguments.tolerance);
    if table.rows.is_empty() {
        return Err(format!("no baseline for the kernel {}: --write creates one", kernel().name()));
    }
    println!("{}", table.text());
    match worse {
        0 => Ok(()),
        _ => Err(format!(
            "{worse} figures are worse than the baseline allows; repeat the check on an idle machine"
        )),
    }
}

fn measure(rounds: u32) -> Vec<Ratios> {
    let workload = Workload::new(KEYS, QUERIES, rounds, 1);
    let fuse = one_of_each(1).into_iter().take(1);
    let peers: Vec<_> = fuse.chain(GUARDED.map(|ribbon| ribbon.peer(1))).collect();
    let mut progress = Progress::new(1);
    progress.group("some of our filters and binary fuse");
    let rows = workload.race(&peers, &mut progress);
    rows[1..].iter().map(|row| Ratios::new(row, &rows[0])).collect()
}

/// Compares the ratios. Returns a table and the number of figures that exceed the tolerance.
fn compare(found: &[Ratios], baseline: &[Ratios], tolerance: f64) -> (Table, usize) {
    let mut worse = 0;
    let mut cell = |now: f64, then: f64, tolerance: f64| {
        let is_worse = now > then * (1.0 + tolerance);
        worse += usize::from(is_worse);
        Cell::text(format!("{now:.3} ({then:.3}){}", if is_worse { " WORSE" } else { "" }))
    };
    let mut rows = Vec::new();
    for now in found {
        let same = |then: &&Ratios| (&then.kernel, &then.name) == (&now.kernel, &now.name);
        if let Some(then) = baseline.iter().find(same) {
            let mut line = vec![Cell::text(&now.name)];
            line.push(cell(now.bits_per_key, then.bits_per_key, SIZE_TOLERANCE));
            let times = now.times().into_iter().zip(then.times());
            line.extend(times.map(|(now, then)| cell(now, then, tolerance)));
            rows.push(line);
        }
    }
    let table = Table {
        title: format!("{KEYS} keys, kernel {}", kernel().name()),
        note: format!(
            "Now (baseline). Times relative to xorf BinaryFuse8, batches relative to its single \
             queries. Tolerance: {:.0} % for times, {SIZE_TOLERANCE} for bits per key.",
            tolerance * 100.0
        ),
        columns: vec!["filter", "bits/key", "build", "query", "batch", "latency"],
        rows,
    };
    (table, worse)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ratios(bits_per_key: f64, build: f64) -> Ratios {
        let (kernel, name) = (kernel().name().into(), "one".into());
        Ratios { kernel, name, bits_per_key, build, query: 1.0, batch: 1.0, latency: 1.0 }
    }

    #[test]
    fn slower_or_larger_is_worse() {
        let baseline = [ratios(8.0, 1.0)];
        for (now, expected) in [
            (ratios(8.0, 1.2), 0),
            (ratios(8.0, 1.3), 1),
            (ratios(8.01, 1.0), 1),
            (ratios(7.9, 0.5), 0),
        ] {
            assert_eq!(compare(&[now], &baseline, 0.25).1, expected);
        }
    }
}
