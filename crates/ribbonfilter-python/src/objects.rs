//! What can be one key: `str`, `bytes`, `int` and what behaves like them.

use crate::errors::NullKeyError;
use pyo3::exceptions::{PyOverflowError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyByteArray, PyBytes, PyFloat, PyInt, PyMemoryView, PyString};
use ribbonfilter::Key;
use std::fmt;

/// The kinds of keys, which no set may mix.
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

/// Refuses a kind of key where those before were of another: an integer and its bytes would be
/// one key.
pub fn agree(before: &mut Option<Kind>, kind: Kind) -> PyResult<()> {
    match *before.get_or_insert(kind) {
        first if first == kind => Ok(()),
        first => Err(PyTypeError::new_err(format!(
            "{kind} among keys of type {first}: the keys of a set must be of one type"
        ))),
    }
}

/// The hash of a key: of a `str` as UTF-8, of an `int` by its value.
pub fn key_hash(key: &Bound<'_, PyAny>, key_seed: u64) -> PyResult<(Kind, u64)> {
    if let Some(found) = plain_hash(key, key_seed)? {
        return Ok(found);
    }
    if !is_arrow_scalar(key) {
        return Err(refusal(key));
    }
    // Asked for once: the value of a mock looks like a scalar again, and so on for ever.
    let value = key.call_method0("as_py")?;
    plain_hash(&value, key_seed)?.ok_or_else(|| refusal(&value))
}

/// The hash of a key that is no Arrow scalar, or nothing if the object is no key.
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

/// The hash of bytes or text. Not inlined, since the many kinds of columns would make as many
/// copies of a long function.
#[inline(never)]
pub fn bytes_hash(bytes: &[u8], key_seed: u64) -> u64 {
    bytes.key_hash(key_seed)
}

/// Whether the object is one key rather than several.
pub fn is_key(object: &Bound<'_, PyAny>) -> bool {
    object.is_instance_of::<PyString>()
        || object.is_instance_of::<PyBytes>()
        || object.is_instance_of::<PyInt>()
        || is_bytes_like(object)
        || (is_integer(object) && object.len().is_err())
        || is_arrow_scalar(object)
}

/// Whether the object stands for a missing value: `None`, `pandas.NA` or not a number.
pub fn is_null(object: &Bound<'_, PyAny>) -> bool {
    object.is_none()
        || object.cast::<PyFloat>().is_ok_and(|number| number.value().is_nan())
        || object.get_type().name().is_ok_and(|name| name == "NAType")
}

/// The name of the object's type, for messages.
pub fn type_name(object: &Bound<'_, PyAny>) -> String {
    object.get_type().name().map_or_else(|_| "object".to_owned(), |name| name.to_string())
}

/// Whether the object's type is one of a package, in whatever module of it.
pub fn comes_from(object: &Bound<'_, PyAny>, package: &str) -> bool {
    let module = object.get_type().module();
    let module = module.as_ref().ok().and_then(|module| module.to_cow().ok());
    module.is_some_and(|module| module.split('.').next() == Some(package))
}

/// The same error, telling which of several keys caused it.
pub fn at_position(key: &Bound<'_, PyAny>, error: PyErr, position: usize) -> PyErr {
    let py = key.py();
    if is_null(key) {
        return null(Some(position));
    }
    if !error.is_instance_of::<PyTypeError>(py) && !error.is_instance_of::<PyOverflowError>(py) {
        return error;
    }
    PyErr::from_type(error.get_type(py), format!("at position {position}: {}", error.value(py)))
}

/// The error for a null that is not to be skipped.
pub fn null(position: Option<usize>) -> PyErr {
    NullKeyError::new_err(match position {
        None => "a null is no key".to_owned(),
        Some(position) => {
            format!("the key at position {position} is null: nulls=\"skip\" leaves nulls out")
        }
    })
}

/// What iterating over an array of pyarrow gives.
fn is_arrow_scalar(object: &Bound<'_, PyAny>) -> bool {
    object.hasattr("as_py").unwrap_or(false)
}

fn is_bytes_like(object: &Bound<'_, PyAny>) -> bool {
    object.is_instance_of::<PyByteArray>() || object.is_instance_of::<PyMemoryView>()
}

/// Integers of Python and NumPy. A `bool` is one to Python, but as a key mostly a mistake.
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
            "integers from -2^127 to 2^128 - 1 can be keys: convert larger ones to bytes",
        )
    })?;
    Ok(large.key_hash(key_seed))
}

fn refusal(key: &Bound<'_, PyAny>) -> PyErr {
    if is_null(key) {
        return null(None);
    }
    PyTypeError::new_err(format!(
        "a key must be a str, bytes or int, but is of type {}: convert it to one of these",
        type_name(key)
    ))
}
