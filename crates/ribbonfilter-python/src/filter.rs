//! The Python classes `Filter` and `Builder`.

use crate::buffer::Exported;
use crate::errors;
use crate::interrupt::watched;
use crate::keys::{Collector, Keys, Nulls};
use crate::objects::{self, Kind};
use crate::set::{self, Set};
use crate::settings::{Settings, variant_name};
use crate::stored::{self, Bytes, Stored};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyType};
use ribbonfilter::FilterBuilder;
use std::ffi::CStr;
use std::sync::{Mutex, PoisonError};

#[pyclass(frozen, subclass, extends = Stored, module = "ribbonfilter", name = "_Filter")]
pub struct Filter(ribbonfilter::Filter<Bytes>);

impl Exported for Filter {
    const PYTHON_NAME: &'static CStr = c"ribbonfilter.Filter";
    const PYTHON_DOC: &'static CStr = c"Filter(data, /)\n--\n\n\
A static set with approximate membership queries.

All keys of the set are reported as present. Any other key is reported as present with
probability `expected_rate`. Keys are str, bytes and int. `Filter.build` builds a filter,
`Filter.open` opens a file, `Filter(data)` takes the bytes of a filter.

>>> f = Filter.build([\"ada\", \"grace\", \"edsger\"], fpr=0.001)
>>> \"ada\" in f
True
>>> f.contains([\"ada\", \"niklaus\"]).tolist()
[True, False]
>>> len(f)
3

A filter is immutable, so threads can share it. It can be pickled, and
`memoryview(f)` gives access to its bytes without a copy. Filters are equal if their
bytes are, and unhashable.
";
}

#[pymethods]
impl Filter {
    #[new]
    #[pyo3(signature = (data, /))]
    fn new(data: &Bound<'_, PyAny>) -> PyResult<PyClassInitializer<Self>> {
        let bytes = Bytes::of(data)?;
        let filter = ribbonfilter::Filter::open(bytes.clone()).map_err(errors::open)?;
        Ok(PyClassInitializer::from(Stored(bytes)).add_subclass(Self(filter)))
    }

    /// Builds a filter from all keys.
    ///
    /// Keys are any iterable of str, bytes or int, all of one type; a NumPy array of integers or
    /// fixed-width bytes; or an Arrow array or series of integers, strings or binary (pyarrow,
    /// polars, pandas), which is read without a copy.
    ///
    /// Pass at most one target: `fpr` (the maximum false-positive rate, by default 0.01),
    /// `bits_per_key` or `total_bytes`. The planner chooses the `variant` ("standard",
    /// "homogeneous", "balanced", "bumped") and the `width` (16, 32, 64, 128) by default.
    /// `effort="thorough"` searches for the smallest filter, for filters that are built once and
    /// copied to many machines: small sets take up to about twice as long as with "normal".
    /// `threads=0` uses all CPUs; the bytes do not depend on the number of threads.
    /// `nulls="skip"` ignores nulls. A build that would need more than `max_memory` bytes raises
    /// MemoryError. `key_seed` is the seed of the hash function.
    ///
    /// >>> f = Filter.build(range(0, 1_000_000, 7), bits_per_key=8.2)
    /// >>> 700 in f
    /// True
    /// >>> f.bits_per_key <= 8.2
    /// True
    /// >>> Filter.build(["ada", None, "grace"], nulls="skip").contains(["grace"]).all().item()
    /// True
    #[classmethod]
    #[pyo3(
        signature = (keys, fpr = None, *, nulls = Nulls::Error, **settings),
        text_signature = "($cls, keys, fpr=None, *, bits_per_key=None, total_bytes=None, variant=None, width=None, effort='normal', threads=0, nulls='error', key_seed=0, max_memory=None)"
    )]
    fn build<'py>(
        class: &Bound<'py, PyType>,
        keys: &Bound<'py, PyAny>,
        fpr: Option<f64>,
        nulls: Nulls,
        settings: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let settings = Settings::of_filter(fpr, settings)?.checked()?;
        let mut builder = settings.filter_builder();
        Keys::of(keys, nulls, settings.key_seed())?.feed(class.py(), &mut builder)?;
        stored::object(class, finish(class.py(), builder)?)
    }

    fn __contains__(&self, key: &Bound<'_, PyAny>) -> PyResult<bool> {
        set::contains_one(&self.0, key)
    }

    /// Which of the keys might be in the set: a NumPy array of bool, or an Arrow array if `keys` is
    /// one. For a single key the result is a bool.
    ///
    /// With `nulls="skip"` the result for a null is null in an Arrow array and False in a NumPy
    /// array. Arrays are queried without the GIL, on the given number of threads; `threads=0` uses
    /// all CPUs.
    ///
    /// >>> import numpy as np
    /// >>> f = Filter.build(np.arange(1000, dtype=np.uint64))
    /// >>> f.contains(np.arange(5)).tolist()
    /// [True, True, True, True, True]
    #[pyo3(signature = (keys, *, nulls = Nulls::Error, threads = 1), text_signature = "($self, keys, *, nulls='error', threads=1)")]
    fn contains<'py>(
        &self,
        keys: &Bound<'py, PyAny>,
        nulls: Nulls,
        threads: usize,
    ) -> PyResult<Bound<'py, PyAny>> {
        set::contains(&self.0, keys, nulls, threads)
    }

    fn __len__(&self) -> usize {
        usize::try_from(self.0.len()).unwrap_or(usize::MAX)
    }

    /// The size in bits, divided by the number of keys.
    #[getter]
    fn bits_per_key(&self) -> f64 {
        self.0.bits_per_key()
    }

    /// The false-positive rate: the fraction of absent keys that are reported as present.
    #[getter]
    fn expected_rate(&self) -> f64 {
        self.0.expected_rate()
    }

    /// The variant: "standard", "homogeneous", "balanced" or "bumped".
    #[getter]
    fn variant(&self) -> String {
        variant_name(self.0.variant())
    }

    /// The ribbon width: 16, 32, 64 or 128.
    #[getter]
    fn width(&self) -> u32 {
        self.0.width().bits()
    }

    /// The mean number of columns: the bits that a query compares.
    #[getter]
    fn columns(&self) -> f64 {
        self.0.columns()
    }

    /// The seed of the hash function for keys.
    #[getter]
    fn key_seed(&self) -> u64 {
        self.0.key_seed()
    }

    /// Verifies the checksums of all bytes; raises FormatError if they are corrupt.
    ///
    /// >>> Filter.build(["ada"]).verify()
    fn verify(&self, py: Python<'_>) -> PyResult<()> {
        py.detach(|| self.0.verify()).map_err(errors::open)
    }

    /// The smallest filter of the same keys with at most this false-positive rate.
    ///
    /// >>> f = Filter.build(range(10_000), fpr=0.001)
    /// >>> f.shrink_to_rate(0.05).to_bytes() == Filter.build(range(10_000), fpr=0.05).to_bytes()
    /// True
    fn shrink_to_rate<'py>(slf: &Bound<'py, Self>, fpr: f64) -> PyResult<Bound<'py, PyAny>> {
        let filter = &slf.get().0;
        let smaller = slf.py().detach(|| filter.shrink_to_rate(fpr)).map_err(errors::shrink)?;
        stored::object(&slf.get_type(), smaller.into_inner())
    }

    /// The filter of the same keys with the lowest false-positive rate in at most `nbytes` bytes.
    ///
    /// >>> Filter.build(range(10_000)).shrink_to_bytes(5000).nbytes <= 5000
    /// True
    fn shrink_to_bytes<'py>(slf: &Bound<'py, Self>, nbytes: u64) -> PyResult<Bound<'py, PyAny>> {
        let filter = &slf.get().0;
        let smaller = slf.py().detach(|| filter.shrink_to_bytes(nbytes)).map_err(errors::shrink)?;
        stored::object(&slf.get_type(), smaller.into_inner())
    }

    /// Splits the filter into several: a key might be in the set if it might be in all of them.
    ///
    /// `columns` has the number of columns of each, which add up to those of this filter, rounded
    /// up.
    ///
    /// >>> f = Filter.build(range(1000), fpr=1 / 256)
    /// >>> coarse, fine = f.split_columns([3, 5])
    /// >>> 7 in coarse and 7 in fine
    /// True
    fn split_columns<'py>(
        slf: &Bound<'py, Self>,
        columns: Vec<u32>,
    ) -> PyResult<Bound<'py, PyList>> {
        let filter = &slf.get().0;
        let parts = slf.py().detach(|| filter.split_columns(&columns)).map_err(errors::shrink)?;
        let class = slf.get_type();
        let parts = parts.into_iter().map(|part| stored::object(&class, part.into_inner()));
        PyList::new(slf.py(), parts.collect::<PyResult<Vec<_>>>()?)
    }

    fn __repr__(&self) -> String {
        format!(
            "<ribbonfilter.Filter: {} keys, {} w = {}, {} bytes, rate {:.3e}>",
            self.0.len(),
            self.variant(),
            self.width(),
            self.0.size_in_bytes(),
            self.expected_rate(),
        )
    }
}

