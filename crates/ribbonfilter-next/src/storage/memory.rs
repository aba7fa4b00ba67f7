//! Fallible allocation, with huge pages where they are faster.
//!
//! Huge pages are faster for memory that a thread accesses repeatedly in no predictable order,
//! such as the rows of a segment: fewer accesses miss the TLB. They are also faster for the key
//! hashes: a page fault for every 4 KiB takes longer than all other work of pushing these keys.

use crate::error::OutOfMemory;
use alloc::vec::Vec;

/// Reserves capacity for `additional` more elements, or returns an error.
pub(crate) fn try_reserve<T>(vec: &mut Vec<T>, additional: usize) -> Result<(), OutOfMemory> {
    vec.try_reserve_exact(additional)
        .map_err(|_| OutOfMemory::new(additional.saturating_mul(size_of::<T>())))
}

/// Reserves capacity for `additional` more elements of a vector that grows again and again. Every
/// time it grows by at least an eighth: each element is copied only a few times on average, and a
/// memory budget is not exceeded by more than that.
pub(crate) fn try_grow<T>(vec: &mut Vec<T>, additional: usize) -> Result<(), OutOfMemory> {
    match vec.capacity() - vec.len() < additional {
        true => try_reserve(vec, additional.max(vec.len() / 8)),
        false => Ok(()),
    }
}

/// A vector of `len` copies of `value`, or an error if the memory cannot be allocated.
pub(crate) fn try_filled<T: Clone>(value: T, len: usize) -> Result<Vec<T>, OutOfMemory> {
    let mut vec = Vec::new();
    try_reserve(&mut vec, len)?;
    vec.resize(len, value);
    Ok(vec)
}

/// A copy of some elements, or an error if the memory cannot be allocated.
pub(crate) fn try_copied<T: Copy>(elements: &[T]) -> Result<Vec<T>, OutOfMemory> {
    let mut vec = Vec::new();
    try_reserve(&mut vec, elements.len())?;
    vec.extend_from_slice(elements);
    Ok(vec)
}

/// As [`try_filled`], in huge pages if the system has any. They must be requested before the memory is
/// first accessed.
pub(crate) fn try_filled_huge<T: Clone>(value: T, len: usize) -> Result<Vec<T>, OutOfMemory> {
    let mut vec = Vec::new();
    try_reserve_huge(&mut vec, len)?;
    vec.resize(len, value);
    Ok(vec)
}

/// Reserves capacity for `additional` more elements, in huge pages if the system has any and the
/// capacity is large enough.
pub(crate) fn try_reserve_huge<T>(vec: &mut Vec<T>, additional: usize) -> Result<(), OutOfMemory> {
    try_reserve(vec, additional)?;
    advise_huge_pages(vec.as_ptr().cast(), vec.capacity() * size_of::<T>());
    Ok(())
}

/// Requests huge pages for a range of memory that is large enough for one. The system may decline.
///
/// The request covers all pages that the memory touches, also the first and the last one. If only
/// a part of an allocation had huge pages, the system could not remap it when it grows, but would
/// have to copy it.
#[cfg(target_os = "linux")]
#[expect(unsafe_code, reason = "advice on memory goes through libc")]
fn advise_huge_pages(memory: *const u8, len: usize) {
    const PAGE: usize = 1 << 12;
    const HUGE: usize = 2 << 20;
    if len >= HUGE {
        let offset = memory.addr() % PAGE;
        let begin = memory.wrapping_sub(offset).cast_mut();
        let len = (offset + len).next_multiple_of(PAGE);
        // SAFETY: `MADV_HUGEPAGE` does not change the content of the memory, nor of other memory in
        // the same pages. The result is ignored, because the system may decline the request.
        unsafe { libc::madvise(begin.cast(), len, libc::MADV_HUGEPAGE) };
    }
}

#[cfg(not(target_os = "linux"))]
fn advise_huge_pages(_: *const u8, _: usize) {}
