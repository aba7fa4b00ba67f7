//! Compares exact sets with clubcard, on the same keys and digests, in one process and on one
//! thread.

mod certificates;
mod clubcard;
mod universe;

use crate::machine::Machine;
use crate::progress::Progress;
use crate::random::Random;
use crate::table::{Cell, Table};
use clubcard::Card;
use ribbonfilter::{Effort, ExactSet};
use std::hint::black_box;
use std::time::Instant;
use universe::Key;

#[derive(clap::Args)]
pub struct Arguments {
    /// Keys in the universe; may be repeated
    #[arg(long, value_name = "N", default_values_t = [1e6])]
    universe: Vec<f64>,
    /// Fractions of members
    #[arg(long, value_name = "S/N", value_delimiter = ',', default_values_t = [0.001, 0.01, 0.1, 0.5])]
    fractions: Vec<f64>,
    /// How long our builds may search for a smaller set
    #[arg(long, default_value_t)]
    effort: Effort,
    /// Rounds, of which the fastest counts
    #[arg(long, default_value_t = 3)]
    rounds: u32,
    /// Instead of the comparison, build a set of this number of certificates and check all of them
    #[arg(long, value_name = "N")]
    certificates: Option<f64>,
    /// Issuers of the certificates, and of the set with groups
    #[arg(long, default_value_t = 800)]
    issuers: u64,
    /// Revoked certificates
    #[arg(long, value_name = "N", default_value_t = 1.4e6)]
    revoked: f64,
    /// Number of threads for the certificates; 0 for one per core
    #[arg(long, default_value_t = 1)]
    threads: usize,
}

/// The fraction of members in the set with groups, near that of revoked certificates.
const REVOKED: f64 = 0.014;
/// Queries of each kind in a round.
const QUERIES: usize = 1_000_000;
/// The largest fraction of clubcard's time that is allowed.
const BAR: f64 = 0.35;

pub fn run(arguments: &Arguments) -> Result<(), String> {
    if let Some(certificates) = arguments.certificates {
        let (issuers, revoked) = (arguments.issuers, arguments.revoked as u64);
        return certificates::run(certificates as u64, issuers, revoked, arguments.threads);
    }
    let sets = arguments.universe.len() * (arguments.fractions.len() + 1);
    let mut progress = Progress::new(sets);
    let mut measured = Vec::new();
    for &universe in &arguments.universe {
        let universe = universe as u64;
        for &fraction in &arguments.fractions {
            let name = format!("N = {universe}, s/N = {fraction}");
            progress.group(&name);
            let keys = universe::plain(universe, (universe as f64 * fraction).round() as u64);
            measured.push(measure(name, &keys, arguments, &progress));
        }
        let name = format!("N = {universe}, {} groups", arguments.issuers);
        progress.group(&name);
        let revoked = (universe as f64 * REVOKED) as u64;
        let issuers = universe::issuers(arguments.issuers, universe, revoked);
        measured.push(measure(name, &universe::grouped(&issuers), arguments, &progress));
    }
    drop(progress);
    print!("{}", table(&measured).text());
    let missed: Vec<String> = measured.iter().flat_map(Row::missed).collect();
    if missed.is_empty() { Ok(()) } else { Err(missed.join("; ")) }
}

/// What was measured of one library.
#[derive(Clone, Copy, Debug)]
struct Measured {
    bytes: usize,
    /// Nanoseconds: of the build per key of the universe, and of a query.
    build: f64,
    members: f64,
    others: f64,
}

impl Measured {
    const NONE: Self =
        Self { bytes: 0, build: f64::INFINITY, members: f64::INFINITY, others: f64::INFINITY };

    /// The times of the fastest round.
    fn min(self, other: Self) -> Self {
        Self {
            bytes: other.bytes,
            build: self.build.min(other.build),
            members: self.members.min(other.members),
            others: self.others.min(other.others),
        }
    }
}

/// One set of keys.
struct Row {
    name: String,
    bound_bits: f64,
    ours: Measured,
    clubcard: Measured,
    matrix_bytes: usize,
}

impl Row {
    /// The bars that are missed.
    fn missed(&self) -> Vec<String> {
        let Self { name, ours, clubcard, .. } = self;
        let figures = [
            ("size", ours.bytes as f64 / clubcard.bytes as f64, 1.0),
            ("build", ours.build / clubcard.build, BAR),
            ("query of members", ours.members / clubcard.members, BAR),
            ("query of others", ours.others / clubcard.others, BAR),
        ];
        let missed = figures.into_iter().filter(|(_, ratio, bar)| ratio > bar);
        missed.map(|(what, ratio, bar)| format!("{name}: {what} {ratio:.3} > {bar}")).collect()
    }

    fn overhead(&self, bytes: usize) -> f64 {
        bytes as f64 * 8.0 / self.bound_bits - 1.0
    }
}

