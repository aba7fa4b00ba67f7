//! What smash costs a query: the same keys in filters with and without it, queried in turn. The
//! paper's section 3.1 measured about 3 ns.
//!
//! Instructions are counted by the CPU or, where that is not permitted, by valgrind, which runs this
//! program again with the command `smash-queries`.

use crate::kernel;
use crate::race::instructions;
use crate::random::Random;
use crate::results::{Folder, Rows};
use crate::table::{Cell, Table};
use crate::times::min_cpu_times;
use ribbonfilter::simulate::filter_with_smash;
use ribbonfilter::{Filter, Variant, Width};
use serde::{Deserialize, Serialize};
use std::hint::black_box;
use std::process::Command;

pub const TEXT: &str = "The paper, section 3.1: roughly 3 ns for each query on an Intel Skylake CPU. \
    Here the few keys that smash moves to the ends of a segment take another path, in filters above \
    2 KiB; smaller filters clamp the start of every query.";

const ROUNDS: u32 = 41;
const QUERIES: usize = 1 << 18;
const RIBBONS: [(Variant, Width, usize); 7] = [
    (Variant::Homogeneous, Width::W64, 1_000),
    (Variant::Homogeneous, Width::W64, 100_000),
    (Variant::Homogeneous, Width::W64, 1_000_000),
    (Variant::Standard, Width::W64, 1_000_000),
    (Variant::Standard, Width::W128, 1_000_000),
    (Variant::Bumped, Width::W64, 1_000_000),
    (Variant::Bumped, Width::W128, 1_000_000),
];
const COLUMNS: f64 = 8.0;

/// One filter, with and without smash.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Row {
    name: String,
    keys: usize,
    kernel: String,
    /// Nanoseconds of a single query for an absent key.
    times: [f64; 2],
    /// Instructions of a query, and the kernel with which they were counted.
    instructions: Option<[f64; 2]>,
    counted_with: String,
}

/// Queries a filter once, for valgrind.
#[derive(clap::Args)]
pub struct Queries {
    /// The number of the filter in the table
    number: usize,
    /// With smash
    #[arg(long)]
    smash: bool,
}

pub fn run(folder: &Folder) -> Result<(), String> {
    let mut rows = Rows::<Row>::open(folder, "smash-time")?;
    if rows.all.is_empty() {
        rows.add((0..RIBBONS.len()).filter_map(measure).collect())?;
    }
    Ok(())
}

pub fn run_queries(arguments: &Queries) -> Result<(), String> {
    let filter = filter(arguments.number, arguments.smash).ok_or("no such filter")?;
    println!("kernel {}, {} found", kernel().name(), count_queries(&filter, &queries()));
    Ok(())
}

fn filter(number: usize, smash: bool) -> Option<Filter> {
    let &(variant, width, keys) = RIBBONS.get(number)?;
    let filter = filter_with_smash(variant, width, COLUMNS, smash, Random::new(1).take(keys))?;
    Some(filter.with_kernel(kernel()))
}

fn queries() -> Vec<u64> {
    Random::new(2).take(QUERIES).collect()
}

/// A function of its own, whose instructions valgrind counts.
#[inline(never)]
fn count_queries(filter: &Filter, queries: &[u64]) -> usize {
    queries.iter().filter(|&&hash| filter.contains_hash(hash)).count()
}

fn measure(number: usize) -> Option<Row> {
    let (variant, width, keys) = RIBBONS[number];
    let (on, off, queries) = (filter(number, true)?, filter(number, false)?, queries());
    let times = min_cpu_times(ROUNDS, &[&on, &off], |filter| {
        black_box(count_queries(filter, &queries));
    });
    let by_cpu = |filter| instructions::count(|| count_queries(filter, &queries));
    let (counted, counted_with) = match by_cpu(&on).zip(by_cpu(&off)) {
        Some((on, off)) => (Some([on, off]), kernel().name().into()),
        None => match by_valgrind(number, true).zip(by_valgrind(number, false)) {
            Some(((on, kernel), (off, _))) => (Some([on, off]), kernel),
            None => (None, String::new()),
        },
    };
    let per_query = |both: [f64; 2]| both.map(|sum| sum / QUERIES as f64);
    Some(Row {
        name: format!("{variant} w={width}"),
        keys,
        kernel: kernel().name().into(),
        times: per_query(times),
        instructions: counted.map(per_query),
        counted_with,
    })
}

/// The instructions of all queries, counted by valgrind, and the kernel that ran there.
fn by_valgrind(number: usize, smash: bool) -> Option<(f64, String)> {
    let program = std::env::current_exe().ok()?;
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null", "--collect-atstart=no"])
        .arg("--toggle-collect=*smash_time*count_queries*")
        .arg(program)
        .args(["smash-queries", &number.to_string()])
        .args(smash.then_some("--smash"))
        .output()
        .ok()?;
    let text = String::from_utf8_lossy(&output.stderr);
    let counted: f64 =
        text.split("Collected : ").nth(1)?.split_whitespace().next()?.parse().ok()?;
    // Without symbols valgrind does not find the function, and counts nothing.
    if counted == 0.0 {
        return None;
    }
    let printed = String::from_utf8_lossy(&output.stdout);
    Some((counted, printed.split([' ', ',']).nth(1)?.into()))
}

pub fn tables(rows: &[Row]) -> Vec<Table> {
    let line = |row: &Row| {
        let [on, off] = row.times;
        let counts = row.instructions;
        let count = |index: usize| Cell::or_none(counts.map(|both| Cell::number(both[index], 1)));
        vec![
            Cell::text(&row.name).strong(true),
            Cell::number(row.keys as f64, 0),
            Cell::number(on, 2),
            Cell::number(off, 2),
            Cell::number(on - off, 2),
            count(0),
            count(1),
            Cell::or_none(counts.map(|[on, off]| Cell::number(on - off, 1))),
        ]
    };
    let kernels = rows.first().map(|row| (row.kernel.as_str(), row.counted_with.as_str()));
    let (kernel, counted) = kernels.unwrap_or_default();
    let table = Table {
        title: "A query with and without smash".into(),
        note: format!(
            "{COLUMNS} columns, single queries for absent keys: nanoseconds with the kernel \
             {kernel}, the minimum of {ROUNDS} rounds; instructions with the kernel {counted}."
        ),
        columns: vec![
            "filter",
            "keys",
            "ns, on",
            "ns, off",
            "difference",
            "instr., on",
            "instr., off",
            "difference",
        ],
        rows: rows.iter().map(line).collect(),
    };
    if rows.is_empty() { vec![] } else { vec![table] }
}
