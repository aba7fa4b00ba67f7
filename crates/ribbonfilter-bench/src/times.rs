//! Times that can be compared: pieces of work in turn, and the least of several rounds.

use std::time::Instant;

/// The least time of each piece of work in nanoseconds, taken in turn.
pub fn least<T: ?Sized, const N: usize>(
    rounds: u32,
    pieces: &[&T; N],
    work: impl Fn(&T),
) -> [f64; N] {
    let mut least = [f64::INFINITY; N];
    for _ in 0..rounds {
        for (least, piece) in least.iter_mut().zip(pieces) {
            let begin = Instant::now();
            work(piece);
            *least = least.min(begin.elapsed().as_secs_f64() * 1e9);
        }
    }
    least
}
