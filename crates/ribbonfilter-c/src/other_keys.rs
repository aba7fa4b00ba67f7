//! The other keys of an exact set, read several times by a function of the caller instead of being
//! kept.

use crate::exact::{self, ribbon_exact};
use crate::exact_builder::ribbon_exact_builder;
use crate::handle::{self, Opaque};
use crate::status::{Failure, finished, guarded, ribbon_status};
use core::ffi::{c_int, c_void};
use core::ptr::NonNull;
use ribbonfilter::{BuildError, OtherKeys};

/// The hash that stands for keys without a group.
const UNNAMED: u64 = 0;

/// Takes the other keys during `ribbon_exact_builder_finish_with`. It belongs to the builder and is
/// valid only until the function that got it returns.
pub struct ribbon_other_keys {
    _opaque: (),
}

/// What the handle points to, whose lifetime is that of one call of the caller's function.
pub(crate) struct Taker(NonNull<OtherKeys<'static>>);

impl Opaque for ribbon_other_keys {
    type Value = Taker;
    const TAG: u64 = 0x7374_6f6b_6579_6272;
    const NAME: &'static str = "taker of other keys";
}

/// Builds the set of the members added so far and of other keys that are not kept. `others` passes
/// them to `ribbon_other_keys_push` and the like, and returns 0, or another number to end the build.
/// It is called one to three times and must pass the same keys every time, in any order. `context`
/// is passed on to it. It must not use the builder, and must return: no `longjmp`, no C++ exception.
///
/// With `others_include_members` the keys may be the whole universe: those that are members count as
/// members. Without it, a key on both sides is an error.
///
/// Afterwards the builder can only be freed, even if the build fails. It fails with
/// `RIBBON_STATUS_BUILD_FAILED` as `ribbon_exact_builder_finish` does, if the keys were not the same
/// every time, or if `others` ended the build.
///
/// # Safety
/// `builder` is a builder that nobody else uses during the call; `others` is null or a function that
/// does as described; `out` is null or points to a writable pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ribbon_exact_builder_finish_with(
    builder: *mut ribbon_exact_builder,
    others: Option<
        unsafe extern "C" fn(keys: *mut ribbon_other_keys, context: *mut c_void) -> c_int,
    >,
    context: *mut c_void,
    others_include_members: bool,
    out: *mut *mut ribbon_exact,
) -> ribbon_status {
    guarded(|| {
        // SAFETY: guaranteed by the caller.
        let (builder, out) =
            unsafe { (handle::exclusive(builder)?, handle::output(out, "result")?) };
        let others = others.ok_or_else(|| handle::null("function"))?;
        let builder = builder.take().ok_or_else(finished)?;
        let mut ended = 0;
        let built = builder.others_include_members(others_include_members).finish_with(|keys| {
            let keys = handle::new::<ribbon_other_keys>(Taker(NonNull::from(keys).cast()));
            // SAFETY: guaranteed by the caller. The handle is freed before `keys` ends.
            unsafe {
                ended = others(keys, context);
                handle::free(keys);
            }
            if ended == 0 { Ok(()) } else { Err(BuildError::Cancelled) }
        });
        let set = built.map_err(|error| match error {
            BuildError::Cancelled => {
                let message = format!("the function of the other keys returned {ended}");
                Failure::new(ribbon_status::BUILD_FAILED, message)
            }
            error => Failure::new(ribbon_status::BUILD_FAILED, error),
        })?;
        out.set(handle::new(exact::owned(set)?));
        Ok(())
    })
}

/// Takes another key of the universe of `len` bytes, which has no group. Fails with
/// `RIBBON_STATUS_BUILD_FAILED` if the build has failed already, so that more keys are of no use.
///
/// # Safety
/// `keys` is what the caller's function got, before it returns, and is used by one thread at a time;
/// `key` points to `len` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ribbon_other_keys_push(
    keys: *mut ribbon_other_keys,
    key: *const u8,
    len: usize,
) -> ribbon_status {
    // SAFETY: guaranteed by the caller.
    unsafe {
        take(keys, |taker| {
            taker.push(handle::array(key, len, "key")?);
            Ok(())
        })
    }
}

/// Like `ribbon_other_keys_push`, for keys by their 64-bit hashes.
///
/// # Safety
/// As for `ribbon_other_keys_push`; `hashes` points to `count` hashes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ribbon_other_keys_push_hashes(
    keys: *mut ribbon_other_keys,
    hashes: *const u64,
    count: usize,
) -> ribbon_status {
    // SAFETY: guaranteed by the caller.
    unsafe { ribbon_other_keys_push_hashes_in(keys, UNNAMED, hashes, count) }
}

/// Like `ribbon_other_keys_push`, for a key of the group with a name of `group_len` bytes.
///
/// # Safety
/// As for `ribbon_other_keys_push`; `group` points to `group_len` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ribbon_other_keys_push_in(
    keys: *mut ribbon_other_keys,
    group: *const u8,
    group_len: usize,
    key: *const u8,
    len: usize,
) -> ribbon_status {
    // SAFETY: guaranteed by the caller.
    unsafe {
        take(keys, |taker| {
            let group = handle::array(group, group_len, "group")?;
            taker.push_in(group, handle::array(key, len, "key")?);
            Ok(())
        })
    }
}

/// Like `ribbon_other_keys_push_hashes`, for keys of one group. The hash 0 stands for keys that have
/// no group.
///
/// # Safety
/// As for `ribbon_other_keys_push_hashes`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ribbon_other_keys_push_hashes_in(
    keys: *mut ribbon_other_keys,
    group_hash: u64,
    hashes: *const u64,
    count: usize,
) -> ribbon_status {
    // SAFETY: guaranteed by the caller.
    unsafe {
        take(keys, |taker| {
            let hashes = handle::array(hashes, count, "hashes")?;
            hashes.iter().for_each(|&hash| taker.push_hash_in(group_hash, hash));
            Ok(())
        })
    }
}

/// Takes keys, unless the build has failed.
///
/// # Safety
/// `keys` is null or a handle that is not used elsewhere during the call.
unsafe fn take(
    keys: *mut ribbon_other_keys,
    body: impl FnOnce(&mut OtherKeys<'static>) -> Result<(), Failure>,
) -> ribbon_status {
    guarded(|| {
        // SAFETY: guaranteed by the caller. The handle exists only while what it points to is
        // borrowed by `ribbon_exact_builder_finish_with`, which does not use it meanwhile.
        let taker = unsafe { handle::exclusive(keys)?.0.as_mut() };
        if taker.is_stopped() {
            let message = "the build has failed already: its function can return";
            return Err(Failure::new(ribbon_status::BUILD_FAILED, message));
        }
        body(taker)
    })
}
