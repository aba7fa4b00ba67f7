//! The record batches of Parquet and Arrow files, and the threads that read them.

use super::column::{Kind, hash, kind};
use super::guard::guarded;
use super::{Columnar, Container, Counts, Nulls, ipc, row_groups};
use crate::error::{Error, Result, shown};
use crate::input::parallel::threads;
use crate::input::source::compression;
use crate::input::{Flow, Inputs, Options};
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{ArrowError, DataType, FieldRef, Schema};
use parquet::arrow::arrow_reader::ArrowReaderMetadata;
use std::fs::File;
use std::io::{self, BufReader, Cursor, Read, Seek};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// A part of an input that one thread reads.
struct Task<'a> {
    /// The name of the input in messages.
    path: &'a Path,
    part: Part<'a>,
    /// The bytes that it adds to the progress.
    bytes: u64,
}

enum Part<'a> {
    /// A row group, and the metadata of its file.
    RowGroup(usize, ArrowReaderMetadata),
    /// All of an Arrow file or stream; `None` is standard input.
    Whole(Option<&'a Path>),
}

/// The first column of keys: all others must have keys of the same kind, since those of different
/// kinds are never equal.
#[derive(Default)]
struct FirstKind<'a>(Option<(&'a Path, Kind)>);

impl<'a> FirstKind<'a> {
    fn check(&mut self, path: &'a Path, data_type: &DataType) -> Result<()> {
        let Some(kind) = kind(data_type) else { return Ok(()) };
        let &mut (first, expected) = self.0.get_or_insert((path, kind));
        if kind == expected {
            return Ok(());
        }
        let (kind, expected, first) = (kind.name(), expected.name(), shown(first));
        Err(Error::at(
            path,
            format_args!(
                "the keys are {kind}, but those of {first} are {expected}: build a filter of each, \
                 or cast one"
            ),
        ))
    }
}

/// Reads the keys of all inputs. `sink` receives the hashes of one record batch after another, in
/// any order.
pub fn read(
    inputs: &Inputs,
    columnar: &Columnar,
    options: &Options<'_>,
    sink: impl FnMut(&[u64]) -> Result<Flow> + Send,
) -> Result<Counts> {
    let (mut tasks, mut first_kind) = (Vec::new(), FirstKind::default());
    for number in 0..inputs.len() {
        add_tasks(inputs, number, columnar, &mut tasks, &mut first_kind)?;
    }
    let threads = threads(options.threads).min(tasks.len());
    let shared = Shared {
        columnar,
        options,
        tasks: Mutex::new(tasks.into_iter()),
        delivery: Mutex::new(Delivery {
            sink,
            first_kind,
            counts: Counts::default(),
            outcome: Ok(Flow::Continue),
        }),
    };
    std::thread::scope(|scope| {
        for _ in 1..threads {
            // If the system refuses a thread, the others do its work.
            let _ = std::thread::Builder::new().spawn_scoped(scope, || shared.work());
        }
        shared.work();
    });
    let delivery = shared.delivery.into_inner().unwrap_or_else(PoisonError::into_inner);
    delivery.outcome.map(|_| delivery.counts)
}

/// Opens an input and divides it.
fn add_tasks<'a>(
    inputs: &'a Inputs,
    number: usize,
    columnar: &Columnar,
    tasks: &mut Vec<Task<'a>>,
    first_kind: &mut FirstKind<'a>,
) -> Result<()> {
    let path = inputs.name(number);
    if columnar.container == Container::Arrow {
        let source = inputs.path(number);
        let bytes = source.and_then(|path| path.metadata().ok());
        let bytes = bytes.map_or(0, |metadata| metadata.len());
        tasks.push(Task { path, part: Part::Whole(source), bytes });
        return Ok(());
    }
    // A FIFO must not even be opened: there may be no writer.
    if !inputs.path(number).is_some_and(Path::is_file) {
        return Err(sequential(path, "a Parquet file"));
    }
    let column = columnar.column.as_deref();
    let metadata = row_groups::metadata(path, column)?;
    let index = column_index(path, metadata.schema(), column)?;
    first_kind.check(path, metadata.schema().field(index).data_type())?;
    for group in 0..metadata.metadata().num_row_groups() {
        let bytes = metadata.metadata().row_group(group).compressed_size();
        let bytes = u64::try_from(bytes).unwrap_or(0);
        tasks.push(Task { path, part: Part::RowGroup(group, metadata.clone()), bytes });
    }
    Ok(())
}

