//! A run of segments whose keys are processed together.
//!
//! Segments are the top bits of a mixed hash, so a run of `2^k` of them that begins at a multiple
//! of `2^k` is identified by fewer top bits. Its keys can be separated before the number of
//! segments is known.

use crate::ribbon::equation::segment;

/// All segments whose numbers share the same leading bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Group {
    segment_bits: u32,
    group_bits: u32,
    number: u64,
}

impl Group {
    /// All segments.
    pub(crate) fn all(segment_bits: u32) -> Self {
        Self::new(segment_bits, 0, 0)
    }

    /// Group `number` of `1 << group_bits` groups. There must not be more groups than segments.
    pub(crate) fn new(segment_bits: u32, group_bits: u32, number: u64) -> Self {
        debug_assert!(group_bits <= segment_bits && number >> group_bits == 0);
        Self { segment_bits, group_bits, number }
    }

    /// All `1 << group_bits` groups, in order.
    pub(crate) fn all_of(segment_bits: u32, group_bits: u32) -> impl Iterator<Item = Self> {
        (0..1 << group_bits).map(move |number| Self::new(segment_bits, group_bits, number))
    }

    /// The first segment of the group.
    pub(crate) fn first(self) -> u64 {
        self.number << (self.segment_bits - self.group_bits)
    }

    /// The number of segments in the group.
    pub(crate) fn len(self) -> usize {
        1 << (self.segment_bits - self.group_bits)
    }

    /// The segments of the group.
    pub(crate) fn segments(self) -> core::ops::Range<u64> {
        self.first()..self.first() + self.len() as u64
    }

    /// The cells that the group consists of, out of `1 << bits` cells. Cells, like segments, are
    /// the top bits of the mixed hash. There must not be more groups than cells.
    #[cfg(feature = "std")]
    pub(crate) fn cells(self, bits: u32) -> core::ops::Range<usize> {
        let each = bits - self.group_bits;
        (self.number << each) as usize..((self.number + 1) << each) as usize
    }

    /// The group that contains the segment `segments` after the first of this group, or this group
    /// if it is the only one.
    pub(crate) fn after(self, segments: u64) -> Self {
        let further = segments >> (self.segment_bits - self.group_bits);
        Self { number: self.number + further, ..self }
    }

    /// The bit of a mixed hash that splits the group in halves (level 0), its halves (level 1), and
    /// so on.
    pub(crate) fn bit(self, level: u32) -> u32 {
        63 - self.group_bits - level
    }

    /// The segment of a mixed hash, counted from the first segment of the group.
    #[inline(always)]
    pub(crate) fn position(self, mixed: u64) -> usize {
        (segment(mixed, self.segment_bits) - self.first()) as usize
    }
}
