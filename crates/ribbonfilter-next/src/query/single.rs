//! The query of one key.
#![expect(unsafe_code, reason = "loads through pointers")]

use super::layout::{Layout, Opened};
use super::regular;
use crate::kernel::{Evaluate, compile};

/// Whether [`query`] may be used with these parameters.
pub(super) fn holds<const W: usize, const SHAPE: u32, const BUMPED: bool>(layout: &Layout) -> bool {
    BUMPED == layout.second.is_some()
        && regular::holds::<W, SHAPE>(&layout.first, layout.len as u64)
}

compile! {
    /// The query of a layout for which [`holds`].
    pub(super) fn compiled[const W: usize, const SHAPE: u32, const BUMPED: bool, const FILTER: bool]
        [W, SHAPE, BUMPED, FILTER] =
        query(opened: &Opened, bytes: *const u8, key_hash: u64) -> u64;
}

/// # Safety
/// The layout was opened with the kernel, [`holds`], and `bytes` are as many as it says.
#[inline(always)]
pub(super) unsafe fn query<
    K: Evaluate,
    const W: usize,
    const SHAPE: u32,
    const BUMPED: bool,
    const FILTER: bool,
>(
    kernel: K,
    opened: &Opened,
    bytes: *const u8,
    key_hash: u64,
) -> u64 {
    let mixed = opened.mixer.mix(key_hash);
    let first = &opened.first;
    let position = first.position(mixed);
    let expected = if FILTER { mixed } else { 0 };
    // SAFETY: there is a second system if `BUMPED`; the caller guarantees the rest.
    unsafe {
        if BUMPED && opened.is_bumped(bytes, position) {
            return opened.second::<FILTER>(bytes, mixed);
        }
        regular::at_position::<K, W, SHAPE>(kernel, first, bytes, position, mixed, expected)
    }
}

compile! {
    /// The query of any layout.
    pub(super) fn any_compiled[const BUMPED: bool, const FILTER: bool][BUMPED, FILTER] =
        any(opened: &Opened, bytes: *const u8, key_hash: u64) -> u64;
}

/// Any layout, through the functions of its systems.
///
/// # Safety
/// The layout was opened with the kernel, has a second system if `BUMPED`, and `bytes` are as many as
/// it says.
#[inline(always)]
pub(super) unsafe fn any<K: Copy, const BUMPED: bool, const FILTER: bool>(
    _: K,
    opened: &Opened,
    bytes: *const u8,
    key_hash: u64,
) -> u64 {
    let mixed = opened.mixer.mix(key_hash);
    if opened.first.is_empty() {
        return FILTER.into();
    }
    // SAFETY: the caller guarantees it.
    unsafe {
        if BUMPED && opened.is_bumped(bytes, opened.first.position(mixed)) {
            return opened.second::<FILTER>(bytes, mixed);
        }
        opened.first.row(bytes, mixed, opened.expected::<FILTER>(mixed))
    }
}
