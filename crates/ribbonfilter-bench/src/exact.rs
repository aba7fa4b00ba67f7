//! Compares exact sets with clubcard, on the same keys and digests, in one process, in turn and on
//! one thread. CPU times count, so that it also works on a busy machine.

mod certificates;
mod clubcard;
mod universe;

use crate::machine::Machine;
use crate::progress::Progress;
use crate::random::Random;
use crate::table::{Cell, Table};
use crate::times::{CpuClock, min_cpu_times};
use clubcard::Card;
use ribbonfilter::{Effort, ExactSet};
use std::hint::black_box;
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
/// Queries of each kind in a piece of work, and pieces per round.
const QUERIES: usize = 100_000;
const PIECES: u32 = 10;
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

/// Nanoseconds: of the build per key of the universe, and of queries.
#[derive(Clone, Copy, Debug)]
struct Times {
    ours: f64,
    clubcard: f64,
}

impl Times {
    const NONE: Self = Self { ours: f64::INFINITY, clubcard: f64::INFINITY };

    fn ratio(self) -> f64 {
        self.ours / self.clubcard
    }

    fn cells(self) -> [Cell; 3] {
        let Self { ours, clubcard } = self;
        [Cell::number(ours, 1), Cell::number(clubcard, 1), Cell::number(self.ratio(), 3)]
    }
}

/// What was measured on one set of keys.
struct Row {
    name: String,
    bound_bits: f64,
    bytes: usize,
    clubcard_bytes: usize,
    matrix_bytes: usize,
    build: Times,
    /// A build of ours that keeps all keys.
    pushed: f64,
    members: Times,
    others: Times,
    /// Queries of others in a batch.
    batch: f64,
}

impl Row {
    /// The bars that are missed.
    fn missed(&self) -> Vec<String> {
        let figures = [
            ("size", self.bytes as f64 / self.clubcard_bytes as f64, 1.0),
            ("build", self.build.ratio(), BAR),
            ("query of members", self.members.ratio(), BAR),
            ("query of others", self.others.ratio(), BAR),
        ];
        let missed = figures.into_iter().filter(|(_, ratio, bar)| ratio > bar);
        let name = &self.name;
        missed.map(|(what, ratio, bar)| format!("{name}: {what} {ratio:.3} > {bar}")).collect()
    }

    fn overhead(&self, bytes: usize) -> f64 {
        bytes as f64 * 8.0 / self.bound_bits - 1.0
    }

    fn cells(&self) -> Vec<Cell> {
        let mut cells = vec![
            Cell::text(&self.name),
            Cell::number(self.bytes as f64, 0),
            Cell::number(self.clubcard_bytes as f64, 0),
            Cell::number(self.matrix_bytes as f64, 0),
            Cell::number(self.bytes as f64 / self.clubcard_bytes as f64, 3),
            Cell::percent(self.overhead(self.bytes), 2),
            Cell::percent(self.overhead(self.clubcard_bytes), 2),
        ];
        cells.extend(self.build.cells());
        cells.push(Cell::number(self.pushed, 1));
        cells.extend(self.members.cells());
        cells.extend(self.others.cells());
        let batch = self.batch.is_finite().then(|| Cell::number(self.batch, 1));
        cells.push(Cell::or_none(batch));
        cells
    }
}

/// Builds and queries both in turn, and checks all keys.
fn measure(name: String, keys: &[Key], arguments: &Arguments, progress: &Progress) -> Row {
    let (mut build, mut pushed) = (Times::NONE, f64::INFINITY);
    let mut built = None;
    let blocks: Vec<&[Key]> = keys.chunk_by(|a, b| a.group == b.group).collect();
    for round in 1..=arguments.rounds {
        progress.doing("builds", round, arguments.rounds);
        let (set, nanoseconds) = timed(keys, || build_in_passes(&blocks, arguments.effort));
        build.ours = build.ours.min(nanoseconds);
        let (same, nanoseconds) = timed(keys, || build_pushed(keys, arguments.effort));
        pushed = pushed.min(nanoseconds);
        assert!(same == set, "{name}: the same bytes in one pass");
        let (card, nanoseconds) = timed(keys, || clubcard::build(&blocks));
        build.clubcard = build.clubcard.min(nanoseconds);
        built = Some((set, card));
    }
    let (set, card) = built.expect("at least one round");
    for key in keys {
        assert_eq!(contains(&set, key), key.is_member, "{name}: a wrong result");
        assert_eq!(card.unchecked_contains(key), key.is_member, "{name}: of clubcard");
    }
    let [members, others] = [true, false].map(|is_member| {
        progress.doing("queries", 1, 1);
        query_times(&sample(keys, is_member), &set, &card, arguments.rounds)
    });
    let (bytes, bound_bits) = (set.size_in_bytes(), set.lower_bound_bits());
    let (clubcard_bytes, matrix_bytes) =
        (clubcard::size_in_bytes(&card), clubcard::matrix_bytes(&card));
    let batch = batch_time(&sample(keys, false), &set, arguments.rounds);
    Row {
        name,
        bound_bits,
        bytes,
        clubcard_bytes,
        matrix_bytes,
        build,
        pushed,
        members,
        others,
        batch,
    }
}

