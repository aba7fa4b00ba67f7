//! The latency of a query: chains in which each result chooses the next key.
//!
//! A filter that compares and branches does not make the CPU wait: it guesses the branch and begins
//! with the next key, so that a chain of absent keys, without a fence, measures throughput. With a
//! fence between the queries it measures latency. Both are shown.

use crate::peers::filters;
use crate::progress::Progress;
use crate::race::{Chains, Family, Peer, Workload, peer};
use crate::results::{Folder, Rows, Running};
use crate::svg::keys_text;
use crate::table::{Cell, Table};

#[derive(clap::Args)]
pub struct Arguments {
    /// Numbers of keys, one table each
    #[arg(long, value_delimiter = ',', default_value = "1e6,1e7")]
    keys: Vec<f64>,
    /// Rounds over all filters; the minimum of each time counts
    #[arg(long, default_value_t = 5)]
    rounds: u32,
    /// Queries per measurement, of which a quarter are links of the chain
    #[arg(long, default_value_t = 1 << 20)]
    queries: usize,
    #[command(flatten)]
    folder: Folder,
}

/// A chain without a fence that takes less than this fraction of its latency runs ahead.
const RUNS_AHEAD: f64 = 0.8;
/// The name of the row that has no filter.
const NOTHING: &str = "no filter: the chain itself";

pub fn run(arguments: &Arguments) -> Result<(), String> {
    let running = Running::begin("latency");
    let folder = arguments.folder.begin(&["latency"])?;
    let mut rows = Rows::<Chains>::open(&folder, "latency")?;
    let mut progress = Progress::new(arguments.keys.len());
    for &keys in &arguments.keys {
        progress.group(&format!("{keys} keys"));
        let workload = Workload::new(keys, arguments.queries, arguments.rounds, 1);
        let peers: Vec<Box<dyn Peer>> = [nothing()].into_iter().chain(filters(1)).collect();
        let chains = workload.chains(&peers, &mut progress);
        rows.replace(chains, |one, other| (&one.name, one.keys) == (&other.name, other.keys))?;
        println!("{}", table(&rows.all, keys as u64).text());
    }
    running.end(&folder)
}

/// A bit of the key as the result.
fn nothing() -> Box<dyn Peer> {
    peer(NOTHING, Family::Bloom, |_| ((), 0.into()), |(), key| key >> 63 == 1)
}

pub fn table(rows: &[Chains], keys: u64) -> Table {
    let line = |row: &Chains| {
        let name = Cell::text(&row.name).strong(row.family.is_ours());
        let times = [row.guessed, row.absent, row.half, row.present];
        [name].into_iter().chain(times.map(|time| Cell::number(time, 1))).collect()
    };
    Table {
        title: format!("{} keys, chains of queries", keys_text(keys)),
        note: "Time of a query in ns. Each key is one of two, chosen by the previous result. Without \
               a fence, the CPU can guess the results of filters that branch. With a fence, a query \
               begins when the previous result is known; the first row is the cost of the fence. The \
               chain without a fence comes first, after that of another filter: with many keys it \
               waits for memory more often than the chains that follow, whose blocks are in a cache \
               already. So compare it with these only where the filter fits in the caches."
            .into(),
        columns: vec![
            "filter",
            "absent, no fence",
            "absent, fence",
            "half present, fence",
            "present, fence",
        ],
        rows: rows.iter().filter(|row| row.keys == keys).map(line).collect(),
    }
}

/// Which filters have the smallest latency, and those whose chain without a fence is much faster
/// than their latency.
pub fn sentences(rows: &[Chains], keys: u64) -> Vec<String> {
    let of_keys = || rows.iter().filter(|row| row.keys == keys && row.name != NOTHING);
    let min = |ours: bool| {
        let rows = of_keys().filter(|row| row.family.is_ours() == ours);
        rows.min_by(|one, other| one.half.total_cmp(&other.half))
    };
    let Some((ours, theirs)) = min(true).zip(min(false)) else {
        return vec![];
    };
    // The fence itself takes time, which a chain without it does not have.
    let fence = rows.iter().find(|row| row.keys == keys && row.name == NOTHING);
    let fence = fence.map_or(0.0, |row| row.absent - row.guessed);
    let guessed: Vec<String> = of_keys()
        .filter(|row| row.guessed < RUNS_AHEAD * (row.absent - fence))
        .map(|row| format!("{} ({:.0} and {:.0} ns)", row.name, row.guessed, row.absent))
        .collect();
    let mut sentences = vec![format!(
        "With {} keys, {} has the smallest latency of ours ({:.1} ns, half of the keys present) and \
         {} of the others ({:.1} ns).",
        keys_text(keys),
        ours.name,
        ours.half,
        theirs.name,
        theirs.half
    )];
    if !guessed.is_empty() {
        sentences.push(format!(
            "With {} keys, a chain of absent keys without a fence takes less than four fifths of the \
             latency (without the cost of the fence) in these filters, because the CPU guesses that \
             keys are absent and runs ahead (without and with fence): {}.",
            keys_text(keys),
            guessed.join(", ")
        ));
    }
    sentences
}
