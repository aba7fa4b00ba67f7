//! Keys and hashes that somebody chose to do harm: what then happens is known.
//!
//! Whoever knows the hash can make false positives, and sets that are refused. Nobody can lose a
//! key, make a build hang, or make it take more than its bounds. `SECURITY.md` promises this.

use crate::support::{assert_all_found, build, builder, false_positives, kinds, random, scale};
use ribbonfilter::{BuildError, Filter, Function, Key, Variant, Width};

/// The key hash's way into the first equation, as `docs/format.md` tells everybody: the top bits
/// of the first number are the segment, those of the second the start under seed 0.
fn place(hash: u64) -> (u64, u64) {
    let fold = |a: u64, b: u64| {
        let product = u128::from(a) * u128::from(b);
        product as u64 ^ (product >> 64) as u64
    };
    let mixed = fold(hash ^ 0xffff_ffff_fe94_f82b, 0xbb67_ae85_84ca_a73b);
    (mixed, fold(mixed, 0x510e_527f_ade6_82d1))
}

/// Different hashes that someone has chosen.
fn chosen(keys: usize, is_wanted: impl Fn(u64) -> bool) -> Vec<u64> {
    (0..).map(|index| random(77, index)).filter(|&hash| is_wanted(hash)).take(keys).collect()
}

fn segment_bits(variant: Variant, width: Width, keys: u64) -> u32 {
    let plan = builder(variant, width, 5.0).plan_for(keys).expect("a plan");
    plan.segments().trailing_zeros()
}

/// Builds, and finds every key; or refuses, with an error that such keys may cause.
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

/// Two keys of one hash are one key to a filter; a function refuses two values for it.
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

/// A key of 32 bytes with the hash of every other that `forged` makes for the same key seed. XXH3
/// multiplies the first 8 bytes, less a constant and the seed, by the next 8: zero makes those
/// count for nothing.
fn forged(key_seed: u64, number: u64) -> [u8; 32] {
    const SECRET: u64 = 0xbe4b_a423_396c_feb8;
    let mut key = [7; 32];
    key[..8].copy_from_slice(&SECRET.wrapping_add(key_seed).to_le_bytes());
    key[8..16].copy_from_slice(&number.to_le_bytes());
    key
}

/// Whoever knows the key seed makes as many keys as wanted that have the hash of a member: every
/// filter of that seed has them, in as many columns as one likes. Under another seed they are found
/// no oftener than other keys.
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

/// Put in, they are one key, and the other keys keep their rate.
#[test]
fn a_million_keys_of_one_hash_put_in() {
    let hostile = scale(100_000, 1_000_000, 1_000_000);
    let mut builder = Filter::builder().columns(8.0);
    builder.extend(0..1000);
    builder.extend((0..hostile).map(|number| forged(0, number)));
    let filter = builder.finish().expect("few keys, one of them often");
    assert_eq!(filter.len(), 1001);
    assert!((0..1000).all(|key| filter.contains(key)));
    assert!((0..2 * hostile).all(|number| filter.contains(forged(0, number))));
    let probes = 1 << 20;
    let found = false_positives(&filter, probes) as f64 / probes as f64;
    assert!(found < 1.2 / 256.0, "{found}");
}

/// A filter is as large as planned, but for a Bumped ribbon, which has one seed for its layers and
/// grows instead: a layer that holds next to nothing passes all keys on, so those behind it, two
/// at these sizes, become as large as the first.
fn assert_grown_in_bounds(filter: &Filter, keys: u64) {
    let plan = builder(filter.variant(), filter.width(), 5.0).plan_for(keys).expect("a plan");
    let growth = filter.size_in_bytes() as f64 / plan.size_in_bytes() as f64;
    let max = if filter.variant() == Variant::Bumped { 3.1 } else { 1.0 };
    assert!(growth <= max, "{growth}: {filter:?}");
}

/// The chosen hashes do harm: no system got by with seed 0. The first layer of several has no other
/// seed, so the filter has grown instead. (A Homogeneous ribbon may keep seed 0: any seed solves
/// it, and the rate rises by the 256th of the starts that say yes to everything.)
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

/// Found by mistake, of keys of all sorts.
fn measured_rate(filter: &Filter) -> f64 {
    let probes = 20_000;
    false_positives(filter, probes) as f64 / probes as f64
}

/// Under seed 0 all keys start in a 256th of the slots, and under another they do not.
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

/// A few hundred hashes whose starts are all but equal in a filter of that size: the same 16
/// bits, under seed 0.
#[test]
fn equal_starts() {
    let keys = scale(20, 100, 300);
    let hashes = chosen(keys, |hash| place(hash).1 >> 48 == 0x5151);
    for (variant, width) in kinds(keys as u64) {
        built_or_refused(variant, width, &hashes).expect("other seeds give other starts");
    }
}

/// No seed changes a segment. Where there are several, and all keys are of one, some variants
/// refuse them after bounded work, a Bumped ribbon grows, and a Homogeneous one says yes to nearly
/// all keys of the segment and tells so.
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
