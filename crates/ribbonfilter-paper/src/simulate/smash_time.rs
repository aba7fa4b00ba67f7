//! What smash costs a query: the paper measured about 3 ns on an Intel Skylake CPU (section 3.1).

use crate::random::hashes;
use crate::{Filter, Settings, Variant, Width};
use std::hint::black_box;
use std::io::{self, Write};
use std::time::Instant;

const QUERIES: usize = 1 << 18;

/// Queries that are timed together: so few that another program rarely comes between.
const SLICE: usize = 1 << 12;

/// The minimum time of a query in nanoseconds, of each slice of the queries.
pub fn times(filter: &Filter, queries: &[u64], rounds: u32) -> f64 {
    let time = |slice: &[u64]| {
        let begin = Instant::now();
        black_box(slice.iter().filter(|&&hash| filter.contains_hash(hash)).count());
        begin.elapsed().as_nanos() as f64
    };
    let mut least = vec![f64::INFINITY; queries.len().div_ceil(SLICE)];
    for _ in 0..rounds.max(1) {
        for (slice, least) in queries.chunks(SLICE).zip(&mut least) {
            *least = least.min(time(slice));
        }
    }
    least.iter().sum::<f64>() / queries.len() as f64
}

/// Prints times with and without smash.
pub fn run(out: &mut dyn Write, scale: f64) -> io::Result<()> {
    writeln!(out, "# ns per query, r = 8, absent keys (paper: smash costs about 3 ns)")?;
    writeln!(out, "variant\tw\tkeys\tno smash\tsmash w/4\tdifference")?;
    for (variant, width) in [
        (Variant::Homogeneous, Width::W32),
        (Variant::Homogeneous, Width::W64),
        (Variant::Standard, Width::W128),
    ] {
        let keys = ((1e6 * scale) as usize).clamp(1000, 1_000_000);
        let filters = [0, width.slots() / 4].map(|smash| {
            let settings = Settings { smash: Some(smash), ..Settings::new(variant, width, 8.0) };
            Filter::from_hashes(&settings, &hashes(keys, 1)).expect("a seed for random keys")
        });
        let (queries, rounds) = (hashes(QUERIES, 2), (20.0 * scale.min(2.0)) as u32);
        let [off, on] = filters.map(|filter| times(&filter, &queries, rounds));
        writeln!(out, "{variant}\t{width}\t{keys}\t{off:.2}\t{on:.2}\t{:.2}", on - off)?;
    }
    Ok(())
}
