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
    #[arg(long, value_delimiter = ',', default_value = "1e6")]
    keys: Vec<f64>,
    /// Maximum number of keys for times against keys, from 10^3 on
    #[arg(long, default_value_t = 1e7)]
    largest: f64,
    /// Measure times against keys up to 10^8, and a map for 10^7
    #[arg(long)]
    full: bool,
    /// Rounds over the filters of one rate or number of keys; the minimum of each time counts
    #[arg(long, default_value_t = 3)]
    rounds: u32,
    /// Queries per measurement
    #[arg(long, default_value_t = 1 << 20)]
    queries: usize,
    #[command(flatten)]
    folder: Folder,
}

/// The rates of the map, as bits. A field may show a filter of twice or half its rate, so above 8
/// bits every second rate is enough.
const BITS: [u32; 12] = [1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16];

/// Filters whose times against keys and threads are shown.
const SHOWN: [Ribbon; 4] = [
    Ribbon::new(Variant::Bumped, Width::W128, 8.0),
    Ribbon::new(Variant::Bumped, Width::W64, 8.0),
    Ribbon::new(Variant::Standard, Width::W128, 8.0),
    Ribbon::new(Variant::Homogeneous, Width::W64, 8.0),
];

pub fn run(arguments: &Arguments) -> Result<(), String> {
    let running = Running::begin("map sizes threads");
    let folder = &arguments.folder.begin(&["map", "sizes", "threads"])?;
    let mut maps = arguments.keys.clone();
    maps.extend((arguments.full && !maps.contains(&1e7)).then_some(1e7));
    let largest = if arguments.full { 1e8 } else { arguments.largest };
    let sizes: Vec<f64> =
        (3..=8).map(|power| 10_f64.powi(power)).filter(|&keys| keys <= largest * 1.001).collect();
    let threads = thread_counts();
    let groups = maps.len() * BITS.len() + sizes.len() + threads.len();
    let mut measuring = Measuring { arguments, folder, progress: Progress::new(groups) };

    for keys in maps {
        let workload = measuring.workload(keys, 1);
        for bits in BITS {
            let title = format!("map, {keys} keys, {bits} bits");
            let ours =
                Ribbon::all(bits.into()).filter(|ribbon| ribbon.is_suitable(workload.keys()));
            let peers = ours.map(|ribbon| ribbon.peer(1)).chain(near(bits, 1)).collect();
            measuring.add("map", &title, &workload, peers)?;
        }
    }
    for keys in sizes {
        let workload = measuring.workload(keys, 1);
        measuring.add("sizes", &format!("{keys} keys"), &workload, shown(1, one_of_each(1)))?;
    }
    for threads in threads {
        let workload = measuring.workload(1e7_f64.min(largest), threads);
        let title = format!("{threads} threads");
        let peers = shown(threads, threaded(threads));
        measuring.add("threads", &title, &workload, peers)?;
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
        peers.retain(|peer| !rows.all.iter().any(|row| workload.has(row, peer.name())));
        rows.add(workload.race(&peers, &mut self.progress))
    }
}
