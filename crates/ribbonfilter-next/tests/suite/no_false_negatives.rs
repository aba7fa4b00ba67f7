//! No false negatives: every key that was added is found.

use crate::support::{Keys, assert_all_found, build, builder, kinds, random, scale};
use ribbonfilter_next::{Filter, Variant, Width};

/// All numbers of columns that the long run tries, whole and fractional.
fn columns() -> Vec<f64> {
    let whole = (1..=16).chain([24, 32]).map(f64::from);
    whole.chain([0.5, 1.1, 3.9, 7.7, 9.25, 15.001]).collect()
}

#[test]
fn every_size_up_to_some_blocks() {
    for keys in 0..scale(200, 700, 3000) {
        for (variant, width) in kinds(keys) {
            let columns = [8.0, 3.3, 1.0, 5.9][keys as usize % 4];
            let hashes = || (0..keys).map(|index| Keys::Random.hash(index + (keys << 20)));
            let filter = build(builder(variant, width, columns), hashes());
            assert_eq!(filter.len(), keys);
            assert_all_found(&filter, hashes());
        }
    }
}

#[test]
fn every_size_of_a_bumped_filter() {
    // Up to sizes at which all widths have bumping layers.
    for keys in (0..20_000).step_by(scale(499, 37, 1)).chain(0..scale(100, 1_500, 5_000)) {
        for width in Width::ALL {
            let hashes = || (0..keys).map(|index| Keys::Random.hash(index + (keys << 20)));
            let filter = build(builder(Variant::Bumped, width, 4.0), hashes());
            assert_eq!(filter.len(), keys);
            assert_all_found(&filter, hashes());
        }
    }
}

#[test]
fn around_every_power_of_two() {
    for log in 8..=scale(14, 18, 21) {
        for keys in [(1 << log) - 1, 1 << log, (1 << log) + 1] {
            for (variant, width) in kinds(keys) {
                let hashes = || (0..keys).map(|index| Keys::Random.hash(index ^ (log << 50)));
                let filter = build(builder(variant, width, 6.6), hashes());
                assert_all_found(&filter, hashes());
            }
        }
    }
}

#[test]
fn every_number_of_columns_and_kind_of_key() {
    let keys = scale(2_000, 30_000, 1_000_000);
    for (variant, width) in kinds(keys) {
        for columns in columns() {
            for kind in Keys::ALL {
                let hashes = || (0..keys).map(|index| kind.hash(index));
                let filter = build(builder(variant, width, columns), hashes());
                assert_all_found(&filter, hashes());
            }
        }
    }
}

#[test]
fn many_keys() {
    let keys = scale(100_000, 1_000_000, 10_000_000);
    for (variant, width) in kinds(keys) {
        let hashes = || (0..keys).map(|index| Keys::Random.hash(index));
        let filter = build(builder(variant, width, 7.7), hashes());
        assert_all_found(&filter, hashes());
        let queried: Vec<u64> = hashes().collect();
        assert!(filter.contains_hash_batch(&queried).iter().all(|&hit| hit), "{filter:?}");
    }
}

/// Batches of filters that do not fit into the core's cache, so that they prefetch: every shape
/// that has a compiled function, and some that are queried in chunks.
#[test]
fn batches_that_prefetch() {
    let keys = 560_000;
    let hashes: Vec<u64> = (0..keys).map(|index| Keys::Random.hash(index)).collect();
    let absent: Vec<u64> = (0..100_000).map(|index| random(2, index)).collect();
    for (variant, width, columns) in [
        (Variant::Standard, Width::W128, 8.0),
        (Variant::Standard, Width::W128, 16.0),
        (Variant::Standard, Width::W128, 32.0),
        (Variant::Standard, Width::W192, 8.0),
        (Variant::Standard, Width::W192, 6.6),
        (Variant::Standard, Width::W256, 5.3),
        (Variant::Bumped, Width::W128, 8.0),
        (Variant::Bumped, Width::W192, 8.0),
        (Variant::Bumped, Width::W192, 6.6),
        (Variant::Bumped, Width::W192, 16.0),
        (Variant::Bumped, Width::W256, 4.2),
        (Variant::Bumped, Width::W256, 32.0),
    ] {
        let filter = build(builder(variant, width, columns), hashes.iter().copied());
        assert!(filter.size_in_bytes() > 1 << 18, "{filter:?}");
        assert!(filter.contains_hash_batch(&hashes).iter().all(|&hit| hit), "{filter:?}");
        let hits = filter.contains_hash_batch(&absent);
        for (&hash, hit) in absent.iter().zip(hits) {
            assert_eq!(filter.contains_hash(hash), hit, "{filter:?}");
            let found = Filter::contains_hash_in(filter.as_bytes(), hash).expect("a filter");
            assert_eq!(found, hit, "{filter:?}");
        }
    }
}

#[test]
fn bumped_filters_of_every_target() {
    let keys = 20_000;
    for width in Width::ALL {
        let target = || Filter::builder().variant(Variant::Bumped).width(width);
        let hashes = || (0..keys).map(|index| Keys::Strings.hash(index));
        for target in [
            target().false_positive_rate(0.9),
            target().false_positive_rate(1e-9),
            target().bits_per_key(7.0),
            target().total_bytes(keys / 2),
            target().overhead(0.01),
            target().overhead(0.3),
            target().overhead(20.0).columns(2.5),
            target().key_seed(u64::MAX),
        ] {
            let plan = target.plan_for(keys).expect("a plan");
            let filter = build(target, hashes());
            assert_all_found(&filter, hashes());
            assert_eq!(filter.size_in_bytes() as u64, plan.size_in_bytes(), "{filter:?}");
        }
    }
}

#[test]
fn every_target_and_default() {
    for keys in [1, 10, 1000, scale(10_000, 100_000, 1_000_000)] {
        let hashes = || (0..keys).map(|index| Keys::Strings.hash(index));
        for target in [
            Filter::builder(),
            Filter::builder().false_positive_rate(0.9),
            Filter::builder().false_positive_rate(1e-9),
            Filter::builder().bits_per_key(400.0),
            Filter::builder().total_bytes(keys * 2 + 60),
            Filter::builder().overhead(0.3),
            Filter::builder().key_seed(u64::MAX),
        ] {
            assert_all_found(&build(target, hashes()), hashes());
        }
    }
}

#[test]
fn structured_hashes() {
    let keys = scale(20_000, 100_000, 1_000_000);
    let structured: [fn(u64) -> u64; 9] = [
        |index| index * 10,
        |index| index * 1000,
        |index| index * 4096 + 0x7f00_0000_0000,
        |index| (index as f64).to_bits(),
        |index| index,
        |index| index << 44,
        |index| index << 32 | index,
        |index| !index,
        |index| 0xdead_beef_cafe_0000 ^ 1 << (index % 64) ^ index << 20,
    ];
    for hash in structured {
        for (variant, width) in kinds(keys) {
            let filter = build(builder(variant, width, 5.0), (0..keys).map(hash));
            assert_all_found(&filter, (0..keys).map(hash));
        }
    }
}
