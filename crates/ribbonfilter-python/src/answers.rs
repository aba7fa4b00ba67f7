//! What goes back for several keys: one answer each, as a NumPy or an Arrow array.

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

/// In which form answers go back.
pub enum Form<'py> {
    Numpy,
    /// As the library that this object comes from has it.
    Arrow(Bound<'py, PyAny>),
}

/// An answer: whether a key is there, or a number.
pub trait Answer: Copy + Default + Send {
    /// The type that NumPy gives it.
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

/// One answer a key.
#[derive(Default)]
pub struct Answers<T> {
    answers: Vec<T>,
    /// Where nothing is to be answered, in order.
    nulls: Vec<usize>,
}

/// Who asks: `ask` fills as many answers as it is given hashes.
pub struct Asking<T, F> {
    pub answers: Answers<T>,
    ask: F,
}

impl<T: Answer, F: FnMut(&[u64], &mut [T]) + Send> Asking<T, F> {
    pub fn new(answers: Answers<T>, ask: F) -> Self {
        Self { answers, ask }
    }
}

impl<T: Answer, F: FnMut(&[u64], &mut [T]) + Send> Consumer for Asking<T, F> {
    fn take(&mut self, piece: &Piece) {
        let Answers { answers, nulls } = &mut self.answers;
        let start = answers.len();
        answers.resize(start + piece.hashes.len(), T::default());
        (self.ask)(&piece.hashes, &mut answers[start..]);
        for null in &piece.nulls {
            answers[start + null] = T::default();
            nulls.push(start + null);
        }
    }
}

impl<T: Answer> Answers<T> {
    /// None yet, with room for so many: memory that the system refuses is an exception.
    pub fn for_keys(keys: usize) -> PyResult<Self> {
        let mut answers = Vec::new();
        answers.try_reserve_exact(keys).map_err(|_| PyMemoryError::new_err(()))?;
        Ok(Self { answers, nulls: Vec::new() })
    }

    /// Adds the answers to the keys that follow.
    pub fn append(&mut self, more: Self) {
        let before = self.answers.len();
        self.answers.extend(more.answers);
        self.nulls.extend(more.nulls.into_iter().map(|null| before + null));
    }

    /// Also leaves these without an answer.
    pub fn without(mut self, absent: impl IntoIterator<Item = usize>) -> Self {
        self.nulls.extend(absent);
        self.nulls.sort_unstable();
        self.nulls.dedup();
        self
    }

    /// A NumPy array; nothing is answered with no, or 0.
    pub fn to_numpy<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        to_numpy(py, &self.answers)
    }

    /// An array of the library that `origin` comes from, in chunks of the same lengths if that
    /// has chunks; nothing is answered with null.
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

/// A NumPy array.
pub fn to_numpy<'py, T: Answer>(py: Python<'py>, items: &[T]) -> PyResult<Bound<'py, PyAny>> {
    let bytes = PyByteArray::new_with(py, size_of_val(items), |bytes| {
        T::write(items, bytes);
        Ok(())
    })?;
    py.import("numpy")?.call_method1("frombuffer", (bytes, T::DTYPE))
}
