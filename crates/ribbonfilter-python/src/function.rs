//! The Python class `Function`.

use crate::buffer::Exported;
use crate::errors;
use crate::interrupt::watched;
use crate::keys::{Consumer, Keys, Nulls, Piece};
use crate::settings::{Settings, variant_name};
use crate::stored::{self, Bytes, Stored};
use crate::{numpy, objects};
use pyo3::exceptions::{PyKeyError, PyOverflowError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyMapping, PyType};
use ribbonfilter::FunctionBuilder;
use std::ffi::CStr;

#[pyclass(frozen, subclass, extends = Stored, module = "ribbonfilter", name = "_Function")]
pub struct Function(ribbonfilter::Function<Bytes>);

impl Exported for Function {
    const PYTHON_NAME: &'static CStr = c"ribbonfilter.Function";
    const PYTHON_DOC: &'static CStr = c"Function(data, /)\n--\n\n\
A static map from keys to integers of a fixed number of bits, which does not store the keys.

The lookup of a key of the map returns its value. The lookup of any other key returns an
arbitrary value, unless there are fingerprints: then it raises KeyError, except with
probability 2^-fingerprint_bits.

>>> ages = Function.build({\"ada\": 36, \"grace\": 85}, fingerprint_bits=20)
>>> ages[\"ada\"]
36
>>> ages.get(\"niklaus\") is None
True
>>> ages.values([\"grace\", \"ada\"]).tolist()
[85, 36]

A function is immutable, so threads can share it. It can be pickled, and
`memoryview(f)` gives access to its bytes without a copy. Functions are equal if their
bytes are, and unhashable.
";
}

#[pymethods]
impl Function {
    #[new]
    #[pyo3(signature = (data, /))]
    fn new(data: &Bound<'_, PyAny>) -> PyResult<PyClassInitializer<Self>> {
        let bytes = Bytes::of(data)?;
        let function = ribbonfilter::Function::open(bytes.clone()).map_err(errors::open)?;
        Ok(PyClassInitializer::from(Stored(bytes)).add_subclass(Self(function)))
    }

    /// Builds a function from a mapping, or from keys and the same number of values.
    ///
    /// Keys are those of `Filter.build`. Values are integers from 0 to 2^64 - 1, as a NumPy or
    /// Arrow array or any iterable. By default `value_bits` is what the largest value needs.
    /// With `fingerprint_bits` the lookup of an absent key fails, except with probability
    /// 2^-fingerprint_bits; the sum of both is at most 64. The other settings are those of
    /// `Filter.build`.
    ///
    /// >>> squares = Function.build(range(1000), [n * n for n in range(1000)])
    /// >>> squares[12]
    /// 144
    /// >>> squares.value_bits
    /// 20
    #[classmethod]
    #[pyo3(
        signature = (keys, values = None, *, value_bits = None, fingerprint_bits = 0, **settings),
        text_signature = "($cls, keys, values=None, *, value_bits=None, fingerprint_bits=0, variant=None, width=None, effort='normal', threads=0, key_seed=0, max_memory=None)"
    )]
    fn build<'py>(
        class: &Bound<'py, PyType>,
        keys: &Bound<'py, PyAny>,
        values: Option<Bound<'py, PyAny>>,
        value_bits: Option<u32>,
        fingerprint_bits: u32,
        settings: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let settings = Settings::of_function(settings)?;
        let (keys, values) = pairs(keys, values)?;
        let values = numbers(&values)?;
        let value_bits = value_bits.unwrap_or_else(|| bits_of(&values));
        let builder = settings.function_builder();
        let builder = builder.value_bits(value_bits).fingerprint_bits(fingerprint_bits);
        let mut pairs = Pairs { builder, values, taken: 0 };
        Keys::of(&keys, Nulls::Error, settings.key_seed())?.feed(class.py(), &mut pairs)?;
        stored::object(class, finish(class.py(), pairs.complete()?)?)
    }

    fn __getitem__(&self, key: &Bound<'_, PyAny>) -> PyResult<u64> {
        self.lookup(key)?.ok_or_else(|| PyKeyError::new_err(key.clone().unbind()))
    }

    /// The value of a key, or `default` if its fingerprint shows that it is absent.
    ///
    /// >>> ages = Function.build({"ada": 36}, fingerprint_bits=20)
    /// >>> ages.get("ada"), ages.get("niklaus", 0)
    /// (36, 0)
    #[pyo3(signature = (key, default = None))]
    fn get<'py>(
        &self,
        key: &Bound<'py, PyAny>,
        default: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        match self.lookup(key)? {
            Some(value) => Ok(Some(value.into_pyobject(key.py())?.into_any())),
            None => Ok(default),
        }
    }

    /// The values of several keys: a NumPy array of uint64, or an Arrow array if `keys` is one.
    ///
    /// The value of an absent key is arbitrary. If its fingerprint shows that it is absent, and for
    /// nulls with `nulls="skip"`, the result is 0, or null in an Arrow array; `found` reports these
    /// keys.
    ///
    /// >>> import numpy as np
    /// >>> squares = Function.build(np.arange(1000), np.arange(1000) ** 2)
    /// >>> squares.values(np.array([3, 5])).tolist()
    /// [9, 25]
    #[pyo3(signature = (keys, *, nulls = Nulls::Error), text_signature = "($self, keys, *, nulls='error')")]
    fn values<'py>(&self, keys: &Bound<'py, PyAny>, nulls: Nulls) -> PyResult<Bound<'py, PyAny>> {
        let py = keys.py();
        let mut keys = Keys::of(keys, nulls, self.0.key_seed())?;
        let (mut absent, mut position) = (Vec::new(), 0);
        let query = |hashes: &[u64], values: &mut [u64]| {
            if self.0.fingerprint_bits() == 0 {
                return self.0.get_hash_batch_into(hashes, values);
            }
            for (found, value) in self.0.lookup_hash_batch(hashes).into_iter().zip(values) {
                match found {
                    Some(found) => *value = found,
                    None => absent.push(position),
                }
                position += 1;
            }
        };
        let values = keys.query(py, query)?;
        keys.to_array(py, &values.without(absent))
    }

