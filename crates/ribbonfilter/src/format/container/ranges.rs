//! The directory of a container whose shards were filled until the first failure: the mixed hash
//! at which each shard begins.
//!
//! ```text
//! one solution of all shards | border and checksum of shard 0, 1, … | tail | footer
//! ```

use super::{Container, check};
use crate::Width;
use crate::error::OpenError;
use crate::format::checks::last_of;
use crate::format::{FOOTER_BYTES, MAX_BLOCKS, at, ensure, get, little_endian};
use crate::ribbon::equation::{FINGERPRINT_BITS, Starts};
use crate::ribbon::layout::Layout;
use crate::ribbon::search::partition_point;
use core::ops::Range;

/// Bytes of the tail, between borders and footer: slots of a shard (4), slots of the last shard
/// (4), bits of a cell (1), bytes of a border (1), the seed of all shards but the last (1), and
/// the checksum of the solution (4).
const TAIL: usize = 15;
/// Bytes of a shard's checksum, which follows its border.
const BORDER_CHECK: usize = 2;
/// The maximum number of bits of a cell's number.
pub(crate) const MAX_CELL_BITS: u32 = 44;
/// The maximum distance of the linear search from the predicted shard.
const STEPS: u32 = 8;

/// Shards that share one sequence of slots, each with a range of the mixed hashes.
///
/// A range is a run of *cells*. There are `1 << cell_bits` cells of equal width. The *border* of
/// a shard is its first cell. It is stored as the signed difference from the border that the
/// shard would have if all shards had the same width.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Ranges {
    pub(crate) width: Width,
    /// The number of shards, at least one.
    pub(crate) count: u64,
    /// Slots of every shard but the last.
    pub(crate) slots: u64,
    pub(crate) last_slots: u64,
    /// The seed of every shard but the last.
    pub(crate) seed: u8,
    pub(crate) last_seed: u8,
    pub(crate) columns: u32,
    pub(crate) boundary: u64,
    pub(crate) cell_bits: u32,
    /// Bytes of a stored border, 1 to 8.
    pub(crate) border_bytes: u32,
    /// The mean width of a shard in cells, a fixed-point number with sixteen fractional bits,
    /// rounded down. So its product with a shard's number is at most the number of all cells.
    step: u64,
}

impl Ranges {
    pub(super) fn decode(
        data: &[u8],
        raw: &[u8; FOOTER_BYTES],
        width: Width,
    ) -> Result<Self, OpenError> {
        let tail: &[u8; TAIL] = last_of(data)?;
        let ranges = Self {
            width,
            count: get(raw, at::SHARDS),
            slots: little_endian(&tail[..4]),
            last_slots: little_endian(&tail[4..8]),
            last_seed: raw[at::SEED],
            columns: get(raw, at::COLUMNS) as u32,
            boundary: get(raw, at::BOUNDARY),
            cell_bits: tail[8].into(),
            border_bytes: tail[9].into(),
            seed: tail[10],
            step: 0,
        };
        let empty = get(raw, at::KEYS) == 0;
        let block_slots = u64::from(width.block_slots());
        let possible =
            ranges.slots >= u64::from(width.bits()) && ranges.slots.is_multiple_of(block_slots);
        ensure(possible && (ranges.last_slots == 0) == empty, "number of slots")?;
        let possible = ranges.columns <= FINGERPRINT_BITS && (ranges.columns == 0) == empty;
        ensure(possible, "number of columns")?;
        ensure(ranges.count == 1 || ranges.count > 1 && !empty, "number of shards")?;
        let possible = ranges.cell_bits <= MAX_CELL_BITS && (1..=8).contains(&ranges.border_bytes);
        ensure(possible, "directory")?;
        let blocks = ranges.total_slots().div_ceil(block_slots);
        let possible = ranges.boundary == 0 || ranges.boundary < blocks;
        ensure(possible && blocks <= MAX_BLOCKS, "column boundary")?;
        Ok(ranges.with_step())
    }

    fn with_step(self) -> Self {
        Self { step: (1 << (self.cell_bits + 16)) / self.count, ..self }
    }

    /// The ranges of shards with these borders, without columns.
    pub(crate) fn new(
        width: Width,
        cell_bits: u32,
        slots: u64,
        last_slots: u64,
        borders: &[u64],
    ) -> Self {
        let count = borders.len() as u64;
        let mut ranges = Self {
            width,
            count,
            slots,
            last_slots,
            last_seed: 0,
            columns: 0,
            boundary: 0,
            cell_bits,
            border_bytes: 1,
            seed: 0,
            step: 0,
        }
        .with_step();
        let bits = (0..).zip(borders).map(|(shard, border)| {
            let difference = border.wrapping_sub(ranges.expected_border(shard)) as i64;
            65 - (difference ^ difference >> 63).leading_zeros()
        });
        ranges.border_bytes = bits.max().unwrap_or(1).div_ceil(8);
        ranges
    }

