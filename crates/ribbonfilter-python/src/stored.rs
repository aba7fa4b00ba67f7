//! What filters, functions and shards share: bytes, which are in memory, mapped from a file, or
//! Python's own, and which can be opened, saved, copied, pickled and looked at.

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

/// The bytes of a filter, a function or shards, which objects share.
#[derive(Clone)]
pub struct Bytes(Arc<Place>);

enum Place {
    Built(OwnedBytes),
    Mapped(MappedBytes),
    Python(PyBackedBytes),
}

impl AsRef<[u8]> for Bytes {
    #[inline]
    fn as_ref(&self) -> &[u8] {
        match &*self.0 {
            Place::Built(bytes) => bytes.as_ref(),
            Place::Mapped(bytes) => bytes.as_ref(),
            Place::Python(bytes) => bytes,
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
        Self(Arc::new(Place::Built(bytes)))
    }
}

impl From<MappedBytes> for Bytes {
    fn from(bytes: MappedBytes) -> Self {
        Self(Arc::new(Place::Mapped(bytes)))
    }
}

impl Bytes {
    /// The bytes of an object: shared if it is one of ours or `bytes`, which never change, else
    /// copied.
    pub fn of(object: &Bound<'_, PyAny>) -> PyResult<Self> {
        if let Ok(stored) = object.cast::<Stored>() {
            return Ok(stored.get().0.clone());
        }
        if let Ok(bytes) = object.cast::<PyBytes>() {
            return Ok(Self(Arc::new(Place::Python(bytes.clone().into()))));
        }
        // `bytes(5)` would be five zeros, and `bytes([1, 2])` two numbers.
        let view = object.py().import("builtins")?.call_method1("memoryview", (object,));
        let view = view.map_err(|_| {
            PyTypeError::new_err(format!(
                "expected bytes, or an object with a buffer, but got {}",
                crate::objects::type_name(object)
            ))
        })?;
        let bytes = view.call_method0("tobytes")?.cast_into::<PyBytes>()?;
        Ok(Self(Arc::new(Place::Python(bytes.into()))))
    }

    /// The bytes of a file, mapped or read.
    fn of_file(path: &Path, mmap: bool) -> Result<Self, OpenError> {
        if path.is_dir() {
            return Err(is_a_folder().into());
        }
        if !mmap {
            return Ok(OwnedBytes::read_file(path)?.into());
        }
        #[expect(unsafe_code, reason = "a map is sound as long as its file does not change")]
        // SAFETY: `open` tells users that nobody may change the file. Those that write filters,
        // `save` and the command, replace files and never change them.
        let mapped = unsafe { MappedBytes::map_file(path)? };
        Ok(mapped.into())
    }
}

/// Bytes that were saved or could be: the base of `Filter`, `Function`, `Shards` and `Shard`.
#[pyclass(frozen, subclass, module = "ribbonfilter", name = "_Stored")]
pub struct Stored(pub Bytes);

/// An object of a class made of bytes, by the class itself, which checks them.
pub fn object<'py>(
    class: &Bound<'py, PyType>,
    bytes: impl Into<Bytes>,
) -> PyResult<Bound<'py, PyAny>> {
    class.call1((Bound::new(class.py(), Stored(bytes.into()))?,))
}

#[pymethods]
impl Stored {
    /// Makes an object of bytes: those of `to_bytes`, of a file, or any other buffer.
    ///
    /// `bytes` are not copied, other buffers are. Only the end is checked; `verify` checks all.
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
    /// With `mmap` nothing is read but what queries touch, and processes share it. Nobody may
    /// change or shorten the file meanwhile; it may be deleted, or replaced by another, as `save`
    /// and the command `ribbon` do. Without `mmap` it is read into memory.
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
        // The class knows what is wrong with the bytes, and not where they come from.
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

    /// Saves to a file, which is there whole or not at all; one that is there is replaced.
    ///
    /// A process that is killed meanwhile leaves a file `.ribbon-*.tmp` in the same folder, which
    /// can be deleted.
    ///
    /// >>> Filter.build(["ada"]).save("names.ribbon")
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        py.detach(|| write(&path, |mut file| file.write_all(self.0.as_ref())))
            .map_err(|error| errors::io(&error, &path))
    }

    /// A copy of the bytes. `memoryview(f)` shows them without one.
    ///
    /// >>> f = Filter.build(["ada"])
    /// >>> len(f.to_bytes()) == f.nbytes == len(memoryview(f))
    /// True
    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, self.0.as_ref())
    }

    /// All bytes, the fixed part included.
    #[getter]
    fn nbytes(&self) -> usize {
        self.0.as_ref().len()
    }

    /// Equal bytes are equal objects only among instances of one class. Other operands decide for
    /// themselves, and there is no order.
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
                // Mapped files can be large, and reading them slow.
                let (bytes, others) = (&slf.get().0, &other.get().0);
                let equal = py.detach(|| bytes == others);
                PyBool::new(py, equal == expected).to_owned().into_any()
            }
            _ => PyNotImplemented::get(py).to_owned().into_any(),
        }
    }

    /// Unhashable, like other objects that are compared by content: hashing would read all bytes.
    #[classattr]
    const __hash__: Option<Py<PyAny>> = None;

    /// For pickle and copy: the class, and the bytes.
    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyTuple>> {
        let arguments = PyTuple::new(slf.py(), [slf.get().to_bytes(slf.py())])?;
        PyTuple::new(slf.py(), [slf.get_type().into_any(), arguments.into_any()])
    }
}

/// Writes to a file beside the target and gives it the target's name when it is complete.
pub fn write<E: From<io::Error>>(
    target: &Path,
    fill: impl FnOnce(&File) -> Result<(), E>,
) -> Result<(), E> {
    // A link keeps pointing at the file that is replaced.
    let target = fs::canonicalize(target).unwrap_or_else(|_| target.to_owned());
    if target.is_dir() || target.file_name().is_none() {
        return Err(is_a_folder().into());
    }
    let folder = match target.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let draft = folder.join(draft_name());
    let outcome = write_new(&draft, fill).and_then(|()| Ok(fs::rename(&draft, &target)?));
    outcome.inspect_err(|_| drop(fs::remove_file(&draft)))?;
    // The name, too, shall outlast a loss of power, where a folder can be synced.
    if let Ok(folder) = File::open(folder) {
        let _ = folder.sync_all();
    }
    Ok(())
}

/// A name that no other draft has, of this process or another.
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

fn is_a_folder() -> io::Error {
    io::ErrorKind::IsADirectory.into()
}
