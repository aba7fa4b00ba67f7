//! Checks pointers from C before they are used.

use crate::status::{Failure, ribbon_status};
use core::slice;

/// A type that C sees only as a pointer to an incomplete type.
pub(crate) trait Opaque: Sized {
    /// The value that a handle holds.
    type Value;
    /// The first word of the allocation that a handle points to.
    const TAG: u64;
    const NAME: &'static str;
}

/// The allocation that a handle of `T` points to.
#[repr(C)]
struct Tagged<T: Opaque> {
    tag: u64,
    value: T::Value,
}

/// Creates a handle, to be freed by [`free`].
pub(crate) fn new<T: Opaque>(value: T::Value) -> *mut T {
    Box::into_raw(Box::new(Tagged::<T> { tag: T::TAG, value })).cast()
}

pub(crate) fn null(what: &str) -> Failure {
    Failure::new(ribbon_status::NULL_POINTER, format!("the {what} is a null pointer"))
}

/// Returns the allocation of a handle, if it is a handle of `T`.
fn check<T: Opaque>(handle: *mut T) -> Result<*mut Tagged<T>, Failure> {
    if handle.is_null() {
        return Err(null(T::NAME));
    }
    // SAFETY: callers of the functions in the header pass handles of this library. Every handle
    // points to an allocation that begins with a tag.
    let tag = unsafe { handle.cast::<u64>().read() };
    if tag != T::TAG {
        let message = format!("the {} is a handle of another type, or was freed", T::NAME);
        return Err(Failure::new(ribbon_status::WRONG_HANDLE, message));
    }
    Ok(handle.cast())
}

/// Borrows the value of a handle.
///
/// # Safety
/// `handle` is null or a handle of this library, and is not freed while the value is borrowed.
pub(crate) unsafe fn shared<'a, T: Opaque>(handle: *const T) -> Result<&'a T::Value, Failure> {
    let tagged = check(handle.cast_mut())?;
    // SAFETY: the caller guarantees a live handle, and `check` has compared the tag of its type.
    Ok(unsafe { &(*tagged).value })
}

/// Borrows the value of a handle mutably.
///
/// # Safety
/// As for [`shared`]; in addition, nobody else uses the handle while the value is borrowed.
pub(crate) unsafe fn exclusive<'a, T: Opaque>(handle: *mut T) -> Result<&'a mut T::Value, Failure> {
    let tagged = check(handle)?;
    // SAFETY: as in `shared`, and the caller guarantees exclusive access.
    Ok(unsafe { &mut (*tagged).value })
}

/// Frees a handle. Does nothing for null and for a handle of another type.
///
/// # Safety
/// As for [`exclusive`]; in addition, the handle is never used again.
pub(crate) unsafe fn free<T: Opaque>(handle: *mut T) {
    if let Ok(tagged) = check(handle) {
        // SAFETY: `new` made the pointer from a box. The tag is cleared first, so that most uses
        // after the free are rejected.
        unsafe {
            (&raw mut (*tagged).tag).write_volatile(0);
            drop(Box::from_raw(tagged));
        }
    }
}

/// An output parameter, which is written only on success.
///
/// # Safety
/// `pointer` is null or points to a writable `T`, which may be uninitialized.
pub(crate) unsafe fn output<'a, T>(pointer: *mut T, what: &str) -> Result<Output<'a, T>, Failure> {
    // SAFETY: guaranteed by the caller; `MaybeUninit` allows an uninitialized value.
    let output = unsafe { pointer.cast::<core::mem::MaybeUninit<T>>().as_mut() };
    output.map(Output).ok_or_else(|| null(what))
}

/// An output parameter that is not null.
pub(crate) struct Output<'a, T>(&'a mut core::mem::MaybeUninit<T>);

impl<T> Output<'_, T> {
    pub(crate) fn set(self, value: T) {
        self.0.write(value);
    }
}

/// An array of the caller. Null is allowed for an empty array.
///
/// # Safety
/// `pointer` is null or points to `count` values that nobody changes while they are borrowed.
pub(crate) unsafe fn array<'a, T>(
    pointer: *const T,
    count: usize,
    what: &str,
) -> Result<&'a [T], Failure> {
    match (pointer.is_null(), count) {
        (_, 0) => Ok(&[]),
        (true, _) => Err(null(what)),
        // SAFETY: guaranteed by the caller.
        (false, _) => Ok(unsafe { slice::from_raw_parts(pointer, count) }),
    }
}

/// An array of the caller for bools, which are set to false first: the buffer may hold any bytes,
/// but a bool must be 0 or 1 before a reference to it exists. Null is allowed for an empty array.
/// Call this after all other arguments have been checked, since a failed call leaves results as
/// they were.
///
/// # Safety
/// `pointer` is null or points to `count` writable bytes that nobody else uses while they are
/// borrowed.
pub(crate) unsafe fn bools<'a>(
    pointer: *mut bool,
    count: usize,
    what: &str,
) -> Result<&'a mut [bool], Failure> {
    match (pointer.is_null(), count) {
        (_, 0) => Ok(&mut []),
        (true, _) => Err(null(what)),
        // SAFETY: guaranteed by the caller, and zero is a valid bool.
        (false, _) => unsafe {
            pointer.write_bytes(0, count);
            Ok(slice::from_raw_parts_mut(pointer, count))
        },
    }
}
