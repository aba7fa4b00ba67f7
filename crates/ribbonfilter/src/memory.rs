//! Memory that may be refused, in huge pages where they pay.
//!
//! They pay for what a thread works on over and over in no foreseeable order, the rows of
//! a segment: fewer of them miss the address cache. They do not for the hashes and the
//! solution, which are written once from end to end: the system has to clear a huge page
//! before its first use, and on a virtual machine that gives free memory back this can
//! take longer than all faults on small ones.

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
    try_reserve(&mut vec, len)?;
    advise_huge_pages(vec.spare_capacity_mut());
    vec.resize(len, value);
    Ok(vec)
}

/// Asks the system for huge pages wherever one fits whole into the room. It may decline.
#[cfg(target_os = "linux")]
#[expect(unsafe_code, reason = "advice on memory goes through libc")]
fn advise_huge_pages<T>(room: &mut [core::mem::MaybeUninit<T>]) {
    const HUGE: usize = 2 << 20;
    let bytes =
        core::ptr::slice_from_raw_parts_mut(room.as_mut_ptr().cast::<u8>(), size_of_val(room));
    let begin = bytes.cast::<u8>().align_offset(HUGE);
    let len = bytes.len().saturating_sub(begin) / HUGE * HUGE;
    if len > 0 {
        // SAFETY: the range lies in memory that this vector owns, and the advice changes
        // nothing of what is in it. That it may be declined is no error.
        unsafe { libc::madvise(bytes.cast::<u8>().add(begin).cast(), len, libc::MADV_HUGEPAGE) };
    }
}

#[cfg(not(target_os = "linux"))]
fn advise_huge_pages<T>(_: &mut [core::mem::MaybeUninit<T>]) {}
