//! Tests that equations are as random as the analysis assumes, even for poor key hashes.
//!
//! Every key set is fixed, so a test always passes or always fails. All tests have the same bound:
//! six standard deviations of what truly random bits would show. A random statistic exceeds it
//! once in 5 * 10^8 (a chi-square of 31 degrees of freedom, which is skewed, once in 10^5). About
//! 10^6 statistics are computed, so a good hash passes without luck, while with `KEYS` keys a bias
//! or correlation of 3.3 % is detected.

use super::*;
use crate::ribbon::width::with_band;
use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use xxhash_rust::xxh3::xxh3_64;

/// The maximum deviation, in standard deviations.
const BOUND: f64 = 6.0;
/// The number of keys per set, unless the set has fewer.
const KEYS: usize = 1 << 15;
const SEEDS: [u8; 3] = [0, 1, 255];
/// Segment bits: one segment, and one of 32 segments.
const SEGMENT_BITS: [u32; 2] = [0, 5];
/// The starts of a segment in tests that count the keys of every start.
const START_COUNT: u64 = 1 << 10;

/// SplitMix64 as a function of its counter.
fn random(counter: u64) -> u64 {
    let z = counter.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ z >> 31
}

#[test]
fn products_by_halves_are_exact() {
    let extremes = [0, 1, u32::MAX.into(), 1 << 32, u64::MAX - 1, u64::MAX];
    let numbers: Vec<u64> = extremes.into_iter().chain((0..200).map(random)).collect();
    for &a in &numbers {
        for &b in &numbers {
            let product = u128::from(a) * u128::from(b);
            assert_eq!(by_halves(a, b), (product as u64, (product >> 64) as u64), "{a} * {b}");
            let range = b & u64::from(u32::MAX);
            assert_eq!(narrow_fastrange(a, range), fastrange(a, range), "{a} * {range}");
        }
    }
}

/// A family of key hashes; some families are very poor hashes.
struct KeySet {
    name: &'static str,
    key: fn(u64) -> u64,
    /// The number of distinct keys.
    supply: u64,
}

const KEY_SETS: [KeySet; 8] = [
    KeySet { name: "random", key: random, supply: u64::MAX },
    KeySet { name: "0, 1, 2, …", key: |i| i, supply: u64::MAX },
    KeySet { name: "multiples of 2^32", key: |i| i << 32, supply: 1 << 32 },
    KeySet { name: "multiples of 2^48", key: |i| i << 48, supply: 1 << 16 },
    KeySet {
        name: "one bit off a constant",
        key: |i| constant(i / 64) ^ 1 << (i % 64),
        supply: u64::MAX,
    },
    KeySet { name: "three bits set", key: three_bits, supply: 64 * 63 * 62 / 6 },
    KeySet {
        name: "equal in the top 20 bits",
        key: |i| 0xabcde << 44 | random(i) >> 20,
        supply: u64::MAX,
    },
    KeySet {
        name: "hashes of sequential strings",
        key: |i| xxh3_64(format!("key-{i}").as_bytes()),
        supply: u64::MAX,
    },
];

/// All zeros, all ones, then random words.
fn constant(index: u64) -> u64 {
    match index {
        0 => 0,
        1 => u64::MAX,
        _ => random(index),
    }
}

/// The words with three bits set, in increasing order: the combinatorial number system.
fn three_bits(index: u64) -> u64 {
    let pairs = |high: u64| high * (high - 1) / 2;
    let triples = |high: u64| high * (high - 1) * (high.max(2) - 2) / 6;
    let a = (2..64).rev().find(|&a| triples(a) <= index).expect("a bit");
    let rest = index - triples(a);
    let b = (1..64).rev().find(|&b| pairs(b) <= rest).expect("a bit");
    1 << a | 1 << b | 1 << (rest - pairs(b))
}

