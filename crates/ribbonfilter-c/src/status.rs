//! What a call comes to: a status, and a message for the last failure of a thread.

use core::cell::RefCell;
use core::ffi::c_char;
use std::ffi::CString;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// What a call came to.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ribbon_status {
    /// All is well.
    OK = 0,
    /// A pointer that must not be null is.
    NULL_POINTER = -1,
    /// A pointer is not the handle that it should be.
    WRONG_HANDLE = -2,
    /// A setting or an argument that cannot be.
    INVALID_ARGUMENT = -3,
    /// The filter could not be built; more memory, or other settings, may help.
    BUILD_FAILED = -4,
    /// The bytes are not a filter, not all of one, or damaged.
    NOT_A_FILTER = -5,
    /// The filter cannot become that small, or larger than it is.
    SHRINK_FAILED = -6,
    /// A defect of this library. The handle involved can only be freed.
    INTERNAL = -7,
}

/// A failure on its way to the caller.
pub(crate) struct Failure {
    status: ribbon_status,
    message: String,
}

impl Failure {
    pub(crate) fn new(status: ribbon_status, message: impl ToString) -> Self {
        Self { status, message: message.to_string() }
    }

    /// For `map_err`.
    pub(crate) fn of<E: ToString>(status: ribbon_status) -> impl Fn(E) -> Self {
        move |error| Self::new(status, error)
    }
}

thread_local! {
    static LAST_ERROR: RefCell<CString> = RefCell::default();
}

/// What the last call that failed on this thread had to say, in UTF-8; empty if none did.
/// Valid until the next call on this thread fails. Never null.
#[unsafe(no_mangle)]
pub extern "C" fn ribbon_last_error() -> *const c_char {
    let message = |last: &RefCell<CString>| last.borrow().as_ptr();
    // None in a thread that has all but ended.
    LAST_ERROR.try_with(message).unwrap_or(c"".as_ptr())
}

/// Runs the body of a call: a failure becomes its status, a panic `INTERNAL`, and both leave
/// their message.
pub(crate) fn caught<T>(body: impl FnOnce() -> Result<T, Failure>) -> Result<T, ribbon_status> {
    // What a panic leaves behind is the handle's affair: `INTERNAL` says not to use it.
    let outcome = catch_unwind(AssertUnwindSafe(body)).unwrap_or_else(|_| {
        Err(Failure::new(ribbon_status::INTERNAL, "a defect of this library; please report it"))
    });
    outcome.map_err(|Failure { status, message }| {
        let message = CString::new(message.replace('\0', " ")).unwrap_or_default();
        // A thread that has all but ended has no room for it; the status is told all the same.
        let _ = LAST_ERROR.try_with(|last| last.replace(message));
        status
    })
}

/// The same for a call that has nothing to tell but its status.
pub(crate) fn guarded(body: impl FnOnce() -> Result<(), Failure>) -> ribbon_status {
    caught(body).err().unwrap_or(ribbon_status::OK)
}
