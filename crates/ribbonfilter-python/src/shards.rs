//! What Python sees of sets in shards: `Shards`, `Shard`, and how keys get to their shard.

use crate::answers::to_numpy;
use crate::buffer::Exported;
use crate::errors;
use crate::interrupt::watched;
use crate::keys::{Collector, Keys, Nulls};
use crate::set::{self, Set};
use crate::settings::{Settings, bits_of, variant_name};
use crate::stored::{self, Bytes, Stored};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyType};
use ribbonfilter::{AssembleError, ShardBuilder, ShardsBuilder, Split};
use std::ffi::CStr;
use std::path::{Path, PathBuf};

#[pyclass(frozen, subclass, extends = Stored, module = "ribbonfilter", name = "_Shards")]
pub struct Shards(ribbonfilter::Shards<Bytes>);

impl Exported for Shards {
    const PYTHON_NAME: &'static CStr = c"ribbonfilter.Shards";
    const PYTHON_DOC: &'static CStr = c"Shards(data, /)\n--\n\n\
A static set in shards: one file of many filters, asked like one.

For keys that exceed a machine or lie with several processes: each shard is built from the
hashes of its keys alone, anywhere, and `Shards.assemble` makes one file of all. Its bytes are
those that `Shards.build` makes of the same keys in one process.

>>> f = Shards.build([\"ada\", \"grace\", \"edsger\"], fpr=0.001, shards=4)
>>> \"ada\" in f
True
>>> f.contains([\"ada\", \"niklaus\"]).tolist()
[True, False]
>>> f.shard_count, len(f)
(4, 3)

Like a filter it is immutable, so threads can share it. It can be pickled, and
`memoryview(f)` gives access to its bytes without a copy. Sets in shards are equal if
their bytes are, and unhashable.
";
}

#[pymethods]
impl Shards {
    #[new]
    #[pyo3(signature = (data, /))]
    fn new(data: &Bound<'_, PyAny>) -> PyResult<PyClassInitializer<Self>> {
        let bytes = Bytes::of(data)?;
        let shards = ribbonfilter::Shards::open(bytes.clone()).map_err(errors::open)?;
        Ok(PyClassInitializer::from(Stored(bytes)).add_subclass(Self(shards)))
    }

    /// Builds a set in shards, in this process.
    ///
    /// Keys are those of `Filter.build`. `shards` is a power of two up to 2^24. Of `fpr` (at most
    /// this in every shard; 0.01 without any) and `columns` give one. Without a `variant` it is
    /// "bumped", whatever the number of keys, which no single shard knows. The other settings are
    /// those of `Filter.build`.
    ///
    /// >>> f = Shards.build(range(100_000), shards=16)
    /// >>> 4711 in f, f.variant
    /// (True, 'bumped')
    #[classmethod]
    #[pyo3(
        signature = (keys, fpr = None, *, shards, nulls = Nulls::Error, **settings),
        text_signature = "($cls, keys, fpr=None, *, shards, columns=None, variant=None, width=None, effort='normal', threads=0, nulls='error', key_seed=0)"
    )]
    fn build<'py>(
        class: &Bound<'py, PyType>,
        keys: &Bound<'py, PyAny>,
        fpr: Option<f64>,
        shards: u64,
        nulls: Nulls,
        settings: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = class.py();
        let settings = Settings::of_shards(fpr, settings)?;
        let mut builder = settings.shards_builder(shards)?;
        Keys::of(keys, nulls, settings.key_seed)?.feed(py, &mut builder)?;
        let built = watched(py, |watch| builder.progress(|_| watch.look()).finish())?;
        stored::object(class, built.into_inner())
    }

    /// Makes one set of all its shards, given in any order.
    ///
    /// With a `path` it is written there, whole or not at all, and opened; it need not fit in
    /// memory if the shards were opened from files.
    ///
    /// >>> keys = ["ada", "grace", "edsger"]
    /// >>> shards = [Shard.build(n, [key_hash(keys)], shards=2) for n in range(2)]
    /// >>> Shards.assemble(shards).to_bytes() == Shards.build(keys, shards=2).to_bytes()
    /// True
    #[classmethod]
    #[pyo3(signature = (shards, path = None))]
    fn assemble<'py>(
        class: &Bound<'py, PyType>,
        shards: &Bound<'py, PyAny>,
        path: Option<PathBuf>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = class.py();
        let shards: Vec<_> =
            shards.try_iter()?.map(|shard| open(&shard?)).collect::<PyResult<_>>()?;
        let Some(path) = path else {
            let assembled = py.detach(|| ribbonfilter::Shards::assemble(shards));
            return stored::object(class, assembled.map_err(errors::assemble)?.into_inner());
        };
        py.detach(|| write(&path, shards)).map_err(|error| match error {
            AssembleError::Io(error) => errors::io(&error, &path),
            error => errors::assemble(error),
        })?;
        Stored::open(class, path, true)
    }