impl KeySet {
    /// Up to [`KEYS`] mixed hashes, all of one segment as in a filter. Their number is a multiple
    /// of 64, so that they fill words.
    fn mixed(&self, segment_bits: u32) -> Vec<u64> {
        let wanted = 9 % (1 << segment_bits);
        let supply = self.supply.min((2 * KEYS as u64) << segment_bits);
        let all = (0..supply).map(|i| mix((self.key)(i)));
        let mut mixed: Vec<u64> =
            all.filter(|&mixed| segment(mixed, segment_bits) == wanted).take(KEYS).collect();
        mixed.truncate(mixed.len() / 64 * 64);
        assert!(mixed.len() >= 1024, "{}: too few keys", self.name);
        mixed
    }

    fn seeded(&self, segment_bits: u32, seed: u8) -> Vec<Seeded> {
        let mixed = self.mixed(segment_bits);
        mixed.into_iter().map(|mixed| seeded(mixed, Seed::new(seed))).collect()
    }
}

/// Calls `check` with every key set and every seed, for one segment and for several.
fn for_all_hashes(mut check: impl FnMut(&str, &[Seeded])) {
    for set in &KEY_SETS {
        for segment_bits in SEGMENT_BITS {
            for seed in SEEDS {
                let context = format!("{}, {segment_bits} segment bits, seed {seed}", set.name);
                check(&context, &set.seeded(segment_bits, seed));
            }
        }
    }
}

/// The distance of a count of ones in `n` fair bits from its mean, in standard deviations.
fn deviations(ones: u64, n: usize) -> f64 {
    (2.0 * ones as f64 - n as f64) / libm::sqrt(n as f64)
}

fn assert_fair(ones: u64, n: usize, what: impl FnOnce() -> String) {
    let off = deviations(ones, n);
    assert!(libm::fabs(off) <= BOUND, "{}: {off:.1} sigma", what());
}

/// The distance of a chi-square statistic from its mean, in standard deviations, given the
/// observed counts and their probabilities.
fn chi_square_deviations(counts: &[u64], probability: impl Fn(usize) -> f64) -> f64 {
    let n = counts.iter().sum::<u64>() as f64;
    let terms = counts.iter().enumerate().map(|(cell, &count)| {
        let expected = n * probability(cell);
        (count as f64 - expected) * (count as f64 - expected) / expected
    });
    let freedom = (counts.len() - 1) as f64;
    (terms.sum::<f64>() - freedom) / libm::sqrt(2.0 * freedom)
}

fn histogram(cells: u64, values: impl Iterator<Item = u64>) -> Vec<u64> {
    let mut counts = vec![0; cells as usize];
    values.for_each(|value| counts[value as usize] += 1);
    counts
}

/// One bit of every key, packed into words.
struct Column {
    name: String,
    words: Vec<u64>,
}

impl Column {
    fn ones(&self) -> u64 {
        self.words.iter().map(|w| u64::from(w.count_ones())).sum()
    }

    /// The number of keys for which the two bits differ.
    fn differences(&self, other: &Self) -> u64 {
        let pairs = self.words.iter().zip(&other.words);
        pairs.map(|(a, b)| u64::from((a ^ b).count_ones())).sum()
    }
}

/// The first `bits` bits of the values, each bit as a column.
fn columns(name: &str, bits: u32, values: &[u128]) -> Vec<Column> {
    let mut columns: Vec<Column> = (0..bits)
        .map(|bit| Column { name: format!("{name} bit {bit}"), words: vec![0; values.len() / 64] })
        .collect();
    for (index, &value) in values.iter().enumerate() {
        for (bit, column) in columns.iter_mut().enumerate() {
            column.words[index / 64] |= ((value >> bit & 1) as u64) << (index % 64);
        }
    }
    columns
}

fn starts(width: Width, smash: bool) -> Starts {
    Starts::new(START_COUNT + u64::from(width.bits()) - 1, width, smash)
}

/// The coefficients of the largest width, relative to their starts.
fn coefficients(hashes: &[Seeded]) -> Vec<u128> {
    let starts = starts(Width::W128, false);
    hashes.iter().map(|&hash| hash.coefficients(starts.start(hash))).collect()
}

/// The words of coefficients, aligned to blocks.
fn aligned(hashes: &[Seeded]) -> Vec<u128> {
    let words = hashes.iter().map(|&hash| Multipliers::CONSTANTS.expand(hash).0);
    words.map(|[first, second]| u128::from(second) << 64 | u128::from(first)).collect()
}

