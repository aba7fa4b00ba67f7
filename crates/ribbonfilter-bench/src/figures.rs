//! Measures the rows from which `report` draws the figures.

pub mod map;
pub mod reach;
pub mod sizes;

use crate::peers::{Ribbon, near, one_of_each, threaded};
use crate::progress::Progress;
use crate::race::{Peer, Row, Workload};
use crate::results::{Folder, Rows, Running};
use ribbonfilter::{Variant, Width};

#[derive(clap::Args)]
pub struct Arguments {
    /// Numbers of keys for the maps of the fastest filters
    #[arg(long, value_delimiter = ',', default_value = "1e6,1e7")]
    keys: Vec<f64>,
    /// Maximum number of keys for times against keys, from 10^3 on
    #[arg(long, default_value_t = 1e7)]
    largest: f64,
    /// Measure times against keys up to 10^8, and a map for 10^8
    #[arg(long)]
    full: bool,
    /// What to measure
    #[arg(long, value_delimiter = ',', default_value = "maps,sizes,threads")]
    parts: Vec<Part>,
    /// Rounds over the filters of one rate or number of keys; the minimum of each time counts
    #[arg(long, default_value_t = 3)]
    rounds: u32,
    /// Queries per measurement
    #[arg(long, default_value_t = 1 << 20)]
    queries: usize,
    #[command(flatten)]
    folder: Folder,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Part {
    /// The fastest filter for each overhead and rate
    Maps,
    /// Times against the number of keys
    Sizes,
    /// Builds against the number of threads
    Threads,
}

/// The rates of the map, as bits. A field may show a filter of twice or half its rate, so above 8
/// bits every second rate is enough.
const BITS: [u32; 13] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 13, 15, 16];
/// The same for very many keys, with every second rate throughout. Rows of Table 2 are taken for
/// three of them.
const FEW_BITS: [u32; 8] = [1, 3, 5, 7, 9, 11, 13, 15];
/// From this number of keys on there are few rates.
const VERY_MANY: f64 = 5e7;

/// A map of more than 10^6 keys leaves out filters that were slow in the next smaller map: those that
/// took this many times as long as a filter of at most their size.
fn max_factor(keys: f64) -> f64 {
    if keys < VERY_MANY { 2.0 } else { 1.5 }
}

/// Filters whose times against keys and threads are shown.
const SHOWN: [Ribbon; 4] = [
    Ribbon::new(Variant::Bumped, Width::W128, 8.0),
    Ribbon::new(Variant::Bumped, Width::W64, 8.0),
    Ribbon::new(Variant::Standard, Width::W128, 8.0),
    Ribbon::new(Variant::Homogeneous, Width::W64, 8.0),
];

pub fn run(arguments: &Arguments) -> Result<(), String> {
    let names: Vec<&str> = [Part::Maps, Part::Sizes, Part::Threads]
        .into_iter()
        .zip(["map", "sizes", "threads"])
        .filter_map(|(part, name)| arguments.parts.contains(&part).then_some(name))
        .collect();
    let running = Running::begin(&names.join(" "));
    let folder = &arguments.folder.begin(&names)?;
    let mut measuring = Measuring { arguments, folder, progress: Progress::new(0) };
    for part in &arguments.parts {
        match part {
            Part::Maps => measuring.maps()?,
            Part::Sizes => measuring.sizes()?,
            Part::Threads => measuring.threads()?,
        }
    }
    drop(measuring);
    running.end(folder)?;
    println!("measured; `ribbon-bench report` draws the figures");
    Ok(())
}

/// 1, 2, 4, … and the number of cores.
fn thread_counts() -> Vec<usize> {
    let all = std::thread::available_parallelism().map_or(1, Into::into);
    let mut counts: Vec<usize> = std::iter::successors(Some(1), |count| Some(count * 2))
        .take_while(|&count| count < all)
        .collect();
    counts.push(all);
    counts
}