    fn __contains__(&self, key: &Bound<'_, PyAny>) -> PyResult<bool> {
        set::contains_one(&self.0, key)
    }

    /// Which of the keys might be in the set: see `Filter.contains`.
    ///
    /// >>> Shards.build([3, 5, 7], shards=2).contains([3, 5]).tolist()
    /// [True, True]
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

    /// The number of shards.
    #[getter]
    fn shard_count(&self) -> u64 {
        self.0.shard_count()
    }

    /// All stored bits over the number of keys.
    #[getter]
    fn bits_per_key(&self) -> f64 {
        self.0.bits_per_key()
    }

    /// The false-positive rate: the share of absent keys that are reported as present.
    #[getter]
    fn expected_rate(&self) -> f64 {
        self.0.expected_rate()
    }

    /// The variant of all shards: "standard", "homogeneous", "balanced" or "bumped".
    #[getter]
    fn variant(&self) -> String {
        variant_name(self.0.variant())
    }

    /// The ribbon width of all shards: 16, 32, 64 or 128.
    #[getter]
    fn width(&self) -> u32 {
        self.0.width().bits()
    }

    /// The mean number of columns: bits that a query compares.
    #[getter]
    fn columns(&self) -> f64 {
        self.0.columns()
    }

    /// The seed under which keys are hashed.
    #[getter]
    fn key_seed(&self) -> u64 {
        self.0.key_seed()
    }

    /// Checks every byte against the checksums; raises FormatError, which names the shard, if one
    /// was altered.
    ///
    /// >>> Shards.build(["ada"], shards=2).verify()
    fn verify(&self, py: Python<'_>) -> PyResult<()> {
        py.detach(|| self.0.verify()).map_err(errors::open)
    }

    fn __repr__(&self) -> String {
        format!(
            "<ribbonfilter.Shards: {} keys in {} shards, {} w = {}, {} bytes, a rate of {:.3e}>",
            self.0.len(),
            self.shard_count(),
            self.variant(),
            self.width(),
            self.0.size_in_bytes(),
            self.expected_rate(),
        )
    }
}

impl Set for ribbonfilter::Shards<Bytes> {
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

impl Collector for ShardsBuilder<'_> {
    fn extend_hashes(&mut self, hashes: &[u64]) {
        self.extend_hashes(hashes.iter().copied());
    }
}

fn open(shard: &Bound<'_, PyAny>) -> PyResult<ribbonfilter::Shard<Bytes>> {
    ribbonfilter::Shard::open(Bytes::of(shard)?).map_err(errors::open)
}

fn write(path: &Path, shards: Vec<ribbonfilter::Shard<Bytes>>) -> Result<(), AssembleError> {
    stored::write(path, |file| ribbonfilter::Shards::assemble_to(shards, file).map(|_| ()))
}

#[pyclass(frozen, subclass, extends = Stored, module = "ribbonfilter", name = "_Shard")]
pub struct Shard(ribbonfilter::Shard<Bytes>);