fn fingerprints(hashes: &[Seeded]) -> Vec<u128> {
    let fingerprints = hashes.iter().map(|hash| hash.fingerprint().into());
    fingerprints.collect()
}

/// Starts in the longest segment; their top bits are those of the starts in any shorter segment.
fn long_starts(hashes: &[Seeded]) -> Vec<u128> {
    let starts = Starts::new((1 << 32) + 63, Width::W64, false);
    assert_eq!(starts.count(), 1 << 32);
    let values = hashes.iter().map(|&hash| starts.start(hash).into());
    values.collect()
}

/// The random bits of an equation. The first coefficient is always 1 and is left out.
fn random_bits(hashes: &[Seeded]) -> Vec<Column> {
    let mut all = columns("coefficient", 128, &coefficients(hashes));
    all.remove(0);
    all.extend(other_bits(hashes));
    all
}

/// The same with coefficients that are aligned to blocks.
fn aligned_bits(hashes: &[Seeded]) -> Vec<Column> {
    let mut all = columns("aligned coefficient", 128, &aligned(hashes));
    all.extend(other_bits(hashes));
    all
}

/// The bits of an equation other than coefficients.
fn other_bits(hashes: &[Seeded]) -> Vec<Column> {
    let mut all = Vec::new();
    all.extend(columns("fingerprint", FINGERPRINT_BITS, &fingerprints(hashes)));
    all.extend(columns("start", 32, &long_starts(hashes)));
    all
}

#[test]
fn starts_have_their_weights() {
    for_all_hashes(|context, hashes| {
        for width in Width::ALL {
            for smash in [false, true] {
                let starts = starts(width, smash);
                assert_eq!(starts.count(), START_COUNT);
                let counts = histogram(START_COUNT, hashes.iter().map(|&hash| starts.start(hash)));
                let off = chi_square_deviations(&counts, |start| {
                    starts.weight(start as u64) as f64 / starts.total_weight() as f64
                });
                assert!(
                    libm::fabs(off) <= BOUND,
                    "{context}, w = {width}, smash {smash}: {off:.1} sigma"
                );
            }
        }
    });
}

/// One-sided: a multiplication spreads sequential keys more evenly than random ones, which is
/// desirable. A thousand keys per segment; every planned segment has more.
#[test]
fn segments_are_filled_evenly() {
    for set in &KEY_SETS {
        for bits in [1, 5, 10] {
            let keys = 1024 << bits;
            if keys > set.supply {
                continue;
            }
            let segments = (0..keys).map(|i| segment(mix((set.key)(i)), bits));
            let counts = histogram(1 << bits, segments);
            let off = chi_square_deviations(&counts, |_| 1.0 / counts.len() as f64);
            assert!(off <= BOUND, "{}, {bits} bits: {off:.1} sigma", set.name);
        }
    }
}

/// The balance of each bit, and the correlation of any two bits of coefficients, fingerprint and
/// start.
#[test]
fn bits_of_an_equation_are_fair_and_uncorrelated() {
    for_all_hashes(|context, hashes| {
        let n = hashes.len();
        for columns in [random_bits(hashes), aligned_bits(hashes)] {
            for (index, a) in columns.iter().enumerate() {
                assert_fair(a.ones(), n, || format!("{context}: {}", a.name));
                for b in &columns[..index] {
                    assert_fair(a.differences(b), n, || {
                        format!("{context}: {} with {}", a.name, b.name)
                    });
                }
            }
        }
    });
}

/// The statistics of the aligned words hold for every width: the coefficient of a slot is the bit
/// at the slot's position in its block. It is a bit of the first word, except in the middle one of
/// three blocks.
#[test]
fn coefficients_are_the_bits_of_their_slots() {
    fn check<B: Band>(hash: Seeded, start: u64) {
        let coefficients: B = hash.coefficients(start);
        let block = u64::from(B::WIDTH.block_slots());
        for k in 0..B::WIDTH.bits() {
            let slot = start + u64::from(k);
            let middle = B::PARTS == 3 && slot / block == start / block + 1;
            let bit =
                Multipliers::CONSTANTS.expand(hash).0[usize::from(middle)] >> (slot % block) & 1;
            let expected = if k == 0 { 1 } else { bit };
            assert_eq!(coefficients.advance(k).first_block() & 1, expected, "{start} + {k}");
        }
    }
    for start in 0..200 {
        let hash = Seeded(random(start));
        for width in Width::ALL {
            with_band!(width, B => check::<B>(hash, start));
        }
    }
}

