//! Bloom filters all of whose bits for a key are in one block, written for the comparison: blocks of
//! 512 bits (a cache line, as every blocked Bloom filter in the paper), of 64 bits (a register), and
//! the paper's variant that divides the bits between two blocks of 512. The crates have none of
//! them with free sizes; `sbbf` is another filter, with blocks of 256 bits and 8 bits per key.
//!
//! A multiplication by one odd number per bit gives its position, as in RocksDB
//! (`util/bloom_impl.h`). The code is plain; there are no vector instructions.

use crate::race::{Family, Peer, peer};

/// The largest number of bits that are set for a key.
const MAX_PROBES: usize = 16;

/// Makes a filter with a number of probes that the compiler knows.
macro_rules! with_probes {
    ($probes:expr, $filter:ident($name:expr, $bits:expr)) => {
        with_probes!($probes, $filter, $name, $bits, 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16)
    };
    ($probes:expr, $filter:ident, $name:expr, $bits:expr, $($number:literal)*) => {
        match $probes {
            $($number => $filter::<$number>($name, $bits),)*
            _ => unreachable!("at most {MAX_PROBES} probes"),
        }
    };
}

/// The blocks of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// One of 512 bits.
    Line,
    /// Two of 512 bits, with half of the bits each.
    TwoLines,
    /// One of 64 bits.
    Register,
}

/// Filters with 512-bit blocks, with two of them, and with 64-bit blocks, for a rate of 2^-`bits`.
pub fn all(bits: u32) -> Vec<Box<dyn Peer>> {
    [Kind::Line, Kind::TwoLines, Kind::Register]
        .into_iter()
        .filter_map(|kind| filter(kind, bits))
        .collect()
}

/// The smallest filter of a kind with this rate, or none if it would take more than three times the
/// minimum.
fn filter(kind: Kind, bits: u32) -> Option<Box<dyn Peer>> {
    let (probes, bits_per_key) = best(kind, bits)?;
    let kind_name = match kind {
        Kind::Line => "BlockedBloom 512",
        Kind::TwoLines => "Bloom in two 512-bit blocks",
        Kind::Register => "BlockedBloom 64",
    };
    let name = format!("{kind_name} 2^-{bits} (ours, for comparison)");
    Some(match kind {
        Kind::Line => with_probes!(probes, line(name, bits_per_key)),
        Kind::TwoLines => with_probes!(probes / 2, two_lines(name, bits_per_key)),
        Kind::Register => with_probes!(probes, register(name, bits_per_key)),
    })
}

fn line<const PROBES: usize>(name: String, bits_per_key: f64) -> Box<dyn Peer> {
    peer(
        name,
        Family::BlockedBloom,
        move |keys| {
            let mut lines = lines_for(keys, bits_per_key);
            for &key in keys {
                let index = reduce(key, lines.len());
                lines[index].set::<PROBES>(key);
            }
            let bytes = lines.len() * 64;
            (lines, bytes.into())
        },
        |lines: &Vec<Line>, key| lines[reduce(key, lines.len())].has::<PROBES>(key),
    )
}

fn two_lines<const PROBES: usize>(name: String, bits_per_key: f64) -> Box<dyn Peer> {
    peer(
        name,
        Family::Bloom,
        move |keys| {
            let mut lines = lines_for(keys, bits_per_key);
            for &key in keys {
                for hash in [key, second(key)] {
                    let index = reduce(hash, lines.len());
                    lines[index].set::<PROBES>(hash);
                }
            }
            let bytes = lines.len() * 64;
            (lines, bytes.into())
        },
        |lines: &Vec<Line>, key| {
            let has = |hash| lines[reduce(hash, lines.len())].has::<PROBES>(hash);
            // Without a branch, both lines are loaded at the same time.
            has(key) & has(second(key))
        },
    )
}

fn register<const PROBES: usize>(name: String, bits_per_key: f64) -> Box<dyn Peer> {
    peer(
        name,
        Family::RegisterBloom,
        move |keys| {
            let words = (keys.len() as f64 * bits_per_key / 64.0).ceil().max(1.0);
            let mut words = vec![0; words as usize];
            for &key in keys {
                let index = reduce(key, words.len());
                words[index] |= pattern::<PROBES>(key);
            }
            let bytes = words.len() * 8;
            (words, bytes.into())
        },
        |words: &Vec<u64>, key| {
            let pattern = pattern::<PROBES>(key);
            words[reduce(key, words.len())] & pattern == pattern
        },
    )
}

/// A block of 512 bits.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct Line([u64; 8]);

impl Line {
    fn set<const PROBES: usize>(&mut self, hash: u64) {
        for probe in probes::<PROBES>(hash) {
            self.0[probe as usize >> 6] |= 1 << (probe & 63);
        }
    }