/// Builds and queries both in turn, and checks all keys.
fn measure(name: String, keys: &[Key], arguments: &Arguments, progress: &Progress) -> Row {
    let samples = [true, false].map(|is_member| sample(keys, is_member));
    let (mut ours, mut theirs) = (Measured::NONE, Measured::NONE);
    let (mut bound_bits, mut matrix_bytes) = (0.0, 0);
    for round in 1..=arguments.rounds {
        progress.doing("ours", round, arguments.rounds);
        let (set, build) = timed(keys, || build(keys, arguments.effort));
        let times = samples.each_ref().map(|sample| query_time(sample, |key| contains(&set, key)));
        let [members, others] = times;
        ours = ours.min(Measured { bytes: set.size_in_bytes(), build, members, others });
        bound_bits = set.lower_bound_bits();
        if round == 1 {
            let wrong = keys.iter().filter(|key| contains(&set, key) != key.is_member).count();
            assert_eq!(wrong, 0, "{name}: wrong results");
        }
        drop(set);

        progress.doing("clubcard", round, arguments.rounds);
        let (card, build) = timed(keys, || clubcard::build(keys));
        let contains = |card: &Card, key: &Key| card.unchecked_contains(key);
        let times = samples.each_ref().map(|sample| query_time(sample, |key| contains(&card, key)));
        let [members, others] = times;
        let bytes = clubcard::size_in_bytes(&card);
        theirs = theirs.min(Measured { bytes, build, members, others });
        matrix_bytes = clubcard::matrix_bytes(&card);
        if round == 1 {
            let wrong = keys.iter().filter(|key| contains(&card, key) != key.is_member).count();
            assert_eq!(wrong, 0, "{name}: wrong results of clubcard");
        }
    }
    Row { name, bound_bits, ours, clubcard: theirs, matrix_bytes }
}

fn build(keys: &[Key], effort: Effort) -> ExactSet {
    let mut builder = ExactSet::builder().effort(effort).kernel(crate::kernel());
    for key in keys {
        match key.is_member {
            true => builder.push_member_hash_in(key.group_hash(), key.word(0)),
            false => builder.push_other_hash_in(key.group_hash(), key.word(0)),
        }
    }
    builder.finish().expect("random keys build").with_kernel(crate::kernel())
}

/// Groups are looked up where there are any; 0 is the hash of the unnamed group.
#[inline(always)]
fn contains(set: &ExactSet, key: &Key) -> bool {
    match key.group_hash() {
        0 => set.contains_hash(key.word(0)),
        group => set.contains_hash_in_group(group, key.word(0)).is_member(),
    }
}

/// Runs a build. Returns its time in nanoseconds per key, too.
fn timed<T>(keys: &[Key], work: impl FnOnce() -> T) -> (T, f64) {
    let start = Instant::now();
    let result = work();
    (result, start.elapsed().as_secs_f64() * 1e9 / keys.len() as f64)
}

/// The nanoseconds of a query.
fn query_time(sample: &[Key], contains: impl Fn(&Key) -> bool) -> f64 {
    let start = Instant::now();
    black_box(sample.iter().filter(|key| contains(key)).count());
    start.elapsed().as_secs_f64() * 1e9 / sample.len() as f64
}

/// Random keys of one side, copied so that they lie one after the other.
fn sample(keys: &[Key], is_member: bool) -> Vec<Key> {
    let side: Vec<usize> =
        (0..keys.len()).filter(|&index| keys[index].is_member == is_member).collect();
    let random = Random::new(7).map(|random| (random % side.len() as u64) as usize);
    random.take(QUERIES).map(|index| keys[side[index]]).collect()
}

fn table(rows: &[Row]) -> Table {
    let cells = |row: &Row| {
        let Row { ours, clubcard, .. } = row;
        let pair = |ours: f64, theirs: f64| {
            [Cell::number(ours, 1), Cell::number(theirs, 1), Cell::number(ours / theirs, 3)]
        };
        let mut cells = vec![
            Cell::text(&row.name),
            Cell::number(ours.bytes as f64, 0),
            Cell::number(clubcard.bytes as f64, 0),
            Cell::number(row.matrix_bytes as f64, 0),
            Cell::number(ours.bytes as f64 / clubcard.bytes as f64, 3),
            Cell::percent(row.overhead(ours.bytes), 2),
            Cell::percent(row.overhead(clubcard.bytes), 2),
        ];
        cells.extend(pair(ours.build, clubcard.build));
        cells.extend(pair(ours.members, clubcard.members));
        cells.extend(pair(ours.others, clubcard.others));
        cells
    };
    Table {
        title: "Exact sets and clubcard".into(),
        note: format!(
            "{}. Bytes of ours, of clubcard and of its matrices alone; % above the lower bound; ns \
             per key of the universe to build; ns per query of members and of others",
            Machine::this()
        ),
        columns: vec![
            "set", "bytes", "clubcard", "matrices", "ratio", "% over", "clubcard", "build",
            "clubcard", "ratio", "members", "clubcard", "ratio", "others", "clubcard", "ratio",
        ],
        rows: rows.iter().map(cells).collect(),
    }
}
