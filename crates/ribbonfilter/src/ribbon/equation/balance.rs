//! The location of a key in a Balanced ribbon: its shard, its bucket, its two possible locations
//! (paper, section 6).
//!
//! The *address* of a location is its segment followed by the position in that segment, one long
//! number that grows from the first slot to the last. The top `k` bits of an address are the
//! shard. Shards form levels: the level is the number of leading ones of the shard.
//!
//! ```text
//! shard     000 001 010 011 | 100 101 | 110 | 111        k = 3
//! level     0               | 1       | 2   | 3
//! ```
//!
//! Primary locations are spread evenly over all shards. Then, with probability `alpha`, the top
//! bit of the address is cleared: the shards of level 0 get `1 + alpha` times as many keys as the
//! average shard, all others `1 - alpha` times as many. Secondary locations are spread evenly over
//! the next level; from the last shard, the secondary location is in the last shard again. A shard
//! bumps keys by bucket. There are eight buckets, each smaller than the previous one by a factor
//! of about the square root of two.
//!
//! The segment of a key before the overload depends only on its mixed hash. So keys are
//! partitioned by segment once, for all seeds.

use super::{FINGERPRINT, SECONDARY, Seed, Seeded, below_segment, fold, seeded, segment};

use core::ops::Range;

/// The buckets of a shard, one bit of its metadata each.
pub(crate) const BUCKETS: usize = 8;

/// The expected keys of each bucket, out of [`SIZES_SUM`] keys: a geometric series with ratio
/// of about 2^-0.5.
const SIZES: [u8; BUCKETS] = [40, 28, 20, 14, 10, 7, 5, 4];
const SIZES_SUM: usize = 128;

/// The bucket of each of [`SIZES_SUM`] equally likely draws.
const BUCKET_OF: [u8; SIZES_SUM] = {
    let mut buckets = [0; SIZES_SUM];
    let (mut bucket, mut end, mut draw) = (0, SIZES[0], 0);
    while draw < SIZES_SUM {
        if draw == end as usize {
            bucket += 1;
            end += SIZES[bucket];
        }
        buckets[draw] = bucket as u8;
        draw += 1;
    }
    buckets
};

/// The parameters of a Balanced ribbon's shards, as the footer stores them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Balance {
    /// A segment has `1 << shard_bits` shards.
    pub(crate) shard_bits: u32,
    /// The overload of level 0, `alpha`, in units of 1/256.
    pub(crate) overload: u32,
}

impl Balance {
    /// One shard per segment, without overload.
    pub(crate) const EVEN: Self = Self { shard_bits: 0, overload: 0 };
}

/// A possible location of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Location {
    pub(crate) segment: u64,
    /// The position in the segment, which determines the start.
    pub(crate) position: Seeded,
    /// The hash that determines coefficients and fingerprint.
    pub(crate) hash: Seeded,
}

/// The shards of a system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shards {
    segment_bits: u32,
    shard_bits: u32,
    overload: u8,
    /// The top bit of an address as a bit of the segment; 0 if there is one segment.
    top_of_segment: u64,
    /// The top bit of an address as a bit of the position, if there is one segment; else 0.
    top_of_position: u64,
}

impl Shards {
    #[inline]
    pub(crate) fn new(segment_bits: u32, balance: Balance) -> Self {
        Self {
            segment_bits,
            shard_bits: balance.shard_bits,
            overload: balance.overload as u8,
            top_of_segment: (1 << segment_bits) >> 1,
            top_of_position: if segment_bits == 0 { 1 << 63 } else { 0 },
        }
    }

    /// The number of bits of a shard's number.
    #[cfg_attr(not(target_arch = "wasm32"), inline(always))]
    fn bits(self) -> u32 {
        self.segment_bits + self.shard_bits
    }

    /// The number of shards of the system.
    #[inline]
    pub(crate) fn count(self) -> u64 {
        1 << self.bits()
    }

    /// The number of shards of one segment.
    #[inline]
    pub(crate) fn in_segment(self) -> usize {
        1 << self.shard_bits
    }

    /// The last level, which consists of the last shard.
    pub(crate) fn last_level(self) -> u32 {
        self.bits()
    }

