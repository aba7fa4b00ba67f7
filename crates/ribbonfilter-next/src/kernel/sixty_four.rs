//! Queries of 64 keys together, where an instruction set can do that: the plain data of both steps.
//!
//! 1. The keys are *located*, one in each lane of a vector: mixed hash, offset of the first block,
//!    coefficients. All of it is stored in a [`Located`].
//! 2. They are *evaluated* one after the other, with a column in each lane. A parity of each column is
//!    shifted into an accumulator, which has a word of 64 parities per column in the end.
//!
//! Keys that are rare and irregular are not evaluated right; they are reported as *unsure*.

/// What is known of a filter of at most eight columns.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Geometry {
    /// The factor of the mixer.
    pub(crate) multiplier: u64,
    /// The number of starts, below [`MAX_STARTS`].
    pub(crate) starts: u64,
    pub(crate) columns: u32,
    /// Blocks before it have one column less.
    pub(crate) boundary: u64,
    /// The first of `W - 2` blocks whose equations are irregular.
    pub(crate) crossing: u64,
    /// The block of another irregular equation.
    pub(crate) trimmed: u64,
    /// The offset of the codes of buckets, if keys are bumped.
    pub(crate) codes: usize,
    /// Below which positions in a bucket keys are bumped, by code.
    pub(crate) thresholds: [u32; 4],
}

/// The starts of a system for which keys are located in lanes: 32-bit products suffice.
pub(crate) const MAX_STARTS: u64 = 1 << 28;

/// The bits of an offset in [`Located`]; above them is the stride.
pub(crate) const OFFSET_BITS: u32 = 56;

/// 64 located keys.
#[repr(align(64))]
#[derive(Clone)]
pub(crate) struct Located {
    /// The offset of the first block in bytes, and the stride of blocks.
    pub(crate) offsets: [u64; 64],
    pub(crate) words: [[u64; 64]; 4],
    /// The positions, if keys are bumped.
    pub(crate) positions: [u64; 64],
    /// The low bytes of the mixed hashes, eight columns of fingerprints.
    pub(crate) fingerprints: [u8; 64],
    /// Which keys have all columns.
    pub(crate) full: u64,
    /// Which keys are bumped or irregular. Their offsets are those of some other equation.
    pub(crate) unsure: u64,
}

impl Located {
    pub(crate) const fn new() -> Self {
        let (offsets, words, positions) = ([0; 64], [[0; 64]; 4], [0; 64]);
        Self { offsets, words, positions, fingerprints: [0; 64], full: 0, unsure: 0 }
    }
}
