//! Reads and hashes the input on several threads, in order.
//!
//! Every thread repeats three steps: it reads a chunk, hashes it while other threads read, and
//! delivers it once all preceding chunks have been delivered. This keeps the order, needs memory
//! for one chunk per thread, and works with a single thread. Only reading is serial; it runs at the
//! speed of a copy from the page cache.

use super::records::{Format, Hashed};
use super::source::{Chunk, Inputs, Source};
use crate::error::{Error, Result};
use crate::progress::Progress;
use std::marker::PhantomData;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Whether to continue reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flow {
    Continue,
    Stop,
}

/// The records of one chunk and the hashes of their keys.
#[derive(Default)]
pub struct Batch {
    chunk: Chunk,
    hashed: Hashed,
    /// Number of records of the same input in the preceding chunks.
    preceding: u64,
}

impl Batch {
    pub fn hashes(&self) -> &[u64] {
        &self.hashed.hashes
    }

    /// The hashes of the groups of the keys, if the format has any.
    pub fn groups(&self) -> &[u64] {
        &self.hashed.groups
    }

    /// The hash of the group and of the key of each record; that of the unnamed group is 0.
    pub fn grouped(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.hashed.grouped()
    }

    /// The values of the keys, if the format has any.
    pub fn values(&self) -> &[u64] {
        &self.hashed.values
    }

    /// The index of the input that the records are from.
    pub fn input(&self) -> usize {
        self.chunk.input
    }

    /// A record with its line end, which the last record may lack.
    pub fn record(&self, index: usize) -> &[u8] {
        let start = if index == 0 { 0 } else { self.hashed.ends[index - 1] };
        &self.chunk.bytes()[start..self.hashed.ends[index]]
    }

    /// The location of a record, for a message.
    pub fn location(&self, index: usize, inputs: &Inputs, format: &Format) -> String {
        inputs.location(self.chunk.input, format, self.preceding + index as u64)
    }

    /// The location and the text of a record, for a message.
    pub fn describe(&self, index: usize, inputs: &Inputs, format: &Format) -> String {
        let record = self.record(index).trim_ascii_end().escape_ascii();
        format!("{} ({record})", self.location(index, inputs, format))
    }
}

/// The state of reading, which one thread at a time uses.
struct Reading<'a> {
    source: Source<'a>,
    /// The number of the next chunk.
    next: u64,
    done: bool,
}

/// The state of delivery, which one thread at a time uses.
struct Delivery<S> {
    sink: S,
    /// The number of the batch that is delivered next.
    next: u64,
    /// The input of the last batch and the number of its records so far.
    counted: (usize, u64),
    outcome: Result<Flow>,
}

impl<S> Delivery<S> {
    fn continues(&self) -> bool {
        matches!(self.outcome, Ok(Flow::Continue))
    }
}

/// The state that the threads share.
struct Pipeline<'a, T, W, S> {
    inputs: &'a Inputs,
    format: Format,
    key_seed: u64,
    work: W,
    reading: Mutex<Reading<'a>>,
    delivery: Mutex<Delivery<S>>,
    delivered: Condvar,
    /// Each thread has its own result.
    result: PhantomData<fn() -> T>,
}

/// Reads all inputs. `work` runs for each batch on any thread. `sink` then receives the batches and
/// their results one by one, in order. `work` overwrites the result of an earlier batch, so that
/// its buffers are reused.
pub fn read<T, W, S>(
    inputs: &Inputs,
    format: Format,
    options: Options<'_>,
    work: W,
    sink: S,
) -> Result<()>
where
    T: Default,
    W: Fn(&Batch, &mut T) + Sync,
    S: FnMut(&Batch, &mut T) -> Result<Flow> + Send,
{
    let source = Source::new(inputs, format, options.progress);
    let pipeline = Pipeline {
        inputs,
        format,
        key_seed: options.key_seed,
        work,
        reading: Mutex::new(Reading { source, next: 0, done: false }),
        delivery: Mutex::new(Delivery {
            sink,
            next: 0,
            counted: (0, 0),
            outcome: Ok(Flow::Continue),
        }),
        delivered: Condvar::new(),
        result: PhantomData,
    };
    std::thread::scope(|scope| {
        for _ in 1..threads(options.threads) {
            // If a thread cannot be spawned, the other threads do its work.
            let _ = std::thread::Builder::new().spawn_scoped(scope, || pipeline.run());
        }
        pipeline.run();
    });
    let delivery = pipeline.delivery.into_inner().unwrap_or_else(PoisonError::into_inner);
    delivery.outcome.map(|_| ())
}

