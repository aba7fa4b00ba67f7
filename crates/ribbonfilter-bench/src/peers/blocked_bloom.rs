//! Bloom filters all of whose bits for a key are in one block, written for the comparison: blocks of
//! 512 bits (a cache line, as every blocked Bloom filter in the paper), of 64 bits (a register), and
//! the paper's variant that divides the bits between two blocks of 512. The crates have none of
//! them with free sizes; `sbbf` is another filter, with blocks of 256 bits and 8 bits per key.
//!
//! The idea of RocksDB (`util/bloom_impl.h`), whose filter the paper measured: a multiplication by
//! an odd number for each bit gives its position, and a query with AVX2 tests eight bits together.

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
    let build = move |keys: &[u64]| {
        let mut lines = lines_for(keys, bits_per_key);
        for &key in keys {
            let index = reduce(key, lines.len());
            lines[index].set::<PROBES>(key);
        }
        let bytes = lines.len() * 64;
        (lines, bytes.into())
    };
    let family = Family::BlockedBloom;
    #[cfg(target_arch = "x86_64")]
    if let Some(avx2) = Avx2::new() {
        let has =
            move |lines: &Vec<Line>, key| avx2.has::<PROBES>(&lines[reduce(key, lines.len())], key);
        return peer(name, family, build, has);
    }
    let has = |lines: &Vec<Line>, key| lines[reduce(key, lines.len())].has::<PROBES>(key);
    peer(name, family, build, has)
}

fn two_lines<const PROBES: usize>(name: String, bits_per_key: f64) -> Box<dyn Peer> {
    let build = move |keys: &[u64]| {
        let mut lines = lines_for(keys, bits_per_key);
        for &key in keys {
            for hash in [key, second(key)] {
                let index = reduce(hash, lines.len());
                lines[index].set::<PROBES>(hash);
            }
        }
        let bytes = lines.len() * 64;
        (lines, bytes.into())
    };
    let family = Family::Bloom;
    // Without a branch, both lines are loaded at the same time.
    #[cfg(target_arch = "x86_64")]
    if let Some(avx2) = Avx2::new() {
        let has = move |lines: &Vec<Line>, key| {
            let has = |hash| avx2.has::<PROBES>(&lines[reduce(hash, lines.len())], hash);
            has(key) & has(second(key))
        };
        return peer(name, family, build, has);
    }
    let has = |lines: &Vec<Line>, key| {
        let has = |hash| lines[reduce(hash, lines.len())].has::<PROBES>(hash);
        has(key) & has(second(key))
    };
    peer(name, family, build, has)
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
            self.0[(probe >> 29) as usize] |= 1 << (probe >> 23 & 63);
        }
    }

    #[inline]
    fn has<const PROBES: usize>(&self, hash: u64) -> bool {
        let bit = |probe: u32| self.0[(probe >> 29) as usize] >> (probe >> 23 & 63);
        probes::<PROBES>(hash).map(bit).fold(1, |all, bit| all & bit) == 1
    }
}

/// Queries with vectors. A value of this type shows that the CPU has AVX2.
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy)]
struct Avx2(());

#[cfg(target_arch = "x86_64")]
impl Avx2 {
    fn new() -> Option<Self> {
        std::arch::is_x86_feature_detected!("avx2").then_some(Self(()))
    }

    #[inline]
    fn has<const PROBES: usize>(self, line: &Line, hash: u64) -> bool {
        #[expect(unsafe_code, reason = "the compiler does not know that the CPU has AVX2")]
        // SAFETY: `new` has checked it.
        unsafe {
            has_avx2::<PROBES>(line, hash)
        }
    }
}

/// The same as `Line::has`, for eight bits together.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn has_avx2<const PROBES: usize>(line: &Line, hash: u64) -> bool {
    use std::arch::x86_64::*;
    let quarters = line.0.map(|word| word as i64);
    let [a, b, c, d, e, f, g, h] = quarters;
    let low = _mm256_setr_epi64x(a, b, c, d);
    let high = _mm256_setr_epi64x(e, f, g, h);
    let mut has = true;
    for first in (0..PROBES).step_by(8) {
        let factor = |index: usize| FACTORS[(first + index).min(MAX_PROBES - 1)] as i32;
        let is_used = |index: usize| i32::from(first + index < PROBES);
        let of = |lane: [i32; 8]| {
            let [a, b, c, d, e, f, g, h] = lane;
            _mm256_setr_epi32(a, b, c, d, e, f, g, h)
        };
        let probes =
            _mm256_mullo_epi32(_mm256_set1_epi32(hash as i32), of(std::array::from_fn(factor)));
        // The highest four bits choose one of 16 words of 32 bits, the next five one of its bits.
        let word = _mm256_srli_epi32::<28>(probes);
        let words = _mm256_blendv_ps(
            _mm256_castsi256_ps(_mm256_permutevar8x32_epi32(low, word)),
            _mm256_castsi256_ps(_mm256_permutevar8x32_epi32(high, word)),
            _mm256_castsi256_ps(probes),
        );
        let bit = _mm256_srli_epi32::<27>(_mm256_slli_epi32::<4>(probes));
        let mask = _mm256_sllv_epi32(of(std::array::from_fn(is_used)), bit);
        has &= _mm256_testc_si256(_mm256_castps_si256(words), mask) != 0;
    }
    has
}

fn lines_for(keys: &[u64], bits_per_key: f64) -> Vec<Line> {
    let lines = (keys.len() as f64 * bits_per_key / 512.0).ceil().max(1.0);
    vec![Line([0; 8]); lines as usize]
}

/// Powers of an odd number without a pattern.
const FACTORS: [u32; MAX_PROBES] = {
    let mut factors = [0x9e37_79b9_u32; MAX_PROBES];
    let mut index = 1;
    while index < MAX_PROBES {
        factors[index] = factors[index - 1].wrapping_mul(factors[0]);
        index += 1;
    }
    factors
};

/// Products of the low half of a hash; the block is taken from the high half. The high bits of each
/// product are a position.
#[inline]
fn probes<const PROBES: usize>(hash: u64) -> impl Iterator<Item = u32> {
    FACTORS[..PROBES].iter().map(move |&factor| factor.wrapping_mul(hash as u32))
}

/// The bits in a block of 64.
#[inline]
fn pattern<const PROBES: usize>(hash: u64) -> u64 {
    probes::<PROBES>(hash).fold(0, |pattern, probe| pattern | 1 << (probe >> 26))
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

    #[cfg(target_arch = "x86_64")]
    #[test]
    fn vectors_find_the_same() {
        use super::{Avx2, Line};
        use crate::random::Random;
        let Some(avx2) = Avx2::new() else {
            return;
        };
        let mut random = Random::new(1);
        let mut found = 0;
        for round in 0..100_000 {
            // Most bits are set, so that about half of the keys are found.
            let line = Line(std::array::from_fn(|_| {
                random.by_ref().take(4).fold(0, |set, bits| set | bits)
            }));
            let hash = random.next().unwrap();
            assert_eq!(avx2.has::<3>(&line, hash), line.has::<3>(hash), "{round}");
            assert_eq!(avx2.has::<8>(&line, hash), line.has::<8>(hash), "{round}");
            assert_eq!(avx2.has::<13>(&line, hash), line.has::<13>(hash), "{round}");
            found += u32::from(line.has::<13>(hash));
        }
        assert!((20_000..80_000).contains(&found), "{found}");
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
