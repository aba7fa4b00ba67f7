//! Rates and sizes are as promised. All seeds are fixed, so every run gives the same results. The
//! bounds are at least four standard deviations wide, so a pass does not depend on a lucky seed.

use crate::support::{
    Keys, build, builder, false_positives, kinds, measured_rate, overhead, random, scale,
};
use ribbonfilter_next::{Filter, FilterBuilder, Variant, Width};

fn random_keys(builder: FilterBuilder<'_>, keys: u64) -> Filter {
    build(builder, (0..keys).map(|index| Keys::Random.hash(index)))
}

/// Rates at many numbers of keys and columns, of both variants and all widths. Each is within five
/// standard deviations, and together they are within three: so no systematic error hides in noise.
#[test]
fn two_hundred_rates() {
    let probes = scale(100_000, 1_000_000, 4_000_000);
    let (mut chi, mut tests, mut sum) = (0.0, 0, 0.0);
    for keys in [1, 10, 63, 200, 1000, 5000, 20_000, scale(40_000, 300_000, 1_000_000)] {
        for (variant, width) in kinds(keys) {
            for columns in [1.0, 2.5, 3.0, 6.64, 8.0] {
                let filter = random_keys(builder(variant, width, columns), keys);
                let rate = filter.expected_rate();
                let deviation = (rate * (1.0 - rate) / probes as f64).sqrt();
                let measured = false_positives(&filter, probes) as f64 / probes as f64;
                let z = (measured - rate) / deviation;
                assert!(z.abs() < 5.0, "{measured}, {rate} expected: {filter:?}");
                chi += z * z;
                sum += z;
                tests += 1;
            }
        }
    }
    assert!(tests >= 200, "{tests}");
    let tests = f64::from(tests);
    assert!(sum.abs() / tests.sqrt() < 4.0, "mean {} of {tests}", sum / tests);
    assert!((chi - tests).abs() / (2.0 * tests).sqrt() < scale(4.0, 5.0, 8.0), "{chi} of {tests}");
}

#[test]
fn fractional_columns_are_worth_their_bits() {
    let keys = scale(50_000, 1_000_000, 1_000_000);
    for (variant, width) in kinds(keys) {
        let filter = random_keys(builder(variant, width, 7.7), keys);
        let bits = -measured_rate(&filter, scale(0.01, 0.004, 0.002)).log2();
        // In theory 7.622; a debug run has few probes and an error of 0.015.
        assert!(bits >= scale(7.58, 7.6, 7.6), "{bits} bits: {filter:?}");
        assert!((filter.columns() - 7.7).abs() < 2e-3, "{filter:?}");
    }
}

/// Hashes with structure, and absent hashes that continue it, have the same rate.
#[test]
fn rates_of_structured_hashes() {
    let (keys, probes) = (scale(30_000, 100_000, 300_000), scale(300_000, 2_000_000, 4_000_000));
    type Structure = (&'static str, fn(u64) -> u64);
    let structured: [Structure; 9] = [
        ("integers", |index| index),
        ("multiples of 10", |index| index * 10),
        ("multiples of 1000", |index| index * 1000),
        ("pages", |index| index * 4096 + 0x7f00_0000_0000),
        ("upper half", |index| index << 32),
        ("both halves", |index| index << 32 | index),
        ("complements", |index| !index),
        ("doubles", |index| (index as f64).to_bits()),
        ("reversed", |index| index.reverse_bits()),
    ];
    for (name, hash) in structured {
        for (variant, width) in kinds(keys) {
            let filter = build(builder(variant, width, 8.0), (0..keys).map(hash));
            let found = (keys..keys + probes).filter(|&index| filter.contains_hash(hash(index)));
            let measured = found.count() as f64 / probes as f64;
            let deviation = (1.0 / 256.0 / probes as f64).sqrt();
            let z = (measured * 256.0 - 1.0) / 256.0 / deviation;
            assert!(z.abs() < 6.0, "{name}: {measured}, {z}: {filter:?}");
        }
    }
}

/// All stored bits over those of the columns: the rate is exactly that of the columns.
#[test]
fn overheads() {
    let largest = scale(100_000, 1_000_000, 10_000_000);
    for (fast, keys, max) in [
        (false, 100_000, 0.003),
        (false, 1_000_000, 0.001_6),
        (false, 10_000_000, 0.001_4),
        (true, 100_000, 0.095),
        (true, 1_000_000, 0.095),
        (true, 10_000_000, 0.105),
    ] {
        let target = || {
            if fast {
                Filter::builder().columns(8.0).fast()
            } else {
                Filter::builder().columns(8.0)
            }
        };
        let plan = target().plan_for(keys).expect("a plan");
        assert_eq!(plan.expected_rate(), 1.0 / 256.0);
        assert!(plan.bits_per_key() / 8.0 - 1.0 <= max, "{plan:?}");
        if keys <= largest {
            let filter = random_keys(target(), keys);
            assert!(overhead(&filter, filter.expected_rate()) <= max, "{filter:?}");
        }
    }
}

#[test]
fn targets_are_met() {
    for keys in [100, 10_000, scale(50_000, 300_000, 1_000_000)] {
        for (variant, width) in kinds(keys) {
            for rate in [0.3, 0.05, 0.01] {
                let target = Filter::builder().variant(variant).width(width);
                let filter = random_keys(target.false_positive_rate(rate), keys);
                assert!(filter.expected_rate() <= rate, "{filter:?}");
                let measured = measured_rate(&filter, 0.02);
                assert!(measured <= rate * 1.1, "{measured} measured: {filter:?}");
            }
            let bytes = keys + 200;
            let filter = random_keys(
                Filter::builder().variant(variant).width(width).total_bytes(bytes),
                keys,
            );
            assert!(filter.size_in_bytes() as u64 <= bytes, "{filter:?}");
            // Sizes change in steps of one column of one block, in each system.
            assert!(filter.size_in_bytes() as u64 + 200 > bytes, "{filter:?}");
        }
    }
}

/// `fast` reaches the rate with whole columns at every size, without knowing variants.
#[test]
fn fast_filters_keep_their_rate() {
    for keys in [1, 50, 1000, scale(30_000, 1_000_000, 10_000_000)] {
        for rate in [0.3, 0.01, 1.0 / 256.0, 1e-6] {
            let filter = random_keys(Filter::builder().false_positive_rate(rate).fast(), keys);
            assert_eq!(filter.variant(), Variant::Standard);
            assert!(filter.width() <= Width::W192);
            assert_eq!(filter.columns().fract(), 0.0);
            assert!(filter.expected_rate() <= rate, "{filter:?}");
            let probes = 100_000;
            let found = (0..probes).filter(|&n| filter.contains_hash(random(6, n))).count() as f64;
            let expected = filter.expected_rate() * probes as f64;
            assert!((found - expected).abs() < 5.0 * expected.sqrt() + 5.0, "{found}: {filter:?}");
        }
    }
}
