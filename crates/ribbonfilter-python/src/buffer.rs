//! The buffer protocol: `memoryview(f)`, `bytes(f)`, `file.write(f)`, without a copy.
//!
//! It joined the stable ABI with Python 3.11, so PyO3 leaves it out of a module that also runs on
//! 3.10. But 3.10 has it, with the same slots and the same struct. So the classes that Python sees
//! are made here: subclasses of PyO3's, with the two slots of a buffer and nothing else.
//! When 3.10 is no longer served, PyO3's own `__getbuffer__` can take the place of this file.

use crate::stored::Stored;
use pyo3::PyClass;
use pyo3::exceptions::PyBufferError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyTuple, PyType};
use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::ptr;

/// A class with a buffer, as Python sees it.
pub trait Exported: PyClass {
    const PYTHON_NAME: &'static CStr;
    const PYTHON_DOC: &'static CStr;
}

/// `Py_buffer`, the same in every CPython from 3.0 on.
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

// What a consumer may ask for (`PyBUF_…`).
const WRITABLE: c_int = 0x1;
const FORMAT: c_int = 0x4;
const ND: c_int = 0x8;
const STRIDES: c_int = 0x10 | ND;

/// `Py_bf_getbuffer`: the slot of the function that fills a [`Buffer`].
const GET_BUFFER: c_int = 1;

/// The class for Python: the one that PyO3 makes, with a buffer.
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
        // That of the base.
        basicsize: 0,
        itemsize: 0,
        flags: (ffi::Py_TPFLAGS_DEFAULT | ffi::Py_TPFLAGS_BASETYPE) as c_uint,
        slots: slots.as_mut_ptr(),
    };
    // SAFETY: the spec and its slots are complete and ended; name and document live for ever; the
    // function of the slot has the type that the slot asks for. A new type is returned, or null
    // with an error set.
    let class = unsafe {
        Bound::from_owned_ptr_or_err(
            py,
            ffi::PyType_FromSpecWithBases(&raw mut spec, base.as_ptr()),
        )?
    };
    Ok(class.cast_into::<PyType>()?)
}

/// Shows the bytes of an object, which never change and live as long as it does.
#[expect(unsafe_code, reason = "the buffer protocol")]
unsafe extern "C" fn get_buffer(
    object: *mut ffi::PyObject,
    view: *mut Buffer,
    flags: c_int,
) -> c_int {
    // SAFETY: Python calls this attached, with an object of a class that has the slot, and a
    // struct to be filled; a pointer to the struct's own fields is what PyBuffer_FillInfo takes
    // for the shape and stride of plain bytes, too.
    unsafe {
        let py = Python::assume_attached();
        (*view).obj = ptr::null_mut();
        let object = Bound::from_borrowed_ptr(py, object);
        let outcome = object.cast::<Stored>().map_err(PyErr::from).and_then(|stored| {
            match flags & WRITABLE {
                0 => Ok(stored.get().0.as_ref()),
                _ => Err(PyBufferError::new_err("a filter's bytes cannot be written")),
            }
        });
        let bytes = match outcome {
            Ok(bytes) => bytes,
            Err(error) => {
                error.restore(py);
                return -1;
            }
        };
        let asked = |flag| flags & flag == flag;
        ptr::write(
            view,
            Buffer {
                buf: bytes.as_ptr().cast_mut().cast(),
                obj: object.clone().into_ptr(),
                len: bytes.len() as ffi::Py_ssize_t,
                itemsize: 1,
                readonly: 1,
                ndim: 1,
                format: if asked(FORMAT) { c"B".as_ptr().cast_mut() } else { ptr::null_mut() },
                shape: if asked(ND) { &raw mut (*view).len } else { ptr::null_mut() },
                strides: if asked(STRIDES) { &raw mut (*view).itemsize } else { ptr::null_mut() },
                suboffsets: ptr::null_mut(),
                internal: ptr::null_mut(),
            },
        );
    }
    0
}
