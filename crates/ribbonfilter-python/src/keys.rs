//! Several keys, and the conversion to hashes, a [`Piece`] at a time.
//!
//! Keys are columns in memory (NumPy, Arrow), which are hashed without the GIL, or any iterable of
//! Python objects, which needs the GIL. Positions of keys count from 0, nulls included.

use crate::answers::{Answer, Answers, Form, Querying};
use crate::objects::{self, Kind};
use crate::{arrow, numpy, parallel};
use arrow_buffer::NullBuffer;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyIterator;
use std::ops::Range;

/// The number of keys in a piece. Their hashes fit in the L1 cache.
const PIECE: usize = 2048;

/// The number of keys of a column that are hashed while the GIL is released, if their consumer needs
/// it: enough to make up for the cost of releasing it.
const ATTACHED_PIECE: usize = 1 << 16;

/// The number of keys of a column between two checks for signals.
const SIGNAL_INTERVAL: usize = 1 << 22;

/// The treatment of nulls.
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

/// The hashes of consecutive keys.
#[derive(Default)]
pub struct Piece {
    /// One per key. The hash of a null is arbitrary.
    pub hashes: Vec<u64>,
    /// The positions of the nulls, in ascending order.
    pub nulls: Vec<usize>,
}

impl Piece {
    /// The runs of hashes between nulls.
    pub fn runs(&self) -> impl Iterator<Item = &[u64]> {
        let starts = std::iter::once(0).chain(self.nulls.iter().map(|null| null + 1));
        let ends = self.nulls.iter().copied().chain([self.hashes.len()]);
        starts.zip(ends).map(|(start, end)| &self.hashes[start..end])
    }

