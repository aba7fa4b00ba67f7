//! The paper's Table 2: every ribbon and its peers at three rates, compared with the paper's
//! figures. The filters of one rate are measured in turn; a finished rate is not measured again.

mod paper;

use crate::peers::{LATENCY, Ribbon, near, pleat};
use crate::progress::Progress;
use crate::race::{Family, Peer, Row, Workload};
use crate::results::{Folder, Rows, Running};
use crate::svg::keys_text;
use crate::table::{Cell, Table};
use ribbonfilter::{Variant, Width};

#[derive(clap::Args)]
pub struct Arguments {
    /// Numbers of keys
    #[arg(long, value_delimiter = ',', default_value = "1e6,1e7")]
    keys: Vec<f64>,
    /// Add 10^8 keys
    #[arg(long)]
    full: bool,
    /// Rounds over the filters of one rate; the minimum of each time counts
    #[arg(long, default_value_t = 3)]
    rounds: u32,
    /// Number of build threads
    #[arg(long, default_value_t = 1)]
    threads: usize,
    /// Queries per measurement
    #[arg(long, default_value_t = 1 << 21)]
    queries: usize,
    #[command(flatten)]
    folder: Folder,
}

/// The rows of one rate.
pub struct Group {
    pub title: &'static str,
    columns: f64,
    /// Includes the peers for a rate of 2 to the power of minus this.
    peers: Option<u32>,
    further: &'static [Ribbon],
}

pub const GROUPS: [Group; 4] = [
    Group { title: "rate about 1 %, r = 7", columns: 7.0, peers: Some(7), further: &DAGGERS },
    Group {
        title: "fractional columns, r = 7.7",
        columns: 7.7,
        peers: None,
        further: &[Ribbon::new(Variant::Homogeneous, Width::W32, 8.0)],
    },
    Group { title: "rate about 10 %, r = 3", columns: 3.0, peers: Some(3), further: &[] },
    Group { title: "rate about 2^-11, r = 11", columns: 11.0, peers: Some(11), further: &[] },
];

/// The rows that the paper marks with a dagger: more slots than needed, for a faster build.
const DAGGERS: [Ribbon; 5] = [
    dagger(Variant::Balanced, Width::W32, 0.15),
    dagger(Variant::Balanced, Width::W64, 0.15),
    dagger(Variant::Standard, Width::W64, 0.2),
    dagger(Variant::Standard, Width::W128, 0.1),
    dagger(Variant::Bumped, Width::W64, 0.15),
];

const fn dagger(variant: Variant, width: Width, overhead: f64) -> Ribbon {
    Ribbon { variant, width, columns: 7.0, overhead: Some(overhead) }
}

impl Group {
    /// Our filters, without those that the planner rejects.
    pub fn ribbons(&self, keys: usize) -> impl Iterator<Item = Ribbon> {
        let all = Ribbon::all(self.columns).chain(self.further.iter().copied());
        all.filter(move |ribbon| ribbon.is_suitable(keys))
    }

    fn peers(&self, keys: usize, threads: usize) -> Vec<Box<dyn Peer>> {
        let ours = self.ribbons(keys).map(|ribbon| ribbon.peer(threads));
        let theirs = self.peers.into_iter().flat_map(|bits| near(bits, threads));
        ours.chain(theirs).collect()
    }

    /// The rows of this group.
    pub fn rows<'a>(&self, all: &'a [Row], keys: u64) -> Vec<&'a Row> {
        let names: Vec<String> =
            self.peers(keys as usize, 1).iter().map(|peer| peer.name().into()).collect();
        let of_name = |name: &String| all.iter().find(|row| row.keys == keys && row.name == *name);
        names.iter().filter_map(of_name).collect()
    }
}

pub fn run(arguments: &Arguments) -> Result<(), String> {
    let running = Running::begin("table2");
    let folder = arguments.folder.begin(&["table2"])?;
    let mut rows = Rows::<Row>::open(&folder, "table2")?;
    let mut sizes = arguments.keys.clone();
    sizes.extend(arguments.full.then_some(1e8));
    let mut progress = Progress::new(sizes.len() * GROUPS.len());
    for keys in sizes {
        let workload = Workload::new(keys, arguments.queries, arguments.rounds, arguments.threads);
        for group in &GROUPS {
            progress.group(&format!("{keys} keys, {}", group.title));
            let mut peers = group.peers(workload.keys(), arguments.threads);
            workload.retain_missing(&mut peers, &rows.all);
            rows.add(workload.race(&peers, &mut progress))?;
            let finished = group.rows(&rows.all, workload.keys() as u64);
            println!("{}", table(group, &finished).text());
        }
    }
    running.end(&folder)
}

pub fn table(group: &Group, rows: &[&Row]) -> Table {
    let keys = rows.first().map_or(0, |row| row.keys);
    Table {
        title: format!("{} keys, {}", keys_text(keys), group.title),
        note: format!(
            "Times in ns per key on one thread, the paper's figures in brackets (measured on another \
             machine). Queries with none, half and all of the keys present. {LATENCY} +15 %: 15 % more \
             slots than keys, for a faster build."
        ),
        columns: vec![
            "filter",
            "bits/key",
            "rate",
            "overhead %",
            "build",
            "query 0 %",
            "query 50 %",
            "query 100 %",
            "query, paper",
            "batch 0 %",
            "batch 50 %",
            "batch 100 %",
            "latency",
        ],
        rows: rows.iter().map(|row| line(row)).collect(),
    }
}

