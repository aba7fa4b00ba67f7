//! Scoped threads for the parts of a query.

use std::panic::resume_unwind;
use std::thread::{Builder, scope};

/// Maps all parts and returns the results in order. Each part runs on its own thread, except for
/// the last part and those whose thread cannot be started, which run on the calling thread.
pub fn map<P: Clone + Send, R: Send>(
    parts: impl Iterator<Item = P>,
    work: impl Fn(P) -> R + Sync,
) -> Vec<R> {
    let parts: Vec<P> = parts.collect();
    let Some((last, others)) = parts.split_last() else {
        return Vec::new();
    };
    let work = &work;
    scope(|scope| {
        let start = |part: P| Builder::new().spawn_scoped(scope, move || work(part));
        let started: Vec<_> = others.iter().cloned().map(start).collect();
        let result = work(last.clone());
        let finished = started.into_iter().zip(others).map(|(thread, part)| match thread {
            Ok(thread) => thread.join().unwrap_or_else(|panic| resume_unwind(panic)),
            Err(_) => work(part.clone()),
        });
        finished.collect::<Vec<_>>().into_iter().chain([result]).collect()
    })
}
