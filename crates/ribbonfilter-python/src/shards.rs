//! The Python classes `Shards` and `Shard`, and the assignment of keys to shards.

use crate::answers::to_numpy;
use crate::buffer::Exported;
use crate::errors;
use crate::interrupt::watched;
use crate::keys::{Collector, Keys, Nulls};
use crate::set::{self, Set};
use crate::settings::{Settings, ShardCount, bits_of, variant_name};
use crate::stored::{self, Bytes, Stored};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyType};
use ribbonfilter::{JoinError, ShardBuilder, ShardsBuilder, Split};
use std::ffi::CStr;
use std::path::{Path, PathBuf};

#[pyclass(frozen, subclass, extends = Stored, module = "ribbonfilter", name = "_Shards")]
pub struct Shards(ribbonfilter::Shards<Bytes>);

impl Exported for Shards {
    const PYTHON_NAME: &'static CStr = c"ribbonfilter.Shards";
    const PYTHON_DOC: &'static CStr = c"Shards(data, /)\n--\n\n\
A static set in shards: a container of filters, which is queried like a single filter.

For sets that exceed one machine or are distributed over several processes: each shard is built
from the hashes of its own keys, in any process, and `Shards.assemble` makes one container of
all shards. It has the same bytes as `Shards.build` makes from the same keys in one process.

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
    /// Keys are those of `Filter.build`. `shards` is a power of two up to 2^24: the keys are split
    /// by hash. With `shards="until-full"` there are as many small standard shards as it takes,
    /// each filled until it is full. Pass at most one target: `fpr` (the maximum false-positive
    /// rate of every shard, by default 0.01), `columns`, or `shard_bytes`, which is the exact size
    /// of every shard by hash. The default `variant` is "bumped" for any number of keys, because a
    /// shard does not know that number. The other settings are those of `Filter.build`.
    ///
    /// >>> f = Shards.build(range(100_000), shards=16)
    /// >>> 4711 in f, f.variant
    /// (True, 'bumped')
    /// >>> Shards.build(range(100_000), shards="until-full", width=64).shard_count > 90
    /// True
    #[classmethod]
    #[pyo3(
        signature = (keys, fpr = None, *, shards, nulls = Nulls::Error, **settings),
        text_signature = "($cls, keys, fpr=None, *, shards, columns=None, shard_bytes=None, variant=None, width=None, effort='normal', threads=0, nulls='error', key_seed=0)"
    )]
    fn build<'py>(
        class: &Bound<'py, PyType>,
        keys: &Bound<'py, PyAny>,
        fpr: Option<f64>,
        shards: ShardCount,
        nulls: Nulls,
        settings: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = class.py();
        let settings = Settings::of_shards(fpr, settings)?;
        let mut builder = settings.shards_builder(shards)?;
        Keys::of(keys, nulls, settings.key_seed())?.feed(py, &mut builder)?;
        let built = watched(py, |watch| builder.progress(|_| watch.check()).finish())?;
        stored::object(class, built.into_inner())
    }

    /// Assembles a set from all its shards, in any order.
    ///
    /// With a `path` the set is written to that file, completely or not at all, and opened. If the
    /// shards were opened from files, the set need not fit in memory.
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
            return stored::object(class, assembled.map_err(errors::join)?.into_inner());
        };
        py.detach(|| write(&path, shards)).map_err(|error| match error {
            JoinError::Io(error) => errors::io(&error, &path),
            error => errors::join(error),
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

    /// Verifies the checksums of all bytes; raises FormatError, with the number of the shard, if
    /// they are corrupt.
    ///
    /// >>> Shards.build(["ada"], shards=2).verify()
    fn verify(&self, py: Python<'_>) -> PyResult<()> {
        py.detach(|| self.0.verify()).map_err(errors::open)
    }

    fn __repr__(&self) -> String {
        format!(
            "<ribbonfilter.Shards: {} keys in {} shards, {} w = {}, {} bytes, rate {:.3e}>",
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

fn write(path: &Path, shards: Vec<ribbonfilter::Shard<Bytes>>) -> Result<(), JoinError> {
    stored::write(path, |file| ribbonfilter::Shards::assemble_to(shards, file).map(|_| ()))
}

#[pyclass(frozen, subclass, extends = Stored, module = "ribbonfilter", name = "_Shard")]
pub struct Shard(ribbonfilter::Shard<Bytes>);

impl Exported for Shard {
    const PYTHON_NAME: &'static CStr = c"ribbonfilter.Shard";
    const PYTHON_DOC: &'static CStr = c"Shard(data, /)\n--\n\n\
One shard of a set, built from the hashes of its own keys.

The bytes depend only on those hashes and the settings, not on the process that builds the
shard. A shard can be pickled, saved and opened; `Shards.assemble` makes a set from all shards.
Shards are equal if their bytes are, and unhashable.

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

    /// Builds the shard with the given number, counted from 0.
    ///
    /// `hashes` is an iterable of NumPy arrays from `hash_and_shard` or `key_hash`; hashes of other
    /// shards are ignored. The settings are those of `Shards.build` and must be the same for all
    /// shards. `key_seed` must be the seed that the hashes were computed with, which cannot be
    /// checked here.
    ///
    /// >>> shard = Shard.build(3, [key_hash(range(1000))], shards=4)
    /// >>> shard.number, shard.shard_count
    /// (3, 4)
    #[classmethod]
    #[pyo3(
        signature = (number, hashes, fpr = None, *, shards, **settings),
        text_signature = "($cls, number, hashes, fpr=None, *, shards, columns=None, shard_bytes=None, variant=None, width=None, effort='normal', threads=0, key_seed=0)"
    )]
    fn build<'py>(
        class: &Bound<'py, PyType>,
        number: u64,
        hashes: &Bound<'py, PyAny>,
        fpr: Option<f64>,
        shards: ShardCount,
        settings: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = class.py();
        let builder = Settings::of_shards(fpr, settings)?.shards_builder(shards)?;
        let mut builder = builder.only(number).map_err(errors::build)?;
        for array in hashes.try_iter()? {
            Keys::of_hashes(&array?)?.feed(py, &mut builder)?;
        }
        let built = watched(py, |watch| builder.progress(|_| watch.check()).finish())?;
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

    /// The number of shards of the set.
    #[getter]
    fn shard_count(&self) -> u64 {
        self.0.shard_count()
    }

    /// Verifies the checksums of all bytes; raises FormatError if they are corrupt.
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

/// The hashes of keys, as one NumPy array of uint64 per shard, for `Shard.build`.
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
    // Rejects too many shards before a list of that length is allocated.
    ribbonfilter::Shards::builder(split).check().map_err(errors::build)?;
    let mut pieces = Pieces { split, hashes: vec![Vec::new(); shards as usize] };
    Keys::of(keys, nulls, key_seed)?.feed(py, &mut pieces)?;
    let arrays = pieces.hashes.iter().map(|hashes| to_numpy(py, hashes));
    PyList::new(py, arrays.collect::<PyResult<Vec<_>>>()?)
}

/// A consumer that groups hashes by shard.
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