    pub(crate) fn with_columns(self, columns: u32, boundary: u64) -> Self {
        Self { columns, boundary, ..self }
    }

    /// The number of the last shard.
    #[cfg_attr(not(target_arch = "wasm32"), inline(always))]
    pub(crate) fn last(&self) -> u64 {
        self.count - 1
    }

    fn slots_of(&self, shard: u64) -> u64 {
        if shard == self.last() { self.last_slots } else { self.slots }
    }

    pub(crate) fn starts(&self, shard: u64) -> Starts {
        Starts::new(self.slots_of(shard), self.width, true)
    }

    pub(crate) fn total_slots(&self) -> u64 {
        self.last() * self.slots + self.last_slots
    }

    pub(crate) fn layout(&self) -> Layout {
        Layout::new(self.width, self.total_slots(), self.columns, self.boundary)
    }

    /// The bytes that hold the solution of one shard.
    fn data(&self, shard: u64) -> Range<usize> {
        let layout = self.layout();
        let begin = layout.offset(layout.block_of(shard * self.slots));
        match shard == self.last() {
            true => begin..layout.size_in_bytes() as usize,
            false => begin..layout.offset(layout.block_of((shard + 1) * self.slots)),
        }
    }

    fn entry_bytes(&self) -> usize {
        self.border_bytes as usize + BORDER_CHECK
    }

    /// The size of borders and tail in bytes.
    pub(crate) fn directory_len(&self) -> u64 {
        self.count * self.entry_bytes() as u64 + TAIL as u64
    }

    /// The number of bytes that precede the footer.
    pub(crate) fn data_bytes(&self) -> u64 {
        self.layout().size_in_bytes().saturating_add(self.directory_len())
    }

    /// The border that a shard would have if all shards had the same width.
    #[cfg_attr(not(target_arch = "wasm32"), inline(always))]
    fn expected_border(&self, shard: u64) -> u64 {
        (shard * self.step) >> 16
    }

    /// The first cell of a shard. `bytes` are those of the container, whose length was checked
    /// when it was opened. Eight bytes can be read for any border, because tail and footer follow.
    #[cfg_attr(not(target_arch = "wasm32"), inline(always))]
    pub(crate) fn border(&self, bytes: &[u8], shard: u64) -> u64 {
        let back =
            self.directory_len() as usize + FOOTER_BYTES - shard as usize * self.entry_bytes();
        let begin = bytes.len() - back;
        let word: [u8; 8] = bytes[begin..begin + 8].try_into().expect("eight bytes");
        let unused = 64 - 8 * self.border_bytes;
        let difference = (i64::from_le_bytes(word) << unused) >> unused;
        self.expected_border(shard).wrapping_add_signed(difference)
    }

    /// The shard of a cell. If the borders are corrupt, this is any existing shard.
    #[cfg_attr(not(target_arch = "wasm32"), inline(always))]
    pub(crate) fn find(&self, bytes: &[u8], cell: u64) -> u64 {
        self.find_among(|shard| self.border(bytes, shard), cell)
    }

    /// The shard of a cell, given the borders. A prediction, a correction by the distance to the
    /// predicted shard's border, then a linear search of at most [`STEPS`] shards. If the shards
    /// are too uneven for that, a binary search.
    #[cfg_attr(not(target_arch = "wasm32"), inline(always))]
    fn find_among(&self, border: impl Fn(u64) -> u64, cell: u64) -> u64 {
        // Cells as a number of shards of the mean width.
        let in_shards =
            |cells: i64| ((i128::from(cells) * i128::from(self.count)) >> self.cell_bits) as i64;
        let mut shard = in_shards(cell as i64) as u64;
        if shard > 0 {
            let distance = cell.wrapping_sub(border(shard)) as i64;
            shard = shard.saturating_add_signed(in_shards(distance)).min(self.last());
        }
        for _ in 0..STEPS {
            if shard > 0 && border(shard) > cell {
                shard -= 1;
            } else if shard < self.last() && border(shard + 1) <= cell {
                shard += 1;
            } else {
                return shard;
            }
        }
        self.search(border, cell)
    }

    /// The shard of a cell, by binary search: about `log2(count)` steps for any borders.
    #[cold]
    #[inline(never)]
    fn search(&self, border: impl Fn(u64) -> u64, cell: u64) -> u64 {
        partition_point(self.last(), |shard| border(shard + 1) <= cell)
    }

