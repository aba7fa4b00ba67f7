//! Measures filters against each other: in one process, with the same keys and the same loops, in
//! several rounds over all filters. The minimum time of all rounds counts. Absolute times differ
//! between machines, so only times of the same race are compared.

mod contender;
mod family;
pub mod instructions;
mod row;

pub use contender::{Contender, Peer, Size, at_most, batched, peer, value_of};
pub use family::Family;
pub use row::{Chains, Row, Times};

use crate::progress::Progress;
use crate::random::Random;
use std::time::Instant;

/// The keys to build from and the keys to look up.
pub struct Workload {
    keys: Vec<u64>,
    /// Queries of which none, half and all are present.
    queries: [Vec<u64>; 3],
    rounds: u32,
    threads: usize,
}

/// A measurement repeats the build of a small filter until it has inserted this number of keys.
const KEYS_PER_MEASUREMENT: usize = 1 << 18;
/// The number of false positives after which a rate is known well enough.
const MAX_HITS: usize = 1 << 13;
/// An exact rate below this is not measured: the queries would find hardly any key.
const MIN_MEASURED_RATE: f64 = 1e-6;
/// The maximum number of queries to measure a rate.
const MAX_RATE_QUERIES: usize = 1 << 24;

impl Workload {
    pub fn new(keys: f64, queries: usize, rounds: u32, threads: usize) -> Self {
        let keys: Vec<u64> = Random::new(1).take(keys as usize).collect();
        let absent: Vec<u64> = Random::new(2).take(queries).collect();
        let index = |number: u64| ((u128::from(number) * keys.len() as u128) >> 64) as usize;
        let present: Vec<u64> =
            Random::new(3).take(queries).map(|number| keys[index(number)]).collect();
        // Present and absent keys alternate at random, so that branch prediction cannot learn it.
        let sides = Random::new(4).map(|number| number >> 63 == 1);
        let pairs = absent.iter().zip(&present).zip(sides);
        let half = pairs.map(|((&absent, &present), side)| if side { present } else { absent });
        let half = half.collect();
        Self { keys, queries: [absent, half, present], rounds: rounds.max(1), threads }
    }

    pub fn keys(&self) -> usize {
        self.keys.len()
    }

    /// Whether a row is a measurement of a filter of this name with this workload.
    fn has(&self, row: &Row, name: &str) -> bool {
        (row.name.as_str(), row.keys, row.threads) == (name, self.keys.len() as u64, self.threads)
    }

    /// Keeps the peers that can be built from these keys and have no row yet.
    pub fn retain_missing(&self, peers: &mut Vec<Box<dyn Peer>>, rows: &[Row]) {
        peers.retain(|peer| {
            peer.max_keys() >= self.keys.len() && !rows.iter().any(|row| self.has(row, peer.name()))
        });
    }

    /// Builds and queries all filters, in several rounds.
    pub fn race(&self, peers: &[Box<dyn Peer>], progress: &mut Progress) -> Vec<Row> {
        let mut rows: Vec<Option<Row>> = vec![None; peers.len()];
        let mut built: Vec<Option<Box<dyn Contender>>> = peers.iter().map(|_| None).collect();
        for round in 1..=self.rounds {
            let mut builds = Vec::new();
            for (peer, built) in peers.iter().zip(&mut built) {
                progress.doing(peer.name(), round, self.rounds);
                *built = None; // frees the memory for the next build
                let (contender, time) = self.build(&**peer);
                *built = Some(contender);
                builds.push(time);
            }
            for (((peer, row), built), build) in peers.iter().zip(&mut rows).zip(&built).zip(builds)
            {
                let contender = built.as_deref().expect("built above");
                match row {
                    None => *row = Some(self.first_row(&**peer, contender, build)),
                    Some(row) => self.again(row, contender, build),
                }
            }
        }
        rows.into_iter().flatten().collect()
    }

    /// Measures only chains of queries, in several rounds over all filters.
    pub fn chains(&self, peers: &[Box<dyn Peer>], progress: &mut Progress) -> Vec<Chains> {
        let built: Vec<_> = peers.iter().map(|peer| peer.build(&self.keys)).collect();
        let mut times = vec![[f64::INFINITY; 4]; peers.len()];
        for round in 1..=self.rounds {
            for ((peer, contender), times) in peers.iter().zip(&built).zip(&mut times) {
                progress.doing(peer.name(), round, self.rounds);
                let kinds = [(0, false), (0, true), (1, true), (2, true)];
                for (time, (queries, fence)) in times.iter_mut().zip(kinds) {
                    *time = time.min(self.chain(&**contender, queries, fence).min);
                }
            }
        }
        let mut rows = Vec::new();
        for (peer, [guessed, absent, half, present]) in peers.iter().zip(times) {
            let (name, family) = (peer.name().into(), peer.family());
            let keys = self.keys.len() as u64;
            rows.push(Chains { name, family, keys, guessed, absent, half, present });
        }
        rows
    }

