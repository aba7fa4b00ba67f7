//! Builds an exact set from members and other keys, or from their hashes.

use crate::exact::{self, ribbon_exact};
use crate::handle::{self, Opaque};
use crate::settings::ribbon_settings;
use crate::status::{Failure, finished, guarded, ribbon_status};
use ribbonfilter::ExactSetBuilder;

/// Collects members and other keys. Created by `ribbon_exact_builder_new`, freed by
/// `ribbon_exact_builder_free`.
pub struct ribbon_exact_builder {
    _opaque: (),
}

impl Opaque for ribbon_exact_builder {
    /// `None` once the builder has finished.
    type Value = Option<ExactSetBuilder<'static>>;
    const TAG: u64 = 0x6274_6361_7865_6272;
    const NAME: &'static str = "builder of an exact set";
}

/// Creates a builder of an exact set. If `settings` is null, it has the default settings. Only
/// `threads`, `effort`, `max_memory` and `key_seed` may be set.
///
/// # Safety
/// `settings` is null or valid; `out` is null or points to a writable pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ribbon_exact_builder_new(
    settings: *const ribbon_settings,
    out: *mut *mut ribbon_exact_builder,
) -> ribbon_status {
    guarded(|| {
        // SAFETY: guaranteed by the caller.
        let (settings, out) = unsafe { (settings.as_ref(), handle::output(out, "result")?) };
        let builder = settings.copied().unwrap_or_default().exact_builder()?;
        out.set(handle::new(Some(builder)));
        Ok(())
    })
}

/// Adds a member of `len` bytes, which has no group.
///
/// # Safety
/// `builder` is a builder that no other thread uses during the call; `key` points to `len` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ribbon_exact_builder_push_member(
    builder: *mut ribbon_exact_builder,
    key: *const u8,
    len: usize,
) -> ribbon_status {
    // SAFETY: guaranteed by the caller.
    unsafe { push(builder, key, len, |builder, key| builder.push_member(key)) }
}

/// Adds another key of the universe of `len` bytes, which is not a member and has no group.
///
/// # Safety
/// `builder` is a builder that no other thread uses during the call; `key` points to `len` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ribbon_exact_builder_push_other(
    builder: *mut ribbon_exact_builder,
    key: *const u8,
    len: usize,
) -> ribbon_status {
    // SAFETY: guaranteed by the caller.
    unsafe { push(builder, key, len, |builder, key| builder.push_other(key)) }
}

/// Adds members by their 64-bit hashes. These may come from `ribbon_key_hash` or from any other
/// good hash function; queries must use the same function.
///
/// # Safety
/// `builder` is a builder that no other thread uses during the call; `hashes` points to `count`
/// hashes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ribbon_exact_builder_push_member_hashes(
    builder: *mut ribbon_exact_builder,
    hashes: *const u64,
    count: usize,
) -> ribbon_status {
    // SAFETY: guaranteed by the caller.
    unsafe { push_hashes(builder, hashes, count, ExactSetBuilder::push_member_hash) }
}

/// Like `ribbon_exact_builder_push_member_hashes`, for keys that are not members.
///
/// # Safety
/// `builder` is a builder that no other thread uses during the call; `hashes` points to `count`
/// hashes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ribbon_exact_builder_push_other_hashes(
    builder: *mut ribbon_exact_builder,
    hashes: *const u64,
    count: usize,
) -> ribbon_status {
    // SAFETY: guaranteed by the caller.
    unsafe { push_hashes(builder, hashes, count, ExactSetBuilder::push_other_hash) }
}

/// Adds a member of `len` bytes that belongs to the group with a name of `group_len` bytes. The
/// same key in another group is another key.
///
/// # Safety
/// `builder` is a builder that no other thread uses during the call; `group` points to `group_len`
/// bytes, `key` to `len` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ribbon_exact_builder_push_member_in(
    builder: *mut ribbon_exact_builder,
    group: *const u8,
    group_len: usize,
    key: *const u8,
    len: usize,
) -> ribbon_status {
    // SAFETY: guaranteed by the caller.
    unsafe {
        push_in(builder, (group, group_len), (key, len), |builder, group, key| {
            builder.push_member_in(group, key);
        })
    }
}

/// Like `ribbon_exact_builder_push_member_in`, for a key that is not a member.
///
/// # Safety
/// `builder` is a builder that no other thread uses during the call; `group` points to `group_len`
/// bytes, `key` to `len` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ribbon_exact_builder_push_other_in(
    builder: *mut ribbon_exact_builder,
    group: *const u8,
    group_len: usize,
    key: *const u8,
    len: usize,
) -> ribbon_status {
    // SAFETY: guaranteed by the caller.
    unsafe {
        push_in(builder, (group, group_len), (key, len), |builder, group, key| {
            builder.push_other_in(group, key);
        })
    }
}