/// Rows of the paper that have no counterpart, and why.
pub const MISSING: &str = "Rows of the paper without a counterpart: Morton12 and CuckooSemiSort \
    (cuckoo filters with compressed buckets; no crate has them, and neither is the fastest anywhere in \
    the paper's figure 1), the first of its two blocked Bloom filters (it sets a fixed number of bits; \
    ours has 512-bit blocks and any number of bits, as its second one), and Xor with r = 10.666 (three \
    fingerprints in 32 bits; ours are packed with any whole number of bits). The paper's figures stand \
    only beside filters of the same kind: a split-block Bloom filter (sbbf) is another one.";

/// Compares our figures with the paper's.
pub fn sentences(rows: &[Row], keys: u64) -> Vec<String> {
    let build = slower("build", rows, keys, |row| row.build.min, |paper| paper.build);
    let query = slower("query", rows, keys, Row::query, |paper| paper.query);
    let of_keys = || rows.iter().filter(|row| row.keys == keys);
    let once = of_keys().all(is_of_one_round).then(|| ONE_ROUND.to_string());
    let has_pleat = of_keys().any(|row| row.family == Family::Pleat);
    let pleat = has_pleat.then(|| pleat::STOPS.to_string());
    let missing = (has_pleat && keys > pleat::MAX_KEYS as u64).then(|| pleat::MISSING.to_string());
    let overheads = Some(overheads(rows, keys));
    [overheads, build, query, once, pleat, missing].into_iter().flatten().collect()
}

const ONE_ROUND: &str = "Each time in these tables was measured once (one round), so there is no \
    better time of another round to replace an outlier: compare times that differ by a tenth with \
    caution. Sizes and overheads do not depend on that.";

/// Whether each time was measured once: several rounds differ somewhere.
fn is_of_one_round(row: &Row) -> bool {
    let times = [&row.build, &row.latency].into_iter().chain(&row.single);
    times.chain(row.batch.iter().flatten()).all(|times| times.spread == 0.0)
}

/// Lists the ribbons for which a time of ours is longer than the paper's.
fn slower(
    name: &str,
    rows: &[Row],
    keys: u64,
    time: fn(&Row) -> f64,
    of_paper: fn(&paper::Figures) -> Option<f64>,
) -> Option<String> {
    let (mut compared, mut slower) = (0, Vec::new());
    for row in rows.iter().filter(|row| row.keys == keys && row.family.is_ours()) {
        let Some(paper) = paper::find(&row.name, keys).as_ref().and_then(of_paper) else {
            continue;
        };
        compared += 1;
        if time(row) > paper {
            slower.push(format!("{} ({:.0} and {paper:.0} ns)", row.name, time(row)));
        }
    }
    let list = if slower.is_empty() { "none".into() } else { slower.join(", ") };
    let sentence = format!(
        "The paper states a {name} time for {compared} ribbons, measured on another machine; ours is \
         longer for {list}."
    );
    (compared > 0).then_some(sentence)
}

/// Compares our overheads with the paper's, which are rounded to 0.1 or 1 %.
fn overheads(rows: &[Row], keys: u64) -> String {
    let (mut compared, mut larger) = (0, Vec::new());
    for row in rows.iter().filter(|row| row.keys == keys && row.family.is_ours()) {
        let Some(paper) = paper::find(&row.name, keys).and_then(|paper| paper.overhead) else {
            continue;
        };
        compared += 1;
        let more = row.overhead * 100.0 - paper;
        if more > 0.05 {
            larger.push(format!("{} (by {more:.2} points)", row.name));
        }
    }
    let rest = match larger.is_empty() {
        true => "ours is larger for none".to_string(),
        false => format!("ours is larger for {}", larger.join(", ")),
    };
    format!("The paper states an overhead for {compared} rows; {rest}.")
}

fn line(row: &Row) -> Vec<Cell> {
    let paper = paper::find(&row.name, row.keys);
    let in_brackets =
        |figure: Option<f64>| figure.map_or(String::new(), |figure| format!(" ({figure})"));
    let of = |figure: fn(&paper::Figures) -> Option<f64>| paper.as_ref().and_then(figure);
    let mut cells = vec![
        Cell::text(&row.name).strong(row.family.is_ours()),
        Cell::number(row.bits_per_key, 3),
        Cell { text: format!("{:.2e}", row.rate), value: Some(row.rate), strong: false },
        Cell::percent(row.overhead, 2).and(&in_brackets(of(|paper| paper.overhead))),
        Cell::number(row.build.min, 1).and(&in_brackets(of(|paper| paper.build))),
    ];
    cells.extend(row.single.map(|times| Cell::number(times.min, 1)));
    cells.push(Cell::or_none(of(|paper| paper.query).map(|query| Cell::number(query, 0))));
    cells.extend(match row.batch {
        Some(batch) => batch.map(|times| Cell::number(times.min, 1)),
        None => [const { String::new() }; 3].map(Cell::text),
    });
    cells.push(Cell::number(row.latency.min, 1));
    cells
}
