//! Batched queries: while some keys are evaluated, the memory of others is prefetched.
//!
//! Most shapes use a ring buffer, compiled as one function (`ring`): each key that is evaluated
//! frees an entry for the key that is located and prefetched next. All other shapes are queried
//! in chunks ([`by_chunks`]): a chunk is located and prefetched, then the preceding chunk is
//! evaluated. The ring is faster, because it spreads its prefetches over time: a chunk issues all
//! its prefetches together, and then waits.
//!
//! The ring always holds [`AHEAD`] located keys, so every key has the time of that many
//! evaluations for its cache lines to arrive. Key `i` occupies entry `i % AHEAD`. The loop reads
//! an entry before it replaces it with key `i + AHEAD`, so no located key is lost.

use super::single::{Find, Fingerprints, Located, Opened, QueryKind, by_steps, query};
use super::solution::{Any, Assumptions, SMALL_BYTES};
use super::{Locate, Probe};
use crate::kernel::portable::Portable;
use crate::kernel::{Instructions, cold_path, compile, prefetch};
use crate::ribbon::width::{Band, COMPACT};
use core::hint::black_box;

/// Keys that are located and prefetched ahead of the key that is evaluated.
const AHEAD: usize = 32;

/// Keys that are located before any of them is evaluated.
pub(super) const CHUNK: usize = 32;

/// Keys that are hashed before they are queried.
pub(super) const HASHED: usize = 1 << 10;

/// Filters up to this size stay in the core's own cache, where a prefetch gains nothing.
/// (In unit tests the limit is low, so that small filters exercise both code paths.)
const CACHED_BYTES: usize = if cfg!(test) { 1 << 10 } else { 1 << 18 };

/// Bytes of a cache line.
const LINE: usize = 64;

compile! {
    ring as pub(super) with_vectors, portable:
    <'a, K: QueryKind, B: Band, A: Assumptions, F: Find>(
        opened: Opened<'a, Probe<K>>, key_hashes: &[u64], results: &mut [K::Result]
    ) -> ()
}

/// A batch of key hashes, located and evaluated in one function.
#[inline(always)]
fn ring<'a, I: Instructions, K: QueryKind, B: Band, A: Assumptions, F: Find>(
    instructions: I,
    opened: Opened<'a, Probe<K>>,
    key_hashes: &[u64],
    results: &mut [K::Result],
) {
    if opened.target().bytes().len() <= CACHED_BYTES {
        for (&key_hash, result) in key_hashes.iter().zip(results) {
            *result = query::<I, K, B, A, F>(instructions, opened, key_hash);
        }
        return;
    }
    let mut ring = [Located::UNKNOWN; AHEAD];
    for (located, &key_hash) in ring.iter_mut().zip(key_hashes) {
        *located = locate_ahead::<K, B, A, F>(opened, key_hash);
    }
    let ahead = key_hashes.get(AHEAD..).unwrap_or_default();
    let (results, last_results) = results.split_at_mut(ahead.len().min(results.len()));
    let keys = key_hashes.iter().zip(ahead);
    for (index, ((&key_hash, &next), result)) in keys.zip(results).enumerate() {
        let located = &mut ring[index % AHEAD];
        *result = evaluate::<I, K, B, A, F>(instructions, opened, *located, key_hash);
        *located = locate_ahead::<K, B, A, F>(opened, next);
    }
    let last = key_hashes.iter().enumerate().skip(ahead.len());
    for ((index, &key_hash), result) in last.zip(last_results) {
        let located = ring[index % AHEAD];
        *result = evaluate::<I, K, B, A, F>(instructions, opened, located, key_hash);
    }
}

// Functions, not closures: a closure would not be compiled for the kernel's instruction set.

/// Locates a key and prefetches its memory. [`Located::UNKNOWN`] if `find` declines the key;
/// [`evaluate`] then passes it to [`by_steps`], because no kernel reads that slot.
#[inline(always)]
fn locate_ahead<'a, K: QueryKind, B: Band, A: Assumptions, F: Find>(
    opened: Opened<'a, Probe<K>>,
    key_hash: u64,
) -> Located<'a> {
    let located = F::find::<B, A>(&opened.probe.locator, opened.target(), key_hash);
    let Some(located) = located else { return Located::UNKNOWN };
    opened.target().prefetch::<B, A>(located);
    located
}

#[inline(always)]
fn evaluate<'a, I: Instructions, K: QueryKind, B: Band, A: Assumptions, F: Find>(
    instructions: I,
    opened: Opened<'a, Probe<K>>,
    located: Located<'a>,
    key_hash: u64,
) -> K::Result {
    match K::evaluate::<I, B, A, F>(instructions, opened.target(), located) {
        Some(result) => result,
        None => {
            cold_path();
            by_steps(opened, key_hash)
        }
    }
}