fn shown(threads: usize, peers: Vec<Box<dyn Peer>>) -> Vec<Box<dyn Peer>> {
    let ours = SHOWN.map(|ribbon| ribbon.peer(threads));
    ours.into_iter().chain(peers).collect()
}

/// State shared by all measurements of this command.
struct Measuring<'a> {
    arguments: &'a Arguments,
    folder: &'a Folder,
    progress: Progress,
}

impl Measuring<'_> {
    /// The fastest filters, with few keys first.
    fn maps(&mut self) -> Result<(), String> {
        let mut numbers = self.arguments.keys.clone();
        numbers.extend((self.arguments.full && !numbers.contains(&1e8)).then_some(1e8));
        numbers.sort_by(f64::total_cmp);
        for keys in numbers {
            let rates: &[u32] = if keys < VERY_MANY { &BITS } else { &FEW_BITS };
            self.progress = Progress::new(rates.len());
            let workload = self.workload(keys, 1);
            for &bits in rates {
                let peers = self.contenders(keys, bits)?;
                self.add("map", &format!("map, {keys} keys, {bits} bits"), &workload, peers)?;
            }
        }
        Ok(())
    }

    /// The filters for a rate of 2^-`bits`, without those that are slow with fewer keys.
    fn contenders(&self, keys: f64, bits: u32) -> Result<Vec<Box<dyn Peer>>, String> {
        let rows = Rows::<Row>::open(self.folder, "map")?.all;
        let fewer = rows.iter().map(|row| row.keys).filter(|&fewer| (fewer as f64) < keys).max();
        let ours = Ribbon::all(bits.into()).filter(|ribbon| ribbon.is_suitable(keys as usize));
        let mut peers: Vec<_> = ours.map(|ribbon| ribbon.peer(1)).chain(near(bits, 1)).collect();
        if let Some(fewer) = fewer {
            let factor = max_factor(keys);
            peers.retain(|peer| map::is_contender(&rows, fewer, peer.name(), factor));
        }
        if keys >= VERY_MANY {
            let table2 = Rows::<Row>::open(self.folder, "table2")?.all;
            let is_known =
                |name: &str| table2.iter().any(|row| row.keys == keys as u64 && row.name == name);
            peers.retain(|peer| !is_known(peer.name()));
        }
        Ok(peers)
    }

    fn sizes(&mut self) -> Result<(), String> {
        let largest = if self.arguments.full { 1e8 } else { self.arguments.largest };
        let all = (3..=8).map(|power| 10_f64.powi(power));
        let sizes: Vec<f64> = all.filter(|&keys| keys <= largest * 1.001).collect();
        self.progress = Progress::new(sizes.len());
        for keys in sizes {
            let workload = self.workload(keys, 1);
            self.add("sizes", &format!("{keys} keys"), &workload, shown(1, one_of_each(1)))?;
        }
        Ok(())
    }

    fn threads(&mut self) -> Result<(), String> {
        let counts = thread_counts();
        self.progress = Progress::new(counts.len());
        for threads in counts {
            let workload = self.workload(1e7_f64.min(self.arguments.largest), threads);
            let peers = shown(threads, threaded(threads));
            self.add("threads", &format!("{threads} threads"), &workload, peers)?;
        }
        Ok(())
    }

    fn workload(&self, keys: f64, threads: usize) -> Workload {
        Workload::new(keys, self.arguments.queries, self.arguments.rounds, threads)
    }

    /// Measures the filters that are not in the rows yet.
    fn add(
        &mut self,
        rows: &str,
        title: &str,
        workload: &Workload,
        mut peers: Vec<Box<dyn Peer>>,
    ) -> Result<(), String> {
        self.progress.group(title);
        let mut rows = Rows::<Row>::open(self.folder, rows)?;
        workload.retain_missing(&mut peers, &rows.all);
        rows.add(workload.race(&peers, &mut self.progress))
    }
}
