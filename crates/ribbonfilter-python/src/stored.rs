//! The common base of filters, functions, exact sets and shards: bytes, which are in memory, mapped
//! from a file, or owned by a Python object, and the methods to open, save, copy, compare and pickle
//! them.

use crate::errors;
use pyo3::basic::CompareOp;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyBool, PyBytes, PyNotImplemented, PyTuple, PyType};
use ribbonfilter::{MappedBytes, OpenError, OwnedBytes};
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

/// The bytes of a filter, a function, an exact set or shards. Clones share them.
#[derive(Clone)]
pub struct Bytes(Arc<Storage>);

enum Storage {
    Built(OwnedBytes),
    Mapped(MappedBytes),
    Python(PyBackedBytes),
}

impl AsRef<[u8]> for Bytes {
    #[inline]
    fn as_ref(&self) -> &[u8] {
        match &*self.0 {
            Storage::Built(bytes) => bytes.as_ref(),
            Storage::Mapped(bytes) => bytes.as_ref(),
            Storage::Python(bytes) => bytes,
        }
    }
}

impl PartialEq for Bytes {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || self.as_ref() == other.as_ref()
    }
}

impl From<OwnedBytes> for Bytes {
    fn from(bytes: OwnedBytes) -> Self {
        Self(Arc::new(Storage::Built(bytes)))
    }
}

impl From<MappedBytes> for Bytes {
    fn from(bytes: MappedBytes) -> Self {
        Self(Arc::new(Storage::Mapped(bytes)))
    }
}

impl Bytes {
    /// The bytes of an object. They are shared if it is a [`Stored`] or `bytes`, which are
    /// immutable, and copied otherwise.
    pub fn of(object: &Bound<'_, PyAny>) -> PyResult<Self> {
        if let Ok(stored) = object.cast::<Stored>() {
            return Ok(stored.get().0.clone());
        }
        if let Ok(bytes) = object.cast::<PyBytes>() {
            return Ok(Self(Arc::new(Storage::Python(bytes.clone().into()))));
        }
        // Not `bytes(object)`: `bytes(5)` is five zeros, and `bytes([1, 2])` is two bytes.
        let view = object.py().import("builtins")?.call_method1("memoryview", (object,));
        let view = view.map_err(|_| {
            PyTypeError::new_err(format!(
                "expected bytes or an object with the buffer protocol, but got {}",
                crate::objects::type_name(object)
            ))
        })?;
        let bytes = view.call_method0("tobytes")?.cast_into::<PyBytes>()?;
        Ok(Self(Arc::new(Storage::Python(bytes.into()))))
    }

    /// The bytes of a file, mapped or read.
    fn of_file(path: &Path, mmap: bool) -> Result<Self, OpenError> {
        if path.is_dir() {
            return Err(is_a_directory().into());
        }
        if !mmap {
            return Ok(OwnedBytes::read_file(path)?.into());
        }
        #[expect(unsafe_code, reason = "a map is sound as long as its file is not modified")]
        // SAFETY: the documentation of `open` requires that the file is not modified. `save` and
        // the command replace files and never modify them.
        let mapped = unsafe { MappedBytes::map_file(path)? };
        Ok(mapped.into())
    }
}

/// The base class of `Filter`, `Function`, `ExactSet`, `Shards` and `Shard`.
#[pyclass(frozen, subclass, module = "ribbonfilter", name = "_Stored")]
pub struct Stored(pub Bytes);

/// Creates an object of a class from bytes. The constructor of the class checks them.
pub fn object<'py>(
    class: &Bound<'py, PyType>,
    bytes: impl Into<Bytes>,
) -> PyResult<Bound<'py, PyAny>> {
    class.call1((Bound::new(class.py(), Stored(bytes.into()))?,))
}

