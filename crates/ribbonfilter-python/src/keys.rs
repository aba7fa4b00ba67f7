//! What can be several keys, and how they travel: as hashes, a [`Piece`] at a time.
//!
//! Keys are a column in memory (NumPy, Arrow), which is hashed without the GIL, or any other
//! iterable of Python objects, which is not. The position of a key counts from 0, nulls included.

use crate::answers::{Answer, Answers, Asking, Form};
use crate::objects::{self, Kind};
use crate::{arrow, numpy, parallel};
use arrow_buffer::NullBuffer;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyIterator;
use std::ops::Range;

/// The keys that are hashed before they are used: their hashes stay in the first cache.
const PIECE: usize = 2048;

/// The keys of a column between two looks for Ctrl-C.
const STRETCH: usize = 1 << 22;

/// What to do about nulls.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Nulls {
    Error,
    Skip,
}

impl<'py> FromPyObject<'_, 'py> for Nulls {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        match &*object.str()?.to_cow()? {
            "error" => Ok(Self::Error),
            "skip" => Ok(Self::Skip),
            other => Err(PyValueError::new_err(format!(
                "nulls must be \"error\" or \"skip\", but is {other:?}"
            ))),
        }
    }
}

/// The hashes of some keys that follow each other.
#[derive(Default)]
pub struct Piece {
    /// Of a null, any number.
    pub hashes: Vec<u64>,
    /// Where the nulls are, in order.
    pub nulls: Vec<usize>,
}

impl Piece {
    /// The hashes between the nulls.
    pub fn runs(&self) -> impl Iterator<Item = &[u64]> {
        let starts = std::iter::once(0).chain(self.nulls.iter().map(|null| null + 1));
        let ends = self.nulls.iter().copied().chain([self.hashes.len()]);
        starts.zip(ends).map(|(start, end)| &self.hashes[start..end])
    }

    fn clear(&mut self) {
        self.hashes.clear();
        self.nulls.clear();
    }

    fn push_null(&mut self) {
        self.nulls.push(self.hashes.len());
        self.hashes.push(0);
    }
}

/// Who uses the hashes.
pub trait Consumer: Send {
    fn take(&mut self, piece: &Piece);
}

/// A builder: whatever collects hashes, those between the nulls.
pub trait Collector: Send {
    fn extend_hashes(&mut self, hashes: &[u64]);
}

impl<C: Collector> Consumer for C {
    fn take(&mut self, piece: &Piece) {
        piece.runs().for_each(|run| self.extend_hashes(run));
    }
}

/// Keys in memory that needs no GIL.
pub trait Column: Send + Sync {
    fn len(&self) -> usize;

    /// The kind of its keys; nothing if all are nulls.
    fn kind(&self) -> Option<Kind>;

    fn nulls(&self) -> Option<&NullBuffer>;

    /// Appends the hashes of the keys in `range`; of a null, any number.
    fn hash(&self, range: Range<usize>, hashes: &mut Vec<u64>);
}

/// Several keys that Python gave.
pub struct Keys<'py> {
    source: Source<'py>,
    nulls: Nulls,
    key_seed: u64,
    /// The kind that keys have had so far.
    pub kind: Option<Kind>,
}

