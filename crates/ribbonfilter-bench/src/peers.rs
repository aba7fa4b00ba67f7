//! Compares our filters and functions with other crates, one file per crate. Filters of the paper
//! that no well-kept crate has are written here for the comparison: `blocked_bloom`, `cuckoo`, `xor`.
//!
//! Two of the paper's filters are missing, the Morton filter and the cuckoo filter with sorted
//! buckets: both are cuckoo filters with compressed buckets, no crate has them, and neither is the
//! fastest anywhere in the paper's figure 1.

mod blocked_bloom;
mod cuckoo;
mod fastbloom;
mod packed;
pub mod pleat;
mod qfilter;
mod ribbon;
mod sbbf;
mod sux;
#[cfg(test)]
mod testing;
mod xor;
mod xorf;

pub use ribbon::Ribbon;

use crate::progress::Progress;
use crate::race::{Peer, Row, Workload};
use crate::results::{Folder, Rows, Running};
use crate::svg::keys_text;
use crate::table::{Cell, Table};
use ribbonfilter::{Variant, Width};

#[derive(clap::Args)]
pub struct Arguments {
    /// Numbers of keys, one table each
    #[arg(long, value_delimiter = ',', default_value = "1e3,1e4,1e5,1e6,1e7")]
    keys: Vec<f64>,
    /// Rounds over all filters; the minimum of each time counts
    #[arg(long, default_value_t = 5)]
    rounds: u32,
    /// Only filters whose name contains one of these
    #[arg(long, value_delimiter = ',')]
    only: Vec<String>,
    /// Only our filters
    #[arg(long)]
    ours: bool,
    /// Number of build threads (also of peers that support threads)
    #[arg(long, default_value_t = 1)]
    threads: usize,
    /// Queries per measurement
    #[arg(long, default_value_t = 1 << 21)]
    queries: usize,
    #[command(flatten)]
    folder: Folder,
}

/// What the column of latencies means.
pub const LATENCY: &str = "Latency: each key is chosen by the previous result, which the CPU cannot \
                           guess; half of the keys are present.";

/// The most common rate.
const RATE: f64 = 0.01;

pub fn run(arguments: &Arguments) -> Result<(), String> {
    let running = Running::begin("peers");
    let folder = arguments.folder.begin(&["peers"])?;
    for &keys in &arguments.keys {
        run_at(keys, arguments, &folder)?;
    }
    running.end(&folder)
}

fn run_at(keys: f64, arguments: &Arguments, folder: &Folder) -> Result<(), String> {
    let mut rows = Rows::<Row>::open(folder, "peers")?;
    let threads = arguments.threads;
    let workload = Workload::new(keys, arguments.queries, arguments.rounds, threads);
    let mut progress = Progress::new(1);
    progress.group(&format!("{keys} keys"));
    let chosen = |name: &str| {
        arguments.only.is_empty() || arguments.only.iter().any(|only| name.contains(only))
    };
    let mut peers = filters(threads);
    peers.retain(|peer| chosen(peer.name()) && (!arguments.ours || peer.family().is_ours()));
    // All filters are measured in turn, so an interrupted race starts again from the beginning.
    let raced = workload.race(&peers, &mut progress);
    println!("{}", table(&raced).text());
    rows.replace(raced, Row::is_same)
}

/// Ours, and the peers for a rate of about 1/256 and 2^-16.
pub fn filters(threads: usize) -> Vec<Box<dyn Peer>> {
    let ours = [
        (Variant::Homogeneous, Width::W64, 8.0),
        (Variant::Homogeneous, Width::W64, 7.0),
        (Variant::Homogeneous, Width::W32, 8.0),
        (Variant::Homogeneous, Width::W128, 8.0),
        (Variant::Standard, Width::W64, 8.0),
        (Variant::Standard, Width::W128, 8.0),
        (Variant::Balanced, Width::W64, 7.0),
        (Variant::Bumped, Width::W128, 8.0),
        (Variant::Bumped, Width::W64, 8.0),
        (Variant::Bumped, Width::W32, 8.0),
        (Variant::Bumped, Width::W128, 16.0),
        (Variant::Homogeneous, Width::W64, 16.0),
    ];
    let ours = ours.map(|(variant, width, r)| Ribbon::new(variant, width, r).peer(threads));
    let at_rate = [
        ribbon::default_at(RATE, threads),
        ribbon::at_rate(Variant::Homogeneous, Width::W64, RATE, threads),
    ];
    let mut all: Vec<_> = ours.into_iter().chain(at_rate).chain(near(8, threads)).collect();
    all.extend(xorf::sixteen());
    all.extend(cuckoo::both::<12>());
    all.extend(cuckoo::both::<16>());
    all
}

/// Our functions and that of sux, with values of `bits` bits.
pub fn functions(bits: u32, threads: usize) -> Vec<Box<dyn Peer>> {
    let ours = [
        (Variant::Standard, Width::W64),
        (Variant::Standard, Width::W128),
        (Variant::Bumped, Width::W64),
        (Variant::Bumped, Width::W128),
    ];
    let ours = ours.map(|(variant, width)| ribbon::function(variant, width, bits, threads));
    ours.into_iter().chain([sux::function(bits, threads)]).collect()
}

/// One filter of each kind, with a rate of about 1/256.
pub fn one_of_each(threads: usize) -> Vec<Box<dyn Peer>> {
    let mut all = xorf::eight();
    all.truncate(1);
    all.extend([sux::bytes(threads), pleat::homogeneous::<8>(), sbbf::filter(split_block(8))]);
    all.extend(blocked_bloom::all(8).into_iter().take(1));
    all
}

