//! Our filters beside what a user would take instead: one process, the same keys, the same
//! loops, alternating rounds, the least of several. Then our functions, likewise.

mod contender;
mod fastbloom;
mod instructions;
mod pleat;
mod ribbon;
mod sbbf;
mod sux;
mod xorf;

use crate::random::Random;
use contender::{Contender, Peer};
use serde::Serialize;
use std::path::PathBuf;
use std::time::Instant;

#[derive(clap::Args)]
pub struct Arguments {
    /// Number of keys
    #[arg(long, default_value_t = 1e6)]
    keys: f64,
    /// Rounds over all filters, then over all functions; the least of each figure counts
    #[arg(long, default_value_t = 5)]
    rounds: u32,
    /// Only filters and functions whose name contains one of these
    #[arg(long, value_delimiter = ',')]
    only: Vec<String>,
    /// Threads for our builds (peers that can take them get as many)
    #[arg(long, default_value_t = 1)]
    threads: usize,
    /// Queries in one measurement
    #[arg(long, default_value_t = 1 << 21)]
    queries: usize,
    /// Write all figures as JSON
    #[arg(long)]
    json: Option<PathBuf>,
}

/// What was measured of one filter; times in nanoseconds, the least of all rounds.
#[derive(Clone, Debug, Serialize)]
struct Figures {
    name: String,
    ours: bool,
    bits_per_key: f64,
    rate: f64,
    overhead: f64,
    build: Times,
    absent: Times,
    present: Times,
    batch_absent: Option<Times>,
    batch_present: Option<Times>,
    latency: Times,
    instructions: Option<f64>,
}

/// The least of several measurements, and how far the greatest was above it.
#[derive(Clone, Copy, Debug, Serialize)]
struct Times {
    least: f64,
    spread: f64,
}

impl Times {
    const NONE: Self = Self { least: f64::INFINITY, spread: 0.0 };

    fn add(&mut self, time: f64) {
        let greatest = if self.least.is_finite() { self.least * (1.0 + self.spread) } else { time };
        self.least = self.least.min(time);
        self.spread = greatest.max(time) / self.least - 1.0;
    }
}

pub fn run(arguments: &Arguments) {
    let keys: Vec<u64> = Random::new(1).take(arguments.keys as usize).collect();
    let absent: Vec<u64> = Random::new(2).take(arguments.queries).collect();
    let stride = 0x9e37_79b9_7f4a_7c15_u64;
    let present: Vec<u64> = (0..arguments.queries as u64)
        .map(|index| {
            let place = u128::from(index.wrapping_mul(stride)) * keys.len() as u128;
            keys[(place >> 64) as usize]
        })
        .collect();
    let queries = Queries { keys, absent, present };
    let mut figures = Vec::new();
    for (kind, peers) in
        [("filter", filters(arguments.threads)), ("function", functions(arguments.threads))]
    {
        let measured = compare(arguments, chosen(arguments, peers), &queries);
        if !measured.is_empty() {
            print(kind, &measured, queries.keys.len());
        }
        figures.extend(measured);
    }
    if let Some(path) = &arguments.json {
        let text = serde_json::to_string_pretty(&figures).expect("plain numbers");
        std::fs::write(path, text).expect("a writable file");
    }
}

/// Keys to build from, and keys to ask for.
struct Queries {
    keys: Vec<u64>,
    absent: Vec<u64>,
    present: Vec<u64>,
}

/// Those that the arguments ask for.
fn chosen(arguments: &Arguments, peers: Vec<Box<dyn Peer>>) -> Vec<Box<dyn Peer>> {
    let is_chosen = |name: &str| {
        arguments.only.is_empty() || arguments.only.iter().any(|only| name.contains(only))
    };
    peers.into_iter().filter(|peer| is_chosen(&peer.name())).collect()
}

/// Builds and asks all of them, in turns.
fn compare(arguments: &Arguments, peers: Vec<Box<dyn Peer>>, queries: &Queries) -> Vec<Figures> {
    let keys = &queries.keys;
    let mut figures: Vec<Figures> = peers.iter().map(|peer| begin(&**peer)).collect();
    let mut built: Vec<Option<Box<dyn Contender>>> = peers.iter().map(|_| None).collect();
    for _ in 0..arguments.rounds {
        for ((peer, figures), built) in peers.iter().zip(&mut figures).zip(&mut built) {
            *built = None;
            let (contender, time) = timed(|| peer.build(keys));
            figures.build.add(time / keys.len() as f64);
            *built = Some(contender);
        }
        for (figures, built) in figures.iter_mut().zip(&built) {
            measure(figures, built.as_deref().expect("built above"), queries);
        }
    }
    figures
}

