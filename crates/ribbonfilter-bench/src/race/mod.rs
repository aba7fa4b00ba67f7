//! Filters measured beside each other: one process, the same keys, the same loops, rounds in
//! turns, the least of several. Absolute times move from machine to machine; what is compared is
//! what one race gave.

mod contender;
mod family;
mod instructions;
mod row;

pub use contender::{Contender, Peer, Size, batched, peer, value_of};
pub use family::Family;
pub use row::{Row, Times};

use crate::progress::Progress;
use crate::random::Random;
use std::time::Instant;

/// Keys to build from, and keys to ask for.
pub struct Course {
    keys: Vec<u64>,
    /// Queries with none, half and all of them among the keys.
    queries: [Vec<u64>; 3],
    rounds: u32,
    threads: usize,
}

/// Small filters are built again and again until so many keys have gone in.
const KEYS_IN_A_BUILD: usize = 1 << 18;
/// Queries after which a rate is known well enough, and those it may take at most.
const HITS: usize = 1 << 13;
const RATE_QUERIES: usize = 1 << 24;

impl Course {
    pub fn new(keys: f64, queries: usize, rounds: u32, threads: usize) -> Self {
        let keys: Vec<u64> = Random::new(1).take(keys as usize).collect();
        let absent: Vec<u64> = Random::new(2).take(queries).collect();
        let place = |number: u64| ((u128::from(number) * keys.len() as u128) >> 64) as usize;
        let present: Vec<u64> =
            Random::new(3).take(queries).map(|number| keys[place(number)]).collect();
        // Which of them are present follows no pattern that a processor could learn.
        let sides = Random::new(4).map(|number| number >> 63 == 1);
        let pairs = absent.iter().zip(&present).zip(sides);
        let half = pairs.map(|((&absent, &present), side)| if side { present } else { absent });
        let half = half.collect();
        Self { keys, queries: [absent, half, present], rounds: rounds.max(1), threads }
    }

    pub fn keys(&self) -> usize {
        self.keys.len()
    }

    /// Whether a row is what a race here would give for a filter of this name.
    pub fn has(&self, row: &Row, name: &str) -> bool {
        (row.name.as_str(), row.keys, row.threads) == (name, self.keys.len() as u64, self.threads)
    }

    /// Builds and asks all of them, in turns.
    pub fn race(&self, peers: &[Box<dyn Peer>], progress: &mut Progress) -> Vec<Row> {
        let mut rows: Vec<Option<Row>> = vec![None; peers.len()];
        let mut built: Vec<Option<Box<dyn Contender>>> = peers.iter().map(|_| None).collect();
        for round in 1..=self.rounds {
            let mut builds = Vec::new();
            for (peer, built) in peers.iter().zip(&mut built) {
                progress.doing(peer.name(), round, self.rounds);
                *built = None; // its memory serves the next
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

    fn build(&self, peer: &dyn Peer) -> (Box<dyn Contender>, Times) {
        let times = (KEYS_IN_A_BUILD / self.keys.len().max(1)).max(1);
        let (contender, time) = timed(|| {
            (1..times).for_each(|_| drop(peer.build(&self.keys)));
            peer.build(&self.keys)
        });
        (contender, Times::first(time / (times * self.keys.len()) as f64))
    }

    fn first_row(&self, peer: &dyn Peer, contender: &dyn Contender, build: Times) -> Row {
        let size = contender.size();
        let bits_per_key = size.bytes as f64 * 8.0 / self.keys.len() as f64;
        let rate = measured_rate(contender);
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

    fn latency(&self, contender: &dyn Contender) -> Times {
        let queries = &self.queries[0][..self.queries[0].len() / 4];
        let (_, time) = timed(|| contender.chain(queries));
        Times::first(time / queries.len() as f64)
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

/// The share of random keys that are found.
fn measured_rate(contender: &dyn Contender) -> f64 {
    let mut random = Random::new(5);
    let (mut found, mut asked) = (0, 0);
    while found < HITS && asked < RATE_QUERIES {
        let queries: Vec<u64> = random.by_ref().take(1 << 18).collect();
        found += contender.count(&queries);
        asked += queries.len();
    }
    found.max(1) as f64 / asked as f64
}
