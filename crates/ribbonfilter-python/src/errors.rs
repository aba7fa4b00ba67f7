//! The library's errors as Python exceptions, with the library's messages.

use pyo3::PyErr;
use pyo3::exceptions::{PyIsADirectoryError, PyMemoryError, PyOSError, PyValueError};
use ribbonfilter::{BuildError, JoinError, OpenError, ShrinkError};
use std::io;
use std::path::Path;

pyo3::import_exception!(ribbonfilter._errors, FormatError);
pyo3::import_exception!(ribbonfilter._errors, NullKeyError);

pub fn build(error: BuildError) -> PyErr {
    match error {
        BuildError::OutOfMemory { .. } | BuildError::MemoryLimit { .. } => {
            PyMemoryError::new_err(error.to_string())
        }
        error => PyValueError::new_err(error.to_string()),
    }
}

pub fn open(error: OpenError) -> PyErr {
    match error {
        OpenError::OutOfMemory { .. } => PyMemoryError::new_err(error.to_string()),
        OpenError::Io(error) => error.into(),
        error => FormatError::new_err(error.to_string()),
    }
}

pub fn shrink(error: ShrinkError) -> PyErr {
    match error {
        ShrinkError::OutOfMemory { .. } => PyMemoryError::new_err(error.to_string()),
        ShrinkError::Corrupt => FormatError::new_err(error.to_string()),
        error => PyValueError::new_err(error.to_string()),
    }
}

pub fn join(error: JoinError) -> PyErr {
    match error {
        JoinError::OutOfMemory { .. } => PyMemoryError::new_err(error.to_string()),
        JoinError::Corrupt { .. } => FormatError::new_err(error.to_string()),
        JoinError::Io(error) => error.into(),
        error => PyValueError::new_err(error.to_string()),
    }
}

/// An `OSError` with the name of its file. Python chooses the subclass, such as
/// `FileNotFoundError`, by the error code.
pub fn io(error: &io::Error, path: &Path) -> PyErr {
    match error.raw_os_error() {
        Some(code) => PyOSError::new_err((code, reason(error), path.display().to_string())),
        None if error.kind() == io::ErrorKind::IsADirectory => {
            PyIsADirectoryError::new_err(format!("{error}: {}", path.display()))
        }
        None => PyOSError::new_err(format!("{error}: {}", path.display())),
    }
}

/// The system's message, without the error code, which Python adds itself.
fn reason(error: &io::Error) -> String {
    let text = error.to_string();
    match text.split_once(" (os error") {
        Some((reason, _)) => reason.to_owned(),
        None => text,
    }
}