impl Set for ribbonfilter::Filter<Bytes> {
    fn key_seed(&self) -> u64 {
        self.key_seed()
    }

    fn contains_hash(&self, hash: u64) -> bool {
        self.contains_hash(hash)
    }

    fn contains_hash_batch_into(&self, hashes: &[u64], hits: &mut [bool]) {
        self.contains_hash_batch_into(hashes, hits);
    }
}

impl Collector for FilterBuilder<'_> {
    fn extend_hashes(&mut self, hashes: &[u64]) {
        self.extend_hashes(hashes.iter().copied());
    }
}

fn finish(py: Python<'_>, builder: FilterBuilder<'_>) -> PyResult<Bytes> {
    let built = watched(py, |watch| builder.progress(|_| watch.check()).finish())?;
    Ok(built.into_inner().into())
}

/// Collects keys incrementally and builds a filter from them.
///
/// Takes the settings of `Filter.build`. The builder stores 8 bytes per key.
///
/// >>> builder = Builder(fpr=0.001)
/// >>> builder.push("ada")
/// >>> builder.extend(["grace", "edsger"])
/// >>> len(builder)
/// 3
/// >>> "grace" in builder.finish()
/// True
#[pyclass(module = "ribbonfilter")]
pub struct Builder {
    settings: Settings,
    /// The kind of the keys so far.
    kind: Option<Kind>,
    /// `None` once the filter is built.
    builder: Mutex<Option<FilterBuilder<'static>>>,
}