    /// Which of the keys might be in the map. Without fingerprints, these are all keys.
    ///
    /// >>> ages = Function.build({"ada": 36}, fingerprint_bits=20)
    /// >>> ages.found(["ada", "niklaus"]).tolist()
    /// [True, False]
    #[pyo3(signature = (keys, *, nulls = Nulls::Error), text_signature = "($self, keys, *, nulls='error')")]
    fn found<'py>(&self, keys: &Bound<'py, PyAny>, nulls: Nulls) -> PyResult<Bound<'py, PyAny>> {
        let py = keys.py();
        let mut keys = Keys::of(keys, nulls, self.0.key_seed())?;
        let query = |hashes: &[u64], hits: &mut [bool]| {
            let found = self.0.lookup_hash_batch(hashes);
            hits.iter_mut().zip(found).for_each(|(hit, value)| *hit = value.is_some());
        };
        let hits = keys.query(py, query)?;
        keys.to_array(py, &hits)
    }

    fn __len__(&self) -> usize {
        usize::try_from(self.0.len()).unwrap_or(usize::MAX)
    }

    /// The number of bits of a value.
    #[getter]
    fn value_bits(&self) -> u32 {
        self.0.value_bits()
    }

    /// The number of bits of a fingerprint.
    #[getter]
    fn fingerprint_bits(&self) -> u32 {
        self.0.fingerprint_bits()
    }

    /// The size in bits, divided by the number of keys.
    #[getter]
    fn bits_per_key(&self) -> f64 {
        self.0.bits_per_key()
    }

    /// The variant: "standard", "balanced" or "bumped".
    #[getter]
    fn variant(&self) -> String {
        variant_name(self.0.variant())
    }

    /// The ribbon width: 16, 32, 64 or 128.
    #[getter]
    fn width(&self) -> u32 {
        self.0.width().bits()
    }

    /// The seed of the hash function for keys.
    #[getter]
    fn key_seed(&self) -> u64 {
        self.0.key_seed()
    }

    /// Verifies the checksums of all bytes; raises FormatError if they are corrupt.
    ///
    /// >>> Function.build({"ada": 36}).verify()
    fn verify(&self, py: Python<'_>) -> PyResult<()> {
        py.detach(|| self.0.verify()).map_err(errors::open)
    }

    fn __repr__(&self) -> String {
        format!(
            "<ribbonfilter.Function: {} keys, {} + {} bits, {} w = {}, {} bytes>",
            self.0.len(),
            self.value_bits(),
            self.fingerprint_bits(),
            self.variant(),
            self.width(),
            self.0.size_in_bytes(),
        )
    }
}

