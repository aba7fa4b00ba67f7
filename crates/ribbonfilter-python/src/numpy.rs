//! NumPy arrays as columns of keys, through the array interface: a pointer, a type, a stride.
//!
//! The buffer protocol joined the stable ABI with Python 3.11; the array interface is there
//! always, and needs no headers of NumPy either. Arrays of any stride and byte order are read
//! where they lie.

use crate::keys::Column;
use crate::objects::{Kind, bytes_hash, type_name};
use arrow_buffer::NullBuffer;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use ribbonfilter::Key;
use std::ops::Range;

/// The column of an array, or nothing if the object is none, or one of Python objects.
///
/// Fixed-width bytes end at their last byte that is not zero, as in NumPy itself: so `array[i]`
/// and the array are the same key.
pub fn column(object: &Bound<'_, PyAny>, key_seed: u64) -> PyResult<Option<Box<dyn Column>>> {
    if !object.hasattr("__array__")? {
        return Ok(None);
    }
    refuse_masked(object, "masked arrays cannot be keys: pass array.compressed()")?;
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
                "a NumPy array of {} cannot be keys: convert it to integers, bytes or strings",
                object.getattr("dtype")?
            )));
        }
    }))
}

/// The column of keys whose hashes are in an array already.
pub fn hashes(object: &Bound<'_, PyAny>) -> PyResult<Box<dyn Column>> {
    let expected = |found: &dyn std::fmt::Display| {
        PyTypeError::new_err(format!(
            "expected hashes, as NumPy arrays of uint64 that hash_and_shard or key_hash gave, but got {found}"
        ))
    };
    if !object.hasattr("__array__")? {
        return Err(expected(&type_name(object)));
    }
    let memory = Memory::of(object)?;
    match (memory.kind, memory.size) {
        (b'u', 8) => Ok(integers(memory, u64::from_le_bytes)),
        _ => Err(expected(&format_args!("one of {}", object.getattr("dtype")?))),
    }
}

/// The numbers of an array of integers that are not negative; nothing if the object is no array.
pub fn numbers(object: &Bound<'_, PyAny>) -> PyResult<Option<Vec<u64>>> {
    if !object.hasattr("__array__")? {
        return Ok(None);
    }
    refuse_masked(
        object,
        "masked arrays cannot be values: pass array.filled(number), or leave out what is masked",
    )?;
    let array = object.py().import("numpy")?.call_method1("asarray", (object,))?;
    let kind: String = array.getattr("dtype")?.getattr("kind")?.extract()?;
    if !matches!(kind.as_str(), "u" | "i") {
        return Err(PyTypeError::new_err(format!(
            "values must be integers, but are {}",
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

/// Refuses an array that hides some of its items: a plain array made of it would show them.
fn refuse_masked(object: &Bound<'_, PyAny>, advice: &'static str) -> PyResult<()> {
    match object.hasattr("mask")? && object.hasattr("compressed")? {
        true => Err(PyTypeError::new_err(advice)),
        false => Ok(()),
    }
}

/// A one-dimensional array in memory.
struct Memory {
    /// Whose memory it is: kept alive.
    _array: Py<PyAny>,
    data: *const u8,
    len: usize,
    stride: isize,
    /// The bytes of an item.
    size: usize,
    kind: u8,
    big_endian: bool,
    has_fields: bool,
}

#[expect(unsafe_code, reason = "a pointer into an array that is kept alive")]
// SAFETY: the array lives as long as this does, and reading its memory needs no GIL.
unsafe impl Send for Memory {}

#[expect(unsafe_code, reason = "a pointer into an array that is kept alive")]
// SAFETY: as above; it is only read.
unsafe impl Sync for Memory {}

impl Memory {
    fn of(object: &Bound<'_, PyAny>) -> PyResult<Self> {
        // A plain array: whatever the object says of its own memory is not trusted.
        let numpy = object.py().import("numpy")?;
        let array = numpy.call_method1("asarray", (object,))?;
        let interface = array.getattr("__array_interface__")?.cast_into::<PyDict>()?;
        let field = |name: &str| interface.as_any().get_item(name);
        let shape: Vec<usize> = field("shape")?.extract()?;
        let &[len] = shape.as_slice() else {
            return Err(PyValueError::new_err(format!(
                "expected an array of one dimension, but it has {}",
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
        // SAFETY: NumPy says that each of `len` items has `size` readable bytes at its stride,
        // and keeps them as long as the array lives. Writing to the array meanwhile, from another
        // thread, would be a race, as it is for NumPy's own functions, which release the GIL too.
        unsafe {
            std::slice::from_raw_parts(self.data.offset(at as isize * self.stride), self.size)
        }
    }
}

/// A column of items and how they are hashed.
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

/// Integers of `N` bytes, given to `hash` in little-endian order.
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

/// Without the zeros at the end.
fn trimmed(item: &[u8]) -> &[u8] {
    let end = item.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
    &item[..end]
}
