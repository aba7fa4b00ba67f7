//! Keys and hashes that an attacker has chosen, and their known effects.
//!
//! An attacker who knows the hash function can construct false positives, and sets that cannot be
//! built. No attacker can cause a false negative, an endless build, or a build that exceeds its
//! bounds. `SECURITY.md` promises this.

use crate::support::{assert_all_found, build, builder, false_positives, kinds, random, scale};
use ribbonfilter_next::{BuildError, Filter, Function, Key, Variant, Width};

/// The mixed hash of a key under seed 0, as `docs/format.md` defines it. Its top bits determine the
/// start.
fn place(hash: u64) -> u64 {
    let fold = |a: u64, b: u64| {
        let product = u128::from(a) * u128::from(b);
        product as u64 ^ (product >> 64) as u64
    };
    fold(hash ^ 0x9b05_688c_2b3e_6c1f, random(0, 1) | 1)
}

/// Distinct hashes that satisfy a condition.
fn chosen(keys: usize, is_wanted: impl Fn(u64) -> bool) -> Vec<u64> {
    (0..).map(|index| random(77, index)).filter(|&hash| is_wanted(hash)).take(keys).collect()
}

/// Builds a filter of hashes that were chosen against seed 0, and finds every key. Another seed gives
/// other starts, so the filter has the planned size.
fn built(variant: Variant, width: Width, hashes: &[u64]) -> Filter {
    let mut builder = builder(variant, width, 5.0);
    builder.extend_hashes(hashes.iter().copied());
    let plan = builder.plan().expect("a plan");
    let filter = builder.finish().expect("another seed");
    assert_all_found(&filter, hashes.iter().copied());
    filter.verify().expect("whole");
    assert_eq!(filter.size_in_bytes() as u64, plan.size_in_bytes(), "{filter:?}");
    filter
}

#[test]
fn all_equal() {
    let times = scale(10_000, 100_000, 1_000_000);
    for (variant, width) in kinds(times) {
        let one = build(builder(variant, width, 5.0), [9]);
        let many = build(builder(variant, width, 5.0), std::iter::repeat_n(9, times as usize));
        assert_eq!(one.as_bytes(), many.as_bytes(), "{variant} {width}");
    }
}

/// Keys with the same hash count as one key in a filter; a function rejects two values for it.
#[test]
fn different_keys_with_one_hash() {
    struct Colliding(u64);
    impl Key for Colliding {
        fn key_hash(&self, key_seed: u64) -> u64 {
            (self.0 / 16).key_hash(key_seed)
        }
    }
    let keys = scale(5_000, 30_000, 300_000);
    let mut builder = Filter::builder().columns(12.0);
    builder.extend((0..16 * keys).map(Colliding));
    let filter = builder.finish().expect("they count as few");
    assert_eq!(filter.len(), keys);
    assert!((0..16 * keys).all(|key| filter.contains(Colliding(key))));

    let agreeing = (0..16 * keys).map(|key| (Colliding(key), (key / 16) & 0xff));
    let function = Function::build(agreeing, 8).expect("one value for each hash");
    assert!((0..16 * keys).all(|key| function.get(Colliding(key)) == (key / 16) & 0xff));
    let contrary = (0..16 * keys).map(|key| (Colliding(key), key & 0xff));
    let error = Function::build(contrary, 8).expect_err("two values for one hash");
    assert!(matches!(error, BuildError::Contradiction { first: 0, .. }), "{error}");
}

/// A key of 32 bytes. All keys that `forged` makes for one key seed have the same hash. XXH3
/// multiplies the first 8 bytes, less a constant and the seed, by the next 8 bytes. Here the first
/// factor is zero, so the second one has no influence.
fn forged(key_seed: u64, number: u64) -> [u8; 32] {
    const SECRET: u64 = 0xbe4b_a423_396c_feb8;
    let mut key = [7; 32];
    key[..8].copy_from_slice(&SECRET.wrapping_add(key_seed).to_le_bytes());
    key[8..16].copy_from_slice(&number.to_le_bytes());
    key
}

/// An attacker who knows the key seed can make any number of keys with the hash of a member. Every
/// filter with that seed reports them as members, with any number of columns. Under another seed
/// they are no more frequent false positives than other keys.
#[test]
fn a_million_keys_made_to_collide_with_a_member() {
    let attempts = 1_000_000;
    for known in [0, 1, 0x1234_5678_9abc_def0] {
        for seed in [known, known ^ 99] {
            let mut builder = Filter::builder().columns(8.0).key_seed(seed);
            builder.extend(0..10_000);
            builder.push(forged(known, 0));
            let filter = builder.finish().expect("ordinary keys");
            assert!(filter.contains(forged(known, 0)));
            let found = (1..=attempts).filter(|&n| filter.contains(forged(known, n))).count();
            let share = found as f64 / attempts as f64;
            let expected = if seed == known { 1.0..=1.0 } else { 0.0..=1.1 / 256.0 };
            assert!(expected.contains(&share), "key seed {seed}: {share}");
        }
    }
}

/// If they are added to a filter, they count as one key, and the rate of other keys is unchanged.
#[test]
fn a_million_keys_of_one_hash_put_in() {
    let forged_keys = scale(100_000, 1_000_000, 1_000_000);
    let mut builder = Filter::builder().columns(8.0);
    builder.extend(0..1000);
    builder.extend((0..forged_keys).map(|number| forged(0, number)));
    let filter = builder.finish().expect("few keys, one of them often");
    assert_eq!(filter.len(), 1001);
    assert!((0..1000).all(|key| filter.contains(key)));
    assert!((0..2 * forged_keys).all(|number| filter.contains(forged(0, number))));
    let probes = 1 << 20;
    let found = false_positives(&filter, probes) as f64 / probes as f64;
    assert!(found < 1.2 / 256.0, "{found}");
}

/// The seed of the first system.
fn seed(filter: &Filter) -> u8 {
    let bytes = filter.as_bytes();
    bytes[bytes.len() - 40 + 27]
}

/// The measured false-positive rate of random keys.
fn measured_rate(filter: &Filter) -> f64 {
    let probes = 20_000;
    false_positives(filter, probes) as f64 / probes as f64
}

/// Under seed 0 all keys start in 1/256 of the slots; under other seeds they do not.
#[test]
fn hashes_chosen_against_seed_0() {
    for keys in [2_000, scale(40_000, 150_000, 600_000)] {
        let hashes = chosen(keys as usize, |hash| place(hash) >> 56 == 0x51);
        for (variant, width) in kinds(keys) {
            let filter = built(variant, width, &hashes);
            assert_ne!(seed(&filter), 0, "{filter:?}");
            let found = measured_rate(&filter);
            assert!(found < 1.3 / 32.0, "{found}: {filter:?}");
        }
    }
}

/// A few hundred hashes whose starts are nearly equal in a filter of that size: under seed 0 their
/// top 16 bits are the same.
#[test]
fn equal_starts() {
    let keys = scale(20, 100, 300);
    let hashes = chosen(keys, |hash| place(hash) >> 48 == 0x5151);
    for (variant, width) in kinds(keys as u64) {
        built(variant, width, &hashes);
    }
}