impl Function {
    fn lookup(&self, key: &Bound<'_, PyAny>) -> PyResult<Option<u64>> {
        let (_, hash) = objects::key_hash(key, self.0.key_seed())?;
        Ok(self.0.lookup_hash(hash))
    }
}

/// A consumer that pairs hashes with values.
struct Pairs {
    builder: FunctionBuilder<'static>,
    values: Vec<u64>,
    taken: usize,
}

impl Consumer for Pairs {
    fn take(&mut self, piece: &Piece) {
        // If there are more keys than values, the rest is counted, for the error at the end.
        let values = self.values.get(self.taken..).unwrap_or_default();
        self.builder.extend_hashes(piece.hashes.iter().copied().zip(values.iter().copied()));
        self.taken += piece.hashes.len();
    }
}

impl Pairs {
    fn complete(self) -> PyResult<FunctionBuilder<'static>> {
        let (keys, values) = (self.taken, self.values.len());
        match keys == values {
            true => Ok(self.builder),
            false => Err(PyValueError::new_err(format!(
                "the numbers of keys and values must be equal, but there are {keys} keys and {values} values"
            ))),
        }
    }
}

/// Keys and values, from a mapping or from two arguments.
fn pairs<'py>(
    keys: &Bound<'py, PyAny>,
    values: Option<Bound<'py, PyAny>>,
) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
    match (values, keys.cast::<PyMapping>()) {
        (Some(values), _) => Ok((keys.clone(), values)),
        (None, Ok(mapping)) => Ok((mapping.keys()?.into_any(), mapping.values()?.into_any())),
        (None, Err(_)) => Err(PyTypeError::new_err("expected a mapping, or keys and values")),
    }
}

fn numbers(values: &Bound<'_, PyAny>) -> PyResult<Vec<u64>> {
    if let Some(numbers) = numpy::numbers(values)? {
        return Ok(numbers);
    }
    let number = |(position, value): (usize, PyResult<Bound<'_, PyAny>>)| {
        let value = value?;
        value.extract().map_err(|error: PyErr| {
            let text = format!(
                "a value must be an integer from 0 to 2^64 - 1, but the value at position {position} is {}",
                value.repr().map_or_else(|_| "another object".to_owned(), |text| text.to_string())
            );
            match error.is_instance_of::<PyOverflowError>(value.py()) {
                true => PyValueError::new_err(text),
                false => PyTypeError::new_err(text),
            }
        })
    };
    values.try_iter()?.enumerate().map(number).collect()
}

/// The number of bits of the largest value, at least one.
fn bits_of(values: &[u64]) -> u32 {
    let largest = values.iter().copied().max().unwrap_or_default();
    (u64::BITS - largest.leading_zeros()).max(1)
}

fn finish(py: Python<'_>, builder: FunctionBuilder<'_>) -> PyResult<Bytes> {
    let built = watched(py, |watch| builder.progress(|_| watch.check()).finish())?;
    Ok(built.into_inner().into())
}