    fn build(&self, peer: &dyn Peer) -> (Box<dyn Contender>, Times) {
        let times = (KEYS_PER_MEASUREMENT / self.keys.len().max(1)).max(1);
        let (contender, time) = timed(|| {
            (1..times).for_each(|_| drop(peer.build(&self.keys)));
            peer.build(&self.keys)
        });
        (contender, Times::first(time / (times * self.keys.len()) as f64))
    }

    fn first_row(&self, peer: &dyn Peer, contender: &dyn Contender, build: Times) -> Row {
        let size = contender.size();
        let bits_per_key = size.bytes as f64 * 8.0 / self.keys.len() as f64;
        let rate = match size.rate {
            // A function has no rate of its own, and a very small one cannot be measured.
            Some(rate) if rate < MIN_MEASURED_RATE => rate,
            _ => measured_rate(contender),
        };
        let absent = &self.queries[0];
        let instructions = instructions::count(|| contender.count(absent));
        Row {
            name: peer.name().into(),
            family: peer.family(),
            keys: self.keys.len() as u64,
            threads: self.threads,
            bits_per_key,
            rate,
            overhead: bits_per_key / -size.rate.unwrap_or(rate).log2() - 1.0,
            build,
            single: self.single(peer.name(), contender),
            batch: self.batch(contender),
            latency: self.latency(contender),
            instructions: instructions.map(|count| count / absent.len() as f64),
        }
    }

    fn again(&self, row: &mut Row, contender: &dyn Contender, build: Times) {
        row.build = row.build.and(build);
        row.single = both(row.single, self.single(&row.name, contender));
        row.batch = row.batch.zip(self.batch(contender)).map(|(one, other)| both(one, other));
        row.latency = row.latency.and(self.latency(contender));
    }

    fn single(&self, name: &str, contender: &dyn Contender) -> [Times; 3] {
        let [absent, half, present] = self.queries.each_ref().map(|queries| {
            let (found, time) = timed(|| contender.count(queries));
            (found, Times::first(time / queries.len() as f64))
        });
        assert_eq!(present.0, self.queries[2].len(), "{name} lost a key");
        [absent.1, half.1, present.1]
    }

    fn batch(&self, contender: &dyn Contender) -> Option<[Times; 3]> {
        let mut hits = vec![false; self.queries[0].len()];
        let mut can = true;
        let times = self.queries.each_ref().map(|queries| {
            let (batched, time) = timed(|| contender.batch(queries, &mut hits));
            can &= batched;
            Times::first(time / queries.len() as f64)
        });
        can.then_some(times)
    }

    /// The time of a query of a chain, half of whose keys are present.
    fn latency(&self, contender: &dyn Contender) -> Times {
        self.chain(contender, 1, true)
    }

    /// The time of a query of a chain of keys of which none, half or all are present.
    fn chain(&self, contender: &dyn Contender, queries: usize, fence: bool) -> Times {
        let (pairs, _) = self.queries[queries][..self.queries[queries].len() / 2].as_chunks();
        let (_, time) = timed(|| contender.chain(pairs, fence));
        Times::first(time / pairs.len().max(1) as f64)
    }
}

fn both(one: [Times; 3], other: [Times; 3]) -> [Times; 3] {
    std::array::from_fn(|index| one[index].and(other[index]))
}

fn timed<T>(work: impl FnOnce() -> T) -> (T, f64) {
    let start = Instant::now();
    let result = work();
    (result, start.elapsed().as_secs_f64() * 1e9)
}

/// The fraction of random keys that are found.
fn measured_rate(contender: &dyn Contender) -> f64 {
    let mut random = Random::new(5);
    let (mut found, mut count) = (0, 0);
    while found < MAX_HITS && count < MAX_RATE_QUERIES {
        let queries: Vec<u64> = random.by_ref().take(1 << 18).collect();
        found += contender.count(&queries);
        count += queries.len();
    }
    found.max(1) as f64 / count as f64
}
