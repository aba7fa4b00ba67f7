//! The policy without the engine: queries, encoding, corrupt filters.

mod common;

use common::{Events, First, key, with_prefixes};
use ribbonfilter::{BuildError, Effort, Key, Variant, Width};
use ribbonfilter_slatedb::RibbonFilterPolicy;
use slatedb::bytes::Bytes;
use slatedb::{Filter, FilterPolicy, FilterQuery, RowEntry, ValueDeletable};
use std::ops::Bound;
use std::sync::Arc;

fn policy() -> RibbonFilterPolicy {
    RibbonFilterPolicy::with_rate(0.01).expect("a valid rate")
}

fn entry(key: Vec<u8>, seq: u64) -> RowEntry {
    let value = ValueDeletable::Value(Bytes::from_static(b"value"));
    RowEntry { key: key.into(), value, seq, create_ts: None, expire_ts: None }
}

/// The filter of keys 0 to `keys`, encoded and decoded.
fn stored(policy: &RibbonFilterPolicy, keys: u64) -> Arc<dyn Filter> {
    policy.decode(&encoded(&*built(policy, (0..keys).map(|number| entry(key(number), 0)))))
}

fn built(policy: &RibbonFilterPolicy, entries: impl Iterator<Item = RowEntry>) -> Arc<dyn Filter> {
    let mut builder = policy.builder();
    entries.for_each(|entry| builder.add_entry(&entry));
    builder.build()
}

fn encoded(filter: &dyn Filter) -> Vec<u8> {
    let mut bytes = Vec::new();
    filter.encode(&mut bytes);
    assert_eq!(bytes.len(), filter.size());
    bytes
}

fn has(filter: &dyn Filter, number: u64) -> bool {
    filter.might_match(&FilterQuery::point(key(number).into()))
}

fn has_prefix(filter: &dyn Filter, number: u64) -> bool {
    filter.might_match(&FilterQuery::prefix(key(number)[..8].to_vec().into()))
}

#[test]
fn no_key_is_missing_and_few_others_pass() {
    for keys in [0, 1, 2, 15, 16, 17, 1000, 32_767, 32_768, 50_000] {
        let filter = stored(&policy(), keys);
        assert!((0..keys).all(|number| has(&*filter, number)), "{keys} keys");
        // 10^5 keys at 1 %: 1000 on average; 1150 is nearly five standard deviations more.
        let passed = (keys..keys + 100_000).filter(|&number| has(&*filter, number)).count();
        assert!(passed < 1150, "{passed} of 100,000 absent keys pass, {keys} keys");
    }
}

#[test]
fn every_variant_and_width_suits_every_table() {
    use {Variant::*, Width::*};
    for (variant, width) in
        [(Standard, W16), (Standard, W128), (Homogeneous, W64), (Balanced, W64), (Bumped, W64)]
    {
        let policy = policy().with_variant(variant).and_then(|policy| policy.with_width(width));
        let policy = policy.expect("compatible settings");
        let events = Events::listen();
        for keys in [1, 1000, 100_000] {
            let filter = stored(&policy, keys);
            assert!((0..keys).all(|number| has(&*filter, number)));
            let passed = (keys..keys + 10_000).filter(|&number| has(&*filter, number)).count();
            assert!(passed < 160, "{variant} {width}: {passed} of 10,000");
        }
        assert_eq!(events.take(), 0, "{variant} {width}");
    }
}

#[test]
fn more_effort_makes_small_tables_smaller() {
    let thorough = policy().with_effort(Effort::Thorough).expect("compatible settings");
    assert_eq!(thorough.name(), policy().name(), "readers are not affected");
    for keys in [1000, 2000, 4000] {
        let (normal, filter) = (stored(&policy(), keys), stored(&thorough, keys));
        // The smallest tables have no spare slots with either effort.
        assert!(filter.size() <= normal.size() && (keys < 4000 || filter.size() < normal.size()));
        assert!((0..keys).all(|number| has(&*filter, number)));
        let mut expected = ribbonfilter::Filter::builder()
            .false_positive_rate(0.01)
            .variant(Variant::Bumped)
            .width(Width::W64)
            .effort(Effort::Thorough);
        expected.extend_hashes((0..keys).map(|number| key(number).key_hash(0)));
        assert_eq!(encoded(&*filter), expected.finish().expect("a filter").as_bytes());
    }
}

