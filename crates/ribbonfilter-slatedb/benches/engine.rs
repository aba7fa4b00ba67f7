//! Compares the same database with SlateDB's Bloom filters and with ribbon filters:
//! `cargo bench -p ribbonfilter-slatedb -- [KEYS [ROUNDS]] [files]`. The defaults are 10^6 keys, 5
//! rounds and an in-memory store.
//!
//! The keys are written in random order to eight tables, which are not compacted. A read of an
//! absent key therefore queries eight filters. All databases run in one process and on one thread,
//! one after the other in each round. The result is the minimum time of all rounds: the CPU time of
//! the thread where the system provides it, or wall-clock time with files.

#[path = "../tests/common/observed.rs"]
mod observed;

use observed::{Counts, Observed};
use ribbonfilter::BuildError;
use ribbonfilter_slatedb::RibbonFilterPolicy;
use slatedb::bytes::Bytes;
use slatedb::config::{FlushOptions, FlushType, Settings};
use slatedb::object_store::ObjectStore;
use slatedb::object_store::local::LocalFileSystem;
use slatedb::object_store::memory::InMemory;
use slatedb::{BloomFilterPolicy, Db, FilterPolicy, RowEntry, ValueDeletable, WriteBatch};
use std::error::Error;
use std::sync::Arc;
use std::time::{Duration, Instant};

const TABLES: u64 = 8;
/// Filters built in a round, timed by the wall clock: the CPU time of the thread is too coarse for
/// a single build.
const BUILDS: u32 = 10;
const READS: u64 = 40_000;
/// Each of these reads loads and decodes eight filters.
const UNCACHED_READS: u64 = 300;

type Outcome<T> = Result<T, Box<dyn Error>>;

