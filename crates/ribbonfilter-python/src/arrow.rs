//! Arrow arrays as columns of keys, through the Arrow C data interface: arrays of any Arrow library
//! are read without a copy.
//!
//! A producer exports capsules that hold C structs: one array (`__arrow_c_array__`) or a stream of
//! chunks (`__arrow_c_stream__`). Importing these is the only unsafe code here.

use crate::keys::Column;
use crate::objects::{Kind, bytes_hash, type_name};
use arrow_array::cast::AsArray;
use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema, from_ffi, to_ffi};
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::types as of;
use arrow_array::{Array, ArrayRef, ArrowPrimitiveType, PrimitiveArray, make_array};
use arrow_buffer::NullBuffer;
use arrow_schema::{ArrowError, DataType};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyTuple};
use ribbonfilter::Key;
use std::ffi::CStr;
use std::ops::Range;
use std::ptr::NonNull;

const SCHEMA: &CStr = c"arrow_schema";
const ARRAY: &CStr = c"arrow_array";
const STREAM: &CStr = c"arrow_array_stream";

/// The chunks of an Arrow array as columns, or `None` if the object is not an Arrow array.
pub fn columns(object: &Bound<'_, PyAny>, key_seed: u64) -> PyResult<Option<Vec<Box<dyn Column>>>> {
    let chunks = match object.getattr_opt("__arrow_c_array__")? {
        Some(method) => vec![import_array(&method.call0()?)?],
        None => match object.getattr_opt("__arrow_c_stream__")? {
            Some(method) => import_stream(&method.call0()?)?,
            None => return Ok(None),
        },
    };
    let column = |chunk| column(chunk, key_seed).map_err(|kind| unsupported(object, &kind));
    chunks.into_iter().map(column).collect::<PyResult<_>>().map(Some)
}

fn unsupported(object: &Bound<'_, PyAny>, kind: &DataType) -> PyErr {
    let advice = match kind.is_nested() {
        true => "pass one column of integers, strings or binary",
        false => "cast it to integers, strings or binary",
    };
    PyTypeError::new_err(format!(
        "a {} of type {kind} cannot be used as keys: {advice}",
        type_name(object)
    ))
}

/// A chunk as a column, or its type as an error if keys cannot have that type.
fn column(array: ArrayRef, key_seed: u64) -> Result<Box<dyn Column>, DataType> {
    macro_rules! items {
        ($typed:expr) => {
            items(&array, $typed.clone(), move |array, at| {
                bytes_hash(AsRef::<[u8]>::as_ref(array.value(at)), key_seed)
            })
        };
    }
    Ok(match array.data_type() {
        DataType::UInt8 => integers::<of::UInt8Type>(&array, key_seed),
        DataType::UInt16 => integers::<of::UInt16Type>(&array, key_seed),
        DataType::UInt32 => integers::<of::UInt32Type>(&array, key_seed),
        DataType::UInt64 => integers::<of::UInt64Type>(&array, key_seed),
        DataType::Int8 => integers::<of::Int8Type>(&array, key_seed),
        DataType::Int16 => integers::<of::Int16Type>(&array, key_seed),
        DataType::Int32 => integers::<of::Int32Type>(&array, key_seed),
        DataType::Int64 => integers::<of::Int64Type>(&array, key_seed),
        DataType::Utf8 => items!(array.as_string::<i32>()),
        DataType::LargeUtf8 => items!(array.as_string::<i64>()),
        DataType::Utf8View => items!(array.as_string_view()),
        DataType::Binary => items!(array.as_binary::<i32>()),
        DataType::LargeBinary => items!(array.as_binary::<i64>()),
        DataType::BinaryView => items!(array.as_binary_view()),
        DataType::FixedSizeBinary(_) => items!(array.as_fixed_size_binary()),
        DataType::Dictionary(_, _) => return dictionary(&array, key_seed),
        DataType::Null => items(&array, (), |(), _| 0),
        other => return Err(other.clone()),
    })
}

fn integers<T>(array: &ArrayRef, key_seed: u64) -> Box<dyn Column>
where
    T: ArrowPrimitiveType<Native: Key>,
{
    let typed: PrimitiveArray<T> = array.as_primitive().clone();
    items(array, typed, move |array, at| array.value(at).key_hash(key_seed))
}

/// A dictionary array: every entry is hashed once, and a key is the index of an entry.
fn dictionary(array: &ArrayRef, key_seed: u64) -> Result<Box<dyn Column>, DataType> {
    let dictionary = array.as_any_dictionary();
    let entries = column(dictionary.values().clone(), key_seed)?;
    let mut hashes = Vec::with_capacity(entries.len());
    entries.hash(0..entries.len(), &mut hashes);
    let indices = match entries.len() {
        0 => vec![0; array.len()],
        _ => dictionary.normalized_keys(),
    };
    Ok(items(array, (indices, hashes), |(indices, hashes), at| {
        hashes.get(indices[at]).copied().unwrap_or_default()
    }))
}

/// A column: a chunk with its concrete type, and the hash function for one of its keys.
struct Items<A, F> {
    array: A,
    len: usize,
    kind: Option<Kind>,
    nulls: Option<NullBuffer>,
    hash: F,
}

fn items<A, F>(chunk: &ArrayRef, array: A, hash: F) -> Box<dyn Column>
where
    A: Send + Sync + 'static,
    F: Fn(&A, usize) -> u64 + Send + Sync + 'static,
{
    let nulls = chunk.logical_nulls().filter(|nulls| nulls.null_count() > 0);
    Box::new(Items { array, len: chunk.len(), kind: kind(chunk.data_type()), nulls, hash })
}

