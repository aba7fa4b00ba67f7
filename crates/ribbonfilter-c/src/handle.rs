//! Pointers from C, looked at before they are used.

use crate::status::{Failure, ribbon_status};
use core::slice;

/// A type that C knows by name alone.
pub(crate) trait Opaque: Sized {
    /// What its handles hold.
    type Value;
    /// The word that what they point to begins with.
    const TAG: u64;
    const NAME: &'static str;
}

/// What a handle of `T` really points to.
#[repr(C)]
struct Tagged<T: Opaque> {
    tag: u64,
    value: T::Value,
}

/// A new handle, to be freed by [`free`].
pub(crate) fn new<T: Opaque>(value: T::Value) -> *mut T {
    Box::into_raw(Box::new(Tagged::<T> { tag: T::TAG, value })).cast()
}

fn null(what: &str) -> Failure {
    Failure::new(ribbon_status::NULL_POINTER, format!("the {what} is a null pointer"))
}

/// What a handle points to, if it is one of `T`.
fn check<T: Opaque>(handle: *mut T) -> Result<*mut Tagged<T>, Failure> {
    if handle.is_null() {
        return Err(null(T::NAME));
    }
    // SAFETY: callers of the functions in the header pass handles of this library, and whatever
    // these point to begins with a tag.
    let tag = unsafe { handle.cast::<u64>().read() };
    if tag != T::TAG {
        let message = format!("the {} is a handle of something else, or was freed", T::NAME);
        return Err(Failure::new(ribbon_status::WRONG_HANDLE, message));
    }
    Ok(handle.cast())
}

/// What a handle holds, for as long as the caller keeps it.
///
/// # Safety
/// A handle of this library that is not freed meanwhile, or null.
pub(crate) unsafe fn shared<'a, T: Opaque>(handle: *const T) -> Result<&'a T::Value, Failure> {
    let tagged = check(handle.cast_mut())?;
    // SAFETY: as above, and the tag says what it is.
    Ok(unsafe { &(*tagged).value })
}

/// The same, to be changed.
///
/// # Safety
/// As above, and used by nobody else meanwhile.
pub(crate) unsafe fn exclusive<'a, T: Opaque>(handle: *mut T) -> Result<&'a mut T::Value, Failure> {
    let tagged = check(handle)?;
    // SAFETY: as above.
    Ok(unsafe { &mut (*tagged).value })
}

/// Frees a handle; null is nothing to free, and what is no such handle is left alone.
///
/// # Safety
/// As for [`exclusive`], and never used again.
pub(crate) unsafe fn free<T: Opaque>(handle: *mut T) {
    if let Ok(tagged) = check(handle) {
        // SAFETY: `new` made it from a box. The tag is cleared first, which refuses most later
        // uses.
        unsafe {
            (&raw mut (*tagged).tag).write_volatile(0);
            drop(Box::from_raw(tagged));
        }
    }
}

/// A result that is written when all has gone well.
///
/// # Safety
/// Null, or a place for a `T`.
pub(crate) unsafe fn place<'a, T>(pointer: *mut T, what: &str) -> Result<Place<'a, T>, Failure> {
    // SAFETY: the caller's; what is there may not be initialised yet.
    let place = unsafe { pointer.cast::<core::mem::MaybeUninit<T>>().as_mut() };
    place.map(Place).ok_or_else(|| null(what))
}

/// Room for one result.
pub(crate) struct Place<'a, T>(&'a mut core::mem::MaybeUninit<T>);

impl<T> Place<'_, T> {
    pub(crate) fn set(self, value: T) {
        self.0.write(value);
    }
}

/// An array of the caller's; null is allowed for an empty one.
///
/// # Safety
/// Null, or `count` values that nobody changes meanwhile.
pub(crate) unsafe fn array<'a, T>(
    pointer: *const T,
    count: usize,
    what: &str,
) -> Result<&'a [T], Failure> {
    match (pointer.is_null(), count) {
        (_, 0) => Ok(&[]),
        (true, _) => Err(null(what)),
        // SAFETY: the caller's.
        (false, _) => Ok(unsafe { slice::from_raw_parts(pointer, count) }),
    }
}

/// The same, to be written.
///
/// # Safety
/// Null, or `count` values that nobody else uses meanwhile.
pub(crate) unsafe fn array_mut<'a, T>(
    pointer: *mut T,
    count: usize,
    what: &str,
) -> Result<&'a mut [T], Failure> {
    match (pointer.is_null(), count) {
        (_, 0) => Ok(&mut []),
        (true, _) => Err(null(what)),
        // SAFETY: the caller's.
        (false, _) => Ok(unsafe { slice::from_raw_parts_mut(pointer, count) }),
    }
}
