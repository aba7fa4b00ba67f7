//! Stores hashes in a file until their segments are solved.
//!
//! The file consists of *runs*, written one after another. Each run is ordered by *cell*: the top
//! bits of the mixed hashes. The beginning of every cell of every run is kept in memory, so a group
//! of segments is one range of each run and is read sequentially.
//!
//! ```text
//! run 0    | cell 0 | cell 1 | cell 2 | cell 3 |
//! run 1                                         | cell 0 | cell 1 | cell 2 | cell 3 |
//! group 1                     ^^^^^^^^^^^^^^^^^                    ^^^^^^^^^^^^^^^^^
//! ```
//!
//! The file has no name, so nothing has to be removed. The operating system may lose data that it
//! accepted, if it later fails to write it. So that this does not become a false negative, the sum
//! of each cell's hashes is kept in memory and compared.

use super::unnamed_file;
use crate::build::{Group, Item, Partitioned, Value, order_in_place};
use crate::error::BuildError;
use crate::plan::Runs;
use crate::progress::Reporter;
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
    fn add<V: Value>(&mut self, item: Item<u64, V>) {
        self.items += 1;
        self.sum = self.sum.wrapping_add(item.hash ^ item.value.to_word().rotate_left(32));
    }
}

impl<V: Value> Spill<V> {
    pub(crate) fn create(directory: &Path, runs: Runs) -> Result<Self, BuildError> {
        let file = unnamed_file::create(directory).map_err(|error| failed(directory, error))?;
        Ok(Self {
            directory: directory.into(),
            file,
            runs,
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

    /// Writes a run. Orders `items` by cell.
    pub(crate) fn write(&mut self, items: &mut [Item<u64, V>]) -> Result<(), BuildError> {
        let borders = order_in_place(items, Group::all(self.runs.cell_bits), 1)?;
        let begin = self.len();
        self.append(items).map_err(|error| failed(&self.directory, error))?;
        for (cell, range) in self.cells.iter_mut().zip(borders.windows(2)) {
            items[range[0]..range[1]].iter().for_each(|&item| cell.add(item));
        }
        self.borders.push(borders.into_iter().map(|border| begin + border as u64).collect());
        Ok(())
    }

    /// Appends items to the file.
    fn append(&mut self, items: &[Item<u64, V>]) -> io::Result<()> {
        self.file.seek(SeekFrom::End(0))?;
        let mut writer = BufWriter::with_capacity(self.runs.buffer as usize, &self.file);
        items.iter().try_for_each(|&item| write_item(&mut writer, item))?;
        writer.flush()
    }

    /// The keys of a group of segments.
    pub(crate) fn load(
        &self,
        group: Group,
        threads: usize,
    ) -> Result<Partitioned<'static, V>, BuildError> {
        let cells = group.cells(self.runs.cell_bits);
        // If a segment consists of whole cells, its keys are read directly to their location.
        let pieces = if cells.len() >= group.len() { group.len() } else { 1 };
        let loaded = self.read(cells, pieces, group.first())?;
        match pieces == group.len() {
            true => Ok(loaded),
            false => {
                let items = loaded.into_items();
                Partitioned::new(items, group, threads, &mut Reporter::default())
            }
        }
    }

    /// The items of some cells in `pieces` pieces of equally many cells. The pieces are segments;
    /// `first` is the number of the first.
    fn read(
        &self,
        cells: Range<usize>,
        pieces: usize,
        first: u64,
    ) -> Result<Partitioned<'static, V>, BuildError> {
        let each = cells.len() / pieces;
        let piece = |number: usize| cells.start + number * each..cells.start + (number + 1) * each;
        let mut borders = try_filled(0, pieces + 1)?;
        for number in 0..pieces {
            borders[number + 1] = borders[number] + self.sum_of(piece(number)).items as usize;
        }
        // The same capacity for every group, so that the allocator can reuse the buffer of the
        // preceding group.
        let mut items = Vec::new();
        try_reserve(&mut items, self.fullest_run(cells.len()) as usize)?;
        items.resize(borders[pieces], Item::default());
        let mut ends = borders.clone();
        for run in &self.borders {
            let mut reader = self.reader(run[cells.start]..run[cells.end])?;
            for number in 0..pieces {
                let Range { start, end } = piece(number);
                let begin = ends[number];
                ends[number] += (run[end] - run[start]) as usize;
                self.read_into(&mut reader, &mut items[begin..ends[number]])?;
            }
        }
        let mut found = Cell::default();
        items.iter().for_each(|&item| found.add(item));
        self.check(cells, found)?;
        Ok(Partitioned::ordered(items, borders, first))
    }

    /// A reader of a range of items.
    fn reader(&self, items: Range<u64>) -> Result<impl Read, BuildError> {
        let size = size_of::<Item<u64, V>>() as u64;
        let bytes = (items.end - items.start) * size;
        let mut file = &self.file;
        let sought = file.seek(SeekFrom::Start(items.start * size));
        sought.map_err(|error| failed(&self.directory, error))?;
        Ok(BufReader::with_capacity(self.runs.buffer.min(bytes) as usize, file.take(bytes)))
    }

    fn read_into(
        &self,
        reader: &mut impl Read,
        items: &mut [Item<u64, V>],
    ) -> Result<(), BuildError> {
        for item in items {
            *item = read_item(reader).map_err(|error| failed(&self.directory, error))?;
        }
        Ok(())
    }

    /// The number and sum of the items of some cells.
    fn sum_of(&self, cells: Range<usize>) -> Cell {
        self.cells[cells].iter().fold(Cell::default(), |sum, cell| Cell {
            items: sum.items + cell.items,
            sum: sum.sum.wrapping_add(cell.sum),
        })
    }

    /// Returns an error if the items found in some cells are not those that were written.
    fn check(&self, cells: Range<usize>, found: Cell) -> Result<(), BuildError> {
        match found.sum == self.sum_of(cells).sum {
            true => Ok(()),
            false => {
                let error = io::Error::new(ErrorKind::InvalidData, "hashes were lost or changed");
                Err(failed(&self.directory, error))
            }
        }
    }

    /// The number of items in the fullest of `1 << bits` groups of cells.
    pub(crate) fn fullest(&self, bits: u32) -> u64 {
        self.fullest_run(self.cells.len() >> bits)
    }

    /// The number of items in the fullest group of `cells` cells.
    fn fullest_run(&self, cells: usize) -> u64 {
        let groups = self.cells.chunks(cells);
        groups.map(|group| group.iter().map(|cell| cell.items).sum()).max().unwrap_or(0)
    }

    /// The same items without duplicates, in runs of at most `max` items. `None` if the distinct
    /// items of a single cell do not fit a buffer of `max` items; see [`Self::distinct_of`].
    pub(crate) fn distinct(&self, max: usize) -> Result<Option<Self>, BuildError> {
        let mut distinct = Self::create(&self.directory, self.runs)?;
        let mut pending = Vec::new();
        try_reserve(&mut pending, max.min(usize::try_from(self.len()).unwrap_or(max)))?;
        for cell in 0..self.cells.len() {
            let Some(items) = self.distinct_of(cell, max)? else { return Ok(None) };
            if pending.len() + items.len() > max {
                distinct.write(&mut pending)?;
                pending.clear();
            }
            pending.extend_from_slice(&items);
        }
        distinct.write(&mut pending)?;
        Ok(Some(distinct))
    }

    /// The distinct items of a cell. `None` if a full buffer of `max` items is still more than
    /// three quarters full after its duplicates are removed.
    fn distinct_of(
        &self,
        cell: usize,
        max: usize,
    ) -> Result<Option<Vec<Item<u64, V>>>, BuildError> {
        let (mut items, mut found) = (Vec::new(), Cell::default());
        for run in &self.borders {
            let Range { mut start, end } = run[cell]..run[cell + 1];
            while start < end {
                if items.len() == max {
                    deduplicate(&mut items);
                    // With so little free space, the rest of the cell could take many rounds.
                    if items.len() > max / 4 * 3 {
                        return Ok(None);
                    }
                }
                let count = (max - items.len()).min((end - start) as usize);
                let begin = items.len();
                try_reserve(&mut items, count)?;
                items.resize(begin + count, Item::default());
                let mut reader = self.reader(start..start + count as u64)?;
                self.read_into(&mut reader, &mut items[begin..])?;
                items[begin..].iter().for_each(|&item| found.add(item));
                start += count as u64;
            }
        }
        self.check(cell..cell + 1, found)?;
        deduplicate(&mut items);
        Ok(Some(items))
    }
}

fn deduplicate<V: Value>(items: &mut Vec<Item<u64, V>>) {
    items.sort_unstable();
    items.dedup();
}

fn write_item<V: Value>(writer: &mut impl Write, item: Item<u64, V>) -> io::Result<()> {
    writer.write_all(&item.hash.to_le_bytes())?;
    match size_of::<V>() {
        0 => Ok(()),
        _ => writer.write_all(&item.value.to_word().to_le_bytes()),
    }
}

fn read_item<V: Value>(reader: &mut impl Read) -> io::Result<Item<u64, V>> {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Random;

    /// Spills some runs of random items. Also returns all items.
    fn spilled<V: Value>(cell_bits: u32) -> (Spill<V>, Vec<Item<u64, V>>) {
        let runs = Runs { items: 1000, cell_bits, buffer: 4096 };
        let mut spill = Spill::create(&std::env::temp_dir(), runs).expect("a directory");
        let (mut random, mut all) = (Random(3), Vec::new());
        for length in [1000, 1, 0, 777, 1000] {
            let mut item = || Item { hash: random.next(), value: V::from_word(random.next()) };
            let mut run: Vec<_> = (0..length).map(|_| item()).collect();
            spill.write(&mut run).expect("space");
            all.extend(run);
        }
        assert_eq!(spill.len(), all.len() as u64);
        (spill, all)
    }

    /// For any number of cells and groups, every segment has its items.
    fn check_segments<V: Value>() {
        for (cell_bits, segment_bits) in [(0, 0), (3, 0), (3, 2), (3, 3), (3, 6), (0, 4)] {
            let (spill, mut all) = spilled::<V>(cell_bits);
            all.sort_unstable();
            for group_bits in 0..=segment_bits.min(cell_bits) {
                let mut found = Vec::new();
                for number in 0..1 << group_bits {
                    let group = Group::new(segment_bits, group_bits, number);
                    let loaded = spill.load(group, 2).expect("readable");
                    for segment in group.segments() {
                        let mut items = loaded.segment(segment).to_vec();
                        items.sort_unstable();
                        found.extend(items);
                    }
                    assert!(loaded.into_items().len() as u64 <= spill.fullest(group_bits));
                }
                // Segments are in order and sorted within, so all items are sorted.
                assert_eq!(found, all, "{cell_bits} {segment_bits} {group_bits}");
            }
        }
    }

    #[test]
    fn every_segment_has_its_items() {
        check_segments::<()>();
        check_segments::<u64>();
    }

    #[test]
    fn each_item_once() {
        let (mut spill, mut all) = spilled::<u64>(2);
        let mut again: Vec<_> = all.iter().step_by(3).copied().collect();
        spill.write(&mut again).expect("space");
        all.sort_unstable();
        let everything = Group::all(0);
        let distinct = spill.distinct(1000).expect("readable").expect("they fit");
        let mut found = distinct.load(everything, 1).expect("readable").into_items().into_owned();
        found.sort_unstable();
        assert_eq!(found, all);
        assert!(spill.distinct(600).expect("readable").is_none());
    }

    #[test]
    fn what_is_lost_or_altered_is_noticed() {
        let (spill, _) = spilled::<()>(3);
        (&spill.file).seek(SeekFrom::Start(8 * 1500)).expect("a file");
        (&spill.file).write_all(&[0; 8]).expect("space");
        let broken = |spill: &Spill<()>, kind| match spill.load(Group::all(2), 1) {
            Err(BuildError::Spill { error, .. }) => assert_eq!(error.kind(), kind),
            other => panic!("{:?}", other.map(|keys| keys.into_items().len())),
        };
        broken(&spill, ErrorKind::InvalidData);
        assert!(matches!(spill.distinct(10_000), Err(BuildError::Spill { .. })));
        spill.file.set_len(1000).expect("a file");
        broken(&spill, ErrorKind::UnexpectedEof);
    }
}
