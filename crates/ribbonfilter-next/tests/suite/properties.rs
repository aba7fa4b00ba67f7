//! Properties over arbitrary keys and settings.

use proptest::collection::vec;
use proptest::prelude::*;
use ribbonfilter_next::{Filter, FilterBuilder, Function, Variant, Width};
use std::collections::HashSet;

fn settings() -> impl Strategy<Value = FilterBuilder<'static>> {
    let variant =
        prop_oneof![Just(None), Just(Some(Variant::Standard)), Just(Some(Variant::Bumped))];
    let width = prop_oneof![
        Just(None),
        Just(Some(Width::W128)),
        Just(Some(Width::W192)),
        Just(Some(Width::W256))
    ];
    let target = prop_oneof![
        (0.001..0.9).prop_map(|rate| Filter::builder().false_positive_rate(rate)),
        (0.1..16.0).prop_map(|columns| Filter::builder().columns(columns)),
        (600u64..5000).prop_map(|bytes| Filter::builder().total_bytes(bytes)),
    ];
    (target, variant, width, any::<u64>(), 0.0..0.5, any::<bool>()).prop_map(
        |(mut builder, variant, width, key_seed, overhead, fast)| {
            if fast {
                builder = builder.fast();
            }
            if let Some(variant) = variant {
                builder = builder.variant(variant);
            }
            if let Some(width) = width {
                builder = builder.width(width);
            }
            builder.key_seed(key_seed).overhead(overhead)
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_key_is_found_by_owner_and_view(
        mut builder in settings(),
        keys in vec(vec(any::<u8>(), 0..20), 0..400),
        offset in 0usize..64,
    ) {
        builder.extend(&keys);
        let plan = builder.plan();
        let filter = match builder.finish() {
            Ok(filter) => filter,
            Err(error) => {
                prop_assert!(plan.is_err(), "planned but {error}");
                return Ok(());
            }
        };
        let distinct: HashSet<_> = keys.iter().collect();
        prop_assert_eq!(filter.len(), distinct.len() as u64);
        let shifted = [&vec![0xaa; offset], filter.as_bytes()].concat();
        let view = Filter::open(&shifted[offset..]).expect("a copy");
        view.verify().expect("a true copy");
        for key in &keys {
            prop_assert!(filter.contains(key));
            prop_assert!(view.contains(key));
        }
        let hits = view.contains_batch(&keys);
        prop_assert!(hits.iter().all(|&hit| hit) && hits.len() == keys.len());
    }

    #[test]
    fn batches_answer_as_single_queries_do(
        mut builder in settings(),
        keys in vec(any::<u64>(), 0..100),
        probes in vec(any::<u64>(), 0..300),
    ) {
        keys.iter().for_each(|&key| builder.push_hash(key));
        let Ok(filter) = builder.finish() else { return Ok(()) };
        let single: Vec<bool> = probes.iter().map(|&probe| filter.contains_hash(probe)).collect();
        prop_assert_eq!(filter.contains_hash_batch(&probes), single);
        let single: Vec<bool> = probes.iter().map(|probe| filter.contains(probe)).collect();
        prop_assert_eq!(filter.contains_batch(&probes), single);
    }

    #[test]
    fn altered_bytes_never_panic(
        keys in vec(any::<u64>(), 0..300),
        columns in 0.1..9.0,
        changes in vec((any::<prop::sample::Index>(), any::<u8>()), 1..8),
        cut in 0usize..4,
    ) {
        let mut builder = Filter::builder().columns(columns);
        keys.iter().for_each(|&key| builder.push_hash(key));
        let mut bytes = builder.finish().expect("ordinary keys").as_bytes().to_vec();
        for (place, value) in changes {
            let place = place.index(bytes.len());
            bytes[place] = value;
        }
        let Ok(filter) = Filter::open(&bytes[cut..]) else { return Ok(()) };
        for key in 0..100 {
            let _ = filter.contains_hash(crate::support::random(4, key));
        }
        let _ = (filter.verify().is_ok(), filter.expected_rate(), filter.columns(), filter.len());
    }
}

/// Structures are equal if their bytes are, in any kind of buffer.
#[test]
fn equal_bytes_are_equal_structures() {
    let filter = |rate| Filter::build(0..500, rate).expect("a filter");
    let (one, other) = (filter(0.01), filter(0.1));
    let bytes = one.as_ref().to_vec();
    let view = Filter::open(&bytes[..]).expect("a view");
    assert_eq!(one, view);
    assert_eq!(view, one.clone());
    assert_ne!(one, other);
    let function = |value| Function::build([(1, value)], 3).expect("a function");
    assert!(function(1) == function(1) && function(1) != function(2));
}
