//! Many queries on filters that all threads share: no key may be missing, and keys that were
//! never put in are found at the rate that the filter tells.
//!
//! The hash of the key `i` is the `i`-th number of a stream that repeats none, so the exact set is a
//! range of numbers: what lies below its end was put in, what lies above was not. Threads take
//! pieces of the work from one counter; all filters are asked in every piece, in batches and one by
//! one.

use crate::kernel;
use crate::random::numbered;
use ribbonfilter::{Filter, Variant};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

#[derive(clap::Args)]
pub struct Arguments {
    /// Queries in all, half of them for keys that were put in
    #[arg(long, default_value_t = 1e10)]
    queries: f64,
    /// Keys of each filter
    #[arg(long, default_value_t = 1e5)]
    keys: f64,
    /// Columns: the rate is about 2 to the power of minus this
    #[arg(long, default_value_t = 8.0)]
    columns: f64,
    /// Only this variant
    #[arg(long, value_parser = crate::spill::variant)]
    variant: Option<Variant>,
    /// Threads that ask; 0 is one for each core
    #[arg(long, default_value_t = 0)]
    threads: usize,
}

/// Queries of one batch: half for keys that are there, half for others.
const BATCH: usize = 1024;
/// Batches of one piece for each filter, and how many of them are asked one by one.
const BATCHES: u64 = 64;
const ONE_BY_ONE: u64 = 8;
/// Time from one line of progress to the next.
const PAUSE: Duration = Duration::from_secs(10);

/// A filter that all threads ask, and what they found.
struct Subject {
    filter: Filter,
    keys: u64,
    missing: AtomicU64,
    found: AtomicU64,
    asked: AtomicU64,
}

impl Subject {
    fn new(variant: Variant, arguments: &Arguments) -> Self {
        let keys = arguments.keys as u64;
        let mut builder =
            Filter::builder().variant(variant).columns(arguments.columns).kernel(kernel());
        builder.extend_hashes((0..keys).map(numbered));
        let filter = builder.finish().expect("random hashes build").with_kernel(kernel());
        let [missing, found, asked] = [(); 3].map(|()| AtomicU64::new(0));
        Self { filter, keys, missing, found, asked }
    }

    /// Asks one batch: every other hash is that of a key that was put in.
    fn ask(&self, number: u64, one_by_one: bool, hashes: &mut [u64], hits: &mut [bool]) {
        let half = BATCH as u64 / 2;
        for (pair, hashes) in (number * half..).zip(hashes.chunks_exact_mut(2)) {
            // A large odd step visits the keys out of order.
            let key = pair.wrapping_mul(0x9e37_79b9_7f4a_7c15) % self.keys;
            hashes.copy_from_slice(&[numbered(key), numbered(self.keys + pair)]);
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
        self.found.fetch_add(count(1), Ordering::Relaxed);
        self.asked.fetch_add(half, Ordering::Relaxed);
    }

    /// Prints what came out; whether it is as it must be.
    fn judge(&self) -> bool {
        let [missing, found, absent] =
            [&self.missing, &self.found, &self.asked].map(|count| count.load(Ordering::Relaxed));
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
        // The rate of one solution differs from the mean of all, by about the square root of its
        // rate over its slots: two percent leave room for that.
        missing == 0 && (found as f64 - expected).abs() <= 6.0 * expected.sqrt() + 0.02 * expected
    }
}

/// The work, which threads take in pieces.
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
        let pieces = (arguments.queries as u64).div_ceil(Self::piece(&subjects));
        Self { subjects, pieces, next: AtomicU64::new(0), started: Instant::now() }
    }

    /// The queries of one piece.
    fn piece(subjects: &[Subject]) -> u64 {
        subjects.len() as u64 * BATCHES * BATCH as u64
    }

    /// What one thread does; one of them tells how far all are.
    fn take_part(&self, tells: bool) {
        let (mut hashes, mut hits) = ([0; BATCH], [false; BATCH]);
        let mut told = self.started;
        loop {
            let number = self.next.fetch_add(1, Ordering::Relaxed);
            if number >= self.pieces {
                return;
            }
            for subject in &self.subjects {
                for batch in 0..BATCHES {
                    let one_by_one = batch < ONE_BY_ONE;
                    subject.ask(number * BATCHES + batch, one_by_one, &mut hashes, &mut hits);
                }
            }
            if tells && told.elapsed() >= PAUSE {
                told = Instant::now();
                let queries = (number * Self::piece(&self.subjects)) as f64;
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
            scope.spawn(move || work.take_part(thread == 0));
        });
    });
    println!("{:.0} s", work.started.elapsed().as_secs_f64());
    let right = work.subjects.iter().filter(|subject| subject.judge()).count();
    if right < work.subjects.len() {
        eprintln!("ribbon-bench: a key is missing, or a rate is not as promised");
        std::process::exit(1);
    }
}