/// The state that the threads share.
struct Shared<'a, S> {
    columnar: &'a Columnar,
    options: &'a Options<'a>,
    tasks: Mutex<std::vec::IntoIter<Task<'a>>>,
    delivery: Mutex<Delivery<'a, S>>,
}

struct Delivery<'a, S> {
    sink: S,
    first_kind: FirstKind<'a>,
    counts: Counts,
    outcome: Result<Flow>,
}

impl<'a, S: FnMut(&[u64]) -> Result<Flow>> Shared<'a, S> {
    /// Reads tasks until there are no more, or until an error.
    fn work(&self) {
        let mut hashes = Vec::new();
        loop {
            let task = self.tasks.lock().unwrap_or_else(PoisonError::into_inner).next();
            let Some(task) = task else { return };
            match self.read_task(&task, &mut hashes) {
                Ok(Flow::Continue) => self.options.progress.advance(task.bytes),
                stopped => return self.stop(stopped),
            }
        }
    }

    /// Keeps the first error. The other threads see it at their next batch.
    fn stop(&self, outcome: Result<Flow>) {
        let mut delivery = self.delivery.lock().unwrap_or_else(PoisonError::into_inner);
        if matches!(delivery.outcome, Ok(Flow::Continue)) {
            delivery.outcome = outcome;
        }
    }

    fn read_task(&self, task: &Task<'a>, hashes: &mut Vec<u64>) -> Result<Flow> {
        let path = task.path;
        let column = self.columnar.column.as_deref();
        let (mut batches, name) = guarded(path, || match &task.part {
            Part::RowGroup(group, metadata) => {
                Ok((row_groups::read(path, *group, metadata, column)?, "Parquet"))
            }
            Part::Whole(source) => Ok((arrow_batches(path, *source)?, "Arrow")),
        })?;
        let mut next = || {
            guarded(path, || batches.next().transpose().map_err(|error| corrupt(path, name, error)))
        };
        while let Some(batch) = next()? {
            let index = column_index(path, &batch.schema(), column)?;
            if self.deliver(path, batch.column(index), hashes)? == Flow::Stop {
                return Ok(Flow::Stop);
            }
        }
        Ok(Flow::Continue)
    }

    /// Hashes the keys of a batch and passes them on.
    fn deliver(&self, path: &'a Path, array: &ArrayRef, hashes: &mut Vec<u64>) -> Result<Flow> {
        hashes.clear();
        // Part of the decoding: a value may be outside its buffer.
        guarded(path, || {
            hash(array, self.options.key_seed, hashes).map_err(|kind| unsupported(path, &kind))
        })?;
        let nulls = array.len() - hashes.len();
        // Poisoned if the sink has panicked on another thread.
        let Ok(mut delivery) = self.delivery.lock() else { return Ok(Flow::Stop) };
        delivery.first_kind.check(path, array.data_type())?;
        if nulls > 0 && self.columnar.nulls == Nulls::Error {
            return Err(Error::at(
                path,
                "the column has nulls, which cannot be keys: remove them, or skip them with \
                 --nulls skip",
            ));
        }
        if !matches!(delivery.outcome, Ok(Flow::Continue)) {
            return Ok(Flow::Stop);
        }
        delivery.counts.keys += hashes.len() as u64;
        delivery.counts.nulls += nulls as u64;
        (delivery.sink)(hashes)
    }
}

pub type Batches = Box<dyn Iterator<Item = std::result::Result<RecordBatch, ArrowError>>>;

/// The batches of an Arrow file or stream, which are distinguished by their first bytes. Standard
/// input has no path.
fn arrow_batches(name: &Path, path: Option<&Path>) -> Result<Batches> {
    let Some(path) = path else { return arrow_stream(name, io::stdin()) };
    let failed = |error: io::Error| Error::io(name, &error);
    let mut file = File::open(path).map_err(failed)?;
    if !file.metadata().map_err(failed)?.is_file() {
        return arrow_stream(name, file);
    }
    let is_stream = first_bytes(&mut file).map_err(failed)? != ipc::MAGIC;
    file.rewind().map_err(failed)?;
    if is_stream {
        return arrow_stream(name, file);
    }
    let batches = ipc::file(BufReader::new(file));
    Ok(Box::new(batches.map_err(|error| corrupt(name, "Arrow", error))?))
}