enum Source<'py> {
    Columns { columns: Vec<Box<dyn Column>>, form: Form<'py> },
    Objects(Bound<'py, PyIterator>),
}

impl<'py> Keys<'py> {
    /// Finds out what the object holds; nothing is hashed yet.
    pub fn of(object: &Bound<'py, PyAny>, nulls: Nulls, key_seed: u64) -> PyResult<Self> {
        if objects::is_key(object) {
            return Err(PyTypeError::new_err(format!(
                "expected several keys but got one, of type {}: put it in a list",
                objects::type_name(object)
            )));
        }
        Ok(Self { source: Source::of(object, key_seed)?, nulls, key_seed, kind: None })
    }

    /// Keys that were hashed already: a NumPy array of uint64.
    pub fn of_hashes(array: &Bound<'py, PyAny>) -> PyResult<Self> {
        let columns = vec![numpy::hashes(array)?];
        let source = Source::Columns { columns, form: Form::Numpy };
        Ok(Self { source, nulls: Nulls::Error, key_seed: 0, kind: None })
    }

    /// Hands all hashes to the consumer.
    pub fn feed(&mut self, py: Python<'_>, consumer: &mut impl Consumer) -> PyResult<()> {
        self.check_columns()?;
        match &self.source {
            Source::Columns { columns, .. } => {
                stretches(py, columns, |column, stretch| feed_stretch(column, stretch, consumer))
            }
            Source::Objects(iterator) => {
                let iterator = iterator.clone();
                self.feed_objects(&iterator, consumer)
            }
        }
    }

    /// Asks for all of them: `ask` fills as many answers as it is given hashes.
    pub fn ask<T: Answer>(
        &mut self,
        py: Python<'_>,
        ask: impl FnMut(&[u64], &mut [T]) + Send,
    ) -> PyResult<Answers<T>> {
        let mut asking = Asking::new(Answers::for_keys(self.known_len())?, ask);
        self.feed(py, &mut asking)?;
        Ok(asking.answers)
    }

    /// [`ask`](Self::ask) on several threads, or all there are for 0. Python objects are asked for
    /// on one.
    pub fn ask_on<T: Answer>(
        &mut self,
        threads: usize,
        py: Python<'_>,
        ask: impl Fn(&[u64], &mut [T]) + Send + Sync,
    ) -> PyResult<Answers<T>> {
        let threads = match threads {
            0 => std::thread::available_parallelism().map_or(1, Into::into),
            threads => threads,
        };
        self.check_columns()?;
        match &self.source {
            Source::Columns { columns, .. } if threads > 1 => {
                let mut answers = Answers::for_keys(self.known_len())?;
                stretches(py, columns, |column, stretch| {
                    let parts = ranges(stretch.clone(), part_of(&stretch, threads));
                    parallel::map(parts, |part| answers_of(column, part, &ask))
                        .into_iter()
                        .for_each(|part| answers.append(part));
                })?;
                Ok(answers)
            }
            _ => self.ask(py, ask),
        }
    }

    /// How answers to these keys go back, one for each: as NumPy or Arrow.
    pub fn reply<T: Answer>(
        &self,
        py: Python<'py>,
        answers: &Answers<T>,
    ) -> PyResult<Bound<'py, PyAny>> {
        match &self.source {
            Source::Columns { columns, form: Form::Arrow(origin) } => {
                answers.to_arrow(origin, columns.iter().map(|column| column.len()))
            }
            _ => answers.to_numpy(py),
        }
    }

    /// How many there are; 0 if that shows only in the end.
    fn known_len(&self) -> usize {
        match &self.source {
            Source::Columns { columns, .. } => columns.iter().map(|column| column.len()).sum(),
            Source::Objects(_) => 0,
        }
    }

    /// Refuses nulls, unless they are skipped, and columns of several kinds. Columns that are
    /// refused for nulls leave no kind behind.
    fn check_columns(&mut self) -> PyResult<()> {
        let Source::Columns { columns, .. } = &self.source else {
            return Ok(());
        };
        if self.nulls == Nulls::Error {
            refuse_nulls(columns)?;
        }
        let mut kinds = columns.iter().filter_map(|column| column.kind());
        kinds.try_for_each(|kind| objects::agree(&mut self.kind, kind))
    }

    fn feed_objects(
        &mut self,
        iterator: &Bound<'_, PyIterator>,
        consumer: &mut impl Consumer,
    ) -> PyResult<()> {
        let mut piece = Piece::default();
        let outcome = self.feed_pieces(iterator, &mut piece, consumer);
        // Whatever stops the iteration, the keys before it count.
        consumer.take(&piece);
        outcome
    }

    /// Hands all full pieces to the consumer, and leaves the last keys in `piece`.
    fn feed_pieces(
        &mut self,
        iterator: &Bound<'_, PyIterator>,
        piece: &mut Piece,
        consumer: &mut impl Consumer,
    ) -> PyResult<()> {
        for (position, object) in iterator.clone().enumerate() {
            let object = object?;
            let at = |position, error| objects::at_position(&object, error, position);
            match self.hash_object(&object).map_err(|error| at(position, error))? {
                Some(hash) => piece.hashes.push(hash),
                None => piece.push_null(),
            }
            if piece.hashes.len() == PIECE {
                consumer.take(piece);
                piece.clear();
                iterator.py().check_signals()?;
            }
        }
        Ok(())
    }

    /// The hash of one of many keys, or nothing for a null.
    fn hash_object(&mut self, object: &Bound<'_, PyAny>) -> PyResult<Option<u64>> {
        if self.nulls == Nulls::Skip && objects::is_null(object) {
            return Ok(None);
        }
        let (kind, hash) = objects::key_hash(object, self.key_seed)?;
        objects::agree(&mut self.kind, kind)?;
        Ok(Some(hash))
    }
}

impl<'py> Source<'py> {
    fn of(object: &Bound<'py, PyAny>, key_seed: u64) -> PyResult<Self> {
        let Some(values) = pandas_values(object)? else {
            return Self::of_values(object, key_seed);
        };
        Ok(match Self::of_values(&values, key_seed)? {
            Self::Columns { columns, .. } => Self::Columns { columns, form: Form::Numpy },
            objects => objects,
        })
    }

