//! A filter over bytes that it owns or that the caller owns.

use crate::bytes::{self, Bytes};
use crate::handle::{self, Opaque};
use crate::settings::number_of;
use crate::status::{Failure, guarded, membership, ribbon_status};
use core::ffi::c_int;
use ribbonfilter::{Filter, ShrinkError};

/// A filter. Free it with `ribbon_filter_free`.
pub struct ribbon_filter {
    _opaque: (),
}

impl Opaque for ribbon_filter {
    type Value = Filter<Bytes>;
    const TAG: u64 = 0x7265_746c_6966_6272;
    const NAME: &'static str = "filter";
}

fn open(bytes: Bytes) -> Result<Filter<Bytes>, Failure> {
    Filter::open(bytes).map_err(Failure::of(ribbon_status::NOT_A_FILTER))
}

/// Converts a built filter to the type that handles hold.
pub(crate) fn owned(filter: Filter) -> Result<Filter<Bytes>, Failure> {
    open(Bytes::Owned(filter.into_inner()))
}

/// The properties of a filter.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct ribbon_info {
    /// The number of keys. A few duplicates may be counted.
    pub keys: u64,
    /// The size of the filter in bytes, footer included.
    pub bytes: u64,
    /// The expected false-positive rate.
    pub expected_rate: f64,
    /// The average number of columns.
    pub columns: f64,
    /// As in `ribbon_settings`.
    pub variant: u32,
    /// As in `ribbon_settings`.
    pub width: u32,
    /// The seed under which keys are hashed.
    pub key_seed: u64,
}

/// Opens a filter over a buffer of the caller, without copying it. The buffer may have any
/// alignment. It must not be changed or freed before the filter is freed. This checks only the
/// footer; `ribbon_filter_verify` checks every byte.
///
/// # Safety
/// `bytes` points to `len` bytes that outlive the filter; `out` is null or points to a writable
/// pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ribbon_filter_open(
    bytes: *const u8,
    len: usize,
    out: *mut *mut ribbon_filter,
) -> ribbon_status {
    guarded(|| {
        // SAFETY: guaranteed by the caller.
        let (bytes, out) =
            unsafe { (handle::array(bytes, len, "buffer")?, handle::output(out, "result")?) };
        out.set(handle::new(open(Bytes::Borrowed(bytes))?));
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
        // SAFETY: guaranteed by the caller.
        let filter = unsafe { handle::shared(filter)? };
        filter.verify().map_err(Failure::of(ribbon_status::NOT_A_FILTER))
    })
}

/// Returns 1 if a key might be in the set, 0 if it is not, or a negative status.
///
/// # Safety
/// `filter` is a filter; `key` points to `len` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ribbon_filter_contains(
    filter: *const ribbon_filter,
    key: *const u8,
    len: usize,
) -> c_int {
    membership(|| {
        // SAFETY: guaranteed by the caller.
        let (filter, key) = unsafe { (handle::shared(filter)?, handle::array(key, len, "key")?) };
        Ok(filter.contains(key))
    })
}

/// Like `ribbon_filter_contains`, for the hash of a key.
///
/// # Safety
/// `filter` is a filter.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ribbon_filter_contains_hash(
    filter: *const ribbon_filter,
    hash: u64,
) -> c_int {
    // SAFETY: guaranteed by the caller.
    membership(|| Ok(unsafe { handle::shared(filter)? }.contains_hash(hash)))
}

/// Looks up a batch of hashes, which is faster than one query per hash. Writes true or false to
/// `out` for each hash.
///
/// # Safety
/// `filter` is a filter; `hashes` points to `count` hashes, `out` to `count` writable bools.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ribbon_filter_contains_hashes(
    filter: *const ribbon_filter,
    hashes: *const u64,
    count: usize,
    out: *mut bool,
) -> ribbon_status {
    guarded(|| {
        // SAFETY: guaranteed by the caller.
        let (filter, hashes, out) = unsafe {
            (
                handle::shared(filter)?,
                handle::array(hashes, count, "hashes")?,
                handle::bools(out, count, "result")?,
            )
        };
        filter.contains_hash_batch_into(hashes, out);
        Ok(())
    })
}

/// Returns the bytes of a filter, to be stored and opened again with `ribbon_filter_open`. They are
/// valid until the filter is freed.
///
/// # Safety
/// `filter` is a filter; `bytes` and `len` are null or point to writable values.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ribbon_filter_bytes(
    filter: *const ribbon_filter,
    bytes: *mut *const u8,
    len: *mut usize,
) -> ribbon_status {
    // SAFETY: guaranteed by the caller.
    guarded(|| unsafe { bytes::export(handle::shared(filter)?.as_bytes(), bytes, len) })
}

/// Returns the properties of a filter.
///
/// # Safety
/// `filter` is a filter; `out` is null or points to a writable `ribbon_info`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ribbon_filter_info(
    filter: *const ribbon_filter,
    out: *mut ribbon_info,
) -> ribbon_status {
    guarded(|| {
        // SAFETY: guaranteed by the caller.
        let (filter, out) = unsafe { (handle::shared(filter)?, handle::output(out, "result")?) };
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

/// Creates a smaller filter of the same keys with the given, higher false-positive rate. It does
/// not need the keys.
///
/// # Safety
/// `filter` is a filter; `out` is null or points to a writable pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ribbon_filter_shrink_to_rate(
    filter: *const ribbon_filter,
    rate: f64,
    out: *mut *mut ribbon_filter,
) -> ribbon_status {
    // SAFETY: guaranteed by the caller.
    unsafe { shrink(filter, out, |filter| filter.shrink_to_rate(rate)) }
}

/// Like `ribbon_filter_shrink_to_rate`, for a total size in bytes, footer included.
///
/// # Safety
/// `filter` is a filter; `out` is null or points to a writable pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ribbon_filter_shrink_to_bytes(
    filter: *const ribbon_filter,
    bytes: u64,
    out: *mut *mut ribbon_filter,
) -> ribbon_status {
    // SAFETY: guaranteed by the caller.
    unsafe { shrink(filter, out, |filter| filter.shrink_to_bytes(bytes)) }
}

/// # Safety
/// The same as for its callers.
unsafe fn shrink(
    filter: *const ribbon_filter,
    out: *mut *mut ribbon_filter,
    shrunk: impl FnOnce(&Filter<Bytes>) -> Result<Filter, ShrinkError>,
) -> ribbon_status {
    guarded(|| {
        // SAFETY: guaranteed by the caller.
        let (filter, out) = unsafe { (handle::shared(filter)?, handle::output(out, "result")?) };
        let smaller = shrunk(filter).map_err(Failure::of(ribbon_status::SHRINK_FAILED))?;
        out.set(handle::new(owned(smaller)?));
        Ok(())
    })
}

/// Frees a filter, but not the buffer that it was opened over. Null is allowed.
///
/// # Safety
/// `filter` is null or a filter that is not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ribbon_filter_free(filter: *mut ribbon_filter) {
    // SAFETY: guaranteed by the caller.
    unsafe { handle::free(filter) }
}
