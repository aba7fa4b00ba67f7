//! NumPy arrays as columns of keys, through the array interface: a pointer, a type, a stride.
//!
//! The buffer protocol is part of the stable ABI only since Python 3.11. The array interface is
//! available in all versions and needs no headers of NumPy. Arrays of any stride and byte order are
//! read without a copy.

use crate::keys::Column;
use crate::objects::{Kind, bytes_hash, type_name};
use arrow_buffer::NullBuffer;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use ribbonfilter::Key;
use std::ops::Range;

/// The column of an array, or `None` if the object is not an array or has Python objects as items.
///
/// Trailing zeros of fixed-width bytes are removed, as NumPy does itself: so `array[i]` is the same
/// key as item `i` of the column.
pub fn column(object: &Bound<'_, PyAny>, key_seed: u64) -> PyResult<Option<Box<dyn Column>>> {
    if !object.hasattr("__array__")? {
        return Ok(None);
    }
    reject_masked(object, "a masked array cannot be used as keys: pass array.compressed()")?;
    let memory = Memory::of(object)?;
    let (kind, size) = (memory.kind, memory.size);
    Ok(Some(match (kind, size) {
        (b'O' | b'U' | b'T', _) => return Ok(None),
        (b'S', _) => hashed(memory, move |item| bytes_hash(trimmed(item), key_seed)),
        (b'V', _) if !memory.has_fields => hashed(memory, move |item| bytes_hash(item, key_seed)),
        (b'u', 1) => integers(memory, move |item| u8::from_le_bytes(item).key_hash(key_seed)),
        (b'u', 2) => integers(memory, move |item| u16::from_le_bytes(item).key_hash(key_seed)),
        (b'u', 4) => integers(memory, move |item| u32::from_le_bytes(item).key_hash(key_seed)),
        (b'u', 8) => integers(memory, move |item| u64::from_le_bytes(item).key_hash(key_seed)),
        (b'i', 1) => integers(memory, move |item| i8::from_le_bytes(item).key_hash(key_seed)),
        (b'i', 2) => integers(memory, move |item| i16::from_le_bytes(item).key_hash(key_seed)),
        (b'i', 4) => integers(memory, move |item| i32::from_le_bytes(item).key_hash(key_seed)),
        (b'i', 8) => integers(memory, move |item| i64::from_le_bytes(item).key_hash(key_seed)),
        _ => {
            return Err(PyTypeError::new_err(format!(
                "a NumPy array of type {} cannot be used as keys: convert it to integers, bytes or strings",
                object.getattr("dtype")?
            )));
        }
    }))
}

/// The column of keys that are given as an array of hashes.
pub fn hashes(object: &Bound<'_, PyAny>) -> PyResult<Box<dyn Column>> {
    let expected = |found: &dyn std::fmt::Display| {
        PyTypeError::new_err(format!(
            "expected NumPy arrays of uint64 from hash_and_shard or key_hash, but got {found}"
        ))
    };
    if !object.hasattr("__array__")? {
        return Err(expected(&type_name(object)));
    }
    let memory = Memory::of(object)?;
    match (memory.kind, memory.size) {
        (b'u', 8) => Ok(integers(memory, u64::from_le_bytes)),
        _ => Err(expected(&format_args!("an array of {}", object.getattr("dtype")?))),
    }
}

/// The values of an array of non-negative integers, or `None` if the object is not an array.
pub fn numbers(object: &Bound<'_, PyAny>) -> PyResult<Option<Vec<u64>>> {
    if !object.hasattr("__array__")? {
        return Ok(None);
    }
    reject_masked(
        object,
        "a masked array cannot be used as values: pass array.filled(number), or remove the masked items",
    )?;
    let array = object.py().import("numpy")?.call_method1("asarray", (object,))?;
    let kind: String = array.getattr("dtype")?.getattr("kind")?.extract()?;
    if !matches!(kind.as_str(), "u" | "i") {
        return Err(PyTypeError::new_err(format!(
            "values must be integers, but are of type {}",
            array.getattr("dtype")?
        )));
    }
    if kind == "i" && array.len()? > 0 && array.call_method0("min")?.lt(0)? {
        return Err(PyValueError::new_err("values must not be negative"));
    }
    let memory = Memory::of(&array.call_method1("astype", ("<u8",))?)?;
    let number = |at| u64::from_le_bytes(memory.item(at).try_into().unwrap_or_default());
    Ok(Some((0..memory.len).map(number).collect()))
}

