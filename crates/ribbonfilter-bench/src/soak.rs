//! Queries filters that all threads share. No key may be missing, and the measured false-positive
//! rate must be the one that the filter reports.
//!
//! The hash of key `i` is the `i`-th number of a stream without duplicates. The exact set is
//! therefore a range of indices: those below the number of keys are present, the others are absent.
//! Threads take pieces of the work from one counter. Every piece queries all filters, in batches
//! and one by one.

use crate::kernel;
use crate::random::distinct;
use ribbonfilter::{Filter, Variant};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

#[derive(clap::Args)]
pub struct Arguments {
    /// Total number of queries, half of them for present keys
    #[arg(long, default_value_t = 1e10)]
    queries: f64,
    /// Keys per filter
    #[arg(long, default_value_t = 1e5)]
    keys: f64,
    /// Columns; the rate is about 2^-COLUMNS
    #[arg(long, default_value_t = 8.0)]
    columns: f64,
    /// Only this variant
    #[arg(long, value_parser = crate::spill::variant)]
    variant: Option<Variant>,
    /// Number of query threads; 0 for one per core
    #[arg(long, default_value_t = 0)]
    threads: usize,
}

/// Queries per batch: half for present keys, half for absent keys.
const BATCH: usize = 1024;
/// Batches per filter in one piece of work.
const BATCHES: u64 = 64;
/// The number of these batches whose keys are queried one by one.
const ONE_BY_ONE: u64 = 8;
/// The time between two lines of progress.
const PROGRESS_INTERVAL: Duration = Duration::from_secs(10);

/// A filter that all threads query, and the counts of the results.
struct Subject {
    filter: Filter,
    keys: u64,
    missing: AtomicU64,
    false_positives: AtomicU64,
    absent: AtomicU64,
}

impl Subject {
    fn new(variant: Variant, arguments: &Arguments) -> Self {
        let keys = arguments.keys as u64;
        let mut builder =
            Filter::builder().variant(variant).columns(arguments.columns).kernel(kernel());
        builder.extend_hashes((0..keys).map(distinct));
        let filter = builder.finish().expect("random hashes build").with_kernel(kernel());
        let [missing, false_positives, absent] = [(); 3].map(|()| AtomicU64::new(0));
        Self { filter, keys, missing, false_positives, absent }
    }

    /// Runs one batch of queries, alternately for present and absent keys.
    fn query(&self, number: u64, one_by_one: bool, hashes: &mut [u64], hits: &mut [bool]) {
        let half = BATCH as u64 / 2;
        for (pair, hashes) in (number * half..).zip(hashes.chunks_exact_mut(2)) {
            // A large odd step visits the keys out of order.
            let key = pair.wrapping_mul(0x9e37_79b9_7f4a_7c15) % self.keys;
            hashes.copy_from_slice(&[distinct(key), distinct(self.keys + pair)]);
        }
        if one_by_one {
            for (hit, &hash) in hits.iter_mut().zip(&*hashes) {
                *hit = self.filter.contains_hash(hash);
            }
        } else {
            self.filter.contains_hash_batch_into(hashes, hits);
        }
        let count = |first| hits.iter().skip(first).step_by(2).filter(|&&hit| hit).count() as u64;
        self.missing.fetch_add(half - count(0), Ordering::Relaxed);
        self.false_positives.fetch_add(count(1), Ordering::Relaxed);
        self.absent.fetch_add(half, Ordering::Relaxed);
    }

    /// Prints the results. Returns whether they are correct.
    fn check(&self) -> bool {
        let counts = [&self.missing, &self.false_positives, &self.absent];
        let [missing, found, absent] = counts.map(|count| count.load(Ordering::Relaxed));
        let expected = absent as f64 * self.filter.expected_rate();
        let deviations = (found as f64 - expected) / expected.sqrt();
        println!(
            "{:<12} {:>4}  {:.4e} queries  {missing} missing  rate {:.6} expected {:.6} ({deviations:+.1} deviations)",
            self.filter.variant().to_string(),
            self.filter.width().to_string(),
            2.0 * absent as f64,
            found as f64 / absent as f64,
            self.filter.expected_rate(),
        );
        // The rate of one solution differs from the average of all solutions, by about the square
        // root of its rate over its slots. A tolerance of two percent covers that.
        missing == 0 && (found as f64 - expected).abs() <= 6.0 * expected.sqrt() + 0.02 * expected
    }
}

/// The work, of which threads take pieces.
struct Work {
    subjects: Vec<Subject>,
    pieces: u64,
    next: AtomicU64,
    started: Instant,
}

impl Work {
    fn new(arguments: &Arguments) -> Self {
        let variants = match arguments.variant {
            Some(variant) => vec![variant],
            None => Variant::ALL.to_vec(),
        };
        let subjects: Vec<Subject> =
            variants.into_iter().map(|variant| Subject::new(variant, arguments)).collect();
        let pieces = (arguments.queries as u64).div_ceil(Self::queries_per_piece(&subjects));
        Self { subjects, pieces, next: AtomicU64::new(0), started: Instant::now() }
    }

    /// The number of queries of one piece.
    fn queries_per_piece(subjects: &[Subject]) -> u64 {
        subjects.len() as u64 * BATCHES * BATCH as u64
    }

    /// Takes pieces until none is left; every thread runs this. One thread reports the progress.
    fn run(&self, reports: bool) {
        let (mut hashes, mut hits) = ([0; BATCH], [false; BATCH]);
        let mut reported = self.started;
        loop {
            let number = self.next.fetch_add(1, Ordering::Relaxed);
            if number >= self.pieces {
                return;
            }
            for subject in &self.subjects {
                for batch in 0..BATCHES {
                    let one_by_one = batch < ONE_BY_ONE;
                    subject.query(number * BATCHES + batch, one_by_one, &mut hashes, &mut hits);
                }
            }
            if reports && reported.elapsed() >= PROGRESS_INTERVAL {
                reported = Instant::now();
                let queries = (number * Self::queries_per_piece(&self.subjects)) as f64;
                let missing: u64 =
                    self.subjects.iter().map(|one| one.missing.load(Ordering::Relaxed)).sum();
                let seconds = self.started.elapsed().as_secs_f64();
                eprintln!("{queries:.3e} queries, {missing} missing, {seconds:.0} s");
            }
        }
    }
}

pub fn run(arguments: &Arguments) {
    let work = Work::new(arguments);
    let threads = match arguments.threads {
        0 => std::thread::available_parallelism().map_or(1, Into::into),
        threads => threads,
    };
    println!("{} filters of {} keys, {threads} threads", work.subjects.len(), arguments.keys);
    std::thread::scope(|scope| {
        (0..threads).for_each(|thread| {
            let work = &work;
            scope.spawn(move || work.run(thread == 0));
        });
    });
    println!("{:.0} s", work.started.elapsed().as_secs_f64());
    let correct = work.subjects.iter().filter(|subject| subject.check()).count();
    if correct < work.subjects.len() {
        eprintln!("ribbon-bench: a key is missing, or a rate is not the expected one");
        std::process::exit(1);
    }
}