/// Builds as clubcard does: members are read, then others, of which most are not kept. Both are
/// given the keys group by group, and so the sizes of all groups.
fn build_in_passes(blocks: &[&[Key]], effort: Effort) -> ExactSet {
    let mut builder = ExactSet::builder().effort(effort).kernel(crate::kernel());
    for block in blocks {
        let before = builder.members();
        for key in block.iter().filter(|key| key.is_member) {
            builder.push_member_hash_in(key.group_hash(), key.word(0));
        }
        let others = block.len() as u64 - (builder.members() - before);
        builder.expect_others_hash_in(block[0].group_hash(), others);
    }
    let set = builder.finish_with(|others| {
        for key in blocks.iter().copied().flatten().filter(|key| !key.is_member) {
            others.push_hash_in(key.group_hash(), key.word(0));
        }
        Ok(())
    });
    set.expect("random keys build").with_kernel(crate::kernel())
}

/// Builds from keys that come once and are kept.
fn build_pushed(keys: &[Key], effort: Effort) -> ExactSet {
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

/// Runs a build. Returns its CPU time in nanoseconds per key, too.
fn timed<T>(keys: &[Key], work: impl FnOnce() -> T) -> (T, f64) {
    let clock = CpuClock::start();
    let result = work();
    (result, clock.nanoseconds() / keys.len() as f64)
}

/// What is queried.
enum Queried<'a> {
    Ours(&'a ExactSet),
    Clubcard(&'a Card),
}

/// The nanoseconds of a query, both in turn.
fn query_times(sample: &[Key], set: &ExactSet, card: &Card, rounds: u32) -> Times {
    let pieces = [&Queried::Ours(set), &Queried::Clubcard(card)];
    let times = min_cpu_times(PIECES * rounds, &pieces, |queried| {
        black_box(match queried {
            Queried::Ours(set) => sample.iter().filter(|key| contains(set, key)).count(),
            Queried::Clubcard(card) => {
                sample.iter().filter(|key| card.unchecked_contains(*key)).count()
            }
        });
    });
    let [ours, clubcard] = times.map(|time| time / sample.len() as f64);
    Times { ours, clubcard }
}

/// The nanoseconds of a query in a batch; infinite with groups, which have no batches.
fn batch_time(sample: &[Key], set: &ExactSet, rounds: u32) -> f64 {
    if sample.iter().any(|key| key.group_hash() != 0) {
        return f64::INFINITY;
    }
    let hashes: Vec<u64> = sample.iter().map(|key| key.word(0)).collect();
    let [time] = min_cpu_times(PIECES * rounds, &[&hashes[..]], |hashes: &[u64]| {
        black_box(set.contains_hash_batch(hashes));
    });
    time / sample.len() as f64
}

/// Random keys of one side, copied so that they lie one after the other.
fn sample(keys: &[Key], is_member: bool) -> Vec<Key> {
    let side: Vec<usize> =
        (0..keys.len()).filter(|&index| keys[index].is_member == is_member).collect();
    let random = Random::new(7).map(|random| (random % side.len() as u64) as usize);
    random.take(QUERIES).map(|index| keys[side[index]]).collect()
}

fn table(rows: &[Row]) -> Table {
    Table {
        title: "Exact sets and clubcard".into(),
        note: format!(
            "{}. Bytes of ours, of clubcard and of its matrices alone; % above the lower bound; ns \
             per key of the universe to build from sizes, members and others, and ours keeping \
             all keys; ns per query of members, of others, and of others in a batch. All times are CPU times",
            Machine::this()
        ),
        columns: vec![
            "set", "bytes", "clubcard", "matrices", "ratio", "% over", "clubcard", "build",
            "clubcard", "ratio", "pushed", "members", "clubcard", "ratio", "others", "clubcard",
            "ratio", "batch",
        ],
        rows: rows.iter().map(Row::cells).collect(),
    }
}
