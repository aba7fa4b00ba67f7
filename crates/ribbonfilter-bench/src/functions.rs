//! Static functions with values of 1 to 64 bits, compared with those of sux in one table.

use crate::peers::{LATENCY, functions};
use crate::progress::Progress;
use crate::race::{Row, Workload};
use crate::results::{Folder, Rows, Running};
use crate::svg::keys_text;
use crate::table::{Cell, Table};

#[derive(clap::Args)]
pub struct Arguments {
    /// Numbers of keys, one table each
    #[arg(long, value_delimiter = ',', default_value = "1e6,1e7")]
    keys: Vec<f64>,
    /// Rounds over the functions of one number of bits; the minimum of each time counts
    #[arg(long, default_value_t = 3)]
    rounds: u32,
    /// Queries per measurement
    #[arg(long, default_value_t = 1 << 20)]
    queries: usize,
    #[command(flatten)]
    folder: Folder,
}

/// The numbers of bits of a value.
const BITS: [u32; 5] = [1, 8, 16, 32, 64];

pub fn run(arguments: &Arguments) -> Result<(), String> {
    let running = Running::begin("functions");
    let folder = arguments.folder.begin(&["functions"])?;
    let mut rows = Rows::<Row>::open(&folder, "functions")?;
    let mut progress = Progress::new(arguments.keys.len() * BITS.len());
    for &keys in &arguments.keys {
        let workload = Workload::new(keys, arguments.queries, arguments.rounds, 1);
        for bits in BITS {
            progress.group(&format!("{keys} keys, {bits} bits"));
            let raced = workload.race(&functions(bits, 1), &mut progress);
            rows.replace(raced, Row::is_same)?;
        }
        println!("{}", table(&rows.all, keys as u64).text());
    }
    running.end(&folder)
}

/// All functions of `keys` keys. Times of ours are also relative to the function of sux with as many
/// bits.
pub fn table(rows: &[Row], keys: u64) -> Table {
    let rows: Vec<&Row> = rows.iter().filter(|row| row.keys == keys).collect();
    let times: [fn(&Row) -> Option<f64>; 4] = [
        |row| Some(row.build.min),
        |row| Some(row.single[2].min),
        |row| row.batch.map(|batch| batch[2].min),
        |row| Some(row.latency.min),
    ];
    let line = |row: &&Row| {
        let bits = bits_of(row);
        let of_same_bits = |peer: &&&Row| !peer.family.is_ours() && bits_of(peer) == bits;
        let sux = rows.iter().find(of_same_bits);
        let mut cells = vec![
            Cell::text(&row.name).strong(row.family.is_ours()),
            Cell::number(bits, 0),
            Cell::number(row.bits_per_key, 3),
            Cell::percent(row.overhead, 2),
        ];
        cells.extend(times.iter().map(|time| {
            let ratio = match (time(row), sux.and_then(|sux| time(sux))) {
                (Some(ours), Some(theirs)) if row.family.is_ours() => {
                    format!(" ({:.2})", ours / theirs)
                }
                _ => String::new(),
            };
            Cell::or_none(time(row).map(|time| Cell::number(time, 1).and(&ratio)))
        }));
        cells
    };
    Table {
        title: format!("{} keys, functions", keys_text(keys)),
        note: format!(
            "Values of r bits. Overhead is all stored bits over r per key, minus one. Times in ns per \
             key on one thread, in brackets relative to sux. Queries are of keys of the function. \
             {LATENCY}"
        ),
        columns: vec![
            "function",
            "r",
            "bits/key",
            "overhead %",
            "build",
            "query",
            "batch",
            "latency",
        ],
        rows: rows.iter().map(line).collect(),
    }
}

/// The number of bits of a value. The rate at which a function returns a given value is exact.
fn bits_of(row: &Row) -> f64 {
    let planned = row.bits_per_key / (1.0 + row.overhead);
    planned.round()
}