fn filters(threads: usize) -> Vec<Box<dyn Peer>> {
    let mut all: Vec<Box<dyn Peer>> = ribbon::all(threads);
    all.extend(xorf::all());
    all.extend(sux::all(threads));
    all.extend(pleat::all());
    all.extend(fastbloom::all());
    all.extend(sbbf::all());
    all
}

fn functions(threads: usize) -> Vec<Box<dyn Peer>> {
    let mut all = ribbon::functions(threads);
    all.extend(sux::functions(threads));
    all
}

fn begin(peer: &dyn Peer) -> Figures {
    Figures {
        name: peer.name(),
        ours: peer.is_ours(),
        bits_per_key: 0.0,
        rate: 0.0,
        overhead: 0.0,
        build: Times::NONE,
        absent: Times::NONE,
        present: Times::NONE,
        batch_absent: None,
        batch_present: None,
        latency: Times::NONE,
        instructions: None,
    }
}

fn timed<T>(work: impl FnOnce() -> T) -> (T, f64) {
    let start = Instant::now();
    let result = work();
    (result, start.elapsed().as_secs_f64() * 1e9)
}

fn measure(figures: &mut Figures, contender: &dyn Contender, queries: &Queries) {
    let Queries { keys, absent, present } = queries;
    let queries = absent.len() as f64;
    let (found, time) = timed(|| contender.count(absent));
    figures.absent.add(time / queries);
    figures.rate = found as f64 / queries;
    figures.bits_per_key = contender.bytes() as f64 * 8.0 / keys.len() as f64;
    figures.overhead = figures.bits_per_key / -figures.rate.log2() - 1.0;
    let (found, time) = timed(|| contender.count(present));
    assert_eq!(found, present.len(), "{} lost a key", figures.name);
    figures.present.add(time / queries);
    let mut hits = vec![false; present.len()];
    for (queries, times) in
        [(absent, &mut figures.batch_absent), (present, &mut figures.batch_present)]
    {
        let (batched, time) = timed(|| contender.batch(queries, &mut hits));
        if batched {
            times.get_or_insert(Times::NONE).add(time / queries.len() as f64);
        }
    }
    let (_, time) = timed(|| contender.chain(&absent[..absent.len() / 4]));
    figures.latency.add(time / (absent.len() / 4) as f64);
    figures.instructions = instructions::count(|| contender.count(absent)).map(|all| all / queries);
}

fn print(kind: &str, figures: &[Figures], keys: usize) {
    println!(
        "{keys} keys; times in ns, the least of all rounds; ratio to the best peer in brackets"
    );
    println!(
        "{:<30} {:>8} {:>9} {:>8} {:>15} {:>14} {:>14} {:>14} {:>14} {:>14} {:>6}",
        kind,
        "bits/key",
        "rate",
        "overhead",
        "build",
        "absent",
        "present",
        "batch absent",
        "batch present",
        "latency",
        "instr"
    );
    let best = |figure: &dyn Fn(&Figures) -> f64| {
        let peers = figures.iter().filter(|figures| !figures.ours);
        peers.map(figure).filter(|time| time.is_finite()).fold(f64::INFINITY, f64::min)
    };
    let least = |times: Option<Times>| times.map_or(f64::INFINITY, |times| times.least);
    let columns: [&dyn Fn(&Figures) -> f64; 6] = [
        &|figures| figures.build.least,
        &|figures| figures.absent.least,
        &|figures| figures.present.least,
        &|figures| least(figures.batch_absent),
        &|figures| least(figures.batch_present),
        &|figures| figures.latency.least,
    ];
    let bests = columns.map(best);
    for figures in figures {
        print!(
            "{:<30} {:>8.3} {:>9.3e} {:>6.2} %",
            figures.name,
            figures.bits_per_key,
            figures.rate,
            figures.overhead * 100.0
        );
        for (column, best) in columns.iter().zip(bests) {
            let time = column(figures);
            match time.is_finite() {
                true => print!(" {time:>7.2} ({:>4.2})", time / best),
                false => print!(" {:>14}", "-"),
            }
        }
        println!("  {}", figures.instructions.map_or("-".into(), |count| format!("{count:.0}")));
    }
}