#[pymethods]
impl Stored {
    /// Creates an object from bytes: the result of `to_bytes`, the content of a file, or any object
    /// with the buffer protocol.
    ///
    /// `bytes` objects are shared, other buffers are copied. Only the footer is checked; `verify`
    /// checks all bytes.
    ///
    /// >>> f = Filter.from_bytes(Filter.build(["ada"]).to_bytes())
    /// >>> "ada" in f
    /// True
    #[classmethod]
    fn from_bytes<'py>(
        class: &Bound<'py, PyType>,
        data: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        class.call1((data,))
    }

    /// Opens a file.
    ///
    /// With `mmap=True` the file is mapped: only the pages that queries access are read, and
    /// processes share them. The file must not be modified or truncated while it is mapped. It may
    /// be deleted, or replaced by another file, as `save` and the command `ribbon` do. With
    /// `mmap=False` the file is read into memory.
    ///
    /// >>> f = Filter.build(["ada", "grace"])
    /// >>> f.save("names.ribbon")
    /// >>> "ada" in Filter.open("names.ribbon")
    /// True
    #[classmethod]
    #[pyo3(signature = (path, mmap = true))]
    pub fn open<'py>(
        class: &Bound<'py, PyType>,
        path: PathBuf,
        mmap: bool,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = class.py();
        let bytes = py.detach(|| Bytes::of_file(&path, mmap)).map_err(|error| match error {
            OpenError::Io(error) => errors::io(&error, &path),
            error => errors::open(error),
        })?;
        // The constructor does not know the path: add it to the message.
        object(class, bytes).map_err(|error| {
            match error.is_instance_of::<errors::FormatError>(py) {
                true => {
                    let text = format!("{}: {}", path.display(), error.value(py));
                    errors::FormatError::new_err(text)
                }
                false => error,
            }
        })
    }

    /// Saves to a file. The file is written completely or not at all; an existing file is replaced.
    ///
    /// A process that is killed during the call leaves a file `.ribbon-*.tmp` in the same
    /// directory, which can be deleted.
    ///
    /// >>> Filter.build(["ada"]).save("names.ribbon")
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        py.detach(|| write(&path, |mut file| file.write_all(self.0.as_ref())))
            .map_err(|error| errors::io(&error, &path))
    }

    /// A copy of the bytes. `memoryview(f)` gives access to them without a copy.
    ///
    /// >>> f = Filter.build(["ada"])
    /// >>> len(f.to_bytes()) == f.nbytes == len(memoryview(f))
    /// True
    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, self.0.as_ref())
    }

    /// The size in bytes, the footer included.
    #[getter]
    fn nbytes(&self) -> usize {
        self.0.as_ref().len()
    }

    /// Objects are equal if they have the same class and the same bytes. For any other type the
    /// other operand decides, and there is no order.
    fn __richcmp__<'py>(
        slf: &Bound<'py, Self>,
        other: &Bound<'py, PyAny>,
        op: CompareOp,
    ) -> Bound<'py, PyAny> {
        let py = slf.py();
        let expected = match op {
            CompareOp::Eq => true,
            CompareOp::Ne => false,
            _ => return PyNotImplemented::get(py).to_owned().into_any(),
        };
        match other.cast::<Self>() {
            Ok(other) if slf.get_type().is(other.get_type()) => {
                // Without the GIL, since the bytes may have to be read from a large file.
                let (bytes, others) = (&slf.get().0, &other.get().0);
                let equal = py.detach(|| bytes == others);
                PyBool::new(py, equal == expected).to_owned().into_any()
            }
            _ => PyNotImplemented::get(py).to_owned().into_any(),
        }
    }

    /// Unhashable: a hash that agrees with `==` would have to read all bytes.
    #[classattr]
    const __hash__: Option<Py<PyAny>> = None;

    /// For `pickle` and `copy`: the class and the bytes.
    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyTuple>> {
        let arguments = PyTuple::new(slf.py(), [slf.get().to_bytes(slf.py())])?;
        PyTuple::new(slf.py(), [slf.get_type().into_any(), arguments.into_any()])
    }
}

/// Writes to a temporary file in the target's directory and renames it to the target when it is
/// complete.
pub fn write<E: From<io::Error>>(
    target: &Path,
    fill: impl FnOnce(&File) -> Result<(), E>,
) -> Result<(), E> {
    // If the target is a symbolic link, the file that it points to is replaced.
    let target = fs::canonicalize(target).unwrap_or_else(|_| target.to_owned());
    if target.is_dir() || target.file_name().is_none() {
        return Err(is_a_directory().into());
    }
    let directory = match target.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let draft = directory.join(draft_name());
    let outcome = write_new(&draft, fill).and_then(|()| Ok(fs::rename(&draft, &target)?));
    outcome.inspect_err(|_| drop(fs::remove_file(&draft)))?;
    // Makes the new name durable as well, on systems that can sync a directory.
    if let Ok(directory) = File::open(directory) {
        let _ = directory.sync_all();
    }
    Ok(())
}

/// A file name that is unique among the drafts of this process and of others.
fn draft_name() -> String {
    static DRAFTS: AtomicU64 = AtomicU64::new(0);
    let number = DRAFTS.fetch_add(1, Ordering::Relaxed);
    let time = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
    format!(".ribbon-{}-{number}-{time}.tmp", std::process::id())
}

fn write_new<E: From<io::Error>>(
    path: &Path,
    fill: impl FnOnce(&File) -> Result<(), E>,
) -> Result<(), E> {
    let file = File::create_new(path)?;
    fill(&file)?;
    Ok(file.sync_all()?)
}

fn is_a_directory() -> io::Error {
    io::ErrorKind::IsADirectory.into()
}
