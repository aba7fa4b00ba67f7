//! Stores hashes in a file until their segments are solved.
//!
//! The file consists of *runs*, written one after another. Each run is in the order of *cells*: the
//! top bits of the mixed hashes. The beginning of every cell of every run is kept in memory, so the
//! keys of some segments are one range of each run and are read sequentially.
//!
//! ```text
//! run 0    | cell 0 | cell 1 | cell 2 | cell 3 |
//! run 1                                         | cell 0 | cell 1 | cell 2 | cell 3 |
//! cells 2, 3                  ^^^^^^^^^^^^^^^^^                    ^^^^^^^^^^^^^^^^^
//! ```
//!
//! The file has no name, so nothing has to be removed. The operating system may lose data that it
//! accepted, if it later fails to write it. So that this does not become a false negative, the sum
//! of each cell's hashes is kept in memory and compared.

use super::unnamed_file;
use crate::build::item::{Item, Value};
use crate::error::BuildError;
use crate::plan::Runs;
use crate::ribbon::equation::Mixer;
use crate::storage::memory::{try_filled, try_reserve};
use alloc::vec::Vec;
use core::marker::PhantomData;
use core::ops::Range;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// A directory for spill files.
pub(crate) type Directory = PathBuf;

/// Items in a file.
pub(crate) struct Spill<V> {
    directory: PathBuf,
    file: File,
    runs: Runs,
    /// Whose mixed hashes are divided into cells.
    seed: u8,
    /// For every run, the beginning of each cell in the file, in items, and the end of the last
    /// cell.
    borders: Vec<Vec<u64>>,
    cells: Vec<Cell>,
    values: PhantomData<V>,
}

/// The number and sum of a cell's items, over all runs.
#[derive(Clone, Copy, Default)]
struct Cell {
    items: u64,
    sum: u64,
}

impl Cell {
    fn add<V: Value>(&mut self, item: Item<V>) {
        self.items += 1;
        self.sum = self.sum.wrapping_add(item.hash ^ item.value.to_word().rotate_left(32));
    }
}

impl<V: Value> Spill<V> {
    pub(crate) fn create(directory: &Path, runs: Runs, seed: u8) -> Result<Self, BuildError> {
        let file = unnamed_file::create(directory).map_err(|error| failed(directory, error))?;
        Ok(Self {
            directory: directory.into(),
            file,
            runs,
            seed,
            borders: Vec::new(),
            cells: try_filled(Cell::default(), 1 << runs.cell_bits)?,
            values: PhantomData,
        })
    }

    pub(crate) fn len(&self) -> u64 {
        self.cells.iter().map(|cell| cell.items).sum()
    }

    pub(crate) fn runs(&self) -> Runs {
        self.runs
    }

    pub(crate) fn seed(&self) -> u8 {
        self.seed
    }

    /// The number of cells.
    pub(crate) fn cells(&self) -> usize {
        self.cells.len()
    }

    /// Writes a run, and removes its items.
    pub(crate) fn write(&mut self, items: &mut Vec<Item<V>>) -> Result<(), BuildError> {
        let (mixer, shift) = (Mixer::new(self.seed), self.runs.cell_bits);
        // A shift by 64 bits would not be 0.
        let cell_of = |item: &Item<V>| (mixer.mix(item.hash) >> 1 >> (63 - shift)) as usize;
        items.sort_unstable_by_key(cell_of);
        let begin = self.len();
        self.append(items).map_err(|error| failed(&self.directory, error))?;
        let mut borders = try_filled(begin, self.cells.len() + 1)?;
        for &item in &*items {
            let cell = cell_of(&item);
            self.cells[cell].add(item);
            borders[cell + 1] += 1;
        }
        for cell in 1..borders.len() {
            borders[cell] += borders[cell - 1] - begin;
        }
        self.borders.push(borders);
        items.clear();
        Ok(())
    }

