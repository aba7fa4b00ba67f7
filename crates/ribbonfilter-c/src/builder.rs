//! Keys or hashes in, a filter out.

use crate::filter::{self, ribbon_filter};
use crate::handle::{self, Opaque};
use crate::settings::ribbon_settings;
use crate::status::{Failure, guarded, ribbon_status};
use ribbonfilter::{FilterBuilder, Key};

/// Collects keys. Made by `ribbon_builder_new`, freed by `ribbon_builder_free`.
pub struct ribbon_builder {
    _opaque: (),
}

impl Opaque for ribbon_builder {
    /// Nothing once it has finished.
    type Value = Option<FilterBuilder<'static>>;
    const TAG: u64 = 0x7265_646c_6975_6272;
    const NAME: &'static str = "builder";
}

fn finished() -> Failure {
    Failure::new(ribbon_status::INVALID_ARGUMENT, "this builder has finished already")
}

/// A new builder. `settings` may be null, for the defaults.
///
/// # Safety
/// `settings` is null or valid, `out` is null or a place for a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ribbon_builder_new(
    settings: *const ribbon_settings,
    out: *mut *mut ribbon_builder,
) -> ribbon_status {
    guarded(|| {
        // SAFETY: the caller's.
        let (settings, out) = unsafe { (settings.as_ref(), handle::place(out, "result")?) };
        let builder = settings.copied().unwrap_or_default().builder()?;
        out.set(handle::new(Some(builder)));
        Ok(())
    })
}

/// Adds a key of `len` bytes.
///
/// # Safety
/// `builder` is a builder, used by nobody else meanwhile; `key` has `len` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ribbon_builder_push(
    builder: *mut ribbon_builder,
    key: *const u8,
    len: usize,
) -> ribbon_status {
    guarded(|| {
        // SAFETY: the caller's.
        let (builder, key) =
            unsafe { (handle::exclusive(builder)?, handle::array(key, len, "key")?) };
        builder.as_mut().ok_or_else(finished)?.push(key);
        Ok(())
    })
}

/// Adds keys by their 64-bit hashes, which may be `ribbon_key_hash` or any other good hash:
/// whoever asks must ask by the same.
///
/// # Safety
/// `builder` is a builder, used by nobody else meanwhile; `hashes` has `count` numbers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ribbon_builder_push_hashes(
    builder: *mut ribbon_builder,
    hashes: *const u64,
    count: usize,
) -> ribbon_status {
    guarded(|| {
        // SAFETY: the caller's.
        let (builder, hashes) =
            unsafe { (handle::exclusive(builder)?, handle::array(hashes, count, "hashes")?) };
        builder.as_mut().ok_or_else(finished)?.extend_hashes(hashes.iter().copied());
        Ok(())
    })
}

/// Builds the filter. The builder is used up, whether this succeeds or not, and has still to be
/// freed.
///
/// # Safety
/// `builder` is a builder, used by nobody else meanwhile; `out` is null or a place for a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ribbon_builder_finish(
    builder: *mut ribbon_builder,
    out: *mut *mut ribbon_filter,
) -> ribbon_status {
    guarded(|| {
        // SAFETY: the caller's.
        let (builder, out) =
            unsafe { (handle::exclusive(builder)?, handle::place(out, "result")?) };
        let builder = builder.take().ok_or_else(finished)?;
        let filter = builder.finish().map_err(Failure::of(ribbon_status::BUILD_FAILED))?;
        out.set(handle::new(filter::owned(filter)?));
        Ok(())
    })
}

/// Frees a builder and the keys in it. Null is allowed.
///
/// # Safety
/// `builder` is null or a builder, and not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ribbon_builder_free(builder: *mut ribbon_builder) {
    // SAFETY: the caller's.
    unsafe { handle::free(builder) }
}

/// The hash that a key of `len` bytes has under a seed: what `ribbon_builder_push` uses, and
/// every other language too. The hash of the empty key if `key` is null.
///
/// # Safety
/// `key` is null or has `len` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ribbon_key_hash(key: *const u8, len: usize, key_seed: u64) -> u64 {
    // SAFETY: the caller's.
    unsafe { handle::array(key, len, "key") }.unwrap_or_default().key_hash(key_seed)
}