/// Neither half is a copy or the complement of the other, nor a copy for some keys and the
/// complement for the rest: then single bits would be fair, but the distances would be extreme.
#[test]
fn halves_of_128_coefficients_are_independent() {
    for_all_hashes(|context, hashes| {
        let n = hashes.len();
        let halves = coefficients(hashes);
        let xored: Vec<u128> = halves.iter().map(|&c| (c ^ c >> 64) >> 1 & LOW_63).collect();
        for column in columns("xored halves", 63, &xored) {
            assert_fair(column.ones(), n, || format!("{context}: {}", column.name));
        }
        let squares = xored.iter().map(|x| {
            let from_mean = f64::from(x.count_ones()) - 31.5;
            from_mean * from_mean
        });
        // A sum of 63 fair bits has variance 63/4; its squared deviation has a standard
        // deviation of about sqrt(2) times that.
        let variance = 63.0 / 4.0;
        let off = (squares.sum::<f64>() / n as f64 / variance - 1.0) * libm::sqrt(n as f64 / 2.0);
        assert!(libm::fabs(off) <= BOUND, "{context}: {off:.1} sigma");
    });
}

const LOW_63: u128 = (1 << 63) - 1;

/// Equations under two seeds are independent: pairs of starts are spread evenly over a 32 x 32
/// grid, and no bit of the equation correlates with the same bit under the other seed.
#[test]
fn seeds_give_independent_equations() {
    for set in &KEY_SETS {
        for segment_bits in SEGMENT_BITS {
            for (a, b) in [(0, 1), (0, 255), (1, 255), (1, 2), (127, 128)] {
                let context = format!("{}, {segment_bits} segment bits, {a} and {b}", set.name);
                let under_a = set.seeded(segment_bits, a);
                let under_b = set.seeded(segment_bits, b);
                check_independent(&context, &under_a, &under_b);
            }
        }
    }
}

fn check_independent(context: &str, a: &[Seeded], b: &[Seeded]) {
    let coarse = Starts::new(47, Width::W16, false);
    let pairs = a.iter().zip(b);
    let cells = pairs.map(|(&a, &b)| coarse.start(a) * 32 + coarse.start(b));
    let off = chi_square_deviations(&histogram(32 * 32, cells), |_| 1.0 / 1024.0);
    assert!(libm::fabs(off) <= BOUND, "{context}: starts {off:.1} sigma");
    for (a, b) in random_bits(a).iter().zip(&random_bits(b)) {
        let n = a.words.len() * 64;
        assert_fair(a.differences(b), n, || format!("{context}: {}", a.name));
    }
}

/// Two keys that differ in one bit have unrelated equations: for any flipped input bit, each
/// output bit flips for half of the keys.
#[test]
fn one_flipped_bit_of_a_key_flips_half_of_everything() {
    const BASES: u64 = 1 << 12;
    for seed in SEEDS {
        for flipped in 0..64 {
            let hashes = |flip: u64| -> Vec<Seeded> {
                let keys = (0..BASES).map(|i| constant(i) ^ flip);
                keys.map(|key| seeded(mix(key), Seed::new(seed))).collect()
            };
            let (before, after) = (random_bits(&hashes(0)), random_bits(&hashes(1 << flipped)));
            for (a, b) in before.iter().zip(&after) {
                assert_fair(a.differences(b), BASES as usize, || {
                    format!("seed {seed}, key bit {flipped}: {}", a.name)
                });
            }
        }
    }
}