    /// The level of a shard.
    #[cfg_attr(not(target_arch = "wasm32"), inline(always))]
    pub(crate) fn level(self, shard: u64) -> u32 {
        // The shift is less than 64, because there is more than one shard. It moves the shard's
        // bits to the top, where the leading ones become leading zeros of the complement. The
        // zeros that are shifted in become ones and stop the count.
        (!(shard << (64 - self.bits()))).leading_zeros()
    }

    /// The shards of a level.
    pub(crate) fn of_level(self, level: u32) -> Range<u64> {
        let after = |level| if level > self.last_level() { 0 } else { self.count() >> level };
        self.count() - after(level)..self.count() - after(level + 1)
    }

    /// The hash of a key, which determines its primary location, its bucket and its equation.
    #[cfg_attr(not(target_arch = "wasm32"), inline(always))]
    pub(crate) fn hash(self, mixed: u64, seed: Seed) -> Seeded {
        seeded(mixed, seed)
    }

    /// Whether the top bit of the key's primary address is cleared: if the key was in the second
    /// half of the shards, it moves to level 0.
    #[cfg_attr(not(target_arch = "wasm32"), inline(always))]
    pub(crate) fn is_overload(self, hash: Seeded) -> bool {
        // Bits that the fingerprint does not use.
        ((hash.0.wrapping_mul(FINGERPRINT) >> 16) as u8) < self.overload
    }

    /// The position of a key's primary location in its segment.
    #[cfg_attr(not(target_arch = "wasm32"), inline(always))]
    pub(crate) fn primary_position(self, hash: Seeded) -> Seeded {
        let cleared = if self.is_overload(hash) { self.top_of_position } else { 0 };
        Seeded(hash.0 & !cleared)
    }

    /// The primary location of a key.
    #[cfg_attr(not(target_arch = "wasm32"), inline(always))]
    pub(crate) fn primary(self, mixed: u64, seed: Seed) -> Location {
        let hash = self.hash(mixed, seed);
        let cleared = if self.is_overload(hash) { self.top_of_segment } else { 0 };
        let segment = segment(mixed, self.segment_bits) & !cleared;
        Location { segment, position: self.primary_position(hash), hash }
    }

    /// The secondary location of a key, given the level of its primary location.
    #[cfg_attr(not(target_arch = "wasm32"), inline(always))]
    pub(crate) fn secondary(self, level: u32, hash: Seeded) -> Location {
        self.at_level((level + 1).min(self.last_level()), hash.bumped())
    }

    /// The location of a key that was bumped to `level`.
    #[cfg_attr(not(target_arch = "wasm32"), inline(always))]
    pub(crate) fn at_level(self, level: u32, bumped: Seeded) -> Location {
        // The address begins with `level` ones, then a zero unless the level is the last. The bits
        // of the hash follow.
        let ones = !(u64::MAX >> level);
        let below = level + u32::from(level < self.last_level());
        let address = ones | bumped.0 >> below;
        let position = Seeded(below_segment(address, self.segment_bits));
        Location { segment: segment(address, self.segment_bits), position, hash: bumped }
    }

    /// The shard of a location.
    #[cfg_attr(not(target_arch = "wasm32"), inline(always))]
    pub(crate) fn shard(self, location: Location) -> u64 {
        location.segment << self.shard_bits | self.in_its_segment(location.position) as u64
    }

    /// The shard of a position, counted from the first shard of its segment.
    #[cfg_attr(not(target_arch = "wasm32"), inline(always))]
    pub(crate) fn in_its_segment(self, position: Seeded) -> usize {
        position.part(self.shard_bits)
    }
}

impl Seeded {
    /// The bucket of the key, by which its shard bumps it.
    #[cfg_attr(not(target_arch = "wasm32"), inline(always))]
    pub(crate) fn bucket(self) -> usize {
        // Bits that the fingerprint does not use.
        let draw = (self.0.wrapping_mul(FINGERPRINT) >> 25) as usize % SIZES_SUM;
        BUCKET_OF[draw].into()
    }

    /// The hash of the key at its secondary location.
    #[cfg_attr(not(target_arch = "wasm32"), inline(always))]
    pub(crate) fn bumped(self) -> Self {
        Self(fold(self.0, SECONDARY))
    }

