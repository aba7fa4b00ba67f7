//! The last failure: its class, and its message or what JavaScript makes a message of.
//!
//! A module has one thread, so there is one last failure. The glue reads it right after the call that
//! failed. The errors of opening are passed as numbers: code that formats messages would be a tenth of
//! the module for queries. The errors of building, which are many, are passed as messages.

use alloc::borrow::Cow;
use core::cell::RefCell;
use ribbonfilter::OpenError;

/// The classes of errors, by the numbers that the glue knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum ErrorKind {
    /// No call has failed yet.
    None = 0,
    /// The bytes cannot be opened, or are corrupt.
    Format = 1,
    /// A setting is invalid, or there is no solution.
    Build = 2,
    /// The memory of the module cannot grow any further.
    Memory = 3,
    /// The progress callback stopped the build.
    Cancelled = 4,
}

/// A failure.
pub(crate) struct Failure {
    pub(crate) kind: ErrorKind,
    /// Which [`OpenError`] it is, by the numbers that the glue knows; 0 if `text` is the message.
    pub(crate) code: u32,
    /// The numbers of an [`OpenError`].
    pub(crate) numbers: [f64; 2],
    /// The field of an [`OpenError`], or a message.
    pub(crate) text: Cow<'static, str>,
}

/// What every thread of a module shares; there is only one.
struct Global<T>(T);

// SAFETY: wasm32 without atomics has only one thread. On other targets nothing but the tests of this
// crate uses it, which are one.
unsafe impl<T> Sync for Global<T> {}

static LAST: Global<RefCell<Failure>> = Global(RefCell::new(Failure {
    kind: ErrorKind::None,
    code: 0,
    numbers: [0.0; 2],
    text: Cow::Borrowed(""),
}));

/// Stores a failure.
pub(crate) fn set(failure: Failure) {
    LAST.0.replace(failure);
}

/// Stores why bytes could not be opened or verified.
pub(crate) fn set_open(error: &OpenError) {
    let mut kind = ErrorKind::Format;
    let mut text = "";
    let (code, numbers) = match *error {
        OpenError::TooShort { len, needed } => (1, [len as f64, needed as f64]),
        OpenError::NotAFilter => (2, [0.0; 2]),
        OpenError::UnsupportedVersion { found, supported } => (3, [found.into(), supported.into()]),
        OpenError::UnsupportedFeatures { features } => (4, [features.into(), 0.0]),
        OpenError::WrongKind { expected, found } => {
            (5, [expected, found].map(|kind| kind as u8 as f64))
        }
        OpenError::CorruptFooter => (6, [0.0; 2]),
        OpenError::Inconsistent { field } => {
            text = field;
            (7, [0.0; 2])
        }
        OpenError::WrongLength { len, expected } => (8, [len as f64, expected as f64]),
        OpenError::CorruptData => (9, [0.0; 2]),
        OpenError::CorruptShard { shard } => (10, [shard as f64, 0.0]),
        OpenError::CorruptDirectory => (11, [0.0; 2]),
        OpenError::OutOfMemory { bytes } => {
            kind = ErrorKind::Memory;
            (12, [bytes as f64, 0.0])
        }
        _ => (13, [0.0; 2]),
    };
    set(Failure { kind, code, numbers, text: Cow::Borrowed(text) });
}

/// The class of the last failure, a number of [`ErrorKind`].
#[cfg_attr(target_arch = "wasm32", unsafe(no_mangle))]
pub extern "C" fn error_kind() -> u32 {
    LAST.0.borrow().kind as u32
}

/// Which error of opening the last failure is; 0 if its text is a message.
#[cfg_attr(target_arch = "wasm32", unsafe(no_mangle))]
pub extern "C" fn error_code() -> u32 {
    LAST.0.borrow().code
}

/// The first or the second number of the last failure.
#[cfg_attr(target_arch = "wasm32", unsafe(no_mangle))]
pub extern "C" fn error_number(index: usize) -> f64 {
    LAST.0.borrow().numbers[index & 1]
}

/// The address of the last failure's text, in UTF-8.
#[cfg_attr(target_arch = "wasm32", unsafe(no_mangle))]
pub extern "C" fn error_text() -> *const u8 {
    LAST.0.borrow().text.as_ptr()
}

/// The length of the last failure's text.
#[cfg_attr(target_arch = "wasm32", unsafe(no_mangle))]
pub extern "C" fn error_len() -> usize {
    LAST.0.borrow().text.len()
}
