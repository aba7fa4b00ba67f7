//! Key hashes in the order of their segments.

use crate::equation::segment;
use crate::error::{BuildError, try_filled};
use crate::progress::{Phase, Reporter};
use alloc::vec::Vec;

/// Mixed key hashes, those of a segment side by side.
pub(crate) struct Partitioned {
    hashes: Vec<u64>,
    /// Where each segment begins, and the end of the last.
    borders: Vec<usize>,
}

impl Partitioned {
    /// Orders hashes by their segments: count, then scatter.
    pub(crate) fn new(
        hashes: Vec<u64>,
        segment_bits: u32,
        progress: &mut Reporter<'_>,
    ) -> Result<Self, BuildError> {
        if segment_bits == 0 {
            let borders = [0, hashes.len()].into();
            return Ok(Self { hashes, borders });
        }
        progress.report(Phase::Partitioning, 0, 2)?;
        let mut borders = try_filled(0, (1 << segment_bits) + 1)?;
        for &hash in &hashes {
            borders[segment(hash, segment_bits) as usize + 1] += 1;
        }
        for segment in 1..borders.len() {
            borders[segment] += borders[segment - 1];
        }
        progress.report(Phase::Partitioning, 1, 2)?;
        let mut ordered = try_filled(0, hashes.len())?;
        let mut next = borders.clone();
        for &hash in &hashes {
            let place = &mut next[segment(hash, segment_bits) as usize];
            ordered[*place] = hash;
            *place += 1;
        }
        progress.report(Phase::Partitioning, 2, 2)?;
        Ok(Self { hashes: ordered, borders })
    }

    /// The hashes of a segment.
    pub(crate) fn segment(&self, segment: u64) -> &[u64] {
        let segment = segment as usize;
        &self.hashes[self.borders[segment]..self.borders[segment + 1]]
    }

    /// All hashes, in the order of their segments.
    pub(crate) fn into_hashes(self) -> Vec<u64> {
        self.hashes
    }
}
