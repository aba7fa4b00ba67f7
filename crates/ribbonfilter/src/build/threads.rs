//! Threads in addition to the calling one, all joined before the call returns.

use alloc::vec::Vec;
use std::thread::{Builder, scope};

/// Runs each of `toils` on a thread of its own and `own` on the calling thread. Returns the result
/// of `own`.
///
/// If the system refuses a thread, the others take over its work. All threads are joined
/// explicitly. The end of a scope waits only for their closures; the threads themselves could still
/// be terminating, perhaps in a library that the caller then unloads.
pub(super) fn beside<F: FnOnce() + Send, T>(
    toils: impl Iterator<Item = F>,
    own: impl FnOnce() -> T,
) -> T {
    scope(|scope| {
        let spawned = toils.map(|toil| Builder::new().spawn_scoped(scope, toil));
        let threads: Vec<_> = spawned.flatten().collect();
        let result = own();
        for thread in threads {
            if let Err(panic) = thread.join() {
                std::panic::resume_unwind(panic);
            }
        }
        result
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::sync::atomic::{AtomicU32, Ordering};
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
        let toils = (0..3).map(|_| || SLOW.with(|_| ()));
        assert_eq!(beside(toils, || 7), 7);
        assert_eq!(GONE.load(Ordering::Relaxed), 3);
    }
}
