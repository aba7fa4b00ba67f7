//! A key hash and a seed become an equation: segment, start, coefficients, fingerprint.
//!
//! ```text
//! key hash --mix--> mixed = [ shard | segment | the rest ]      fixed for ever
//!                     |
//!                     * seed, an odd multiplier, then folded
//!                     |
//!                  seeded                                       another seed, another hash
//!                     |
//!                     +-- start         fastrange, monotone in `seeded`
//!                     +-- coefficients  w bits, the first is 1
//!                     +-- fingerprint   32 bits, however many columns are stored
//! ```
//!
//! Segment and shard are the top bits of [`mix`], which no seed touches, so a key
//! never changes its segment when construction tries again: retries, threads and
//! shards are local. Everything else depends on the seed. This file is the only
//! place that knows how a hash becomes a row (paper, section 5.3).
//!
//! *Coefficients are aligned to blocks*: one word belongs to the block in which the equation
//! starts and to the last one that it reaches, each slot taking the bit of its own place in
//! its block. So a query masks this word by one mask and its complement, instead of shifting
//! coefficients across blocks. The bits are as random either way.
//!
//! *Smash* (paper, section 3.1): the first and the last start are made likelier by
//! drawing from a range that is longer by `l` on both sides and clamping. Without it
//! the ends of the system are too thinly covered to be filled.

mod balance;

pub(crate) use balance::{BUCKETS, Balance, Shards};

use crate::Width;
use crate::ribbon::width::Band;

/// Bits that a filter's fingerprint has: the most columns a filter can store.
pub(crate) const FINGERPRINT_BITS: u32 = 32;

/// Odd multipliers: the fractional bits of the square roots of 3, 7, 11, 13, 17, 19, 29 and 23.
/// `WHITEN` is the lower half of those of 5, sign-extended: x86-64 has no longer constant in an
/// instruction.
const MIX: u64 = 0xbb67_ae85_84ca_a73b;
const WHITEN: u64 = 0xffff_ffff_fe94_f82b;
const SEED_STEP: u64 = 0xa54f_f53a_5f1d_36f1;
const SEEDED: u64 = 0x510e_527f_ade6_82d1;
const COEFFICIENTS: [u64; 2] = [0x9b05_688c_2b3e_6c1f, 0x1f83_d9ab_fb41_bd6b];
const FINGERPRINT: u64 = 0x5be0_cd19_137e_2179;
const SECONDARY: u64 = 0x629a_292a_367c_d507;
const NEXT_LAYER: u64 = 0xcbbb_9d5d_c105_9ed9;

/// One 64 x 64 -> 128 bit multiplication, its halves folded by xor.
#[inline(always)]
pub(crate) const fn fold(a: u64, b: u64) -> u64 {
    let product = a as u128 * b as u128;
    product as u64 ^ (product >> 64) as u64
}

/// The high half of a product: maps a 64-bit hash to `0..range`, in order.
#[inline(always)]
const fn fastrange(hash: u64, range: u64) -> u64 {
    ((hash as u128 * range as u128) >> 64) as u64
}

/// The fixed mix of a key hash. Its top bits are shard and segment.
///
/// Key hashes may come from outside and be as poor as 0, 1, 2, …; after this step and
/// [`seeded`] they behave as random ones.
#[inline(always)]
pub(crate) const fn mix(key_hash: u64) -> u64 {
    Multipliers::FOOTER_BYTES.mix(key_hash)
}

/// The multipliers of a query, as numbers in memory. x86-64 multiplies by a number in memory in
/// one instruction and by a constant of 64 bits in two, so probes keep a copy of
/// [`FOOTER_BYTES`](Self::FOOTER_BYTES); there are no others.
#[derive(Clone, Copy)]
pub(crate) struct Multipliers {
    mix: u64,
    coefficients: [u64; 2],
}

impl Multipliers {
    pub(crate) const FOOTER_BYTES: Self = Self { mix: MIX, coefficients: COEFFICIENTS };

