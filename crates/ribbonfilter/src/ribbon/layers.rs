//! The layers and buckets of a Bumped ribbon: what planner, construction, format and query must
//! agree on.
//!
//! ```text
//! slots   |  layer 0, bumping          |  layer 1, bumping |  last layer, Standard |
//!         | segment | segment | ...    | segment | ...     |  one segment          |
//! buckets | | | | | | | | | | | | | | |  | | | | | | | | |  (none)
//! ```
//!
//! The slots of all layers are numbered consecutively. A *bucket* is a run of `1 << log` slots.
//! Every segment of a bumping layer consists of whole buckets, so the bucket of a slot is the
//! slot's number shifted right, in any layer. A bucket has a *code* of two bits, which selects one
//! of four *thresholds*: keys that start in the bucket at an offset less than the threshold are
//! *bumped* to the next layer. (Dillinger, Huebschle-Schneider, Sanders and Walzer, "Fast succinct
//! retrieval and approximate membership using ribbon", section 4.)

use crate::Width;

/// The maximum number of layers after the first that the format can store.
pub(crate) const MAX_FURTHER: usize = 7;

/// The size of one layer, in the small types of the format: every filter contains several.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Layer {
    segment_slots: u32,
    segment_bits: u8,
}

impl Layer {
    /// The slots of a segment must fit into 32 bits, as in the format.
    #[inline]
    pub(crate) fn new(segment_bits: u32, segment_slots: u64) -> Self {
        debug_assert!(segment_slots >> 32 == 0 && segment_bits < 256);
        Self { segment_slots: segment_slots as u32, segment_bits: segment_bits as u8 }
    }

    /// There are `1 << segment_bits` segments.
    #[inline]
    pub(crate) fn segment_bits(self) -> u32 {
        self.segment_bits.into()
    }

    /// Slots of each segment.
    #[inline]
    pub(crate) fn segment_slots(self) -> u64 {
        self.segment_slots.into()
    }

    #[inline]
    pub(crate) fn slots(self) -> u64 {
        self.segment_slots().wrapping_shl(self.segment_bits())
    }
}

/// The layers after the first; only a Bumped ribbon has any.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Further {
    count: u8,
    layers: [Layer; MAX_FURTHER],
    /// The slots of all these layers.
    slots: u64,
    /// The capacity of the list of exceptions: buckets that bump all their keys.
    pub(crate) exceptions: u32,
}

impl Further {
    pub(crate) const NONE: Self = Self {
        count: 0,
        layers: [Layer { segment_slots: 0, segment_bits: 0 }; MAX_FURTHER],
        slots: 0,
        exceptions: 0,
    };

    /// The first `count` of these layers; the others must be the default.
    #[inline]
    pub(crate) fn new(layers: [Layer; MAX_FURTHER], count: usize, exceptions: u32) -> Self {
        // With an untrusted directory the sum may overflow; the format then rejects the directory.
        let slots = layers[..count].iter().fold(0u64, |sum, layer| sum.wrapping_add(layer.slots()));
        Self { count: count as u8, layers, slots, exceptions }
    }

    /// The layers of a slice.
    pub(crate) fn of(list: &[Layer], exceptions: u32) -> Self {
        let mut layers = [Layer::default(); MAX_FURTHER];
        layers[..list.len()].copy_from_slice(list);
        Self::new(layers, list.len(), exceptions)
    }

    #[inline]
    pub(crate) fn layers(&self) -> &[Layer] {
        &self.layers[..usize::from(self.count)]
    }

    #[inline]
    pub(crate) fn slots(&self) -> u64 {
        self.slots
    }
}

/// The buckets of a width: their size and the thresholds of their codes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Buckets {
    /// A bucket has `1 << log` slots.
    pub(crate) log: u32,
    /// The threshold of each code, in descending order; the last is 0, which bumps no key.
    pub(crate) thresholds: [u32; 4],
}

impl Buckets {
    /// Constants of the format. Narrower ribbons have smaller buckets, because a bucket can
    /// absorb a surplus or deficit of about `w` keys. (Bumped ribbons of w = 16 do not exist.)
    #[inline]
    pub(crate) const fn of(width: Width) -> Self {
        match width {
            Width::W16 | Width::W32 => Self { log: 5, thresholds: [32, 13, 6, 0] },
            Width::W64 => Self { log: 7, thresholds: [42, 24, 12, 0] },
            Width::W128 => Self { log: 9, thresholds: [140, 85, 42, 0] },
        }
    }

    #[inline]
    pub(crate) const fn slots(self) -> u64 {
        1 << self.log
    }

    /// The slots of a bumping layer's segment are a multiple of this number, so that segments
    /// consist of whole buckets and whole blocks.
    pub(crate) const fn unit(self) -> u64 {
        if self.slots() < 64 { 64 } else { self.slots() }
    }

    /// Whether code 0 bumps all keys of a bucket, so that there are no exceptions.
    pub(crate) const fn covers_all(self) -> bool {
        self.thresholds[0] as u64 == self.slots()
    }
}

/// The code with the largest threshold, which may be less than a whole bucket.
pub(crate) const MAX_CODE: u8 = 0;

/// What a Bumped ribbon stores about its buckets in addition to the solution.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Codes {
    /// The code of every bucket of the bumping layers.
    pub(crate) codes: alloc::vec::Vec<u8>,
    /// The exceptions, in ascending order: buckets that bump all their keys although the
    /// threshold of their code, [`MAX_CODE`], is less.
    pub(crate) exceptions: alloc::vec::Vec<u64>,
}

/// Bytes of an exception: a bucket's number.
pub(crate) const EXCEPTION: usize = 5;
/// Bytes of a layer in the directory.
pub(crate) const LAYER: usize = 5;
/// Bytes of the number of exceptions.
pub(crate) const COUNT: usize = 4;

/// The size in bytes of the directory of `count` layers after the first.
pub(crate) const fn directory_bytes(count: usize) -> usize {
    count * LAYER + COUNT
}
