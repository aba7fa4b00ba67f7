//! From a key to the parts of its equation (paper, section 5.3).
//!
//! ```text
//! key --XXH3, key seed--> hash ---------------------> fingerprint, shard      never change
//!                           |
//!                           xor seed, times an odd number
//!                           |
//!                        seeded --> start, coefficients, bucket               another seed, others
//! ```
//!
//! A key is hashed once, to 64 bits. Everything else is expanded from this hash by multiplications
//! with large odd numbers. The start comes from the upper bits of the seeded hash ([`fastrange`]);
//! the other parts have a multiplier of their own, which removes the correlation with the start.
//! Products have 128 bits, and their halves are folded together, so that every bit of a part
//! depends on every bit of the hash.
//!
//! Two keys with the same hash have the same equation with the same fingerprint: a redundant
//! equation, never a failure. A filter of `n` keys therefore finds an absent key with probability
//! `n / 2^64` in addition to its rate.

use crate::width::Word;
use xxhash_rust::xxh3::xxh3_64_with_seed;

/// Odd multipliers: the fractional bits of the square roots of 3, 11, 13, 17, 19, 23 and 29.
const RESEED: u64 = 0xbb67_ae85_84ca_a73b;
const FIRST_COEFFICIENTS: u64 = 0x510e_527f_ade6_82d1;
const LAST_COEFFICIENTS: u64 = 0x9b05_688c_2b3e_6c1f;
const FINGERPRINT: u64 = 0x1f83_d9ab_fb41_bd6b;
const SHARD: u64 = 0x5be0_cd19_137e_2179;
const BUMPED: u64 = 0xcbbb_9d5d_c105_9ed9;
const BUCKET: u64 = 0x629a_292a_367c_d507;

/// Bits of a fingerprint: the maximum number of columns of a filter.
pub const FINGERPRINT_BITS: u32 = 32;

/// The hash of a key, under the seed that the user may choose (section 7).
pub fn key_hash(key: &[u8], key_seed: u64) -> u64 {
    xxh3_64_with_seed(key, key_seed)
}

/// The product of two numbers, its halves folded by exclusive or.
const fn fold(a: u64, b: u64) -> u64 {
    let product = a as u128 * b as u128;
    product as u64 ^ (product >> 64) as u64
}

/// The high half of a product: maps a hash to `0..range` and preserves the order (Lemire).
pub fn fastrange(hash: u64, range: u64) -> u64 {
    ((u128::from(hash) * u128::from(range)) >> 64) as u64
}

/// The fingerprint of a key: `b(x)` in the paper. It does not depend on a seed, so a filter is a
/// static function of fingerprints that are known before a seed is.
pub fn fingerprint(hash: u64) -> u32 {
    (fold(hash, FINGERPRINT) >> 32) as u32
}

/// The hash that partitions keys into shards. Its order is independent of that of the starts.
pub fn shard_hash(hash: u64) -> u64 {
    fold(hash, SHARD)
}

/// The value of a free variable of a homogeneous system: a pseudo-random row of the solution.
///
/// The paper has `p i mod 2^r` for row `i`. Two multiplications make the rows of one window
/// independent of each other in every column, which matters where few free rows decide the rate.
pub fn free_row(row: u64) -> u64 {
    fold(fold(row ^ FINGERPRINT, RESEED), SHARD)
}

/// The hash of a key under one seed. It determines start and coefficients.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seeded(pub u64);

impl Seeded {
    /// The exclusive or with a pseudo-random seed, then a multiplication (section 5.3).
    pub fn new(hash: u64, seed: u8) -> Self {
        let seed = (u64::from(seed) + 1).wrapping_mul(BUCKET);
        Self(fold(hash ^ seed, RESEED))
    }

    /// The coefficients `c(x)`: the first is 1, the others are random.
    pub fn coefficients<W: Word>(self) -> W {
        let first = fold(self.0, FIRST_COEFFICIENTS);
        // Only a ribbon of 128 slots needs a second word; for the others this is no code.
        let bits = match W::WIDTH.slots() > 64 {
            true => u128::from(fold(self.0, LAST_COEFFICIENTS)) << 64 | u128::from(first),
            false => first.into(),
        };
        W::from_bits(bits | 1)
    }

    /// Bits for the decisions of a Balanced ribbon, independent of start and coefficients.
    pub fn balance_bits(self) -> u64 {
        fold(self.0, BUCKET)
    }

