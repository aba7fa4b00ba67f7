//! Keys in a file, until they are read back in order.
//!
//! The file consists of sorted *runs*, one after another, which are merged when they are read. It
//! has no name, so nothing has to be removed. The operating system may lose data that it accepted, if
//! it later fails to write it. So that this does not become a wrong result, the sum of all keys is
//! kept in memory and compared.

use crate::keys::Kept;
use alloc::collections::BinaryHeap;
use alloc::collections::binary_heap::PeekMut;
use alloc::vec::Vec;
use core::cmp::Reverse;
use ribbonfilter::BuildError;
use ribbonfilter::internals::{try_reserve, unnamed_file};
use std::fs::File;
use std::io::{self, BufWriter, ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// The minimum size of the buffer of a run.
const MIN_BUFFER: u64 = 1 << 10;

/// Keys of one type in a file.
pub(crate) struct Spill {
    directory: PathBuf,
    file: File,
    /// The end of every run, in keys.
    ends: Vec<u64>,
    /// The sum of all keys.
    sum: u64,
}

/// What is added up to notice lost keys.
fn summand<K: Kept>(key: K) -> u64 {
    key.hash() ^ (key.group() as u64).rotate_left(32)
}

/// The bytes of a key in the file; the group only if the type has one.
fn encode<K: Kept>(key: K) -> ([u8; 16], usize) {
    let mut bytes = [0; 16];
    bytes[..8].copy_from_slice(&key.hash().to_le_bytes());
    bytes[8..].copy_from_slice(&(key.group() as u64).to_le_bytes());
    (bytes, size_of::<K>())
}

fn decode<K: Kept>(bytes: &[u8]) -> K {
    let word =
        |at| bytes.get(at..at + 8).map_or(0, |word| ribbonfilter::internals::get(word, 0..8));
    K::new(word(0), word(8) as usize)
}

impl Spill {
    pub(crate) fn create(directory: &Path) -> Result<Self, BuildError> {
        match unnamed_file(directory) {
            Ok(file) => Ok(Self { directory: directory.into(), file, ends: Vec::new(), sum: 0 }),
            Err(error) => Err(BuildError::Spill { directory: directory.into(), error }),
        }
    }

    fn failed(&self, error: io::Error) -> BuildError {
        BuildError::Spill { directory: self.directory.clone(), error }
    }

    /// Writes a run of sorted keys.
    pub(crate) fn write<K: Kept>(&mut self, keys: &[K]) -> Result<(), BuildError> {
        self.append(keys).map_err(|error| self.failed(error))?;
        self.sum = keys.iter().fold(self.sum, |sum, &key| sum.wrapping_add(summand(key)));
        self.ends.push(self.ends.last().copied().unwrap_or(0) + keys.len() as u64);
        Ok(())
    }

    fn append<K: Kept>(&mut self, keys: &[K]) -> io::Result<()> {
        self.file.seek(SeekFrom::End(0))?;
        let mut writer = BufWriter::with_capacity(1 << 16, &self.file);
        for (bytes, size) in keys.iter().map(|&key| encode(key)) {
            writer.write_all(&bytes[..size])?;
        }
        writer.flush()
    }

    /// The size of the buffer of each run, if all take about `budget` bytes.
    fn buffer(&self, budget: u64) -> u64 {
        (budget / self.ends.len().max(1) as u64).clamp(MIN_BUFFER, 1 << 20)
    }

    /// The bytes that a merge takes.
    pub(crate) fn buffer_bytes(&self, budget: u64) -> u64 {
        (self.buffer(budget) + size_of::<Run>() as u64 + 24) * self.ends.len() as u64
    }

    /// Reads all keys, in ascending order and without duplicates.
    pub(crate) fn merge<K: Kept>(&self, budget: u64) -> Result<Merge<'_, K>, BuildError> {
        let buffer = self.buffer(budget) as usize / size_of::<K>();
        let mut merge = Merge {
            spill: self,
            buffer,
            runs: Vec::new(),
            heap: BinaryHeap::new(),
            sum: 0,
            last: None,
        };
        let mut start = 0;
        for (number, &end) in self.ends.iter().enumerate() {
            merge.runs.push(Run { next: start, end, bytes: Vec::new(), read: 0 });
            if let Some(key) = merge.read(number)? {
                merge.heap.push(Reverse((key, number)));
            }
            start = end;
        }
        Ok(merge)
    }
}

/// A run that is being read.
struct Run {
    /// The first key that is not in the buffer, and the end of the run.
    next: u64,
    end: u64,
    bytes: Vec<u8>,
    /// The bytes of the buffer that were read.
    read: usize,
}

/// The keys of all runs in ascending order.
pub(crate) struct Merge<'a, K> {
    spill: &'a Spill,
    /// The number of keys that the buffer of a run holds.
    buffer: usize,
    runs: Vec<Run>,
    /// The next key of every run that has one.
    heap: BinaryHeap<Reverse<(K, usize)>>,
    sum: u64,
    last: Option<K>,
}

impl<K: Kept> Merge<'_, K> {
    pub(crate) fn next(&mut self) -> Result<Option<K>, BuildError> {
        loop {
            let Some(&Reverse((key, run))) = self.heap.peek() else {
                if self.sum == self.spill.sum {
                    return Ok(None);
                }
                let lost = io::Error::new(ErrorKind::InvalidData, "hashes were lost or changed");
                return Err(self.spill.failed(lost));
            };
            let following = self.read(run)?;
            if let Some(mut first) = self.heap.peek_mut() {
                match following {
                    Some(following) => *first = Reverse((following, run)),
                    None => drop(PeekMut::pop(first)),
                }
            }
            self.sum = self.sum.wrapping_add(summand(key));
            if self.last.replace(key) != Some(key) {
                return Ok(Some(key));
            }
        }
    }

    /// The next key of a run.
    fn read(&mut self, run: usize) -> Result<Option<K>, BuildError> {
        let (size, run) = (size_of::<K>(), &mut self.runs[run]);
        if run.read == run.bytes.len() {
            let count = (run.end - run.next).min(self.buffer as u64);
            if count == 0 {
                return Ok(None);
            }
            run.bytes.clear();
            try_reserve(&mut run.bytes, count as usize * size)?;
            run.bytes.resize(count as usize * size, 0);
            let mut file = &self.spill.file;
            let sought = file.seek(SeekFrom::Start(run.next * size as u64));
            sought
                .and_then(|_| file.read_exact(&mut run.bytes))
                .map_err(|e| self.spill.failed(e))?;
            (run.next, run.read) = (run.next + count, 0);
        }
        run.read += size;
        Ok(Some(decode(&run.bytes[run.read - size..run.read])))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Keys that the file has lost are noticed.
    #[test]
    fn lost_keys_are_an_error() {
        let mut spill = Spill::create(&std::env::temp_dir()).expect("a directory");
        spill.write(&[1u64, 5, 9]).expect("space");
        spill.write(&[2u64, 5]).expect("space");
        let all = |spill: &Spill| {
            let mut merge = spill.merge::<u64>(0)?;
            let mut keys = Vec::new();
            while let Some(key) = merge.next()? {
                keys.push(key);
            }
            Ok::<_, BuildError>(keys)
        };
        assert_eq!(all(&spill).expect("intact"), [1, 2, 5, 9]);
        (&spill.file).seek(SeekFrom::Start(8)).expect("a file");
        (&spill.file).write_all(&[6]).expect("space");
        assert!(matches!(all(&spill), Err(BuildError::Spill { .. })));
    }
}