    /// Writes everything that follows the solution; `borders` are the first cells of the shards.
    pub(crate) fn write(&self, bytes: &mut [u8], borders: &[u64], container: &Container) {
        let begin = bytes.len() - self.directory_len() as usize - FOOTER_BYTES;
        let (solution, directory) = bytes.split_at_mut(begin);
        let size = self.border_bytes as usize;
        for ((shard, border), entry) in
            (0..).zip(borders).zip(directory.chunks_exact_mut(self.entry_bytes()))
        {
            let difference = border.wrapping_sub(self.expected_border(shard));
            entry[..size].copy_from_slice(&difference.to_le_bytes()[..size]);
            let check = check(&solution[self.data(shard)]);
            entry[size..].copy_from_slice(&check.to_le_bytes()[..BORDER_CHECK]);
        }
        let tail = directory.len() - FOOTER_BYTES - TAIL;
        directory[tail..][..4].copy_from_slice(&(self.slots as u32).to_le_bytes());
        directory[tail + 4..][..4].copy_from_slice(&(self.last_slots as u32).to_le_bytes());
        directory[tail + 8] = self.cell_bits as u8;
        directory[tail + 9] = self.border_bytes as u8;
        directory[tail + 10] = self.seed;
        directory[tail + 11..][..4].copy_from_slice(&check(solution).to_le_bytes()[..4]);
        container.seal(directory);
    }

    /// Compares the checksum of each shard, then that of the solution of all.
    pub(super) fn verify(&self, solution: &[u8], directory: &[u8]) -> Result<(), OpenError> {
        let size = self.border_bytes as usize;
        for (shard, entry) in (0..self.count).zip(directory.chunks_exact(self.entry_bytes())) {
            let check = check(&solution[self.data(shard)]);
            if entry[size..] != check.to_le_bytes()[..BORDER_CHECK] {
                return Err(OpenError::CorruptShard { shard });
            }
        }
        let stored = &directory[directory.len() - FOOTER_BYTES - 4..][..4];
        match little_endian(stored) == check(solution) {
            true => Ok(()),
            false => Err(OpenError::CorruptData),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Variant;
    use crate::format::Filling;
    use crate::testing::Random;
    use alloc::vec::Vec;

    /// Every cell is found in the shard whose borders enclose it, for shards of any widths.
    #[test]
    fn cells_are_found_in_their_shards() {
        let mut random = Random(2);
        for cell_bits in [0, 1, 4, 10, 20, MAX_CELL_BITS] {
            for count in [1, 2, 3, 10, 1000] {
                let cells = 1 << cell_bits;
                if count > cells {
                    continue;
                }
                let mut borders: Vec<u64> =
                    (1..count).map(|_| 1 + random.below(cells - 1)).collect();
                borders.push(0);
                borders.sort_unstable();
                borders.dedup();
                let mut ranges = Ranges::new(Width::W64, cell_bits, 1024, 100, &borders);
                ranges.columns = 1;
                let filling = Filling::UntilFull(ranges);
                let container = Container::new(0, Variant::Standard, Width::W64, filling);
                let mut bytes = alloc::vec![0; ranges.data_bytes() as usize + FOOTER_BYTES];
                ranges.write(&mut bytes, &borders, &container.with_keys(1, 0.5));
                for (shard, &border) in (0..).zip(&borders) {
                    assert_eq!(ranges.border(&bytes, shard), border);
                    assert_eq!(ranges.find(&bytes, border), shard);
                    if border > 0 {
                        assert_eq!(ranges.find(&bytes, border - 1), shard - 1);
                    }
                }
                for _ in 0..100 {
                    let cell = random.below(cells);
                    let expected = borders.partition_point(|&border| border <= cell) - 1;
                    assert_eq!(ranges.find(&bytes, cell), expected as u64);
                }
                assert_eq!(ranges.find(&bytes, cells - 1), borders.len() as u64 - 1);
            }
        }
    }

    /// For any borders, even corrupt ones, a query reads only a few of them: it predicts a shard,
    /// searches a few shards next to it, and falls back to a binary search.
    #[test]
    fn few_borders_are_read_for_any_borders() {
        let mut random = Random(3);
        for count in [1, 2, 1000, 1 << 25] {
            let mut ranges = Ranges::new(Width::W16, 40, 64, 64, &[0]);
            ranges.count = count;
            let ranges = ranges.with_step();
            let max = 1 + 2 * STEPS + 64;
            let untrusted: [&dyn Fn(u64) -> u64; 4] =
                [&|_| 0, &|_| u64::MAX, &|shard| (count - shard) << 10, &|shard| {
                    shard.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 24
                }];
            for border in untrusted {
                for _ in 0..100 {
                    let read = core::cell::Cell::new(0);
                    let counted = |shard| {
                        read.set(read.get() + 1);
                        border(shard)
                    };
                    let shard = ranges.find_among(counted, random.below(1 << 40));
                    assert!(shard < count && read.get() <= max, "{} of {count} read", read.get());
                }
            }
        }
    }
}
