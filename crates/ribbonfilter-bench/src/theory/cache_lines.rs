//! The memory that a query touches. The paper's section 5.2 computes 2.25 cache lines for 6 columns
//! and w = 64 with interleaved columns, 1.5 if rows were stored one after another, and 3 for an Xor
//! filter.

use crate::table::{Cell, Table};
use ribbonfilter::Width;
use ribbonfilter::simulate::{interleaved, row_major};

pub const TEXT: &str = "The paper, section 5.2: with 6 columns and w = 64 a query reads 768 bits in \
    2.25 cache lines of 64 bytes and essentially one page; it would be 1.5 lines if rows were stored \
    one after another; an Xor filter reads 3 lines. Counted here over all starts of the library's \
    layout, by `ribbon-bench theory cache-lines`. A block has 64 slots for w = 128, too, so that a \
    query reads 191 r bits on average instead of the 256 r of blocks of 128 slots.";

const COLUMNS: [u32; 6] = [1, 3, 6, 8, 11, 16];

pub fn tables() -> Vec<Table> {
    let line = |(width, columns)| {
        let (ours, rows) = (interleaved(width, columns), row_major(width, columns));
        vec![
            Cell::number(width.bits().into(), 0),
            Cell::number(columns.into(), 0),
            Cell::number(ours.bits, 1),
            Cell::number(ours.lines, 3),
            Cell::number(ours.pages, 3),
            Cell::number(rows.bits, 0),
            Cell::number(rows.lines, 3),
        ]
    };
    let all = Width::ALL.into_iter().flat_map(|width| COLUMNS.map(|columns| (width, columns)));
    vec![Table {
        title: "Solution bits, cache lines and pages of a query".into(),
        note: "The solution begins at a page. Not counted: one more line for the seed of a segment \
               in a Standard filter of several segments, for the byte of a shard in a Balanced \
               filter, and for the code of a bucket in a Bumped filter, whose second layer is read by \
               4 to 11 % of the queries. These bytes are few and stay in the cache."
            .into(),
        columns: vec!["w", "r", "bits", "lines", "pages", "bits by rows", "lines by rows"],
        rows: all.map(line).collect(),
    }]
}
