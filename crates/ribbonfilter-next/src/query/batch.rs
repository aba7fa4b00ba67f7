//! Queries of many keys: 64 at a time where the instruction set and the shape allow it, else a loop with
//! the single query inlined.
//!
//! Prefetching the blocks of the next 64 keys while those of the last 64 are evaluated gained nothing
//! (10^7 keys, W = 2, 3, 4 on Zen 4: +2, -12, -9 %): the processor looks as far ahead by itself.
#![expect(unsafe_code, reason = "queries are unsafe")]

use super::layout::Opened;
use super::regular::UP_TO_8;
use super::single;
use crate::kernel::{Evaluate, Geometry, Located, compile};

compile! {
    /// The queries of a layout for which [`single::holds`].
    pub(super) fn compiled[const W: usize, const SHAPE: u32, const BUMPED: bool, const FILTER: bool]
        [W, SHAPE, BUMPED, FILTER] =
        queries(opened: &Opened, bytes: *const u8, keys: &[u64], results: &mut [u64]) -> ();
}

/// # Safety
/// As for [`single::query`].
#[inline(always)]
unsafe fn queries<
    K: Evaluate,
    const W: usize,
    const SHAPE: u32,
    const BUMPED: bool,
    const FILTER: bool,
>(
    kernel: K,
    opened: &Opened,
    bytes: *const u8,
    keys: &[u64],
    results: &mut [u64],
) {
    let query = |key| {
        // SAFETY: the caller guarantees it.
        unsafe { single::query::<K, W, SHAPE, BUMPED, FILTER>(kernel, opened, bytes, key) }
    };
    let together = K::TOGETHER && FILTER && matches!(SHAPE, UP_TO_8 | 8);
    let geometry = together.then(|| opened.first.geometry::<W>(opened.mixer, &opened.bumps));
    let Some(geometry) = geometry.flatten() else { return each::<FILTER>(keys, results, query) };
    let (chunks, rest) = keys.as_chunks();
    let (results, last) = results.split_at_mut(chunks.len());
    let mut located = Located::new();
    for (bits, keys) in results.iter_mut().zip(chunks) {
        // SAFETY: the caller guarantees it.
        *bits = unsafe {
            match SHAPE {
                8 => of_64::<K, W, true, BUMPED>(kernel, &geometry, bytes, keys, &mut located),
                _ => of_64::<K, W, false, BUMPED>(kernel, &geometry, bytes, keys, &mut located),
            }
        };
        let mut unsure = located.unsure;
        while unsure != 0 {
            let i = unsure.trailing_zeros();
            let found = u64::from(query(keys[i as usize]) == 0);
            *bits = *bits & !(1 << i) | found << i;
            unsure &= unsure - 1;
        }
    }
    each::<FILTER>(rest, last, query);
}

/// The bits of 64 keys; those of [`Located::unsure`] may be wrong.
///
/// # Safety
/// As for [`single::query`], in a filter; the geometry is that of the first system. `WHOLE`: it has
/// exactly eight columns and no boundary.
#[inline(always)]
unsafe fn of_64<K: Evaluate, const W: usize, const WHOLE: bool, const BUMPED: bool>(
    kernel: K,
    geometry: &Geometry,
    bytes: *const u8,
    keys: &[u64; 64],
    located: &mut Located,
) -> u64 {
    // SAFETY: the geometry says where regular equations are, and `holds` says that 64 bytes can be
    // read from each of their blocks on. There are codes if `BUMPED`.
    unsafe {
        kernel.locate::<W, WHOLE, BUMPED>(geometry, bytes, keys, located);
        kernel.evaluate::<W, WHOLE>(bytes, geometry.columns, located)
    }
}

compile! {
    /// The queries of any layout.
    pub(super) fn any_compiled[const BUMPED: bool, const FILTER: bool][BUMPED, FILTER] =
        any(opened: &Opened, bytes: *const u8, keys: &[u64], results: &mut [u64]) -> ();
}

/// # Safety
/// As for [`single::any`].
#[inline(always)]
unsafe fn any<K: Copy, const BUMPED: bool, const FILTER: bool>(
    kernel: K,
    opened: &Opened,
    bytes: *const u8,
    keys: &[u64],
    results: &mut [u64],
) {
    // SAFETY: the caller guarantees it.
    each::<FILTER>(keys, results, |key| unsafe {
        single::any::<K, BUMPED, FILTER>(kernel, opened, bytes, key)
    });
}

/// A loop of single queries.
#[inline(always)]
fn each<const FILTER: bool>(keys: &[u64], results: &mut [u64], query: impl Fn(u64) -> u64) {
    if FILTER {
        for (bits, keys) in results.iter_mut().zip(keys.chunks(64)) {
            *bits = 0;
            for (i, &key) in keys.iter().enumerate() {
                *bits |= u64::from(query(key) == 0) << i;
            }
        }
    } else {
        for (row, &key) in results.iter_mut().zip(keys) {
            *row = query(key);
        }
    }
}
