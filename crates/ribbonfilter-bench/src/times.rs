//! Comparable times: pieces of work run in turn, and the minimum of several rounds counts.

use std::time::Instant;

/// The minimum time of each piece of work, in nanoseconds.
pub fn min_times<T: ?Sized, const N: usize>(
    rounds: u32,
    pieces: &[&T; N],
    work: impl Fn(&T),
) -> [f64; N] {
    let mut times = [f64::INFINITY; N];
    for _ in 0..rounds {
        for (min, piece) in times.iter_mut().zip(pieces) {
            let begin = Instant::now();
            work(piece);
            *min = min.min(begin.elapsed().as_secs_f64() * 1e9);
        }
    }
    times
}
