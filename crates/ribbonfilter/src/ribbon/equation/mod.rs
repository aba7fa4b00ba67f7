//! From a key hash and a seed to an equation: segment, start, coefficients, fingerprint.
//!
//! ```text
//! key hash --mix--> mixed = [ shard | segment | the rest ]      never changes
//!                     |
//!                     * seed, an odd multiplier, then folded
//!                     |
//!                  seeded                                       another seed, another hash
//!                     |
//!                     +-- start         fastrange, monotone in `seeded`
//!                     +-- coefficients  w bits, the first is 1
//!                     +-- fingerprint   32 bits, for any number of stored columns
//! ```
//!
//! Segment and shard are the top bits of [`mix`], which no seed influences. So a key keeps its
//! segment when construction retries with another seed: retries, threads and shards are local.
//! Everything else depends on the seed. Only this module defines how a hash becomes a row
//! (paper, section 5.3).
//!
//! *Coefficients are aligned to blocks.* The first and the last block that an equation touches
//! share one word of coefficients, in which every slot has the bit of its own position in its
//! block. An equation that starts at position `s` of a block uses the bits from `s` on in its
//! first block and the bits below `s` in its last block, so no bit serves two slots. A query
//! therefore needs one mask and its complement, and does not shift coefficients across blocks.
//! The bits are as random as if they were shifted. At width 128 the block in between has a second
//! word of its own.
//!
//! *Smash* (paper, section 3.1) makes the first and the last start more probable: positions are
//! drawn from a range that is longer by `l` on both sides, and then clamped, so that both have
//! `1 + l` times the probability of any other. This follows the code of the paper's authors; its
//! text has a range longer by `l - 1` and a factor of `l`. Without smash too few equations cover
//! the ends of the system to fill them.

mod balance;

pub(crate) use balance::{BUCKETS, Balance, Shards};

use crate::Width;
use crate::ribbon::width::{Band, COMPACT, WIDE_ROWS, narrow};

/// Bits of a filter's fingerprint: the maximum number of columns that a filter can store.
pub(crate) const FINGERPRINT_BITS: u32 = 32;

/// Odd multipliers: the fractional bits of the square roots of 3, 7, 11, 13, 17, 19, 29 and 23.
/// `WHITEN` is the lower half of those of the square root of 5, sign-extended: an x86-64
/// instruction cannot contain a longer constant.
const MIX: u64 = 0xbb67_ae85_84ca_a73b;
const WHITEN: u64 = 0xffff_ffff_fe94_f82b;
const SEED_STEP: u64 = 0xa54f_f53a_5f1d_36f1;
const SEEDED: u64 = 0x510e_527f_ade6_82d1;
const COEFFICIENTS: [u64; 2] = [0x9b05_688c_2b3e_6c1f, 0x1f83_d9ab_fb41_bd6b];
const FINGERPRINT: u64 = 0x5be0_cd19_137e_2179;
const SECONDARY: u64 = 0x629a_292a_367c_d507;
const NEXT_LAYER: u64 = 0xcbbb_9d5d_c105_9ed9;

/// One 64 x 64 -> 128 bit multiplication, its halves folded by xor. Compact code calls it; batches have
/// their own copies, see [`Multipliers::mix`] and [`Seed::hash`].
#[cfg_attr(not(target_arch = "wasm32"), inline(always))]
#[cfg_attr(target_arch = "wasm32", inline(never))]
pub(crate) const fn fold(a: u64, b: u64) -> u64 {
    fold_inlined(a, b)
}

#[inline(always)]
const fn fold_inlined(a: u64, b: u64) -> u64 {
    let (low, high) = widening_mul(a, b);
    low ^ high
}

/// The halves of a product of 64 times 64 bits, the low one first.
#[inline(always)]
const fn widening_mul(a: u64, b: u64) -> (u64, u64) {
    if COMPACT {
        return by_halves(a, b);
    }
    let product = a as u128 * b as u128;
    (product as u64, (product >> 64) as u64)
}

/// [`widening_mul`] for WebAssembly, which has no such instruction: the compiler calls a function
/// that returns its result in memory.
///
/// The schoolbook method needs all four products of 32-bit halves, and LLVM 22 recognises it and calls
/// that function again. Here the low half of the product stands for the product of the low halves.
/// With `l` for the upper half of the latter and `m` for `middle`, `low >> 32` is `l + m` modulo 2^32,
/// so the carry is `(l + m) >> 32`, which is `m - (low >> 32)` divided by 2^32 and rounded up.
#[inline(always)]
const fn by_halves(a: u64, b: u64) -> (u64, u64) {
    const LOW: u64 = u32::MAX as u64;
    let (a_low, a_high, b_low, b_high) = (a & LOW, a >> 32, b & LOW, b >> 32);
    let (low, first, second) = (a.wrapping_mul(b), a_low * b_high, a_high * b_low);
    let middle = (first & LOW) + (second & LOW);
    let carry = (middle + (!low >> 32)) >> 32;
    (low, a_high * b_high + (first >> 32) + (second >> 32) + carry)
}

