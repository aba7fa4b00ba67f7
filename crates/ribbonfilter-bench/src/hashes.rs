//! Measures the cost of a key seed and of a keyed hash function, in builds and queries by key.

use crate::kernel;
use crate::random::Random;
use crate::times::min_times;
use ribbonfilter::{Filter, Key};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::hint::black_box;

#[derive(clap::Args)]
pub struct Arguments {
    /// Number of keys
    #[arg(long, default_value_t = 1e5)]
    keys: f64,
    /// Rounds over all measurements; the minimum of each time is shown
    #[arg(long, default_value_t = 9)]
    rounds: u32,
}

/// Key lengths in bytes: a number, a digest, a path, a long URL.
const LENGTHS: [usize; 4] = [8, 20, 64, 200];

type Hash<'a> = dyn Fn(&[u8]) -> u64 + 'a;

pub fn run(arguments: &Arguments) {
    let keyed = RandomState::new();
    let siphash = |key: &[u8]| {
        let mut hasher = keyed.build_hasher();
        hasher.write(key);
        hasher.finish()
    };
    let seed = Random::new(5).next().unwrap_or(1);
    let ways: [(&str, &Hash<'_>); 3] = [
        ("XXH3", &|key| key.key_hash(0)),
        ("XXH3, key seed", &|key| key.key_hash(seed)),
        ("SipHash-1-3", &siphash),
    ];
    let count = arguments.keys as usize;
    println!("{count} keys, 8 columns, one thread; ns per key to hash, to build and to query");
    for length in LENGTHS {
        let bytes: Vec<u8> =
            Random::new(length as u64).map(|n| n as u8).take(count * length).collect();
        let keys: Vec<&[u8]> = bytes.chunks_exact(length).collect();
        let work = ways.map(|(_, hash)| Work { hash, filter: build(&keys, hash), keys: &keys });
        let all = work.each_ref();
        let nanoseconds = |time: f64| time / count as f64;
        let hashed = min_times(arguments.rounds, &all, Work::hash).map(nanoseconds);
        let built = min_times(arguments.rounds, &all, |work| drop(build(work.keys, work.hash)));
        let built = built.map(nanoseconds);
        let queried = min_times(arguments.rounds, &all, Work::query).map(nanoseconds);
        for (way, (name, _)) in ways.iter().enumerate() {
            println!(
                "{length:>4} bytes  {name:<16} {:>6.1}  {:>6.1}  {:>6.1}",
                hashed[way], built[way], queried[way]
            );
        }
    }
}

struct Work<'a> {
    hash: &'a Hash<'a>,
    filter: Filter,
    keys: &'a [&'a [u8]],
}

impl Work<'_> {
    fn hash(&self) {
        let sum = self.keys.iter().fold(0, |sum: u64, key| sum ^ (self.hash)(key));
        black_box(sum);
    }

    fn query(&self) {
        let found = self.keys.iter().filter(|key| self.filter.contains_hash((self.hash)(key)));
        assert_eq!(found.count(), self.keys.len());
    }
}

fn build(keys: &[&[u8]], hash: &Hash<'_>) -> Filter {
    let mut builder = Filter::builder().columns(8.0).threads(1).kernel(kernel());
    builder.extend_hashes(keys.iter().map(|key| hash(key)));
    builder.finish().expect("ordinary keys build").with_kernel(kernel())
}