/// Adds members of a group by the hashes of the group and the keys. The hash 0 stands for keys that
/// have no group.
///
/// # Safety
/// `builder` is a builder that no other thread uses during the call; `hashes` points to `count`
/// hashes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ribbon_exact_builder_push_member_hashes_in(
    builder: *mut ribbon_exact_builder,
    group_hash: u64,
    hashes: *const u64,
    count: usize,
) -> ribbon_status {
    // SAFETY: guaranteed by the caller.
    unsafe {
        push_hashes(builder, hashes, count, |builder, hash| {
            builder.push_member_hash_in(group_hash, hash);
        })
    }
}

/// Like `ribbon_exact_builder_push_member_hashes_in`, for keys that are not members.
///
/// # Safety
/// `builder` is a builder that no other thread uses during the call; `hashes` points to `count`
/// hashes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ribbon_exact_builder_push_other_hashes_in(
    builder: *mut ribbon_exact_builder,
    group_hash: u64,
    hashes: *const u64,
    count: usize,
) -> ribbon_status {
    // SAFETY: guaranteed by the caller.
    unsafe {
        push_hashes(builder, hashes, count, |builder, hash| {
            builder.push_other_hash_in(group_hash, hash);
        })
    }
}

/// Builds the set. Afterwards the builder can only be freed, even if the build fails. It fails with
/// `RIBBON_STATUS_BUILD_FAILED` if a key is a member and not a member, or in the rare case that two
/// keys have the same hash: then another `key_seed` helps.
///
/// # Safety
/// `builder` is a builder that no other thread uses during the call; `out` is null or points to a
/// writable pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ribbon_exact_builder_finish(
    builder: *mut ribbon_exact_builder,
    out: *mut *mut ribbon_exact,
) -> ribbon_status {
    guarded(|| {
        // SAFETY: guaranteed by the caller.
        let (builder, out) =
            unsafe { (handle::exclusive(builder)?, handle::output(out, "result")?) };
        let builder = builder.take().ok_or_else(finished)?;
        let set = builder.finish().map_err(Failure::of(ribbon_status::BUILD_FAILED))?;
        out.set(handle::new(exact::owned(set)?));
        Ok(())
    })
}

/// Frees a builder and the keys in it. Null is allowed.
///
/// # Safety
/// `builder` is null or a builder that is not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ribbon_exact_builder_free(builder: *mut ribbon_exact_builder) {
    // SAFETY: guaranteed by the caller.
    unsafe { handle::free(builder) }
}

/// # Safety
/// The same as for its callers.
unsafe fn push(
    builder: *mut ribbon_exact_builder,
    key: *const u8,
    len: usize,
    push: impl FnOnce(&mut ExactSetBuilder<'static>, &[u8]),
) -> ribbon_status {
    guarded(|| {
        // SAFETY: guaranteed by the caller.
        let (builder, key) =
            unsafe { (handle::exclusive(builder)?, handle::array(key, len, "key")?) };
        push(builder.as_mut().ok_or_else(finished)?, key);
        Ok(())
    })
}

/// [`push`] for a group and a key, each given by its address and its length.
///
/// # Safety
/// The same as for its callers.
unsafe fn push_in(
    builder: *mut ribbon_exact_builder,
    (group, group_len): (*const u8, usize),
    (key, len): (*const u8, usize),
    push_in: impl FnOnce(&mut ExactSetBuilder<'static>, &[u8], &[u8]),
) -> ribbon_status {
    guarded(|| {
        // SAFETY: guaranteed by the caller.
        let (builder, group, key) = unsafe {
            (
                handle::exclusive(builder)?,
                handle::array(group, group_len, "group")?,
                handle::array(key, len, "key")?,
            )
        };
        push_in(builder.as_mut().ok_or_else(finished)?, group, key);
        Ok(())
    })
}

/// # Safety
/// The same as for its callers.
unsafe fn push_hashes(
    builder: *mut ribbon_exact_builder,
    hashes: *const u64,
    count: usize,
    push: impl Fn(&mut ExactSetBuilder<'static>, u64),
) -> ribbon_status {
    guarded(|| {
        // SAFETY: guaranteed by the caller.
        let (builder, hashes) =
            unsafe { (handle::exclusive(builder)?, handle::array(hashes, count, "hashes")?) };
        let builder = builder.as_mut().ok_or_else(finished)?;
        hashes.iter().for_each(|&hash| push(builder, hash));
        Ok(())
    })
}