impl Builder {
    /// PyO3 gives exclusive access to one thread at a time, so the mutex is never locked.
    fn unlocked(&mut self) -> &mut Option<FilterBuilder<'static>> {
        self.builder.get_mut().unwrap_or_else(PoisonError::into_inner)
    }

    fn unfinished(&mut self) -> PyResult<&mut FilterBuilder<'static>> {
        self.unlocked().as_mut().ok_or_else(finished)
    }
}

fn finished() -> PyErr {
    PyValueError::new_err("the builder has already built its filter: create another builder")
}

#[pymethods]
impl Builder {
    #[new]
    #[pyo3(
        signature = (fpr = None, **settings),
        text_signature = "(fpr=None, *, bits_per_key=None, total_bytes=None, variant=None, width=None, effort='normal', threads=0, key_seed=0, max_memory=None)"
    )]
    fn new(fpr: Option<f64>, settings: Option<&Bound<'_, PyDict>>) -> PyResult<Self> {
        let settings = Settings::of_filter(fpr, settings)?.checked()?;
        let builder = Mutex::new(Some(settings.filter_builder()));
        Ok(Self { settings, kind: None, builder })
    }

    /// Adds a key.
    fn push(&mut self, key: &Bound<'_, PyAny>) -> PyResult<()> {
        let (kind, hash) = objects::key_hash(key, self.settings.key_seed())?;
        objects::check_kind(&mut self.kind, kind)?;
        self.unfinished()?.push_hash(hash);
        Ok(())
    }

    /// Adds several keys, of any type that `Filter.build` accepts.
    ///
    /// If an iterable raises an exception, or one of its keys is invalid, the preceding keys have
    /// been added. If an array is invalid, no key has been added.
    #[pyo3(signature = (keys, *, nulls = Nulls::Error), text_signature = "($self, keys, *, nulls='error')")]
    fn extend(&mut self, keys: &Bound<'_, PyAny>, nulls: Nulls) -> PyResult<()> {
        let py = keys.py();
        let mut keys = Keys::of(keys, nulls, self.settings.key_seed())?;
        keys.kind = self.kind;
        let outcome = keys.feed(py, self.unfinished()?);
        self.kind = keys.kind;
        outcome
    }

    /// The number of keys added so far, duplicates included.
    fn __len__(&mut self) -> usize {
        let len = self.unlocked().as_ref().map_or(0, FilterBuilder::len);
        usize::try_from(len).unwrap_or(usize::MAX)
    }

    /// Builds the filter. The builder cannot be used afterwards.
    fn finish<'py>(&mut self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let builder = self.unlocked().take().ok_or_else(finished)?;
        let class = py.import("ribbonfilter")?.getattr("Filter")?.cast_into::<PyType>()?;
        stored::object(&class, finish(py, builder)?)
    }
}
