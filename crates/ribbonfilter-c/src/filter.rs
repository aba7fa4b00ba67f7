//! A filter, owned or over bytes of the caller's.

use crate::handle::{self, Opaque};
use crate::settings::number_of;
use crate::status::{Failure, caught, guarded, ribbon_status};
use core::ffi::c_int;
use ribbonfilter::{Filter, OwnedBytes, ShrinkError};

/// A filter. Freed by `ribbon_filter_free`.
pub struct ribbon_filter {
    _opaque: (),
}

impl Opaque for ribbon_filter {
    type Value = Filter<Bytes>;
    const TAG: u64 = 0x7265_746c_6966_6272;
    const NAME: &'static str = "filter";
}

/// Bytes of a built filter, or those that the caller keeps.
pub(crate) enum Bytes {
    Owned(OwnedBytes),
    Borrowed(&'static [u8]),
}

impl AsRef<[u8]> for Bytes {
    #[inline]
    fn as_ref(&self) -> &[u8] {
        match self {
            Self::Owned(bytes) => bytes.as_ref(),
            Self::Borrowed(bytes) => bytes,
        }
    }
}

fn over(bytes: Bytes) -> Result<Filter<Bytes>, Failure> {
    Filter::open(bytes).map_err(Failure::of(ribbon_status::NOT_A_FILTER))
}

/// A filter that was built, as handles hold it.
pub(crate) fn owned(filter: Filter) -> Result<Filter<Bytes>, Failure> {
    over(Bytes::Owned(filter.into_inner()))
}

/// What a filter is.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct ribbon_info {
    /// Keys, distinct ones unless duplicates are too few to matter.
    pub keys: u64,
    /// All bytes.
    pub bytes: u64,
    /// The false-positive rate.
    pub expected_rate: f64,
    /// The mean number of columns.
    pub columns: f64,
    /// As in `ribbon_settings`.
    pub variant: u32,
    /// As in `ribbon_settings`.
    pub width: u32,
    /// The seed under which keys are hashed.
    pub key_seed: u64,
}

/// Opens a filter over bytes that stay the caller's: nothing is copied, they may lie at any
/// address, and must neither change nor go away before the filter is freed. Only the fixed part
/// at their end is checked; see `ribbon_filter_verify`.
///
/// # Safety
/// `bytes` has `len` bytes that outlive the filter, `out` is null or a place for a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ribbon_filter_open(
    bytes: *const u8,
    len: usize,
    out: *mut *mut ribbon_filter,
) -> ribbon_status {
    guarded(|| {
        // SAFETY: the caller's.
        let (bytes, out) =
            unsafe { (handle::array(bytes, len, "buffer")?, handle::place(out, "result")?) };
        out.set(handle::new(over(Bytes::Borrowed(bytes))?));
        Ok(())
    })
}

/// Checks every byte against the checksums.
///
/// # Safety
/// `filter` is a filter.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ribbon_filter_verify(filter: *const ribbon_filter) -> ribbon_status {
    guarded(|| {
        // SAFETY: the caller's.
        let filter = unsafe { handle::shared(filter)? };
        filter.verify().map_err(Failure::of(ribbon_status::NOT_A_FILTER))
    })
}

/// Whether a key might be in the set: 1 if so, 0 if not, or a negative status.
///
/// # Safety
/// `filter` is a filter, `key` has `len` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ribbon_filter_contains(
    filter: *const ribbon_filter,
    key: *const u8,
    len: usize,
) -> c_int {
    answer(|| {
        // SAFETY: the caller's.
        let (filter, key) = unsafe { (handle::shared(filter)?, handle::array(key, len, "key")?) };
        Ok(filter.contains(key))
    })
}

/// The same for the hash of a key.
///
/// # Safety
/// `filter` is a filter.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ribbon_filter_contains_hash(
    filter: *const ribbon_filter,
    hash: u64,
) -> c_int {
    // SAFETY: the caller's.
    answer(|| Ok(unsafe { handle::shared(filter)? }.contains_hash(hash)))
}

fn answer(question: impl FnOnce() -> Result<bool, Failure>) -> c_int {
    caught(question).map_or_else(|status| status as c_int, c_int::from)
}