    /// See [`mix`].
    #[inline(always)]
    pub(crate) const fn mix(&self, key_hash: u64) -> u64 {
        fold(key_hash ^ WHITEN, self.mix)
    }

    /// The words that coefficients are taken from, and the fingerprint. A ribbon of at most 64
    /// slots needs the first word alone.
    ///
    /// The first word and the fingerprint are the halves of one product.
    #[inline(always)]
    pub(crate) const fn expand(&self, hash: Seeded) -> ([u64; 2], u32) {
        let [first, second] = self.coefficients;
        let product = hash.0 as u128 * first as u128;
        let words = [product as u64, hash.0.rotate_left(44).wrapping_mul(second)];
        (words, (product >> 64) as u32)
    }
}

/// What a free variable of a homogeneous system is set to: a pseudo-random row.
#[inline(always)]
pub(crate) const fn free_row(row: u64) -> u32 {
    // Twice, because windows of rows must be independent of each other in every column.
    (fold(fold(row ^ WHITEN, FINGERPRINT), MIX) >> 32) as u32
}

/// The segment of a mixed hash: its top `bits` bits.
#[inline(always)]
pub(crate) const fn segment(mixed: u64, bits: u32) -> u64 {
    // The only segment is no bits, and no shift is as long as 64.
    if bits == 0 { 0 } else { mixed >> (64 - bits) }
}

/// The fingerprint that a key has in a function: `bits` bits.
///
/// Of the mixed hash, not of a seeded one as in a filter, so that it can be joined to the
/// key's value before a seed is known, and compared whatever the place of the key.
#[inline(always)]
pub(crate) const fn value_fingerprint(mixed: u64, bits: u32) -> u64 {
    segment(fold(mixed ^ WHITEN, FINGERPRINT), bits)
}

/// A seed, as the odd number that mixed hashes are multiplied by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Seed(u64);

impl Seed {
    #[inline(always)]
    pub(crate) const fn new(ordinal: u8) -> Self {
        Self(SEEDED.wrapping_add((2 * ordinal as u64).wrapping_mul(SEED_STEP)))
    }
}

/// What is left of a mixed hash below its shard in a container that is split by hash.
#[inline(always)]
pub(crate) const fn below_segment(mixed: u64, bits: u32) -> u64 {
    mixed << bits
}

/// A mixed hash under a seed. All keys of a segment agree in the top bits of the mixed hash; the
/// lower half of the product hides that.
#[inline(always)]
pub(crate) const fn seeded(mixed: u64, seed: Seed) -> Seeded {
    Seeded(fold(mixed, seed.0))
}

/// A key's hash under one seed: all that its equation is made of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Seeded(u64);

impl Seeded {
    pub(crate) const ZERO: Self = Self(0);

    /// Which of `1 << parts_log` parts it belongs to. Starts are monotone in the hash, so
    /// parts are in their order.
    #[inline(always)]
    pub(crate) fn part(self, parts_log: u32) -> usize {
        segment(self.0, parts_log) as usize
    }

    /// The coefficients of an equation with this start: the first is 1, the others are random.
    #[inline(always)]
    pub(crate) fn coefficients<B: Band>(self, start: u64) -> B {
        B::from_aligned(Multipliers::FOOTER_BYTES.expand(self).0, start)
    }

    /// The fingerprint; `r` columns store its first `r` bits.
    #[inline(always)]
    pub(crate) fn fingerprint(self) -> u32 {
        Multipliers::FOOTER_BYTES.expand(self).1
    }

    /// The mixed hash that a key bumped from this segment has in the next layer of a Bumped
    /// ribbon. Nothing of its equation here is seen in its equation there.
    #[inline(always)]
    pub(crate) fn next_layer(self, segment: u64) -> u64 {
        fold(self.0 ^ segment.wrapping_mul(SEED_STEP), NEXT_LAYER)
    }
}

/// The segments of a system, as a query sees them: those of most keys are found without a
/// branch, whether there are many or one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Segments {
    /// How far a mixed hash is shifted to its segment, modulo 64: 0 if there is one segment.
    shift: u32,
    /// Slots from one segment to the next; none if there is no next.
    stride: u64,
    /// Slots of all segments.
    slots: u64,
}