    #[inline]
    fn has<const PROBES: usize>(&self, hash: u64) -> bool {
        let bit = |probe: u64| self.0[probe as usize >> 6] >> (probe & 63);
        probes::<PROBES>(hash).into_iter().map(bit).fold(1, |all, bit| all & bit) == 1
    }
}

fn lines_for(keys: &[u64], bits_per_key: f64) -> Vec<Line> {
    let lines = (keys.len() as f64 * bits_per_key / 512.0).ceil().max(1.0);
    vec![Line([0; 8]); lines as usize]
}

/// Powers of an odd number without a pattern.
const FACTORS: [u64; MAX_PROBES] = {
    let mut factors = [0x9e37_79b9_7f4a_7c15_u64; MAX_PROBES];
    let mut index = 1;
    while index < MAX_PROBES {
        factors[index] = factors[index - 1].wrapping_mul(factors[0]);
        index += 1;
    }
    factors
};

/// Positions in a block of 512 bits.
#[inline]
fn probes<const PROBES: usize>(hash: u64) -> [u64; PROBES] {
    std::array::from_fn(|index| hash.wrapping_mul(FACTORS[index]) >> 55)
}

/// The bits in a block of 64.
#[inline]
fn pattern<const PROBES: usize>(hash: u64) -> u64 {
    probes::<PROBES>(hash).into_iter().fold(0, |pattern, probe| pattern | 1 << (probe >> 3))
}

/// A second hash of a key.
#[inline]
fn second(key: u64) -> u64 {
    key.rotate_left(32).wrapping_mul(0xbf58_476d_1ce4_e5b9)
}

/// An index below `len`, from the high bits of a hash.
#[inline]
fn reduce(hash: u64, len: usize) -> usize {
    ((u128::from(hash) * len as u128) >> 64) as usize
}

/// The number of probes and the bits per key of the smallest filter with a rate of 2^-`bits`.
fn best(kind: Kind, bits: u32) -> Option<(usize, f64)> {
    let target = 0.5_f64.powi(bits as i32);
    let numbers = (1..=MAX_PROBES).filter(|probes| kind != Kind::TwoLines || probes % 2 == 0);
    let candidates = numbers.filter_map(|probes| {
        let (mut low, mut high) = (f64::from(bits), f64::from(bits) * 3.0);
        if rate(kind, probes, high) > target {
            return None;
        }
        for _ in 0..40 {
            let middle = (low + high) / 2.0;
            let enough = rate(kind, probes, middle) <= target;
            (low, high) = if enough { (low, middle) } else { (middle, high) };
        }
        Some((probes, high))
    });
    candidates.min_by(|one, other| one.1.total_cmp(&other.1))
}

/// The rate on average. The number of keys of a block has a Poisson distribution.
fn rate(kind: Kind, probes: usize, bits_per_key: f64) -> f64 {
    match kind {
        Kind::Line => of_block(512.0, probes, 512.0 / bits_per_key),
        Kind::Register => of_block(64.0, probes, 64.0 / bits_per_key),
        Kind::TwoLines => of_block(512.0, probes / 2, 2.0 * 512.0 / bits_per_key).powi(2),
    }
}

/// The probability that a block has all bits of an absent key, if it has `load` keys on average.
fn of_block(block: f64, probes: usize, load: f64) -> f64 {
    let probes = probes as f64;
    let mut probability = (-load).exp();
    let mut sum = 0.0;
    for keys in 1..=(load * 2.0 + 100.0) as u32 {
        probability *= load / f64::from(keys);
        let unset = (1.0 - 1.0 / block).powf(probes * f64::from(keys));
        sum += probability * (1.0 - unset).powf(probes);
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::super::testing::check;
    use super::{Kind, best, filter};

    #[test]
    fn rates_are_as_in_theory() {
        for kind in [Kind::Line, Kind::TwoLines, Kind::Register] {
            for bits in [1, 3, 7, 11] {
                if let Some((_, bits_per_key)) = best(kind, bits) {
                    let filter = filter(kind, bits).unwrap();
                    check(&*filter, 100_003, 0.5_f64.powi(bits as i32), bits_per_key);
                }
            }
        }
    }

    /// The paper: about 50 % for a rate of 1 % in one block, at least 44 % in any Bloom filter.
    #[test]
    fn overheads_are_those_of_the_paper() {
        let overhead = |kind, bits: u32| best(kind, bits).unwrap().1 / f64::from(bits) - 1.0;
        assert!((0.48..0.53).contains(&overhead(Kind::Line, 7)), "{}", overhead(Kind::Line, 7));
        assert!((0.44..0.48).contains(&overhead(Kind::TwoLines, 7)));
        assert!(best(Kind::Register, 16).is_none());
    }
}
