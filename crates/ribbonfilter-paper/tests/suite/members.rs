//! No false negatives (abstract of the paper): every key that was put in is found.

use crate::{build, for_all};
use ribbonfilter_paper::random::{Random, hashes};
use ribbonfilter_paper::{Error, Filter, Settings, Variant, Width};

fn assert_all_found(filter: &Filter, hashes: &[u64]) {
    let missing = hashes.iter().filter(|&&hash| !filter.contains_hash(hash)).count();
    assert_eq!(missing, 0, "of {}: {:?}", hashes.len(), filter.header());
}

#[test]
fn every_size_up_to_some_blocks() {
    for_all(|variant, width| {
        for keys in (0..40).chain((40..600).step_by(23)) {
            let hashes = hashes(keys, keys as u64);
            assert_all_found(&build(variant, width, 3.7, &hashes), &hashes);
        }
    });
}

#[test]
fn around_powers_of_two() {
    for_all(|variant, width| {
        for log in [10, 12, 14] {
            for keys in [(1 << log) - 1, 1 << log, (1 << log) + 1] {
                let hashes = hashes(keys, log);
                assert_all_found(&build(variant, width, 7.5, &hashes), &hashes);
            }
        }
    });
}

#[test]
fn every_number_of_columns() {
    for_all(|variant, width| {
        let hashes = hashes(5000, 3);
        for columns in [1.0, 1.01, 2.0, 4.0, 4.5, 5.0, 12.3, 31.99, 32.0] {
            assert_all_found(&build(variant, width, columns, &hashes), &hashes);
        }
    });
}

#[test]
fn many_keys() {
    for_all(|variant, width| {
        // A Standard system of w = 16 needs several times as many slots as keys.
        let keys = if width == Width::W16 { 30_000 } else { 300_000 };
        let hashes = hashes(keys, 4);
        assert_all_found(&build(variant, width, 2.5, &hashes), &hashes);
    });
}

#[test]
fn every_smash_value_and_epsilon() {
    for_all(|variant, width| {
        let hashes = hashes(9000, 5);
        for smash in [0, 1, width.slots() / 4, width.slots() / 2, width.slots()] {
            for epsilon in [None, Some(0.0), Some(0.5)] {
                let smash = Some(smash);
                let settings = Settings { smash, epsilon, ..Settings::new(variant, width, 5.0) };
                let filter =
                    Filter::from_hashes(&settings, &hashes).expect("more slots in the end");
                assert_all_found(&filter, &hashes);
            }
        }
    });
}

/// Section 5.3: a full hash collision only makes a redundant equation.
#[test]
fn equal_hashes_are_one_key() {
    for_all(|variant, width| {
        for (keys, distinct) in [(2, 1), (20_000, 1), (20_000, 2), (20_000, 5000)] {
            let hashes: Vec<u64> = hashes(distinct, 6).into_iter().cycle().take(keys).collect();
            assert_all_found(&build(variant, width, 6.0, &hashes), &hashes);
        }
    });
}

/// Hashes that a user could have: sequential numbers, multiples, few bits.
#[test]
fn structured_hashes() {
    for_all(|variant, width| {
        let sets: [fn(u64) -> u64; 4] =
            [|i| i, |i| i << 40, |i| i * 0x1_0000_0001, |i| u64::MAX - i];
        for set in sets {
            let hashes: Vec<u64> = (0..5000).map(set).collect();
            assert_all_found(&build(variant, width, 6.0, &hashes), &hashes);
        }
    });
}

/// Theorem 3.2: the result does not depend on the order of the keys.
#[test]
fn any_order_of_the_keys_gives_the_same_filter() {
    for_all(|variant, width| {
        let mut hashes = hashes(20_000, 7);
        // Some keys twice.
        hashes.extend_from_within(..100);
        let filter = build(variant, width, 6.5, &hashes);
        for seed in 0..3 {
            Random::new(seed).shuffle(&mut hashes);
            assert!(filter == build(variant, width, 6.5, &hashes), "{variant}, w = {width}");
        }
    });
}

/// Section 7: seeds are configurable. Another seed has other false positives.
#[test]
fn key_seeds_change_which_keys_are_false_positives() {
    let keys: Vec<String> = (0..2000).map(|i| format!("key {i}")).collect();
    let absent: Vec<String> = (0..20_000).map(|i| format!("absent {i}")).collect();
    for variant in Variant::ALL {
        let positives = |key_seed| {
            let settings = Settings { key_seed, ..Settings::new(variant, Width::W64, 5.0) };
            let filter = Filter::build(&settings, &keys).expect("a seed");
            assert!(keys.iter().all(|key| filter.contains(key)));
            absent.iter().map(|key| filter.contains(key)).collect::<Vec<bool>>()
        };
        let (one, other) = (positives(1), positives(2));
        let both = one.iter().zip(&other).filter(|(one, other)| **one && **other).count();
        // Independent: 20,000 / 2^10 on average.
        assert!((1..60).contains(&both), "{variant}: {both}");
    }
}

#[test]
fn no_keys_no_positives() {
    for_all(|variant, width| {
        let filter = build(variant, width, 3.0, &[]);
        assert!(hashes(1000, 1).into_iter().all(|hash| !filter.contains_hash(hash)));
        assert_eq!(filter.rate(), 0.0);
    });
}

#[test]
fn settings_that_cannot_be_are_refused() {
    let refused = |settings: Settings| Filter::from_hashes(&settings, &[1, 2, 3]).is_err();
    let good = Settings::new(Variant::Standard, Width::W32, 4.0);
    assert!(!refused(good));
    for columns in [0.0, 0.99, -1.0, 33.0, f64::NAN, f64::INFINITY] {
        let settings = Settings { columns, ..good };
        let built = Filter::from_hashes(&settings, &[1]);
        assert!(matches!(built, Err(Error::Columns { .. })), "{columns}");
    }
    assert!(refused(Settings { smash: Some(33), ..good }));
    for epsilon in [f64::NAN, -0.9, 1e9] {
        assert!(refused(Settings { epsilon: Some(epsilon), ..good }), "{epsilon}");
    }
}
