//! The memory that a query reads (paper, section 5.2): with interleaved columns, `w` = 64 and `r` =
//! 6, 768 bits in 2.25 cache lines; row-major, 1.5 cache lines.

use super::widths;
use crate::{Layout, Width};
use std::io::{self, Write};

/// The average over all starts of a large filter.
#[derive(Clone, Copy, Debug, PartialEq)]
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

/// What a query reads of interleaved columns that begin at a page.
pub fn interleaved(width: Width, columns: u32) -> Locality {
    // After this number of slots the offsets in a page repeat.
    let w = width.slots();
    let starts = PAGE * w;
    let layout = Layout::new(width, starts + w, columns.into());
    let offset = |block| layout.offset(block) as u64 * 8;
    average(starts, |start| (offset(start / w), offset(start.div_ceil(w) + 1)))
}

/// What a query would read if each row of `columns` bits followed the preceding one.
pub fn row_major(width: Width, columns: u32) -> Locality {
    let (w, columns) = (width.slots(), u64::from(columns));
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

/// Prints both layouts for every width.
pub fn run(out: &mut dyn Write, _: f64) -> io::Result<()> {
    writeln!(
        out,
        "# bits, cache lines and pages of a query (paper, w=64, r=6: 768 bits, 2.25; 1.5)"
    )?;
    writeln!(out, "w\tr\tbits\tlines\tpages\tbits by rows\tlines\tpages\tlines by columns")?;
    for (width, w) in widths() {
        for columns in [3, 6, 8, 11] {
            write!(out, "{w}\t{columns}")?;
            for Locality { bits, lines, pages } in
                [interleaved(width, columns), row_major(width, columns)]
            {
                write!(out, "\t{bits:.1}\t{lines:.3}\t{pages:.3}")?;
            }
            // Column-major: each column is somewhere else, at any bit.
            let lines = f64::from(columns) * (1.0 + (w as f64 - 1.0) / (8 * LINE) as f64);
            writeln!(out, "\t{lines:.3}")?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One start in 64 is aligned to its block and reads half of the 768 bits. By rows it is 1.75
    /// lines, not the 1.5 of the paper: 384 bits at any even bit.
    #[test]
    fn the_example_of_the_paper() {
        let found = interleaved(Width::W64, 6);
        assert_eq!(found.bits, 768.0 * 63.5 / 64.0);
        let aligned = f64::from(1 + 2 + 2 + 1) / 4.0; // 48 bytes from byte 0, 48, 32 and 16 of a line
        assert_eq!(found.lines, (2.25 * 63.0 + aligned) / 64.0);
        let rows = row_major(Width::W64, 6);
        assert_eq!((rows.bits, rows.lines), (384.0, 1.0 + 382.0 / 512.0));
    }
}
