//! Builds a filter from keys or hashes.

use crate::filter::{self, ribbon_filter};
use crate::handle::{self, Opaque};
use crate::settings::ribbon_settings;
use crate::status::{Failure, finished, guarded, ribbon_status};
use ribbonfilter::{FilterBuilder, Key};

/// Collects keys. Created by `ribbon_builder_new`, freed by `ribbon_builder_free`.
pub struct ribbon_builder {
    _opaque: (),
}

impl Opaque for ribbon_builder {
    /// `None` once the builder has finished.
    type Value = Option<FilterBuilder<'static>>;
    const TAG: u64 = 0x7265_646c_6975_6272;
    const NAME: &'static str = "builder";
}

/// Creates a builder. If `settings` is null, it has the default settings.
///
/// # Safety
/// `settings` is null or valid; `out` is null or points to a writable pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ribbon_builder_new(
    settings: *const ribbon_settings,
    out: *mut *mut ribbon_builder,
) -> ribbon_status {
    guarded(|| {
        // SAFETY: guaranteed by the caller.
        let (settings, out) = unsafe { (settings.as_ref(), handle::output(out, "result")?) };
        let builder = settings.copied().unwrap_or_default().builder()?;
        out.set(handle::new(Some(builder)));
        Ok(())
    })
}

/// Adds a key of `len` bytes.
///
/// # Safety
/// `builder` is a builder that no other thread uses during the call; `key` points to `len` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ribbon_builder_push(
    builder: *mut ribbon_builder,
    key: *const u8,
    len: usize,
) -> ribbon_status {
    guarded(|| {
        // SAFETY: guaranteed by the caller.
        let (builder, key) =
            unsafe { (handle::exclusive(builder)?, handle::array(key, len, "key")?) };
        builder.as_mut().ok_or_else(finished)?.push(key);
        Ok(())
    })
}

/// Adds keys by their 64-bit hashes. These may come from `ribbon_key_hash` or from any other good
/// hash function; queries must use the same function.
///
/// # Safety
/// `builder` is a builder that no other thread uses during the call; `hashes` points to `count`
/// hashes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ribbon_builder_push_hashes(
    builder: *mut ribbon_builder,
    hashes: *const u64,
    count: usize,
) -> ribbon_status {
    guarded(|| {
        // SAFETY: guaranteed by the caller.
        let (builder, hashes) =
            unsafe { (handle::exclusive(builder)?, handle::array(hashes, count, "hashes")?) };
        builder.as_mut().ok_or_else(finished)?.extend_hashes(hashes.iter().copied());
        Ok(())
    })
}

/// Builds the filter. Afterwards the builder can only be freed, even if the build fails.
///
/// # Safety
/// `builder` is a builder that no other thread uses during the call; `out` is null or points to a
/// writable pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ribbon_builder_finish(
    builder: *mut ribbon_builder,
    out: *mut *mut ribbon_filter,
) -> ribbon_status {
    guarded(|| {
        // SAFETY: guaranteed by the caller.
        let (builder, out) =
            unsafe { (handle::exclusive(builder)?, handle::output(out, "result")?) };
        let builder = builder.take().ok_or_else(finished)?;
        let filter = builder.finish().map_err(Failure::of(ribbon_status::BUILD_FAILED))?;
        out.set(handle::new(filter::owned(filter)?));
        Ok(())
    })
}

/// Frees a builder and the keys in it. Null is allowed.
///
/// # Safety
/// `builder` is null or a builder that is not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ribbon_builder_free(builder: *mut ribbon_builder) {
    // SAFETY: guaranteed by the caller.
    unsafe { handle::free(builder) }
}

/// Returns the hash of a key of `len` bytes under a seed. `ribbon_builder_push` uses this hash, and
/// so do the bindings for other languages. If `key` is null, returns the hash of the empty key.
///
/// # Safety
/// `key` is null or points to `len` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ribbon_key_hash(key: *const u8, len: usize, key_seed: u64) -> u64 {
    // SAFETY: guaranteed by the caller.
    unsafe { handle::array(key, len, "key") }.unwrap_or_default().key_hash(key_seed)
}