/// A key of 16 bytes. Keys with a number below `Setting::keys` are in the database, others are not.
fn key(number: u64) -> Vec<u8> {
    let scattered = (number + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    format!("{scattered:016x}").into_bytes()
}

/// A policy and its minimum times of all rounds.
struct Contender {
    name: &'static str,
    policy: Arc<dyn FilterPolicy>,
    min_times: [Duration; Column::ALL.len()],
    bytes: u64,
    rate: f64,
}

#[derive(Clone, Copy)]
enum Column {
    Build,
    Flush,
    Absent,
    Present,
    Uncached,
}

impl Column {
    const ALL: [Self; 5] = [Self::Build, Self::Flush, Self::Absent, Self::Present, Self::Uncached];
}

impl Contender {
    fn new(name: &'static str, policy: impl FilterPolicy + 'static) -> Self {
        let min_times = [Duration::MAX; Column::ALL.len()];
        Self { name, policy: Arc::new(policy), min_times, bytes: 0, rate: 0.0 }
    }

    fn note(&mut self, column: Column, time: Duration) {
        let min = &mut self.min_times[column as usize];
        *min = time.min(*min);
    }

    /// The minimum time of a column, divided by the number of operations.
    fn nanoseconds(&self, column: Column, operations: u64) -> f64 {
        self.min_times[column as usize].as_nanos() as f64 / operations as f64
    }
}

fn contenders() -> Result<Vec<Contender>, BuildError> {
    Ok(vec![
        Contender::new("SlateDB's Bloom, 10 bits per key", BloomFilterPolicy::new(10)),
        Contender::new("ribbon, 1 %", RibbonFilterPolicy::with_rate(0.01)?),
        Contender::new("ribbon, 0.84 %: Bloom's rate", RibbonFilterPolicy::with_rate(0.0084)?),
        Contender::new("ribbon, 10 bits per key", RibbonFilterPolicy::with_bits_per_key(10.0)?),
    ])
}

/// The CPU time of this thread, or wall-clock time.
#[derive(Clone, Copy)]
enum Clock {
    Thread,
    Wall,
}

impl Clock {
    fn now(self, start: Instant) -> Duration {
        match self {
            Self::Thread => thread_time().unwrap_or_else(|| start.elapsed()),
            Self::Wall => start.elapsed(),
        }
    }
}

/// The CPU time of this thread, if the system provides it.
fn thread_time() -> Option<Duration> {
    let schedule = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    Some(Duration::from_nanos(schedule.split(' ').next()?.parse().ok()?))
}

/// A store, the clock to measure with, and the number of keys.
struct Setting {
    store: Arc<dyn ObjectStore>,
    clock: Clock,
    start: Instant,
    keys: u64,
}

impl Setting {
    fn now(&self) -> Duration {
        self.clock.now(self.start)
    }

    async fn open(&self, policy: Arc<dyn FilterPolicy>, cached: bool) -> Outcome<Db> {
        let settings = Settings {
            compactor_options: None,
            garbage_collector_options: None,
            ..Settings::default()
        };
        let builder = Db::builder("db", Arc::clone(&self.store))
            .with_settings(settings)
            .with_filter_policies(vec![policy]);
        let builder = if cached { builder } else { builder.with_db_cache_disabled() };
        Ok(builder.build().await?)
    }

    /// Writes eight tables. Returns the time to flush them from memory.
    async fn write(&self, db: &Db) -> Outcome<Duration> {
        let mut time = Duration::ZERO;
        for table in 0..TABLES {
            for first in (table..self.keys).step_by(1000 * TABLES as usize) {
                let last = self.keys.min(first + 1000 * TABLES);
                let mut batch = WriteBatch::new();
                for number in (first..last).step_by(TABLES as usize) {
                    batch.put(key(number), [number as u8; 64]);
                }
                db.write(batch).await?;
            }
            db.flush().await?; // the log
            let before = self.now();
            db.flush_with_options(FlushOptions { flush_type: FlushType::MemTable }).await?;
            time += self.now() - before;
        }
        Ok(time)
    }

    /// Reads keys from `first` on, far apart. All must be present, or all absent.
    async fn read(&self, db: &Db, first: u64, reads: u64, present: bool) -> Outcome<Duration> {
        let before = self.now();
        for read in 0..reads {
            let number = first + read * 7919 % self.keys;
            assert_eq!(db.get(key(number)).await?.is_some(), present, "key {number}");
        }
        Ok(self.now() - before)
    }

    /// Runs one round of one contender, in a separate database.
    async fn round(&self, contender: &mut Contender) -> Outcome<()> {
        let (observed, counts) = Observed::new(Arc::clone(&contender.policy));
        let observed: Arc<dyn FilterPolicy> = Arc::new(observed);
        let db = self.open(Arc::clone(&observed), true).await?;
        contender.note(Column::Flush, self.write(&db).await?);
        db.close().await?;

        let db = self.open(observed, true).await?;
        self.read(&db, self.keys, READS, false).await?;
        contender.count(&counts);
        db.close().await?;

        let db = self.open(Arc::clone(&contender.policy), true).await?;
        self.read(&db, 0, READS, true).await?; // fills the cache
        contender.note(Column::Absent, self.read(&db, self.keys, READS, false).await?);
        contender.note(Column::Present, self.read(&db, 0, READS, true).await?);
        db.close().await?;

        let db = self.open(Arc::clone(&contender.policy), false).await?;
        let uncached = self.read(&db, self.keys, UNCACHED_READS, false).await?;
        contender.note(Column::Uncached, uncached);
        db.close().await?;
        Ok(())
    }
}

impl Contender {
    fn count(&mut self, counts: &Counts) {
        let (queries, passed) = counts.take_queries();
        self.bytes = counts.take_bytes();
        self.rate = passed as f64 / queries as f64;
    }

    /// Builds the filter of one table, without the engine.
    fn build(&mut self, entries: &[RowEntry]) {
        let start = Instant::now();
        let mut builder = self.policy.builder();
        entries.iter().for_each(|entry| builder.add_entry(entry));
        std::hint::black_box(builder.build());
        self.note(Column::Build, start.elapsed());
    }
}

/// The entries of a table, in the order in which the engine adds them to the filter.
fn entries(keys: u64) -> Vec<RowEntry> {
    let mut keys: Vec<_> = (0..keys).map(key).collect();
    keys.sort();
    let value = ValueDeletable::Value(Bytes::from_static(b"value"));
    let entry = |key: Vec<u8>| RowEntry {
        key: key.into(),
        value: value.clone(),
        seq: 0,
        create_ts: None,
        expire_ts: None,
    };
    keys.into_iter().map(entry).collect()
}

fn print(contenders: &[Contender], keys: u64) {
    println!(
        "| filter | bytes | bits per key | false positives | build, ns per key | flush, ns per key | absent reads/s | present reads/s | absent reads/s, no cache |"
    );
    println!("|---|---|---|---|---|---|---|---|---|");
    for c in contenders {
        let reads = |column, reads| 1e9 / c.nanoseconds(column, reads);
        println!(
            "| {} | {} | {:.3} | {:.4} % | {:.1} | {:.0} | {:.0} | {:.0} | {:.0} |",
            c.name,
            c.bytes,
            c.bytes as f64 * 8.0 / keys as f64,
            c.rate * 100.0,
            c.nanoseconds(Column::Build, keys / TABLES),
            c.nanoseconds(Column::Flush, keys),
            reads(Column::Absent, READS),
            reads(Column::Present, READS),
            reads(Column::Uncached, UNCACHED_READS),
        );
    }
    let (bloom, rest) = contenders.split_first().expect("some contenders");
    for c in rest {
        let ratio = |column| c.nanoseconds(column, 1) / bloom.nanoseconds(column, 1);
        println!(
            "{} to Bloom: bytes {:.3}, false positives {:.3}, build {:.2}, flush {:.3}, absent reads/s {:.3}, present reads/s {:.3}, uncached {:.3}",
            c.name,
            c.bytes as f64 / bloom.bytes as f64,
            c.rate / bloom.rate,
            ratio(Column::Build),
            ratio(Column::Flush),
            1.0 / ratio(Column::Absent),
            1.0 / ratio(Column::Present),
            1.0 / ratio(Column::Uncached),
        );
    }
}

async fn compare(keys: u64, rounds: u32, files: bool) -> Outcome<()> {
    let (mut contenders, entries) = (contenders()?, entries(keys / TABLES));
    for _ in 0..rounds {
        for contender in &mut contenders {
            let folder = tempfile::tempdir()?;
            let store: Arc<dyn ObjectStore> = if files {
                Arc::new(LocalFileSystem::new_with_prefix(folder.path())?)
            } else {
                Arc::new(InMemory::new())
            };
            let clock = if files { Clock::Wall } else { Clock::Thread };
            for _ in 0..BUILDS {
                contender.build(&entries);
            }
            Setting { store, clock, start: Instant::now(), keys }.round(contender).await?;
        }
    }
    println!("\n{keys} keys in {TABLES} tables, in {}", if files { "files" } else { "memory" });
    print(&contenders, keys);
    Ok(())
}

fn main() -> Outcome<()> {
    let numbers: Vec<f64> = std::env::args().filter_map(|argument| argument.parse().ok()).collect();
    let keys = numbers.first().map_or(1_000_000, |&keys| keys as u64);
    let rounds = numbers.get(1).map_or(5, |&rounds| rounds as u32);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let files = std::env::args().any(|argument| argument == "files");
    runtime.block_on(compare(keys, rounds, files))
}