/// Queries hashes, until `key_hashes` or `results` ends.
pub(super) fn run<K: QueryKind, L: Locate>(
    probe: &Probe<K, L>,
    bytes: &[u8],
    key_hashes: &[u64],
    results: &mut [K::Result],
) {
    let count = key_hashes.len().min(results.len());
    let (key_hashes, results) = (&key_hashes[..count], &mut results[..count]);
    if probe.batch.is_some() && bytes.len() <= SMALL_BYTES {
        // `Small` selects without branches. Inlined in a loop, the compiler would turn these
        // selections into branches, so each query is a call.
        for (&key_hash, result) in key_hashes.iter().zip(results) {
            *result = probe.query(bytes, key_hash);
        }
        return;
    }
    if COMPACT && probe.batch.is_none() {
        for (&key_hash, result) in key_hashes.iter().zip(results) {
            *result = probe.query(bytes, key_hash);
        }
        return;
    }
    let is_done = match probe.batch {
        Some(_) => probe.query_fused(bytes, key_hashes, results),
        None => probe.open(bytes, |opened| by_chunks(opened, key_hashes, &mut *results)).is_some(),
    };
    if !is_done {
        results.fill(K::UNKNOWN);
    }
}

/// A batch of key hashes for compact code: the keys of a chunk are located together, then evaluated
/// one by one.
pub(super) fn in_chunks<'a, K: QueryKind, B: Band>(
    opened: Opened<'a, Probe<K>>,
    key_hashes: &[u64],
    results: &mut [K::Result],
) {
    let (bytes, solution) = (opened.target().bytes(), &opened.probe.target.solution);
    let mut chunk = [Located::UNKNOWN; CHUNK];
    for (key_hashes, results) in key_hashes.chunks(CHUNK).zip(results.chunks_mut(CHUNK)) {
        let chunk = &mut chunk[..key_hashes.len()];
        opened.probe.locator.locate_chunk(opened.target(), key_hashes, chunk);
        if bytes.len() > CACHED_BYTES {
            // These loads depend on nothing, so the CPU waits for all of them together.
            let first_bytes =
                chunk.iter().map(|located| bytes.get(solution.offset_of(located.slot)));
            black_box(first_bytes.fold(0, |sum, byte| sum ^ byte.copied().unwrap_or_default()));
        }
        for ((&key_hash, &located), result) in key_hashes.iter().zip(&*chunk).zip(results) {
            *result = evaluate::<_, K, B, Any, Fingerprints>(Portable, opened, located, key_hash);
        }
    }
}

/// Queries hashes in chunks, for shapes without a fused batch function.
///
/// Two chunks alternate: the loop locates and prefetches `next`, then evaluates `now`, then swaps
/// them. The located keys of `now` stay valid, because `locate` writes only to `next`.
fn by_chunks<'a, K: QueryKind, L: Locate>(
    opened: Opened<'a, Probe<K, L>>,
    key_hashes: &[u64],
    results: &mut [K::Result],
) {
    let bytes = opened.target().bytes();
    let is_cached = bytes.len() <= CACHED_BYTES;
    let locate = |from: usize, located: &mut [Located<'a>; CHUNK]| {
        let key_hashes = key_hashes.get(from..).unwrap_or_default();
        let located = &mut located[..CHUNK.min(key_hashes.len())];
        opened.probe.locator.locate_many(opened.target(), key_hashes, located);
        for located in located.iter().filter(|_| !is_cached) {
            let solution = &opened.probe.target.solution;
            let first = bytes.as_ptr().wrapping_add(solution.offset_of(located.slot));
            for line in 0..=solution.last_byte / LINE {
                prefetch(first.wrapping_add(line * LINE));
            }
            // A block that does not begin on a cache line reaches into one more line.
            prefetch(first.wrapping_add(solution.last_byte));
        }
    };
    let mut rows = [0; CHUNK];
    let mut chunks = [[Located::UNKNOWN; CHUNK]; 2];
    let [mut now, mut next] = chunks.each_mut();
    locate(0, now);
    for (number, results) in results.chunks_mut(CHUNK).enumerate() {
        locate((number + 1) * CHUNK, next);
        let now_located = &now[..results.len()];
        let rows = &mut rows[..results.len()];
        opened.evaluate(now_located, rows);
        for ((result, &located), &mut row) in results.iter_mut().zip(now_located).zip(rows) {
            *result = K::conclude(opened.target(), located, row);
        }
        core::mem::swap(&mut now, &mut next);
    }
}