    /// Replaces the content by the keys of a column in `range`.
    fn fill(&mut self, column: &dyn Column, range: Range<usize>) {
        self.clear();
        column.hash(range.clone(), &mut self.hashes);
        if let Some(nulls) = column.nulls() {
            let start = range.start;
            self.nulls.extend(range.filter(|&at| nulls.is_null(at)).map(|at| at - start));
        }
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

/// A destination for hashes.
pub trait Consumer: Send {
    fn take(&mut self, piece: &Piece);
}

/// A consumer that ignores nulls, such as a builder.
pub trait Collector: Send {
    fn extend_hashes(&mut self, hashes: &[u64]);
}

impl<C: Collector> Consumer for C {
    fn take(&mut self, piece: &Piece) {
        piece.runs().for_each(|run| self.extend_hashes(run));
    }
}

/// Keys in memory that can be read without the GIL.
pub trait Column: Send + Sync {
    fn len(&self) -> usize;

    /// The kind of the keys, or `None` if all are null.
    fn kind(&self) -> Option<Kind>;

    fn nulls(&self) -> Option<&NullBuffer>;

    /// Appends the hashes of the keys in `range`. The hash of a null is arbitrary.
    fn hash(&self, range: Range<usize>, hashes: &mut Vec<u64>);
}

/// Several keys from a Python object.
pub struct Keys<'py> {
    source: Source<'py>,
    nulls: Nulls,
    key_seed: u64,
    /// The kind of the keys so far.
    pub kind: Option<Kind>,
}

enum Source<'py> {
    Columns { columns: Vec<Box<dyn Column>>, form: Form<'py> },
    Objects(Bound<'py, PyIterator>),
}

impl<'py> Keys<'py> {
    /// Detects the type of the object. Nothing is hashed yet.
    pub fn of(object: &Bound<'py, PyAny>, nulls: Nulls, key_seed: u64) -> PyResult<Self> {
        if objects::is_key(object) {
            return Err(PyTypeError::new_err(format!(
                "expected several keys but got one key of type {}: put it in a list",
                objects::type_name(object)
            )));
        }
        Ok(Self { source: Source::of(object, key_seed)?, nulls, key_seed, kind: None })
    }

    /// Keys that are hashes already: a NumPy array of uint64.
    pub fn of_hashes(array: &Bound<'py, PyAny>) -> PyResult<Self> {
        let columns = vec![numpy::hashes(array)?];
        let source = Source::Columns { columns, form: Form::Numpy };
        Ok(Self { source, nulls: Nulls::Error, key_seed: 0, kind: None })
    }

    /// Passes all hashes to the consumer.
    pub fn feed(&mut self, py: Python<'_>, consumer: &mut impl Consumer) -> PyResult<()> {
        self.check_columns()?;
        match &self.source {
            Source::Columns { columns, .. } => {
                for_ranges(py, columns, |column, range| feed_range(column, range, consumer))
            }
            Source::Objects(iterator) => {
                let iterator = iterator.clone();
                self.feed_objects(&iterator, |piece| {
                    consumer.take(piece);
                    Ok(())
                })
            }
        }
    }

    /// [`feed`](Self::feed) for a consumer that cannot leave this thread, or that can fail: `take`
    /// runs with the GIL, only the hashing of columns without it.
    pub fn feed_attached(
        &mut self,
        py: Python<'_>,
        mut take: impl FnMut(&Piece) -> PyResult<()>,
    ) -> PyResult<()> {
        self.check_columns()?;
        match &self.source {
            Source::Columns { columns, .. } => {
                let mut piece = Piece::default();
                for column in columns {
                    for range in ranges(0..column.len(), ATTACHED_PIECE) {
                        py.detach(|| piece.fill(&**column, range));
                        take(&piece)?;
                        py.check_signals()?;
                    }
                }
                Ok(())
            }
            Source::Objects(iterator) => {
                let iterator = iterator.clone();
                self.feed_objects(&iterator, take)
            }
        }
    }

    /// Looks up all keys. `query` writes one result per hash.
    pub fn query<T: Answer>(
        &mut self,
        py: Python<'_>,
        query: impl FnMut(&[u64], &mut [T]) + Send,
    ) -> PyResult<Answers<T>> {
        let mut querying = Querying::new(Answers::with_capacity(self.known_len())?, query);
        self.feed(py, &mut querying)?;
        Ok(querying.answers)
    }

    /// [`query`](Self::query) on several threads: 0 is one per available CPU. Python objects are
    /// looked up on one thread.
    pub fn query_on<T: Answer>(
        &mut self,
        threads: usize,
        py: Python<'_>,
        query: impl Fn(&[u64], &mut [T]) + Send + Sync,
    ) -> PyResult<Answers<T>> {
        let threads = match threads {
            0 => std::thread::available_parallelism().map_or(1, Into::into),
            threads => threads,
        };
        self.check_columns()?;
        match &self.source {
            Source::Columns { columns, .. } if threads > 1 => {
                let mut answers = Answers::with_capacity(self.known_len())?;
                for_ranges(py, columns, |column, range| {
                    let parts = ranges(range.clone(), part_len(&range, threads));
                    parallel::map(parts, |part| answers_of(column, part, &query))
                        .into_iter()
                        .for_each(|part| answers.append(part));
                })?;
                Ok(answers)
            }
            _ => self.query(py, query),
        }
    }

    /// The results for these keys as an array, in the form that matches the keys.
    pub fn to_array<T: Answer>(
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

    /// The number of keys, or 0 if it is unknown.
    fn known_len(&self) -> usize {
        match &self.source {
            Source::Columns { columns, .. } => columns.iter().map(|column| column.len()).sum(),
            Source::Objects(_) => 0,
        }
    }

    /// Rejects nulls, unless they are skipped, and columns of different kinds. Columns that are
    /// rejected because of nulls do not set the kind.
    fn check_columns(&mut self) -> PyResult<()> {
        let Source::Columns { columns, .. } = &self.source else {
            return Ok(());
        };
        if self.nulls == Nulls::Error {
            reject_nulls(columns)?;
        }
        let mut kinds = columns.iter().filter_map(|column| column.kind());
        kinds.try_for_each(|kind| objects::check_kind(&mut self.kind, kind))
    }

    fn feed_objects(
        &mut self,
        iterator: &Bound<'_, PyIterator>,
        mut take: impl FnMut(&Piece) -> PyResult<()>,
    ) -> PyResult<()> {
        let mut piece = Piece::default();
        let outcome = self.feed_pieces(iterator, &mut piece, &mut take);
        // The keys that precede an error are passed on.
        let rest = take(&piece);
        outcome.and(rest)
    }

    /// Passes all full pieces on, and leaves the remaining keys in `piece`.
    fn feed_pieces(
        &mut self,
        iterator: &Bound<'_, PyIterator>,
        piece: &mut Piece,
        take: &mut impl FnMut(&Piece) -> PyResult<()>,
    ) -> PyResult<()> {
        for (position, object) in iterator.clone().enumerate() {
            let object = object?;
            let at = |position, error| objects::at_position(&object, error, position);
            match self.hash_object(&object).map_err(|error| at(position, error))? {
                Some(hash) => piece.hashes.push(hash),
                None => piece.push_null(),
            }
            if piece.hashes.len() == PIECE {
                take(piece)?;
                piece.clear();
                iterator.py().check_signals()?;
            }
        }
        Ok(())
    }

    /// The hash of one of several keys, or `None` for a null.
    fn hash_object(&mut self, object: &Bound<'_, PyAny>) -> PyResult<Option<u64>> {
        if self.nulls == Nulls::Skip && objects::is_null(object) {
            return Ok(None);
        }
        let (kind, hash) = objects::key_hash(object, self.key_seed)?;
        objects::check_kind(&mut self.kind, kind)?;
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

    /// The source for any object but a pandas series.
    fn of_values(object: &Bound<'py, PyAny>, key_seed: u64) -> PyResult<Self> {
        if let Some(columns) = arrow::columns(object, key_seed)? {
            return Ok(Self::Columns { columns, form: Form::Arrow(object.clone()) });
        }
        if let Some(column) = numpy::column(object, key_seed)? {
            return Ok(Self::Columns { columns: vec![column], form: Form::Numpy });
        }
        let iterator = object.try_iter().map_err(|_| {
            PyTypeError::new_err(format!(
                "expected an iterable or an array of keys, but got {}",
                objects::type_name(object)
            ))
        })?;
        Ok(Self::Objects(iterator))
    }
}

/// The values of a pandas series or index: an Arrow array if it has one, which marks nulls, else a
/// NumPy array.
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

/// Processes the columns without the GIL, a range at a time, and checks for signals in between.
fn for_ranges(
    py: Python<'_>,
    columns: &[Box<dyn Column>],
    mut process: impl FnMut(&dyn Column, Range<usize>) + Send,
) -> PyResult<()> {
    for column in columns {
        for range in ranges(0..column.len(), SIGNAL_INTERVAL) {
            py.detach(|| process(&**column, range));
            py.check_signals()?;
        }
    }
    Ok(())
}

fn feed_range(column: &dyn Column, range: Range<usize>, consumer: &mut impl Consumer) {
    let mut piece = Piece::default();
    for range in ranges(range, PIECE) {
        piece.fill(column, range);
        consumer.take(&piece);
    }
}

fn answers_of<T: Answer>(
    column: &dyn Column,
    range: Range<usize>,
    query: impl Fn(&[u64], &mut [T]) + Send,
) -> Answers<T> {
    let mut querying = Querying::new(Answers::default(), query);
    feed_range(column, range, &mut querying);
    querying.answers
}

/// The number of keys of a range that one thread looks up: enough to make up for the cost of
/// starting the thread.
fn part_len(range: &Range<usize>, threads: usize) -> usize {
    range.len().div_ceil(threads).max(16 * PIECE)
}

/// Splits a range into ranges of a length. The last one may be shorter.
fn ranges(range: Range<usize>, length: usize) -> impl Iterator<Item = Range<usize>> {
    let end = range.end;
    range.step_by(length).map(move |start| start..end.min(start + length))
}

fn reject_nulls(columns: &[Box<dyn Column>]) -> PyResult<()> {
    let mut start = 0;
    for column in columns {
        let nulls = column.nulls();
        if let Some(at) = nulls.and_then(|nulls| (0..nulls.len()).find(|&at| nulls.is_null(at))) {
            return Err(objects::null(Some(start + at)));
        }
        start += column.len();
    }
    Ok(())
}

/// The 64-bit hash of a key. It is the same in every language and in all versions.
///
/// For several keys this returns a NumPy array of uint64, or an Arrow array if `keys` is one.
/// `key_seed` is the seed of the hash function, as for `Filter.build`.
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
    let hashes =
        keys.query(py, |piece: &[u64], hashes: &mut [u64]| hashes.copy_from_slice(piece))?;
    keys.to_array(py, &hashes)
}
