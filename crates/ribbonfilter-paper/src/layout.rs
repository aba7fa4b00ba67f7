//! Interleaved columns (paper, section 5.2), and fewer columns in a prefix (section 5.1).
//!
//! The solution `Z` has `m` rows, a multiple of `w`, and `r` columns. It is stored in blocks of `w`
//! rows; a block has one word of `w` bits per column.
//!
//! ```text
//! block 0            block 1         boundary    block 2
//! [c0][c1] … [c6]    [c0][c1] … [c6]    |        [c0][c1] … [c6][c7]
//! ```
//!
//! If `r` is fractional, the first `boundary` blocks have one column fewer than the others. A
//! query uses the columns of the block in which it starts. So it never needs a column that the
//! following block lacks, and beyond the address of the block it has no branch for fractions.
//!
//! Invariant: `boundary < blocks` unless there is no block, so that the last block has all columns.

use crate::Width;

/// The number of rows and columns of a solution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    width: Width,
    blocks: u64,
    columns: u32,
    boundary: u64,
}

impl Layout {
    /// The layout with the number of columns nearest to `columns`, which may be a fraction.
    /// `slots` must be a multiple of `w`.
    pub fn new(width: Width, slots: u64, columns: f64) -> Self {
        let blocks = slots / width.slots();
        debug_assert_eq!(slots % width.slots(), 0);
        let max = libm::ceil(columns);
        let fewer = libm::round((max - columns) * blocks as f64) as u64;
        // A small system may have no fraction that is nearer than the next whole number.
        match fewer < blocks || blocks == 0 {
            true => Self { width, blocks, columns: max as u32, boundary: fewer },
            false => Self { width, blocks, columns: max as u32 - 1, boundary: 0 },
        }
    }

    /// The layout with these fields, if it satisfies the invariant.
    pub fn from_fields(width: Width, blocks: u64, columns: u32, boundary: u64) -> Option<Self> {
        let valid = boundary == 0 || (boundary < blocks && columns > 0);
        valid.then_some(Self { width, blocks, columns, boundary })
    }

    /// Width, blocks, columns, and blocks with one column fewer.
    pub fn fields(&self) -> (Width, u64, u32, u64) {
        (self.width, self.blocks, self.columns, self.boundary)
    }

    /// The ribbon width, which is the number of rows of a block.
    pub fn width(&self) -> Width {
        self.width
    }

    /// The number of rows.
    pub fn slots(&self) -> u64 {
        self.blocks * self.width.slots()
    }

    /// The number of blocks.
    pub fn blocks(&self) -> u64 {
        self.blocks
    }

    /// The maximum number of columns of a block.
    pub fn max_columns(&self) -> u32 {
        self.columns
    }

    /// The average number of columns of a block: `r`.
    pub fn columns(&self) -> f64 {
        f64::from(self.columns) - self.boundary as f64 / (self.blocks as f64).max(1.0)
    }

    /// The number of columns of a block.
    pub fn columns_of(&self, block: u64) -> usize {
        self.columns as usize - usize::from(block < self.boundary)
    }

    /// The first slot whose block has all columns.
    pub fn boundary_slot(&self) -> u64 {
        self.boundary * self.width.slots()
    }

    /// The first byte of a block.
    pub fn offset(&self, block: u64) -> usize {
        let words = block * u64::from(self.columns) - block.min(self.boundary);
        words as usize * self.width.bytes()
    }

    /// The bytes of all blocks.
    pub fn size(&self) -> usize {
        self.offset(self.blocks)
    }

    /// The same, unless it exceeds a `usize`.
    pub fn checked_size(&self) -> Option<usize> {
        let words = self.blocks.checked_mul(self.columns.into())? - self.boundary;
        self.blocks.checked_mul(self.width.slots())?;
        usize::try_from(words.checked_mul(self.width.bytes() as u64)?).ok()
    }

    /// The layout of a range of blocks, as a solution of its own.
    pub fn part(&self, first: u64, end: u64) -> Self {
        let (fewer, blocks) = (self.boundary.saturating_sub(first), end - first);
        match fewer < blocks || blocks == 0 {
            true => Self { blocks, boundary: fewer.min(blocks), ..*self },
            false => Self { blocks, boundary: 0, columns: self.columns - 1, ..*self },
        }
    }

    /// Whether every block has at least the columns that it has in `other`.
    pub fn contains(&self, other: &Self) -> bool {
        self.blocks == other.blocks
            && [0, other.boundary, self.boundary]
                .into_iter()
                .filter(|&block| block < self.blocks)
                .all(|block| other.columns_of(block) <= self.columns_of(block))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_bit_has_a_location_of_its_own() {
        for width in Width::ALL {
            for (blocks, columns) in [(1, 3.0), (5, 7.5), (7, 0.3), (100, 7.7), (3, 32.0)] {
                let layout = Layout::new(width, blocks * width.slots(), columns);
                let mut next = 0;
                for block in 0..blocks {
                    assert_eq!(layout.offset(block), next);
                    next += layout.columns_of(block) * width.bytes();
                }
                assert_eq!((layout.size(), layout.checked_size()), (next, Some(next)));
                assert_eq!(layout.columns_of(blocks - 1), layout.max_columns() as usize);
            }
        }
    }

    #[test]
    fn columns_are_the_nearest_possible() {
        for blocks in [1, 2, 9, 1000] {
            for columns in [0.1, 0.5, 1.0, 6.99, 7.0, 7.3] {
                let layout = Layout::new(Width::W64, 64 * blocks, columns);
                let off = (layout.columns() - columns).abs();
                assert!(off <= 0.5 / blocks as f64 + 1e-9, "{blocks} blocks, {columns}: {off}");
            }
        }
    }

    #[test]
    fn parts_have_the_columns_of_their_blocks() {
        let layout = Layout::new(Width::W32, 32 * 20, 7.4);
        for first in 0..20 {
            for end in first..=20 {
                let part = layout.part(first, end);
                assert_eq!(part.size(), layout.offset(end) - layout.offset(first));
                for block in first..end {
                    assert_eq!(part.columns_of(block - first), layout.columns_of(block));
                }
            }
        }
    }

    #[test]
    fn fields_that_no_layout_has_are_refused() {
        assert!(Layout::from_fields(Width::W64, 10, 0, 1).is_none());
        assert!(Layout::from_fields(Width::W64, 10, 3, 10).is_none());
        let huge = Layout::from_fields(Width::W64, u64::MAX / 4, 32, 1).expect("valid fields");
        assert_eq!(huge.checked_size(), None);
    }
}