/// Options for reading.
pub struct Options<'a> {
    pub key_seed: u64,
    /// The number of threads; 0 for one per core.
    pub threads: usize,
    pub progress: &'a Progress,
}

pub(super) fn threads(requested: usize) -> usize {
    match requested {
        0 => std::thread::available_parallelism().map_or(1, Into::into),
        // More threads would only wait for each other.
        requested => requested.min(256),
    }
}

impl<T, W, S> Pipeline<'_, T, W, S>
where
    T: Default,
    W: Fn(&Batch, &mut T) + Sync,
    S: FnMut(&Batch, &mut T) -> Result<Flow> + Send,
{
    /// Reads, hashes and delivers chunks until the input ends; every thread runs this.
    fn run(&self) {
        let (mut batch, mut result) = (Batch::default(), T::default());
        while let Some((number, filled)) = self.fill(&mut batch.chunk) {
            let worked = filled.map(|()| {
                self.format.hash(batch.chunk.bytes(), self.key_seed, &mut batch.hashed);
                (self.work)(&batch, &mut result);
                &mut result
            });
            if !self.deliver(number, &mut batch, worked) {
                lock(&self.reading).done = true;
            }
        }
    }

    /// Reads the next chunk and returns its number, or an error in its place. Returns `None` at the
    /// end of the input.
    fn fill(&self, chunk: &mut Chunk) -> Option<(u64, Result<()>)> {
        let mut reading = lock(&self.reading);
        if reading.done {
            return None;
        }
        let filled = match reading.source.fill(chunk) {
            Ok(true) => Ok(()),
            Ok(false) => {
                reading.done = true;
                return None;
            }
            Err(error) => {
                reading.done = true;
                Err(error)
            }
        };
        reading.next += 1;
        Some((reading.next - 1, filled))
    }

    /// Waits until all preceding batches are delivered, then delivers this one. Returns whether to
    /// continue.
    fn deliver(&self, number: u64, batch: &mut Batch, worked: Result<&mut T>) -> bool {
        let waits = |delivery: &mut Delivery<S>| delivery.continues() && delivery.next != number;
        let delivery = self.delivered.wait_while(lock(&self.delivery), waits);
        let mut delivery = delivery.unwrap_or_else(PoisonError::into_inner);
        if delivery.continues() {
            delivery.outcome = worked.and_then(|worked| self.accept(&mut delivery, batch, worked));
            delivery.next += 1;
            self.delivered.notify_all();
        }
        delivery.continues()
    }

    /// Passes a batch and its result to the sink, or returns the error of its first bad record.
    fn accept(
        &self,
        delivery: &mut Delivery<S>,
        batch: &mut Batch,
        worked: &mut T,
    ) -> Result<Flow> {
        let (input, records) = delivery.counted;
        batch.preceding = if input == batch.chunk.input { records } else { 0 };
        let found = batch.hashes().len();
        delivery.counted = (batch.chunk.input, batch.preceding + found as u64);
        if let Some(complaint) = &batch.hashed.complaint {
            let location = batch.location(found, self.inputs, &self.format);
            return Err(Error::new(format_args!("{location}: {complaint}")));
        }
        (delivery.sink)(batch, worked)
    }
}

/// Locks a mutex and ignores poisoning: if a thread panics, so does the whole scope.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