/// The high half of a product: maps a 64-bit hash to `0..range` and preserves the order.
#[inline(always)]
pub(crate) const fn fastrange(hash: u64, range: u64) -> u64 {
    if COMPACT && range <= u32::MAX as u64 {
        return narrow_fastrange(hash, range);
    }
    high_half(hash, range)
}

/// [`fastrange`] for a range below 2^32: two products of halves.
#[inline(always)]
const fn narrow_fastrange(hash: u64, range: u64) -> u64 {
    let low = (hash & u32::MAX as u64) * range;
    // No overflow: the product is at most (2^32 - 1)^2, the other term below 2^32.
    ((hash >> 32) * range + (low >> 32)) >> 32
}

/// Compact code calls it, because few ranges are that large.
#[cfg_attr(not(target_arch = "wasm32"), inline(always))]
#[cfg_attr(target_arch = "wasm32", inline(never))]
const fn high_half(a: u64, b: u64) -> u64 {
    widening_mul(a, b).1
}

/// The fixed mix of a key hash. Its top bits are shard and segment.
///
/// Key hashes may come from the user and be as poor as 0, 1, 2, …; after this step and
/// [`seeded`] they behave like random numbers.
#[inline(always)]
pub(crate) const fn mix(key_hash: u64) -> u64 {
    fold(key_hash ^ WHITEN, MIX)
}

/// The multipliers of a query, as numbers in memory. x86-64 multiplies by a number in memory with
/// one instruction, but by a 64-bit constant with two. So probes keep a copy of
/// [`CONSTANTS`](Self::CONSTANTS), which is the only value of this type.
#[derive(Clone, Copy)]
pub(crate) struct Multipliers {
    mix: u64,
    coefficients: [u64; 2],
}

impl Multipliers {
    pub(crate) const CONSTANTS: Self = Self { mix: MIX, coefficients: COEFFICIENTS };

    /// See [`mix`].
    #[inline(always)]
    pub(crate) const fn mix(&self, key_hash: u64) -> u64 {
        fold_inlined(key_hash ^ WHITEN, if COMPACT { MIX } else { self.mix })
    }

    /// The two words of coefficients, aligned to blocks, and the fingerprint. A ribbon of at most
    /// 64 slots uses only the first word.
    ///
    /// The first word is the low half of a product, and the fingerprint comes from its high half,
    /// so that one multiplication serves both.
    #[inline(always)]
    pub(crate) const fn expand(&self, hash: Seeded) -> ([u64; 2], u32) {
        // WebAssembly multiplies by halves, which are constants if the multiplier is.
        let [first, second] = if COMPACT { COEFFICIENTS } else { self.coefficients };
        let (low, high) = widening_mul(hash.0, first);
        ([low, hash.0.rotate_left(44).wrapping_mul(second)], high as u32)
    }
}

/// The value of a free variable of a homogeneous system: a pseudo-random row.
#[inline(always)]
pub(crate) const fn free_row(row: u64) -> u32 {
    // Two folds, because windows of rows must be independent of each other in every column.
    (fold(fold(row ^ WHITEN, FINGERPRINT), MIX) >> 32) as u32
}

/// The segment of a mixed hash: its top `bits` bits.
#[inline(always)]
pub(crate) const fn segment(mixed: u64, bits: u32) -> u64 {
    // A single segment has no bits, and a shift by 64 is not allowed.
    if bits == 0 { 0 } else { mixed >> (64 - bits) }
}

/// The fingerprint of a key in a function: `bits` bits.
///
/// It comes from the mixed hash, not from the seeded hash as in a filter. So it can be joined to
/// the key's value before a seed is known, and compared for any location of the key.
#[inline(always)]
pub(crate) const fn value_fingerprint(mixed: u64, bits: u32) -> u64 {
    segment(fold(mixed ^ WHITEN, FINGERPRINT), bits)
}

/// A seed, as the odd number by which mixed hashes are multiplied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Seed(u64);

impl Seed {
    #[inline(always)]
    pub(crate) const fn new(ordinal: u8) -> Self {
        Self(SEEDED.wrapping_add((2 * ordinal as u64).wrapping_mul(SEED_STEP)))
    }

    /// [`seeded`], inlined.
    #[inline(always)]
    pub(crate) const fn hash(self, mixed: u64) -> Seeded {
        Seeded(fold_inlined(mixed, self.0))
    }
}

/// A mixed hash without its top `bits` bits, shifted to the top: what is left below the shard in
/// a container that is split by hash.
#[inline(always)]
pub(crate) const fn below_segment(mixed: u64, bits: u32) -> u64 {
    mixed << bits
}

/// The hash of a key under a seed. All keys of a segment have the same top bits in the mixed hash;
/// the lower half of the product, which is folded in, hides that.
#[inline(always)]
pub(crate) const fn seeded(mixed: u64, seed: Seed) -> Seeded {
    Seeded(fold(mixed, seed.0))
}

/// The hash of a key under one seed. It determines the whole equation within a segment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Seeded(u64);

impl Seeded {
    pub(crate) const ZERO: Self = Self(0);

