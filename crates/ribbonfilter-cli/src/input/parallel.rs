//! Threads that take turns: each reads a chunk, hashes it while others read, and hands it on
//! when those before it have been handed on.
//!
//! So the order is kept, a thread more means a chunk more in memory, and one thread needs no
//! other. Reading alone is serial, at the speed of a copy from the system's cache.

use super::records::{Format, Hashed};
use super::source::{Chunk, Inputs, Source};
use crate::error::{Error, Result};
use crate::progress::Progress;
use std::marker::PhantomData;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Whether to read on.
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
    /// Records of the same input in the chunks before.
    before: u64,
}

impl Batch {
    pub fn hashes(&self) -> &[u64] {
        &self.hashed.hashes
    }

    /// The values behind the keys, if the format has any.
    pub fn values(&self) -> &[u64] {
        &self.hashed.values
    }

    /// Which input the records are from.
    pub fn input(&self) -> usize {
        self.chunk.input
    }

    /// A record with its end of line, which the last may lack.
    pub fn record(&self, index: usize) -> &[u8] {
        let start = if index == 0 { 0 } else { self.hashed.ends[index - 1] };
        &self.chunk.bytes()[start..self.hashed.ends[index]]
    }

    /// Where a record is, for a message.
    pub fn place(&self, index: usize, inputs: &Inputs, format: &Format) -> String {
        inputs.place(self.chunk.input, format, self.before + index as u64)
    }
}

/// Who may read next, and from where.
struct Reading<'a> {
    source: Source<'a>,
    next: u64,
    done: bool,
}

/// Who may hand on next, and to whom.
struct Handing<S> {
    sink: S,
    next: u64,
    /// The input of the last batch and its records so far.
    counted: (usize, u64),
    outcome: Result<Flow>,
}

impl<S> Handing<S> {
    fn goes_on(&self) -> bool {
        matches!(self.outcome, Ok(Flow::Continue))
    }
}

/// All that the threads share.
struct Crew<'a, T, W, S> {
    inputs: &'a Inputs,
    format: Format,
    key_seed: u64,
    work: W,
    reading: Mutex<Reading<'a>>,
    handing: Mutex<Handing<S>>,
    turn: Condvar,
    /// Each thread has a result of its own.
    result: PhantomData<fn() -> T>,
}

/// Reads all inputs. `work` is done for each batch on any thread, `sink` gets the batches and
/// what came of them one by one, in their order. What comes of a batch overwrites what came of
/// an earlier one, so that its buffers are allocated once.
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
    let crew = Crew {
        inputs,
        format,
        key_seed: options.key_seed,
        work,
        reading: Mutex::new(Reading { source, next: 0, done: false }),
        handing: Mutex::new(Handing {
            sink,
            next: 0,
            counted: (0, 0),
            outcome: Ok(Flow::Continue),
        }),
        turn: Condvar::new(),
        result: PhantomData,
    };
    std::thread::scope(|scope| {
        for _ in 1..threads(options.threads) {
            // A thread that the system refuses is not missed: the others do its work.
            let _ = std::thread::Builder::new().spawn_scoped(scope, || crew.take_turns());
        }
        crew.take_turns();
    });
    let handing = crew.handing.into_inner().unwrap_or_else(PoisonError::into_inner);
    handing.outcome.map(|_| ())
}

/// How to read.
pub struct Options<'a> {
    pub key_seed: u64,
    /// 0 takes all there are.
    pub threads: usize,
    pub progress: &'a Progress,
}

fn threads(asked: usize) -> usize {
    match asked {
        0 => std::thread::available_parallelism().map_or(1, Into::into),
        // More only wait for each other.
        asked => asked.min(256),
    }
}

impl<T, W, S> Crew<'_, T, W, S>
where
    T: Default,
    W: Fn(&Batch, &mut T) + Sync,
    S: FnMut(&Batch, &mut T) -> Result<Flow> + Send,
{
    fn take_turns(&self) {
        let (mut batch, mut result) = (Batch::default(), T::default());
        while let Some((number, filled)) = self.fill(&mut batch.chunk) {
            let worked = filled.map(|()| {
                self.format.hash(batch.chunk.bytes(), self.key_seed, &mut batch.hashed);
                (self.work)(&batch, &mut result);
                &mut result
            });
            if !self.hand_on(number, &mut batch, worked) {
                lock(&self.reading).done = true;
            }
        }
    }

    /// The next chunk with its number, or an error in its place; none at the end.
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

    /// Waits for its turn and hands the batch on; whether to go on.
    fn hand_on(&self, number: u64, batch: &mut Batch, worked: Result<&mut T>) -> bool {
        let waiting = |handing: &mut Handing<S>| handing.goes_on() && handing.next != number;
        let handing = self.turn.wait_while(lock(&self.handing), waiting);
        let mut handing = handing.unwrap_or_else(PoisonError::into_inner);
        if handing.goes_on() {
            handing.outcome = worked.and_then(|worked| self.accept(&mut handing, batch, worked));
            handing.next += 1;
            self.turn.notify_all();
        }
        handing.goes_on()
    }

    fn accept(&self, handing: &mut Handing<S>, batch: &mut Batch, worked: &mut T) -> Result<Flow> {
        let (input, records) = handing.counted;
        batch.before = if input == batch.chunk.input { records } else { 0 };
        let found = batch.hashes().len();
        handing.counted = (batch.chunk.input, batch.before + found as u64);
        if let Some(complaint) = &batch.hashed.complaint {
            let place = batch.place(found, self.inputs, &self.format);
            return Err(Error::new(format_args!("{place}: {complaint}")));
        }
        (handing.sink)(batch, worked)
    }
}

/// A lock whose holder cannot have panicked: if one does, so does the whole scope.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
