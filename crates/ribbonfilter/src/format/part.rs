//! The bytes of a part of a filter: a run of the filter's blocks, and what it takes to query them
//! and to join the parts again.
//!
//! ```text
//! blocks | seeds of their segments | label, 12 bytes | footer of the filter, kind 2
//!
//! label:  4 bytes number of the part, counted from 0
//!         4 bytes number of parts
//!         4 bytes data checksum of the filter
//! ```
//!
//! Except for kind and checksums, the footer equals that of the filter byte for byte, so that
//! joining restores even fields that this version does not read.

use super::checks::last_of;
use super::{
    FOOTER_BYTES, Footer, Kind, at, check_length, ensure, get, little_endian, write_checks,
};
use crate::Variant;
use crate::error::OpenError;
use crate::ribbon::range::BlockRange;
use core::ops::Range;

/// Bytes of the label.
const LABEL: usize = 12;

/// The bits of the kind in its byte.
const KIND: u8 = 3;

/// Identifies a part and its filter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Label {
    /// The number of the part, counted from 0.
    pub(crate) number: u32,
    pub(crate) parts: u32,
    /// The data checksum of the filter.
    pub(crate) filter: u32,
}

impl Label {
    fn read(label: &[u8; LABEL]) -> Self {
        let [number, parts, filter] = [0, 4, 8].map(|at| little_endian(&label[at..at + 4]) as u32);
        Self { number, parts, filter }
    }

    fn encode(self) -> [u8; LABEL] {
        let mut label = [0; LABEL];
        let numbers = [self.number, self.parts, self.filter];
        for (field, number) in label.chunks_exact_mut(4).zip(numbers) {
            field.copy_from_slice(&number.to_le_bytes());
        }
        label
    }
}

/// The data checksum that is stored in a filter's footer.
pub(crate) fn check_of(filter: &[u8]) -> u32 {
    let raw = filter.last_chunk::<FOOTER_BYTES>().expect("a filter");
    get(raw, at::DATA_CHECK) as u32
}

/// Reads the end of a part: the footer of its filter, and the label. O(1).
pub(crate) fn read(bytes: &[u8]) -> Result<(Footer, Label, BlockRange), OpenError> {
    let mut footer = Footer::EMPTY;
    let data = footer.fill_from_end(bytes, Kind::Part)?;
    let shape = &footer.shape;
    ensure(can_be_cut(shape.variant), "variant")?;
    let label = Label::read(last_of(data)?);
    let possible = label.number < label.parts && u64::from(label.parts) <= BlockRange::max(shape);
    ensure(possible, "number of parts")?;
    let range = BlockRange::new(shape, label.number, label.parts);
    check_length(bytes, data_bytes(&footer, &range))?;
    Ok((footer, label, range))
}

/// Whether filters of this variant can be cut: every key must have one location, so that a
/// single part can be queried for it.
pub(crate) fn can_be_cut(variant: Variant) -> bool {
    matches!(variant, Variant::Standard | Variant::Homogeneous)
}

/// The bytes of a part that precede its footer.
fn data_bytes(footer: &Footer, range: &BlockRange) -> u64 {
    let runs = range.solution_bytes().saturating_add(range.seed_bytes(&footer.shape));
    runs.saturating_add(LABEL as u64)
}

/// All bytes of a part.
pub(crate) fn part_bytes(footer: &Footer, range: &BlockRange) -> usize {
    data_bytes(footer, range) as usize + FOOTER_BYTES
}

/// A run of bytes that a filter and its part have in common.
struct Run {
    in_filter: Range<usize>,
    in_part: Range<usize>,
}

/// The two runs of a part: its blocks, and the seeds of its segments.
fn runs(footer: &Footer, range: &BlockRange) -> [Run; 2] {
    let shape = &footer.shape;
    let [blocks, seeds] =
        [range.solution_bytes(), range.seed_bytes(shape)].map(|bytes| bytes as usize);
    let first_seed = match seeds {
        0 => 0,
        _ => (shape.layout().size_in_bytes() + range.segments.start) as usize,
    };
    let first_block = range.offset(shape);
    [
        Run { in_filter: first_block..first_block + blocks, in_part: 0..blocks },
        Run { in_filter: first_seed..first_seed + seeds, in_part: blocks..blocks + seeds },
    ]
}

/// Writes a part of a filter.
pub(crate) fn write(
    part: &mut [u8],
    filter: &[u8],
    footer: &Footer,
    range: &BlockRange,
    label: Label,
) {
    for Run { in_filter, in_part } in runs(footer, range) {
        part[in_part].copy_from_slice(&filter[in_filter]);
    }
    let end = part.len() - FOOTER_BYTES;
    part[end - LABEL..end].copy_from_slice(&label.encode());
    write_footer(part, filter, Kind::Part);
}

/// Copies a part back to its offset in the filter.
pub(crate) fn put_back(filter: &mut [u8], part: &[u8], footer: &Footer, range: &BlockRange) {
    for Run { in_filter, in_part } in runs(footer, range) {
        filter[in_filter].copy_from_slice(&part[in_part]);
    }
}

/// Completes a filter whose parts are all copied back, with the footer of any part. Returns
/// whether the filter has its original checksum.
pub(crate) fn complete(filter: &mut [u8], part: &[u8], label: Label) -> bool {
    write_footer(filter, part, Kind::Filter);
    check_of(filter) == label.filter
}

/// Copies the footer of `from` to the end of `to`, with the given kind and new checksums.
fn write_footer(to: &mut [u8], from: &[u8], kind: Kind) {
    let [to_footer, from_footer] = [to.len(), from.len()].map(|len| len - FOOTER_BYTES);
    to[to_footer..].copy_from_slice(&from[from_footer..]);
    let what = &mut to[to_footer + at::WHAT];
    *what = *what & !KIND | kind as u8;
    write_checks(to);
}