    /// The hash of the key at the location that it is bumped to, independent of this one.
    pub fn bumped(self) -> Self {
        Self(fold(self.0, BUMPED))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::hashes;

    const KEYS: usize = 1 << 14;
    /// Standard deviations that no count may exceed. A test makes some 50,000 comparisons of fixed
    /// numbers; six deviations occur in one of 5 * 10^8.
    const BOUND: f64 = 6.0;

    /// Hashes of sequential strings, sequential numbers as key hashes, and random hashes.
    fn key_sets() -> [(&'static str, Vec<u64>); 3] {
        let strings = (0..KEYS).map(|i| key_hash(format!("key-{i}").as_bytes(), 0)).collect();
        let numbers = (0..KEYS as u64).map(|i| key_hash(&i.to_le_bytes(), 7)).collect();
        [("strings", strings), ("numbers", numbers), ("random", hashes(KEYS, 1))]
    }

    fn assert_fair(ones: usize, what: impl FnOnce() -> String) {
        let off = (2.0 * ones as f64 - KEYS as f64) / libm::sqrt(KEYS as f64);
        assert!(off.abs() < BOUND, "{}: {off:.1} standard deviations", what());
    }

    /// One bit of every key, packed into words.
    type Column = Vec<u64>;

    fn ones(column: &Column) -> usize {
        column.iter().map(|word| word.count_ones() as usize).sum()
    }

    fn differences(one: &Column, other: &Column) -> usize {
        one.iter().zip(other).map(|(a, b)| (a ^ b).count_ones() as usize).sum()
    }

    fn columns(bits: u32, values: impl Iterator<Item = u128>) -> Vec<Column> {
        let mut columns = vec![vec![0; KEYS / 64]; bits as usize];
        for (index, value) in values.enumerate() {
            for (bit, column) in columns.iter_mut().enumerate() {
                column[index / 64] |= ((value >> bit & 1) as u64) << (index % 64);
            }
        }
        columns
    }

    /// All random bits of an equation: 127 coefficients, 32 of the fingerprint, and the upper 24
    /// of the seeded hash, which are the start.
    fn random_bits(hashes: &[u64], seed: u8) -> Vec<Column> {
        let seeded = |&hash: &u64| Seeded::new(hash, seed);
        let coefficients = hashes.iter().map(|h| seeded(h).coefficients::<u128>() >> 1);
        let mut all = columns(127, coefficients);
        all.extend(columns(32, hashes.iter().map(|&hash| fingerprint(hash).into())));
        all.extend(columns(24, hashes.iter().map(|h| (seeded(h).0 >> 40).into())));
        all
    }

    #[test]
    fn bits_of_an_equation_are_fair_and_uncorrelated() {
        for (name, hashes) in key_sets() {
            let columns = random_bits(&hashes, 3);
            for (index, one) in columns.iter().enumerate() {
                assert_fair(ones(one), || format!("{name}: bit {index}"));
                for (other_index, other) in columns[..index].iter().enumerate() {
                    assert_fair(differences(one, other), || {
                        format!("{name}: bits {index} and {other_index}")
                    });
                }
            }
        }
    }

    #[test]
    fn seeds_give_independent_equations() {
        for (name, hashes) in key_sets() {
            for (a, b) in [(0, 1), (0, 255), (1, 2), (127, 128)] {
                let fixed = 127..127 + 32; // The fingerprint has no seed.
                let (a, b) = (random_bits(&hashes, a), random_bits(&hashes, b));
                for (index, (a, b)) in a.iter().zip(&b).enumerate() {
                    if !fixed.contains(&index) {
                        assert_fair(differences(a, b), || format!("{name}: bit {index}"));
                    }
                }
            }
        }
    }

    #[test]
    fn halves_of_128_coefficients_are_independent() {
        for (name, hashes) in key_sets() {
            let halves = hashes.iter().map(|&hash| Seeded::new(hash, 0).coefficients::<u128>());
            let xored = columns(64, halves.map(|c| (c ^ c >> 64) & u128::from(u64::MAX)));
            for (bit, column) in xored.iter().enumerate() {
                assert_fair(ones(column), || format!("{name}: bit {bit}"));
            }
        }
    }

    #[test]
    fn narrow_coefficients_begin_with_a_one() {
        for hash in hashes(1000, 2) {
            let seeded = Seeded::new(hash, 0);
            let wide: u128 = seeded.coefficients();
            assert_eq!(wide & 1, 1);
            assert_eq!(seeded.coefficients::<u64>(), wide as u64);
            assert_eq!(seeded.coefficients::<u16>(), wide as u16);
        }
    }

    /// Free rows are not random, so the bound on the correlation of two columns is not a
    /// statistical one, but far from that of equal columns.
    #[test]
    fn free_rows_are_fair_and_no_two_columns_alike() {
        for first in [0, 1 << 20, 1 << 40] {
            let rows = first..first + KEYS as u64;
            let columns = columns(32, rows.map(|row| free_row(row).into()));
            for (index, one) in columns.iter().enumerate() {
                assert_fair(ones(one), || format!("from {first}: column {index}"));
                for other in &columns[..index] {
                    let correlation = 1.0 - 2.0 * differences(one, other) as f64 / KEYS as f64;
                    assert!(correlation.abs() < 0.125, "from {first}: column {index}");
                }
            }
        }
    }

    #[test]
    fn fastrange_is_monotone_and_in_range() {
        for range in [1, 7, 1 << 20, u64::MAX] {
            let mut hashes = hashes(1000, 4);
            hashes.extend([0, u64::MAX]);
            hashes.sort_unstable();
            let mapped: Vec<u64> = hashes.iter().map(|&hash| fastrange(hash, range)).collect();
            assert!(mapped.is_sorted());
            assert_eq!((mapped[0], mapped[mapped.len() - 1]), (0, range - 1));
        }
    }
}
