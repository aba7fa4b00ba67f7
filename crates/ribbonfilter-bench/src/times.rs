//! Comparable times: pieces of work run in turn, and the minimum of several rounds counts.

use std::time::{Duration, Instant};

/// A clock that stands still while other programs have the CPU, where the system has one.
#[derive(Clone, Copy)]
pub struct CpuClock(Duration);

impl CpuClock {
    pub fn start() -> Self {
        Self(cpu_time())
    }

    pub fn nanoseconds(self) -> f64 {
        cpu_time().saturating_sub(self.0).as_secs_f64() * 1e9
    }
}

/// The CPU time of this thread.
#[cfg(unix)]
fn cpu_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::try_from(time).unwrap_or_default()
}

/// The time since the first call.
#[cfg(not(unix))]
fn cpu_time() -> Duration {
    static FIRST: std::sync::OnceLock<Instant> = std::sync::OnceLock::new();
    FIRST.get_or_init(Instant::now).elapsed()
}

/// The minimum time of each piece of work, in nanoseconds.
pub fn min_times<T: ?Sized, const N: usize>(
    rounds: u32,
    pieces: &[&T; N],
    work: impl Fn(&T),
) -> [f64; N] {
    mins(rounds, pieces, |piece| {
        let begin = Instant::now();
        work(piece);
        begin.elapsed().as_secs_f64() * 1e9
    })
}

/// The minimum CPU time of each piece of work, in nanoseconds. All of it must be on this thread.
pub fn min_cpu_times<T: ?Sized, const N: usize>(
    rounds: u32,
    pieces: &[&T; N],
    work: impl Fn(&T),
) -> [f64; N] {
    mins(rounds, pieces, |piece| {
        let clock = CpuClock::start();
        work(piece);
        clock.nanoseconds()
    })
}

fn mins<T: ?Sized, const N: usize>(
    rounds: u32,
    pieces: &[&T; N],
    time: impl Fn(&T) -> f64,
) -> [f64; N] {
    let mut times = [f64::INFINITY; N];
    for _ in 0..rounds {
        for (min, piece) in times.iter_mut().zip(pieces) {
            *min = min.min(time(piece));
        }
    }
    times
}