/// The filters of [`one_of_each`] that can be built on several threads.
pub fn threaded(threads: usize) -> Vec<Box<dyn Peer>> {
    vec![sux::bytes(threads)]
}

/// The peers for a rate of about 2^-`bits`.
pub fn near(bits: u32, threads: usize) -> Vec<Box<dyn Peer>> {
    let mut all = vec![];
    if (7..=8).contains(&bits) {
        all.extend(xorf::eight());
        all.push(sux::bytes(threads));
    }
    if bits != 8 {
        all.push(sux::packed(bits as usize, threads));
    }
    match bits {
        3 => all.extend([pleat::homogeneous::<3>(), pleat::standard::<3>()]),
        7 => all.extend([pleat::homogeneous::<7>(), pleat::standard::<7>()]),
        8 => all.extend([pleat::homogeneous::<8>(), pleat::standard::<8>()]),
        11 => all.extend([pleat::homogeneous::<11>(), pleat::standard::<11>()]),
        15 | 16 => all.extend(xorf::sixteen()),
        _ => {}
    }
    all.extend(peeled(bits));
    match bits {
        // The rates of cuckoo filters are about 2^-5.1, 2^-9.1 and 2^-13.1; the paper shows the
        // latter two beside 7 and 11 columns.
        5 => all.extend(cuckoo::both::<8>()),
        7 => all.extend(cuckoo::both::<12>()),
        11 => all.extend(cuckoo::both::<16>()),
        _ => {}
    }
    all.extend([qfilter::filter(bits), fastbloom::filter(bits), sbbf::filter(split_block(bits))]);
    all.extend(blocked_bloom::all(bits));
    all
}

/// Xor and Xor+ filters for a rate of about 2^-`bits`, with the widths that the paper chose. xorf
/// has the Xor filters of 8 and 16 bits.
fn peeled(bits: u32) -> Vec<Box<dyn Peer>> {
    match bits {
        7 => vec![xor::filter(7), xor::plus(8)],
        8 | 16 => vec![xor::plus(bits)],
        11 => vec![xor::filter(12), xor::plus(11)],
        _ => vec![xor::filter(bits), xor::plus(bits)],
    }
}

/// The bits per key with which a split-block Bloom filter has a rate of about 2^-`bits`. A block
/// has eight words of 32 bits, and a query tests one bit of each. A bit must therefore be set with
/// the eighth root of the rate as probability, which gives the number of keys per block.
fn split_block(bits: u32) -> usize {
    let set = 0.5_f64.powf(f64::from(bits) / 8.0);
    let keys = (1.0 - set).ln() / (31.0_f64 / 32.0).ln();
    (256.0 / keys).ceil() as usize
}

/// All figures, with the ratio of each time to that of the best peer.
pub fn table(rows: &[Row]) -> Table {
    let columns: [fn(&Row) -> Option<f64>; 8] = [
        |row| Some(row.build.min),
        |row| Some(row.single[0].min),
        |row| Some(row.single[1].min),
        |row| Some(row.single[2].min),
        |row| row.batch.map(|batch| batch[0].min),
        |row| row.batch.map(|batch| batch[1].min),
        |row| row.batch.map(|batch| batch[2].min),
        |row| Some(row.latency.min),
    ];
    let best = columns.map(|figure| {
        let peers = rows.iter().filter(|row| !row.family.is_ours());
        peers.filter_map(figure).fold(f64::INFINITY, f64::min)
    });
    // Machines without performance counters count no instructions.
    let counted = rows.iter().any(|row| row.instructions.is_some());
    let line = |row: &Row| {
        let mut cells = vec![
            Cell::text(&row.name).strong(row.family.is_ours()),
            Cell::number(row.bits_per_key, 3),
            Cell { text: format!("{:.2e}", row.rate), value: Some(row.rate), strong: false },
            Cell::percent(row.overhead, 2),
        ];
        cells.extend(columns.iter().zip(best).map(|(figure, best)| {
            Cell::or_none(figure(row).map(|time| {
                let ratio =
                    if best.is_finite() { format!(" ({:.2})", time / best) } else { String::new() };
                Cell::number(time, 1).and(&ratio)
            }))
        }));
        let spread = row.single.iter().chain([&row.build]).map(|times| times.spread);
        cells.push(Cell::percent(spread.fold(0.0, f64::max), 0));
        if counted {
            cells.push(Cell::or_none(row.instructions.map(|count| Cell::number(count, 0))));
        }
        cells
    };
    let keys = rows.first().map_or(0, |row| row.keys);
    let threads = rows.first().map_or(1, |row| row.threads);
    Table {
        title: format!("{} keys, filters", keys_text(keys)),
        note: format!(
            "Builds on {threads} thread(s). Times in ns per key, the minimum of all rounds, in \
             brackets relative to the best peer. Queries with none, half and all of the keys \
             present. {LATENCY} Spread: how far the worst round of build and single queries was \
             above the minimum."
        ),
        columns: [
            "filter",
            "bits/key",
            "rate",
            "overhead %",
            "build",
            "query 0 %",
            "query 50 %",
            "query 100 %",
            "batch 0 %",
            "batch 50 %",
            "batch 100 %",
            "latency",
            "spread %",
        ]
        .into_iter()
        .chain(counted.then_some("instr."))
        .collect(),
        rows: rows.iter().map(line).collect(),
    }
}