#[test]
fn invalid_settings_are_rejected() {
    for rate in [0.0, 1.0, -1.0, f64::NAN] {
        let error = RibbonFilterPolicy::with_rate(rate).expect_err("not a rate");
        assert!(matches!(error, BuildError::InvalidRate { .. }));
    }
    assert!(RibbonFilterPolicy::with_bits_per_key(0.0).is_err());
    let error = RibbonFilterPolicy::with_rate(1e-12).expect_err("out of reach");
    assert!(matches!(error, BuildError::RateTooLow { .. }));
}

#[test]
fn estimates_are_close() {
    for policy in [policy(), RibbonFilterPolicy::with_bits_per_key(10.0).expect("enough bits")] {
        assert_eq!(policy.estimate_size(0), 0);
        for keys in [10_000, 30_000, 100_000] {
            let (size, estimate) =
                (stored(&policy, keys).size(), policy.estimate_size(keys as usize));
            assert!(size.abs_diff(estimate) * 50 <= size, "{keys} keys: {size}, not {estimate}");
        }
    }
}

#[test]
fn versions_of_a_key_are_counted_once() {
    let versions = (0..1000).flat_map(|number| (0..5).map(move |seq| entry(key(number), seq)));
    let once = (0..1000).map(|number| entry(key(number), 0));
    assert_eq!(
        encoded(&*built(&with_prefixes(), versions)),
        encoded(&*built(&with_prefixes(), once))
    );
}

/// Version 1 of the name means: format version 1, whole keys under seed 0, prefixes under seed 1.
/// If one of these changes, the name must change, too.
#[test]
fn the_name_identifies_format_and_hash() {
    assert_eq!(RibbonFilterPolicy::NAME, "ribbonfilter:v1");
    let mut expected = ribbonfilter::Filter::builder()
        .false_positive_rate(0.01)
        .variant(Variant::Bumped)
        .width(Width::W64);
    expected.extend_hashes((0..160).map(|number| key(number).key_hash(0)));
    expected.extend_hashes((0..10).map(|prefix| key(prefix * 16)[..8].key_hash(1)));
    let expected = expected.finish().expect("a filter");
    let bytes = encoded(&*stored(&with_prefixes(), 160));
    assert_eq!(bytes, expected.as_bytes());
    assert_eq!(bytes[bytes.len() - 40 + 31] & 0xf, 1, "the format version");
}

#[test]
fn names_differ_where_hashes_do() {
    let first = |name| Arc::new(First(8, name));
    let policies = [
        policy(),
        policy().with_prefix_extractor(first("a")),
        policy().with_prefix_extractor(first("b")),
        policy().with_prefix_extractor(first("wh=0")),
        policy().with_prefix_extractor(first("a:wh=0")),
        policy().with_whole_key_filtering(false),
        policy().with_whole_key_filtering(false).with_prefix_extractor(first("a")),
        policy().with_prefix_extractor(first("wh=0:p=a")),
    ];
    for (number, one) in policies.iter().enumerate() {
        assert!(one.name().starts_with(RibbonFilterPolicy::NAME));
        assert!(policies[..number].iter().all(|other| other.name() != one.name()), "{one:?}");
    }
    let same = RibbonFilterPolicy::with_bits_per_key(5.0).and_then(|p| p.with_width(Width::W64));
    assert_eq!(same.expect("settings").name(), policy().name());
}

