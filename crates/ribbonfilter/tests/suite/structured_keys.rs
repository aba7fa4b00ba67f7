//! Keys and hashes that an attacker has chosen, and their known effects.
//!
//! An attacker who knows the hash function can construct false positives, and sets that cannot be
//! built. No attacker can cause a false negative, an endless build, or a build that exceeds its
//! bounds. `SECURITY.md` promises this.

use crate::support::{assert_all_found, build, builder, false_positives, kinds, random, scale};
use ribbonfilter::{BuildError, Filter, Function, Key, Variant, Width};

/// The mixed hash of a key and its seeded hash under seed 0, as `docs/format.md` defines them. The
/// top bits of the first are the segment; the top bits of the second determine the start.
fn place(hash: u64) -> (u64, u64) {
    let fold = |a: u64, b: u64| {
        let product = u128::from(a) * u128::from(b);
        product as u64 ^ (product >> 64) as u64
    };
    let mixed = fold(hash ^ 0xffff_ffff_fe94_f82b, 0xbb67_ae85_84ca_a73b);
    (mixed, fold(mixed, 0x510e_527f_ade6_82d1))
}

/// Distinct hashes that satisfy a condition.
fn chosen(keys: usize, is_wanted: impl Fn(u64) -> bool) -> Vec<u64> {
    (0..).map(|index| random(77, index)).filter(|&hash| is_wanted(hash)).take(keys).collect()
}

fn segment_bits(variant: Variant, width: Width, keys: u64) -> u32 {
    let plan = builder(variant, width, 5.0).plan_for(keys).expect("a plan");
    plan.segments().trailing_zeros()
}

/// Builds a filter and finds every key; `None` if the build fails with an error that such keys may
/// cause.
fn built_or_refused(variant: Variant, width: Width, hashes: &[u64]) -> Option<Filter> {
    let mut builder = builder(variant, width, 5.0);
    builder.extend_hashes(hashes.iter().copied());
    match builder.finish() {
        Ok(filter) => {
            assert_all_found(&filter, hashes.iter().copied());
            filter.verify().expect("whole");
            Some(filter)
        }
        Err(BuildError::Unsolvable { .. } | BuildError::MemoryLimit { .. }) => None,
        Err(other) => panic!("{variant} {width}: {other}"),
    }
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

/// A filter has the planned size, except for a Bumped ribbon. Its bumping layers have only seed 0,
/// so it grows instead: a layer that holds almost no key bumps all of them, and the following
/// layers, two at these sizes, become as large as the first.
fn assert_grown_in_bounds(filter: &Filter, keys: u64) {
    let plan = builder(filter.variant(), filter.width(), 5.0).plan_for(keys).expect("a plan");
    let growth = filter.size_in_bytes() as f64 / plan.size_in_bytes() as f64;
    let max = if filter.variant() == Variant::Bumped { 3.1 } else { 1.0 };
    assert!(growth <= max, "{growth}: {filter:?}");
}

/// The chosen hashes are effective: no system was solved with seed 0. The first layer of several
/// has no other seed, so the filter has grown instead. (A Homogeneous ribbon may keep seed 0,
/// because every seed solves it. Its rate rises by 1/256: the fraction of the starts at which every
/// key is a positive.)
fn assert_seed_0_failed(filter: &Filter, keys: u64) {
    if filter.variant() == Variant::Homogeneous {
        return;
    }
    let bytes = filter.as_bytes();
    let footer = bytes.len() - 40;
    let (segments, further_layers) = (1 << (bytes[footer + 29] & 31), bytes[footer + 29] >> 5);
    if further_layers > 0 {
        let plan = builder(filter.variant(), filter.width(), 5.0).plan_for(keys).expect("a plan");
        assert!(filter.size_in_bytes() as u64 > plan.size_in_bytes(), "{filter:?}");
        return;
    }
    let has_segment_seeds = bytes[footer + 27] >> 5 & 1 == 1;
    let seeds =
        if has_segment_seeds { footer - segments..footer } else { footer + 30..footer + 31 };
    assert!(bytes[seeds].iter().all(|&seed| seed != 0), "{filter:?}");
}

/// The measured false-positive rate of random keys.
fn measured_rate(filter: &Filter) -> f64 {
    let probes = 20_000;
    false_positives(filter, probes) as f64 / probes as f64
}

/// Under seed 0 all keys start in 1/256 of the slots; under other seeds they do not.
#[test]
fn hashes_chosen_against_seed_0() {
    let keys = scale(2_000, 10_000, 100_000);
    let hashes = chosen(keys as usize, |hash| place(hash).1 >> 56 == 0x51);
    for (variant, width) in kinds(keys) {
        let filter = built_or_refused(variant, width, &hashes).expect("another seed or growth");
        assert_seed_0_failed(&filter, keys);
        assert_grown_in_bounds(&filter, keys);
        let found = measured_rate(&filter);
        assert!(found < 1.3 / 32.0, "{found}: {filter:?}");
    }
}

/// A few hundred hashes whose starts are nearly equal in a filter of that size: under seed 0 their
/// top 16 bits are the same.
#[test]
fn equal_starts() {
    let keys = scale(20, 100, 300);
    let hashes = chosen(keys, |hash| place(hash).1 >> 48 == 0x5151);
    for (variant, width) in kinds(keys as u64) {
        built_or_refused(variant, width, &hashes).expect("other seeds give other starts");
    }
}

/// No seed changes the segment of a key. If there are several segments and all keys are in one,
/// some variants fail after bounded work, a Bumped ribbon grows, and a Homogeneous ribbon returns
/// "yes" for nearly all keys of the segment and reports the resulting rate.
#[test]
fn hashes_of_one_segment() {
    let keys = scale(40_000, 150_000, 1_000_000);
    let hashes = chosen(keys, |hash| place(hash).0 >> 56 == 0xc4);
    for (variant, width) in kinds(keys as u64) {
        let segments = 1 << segment_bits(variant, width, keys as u64);
        let built = built_or_refused(variant, width, &hashes);
        let refused = segments > 1 && matches!(variant, Variant::Standard | Variant::Balanced);
        assert_eq!(built.is_none(), refused, "{variant} {width}");
        let Some(filter) = built else { continue };
        assert_grown_in_bounds(&filter, keys as u64);
        let (found, expected) = (measured_rate(&filter), filter.expected_rate());
        assert!((found - expected).abs() < 0.02, "{found}: {filter:?}");
        if variant == Variant::Homogeneous && segments > 1 {
            assert!(expected > 0.9 / segments as f64, "{filter:?}");
        }
    }
}