/// Asks for many hashes at a time, which is faster: writes 1 or 0 for each to `out`.
///
/// # Safety
/// `filter` is a filter, `hashes` has `count` numbers, `out` has room for `count` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ribbon_filter_contains_hashes(
    filter: *const ribbon_filter,
    hashes: *const u64,
    count: usize,
    out: *mut bool,
) -> ribbon_status {
    guarded(|| {
        // SAFETY: the caller's. Any byte may be there, but a bool must be 0 or 1 before there is
        // a reference to it; nothing is written before all else is known to be right.
        let (filter, hashes, out) = unsafe {
            let (filter, hashes) =
                (handle::shared(filter)?, handle::array(hashes, count, "hashes")?);
            if !out.is_null() {
                out.write_bytes(0, count);
            }
            (filter, hashes, handle::array_mut(out, count, "result")?)
        };
        filter.contains_hash_batch_into(hashes, out);
        Ok(())
    })
}

/// The bytes of a filter: write them anywhere, open them again. They live as long as the filter.
///
/// # Safety
/// `filter` is a filter, `bytes` and `len` are null or places for their values.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ribbon_filter_bytes(
    filter: *const ribbon_filter,
    bytes: *mut *const u8,
    len: *mut usize,
) -> ribbon_status {
    guarded(|| {
        // SAFETY: the caller's.
        let (filter, bytes, len) = unsafe {
            (
                handle::shared(filter)?,
                handle::place(bytes, "result")?,
                handle::place(len, "length")?,
            )
        };
        bytes.set(filter.as_bytes().as_ptr());
        len.set(filter.as_bytes().len());
        Ok(())
    })
}

/// What a filter is.
///
/// # Safety
/// `filter` is a filter, `out` is null or a place for the answer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ribbon_filter_info(
    filter: *const ribbon_filter,
    out: *mut ribbon_info,
) -> ribbon_status {
    guarded(|| {
        // SAFETY: the caller's.
        let (filter, out) = unsafe { (handle::shared(filter)?, handle::place(out, "result")?) };
        out.set(ribbon_info {
            keys: filter.len(),
            bytes: filter.size_in_bytes() as u64,
            expected_rate: filter.expected_rate(),
            columns: filter.columns(),
            variant: number_of(filter.variant()),
            width: filter.width().bits(),
            key_seed: filter.key_seed(),
        });
        Ok(())
    })
}

/// A smaller filter of the same keys, with a higher false-positive rate, made without the keys.
///
/// # Safety
/// `filter` is a filter, `out` is null or a place for a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ribbon_filter_shrink_to_rate(
    filter: *const ribbon_filter,
    rate: f64,
    out: *mut *mut ribbon_filter,
) -> ribbon_status {
    // SAFETY: the caller's.
    unsafe { shrink(filter, out, |filter| filter.shrink_to_rate(rate)) }
}

/// The same for a size in bytes, of all of it.
///
/// # Safety
/// `filter` is a filter, `out` is null or a place for a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ribbon_filter_shrink_to_bytes(
    filter: *const ribbon_filter,
    bytes: u64,
    out: *mut *mut ribbon_filter,
) -> ribbon_status {
    // SAFETY: the caller's.
    unsafe { shrink(filter, out, |filter| filter.shrink_to_bytes(bytes)) }
}

/// # Safety
/// As its callers'.
unsafe fn shrink(
    filter: *const ribbon_filter,
    out: *mut *mut ribbon_filter,
    how: impl FnOnce(&Filter<Bytes>) -> Result<Filter, ShrinkError>,
) -> ribbon_status {
    guarded(|| {
        // SAFETY: the caller's.
        let (filter, out) = unsafe { (handle::shared(filter)?, handle::place(out, "result")?) };
        let smaller = how(filter).map_err(Failure::of(ribbon_status::SHRINK_FAILED))?;
        out.set(handle::new(owned(smaller)?));
        Ok(())
    })
}

/// Frees a filter; the bytes it was opened over stay the caller's. Null is allowed.
///
/// # Safety
/// `filter` is null or a filter, and not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ribbon_filter_free(filter: *mut ribbon_filter) {
    // SAFETY: the caller's.
    unsafe { handle::free(filter) }
}