    /// Appends items to the file.
    fn append(&mut self, items: &[Item<V>]) -> io::Result<()> {
        self.file.seek(SeekFrom::End(0))?;
        let mut writer = BufWriter::with_capacity(self.runs.buffer as usize, &self.file);
        items.iter().try_for_each(|&item| write_item(&mut writer, item))?;
        writer.flush()
    }

    /// The number of items in some cells.
    pub(crate) fn count(&self, cells: Range<usize>) -> u64 {
        self.cells[cells].iter().map(|cell| cell.items).sum()
    }

    /// Appends the items of some cells to `items`.
    pub(crate) fn read(
        &self,
        cells: Range<usize>,
        items: &mut Vec<Item<V>>,
    ) -> Result<(), BuildError> {
        let mut found = Cell::default();
        try_reserve(items, self.count(cells.clone()) as usize)?;
        for run in &self.borders {
            let range = run[cells.start]..run[cells.end];
            let mut reader = self.reader(range.clone())?;
            for _ in range {
                let item =
                    read_item(&mut reader).map_err(|error| failed(&self.directory, error))?;
                found.add(item);
                items.push(item);
            }
        }
        let written = self.cells[cells].iter();
        match found.sum == written.fold(0, |sum, cell| cell.sum.wrapping_add(sum)) {
            true => Ok(()),
            false => {
                let error = io::Error::new(ErrorKind::InvalidData, "hashes were lost or changed");
                Err(failed(&self.directory, error))
            }
        }
    }

    /// A reader of a range of items.
    fn reader(&self, items: Range<u64>) -> Result<impl Read, BuildError> {
        let size = size_of::<Item<V>>() as u64;
        let bytes = (items.end - items.start) * size;
        let mut file = &self.file;
        let sought = file.seek(SeekFrom::Start(items.start * size));
        sought.map_err(|error| failed(&self.directory, error))?;
        Ok(BufReader::with_capacity(self.runs.buffer.min(bytes) as usize, file.take(bytes)))
    }

    /// The same items in the order of another seed's hashes.
    pub(crate) fn with_seed(&self, seed: u8) -> Result<Self, BuildError> {
        self.rewritten(seed, |_| ())
    }

    /// The same items without duplicates.
    pub(crate) fn distinct(&self) -> Result<Self, BuildError> {
        self.rewritten(self.seed, |items| {
            items.sort_unstable();
            items.dedup();
        })
    }

    /// Reads one cell after another, changes its items and writes them to a new file.
    fn rewritten(&self, seed: u8, change: impl Fn(&mut Vec<Item<V>>)) -> Result<Self, BuildError> {
        let mut new = Self::create(&self.directory, self.runs, seed)?;
        let (mut pending, mut items) = (Vec::new(), Vec::new());
        for cell in 0..self.cells.len() {
            self.read(cell..cell + 1, &mut items)?;
            change(&mut items);
            for &item in &items {
                if pending.len() as u64 >= self.runs.items {
                    new.write(&mut pending)?;
                }
                try_reserve(&mut pending, 1)?;
                pending.push(item);
            }
            items.clear();
        }
        new.write(&mut pending)?;
        Ok(new)
    }
}

fn write_item<V: Value>(writer: &mut impl Write, item: Item<V>) -> io::Result<()> {
    writer.write_all(&item.hash.to_le_bytes())?;
    match size_of::<V>() {
        0 => Ok(()),
        _ => writer.write_all(&item.value.to_word().to_le_bytes()),
    }
}

fn read_item<V: Value>(reader: &mut impl Read) -> io::Result<Item<V>> {
    let mut word = [0; 8];
    reader.read_exact(&mut word)?;
    let hash = u64::from_le_bytes(word);
    if size_of::<V>() > 0 {
        reader.read_exact(&mut word)?;
    }
    Ok(Item { hash, value: V::from_word(u64::from_le_bytes(word)) })
}

fn failed(directory: &Path, error: io::Error) -> BuildError {
    BuildError::Spill { directory: directory.into(), error }
}
