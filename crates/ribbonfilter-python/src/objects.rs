//! A single key: `str`, `bytes`, `int` and compatible types.

use crate::errors::NullKeyError;
use pyo3::exceptions::{PyOverflowError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyByteArray, PyBytes, PyFloat, PyInt, PyMemoryView, PyString};
use ribbonfilter::Key;
use std::fmt;

/// The kinds of keys. All keys of a set must have the same kind.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    Text,
    Bytes,
    Integer,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Text => "str",
            Self::Bytes => "bytes",
            Self::Integer => "int",
        })
    }
}

/// Rejects a key whose kind differs from that of the preceding keys: the hash does not include the
/// kind, so an integer and its bytes would be the same key.
pub fn check_kind(first: &mut Option<Kind>, kind: Kind) -> PyResult<()> {
    match *first.get_or_insert(kind) {
        first if first == kind => Ok(()),
        first => Err(PyTypeError::new_err(format!(
            "a key is of type {kind}, but the preceding keys are of type {first}: all keys of a set must be of one type"
        ))),
    }
}

/// The hash of a key. A `str` is hashed as UTF-8, an `int` by value.
pub fn key_hash(key: &Bound<'_, PyAny>, key_seed: u64) -> PyResult<(Kind, u64)> {
    if let Some(found) = plain_hash(key, key_seed)? {
        return Ok(found);
    }
    if !is_arrow_scalar(key) {
        return Err(unsupported(key));
    }
    // Converted only once: the value of a mock object looks like a scalar again, without end.
    let value = key.call_method0("as_py")?;
    plain_hash(&value, key_seed)?.ok_or_else(|| unsupported(&value))
}

/// The hash of a key that is not an Arrow scalar, or `None` if the object is not a key.
fn plain_hash(key: &Bound<'_, PyAny>, key_seed: u64) -> PyResult<Option<(Kind, u64)>> {
    let of_bytes = |bytes: &[u8]| bytes_hash(bytes, key_seed);
    if let Ok(text) = key.cast::<PyString>() {
        return Ok(Some((Kind::Text, of_bytes(text.to_str()?.as_bytes()))));
    }
    if let Ok(bytes) = key.cast::<PyBytes>() {
        return Ok(Some((Kind::Bytes, of_bytes(bytes.as_bytes()))));
    }
    if is_integer(key) {
        return Ok(Some((Kind::Integer, integer_hash(key, key_seed)?)));
    }
    if is_bytes_like(key) {
        let bytes = key.py().get_type::<PyBytes>().call1((key,))?.cast_into::<PyBytes>()?;
        return Ok(Some((Kind::Bytes, of_bytes(bytes.as_bytes()))));
    }
    Ok(None)
}

/// The hash of bytes or text. Not inlined: every type of column would have its own copy of a long
/// function.
#[inline(never)]
pub fn bytes_hash(bytes: &[u8], key_seed: u64) -> u64 {
    bytes.key_hash(key_seed)
}

/// Whether the object is a single key rather than several keys.
pub fn is_key(object: &Bound<'_, PyAny>) -> bool {
    object.is_instance_of::<PyString>()
        || object.is_instance_of::<PyBytes>()
        || object.is_instance_of::<PyInt>()
        || is_bytes_like(object)
        || (is_integer(object) && object.len().is_err())
        || is_arrow_scalar(object)
}

/// Whether the object represents a missing value: `None`, `pandas.NA` or NaN.
pub fn is_null(object: &Bound<'_, PyAny>) -> bool {
    object.is_none()
        || object.cast::<PyFloat>().is_ok_and(|number| number.value().is_nan())
        || object.get_type().name().is_ok_and(|name| name == "NAType")
}

/// The name of the object's type, for error messages.
pub fn type_name(object: &Bound<'_, PyAny>) -> String {
    object.get_type().name().map_or_else(|_| "object".to_owned(), |name| name.to_string())
}

/// Whether the object's type is defined in a package, in any of its modules.
pub fn comes_from(object: &Bound<'_, PyAny>, package: &str) -> bool {
    let module = object.get_type().module();
    let module = module.as_ref().ok().and_then(|module| module.to_cow().ok());
    module.is_some_and(|module| module.split('.').next() == Some(package))
}

/// The same error with the position of the key that caused it.
pub fn at_position(key: &Bound<'_, PyAny>, error: PyErr, position: usize) -> PyErr {
    let py = key.py();
    if is_null(key) {
        return null(Some(position));
    }
    with_context(py, error, &format!("at position {position}"))
}

/// The same error with a context in its message, if it is an error of a key's type or size.
pub fn with_context(py: Python<'_>, error: PyErr, context: &str) -> PyErr {
    if !error.is_instance_of::<PyTypeError>(py) && !error.is_instance_of::<PyOverflowError>(py) {
        return error;
    }
    PyErr::from_type(error.get_type(py), format!("{context}: {}", error.value(py)))
}

/// The error for a null, if nulls are not skipped.
pub fn null(position: Option<usize>) -> PyErr {
    NullKeyError::new_err(match position {
        None => "a key must not be null".to_owned(),
        Some(position) => {
            format!("the key at position {position} is null: pass nulls=\"skip\" to ignore nulls")
        }
    })
}

/// Whether the object is a scalar of pyarrow, such as iteration over an array yields.
fn is_arrow_scalar(object: &Bound<'_, PyAny>) -> bool {
    object.hasattr("as_py").unwrap_or(false)
}

fn is_bytes_like(object: &Bound<'_, PyAny>) -> bool {
    object.is_instance_of::<PyByteArray>() || object.is_instance_of::<PyMemoryView>()
}

/// Integers of Python and NumPy. A Python `bool` is an `int`, but as a key it is usually a mistake.
fn is_integer(object: &Bound<'_, PyAny>) -> bool {
    !object.is_instance_of::<PyBool>()
        && (object.is_instance_of::<PyInt>() || object.hasattr("__index__").unwrap_or(false))
}

fn integer_hash(key: &Bound<'_, PyAny>, key_seed: u64) -> PyResult<u64> {
    let overflows = |error: &PyErr| error.is_instance_of::<PyOverflowError>(key.py());
    match key.extract::<u64>() {
        Ok(small) => return Ok(small.key_hash(key_seed)),
        Err(error) if overflows(&error) => {}
        Err(error) => return Err(error),
    }
    if let Ok(signed) = key.extract::<i128>() {
        return Ok(signed.key_hash(key_seed));
    }
    let large = key.extract::<u128>().map_err(|_| {
        PyOverflowError::new_err(
            "an integer key must be from -2^127 to 2^128 - 1: convert other integers to bytes",
        )
    })?;
    Ok(large.key_hash(key_seed))
}

fn unsupported(key: &Bound<'_, PyAny>) -> PyErr {
    if is_null(key) {
        return null(None);
    }
    PyTypeError::new_err(format!(
        "a key must be a str, bytes or int, but is of type {}: convert it to one of these types",
        type_name(key)
    ))
}
