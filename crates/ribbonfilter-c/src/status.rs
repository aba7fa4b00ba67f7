//! The result of a call: a status, and the message of the last failure on a thread.

use core::cell::RefCell;
use core::ffi::{c_char, c_int};
use std::ffi::CString;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// The result of a call.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ribbon_status {
    /// The call succeeded.
    OK = 0,
    /// A pointer is null but must not be.
    NULL_POINTER = -1,
    /// A handle has the wrong type or was freed.
    WRONG_HANDLE = -2,
    /// A setting or an argument is invalid.
    INVALID_ARGUMENT = -3,
    /// The filter or the set could not be built; more memory or other settings may help.
    BUILD_FAILED = -4,
    /// The bytes are not a filter or not an exact set, whichever was expected, or they are truncated
    /// or corrupt.
    NOT_A_FILTER = -5,
    /// The target of a shrink is too small, or larger than the filter.
    SHRINK_FAILED = -6,
    /// A bug in this library. The handle involved can only be freed.
    INTERNAL = -7,
    /// The universe of an exact set has no key of this group.
    UNKNOWN_GROUP = -8,
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

    /// Returns a conversion from an error, for `map_err`.
    pub(crate) fn of<E: ToString>(status: ribbon_status) -> impl Fn(E) -> Self {
        move |error| Self::new(status, error)
    }
}

thread_local! {
    static LAST_ERROR: RefCell<CString> = RefCell::default();
}

/// Returns the message of the last call that failed on this thread, in UTF-8, or an empty string
/// if no call has failed. The message is valid until the next call fails on this thread. Never
/// null.
#[unsafe(no_mangle)]
pub extern "C" fn ribbon_last_error() -> *const c_char {
    let message = |last: &RefCell<CString>| last.borrow().as_ptr();
    // Fails only if the thread is already destroying its thread-locals.
    LAST_ERROR.try_with(message).unwrap_or(c"".as_ptr())
}

/// Runs the body of a call. Converts a failure to its status and a panic to `INTERNAL`, and stores
/// the message.
pub(crate) fn caught<T>(body: impl FnOnce() -> Result<T, Failure>) -> Result<T, ribbon_status> {
    // A panic may leave the handle in an inconsistent state. The documentation of `INTERNAL`
    // forbids its use.
    let outcome = catch_unwind(AssertUnwindSafe(body)).unwrap_or_else(|_| {
        Err(Failure::new(ribbon_status::INTERNAL, "a bug in this library; please report it"))
    });
    outcome.map_err(|Failure { status, message }| {
        let message = CString::new(message.replace('\0', " ")).unwrap_or_default();
        // Fails only if the thread is already destroying its thread-locals. The status is returned
        // anyway.
        let _ = LAST_ERROR.try_with(|last| last.replace(message));
        status
    })
}

/// Like [`caught`], for a call that returns only a status.
pub(crate) fn guarded(body: impl FnOnce() -> Result<(), Failure>) -> ribbon_status {
    caught(body).err().unwrap_or(ribbon_status::OK)
}

/// Runs a query and returns its result, or the status of the failure.
pub(crate) fn membership(query: impl FnOnce() -> Result<bool, Failure>) -> c_int {
    caught(query).map_or_else(|status| status as c_int, c_int::from)
}

/// The failure of a call with a builder that has built its filter or set.
pub(crate) fn finished() -> Failure {
    Failure::new(ribbon_status::INVALID_ARGUMENT, "this builder has already finished")
}