/// Sequential rows get fair values. The values are not random, so the bound on the correlation of
/// columns is not a statistical one but 1/8, far from that of two equal columns.
#[test]
fn free_rows_are_fair_and_no_two_columns_alike() {
    for first in [0, 1 << 20, 1 << 40] {
        let rows = first..first + KEYS as u64;
        let values: Vec<u128> = rows.map(|row| free_row(row).into()).collect();
        let columns = columns("free row", FINGERPRINT_BITS, &values);
        for (index, a) in columns.iter().enumerate() {
            assert_fair(a.ones(), KEYS, || format!("from {first}: {}", a.name));
            for b in &columns[..index] {
                let correlation = 1.0 - 2.0 * a.differences(b) as f64 / KEYS as f64;
                let alike = libm::fabs(correlation) > 0.125;
                assert!(!alike, "{}, {}: {correlation:.3}", a.name, b.name);
            }
        }
    }
}

/// The purpose of free rows: a few of them, here about every eighth row, have full rank at least
/// as often as random rows. One-sided, six standard deviations.
#[test]
fn free_rows_span_the_columns() {
    const TRIALS: u64 = 1 << 14;
    let mut dice = 0..;
    let mut free = |_: &u64| random(dice.next().expect("no end")).is_multiple_of(8);
    for columns in 1..=8 {
        let rows = columns + 4;
        let deficient = (0..TRIALS).filter(|trial| {
            let window = (trial * 97..).filter(&mut free).take(rows as usize);
            rank(window.map(|row| free_row(row) & ((1 << columns) - 1))) < columns
        });
        let share = deficient.count() as f64 / TRIALS as f64;
        let full: f64 =
            (0..columns).map(|i| 1.0 - libm::exp2(f64::from(i) - f64::from(rows))).product();
        let sigma = libm::sqrt(full * (1.0 - full) / TRIALS as f64);
        let off = (share - (1.0 - full)) / sigma;
        assert!(off <= BOUND, "{columns} columns: {off:.1} sigma");
    }
}

fn rank(rows: impl Iterator<Item = u32>) -> u32 {
    let mut basis: Vec<u32> = Vec::new();
    for row in rows {
        // `min` selects the one of the two in which the vector's leading bit is clear.
        let rest = basis.iter().fold(row, |row, vector| row.min(row ^ vector));
        if rest != 0 {
            basis.push(rest);
        }
    }
    basis.len() as u32
}

#[test]
fn segments_are_the_top_bits() {
    for mixed in (0..1000).map(random).chain([0, u64::MAX]) {
        assert_eq!(segment(mixed, 0), 0);
        for bits in 1..=31 {
            assert_eq!(segment(mixed, bits), mixed >> (64 - bits));
        }
    }
}

/// The hash that a shard's filter mixes again does not depend on the shard.
#[test]
fn shard_bits_are_not_used_again() {
    for bits in [1, 5, 31] {
        for mixed in (0..1000).map(random) {
            let moved = mixed ^ 1 << (64 - bits);
            assert_ne!(segment(mixed, bits), segment(moved, bits));
            assert_eq!(below_segment(mixed, bits), below_segment(moved, bits));
        }
    }
}

const SLOTS: [u64; 12] = [1, 2, 15, 16, 17, 63, 64, 65, 127, 128, 129, 1000];

fn for_all_starts(mut check: impl FnMut(u64, Width, Starts)) {
    for slots in SLOTS {
        for width in Width::ALL {
            for smash in [false, true] {
                check(slots, width, Starts::new(slots, width, smash));
            }
        }
    }
}

#[test]
fn starts_keep_equations_inside_the_segment() {
    for_all_starts(|slots, width, starts| {
        let reach = slots.min(width.bits().into());
        assert_eq!(starts.count(), slots - reach + 1);
        for hash in (0..200).map(random).chain([0, u64::MAX]).map(Seeded) {
            assert!(starts.start(hash) + reach <= slots);
            with_band!(width, B => check_coefficients::<B>(starts, hash, reach));
        }
    });
}

