//! Distributes work among threads, which are all joined before the call returns.
//!
//! What the work is decides the bytes; which thread does it does not. The calling thread is one of
//! the workers, and the only one that reports progress.

use alloc::vec::Vec;

/// Runs `job` on every piece, with one thread for each of `workers`, which are the buffers that the
/// threads reuse. Returns the results in the order of the pieces.
///
/// `report` is called before the calling thread takes a piece, with the number of the piece. The
/// first error stops the work.
pub(crate) fn for_each<W: Send, P: Send, T: Send, E: Send>(
    workers: &mut [W],
    pieces: impl Iterator<Item = P> + Send,
    mut report: impl FnMut(usize) -> Result<(), E>,
    job: impl Fn(&mut W, P) -> Result<T, E> + Sync,
) -> Result<Vec<T>, E> {
    let (own, others) = workers.split_first_mut().expect("at least one worker");
    if !others.is_empty() {
        #[cfg(feature = "parallel")]
        return threads::for_each(own, others, pieces, report, job);
    }
    let mut results = Vec::new();
    for (number, piece) in pieces.enumerate() {
        report(number)?;
        results.push(job(own, piece)?);
    }
    Ok(results)
}

#[cfg(feature = "parallel")]
mod threads {
    use alloc::vec::Vec;
    use std::sync::Mutex;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::thread::{Builder, scope};

    /// [`super::for_each`] on more threads than the calling one.
    pub(super) fn for_each<W: Send, P: Send, T: Send, E: Send>(
        own: &mut W,
        others: &mut [W],
        pieces: impl Iterator<Item = P> + Send,
        mut report: impl FnMut(usize) -> Result<(), E>,
        job: impl Fn(&mut W, P) -> Result<T, E> + Sync,
    ) -> Result<Vec<T>, E> {
        let queue = Mutex::new(pieces.enumerate());
        let done = Mutex::new(Vec::new());
        let stop = AtomicBool::new(false);
        let next = || match stop.load(Ordering::Relaxed) {
            true => None,
            false => queue.lock().expect("no thread panics").next(),
        };
        let finish = |number, result: Result<T, E>| {
            stop.fetch_or(result.is_err(), Ordering::Relaxed);
            done.lock().expect("no thread panics").push((number, result));
        };
        let work = |worker: &mut W| {
            while let Some((number, piece)) = next() {
                finish(number, job(worker, piece));
            }
        };
        let jobs = others.iter_mut().map(|worker| || work(worker));
        beside(jobs, || {
            while let Some((number, piece)) = next() {
                let result = report(number).and_then(|()| job(own, piece));
                finish(number, result);
            }
        });
        let mut results = done.into_inner().expect("no thread panics");
        results.sort_unstable_by_key(|&(number, _)| number);
        results.into_iter().map(|(_, result)| result).collect()
    }

    /// Runs each of `jobs` on a thread of its own and `own` on the calling thread.
    ///
    /// If the system refuses a thread, the others take over its work. All threads are joined
    /// explicitly. The end of a scope waits only for their closures; the threads themselves could
    /// still be terminating, perhaps in a library that the caller then unloads.
    fn beside<J: FnOnce() + Send>(jobs: impl Iterator<Item = J>, own: impl FnOnce()) {
        scope(|scope| {
            let spawned = jobs.map(|job| Builder::new().spawn_scoped(scope, job));
            let threads: Vec<_> = spawned.flatten().collect();
            own();
            for thread in threads {
                if let Err(panic) = thread.join() {
                    std::panic::resume_unwind(panic);
                }
            }
        });
    }

    #[cfg(test)]
    mod tests {
        use super::*;
        use core::sync::atomic::AtomicU32;
        use core::time::Duration;

        static GONE: AtomicU32 = AtomicU32::new(0);

        /// Counts threads that have run their thread-local destructors.
        struct Slow;

        impl Drop for Slow {
            fn drop(&mut self) {
                std::thread::sleep(Duration::from_millis(50));
                GONE.fetch_add(1, Ordering::Relaxed);
            }
        }

        #[test]
        fn threads_are_gone_when_the_work_is_done() {
            std::thread_local!(static SLOW: Slow = const { Slow });
            beside((0..3).map(|_| || SLOW.with(|_| ())), || {});
            assert_eq!(GONE.load(Ordering::Relaxed), 3);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    /// Results are in the order of the pieces for any number of workers, and an error of the job or
    /// of the report is returned.
    #[test]
    fn results_are_in_order_and_errors_stop_the_work() {
        for workers in [1, 2, 7] {
            let mut workers = vec![0u64; workers];
            let square = |worker: &mut u64, piece: u64| {
                *worker += 1;
                Ok::<_, &str>(piece * piece)
            };
            let squares = for_each(&mut workers, 0..1000, |_| Ok(()), square).expect("no error");
            assert!((0..1000).map(|piece| piece * piece).eq(squares));
            assert_eq!(workers.iter().sum::<u64>(), 1000);
            let failing = |_: &mut u64, piece| if piece < 500 { Ok(()) } else { Err("job") };
            assert_eq!(for_each(&mut workers, 0..1000, |_| Ok(()), failing), Err("job"));
            let stopped = for_each(&mut workers, 0..1000, |_| Err("report"), square);
            // The other threads may have done all work before the calling one took a piece.
            assert!(stopped == Err("report") || workers.len() > 1, "{stopped:?}");
        }
    }
}