/// The kind of the keys in a column of a supported type.
fn kind(data_type: &DataType) -> Option<Kind> {
    match data_type {
        DataType::Null => None,
        DataType::Dictionary(_, values) => kind(values),
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => Some(Kind::Text),
        integer if integer.is_integer() => Some(Kind::Integer),
        _ => Some(Kind::Bytes),
    }
}

impl<A: Send + Sync, F: Fn(&A, usize) -> u64 + Send + Sync> Column for Items<A, F> {
    fn len(&self) -> usize {
        self.len
    }

    fn kind(&self) -> Option<Kind> {
        self.kind
    }

    fn nulls(&self) -> Option<&NullBuffer> {
        self.nulls.as_ref()
    }

    fn hash(&self, range: Range<usize>, hashes: &mut Vec<u64>) {
        let hash = |at| (self.hash)(&self.array, at);
        match &self.nulls {
            None => hashes.extend(range.map(hash)),
            // The value of a null is undefined: a view may point outside its buffers.
            Some(nulls) => {
                hashes.extend(range.map(|at| if nulls.is_null(at) { 0 } else { hash(at) }));
            }
        }
    }
}

fn import_array(capsules: &Bound<'_, PyAny>) -> PyResult<ArrayRef> {
    let (schema, array): (Bound<'_, PyCapsule>, Bound<'_, PyCapsule>) = capsules.extract()?;
    let (schema, array) =
        (schema.pointer_checked(Some(SCHEMA))?, array.pointer_checked(Some(ARRAY))?);
    #[expect(unsafe_code, reason = "the Arrow C data interface")]
    // SAFETY: by the Arrow PyCapsule interface, capsules with these names hold these structs, and
    // the consumer moves them out.
    let (schema, array) =
        unsafe { (FFI_ArrowSchema::from_raw(cast(schema)), FFI_ArrowArray::from_raw(cast(array))) };
    import(array, &schema)
}

fn import(array: FFI_ArrowArray, schema: &FFI_ArrowSchema) -> PyResult<ArrayRef> {
    if array.is_released() || schema.release.is_none() {
        return Err(released());
    }
    #[expect(unsafe_code, reason = "the Arrow C data interface")]
    // SAFETY: the producer guarantees that the array matches the schema.
    let data = unsafe { from_ffi(array, schema) };
    Ok(make_array(data.map_err(|error| failed(&error))?))
}

/// All chunks of a stream. Unlike arrow's own reader, this accepts arrays that are not structs.
fn import_stream(capsule: &Bound<'_, PyAny>) -> PyResult<Vec<ArrayRef>> {
    let pointer = capsule.cast::<PyCapsule>()?.pointer_checked(Some(STREAM))?;
    #[expect(unsafe_code, reason = "the Arrow C stream interface")]
    // SAFETY: by the Arrow PyCapsule interface, a capsule with this name holds this struct, and
    // the consumer moves it out.
    let mut stream = unsafe { FFI_ArrowArrayStream::from_raw(cast(pointer)) };
    // A released stream may still have its function pointers, but its data has been freed.
    if stream.release.is_none() {
        return Err(released());
    }
    let mut schema = FFI_ArrowSchema::empty();
    let get_schema = stream.get_schema.ok_or_else(released)?;
    let get_next = stream.get_next.ok_or_else(released)?;
    #[expect(unsafe_code, reason = "the Arrow C stream interface")]
    // SAFETY: the stream is the producer's own and not released, and the schema is writable.
    let status = unsafe { get_schema(&raw mut stream, &raw mut schema) };
    check(status, &mut stream)?;
    let mut chunks = Vec::new();
    loop {
        let mut array = FFI_ArrowArray::empty();
        #[expect(unsafe_code, reason = "the Arrow C stream interface")]
        // SAFETY: as above.
        let status = unsafe { get_next(&raw mut stream, &raw mut array) };
        check(status, &mut stream)?;
        if array.is_released() {
            return Ok(chunks);
        }
        chunks.push(import(array, &schema)?);
    }
}

/// Turns the status of the stream's last call into an error.
fn check(status: i32, stream: &mut FFI_ArrowArrayStream) -> PyResult<()> {
    if status == 0 {
        return Ok(());
    }
    let mut reason = format!("status {status}");
    if let Some(get_last_error) = stream.get_last_error {
        #[expect(unsafe_code, reason = "the Arrow C stream interface")]
        // SAFETY: the text is valid until the next call of the stream, and copied here.
        unsafe {
            let text = get_last_error(stream);
            if !text.is_null() {
                reason = CStr::from_ptr(text).to_string_lossy().into_owned();
            }
        }
    }
    Err(PyValueError::new_err(format!("the Arrow stream failed: {reason}")))
}

fn cast<T>(pointer: NonNull<std::ffi::c_void>) -> *mut T {
    pointer.as_ptr().cast()
}

fn released() -> PyErr {
    PyValueError::new_err("the Arrow capsule was already consumed: export the array again")
}

fn failed(error: &ArrowError) -> PyErr {
    PyTypeError::new_err(format!("the Arrow array cannot be read: {error}"))
}

/// An array for any library that supports the Arrow PyCapsule interface.
#[pyclass(frozen, module = "ribbonfilter")]
pub struct ArrowArray(pub ArrayRef);

#[pymethods]
impl ArrowArray {
    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_array__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyTuple>> {
        // The interface allows producers to ignore the requested type.
        let _ = requested_schema;
        let (array, schema) = to_ffi(&self.0.to_data()).map_err(|error| failed(&error))?;
        let schema = PyCapsule::new_with_value(py, schema, SCHEMA)?;
        PyTuple::new(py, [schema, PyCapsule::new_with_value(py, array, ARRAY)?])
    }

    fn __len__(&self) -> usize {
        self.0.len()
    }
}