fn check_coefficients<B: Band>(starts: Starts, hash: Seeded, reach: u64) {
    let start = starts.start(hash);
    let coefficients: B = starts.coefficients(hash, start);
    // In wider rows they are the same, followed by zeros.
    assert_eq!(starts.coefficients::<u128>(hash, start).to_words(), coefficients.to_words());
    assert_eq!(coefficients, hash.coefficients::<B>(start) & B::first_bits(reach));
    assert_eq!(coefficients.leading_gap(), 0, "the first coefficient is 1");
    let highest = B::WIDTH.bits() - 1;
    let beyond = (reach as u32..=highest).any(|k| coefficients.advance(k).first_block() & 1 == 1);
    assert!(!beyond, "a coefficient beyond {reach} slots");
}

#[test]
fn weights_sum_up() {
    for_all_starts(|slots, width, starts| {
        let mut before = 0;
        for start in 0..starts.count() {
            assert_eq!(starts.weight_before(start), before, "{slots} {width}");
            before += starts.weight(start);
        }
        for beyond in [starts.count(), starts.count() + 1, u64::MAX] {
            assert_eq!(starts.weight_before(beyond), before, "{slots} {width}");
        }
        assert_eq!(starts.total_weight(), before, "{slots} {width}");
    });
}

#[test]
fn smash_gives_the_ends_a_quarter_of_the_width_more() {
    for width in Width::ALL {
        let quarter = u64::from(width.bits()) / 4;
        let starts = Starts::new(1000, width, true);
        assert_eq!(starts.weight(0), 1 + quarter);
        assert_eq!(starts.weight(1), 1);
        assert_eq!(starts.weight(starts.count() - 1), 1 + quarter);
        let single = Starts::new(width.bits().into(), width, true);
        assert_eq!((single.count(), single.total_weight()), (1, 1));
    }
}

/// A start begins at exactly the hash given by the weights of the preceding starts. So starts are
/// monotone in the hash and have exactly their weights.
#[test]
fn starts_are_monotone_and_exact() {
    for_all_starts(|slots, width, starts| {
        let total = u128::from(starts.total_weight());
        for start in 1..starts.count() {
            let before = u128::from(starts.weight_before(start));
            let first = (before << 64).div_ceil(total) as u64;
            assert_eq!(starts.start(Seeded(first)), start, "{slots} {width}");
            assert_eq!(starts.start(Seeded(first - 1)), start - 1, "{slots} {width}");
        }
        assert_eq!(starts.start(Seeded(0)), 0);
        assert_eq!(starts.start(Seeded(u64::MAX)), starts.count() - 1);
        let mut hashes: Vec<u64> = (0..500).map(random).collect();
        hashes.sort_unstable();
        assert!(hashes.is_sorted_by_key(|&hash| starts.start(Seeded(hash))));
    });
}

/// Keys that are sorted by hash, and so by start, are also sorted by part.
#[test]
fn parts_are_in_the_order_of_starts() {
    let mut hashes: Vec<Seeded> = (0..2000).map(random).map(Seeded).collect();
    hashes.sort_unstable_by_key(|hash| hash.0);
    for parts_log in [1, 5, 9] {
        assert!(hashes.is_sorted_by_key(|hash| hash.part(parts_log)));
        assert!(hashes.iter().all(|hash| hash.part(parts_log) < 1 << parts_log));
        assert_eq!(Seeded(u64::MAX).part(parts_log), (1 << parts_log) - 1);
    }
}

#[test]
fn both_ways_to_a_start_agree() {
    for_all_starts(|_, _, starts| {
        for hash in (0..500).map(random).chain([0, u64::MAX]).map(Seeded) {
            match starts.unclamped_start(hash) {
                Some(start) => assert_eq!(start, starts.start(hash)),
                None => assert!([0, starts.last].contains(&starts.start(hash))),
            }
        }
    });
}

#[test]
fn segments_begin_where_those_before_them_end() {
    for bits in [0, 1, 2, 7, 31] {
        let segments = Segments::new(bits, 640);
        for mixed in [0, 1, 1 << 63, u64::MAX, mix(1), mix(2), mix(3)] {
            let number = segment(mixed, bits);
            assert_eq!(segments.number(mixed), number);
            assert_eq!(segments.first_slot(mixed), 640 * number, "{mixed:x} of {bits} bits");
            assert_eq!(segments.first_slot_of(number), 640 * number);
        }
    }
}
