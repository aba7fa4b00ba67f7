//! Counts the memory that the solution's layout makes a query read.

use crate::Width;
use crate::ribbon::layout::Layout;

/// The average over all starts of a large filter.
#[derive(Clone, Copy, Debug)]
pub struct Locality {
    /// Bits that a query reads.
    pub bits: f64,
    /// Cache lines of 64 bytes in which they lie.
    pub lines: f64,
    /// Pages of 4096 bytes in which they lie.
    pub pages: f64,
}

const LINE: u64 = 64;
const PAGE: u64 = 4096;

/// What a query reads of a solution with interleaved columns that begins at a page: all columns of
/// the blocks in which its `w` slots lie.
pub fn interleaved(width: Width, columns: u32) -> Locality {
    // Blocks begin at multiples of a byte, so after this number of them the offsets in a page repeat.
    let starts = PAGE * u64::from(width.block_slots());
    let w = u64::from(width.bits());
    let layout = Layout::new(width, starts + w, columns, 0);
    let offset = |block: u64| layout.offset(block) as u64 * 8;
    average(starts, |start| {
        let (first, last) = (layout.block_of(start), layout.block_of(start + w - 1));
        (offset(first), offset(last + 1))
    })
}

/// What a query would read if each row of `columns` bits followed the previous one.
pub fn row_major(width: Width, columns: u32) -> Locality {
    let (w, columns) = (u64::from(width.bits()), u64::from(columns));
    average(8 * PAGE, |start| (start * columns, (start + w) * columns))
}

/// The average over starts that read the bits from the first result of `range` up to the second.
fn average(starts: u64, range: impl Fn(u64) -> (u64, u64)) -> Locality {
    let mut sums = [0; 3];
    for (first, end) in (0..starts).map(range) {
        let touched = |bytes: u64| (end - 1) / (8 * bytes) - first / (8 * bytes) + 1;
        sums = [sums[0] + end - first, sums[1] + touched(LINE), sums[2] + touched(PAGE)];
    }
    let [bits, lines, pages] = sums.map(|sum| sum as f64 / starts as f64);
    Locality { bits, lines, pages }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The paper's example, section 5.2: w = 64 and 6 columns take 768 bits in 2.25 cache lines. One
    /// start in 64 is aligned to its block and reads half of that.
    #[test]
    fn the_example_of_the_paper() {
        let found = interleaved(Width::W64, 6);
        assert_eq!(found.bits, 768.0 * 63.5 / 64.0);
        let aligned = f64::from(1 + 2 + 2 + 1) / 4.0; // 48 bytes from byte 0, 48, 32 and 16 of a line
        assert_eq!(found.lines, (2.25 * 63.0 + aligned) / 64.0);
        // 384 bits at any even bit: 1 + 382 / 512 lines.
        let rows = row_major(Width::W64, 6);
        assert_eq!((rows.bits, rows.lines), (384.0, 1.0 + 382.0 / 512.0));
    }
}
