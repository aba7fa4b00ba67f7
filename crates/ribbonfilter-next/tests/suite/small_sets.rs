//! Small sets: almost no overhead, and reliable rates.

use crate::support::{assert_all_found, build, builder, false_positives, random, scale};
use ribbonfilter_next::{Effort, Filter, Variant, Width};

/// Bytes of the footer, which every filter has in addition to solution and metadata.
const FOOTER_BYTES: usize = 40;

fn key_set(set: u64, keys: u64) -> impl Iterator<Item = u64> + Clone {
    (0..keys).map(move |index| random(100 + set, index))
}

/// The mean size without the footer, over many key sets.
fn mean_data_bytes(
    target: impl Fn() -> ribbonfilter_next::FilterBuilder<'static>,
    keys: u64,
) -> f64 {
    let sets = scale(20, 100, 100);
    let total: usize = (0..sets)
        .map(|set| {
            let filter = build(target(), key_set(set, keys));
            assert_all_found(&filter, key_set(set, keys));
            filter.size_in_bytes() - FOOTER_BYTES
        })
        .sum();
    total as f64 / sets as f64
}

#[test]
fn bytes_of_small_sets_with_default_settings() {
    for (keys, max) in [(10, 16.0), (100, 104.0), (1000, 1008.0)] {
        let mean = mean_data_bytes(|| Filter::builder().columns(8.0), keys);
        assert!(mean <= max, "{keys} keys take {mean} bytes");
    }
}

#[test]
fn bytes_of_thousands_of_keys() {
    for (keys, width, thorough, normal) in [
        (4_000, Width::W256, 0.006, 0.008),
        (10_000, Width::W128, 0.03, 0.045),
        (10_000, Width::W256, 0.006, 0.008),
    ] {
        for (effort, max) in [(Effort::Thorough, thorough), (Effort::Normal, normal)] {
            let target = || builder(Variant::Standard, width, 8.0).effort(effort);
            let over = mean_data_bytes(target, keys) / keys as f64 - 1.0;
            assert!(over <= max, "{keys} keys of width {width} take {over} more, {effort}");
        }
    }
}

/// The overhead of the default plan at eight columns, without the footer, for many numbers of
/// keys. A plan with thorough effort is never larger.
#[test]
fn the_default_is_small_at_every_size() {
    for (keys, max) in [
        (1_000, 0.009),
        (4_000, 0.008),
        (10_000, 0.008),
        (30_000, 0.007),
        (100_000, 0.002_5),
        (1_000_000, 0.001_5),
        (10_000_000, 0.001_4),
        (1_000_000_000, 0.001_9),
        (1 << 36, 0.002_5),
    ] {
        let target = || Filter::builder().columns(8.0);
        let size =
            |plan: ribbonfilter_next::Plan| (plan.size_in_bytes() - FOOTER_BYTES as u64) as f64;
        let normal = size(target().plan_for(keys).expect("a plan"));
        assert!(normal / keys as f64 - 1.0 <= max, "{keys} keys take {normal} bytes");
    }
    let mut keys = 1;
    while keys < 1 << 21 {
        let size = |effort| {
            let target = Filter::builder().columns(8.0).effort(effort);
            target.plan_for(keys).expect("a plan").size_in_bytes()
        };
        // At sizes for which `Normal` plans a Bumped filter and `Thorough` a Standard one, either
        // may be smaller.
        if !(1 << 14..1 << 15).contains(&keys) {
            assert!(size(Effort::Thorough) <= size(Effort::Normal), "{keys} keys");
        }
        keys += keys / 7 + 1;
    }
}

#[test]
fn no_keys_no_answers() {
    for filter in [
        Filter::build([""; 0], 0.01).expect("no keys"),
        build(builder(Variant::Standard, Width::W128, 8.0), []),
        build(builder(Variant::Bumped, Width::W256, 3.5), []),
        build(Filter::builder().total_bytes(40), []),
    ] {
        assert_eq!((filter.len(), filter.size_in_bytes()), (0, FOOTER_BYTES));
        assert_eq!((filter.expected_rate(), filter.columns()), (0.0, 0.0));
        assert_eq!(false_positives(&filter, 100_000), 0);
        filter.verify().expect("whole");
    }
}
