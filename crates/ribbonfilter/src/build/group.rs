//! A run of segments whose keys are worked on together.
//!
//! Segments are the top bits of a mixed hash, so a run of `2^k` of them that begins at a
//! multiple of `2^k` is given by fewer top bits: its keys can be set apart before the number
//! of segments is known.

use crate::ribbon::equation::segment;

/// All segments whose numbers begin with the same bits.
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

    /// One of `1 << group_bits` groups, which must not be more than there are segments.
    pub(crate) fn new(segment_bits: u32, group_bits: u32, number: u64) -> Self {
        debug_assert!(group_bits <= segment_bits && number >> group_bits == 0);
        Self { segment_bits, group_bits, number }
    }

    /// Its first segment.
    pub(crate) fn first(self) -> u64 {
        self.number << (self.segment_bits - self.group_bits)
    }

    /// How many segments it has.
    pub(crate) fn len(self) -> usize {
        1 << (self.segment_bits - self.group_bits)
    }

    /// Its segments.
    pub(crate) fn segments(self) -> core::ops::Range<u64> {
        self.first()..self.first() + self.len() as u64
    }

    /// Which of `1 << bits` cells, given by the top bits as segments are, it consists of; the
    /// groups must not be more than these.
    #[cfg(feature = "std")]
    pub(crate) fn cells(self, bits: u32) -> core::ops::Range<usize> {
        let each = bits - self.group_bits;
        (self.number << each) as usize..((self.number + 1) << each) as usize
    }

    /// The group that has the segment so many behind its first, or itself if it is the only one.
    pub(crate) fn after(self, segments: u64) -> Self {
        let further = segments >> (self.segment_bits - self.group_bits);
        Self { number: self.number + further, ..self }
    }

    /// The bit of a mixed hash that halves the group, its halves, and so on.
    pub(crate) fn bit(self, level: u32) -> u32 {
        63 - self.group_bits - level
    }

    /// Which of its segments a mixed hash belongs to, counted from its first.
    #[inline(always)]
    pub(crate) fn place(self, mixed: u64) -> usize {
        (segment(mixed, self.segment_bits) - self.first()) as usize
    }
}