    /// Of anything but a series of pandas.
    fn of_values(object: &Bound<'py, PyAny>, key_seed: u64) -> PyResult<Self> {
        if let Some(columns) = arrow::columns(object, key_seed)? {
            return Ok(Self::Columns { columns, form: Form::Arrow(object.clone()) });
        }
        if let Some(column) = numpy::column(object, key_seed)? {
            return Ok(Self::Columns { columns: vec![column], form: Form::Numpy });
        }
        let iterator = object.try_iter().map_err(|_| {
            PyTypeError::new_err(format!(
                "expected keys, as an iterable or an array, but got {}",
                objects::type_name(object)
            ))
        })?;
        Ok(Self::Objects(iterator))
    }
}

/// What a series or index of pandas is made of: an Arrow column where it has one, so that its
/// nulls are seen, else a NumPy array.
fn pandas_values<'py>(object: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyAny>>> {
    if !objects::comes_from(object, "pandas") || !object.hasattr("array")? {
        return Ok(None);
    }
    let inner = object.getattr("array")?;
    match inner.getattr_opt("__arrow_array__")? {
        Some(method) => method.call0().map(Some),
        None => object.call_method0("to_numpy").map(Some),
    }
}

/// Does the work without the GIL, a stretch at a time, and looks for Ctrl-C in between.
fn stretches(
    py: Python<'_>,
    columns: &[Box<dyn Column>],
    mut work: impl FnMut(&dyn Column, Range<usize>) + Send,
) -> PyResult<()> {
    for column in columns {
        for stretch in ranges(0..column.len(), STRETCH) {
            py.detach(|| work(&**column, stretch));
            py.check_signals()?;
        }
    }
    Ok(())
}

fn feed_stretch(column: &dyn Column, stretch: Range<usize>, consumer: &mut impl Consumer) {
    let mut piece = Piece::default();
    for range in ranges(stretch, PIECE) {
        piece.clear();
        column.hash(range.clone(), &mut piece.hashes);
        if let Some(nulls) = column.nulls() {
            let start = range.start;
            piece.nulls.extend(range.filter(|&at| nulls.is_null(at)).map(|at| at - start));
        }
        consumer.take(&piece);
    }
}

fn answers_of<T: Answer>(
    column: &dyn Column,
    range: Range<usize>,
    ask: impl Fn(&[u64], &mut [T]) + Send,
) -> Answers<T> {
    let mut asking = Asking::new(Answers::default(), ask);
    feed_stretch(column, range, &mut asking);
    asking.answers
}

/// The part of a stretch that a thread takes: not less than starting the thread is worth.
fn part_of(stretch: &Range<usize>, threads: usize) -> usize {
    stretch.len().div_ceil(threads).max(16 * PIECE)
}

/// A range in parts of a length, the last one shorter.
fn ranges(whole: Range<usize>, length: usize) -> impl Iterator<Item = Range<usize>> {
    let end = whole.end;
    whole.step_by(length).map(move |start| start..end.min(start + length))
}

fn refuse_nulls(columns: &[Box<dyn Column>]) -> PyResult<()> {
    let mut before = 0;
    for column in columns {
        let nulls = column.nulls();
        if let Some(at) = nulls.and_then(|nulls| (0..nulls.len()).find(|&at| nulls.is_null(at))) {
            return Err(objects::null(Some(before + at)));
        }
        before += column.len();
    }
    Ok(())
}

/// The 64-bit hash of a key, the same in every language and for ever.
///
/// Several keys give a NumPy array of uint64, or an Arrow array for an Arrow array. A filter
/// with `key_seed` hashes its keys under it.
///
/// >>> hex(key_hash("ada"))
/// '0x691d4463952c802f'
/// >>> key_hash("ada") == key_hash(b"ada")
/// True
/// >>> [hex(hash) for hash in key_hash([1, -1])]
/// ['0x2fbc593564db792e', '0x722a202f07a4b313']
#[pyfunction]
#[pyo3(signature = (keys, *, key_seed = 0, nulls = Nulls::Error), text_signature = "(keys, *, key_seed=0, nulls='error')")]
pub fn key_hash<'py>(
    keys: &Bound<'py, PyAny>,
    key_seed: u64,
    nulls: Nulls,
) -> PyResult<Bound<'py, PyAny>> {
    let py = keys.py();
    if objects::is_key(keys) {
        return Ok(objects::key_hash(keys, key_seed)?.1.into_pyobject(py)?.into_any());
    }
    let mut keys = Keys::of(keys, nulls, key_seed)?;
    let hashes = keys.ask(py, |piece: &[u64], hashes: &mut [u64]| hashes.copy_from_slice(piece))?;
    keys.reply(py, &hashes)
}