impl Segments {
    #[inline]
    pub(crate) fn new(bits: u32, slots: u64) -> Self {
        let stride = if bits > 0 { slots } else { 0 };
        Self { shift: bits.wrapping_neg() % 64, stride, slots: slots.wrapping_shl(bits) }
    }

    /// Slots of all segments.
    pub(crate) fn slots(self) -> u64 {
        self.slots
    }

    /// See [`segment`].
    #[inline(always)]
    pub(crate) fn number(self, mixed: u64) -> u64 {
        // The only segment has the number 0, whatever the hash is.
        if self.shift == 0 { 0 } else { mixed >> self.shift }
    }

    /// The first slot of the segment of a mixed hash.
    #[inline(always)]
    pub(crate) fn first_slot(self, mixed: u64) -> u64 {
        // The only segment is shifted by nothing, and makes any number of strides of nothing: no
        // branch is shorter.
        mixed.wrapping_shr(self.shift).wrapping_mul(self.stride)
    }

    /// The first slot of a segment.
    #[inline(always)]
    pub(crate) fn first_slot_of(self, number: u64) -> u64 {
        number * self.stride
    }
}

/// The starts of one segment, and how likely each is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Starts {
    /// Slots of the segment.
    slots: u64,
    /// The last start; there are `last + 1`.
    last: u64,
    /// How many places beyond either end are clamped to it.
    smash: u64,
    /// The weight of all starts together: all places that a hash can fall on.
    total_weight: u64,
}

impl Starts {
    /// The starts in a segment of `slots` slots. A segment shorter than the width has
    /// one start, and its coefficients must be cut to its slots.
    #[inline]
    pub(crate) fn new(slots: u64, width: Width, smash: bool) -> Self {
        Self::with_smash(slots, width, if smash { u64::from(width.bits()) / 4 } else { 0 })
    }

    /// The same with any smash value.
    #[inline]
    pub(crate) fn with_smash(slots: u64, width: Width, smash: u64) -> Self {
        let last = slots.saturating_sub(u64::from(width.bits()));
        // With a single start there is nothing to make likelier.
        let smash = if last > 0 { smash } else { 0 };
        Self { slots, last, smash, total_weight: last + 1 + 2 * smash }
    }

    /// How many starts there are.
    pub(crate) fn count(self) -> u64 {
        self.last + 1
    }

    /// The start of a key: monotone in its seeded hash.
    #[inline(always)]
    pub(crate) fn start(&self, hash: Seeded) -> u64 {
        fastrange(hash.0, self.total_weight).saturating_sub(self.smash).min(self.last)
    }

    /// The same; nothing of a key that is clamped to an end.
    #[inline(always)]
    pub(crate) fn unclamped_start(&self, hash: Seeded) -> Option<u64> {
        let start = fastrange(hash.0, self.total_weight).wrapping_sub(self.smash);
        (start <= self.last).then_some(start)
    }

    /// The coefficients of a key with this start, none of which reaches beyond the last slot.
    #[inline(always)]
    pub(crate) fn coefficients<B: Band>(self, hash: Seeded, start: u64) -> B {
        hash.coefficients::<B>(start) & B::first_bits(self.slots)
    }

    /// The probability of a start, in units of one over [`total_weight`](Self::total_weight).
    pub(crate) fn weight(self, start: u64) -> u64 {
        let ends = u64::from(start == 0) + u64::from(start == self.last);
        1 + self.smash * ends
    }

    /// The weight of all starts before `start`.
    pub(crate) fn weight_before(self, start: u64) -> u64 {
        match start {
            0 => 0,
            _ if start > self.last => self.total_weight(),
            _ => start + self.smash,
        }
    }

    /// The weight of all starts together.
    #[inline(always)]
    pub(crate) fn total_weight(self) -> u64 {
        self.total_weight
    }
}

#[cfg(test)]
mod tests;
