//! The record batches of Parquet and Arrow files, and the threads that read them.

use super::column::hash;
use super::{Columnar, Container, Counts, Nulls};
use crate::error::{Error, Result};
use crate::input::parallel::threads;
use crate::input::{Flow, Inputs, Options};
use arrow_array::{ArrayRef, RecordBatch};
use arrow_ipc::reader::{FileReader, StreamReader};
use arrow_schema::{ArrowError, DataType, Schema};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder,
};
use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// Number of rows of a Parquet file that are decoded together.
const ROWS: usize = 1 << 14;
/// The first bytes of an Arrow file. A stream begins with a message instead.
const ARROW_MAGIC: &[u8] = b"ARROW1";

/// A part of an input that one thread reads.
struct Task<'a> {
    path: &'a Path,
    part: Part,
    /// The bytes that it adds to the progress.
    bytes: u64,
}

enum Part {
    /// A row group, and the metadata of its file.
    RowGroup(usize, ArrowReaderMetadata),
    /// All of an Arrow file or stream.
    Whole,
}

/// Reads the keys of all inputs. `sink` receives the hashes of one record batch after another, in
/// any order.
pub fn read(
    inputs: &Inputs,
    columnar: &Columnar,
    options: &Options<'_>,
    sink: impl FnMut(&[u64]) -> Result<Flow> + Send,
) -> Result<Counts> {
    // A panic becomes an error, so its message would be a second one.
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    let outcome = read_all(inputs, columnar, options, sink);
    std::panic::set_hook(hook);
    outcome
}

