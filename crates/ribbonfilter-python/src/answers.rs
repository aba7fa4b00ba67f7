//! The results of a query of several keys, one per key, as a NumPy or an Arrow array.

use crate::arrow::ArrowArray;
use crate::keys::{Consumer, Piece};
use crate::objects::comes_from;
use arrow_array::{ArrayRef, BooleanArray, UInt64Array};
use arrow_buffer::{BooleanBuffer, NullBuffer};
use pyo3::exceptions::PyMemoryError;
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyDict, PyList};
use std::ops::Range;
use std::sync::Arc;

/// The type of array that is returned.
pub enum Form<'py> {
    Numpy,
    /// An array of the library that this object comes from.
    Arrow(Bound<'py, PyAny>),
}

/// The result for one key: membership or a number.
pub trait Answer: Copy + Default + Send {
    /// The name of its NumPy type.
    const DTYPE: &'static str;

    fn write(answers: &[Self], bytes: &mut [u8]);

    fn arrow(answers: &[Self], nulls: Option<NullBuffer>) -> ArrayRef;
}

impl Answer for bool {
    const DTYPE: &'static str = "bool";

    fn write(answers: &[Self], bytes: &mut [u8]) {
        bytes.iter_mut().zip(answers).for_each(|(byte, &answer)| *byte = answer.into());
    }

    fn arrow(answers: &[Self], nulls: Option<NullBuffer>) -> ArrayRef {
        Arc::new(BooleanArray::new(BooleanBuffer::from(answers), nulls))
    }
}

impl Answer for u64 {
    const DTYPE: &'static str = "uint64";

    fn write(answers: &[Self], bytes: &mut [u8]) {
        let words = bytes.chunks_exact_mut(8).zip(answers);
        words.for_each(|(word, answer)| word.copy_from_slice(&answer.to_ne_bytes()));
    }

    fn arrow(answers: &[Self], nulls: Option<NullBuffer>) -> ArrayRef {
        Arc::new(UInt64Array::new(answers.to_vec().into(), nulls))
    }
}

/// The results for several keys, one per key.
#[derive(Default)]
pub struct Answers<T> {
    answers: Vec<T>,
    /// The positions without a result, in ascending order.
    nulls: Vec<usize>,
}

/// A consumer that looks up hashes and collects the results. `query` writes one result per hash.
pub struct Querying<T, F> {
    pub answers: Answers<T>,
    query: F,
}

impl<T: Answer, F: FnMut(&[u64], &mut [T]) + Send> Querying<T, F> {
    pub fn new(answers: Answers<T>, query: F) -> Self {
        Self { answers, query }
    }
}

impl<T: Answer, F: FnMut(&[u64], &mut [T]) + Send> Consumer for Querying<T, F> {
    fn take(&mut self, piece: &Piece) {
        let Answers { answers, nulls } = &mut self.answers;
        let start = answers.len();
        answers.resize(start + piece.hashes.len(), T::default());
        (self.query)(&piece.hashes, &mut answers[start..]);
        for null in &piece.nulls {
            answers[start + null] = T::default();
            nulls.push(start + null);
        }
    }
}

impl<T: Answer> Answers<T> {
    /// No results yet, with capacity for `keys`. A failed allocation is a `MemoryError`.
    pub fn with_capacity(keys: usize) -> PyResult<Self> {
        let mut answers = Vec::new();
        answers.try_reserve_exact(keys).map_err(|_| PyMemoryError::new_err(()))?;
        Ok(Self { answers, nulls: Vec::new() })
    }

    /// Appends the results for the keys that follow.
    pub fn append(&mut self, more: Self) {
        let before = self.answers.len();
        self.answers.extend(more.answers);
        self.nulls.extend(more.nulls.into_iter().map(|null| before + null));
    }

    /// Marks the given positions as being without a result as well.
    pub fn without(mut self, absent: impl IntoIterator<Item = usize>) -> Self {
        self.nulls.extend(absent);
        self.nulls.sort_unstable();
        self.nulls.dedup();
        self
    }

    /// A NumPy array, with `False` or 0 where there is no result.
    pub fn to_numpy<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        to_numpy(py, &self.answers)
    }

    /// An array of the library that `origin` comes from, with null where there is no result. It has
    /// chunks of the given lengths if `origin` has chunks.
    pub fn to_arrow<'py>(
        &self,
        origin: &Bound<'py, PyAny>,
        lengths: impl Iterator<Item = usize>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = origin.py();
        if comes_from(origin, "polars") {
            let series = py.import("polars")?.getattr("Series")?;
            let series = series.call1((self.chunk(0..self.answers.len()),))?;
            return series.call_method1("alias", (origin.getattr("name")?,));
        }
        let Ok(pyarrow) = py.import("pyarrow") else {
            return Ok(Bound::new(py, self.chunk(0..self.answers.len()))?.into_any());
        };
        let array = |range| pyarrow.call_method1("array", (self.chunk(range),));
        if !origin.hasattr("chunks")? {
            return array(0..self.answers.len());
        }
        let mut start = 0;
        let chunks = PyList::empty(py);
        for length in lengths {
            chunks.append(array(start..start + length)?)?;
            start += length;
        }
        let options = PyDict::new(py);
        options.set_item("type", T::DTYPE)?;
        pyarrow.getattr("chunked_array")?.call((chunks,), Some(&options))
    }

    fn chunk(&self, range: Range<usize>) -> ArrowArray {
        let nulls = self.nulls_in(&range);
        ArrowArray(T::arrow(&self.answers[range], nulls))
    }

    fn nulls_in(&self, range: &Range<usize>) -> Option<NullBuffer> {
        let first = self.nulls.partition_point(|&null| null < range.start);
        let nulls = self.nulls[first..].iter().take_while(|&&null| null < range.end);
        let mut valid = vec![true; range.len()];
        let mut any = false;
        for null in nulls {
            valid[null - range.start] = false;
            any = true;
        }
        any.then(|| NullBuffer::from(valid))
    }
}

/// A NumPy array of the items.
pub fn to_numpy<'py, T: Answer>(py: Python<'py>, items: &[T]) -> PyResult<Bound<'py, PyAny>> {
    let bytes = PyByteArray::new_with(py, size_of_val(items), |bytes| {
        T::write(items, bytes);
        Ok(())
    })?;
    py.import("numpy")?.call_method1("frombuffer", (bytes, T::DTYPE))
}
