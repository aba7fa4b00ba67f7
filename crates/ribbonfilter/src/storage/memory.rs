//! Memory that may be refused, in huge pages where they pay.
//!
//! They pay for what a thread works on over and over in no foreseeable order, the rows of
//! a segment: fewer of them miss the address cache. They pay for the hashes, too: a fault for
//! every 4 KiB of them takes longer than all that is done when they are pushed.

use crate::error::OutOfMemory;
use alloc::vec::Vec;

/// Makes room for `additional` more elements, or says that there is none.
pub(crate) fn try_reserve<T>(vec: &mut Vec<T>, additional: usize) -> Result<(), OutOfMemory> {
    vec.try_reserve_exact(additional)
        .map_err(|_| OutOfMemory::new(additional.saturating_mul(size_of::<T>())))
}

/// A vector of `len` copies of `value`, or word that there is no memory for it.
pub(crate) fn try_filled<T: Clone>(value: T, len: usize) -> Result<Vec<T>, OutOfMemory> {
    let mut vec = Vec::new();
    try_reserve(&mut vec, len)?;
    vec.resize(len, value);
    Ok(vec)
}

/// The same in huge pages, if the system has any: they must be asked for while the memory
/// is untouched.
pub(crate) fn try_filled_huge<T: Clone>(value: T, len: usize) -> Result<Vec<T>, OutOfMemory> {
    let mut vec = Vec::new();
    try_reserve_huge(&mut vec, len)?;
    vec.resize(len, value);
    Ok(vec)
}

/// Makes room for `additional` more elements, in huge pages if there are any and they are many.
pub(crate) fn try_reserve_huge<T>(vec: &mut Vec<T>, additional: usize) -> Result<(), OutOfMemory> {
    try_reserve(vec, additional)?;
    advise_huge_pages(vec.as_ptr().cast(), vec.capacity() * size_of::<T>());
    Ok(())
}

/// Asks the system for huge pages in some memory, if there is room for one. It may decline.
///
/// All pages that the memory touches are named, its first and last as well: memory of which only
/// a part has other pages could not be moved when it grows, but would be copied.
#[cfg(target_os = "linux")]
#[expect(unsafe_code, reason = "advice on memory goes through libc")]
fn advise_huge_pages(memory: *const u8, len: usize) {
    const PAGE: usize = 1 << 12;
    const HUGE: usize = 2 << 20;
    if len >= HUGE {
        let before = memory.addr() % PAGE;
        let begin = memory.wrapping_sub(before).cast_mut();
        let len = (before + len).next_multiple_of(PAGE);
        // SAFETY: the advice changes nothing of what is in the memory, nor of what lies beside it
        // in the same pages. That it may be declined is no error.
        unsafe { libc::madvise(begin.cast(), len, libc::MADV_HUGEPAGE) };
    }
}

#[cfg(not(target_os = "linux"))]
fn advise_huge_pages(_: *const u8, _: usize) {}