#[test]
fn prefixes_are_found_and_distinguished_from_keys() {
    let filter = stored(&with_prefixes(), 16_000);
    assert!((0..16_000).all(|number| has(&*filter, number) && has_prefix(&*filter, number)));
    let passed = (1000..11_000).filter(|prefix| has_prefix(&*filter, prefix * 16)).count();
    assert!(passed < 160, "{passed} of 10,000 absent prefixes pass");
    // A prefix is not present as a key.
    let as_key = |prefix: u64| FilterQuery::point(key(prefix * 16)[..8].to_vec().into());
    let passed = (0..1000).filter(|&prefix| filter.might_match(&as_key(prefix))).count();
    assert!(passed < 40, "{passed} of 1000 prefixes pass as keys");
}

#[test]
fn without_whole_keys_the_prefix_is_looked_up() {
    let filter = stored(&with_prefixes().with_whole_key_filtering(false), 16_000);
    assert!(filter.size() < 1100, "1000 prefixes take {} bytes", filter.size());
    assert!((0..16_000).all(|number| has(&*filter, number)));
    let passed = (1000..11_000).filter(|prefix| has(&*filter, prefix * 16)).count();
    assert!(passed < 160, "{passed} of 10,000 keys with absent prefixes pass");
}

#[test]
fn unsupported_queries_might_match() {
    let (with, without) = (stored(&with_prefixes(), 100), stored(&policy(), 100));
    let (lower, upper) = (Bound::Included(Bytes::from_static(b"x")), Bound::Unbounded);
    for query in [
        FilterQuery::prefix(Bytes::from_static(b"short")),
        FilterQuery::prefix(Bytes::new()),
        FilterQuery::range(lower, upper),
    ] {
        assert!(with.might_match(&query) && without.might_match(&query), "{query:?}");
    }
    assert!(has_prefix(&*without, 1 << 20));
    assert!(with_prefixes().supports_prefix_queries() && !policy().supports_prefix_queries());
    let empty = stored(&policy().with_whole_key_filtering(false), 100);
    assert!(has(&*empty, 7) && has(&*empty, 7000));
}

#[test]
fn every_key_passes_a_corrupt_filter_and_it_is_reported() {
    let events = Events::listen();
    let (policy, keys) = (policy(), 300);
    let bytes = encoded(&*stored(&policy, keys));
    assert_eq!(events.take(), 0);
    let flipped = (0..bytes.len()).map(|position| {
        let mut flipped = bytes.clone();
        flipped[position] ^= 1 << (position % 8);
        flipped
    });
    let cut = (1..bytes.len()).map(|len| bytes[..len].to_vec());
    for corrupt in flipped.chain(cut).chain([[&bytes[..], b"more"].concat(), vec![0; 5000]]) {
        let filter = policy.decode(&corrupt);
        assert_eq!(events.take(), 1);
        assert!((0..keys + 50).all(|number| has(&*filter, number)));
        // It is encoded as no filter and can be decoded again without another report.
        assert!(has(&*policy.decode(&encoded(&*filter)), keys + 7));
        assert_eq!(events.take(), 0);
    }
}

#[test]
fn every_key_passes_with_a_broken_extractor_and_it_is_reported() {
    struct Longer;
    impl slatedb::PrefixExtractor for Longer {
        fn name(&self) -> &str {
            "longer"
        }
        fn prefix_len(&self, _: &slatedb::PrefixTarget) -> Option<usize> {
            Some(100)
        }
    }
    let events = Events::listen();
    let policy = policy().with_prefix_extractor(Arc::new(Longer));
    let filter = stored(&policy, 100);
    assert_eq!(events.take(), 1);
    assert!(has(&*filter, 1 << 20) && has_prefix(&*filter, 1 << 20));
}

#[test]
fn every_key_passes_the_second_filter_of_a_builder() {
    let mut builder = policy().builder();
    builder.add_entry(&entry(key(1), 0));
    assert!(has(&*builder.build(), 1));
    builder.add_entry(&entry(key(2), 0));
    let again = builder.build();
    assert!(has(&*again, 1) && has(&*again, 2) && again.size() == 0);
}

#[test]
fn clamping_keeps_the_bytes() {
    let filter = stored(&policy(), 5000);
    let clamped = filter.clamp_allocated_size();
    assert_eq!(encoded(&*clamped), encoded(&*filter));
    assert!((0..5000).all(|number| has(&*clamped, number)));
}
