//! What the paper proves or simulates, to be seen in numbers. Each file is one statement: a function
//! that measures it, and a `run` that prints it as tab-separated rows after a line that begins with
//! `#`.
//!
//! All random numbers are fixed, so every run prints the same numbers, but for times.

pub mod balanced;
pub mod displacement;
pub mod epsilon;
pub mod fractions;
pub mod free_rows;
pub mod layouts;
pub mod lemma;
pub mod locality;
pub mod regular;
pub mod shard_size;
pub mod smash;
pub mod smash_time;
pub mod until_failure;

use crate::banding::{Banding, Equation, RightSide};
use crate::hash::Seeded;
use crate::random::Random;
use crate::width::Word;
use crate::{Starts, Width};
use std::io::{self, Write};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

/// A simulation: its name, and what prints it. The number scales the numbers of systems.
pub type Simulation = (&'static str, fn(&mut dyn Write, f64) -> io::Result<()>);

/// All simulations, in the order of the paper.
pub const ALL: [Simulation; 12] = [
    ("displacement", displacement::run),
    ("regular", regular::run),
    ("smash", smash::run),
    ("smash-time", smash_time::run),
    ("free-rows", free_rows::run),
    ("lemma", lemma::run),
    ("epsilon", epsilon::run),
    ("fractions", fractions::run),
    ("locality", locality::run),
    ("layouts", layouts::run),
    ("shard-size", shard_size::run),
    ("balanced", balanced::run),
];

/// The results of `count` trials with random numbers of their own, on all cores.
pub fn trials<T: Send>(count: u64, trial: impl Fn(&mut Random) -> T + Sync) -> Vec<T> {
    let (next, results) = (AtomicU64::new(0), Mutex::new(Vec::new()));
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let work = || loop {
        let number = next.fetch_add(1, Ordering::Relaxed);
        if number >= count {
            return;
        }
        let result = trial(&mut Random::new(number));
        results.lock().expect("no trial panics").push((number, result));
    };
    std::thread::scope(|scope| (0..threads).for_each(|_| drop(scope.spawn(work))));
    let mut results = results.into_inner().expect("no trial panics");
    results.sort_by_key(|&(number, _)| number);
    results.into_iter().map(|(_, result)| result).collect()
}

/// The mean and its standard error.
pub fn mean_and_error(values: &[f64]) -> (f64, f64) {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let squares: f64 = values.iter().map(|value| (value - mean) * (value - mean)).sum();
    (mean, libm::sqrt(squares / (count - 1.0).max(1.0) / count))
}

/// The equation of a key under seed 0.
pub fn equation<W: Word, R: RightSide>(
    starts: &Starts,
    hash: u64,
    right_side: R,
) -> Equation<W, R> {
    let seeded = Seeded::new(hash, 0);
    Equation { start: starts.of(seeded.0), coefficients: seeded.coefficients(), right_side }
}

/// A homogeneous system of keys, under seed 0.
pub fn homogeneous<W: Word>(slots: u64, smash: u64, hashes: &[u64]) -> Banding<W, ()> {
    let (mut banding, starts) = (Banding::new(slots), Starts::new(slots, W::WIDTH, smash));
    banding.insert_all(hashes.iter().map(|&hash| equation(&starts, hash, ())));
    banding
}

/// The widths, with the names of their columns in a table.
fn widths() -> impl Iterator<Item = (Width, u64)> {
    Width::ALL.into_iter().map(|width| (width, width.slots()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trials_are_the_same_in_every_run() {
        let run = || trials(100, Random::number);
        assert_eq!(run(), run());
        assert_eq!(run()[7], Random::new(7).number());
    }

    #[test]
    fn mean_and_error_of_known_values() {
        let (mean, error) = mean_and_error(&[1.0, 3.0]);
        assert_eq!((mean, error), (2.0, 1.0));
    }

    /// Every simulation prints a title and rows of as many fields as its header.
    #[test]
    fn simulations_print_tables() {
        for (name, run) in ALL {
            let mut bytes = Vec::new();
            run(&mut bytes, 0.002).expect("a buffer takes everything");
            let text = String::from_utf8(bytes).expect("text");
            let rows: Vec<&str> = text.lines().filter(|line| !line.starts_with('#')).collect();
            assert!(text.starts_with('#') && rows.len() > 2, "{name}: {text}");
            let fields = |row: &str| row.split('\t').count();
            assert!(rows.iter().all(|row| fields(row) == fields(rows[0])), "{name}: {text}");
        }
    }
}