/// Rejects a masked array: a conversion to a plain array would ignore the mask.
fn reject_masked(object: &Bound<'_, PyAny>, advice: &'static str) -> PyResult<()> {
    match object.hasattr("mask")? && object.hasattr("compressed")? {
        true => Err(PyTypeError::new_err(advice)),
        false => Ok(()),
    }
}

/// A one-dimensional array in memory.
struct Memory {
    /// The owner of the memory, kept alive.
    _array: Py<PyAny>,
    data: *const u8,
    len: usize,
    stride: isize,
    /// The size of an item in bytes.
    size: usize,
    kind: u8,
    big_endian: bool,
    has_fields: bool,
}

#[expect(unsafe_code, reason = "a pointer into an array that is kept alive")]
// SAFETY: the array lives as long as `Memory`, and reading its memory needs no GIL.
unsafe impl Send for Memory {}

#[expect(unsafe_code, reason = "a pointer into an array that is kept alive")]
// SAFETY: as above; the memory is only read.
unsafe impl Sync for Memory {}

impl Memory {
    fn of(object: &Bound<'_, PyAny>) -> PyResult<Self> {
        // Only a plain array describes its memory reliably; other objects are not trusted.
        let numpy = object.py().import("numpy")?;
        let array = numpy.call_method1("asarray", (object,))?;
        let interface = array.getattr("__array_interface__")?.cast_into::<PyDict>()?;
        let field = |name: &str| interface.as_any().get_item(name);
        let shape: Vec<usize> = field("shape")?.extract()?;
        let &[len] = shape.as_slice() else {
            return Err(PyValueError::new_err(format!(
                "expected an array with one dimension, but it has {}",
                shape.len()
            )));
        };
        let (address, _): (usize, bool) = field("data")?.extract()?;
        let typestr: String = field("typestr")?.extract()?;
        let dtype = array.getattr("dtype")?;
        let size = dtype.getattr("itemsize")?.extract()?;
        let kind: String = dtype.getattr("kind")?.extract()?;
        let strides: Vec<isize> = array.getattr("strides")?.extract()?;
        Ok(Self {
            data: address as *const u8,
            len,
            stride: strides[0],
            size,
            kind: kind.as_bytes().first().copied().unwrap_or_default(),
            big_endian: typestr.starts_with('>'),
            has_fields: !dtype.getattr("names")?.is_none(),
            _array: array.unbind(),
        })
    }

    /// The bytes of an item.
    #[expect(unsafe_code, reason = "memory that NumPy describes")]
    #[inline]
    fn item(&self, at: usize) -> &[u8] {
        assert!(at < self.len);
        // SAFETY: NumPy guarantees that each of `len` items has `size` readable bytes at its
        // stride, as long as the array lives. If another thread writes to the array at the same
        // time, that is a race, as it is for NumPy's own functions, which also release the GIL.
        unsafe {
            std::slice::from_raw_parts(self.data.offset(at as isize * self.stride), self.size)
        }
    }
}

/// A column: an array and the hash function for its items.
struct Items<F> {
    memory: Memory,
    hash: F,
}

impl<F: Fn(&[u8]) -> u64 + Send + Sync> Column for Items<F> {
    fn len(&self) -> usize {
        self.memory.len
    }

    fn kind(&self) -> Option<Kind> {
        let is_integer = matches!(self.memory.kind, b'u' | b'i');
        Some(if is_integer { Kind::Integer } else { Kind::Bytes })
    }

    fn nulls(&self) -> Option<&NullBuffer> {
        None
    }

    fn hash(&self, range: Range<usize>, hashes: &mut Vec<u64>) {
        hashes.extend(range.map(|at| (self.hash)(self.memory.item(at))));
    }
}

fn hashed(memory: Memory, hash: impl Fn(&[u8]) -> u64 + Send + Sync + 'static) -> Box<dyn Column> {
    Box::new(Items { memory, hash })
}

/// A column of integers of `N` bytes, which `hash` takes in little-endian order.
fn integers<const N: usize>(
    memory: Memory,
    hash: impl Fn([u8; N]) -> u64 + Send + Sync + 'static,
) -> Box<dyn Column> {
    let array = |item: &[u8]| <[u8; N]>::try_from(item).unwrap_or([0; N]);
    match memory.big_endian {
        false => hashed(memory, move |item| hash(array(item))),
        true => hashed(memory, move |item| {
            let mut item = array(item);
            item.reverse();
            hash(item)
        }),
    }
}

/// The item without trailing zeros.
fn trimmed(item: &[u8]) -> &[u8] {
    let end = item.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
    &item[..end]
}