fn read_all(
    inputs: &Inputs,
    columnar: &Columnar,
    options: &Options<'_>,
    sink: impl FnMut(&[u64]) -> Result<Flow> + Send,
) -> Result<Counts> {
    let mut tasks = Vec::new();
    for number in 0..inputs.len() {
        add_tasks(inputs, number, columnar, &mut tasks)?;
    }
    let threads = threads(options.threads).min(tasks.len());
    let shared = Shared {
        columnar,
        options,
        tasks: Mutex::new(tasks.into_iter()),
        delivery: Mutex::new(Delivery {
            sink,
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
) -> Result<()> {
    let path = inputs.name(number);
    if columnar.container == Container::Arrow {
        let bytes = inputs.path(number).and_then(|path| path.metadata().ok());
        let bytes = bytes.map_or(0, |metadata| metadata.len());
        tasks.push(Task { path, part: Part::Whole, bytes });
        return Ok(());
    }
    let Some(path) = inputs.path(number) else {
        return Err(Error::new(
            "a Parquet file cannot be read from standard input, since its directory is at its end: \
             name the file",
        ));
    };
    let file = File::open(path).map_err(|error| Error::io(path, &error))?;
    let metadata = guarded(path, || {
        ArrowReaderMetadata::load(&file, ArrowReaderOptions::new())
            .map_err(|error| corrupt(path, "Parquet", error))
    })?;
    column_index(path, metadata.schema(), columnar.column.as_deref())?;
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
    delivery: Mutex<Delivery<S>>,
}

struct Delivery<S> {
    sink: S,
    counts: Counts,
    outcome: Result<Flow>,
}

impl<S: FnMut(&[u64]) -> Result<Flow>> Shared<'_, S> {
    /// Reads tasks until there are no more, or until an error.
    fn work(&self) {
        let mut hashes = Vec::new();
        loop {
            let task = self.tasks.lock().unwrap_or_else(PoisonError::into_inner).next();
            let Some(task) = task else { return };
            match guarded(task.path, || self.read_task(&task, &mut hashes)) {
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

    fn read_task(&self, task: &Task<'_>, hashes: &mut Vec<u64>) -> Result<Flow> {
        let path = task.path;
        let column = self.columnar.column.as_deref();
        let (batches, name): (Batches, _) = match &task.part {
            Part::RowGroup(group, metadata) => {
                (row_group(path, *group, metadata, column)?, "Parquet")
            }
            Part::Whole => (arrow_batches(path)?, "Arrow"),
        };
        for batch in batches {
            let batch = batch.map_err(|error| corrupt(path, name, error))?;
            let index = column_index(path, &batch.schema(), column)?;
            if self.deliver(path, batch.column(index), hashes)? == Flow::Stop {
                return Ok(Flow::Stop);
            }
        }
        Ok(Flow::Continue)
    }

    /// Hashes the keys of a batch and passes them on.
    fn deliver(&self, path: &Path, array: &ArrayRef, hashes: &mut Vec<u64>) -> Result<Flow> {
        hashes.clear();
        hash(array, self.options.key_seed, hashes).map_err(|kind| unsupported(path, &kind))?;
        let nulls = array.len() - hashes.len();
        let mut delivery = self.delivery.lock().unwrap_or_else(PoisonError::into_inner);
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

type Batches = Box<dyn Iterator<Item = std::result::Result<RecordBatch, ArrowError>>>;

/// The batches of one row group, with the wanted column only.
fn row_group(
    path: &Path,
    group: usize,
    metadata: &ArrowReaderMetadata,
    column: Option<&str>,
) -> Result<Batches> {
    let index = column_index(path, metadata.schema(), column)?;
    let file = File::open(path).map_err(|error| Error::io(path, &error))?;
    let mask = ProjectionMask::roots(metadata.parquet_schema(), [index]);
    let builder = ParquetRecordBatchReaderBuilder::new_with_metadata(file, metadata.clone());
    let reader = builder.with_projection(mask).with_row_groups(vec![group]).with_batch_size(ROWS);
    Ok(Box::new(reader.build().map_err(|error| corrupt(path, "Parquet", error))?))
}

/// The batches of an Arrow file or stream, which are distinguished by their first bytes.
fn arrow_batches(path: &Path) -> Result<Batches> {
    if path == Path::new("standard input") {
        let stream = StreamReader::try_new(io::stdin().lock(), None);
        return Ok(Box::new(stream.map_err(|error| corrupt(path, "Arrow", error))?));
    }
    let failed = |error: io::Error| Error::io(path, &error);
    let mut file = File::open(path).map_err(failed)?;
    let mut first = Vec::new();
    (&mut file).take(ARROW_MAGIC.len() as u64).read_to_end(&mut first).map_err(failed)?;
    file.seek(SeekFrom::Start(0)).map_err(failed)?;
    let reader = BufReader::new(file);
    Ok(match first == ARROW_MAGIC {
        true => {
            let reader = FileReader::try_new(reader, None);
            Box::new(reader.map_err(|error| corrupt(path, "Arrow", error))?)
        }
        false => {
            let reader = StreamReader::try_new(reader, None);
            Box::new(reader.map_err(|error| corrupt(path, "Arrow", error))?)
        }
    })
}

/// The index of the wanted column among the columns at the top level of the schema. A projected
/// batch has that column only.
fn column_index(path: &Path, schema: &Schema, column: Option<&str>) -> Result<usize> {
    let fields = schema.fields();
    let found = match column {
        Some(name) => fields.iter().position(|field| field.name() == name),
        None if fields.len() == 1 => Some(0),
        None => None,
    };
    let Some(index) = found else {
        let name =
            |field: &arrow_schema::FieldRef| format!("{} ({})", field.name(), field.data_type());
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

fn corrupt(path: &Path, name: &str, error: impl std::fmt::Display) -> Error {
    Error::at(path, format!("cannot be read as {name} ({error}): is it the right --input?"))
}

/// Runs a reader. Those of the `arrow` and `parquet` crates return errors for most corrupt files, and
/// panic for some.
fn guarded<T>(path: &Path, read: impl FnOnce() -> Result<T>) -> Result<T> {
    let outcome = catch_unwind(AssertUnwindSafe(read));
    outcome.unwrap_or_else(|_| Err(Error::at(path, "is corrupt: copy it or write it again")))
}