    /// The number of the hash's part, of `1 << parts_log` parts. Starts are monotone in the hash,
    /// so parts are in the order of the starts.
    #[inline(always)]
    pub(crate) fn part(self, parts_log: u32) -> usize {
        segment(self.0, parts_log) as usize
    }

    /// The coefficients of an equation with the given start: the first is 1, the others are random.
    #[inline(always)]
    pub(crate) fn coefficients<B: Band>(self, start: u64) -> B {
        B::from_aligned(Multipliers::CONSTANTS.expand(self).0, start)
    }

    /// The coefficients of a ribbon with fewer slots in an equation than `B` has bits, at most 64.
    #[inline(always)]
    fn narrow_coefficients<B: Band>(self, start: u64, width: Width) -> B {
        narrow(Multipliers::CONSTANTS.expand(self).0, start, width.bits())
    }

    /// The fingerprint; `r` columns store its first `r` bits.
    #[inline(always)]
    pub(crate) fn fingerprint(self) -> u32 {
        Multipliers::CONSTANTS.expand(self).1
    }

    /// The mixed hash in the next layer of a key that is bumped from `segment` of a Bumped ribbon.
    /// The equation in the next layer is independent of the equation in this one.
    #[inline(always)]
    pub(crate) fn next_layer(self, segment: u64) -> u64 {
        fold(self.0 ^ segment.wrapping_mul(SEED_STEP), NEXT_LAYER)
    }
}

/// The segments of a system, in the form that queries use: [`first_slot`](Self::first_slot) has
/// no branch, for one segment as for many.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Segments {
    /// The right shift from a mixed hash to its segment, modulo 64: 0 if there is one segment.
    shift: u32,
    /// Slots from one segment to the next; 0 if there is one segment.
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
        // A single segment has the number 0 for every hash.
        if self.shift == 0 { 0 } else { mixed >> self.shift }
    }

    /// The first slot of the segment of a mixed hash.
    #[inline(always)]
    pub(crate) fn first_slot(self, mixed: u64) -> u64 {
        // A single segment has shift 0 and stride 0: the product of any hash with 0 is slot 0. So
        // this case needs no branch.
        mixed.wrapping_shr(self.shift).wrapping_mul(self.stride)
    }

    /// The first slot of a segment.
    #[inline(always)]
    pub(crate) fn first_slot_of(self, number: u64) -> u64 {
        number * self.stride
    }
}

/// The starts of one segment, and their probabilities.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Starts {
    /// Slots of the segment.
    slots: u64,
    /// The last start; there are `last + 1` starts.
    last: u64,
    /// The number of positions beyond either end that are clamped to it.
    smash: u64,
    /// The weight of all starts together: the number of positions to which a hash can map.
    total_weight: u64,
    width: Width,
}

impl Starts {
    /// The starts in a segment of `slots` slots. A segment shorter than the width has one start,
    /// and its coefficients must be masked to its slots.
    #[inline]
    pub(crate) fn new(slots: u64, width: Width, smash: bool) -> Self {
        Self::with_smash(slots, width, if smash { u64::from(width.bits()) / 4 } else { 0 })
    }

    /// The starts with any smash value.
    #[inline]
    pub(crate) fn with_smash(slots: u64, width: Width, smash: u64) -> Self {
        let last = slots.saturating_sub(u64::from(width.bits()));
        // With a single start, smash would have no effect.
        let smash = if last > 0 { smash } else { 0 };
        Self { slots, last, smash, total_weight: last + 1 + 2 * smash, width }
    }

    /// The number of starts.
    pub(crate) fn count(self) -> u64 {
        self.last + 1
    }

    /// The start of a key; monotone in its seeded hash.
    #[inline(always)]
    pub(crate) fn start(&self, hash: Seeded) -> u64 {
        fastrange(hash.0, self.total_weight).saturating_sub(self.smash).min(self.last)
    }

    /// The start of a key; `None` if it is clamped to an end. A position in front of the first
    /// start wraps around to a large number, so one comparison covers both ends.
    #[inline(always)]
    pub(crate) fn unclamped_start(&self, hash: Seeded) -> Option<u64> {
        let start = fastrange(hash.0, self.total_weight).wrapping_sub(self.smash);
        (start <= self.last).then_some(start)
    }

    /// The coefficients of a key with the given start, masked to the slots of the segment.
    #[inline(always)]
    pub(crate) fn coefficients<B: Band>(self, hash: Seeded, start: u64) -> B {
        let coefficients = match WIDE_ROWS && self.width != B::WIDTH {
            true => hash.narrow_coefficients(start, self.width),
            false => hash.coefficients::<B>(start),
        };
        coefficients & B::first_bits(self.slots)
    }

    /// The probability of a start, in units of `1 / total_weight`
    /// (see [`total_weight`](Self::total_weight)).
    pub(crate) fn weight(self, start: u64) -> u64 {
        let ends = u64::from(start == 0) + u64::from(start == self.last);
        1 + self.smash * ends
    }

    /// The total weight of the starts less than `start`.
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
