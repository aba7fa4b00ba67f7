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
    mut pieces: impl Iterator<Item = P> + Send,
    mut report: impl FnMut(usize) -> Result<(), E>,
    job: impl Fn(&mut W, P) -> Result<T, E> + Sync,
) -> Result<Vec<T>, E> {
    #[cfg(feature = "parallel")]
    if workers.len() > 1 {
        return threads::for_each(workers, &mut pieces, &mut report, &job);
    }
    let worker = workers.first_mut().expect("at least one worker");
    let mut results = Vec::new();
    for (number, piece) in (&mut pieces as &mut dyn Iterator<Item = P>).enumerate() {
        report(number)?;
        results.push(job(worker, piece)?);
    }
    Ok(results)
}

#[cfg(feature = "parallel")]
mod threads {
    //! There are some sixty callers, each with its own types. So what starts threads and hands out
    //! pieces knows neither the workers nor the results, and is not compiled for each of them.

    use alloc::vec::Vec;
    use std::sync::Mutex;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::thread::{Builder, scope};

    /// [`super::for_each`] on more threads than the calling one.
    pub(super) fn for_each<W: Send, P: Send, T: Send, E: Send>(
        workers: &mut [W],
        pieces: &mut (dyn Iterator<Item = P> + Send),
        report: &mut dyn FnMut(usize) -> Result<(), E>,
        job: &(dyn Fn(&mut W, P) -> Result<T, E> + Sync),
    ) -> Result<Vec<T>, E> {
        // Each thread locks its own worker: the mutex is never contended.
        let workers: Vec<_> = workers.iter_mut().map(Mutex::new).collect();
        // The result of each piece, in their order.
        let done = Mutex::new(Vec::new());
        distribute(workers.len(), pieces, report, &|worker, number, piece| {
            let result = job(&mut workers[worker].lock().expect("no thread panics"), piece)?;
            let mut done = done.lock().expect("no thread panics");
            while done.len() <= number {
                done.push(None);
            }
            done[number] = Some(result);
            Ok(())
        })?;
        Ok(done.into_inner().expect("no thread panics").into_iter().flatten().collect())
    }

    /// Passes the number of the thread, the number of a piece and the piece to `job`, until there
    /// are no more pieces. Returns the error of the earliest piece that has one.
    fn distribute<P: Send, E: Send>(
        threads: usize,
        pieces: &mut (dyn Iterator<Item = P> + Send),
        report: &mut dyn FnMut(usize) -> Result<(), E>,
        job: &(dyn Fn(usize, usize, P) -> Result<(), E> + Sync),
    ) -> Result<(), E> {
        let queue = Mutex::new(pieces.enumerate());
        let failed = Mutex::new(None);
        let stop = AtomicBool::new(false);
        let next = || match stop.load(Ordering::Relaxed) {
            true => None,
            false => queue.lock().expect("no thread panics").next(),
        };
        let finish = |number: usize, result: Result<(), E>| {
            let Err(error) = result else { return };
            stop.store(true, Ordering::Relaxed);
            let mut failed = failed.lock().expect("no thread panics");
            if failed.as_ref().is_none_or(|&(earliest, _)| number < earliest) {
                *failed = Some((number, error));
            }
        };
        let work = |thread: usize| {
            while let Some((number, piece)) = next() {
                finish(number, job(thread, number, piece));
            }
        };
        beside(threads - 1, &|other| work(other + 1), &mut || {
            while let Some((number, piece)) = next() {
                finish(number, report(number).and_then(|()| job(0, number, piece)));
            }
        });
        failed.into_inner().expect("no thread panics").map_or(Ok(()), |(_, error)| Err(error))
    }

    /// Calls `job` with each number below `count` on a thread of its own, and `own` on the calling
    /// thread.
    ///
    /// If the system refuses a thread, the others take over its work. All threads are joined
    /// explicitly. The end of a scope waits only for their closures; the threads themselves could
    /// still be terminating, perhaps in a library that the caller then unloads.
    fn beside(count: usize, job: &(dyn Fn(usize) + Sync), own: &mut dyn FnMut()) {
        scope(|scope| {
            let spawn = |number| Builder::new().spawn_scoped(scope, move || job(number));
            let threads: Vec<_> = (0..count).map(spawn).filter_map(Result::ok).collect();
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
            beside(3, &|_| SLOW.with(|_| ()), &mut || {});
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
