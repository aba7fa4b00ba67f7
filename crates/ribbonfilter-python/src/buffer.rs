//! The buffer protocol: `memoryview(f)`, `bytes(f)` and `file.write(f)` without a copy.
//!
//! The protocol is part of the stable ABI since Python 3.11, so PyO3 does not offer it to a module
//! that also supports 3.10. But 3.10 has it, with the same slots and the same struct. Therefore the
//! classes that Python sees are created here: subclasses of PyO3's classes that only add the slot
//! of the buffer and a docstring. When support for 3.10 ends, PyO3's `__getbuffer__` can replace
//! this file.

use crate::stored::Stored;
use pyo3::PyClass;
use pyo3::exceptions::PyBufferError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyTuple, PyType};
use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::ptr;

/// A class that is exported to Python with the buffer protocol.
pub trait Exported: PyClass {
    const PYTHON_NAME: &'static CStr;
    const PYTHON_DOC: &'static CStr;
}

/// `Py_buffer`, the same in all versions of CPython 3.
#[repr(C)]
struct Buffer {
    buf: *mut c_void,
    obj: *mut ffi::PyObject,
    len: ffi::Py_ssize_t,
    itemsize: ffi::Py_ssize_t,
    readonly: c_int,
    ndim: c_int,
    format: *mut c_char,
    shape: *mut ffi::Py_ssize_t,
    strides: *mut ffi::Py_ssize_t,
    suboffsets: *mut ffi::Py_ssize_t,
    internal: *mut c_void,
}

// Flags of a request (`PyBUF_…`).
const WRITABLE: c_int = 0x1;
const FORMAT: c_int = 0x4;
const ND: c_int = 0x8;
const STRIDES: c_int = 0x10 | ND;

/// `Py_bf_getbuffer`: the slot for the function that fills a [`Buffer`].
const GET_BUFFER: c_int = 1;

/// The exported class: a subclass of PyO3's class with the buffer protocol.
#[expect(unsafe_code, reason = "the buffer protocol")]
pub fn exported<T: Exported>(py: Python<'_>) -> PyResult<Bound<'_, PyType>> {
    let base = PyTuple::new(py, [T::type_object(py)])?;
    let mut slots = [
        ffi::PyType_Slot { slot: GET_BUFFER, pfunc: get_buffer as *mut c_void },
        ffi::PyType_Slot { slot: ffi::Py_tp_doc, pfunc: T::PYTHON_DOC.as_ptr().cast_mut().cast() },
        ffi::PyType_Slot { slot: 0, pfunc: ptr::null_mut() },
    ];
    let mut spec = ffi::PyType_Spec {
        name: T::PYTHON_NAME.as_ptr(),
        // Inherited from the base class.
        basicsize: 0,
        itemsize: 0,
        flags: (ffi::Py_TPFLAGS_DEFAULT | ffi::Py_TPFLAGS_BASETYPE) as c_uint,
        slots: slots.as_mut_ptr(),
    };
    // SAFETY: the spec is complete and its slots are terminated; the name and the docstring are
    // static; the function has the type that its slot requires. The call returns a new type, or
    // null with an exception set.
    let class = unsafe {
        Bound::from_owned_ptr_or_err(
            py,
            ffi::PyType_FromSpecWithBases(&raw mut spec, base.as_ptr()),
        )?
    };
    Ok(class.cast_into::<PyType>()?)
}

/// Exports the bytes of an object, which are immutable and live as long as the object.
#[expect(unsafe_code, reason = "the buffer protocol")]
unsafe extern "C" fn get_buffer(
    object: *mut ffi::PyObject,
    view: *mut Buffer,
    flags: c_int,
) -> c_int {
    // SAFETY: Python calls this while the thread is attached, with an object of a class that has
    // the slot and a writable struct. The shape and the stride point to fields of the struct
    // itself, as PyBuffer_FillInfo does it for plain bytes.
    unsafe {
        let py = Python::assume_attached();
        (*view).obj = ptr::null_mut();
        let object = Bound::from_borrowed_ptr(py, object);
        let outcome = object.cast::<Stored>().map_err(PyErr::from).and_then(|stored| {
            match flags & WRITABLE {
                0 => Ok(stored.get().0.as_ref()),
                _ => Err(PyBufferError::new_err("the bytes are read-only")),
            }
        });
        let bytes = match outcome {
            Ok(bytes) => bytes,
            Err(error) => {
                error.restore(py);
                return -1;
            }
        };
        let requested = |flag| flags & flag == flag;
        ptr::write(
            view,
            Buffer {
                buf: bytes.as_ptr().cast_mut().cast(),
                obj: object.clone().into_ptr(),
                len: bytes.len() as ffi::Py_ssize_t,
                itemsize: 1,
                readonly: 1,
                ndim: 1,
                format: if requested(FORMAT) { c"B".as_ptr().cast_mut() } else { ptr::null_mut() },
                shape: if requested(ND) { &raw mut (*view).len } else { ptr::null_mut() },
                strides: if requested(STRIDES) {
                    &raw mut (*view).itemsize
                } else {
                    ptr::null_mut()
                },
                suboffsets: ptr::null_mut(),
                internal: ptr::null_mut(),
            },
        );
    }
    0
}