impl Exported for Shard {
    const PYTHON_NAME: &'static CStr = c"ribbonfilter.Shard";
    const PYTHON_DOC: &'static CStr = c"Shard(data, /)\n--\n\n\
One shard of a set, built from the hashes of its keys alone.

Its bytes follow from those hashes and the settings, whatever process builds it and however
often. It can be pickled, saved and opened; `Shards.assemble` makes a set of all. Shards are
equal if their bytes are, and unhashable.

>>> hashes = hash_and_shard([\"ada\", \"grace\", \"edsger\"], shards=2)
>>> shards = [Shard.build(n, [hashes[n]], shards=2) for n in range(2)]
>>> \"ada\" in Shards.assemble(shards)
True
";
}

#[pymethods]
impl Shard {
    #[new]
    #[pyo3(signature = (data, /))]
    fn new(data: &Bound<'_, PyAny>) -> PyResult<PyClassInitializer<Self>> {
        let bytes = Bytes::of(data)?;
        let shard = ribbonfilter::Shard::open(bytes.clone()).map_err(errors::open)?;
        Ok(PyClassInitializer::from(Stored(bytes)).add_subclass(Self(shard)))
    }

    /// Builds the shard of a number, counted from 0.
    ///
    /// `hashes` is an iterable of NumPy arrays, as `hash_and_shard` gives them; those of other
    /// shards are passed over. All shards need the same settings, which are those of
    /// `Shards.build`.
    ///
    /// >>> shard = Shard.build(3, [key_hash(range(1000))], shards=4)
    /// >>> shard.number, shard.shard_count
    /// (3, 4)
    #[classmethod]
    #[pyo3(
        signature = (number, hashes, fpr = None, *, shards, **settings),
        text_signature = "($cls, number, hashes, fpr=None, *, shards, columns=None, variant=None, width=None, effort='normal', threads=0, key_seed=0)"
    )]
    fn build<'py>(
        class: &Bound<'py, PyType>,
        number: u64,
        hashes: &Bound<'py, PyAny>,
        fpr: Option<f64>,
        shards: u64,
        settings: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = class.py();
        let builder = Settings::of_shards(fpr, settings)?.shards_builder(shards)?;
        let mut builder = builder.only(number).map_err(errors::build)?;
        for array in hashes.try_iter()? {
            Keys::of_hashes(&array?)?.feed(py, &mut builder)?;
        }
        let built = watched(py, |watch| builder.progress(|_| watch.look()).finish())?;
        stored::object(class, built.into_inner())
    }

    fn __len__(&self) -> usize {
        usize::try_from(self.0.len()).unwrap_or(usize::MAX)
    }

    /// The number of the shard, counted from 0.
    #[getter]
    fn number(&self) -> u64 {
        self.0.number()
    }

    /// How many shards its set has.
    #[getter]
    fn shard_count(&self) -> u64 {
        self.0.shard_count()
    }

    /// Checks every byte against the checksums; raises FormatError if one was altered.
    ///
    /// >>> Shard.build(0, [], shards=1).verify()
    fn verify(&self, py: Python<'_>) -> PyResult<()> {
        py.detach(|| self.0.verify()).map_err(errors::open)
    }

    fn __repr__(&self) -> String {
        format!(
            "<ribbonfilter.Shard: number {} of {}, {} keys, {} bytes>",
            self.number(),
            self.shard_count(),
            self.0.len(),
            self.0.as_bytes().len(),
        )
    }
}

impl Collector for ShardBuilder<'_> {
    fn extend_hashes(&mut self, hashes: &[u64]) {
        self.extend_hashes(hashes.iter().copied());
    }
}

/// The hashes of keys, a NumPy array of uint64 for each shard: what `Shard.build` takes.
///
/// Keys are those of `Filter.build`.
///
/// >>> hashes = hash_and_shard(["ada", "grace", "edsger"], shards=4)
/// >>> len(hashes), sum(len(piece) for piece in hashes)
/// (4, 3)
#[pyfunction]
#[pyo3(signature = (keys, *, shards, key_seed = 0, nulls = Nulls::Error), text_signature = "(keys, *, shards, key_seed=0, nulls='error')")]
pub fn hash_and_shard<'py>(
    keys: &Bound<'py, PyAny>,
    shards: u64,
    key_seed: u64,
    nulls: Nulls,
) -> PyResult<Bound<'py, PyList>> {
    let py = keys.py();
    let split = Split::ByHash { bits: bits_of(shards)? };
    // Refuses too many shards before there is a list of them.
    ribbonfilter::Shards::builder(split).check().map_err(errors::build)?;
    let mut pieces = Pieces { split, hashes: vec![Vec::new(); shards as usize] };
    Keys::of(keys, nulls, key_seed)?.feed(py, &mut pieces)?;
    let arrays = pieces.hashes.iter().map(|hashes| to_numpy(py, hashes));
    PyList::new(py, arrays.collect::<PyResult<Vec<_>>>()?)
}

/// Hashes by their shards.
struct Pieces {
    split: Split,
    hashes: Vec<Vec<u64>>,
}

impl Collector for Pieces {
    fn extend_hashes(&mut self, hashes: &[u64]) {
        for &hash in hashes {
            let shard = self.split.shard_of_hash(hash).unwrap_or(0);
            self.hashes[shard as usize].push(hash);
        }
    }
}