    /// The hash as a number, which can be stored among mixed hashes.
    pub(crate) fn to_number(self) -> u64 {
        self.0
    }

    /// The inverse of [`to_number`](Self::to_number).
    #[cfg_attr(not(target_arch = "wasm32"), inline(always))]
    pub(crate) fn from_number(number: u64) -> Self {
        Self(number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ribbon::equation::mix;
    use crate::testing::Random;
    use alloc::vec;
    use alloc::vec::Vec;

    /// Systems with one segment, with many segments, and with one shard per segment.
    fn systems() -> [Shards; 3] {
        let shards = |segment_bits, shard_bits| {
            Shards::new(segment_bits, Balance { shard_bits, overload: 48 })
        };
        [shards(0, 5), shards(3, 2), shards(4, 0)]
    }

    /// Asserts that each count is within five standard deviations of `expected`.
    fn assert_even(counts: &[u64], expected: f64) {
        for &count in counts {
            let off = (count as f64 - expected).abs();
            assert!(off < 5.0 * libm::sqrt(expected), "{count}, not {expected}: {counts:?}");
        }
    }

    #[test]
    fn levels_are_as_drawn() {
        let shards = Shards::new(1, Balance { shard_bits: 2, overload: 0 });
        let levels: Vec<u32> = (0..8).map(|shard| shards.level(shard)).collect();
        assert_eq!(levels, [0, 0, 0, 0, 1, 1, 2, 3]);
        for shards in systems() {
            let mut next = 0;
            for level in 0..=shards.last_level() {
                for shard in shards.of_level(level) {
                    assert_eq!((shard, shards.level(shard)), (next, level));
                    next += 1;
                }
            }
            assert_eq!(next, shards.count());
        }
    }

    #[test]
    fn level_0_is_overloaded_and_the_others_make_up_for_it() {
        let (keys, alpha) = (1 << 18, 48.0 / 256.0);
        for shards in systems() {
            let mut counts = vec![0; shards.count() as usize];
            for key in 0..keys {
                let location = shards.primary(mix(key), Seed::new(1));
                counts[shards.shard(location) as usize] += 1;
            }
            let average = keys as f64 / counts.len() as f64;
            let (first, others) = counts.split_at(counts.len() / 2);
            assert_even(first, average * (1.0 + alpha));
            assert_even(others, average * (1.0 - alpha));
        }
    }

    #[test]
    fn only_the_overload_leaves_its_segment_and_only_for_the_first_half() {
        let shards = Shards::new(3, Balance { shard_bits: 2, overload: 48 });
        for key in 0..10_000 {
            let (mixed, seed) = (mix(key), Seed::new(3));
            let location = shards.primary(mixed, seed);
            let moves = shards.is_overload(shards.hash(mixed, seed));
            let before = segment(mixed, 3);
            assert_eq!(location.segment, if moves { before % 4 } else { before });
        }
    }

    #[test]
    fn secondary_locations_are_spread_over_the_next_level() {
        let mut random = Random(8);
        let keys = 1 << 14;
        for shards in systems() {
            for level in 0..=shards.last_level() {
                let next = shards.of_level((level + 1).min(shards.last_level()));
                let mut counts = vec![0; (next.end - next.start) as usize];
                for _ in 0..keys {
                    let location = shards.secondary(level, Seeded(random.next()));
                    counts[(shards.shard(location) - next.start) as usize] += 1;
                }
                assert_even(&counts, keys as f64 / counts.len() as f64);
            }
        }
    }

    #[test]
    fn secondary_locations_are_even_inside_a_shard() {
        let mut random = Random(9);
        for shards in systems() {
            let mut counts = [0; 16];
            for _ in 0..1 << 14 {
                let location = shards.secondary(shards.last_level(), Seeded(random.next()));
                counts[location.position.part(shards.shard_bits + 4) % 16] += 1;
            }
            assert_even(&counts, f64::from(1 << 10));
        }
    }

    #[test]
    fn buckets_have_their_sizes() {
        let mut random = Random(10);
        let mut counts = [0; BUCKETS];
        (0..1 << 17).for_each(|_| counts[Seeded(random.next()).bucket()] += 1);
        for (count, size) in counts.into_iter().zip(SIZES) {
            assert_even(&[count], f64::from(size) * 1024.0);
        }
    }
}