/// The batches of an input that is read in sequence.
fn arrow_stream(name: &Path, mut reader: impl Read + 'static) -> Result<Batches> {
    let first = first_bytes(&mut reader).map_err(|error| Error::io(name, &error))?;
    check_compression(name, &first)?;
    if first == ipc::MAGIC {
        return Err(sequential(name, "an Arrow file"));
    }
    Ok(Box::new(ipc::Stream::new(BufReader::new(Cursor::new(first).chain(reader)))))
}

/// The bytes that tell the format.
pub fn first_bytes(reader: &mut impl Read) -> io::Result<Vec<u8>> {
    let mut first = Vec::new();
    reader.take(ipc::MAGIC.len() as u64).read_to_end(&mut first)?;
    Ok(first)
}

pub fn check_compression(path: &Path, first: &[u8]) -> Result<()> {
    match compression(first) {
        Some(name) => {
            let what = format!("is compressed with {name}: decompress it first");
            Err(Error::at(path, what))
        }
        None => Ok(()),
    }
}

fn sequential(path: &Path, what: &str) -> Error {
    let what =
        format!("{what} cannot be read from standard input or a pipe: its directory is at its end");
    Error::at(path, format!("{what}, so name the file"))
}

/// The index of the wanted column among the columns at the top level of the schema. A projected
/// batch has that column only.
pub fn column_index(path: &Path, schema: &Schema, column: Option<&str>) -> Result<usize> {
    let fields = schema.fields();
    let is_wanted = |field: &FieldRef| column.is_some_and(|name| field.name() == name);
    if fields.iter().filter(|field| is_wanted(field)).count() > 1 {
        let column = column.unwrap_or_default();
        return Err(Error::at(
            path,
            format!("several columns are named {column}: rename all but one"),
        ));
    }
    let found = match column {
        Some(_) => fields.iter().position(is_wanted),
        None if fields.len() == 1 => Some(0),
        None => None,
    };
    let Some(index) = found else {
        let name = |field: &FieldRef| format!("{} ({})", field.name(), field.data_type());
        let names: Vec<_> = fields.iter().map(name).collect();
        let names = names.join(", ");
        return Err(Error::at(
            path,
            match column {
                Some(column) => format!("no column {column}: its columns are {names}"),
                None => format!("choose one with --column: its columns are {names}"),
            },
        ));
    };
    Ok(index)
}

fn unsupported(path: &Path, kind: &DataType) -> Error {
    let what = format!(
        "the column has type {kind}, but keys are integers, strings or binary: choose another with \
         --column, or cast it"
    );
    Error::at(path, what)
}

pub fn corrupt(path: &Path, name: &str, error: impl std::fmt::Display) -> Error {
    Error::at(path, format!("cannot be read as {name} ({error}): is it the right --input?"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::progress::Progress;
    use arrow_array::StringArray;
    use arrow_ipc::writer::StreamWriter;
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::sync::Arc;

    /// A panic that is not the decoder's does not mean that the file is corrupt.
    #[test]
    fn a_panic_of_the_sink_is_not_an_error_of_the_file() {
        let keys = Arc::new(StringArray::from(vec!["ada"])) as ArrayRef;
        let batch = RecordBatch::try_from_iter([("key", keys)]).expect("a batch");
        let mut writer = StreamWriter::try_new(Vec::new(), &batch.schema()).expect("a writer");
        writer.write(&batch).expect("written");
        let folder = tempfile::tempdir().expect("a directory");
        let path = folder.path().join("keys");
        std::fs::write(&path, writer.into_inner().expect("finished")).expect("written");
        let inputs = Inputs::new(&[path]).expect("inputs");
        let columnar = Columnar { container: Container::Arrow, column: None, nulls: Nulls::Error };
        let options = Options { key_seed: 0, threads: 1, progress: &Progress::none() };
        let read = || read(&inputs, &columnar, &options, |_| panic!("a bug of the sink"));
        let panic = catch_unwind(AssertUnwindSafe(read)).expect_err("a panic");
        assert_eq!(panic.downcast_ref(), Some(&"a bug of the sink"));
    }
}
