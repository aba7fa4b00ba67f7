//! The same keys give the same bytes, in any order and with any duplicates. With fewer columns,
//! the columns are a prefix.

use crate::support::{Keys, build, builder, kinds, random, scale};
use ribbonfilter_next::{Filter, Function, Kernel, Variant, Width};

#[test]
fn any_order_of_the_keys() {
    for keys in [2, 50, 1000, scale(20_000, 100_000, 1_000_000)] {
        let hashes: Vec<u64> = (0..keys).map(|index| Keys::Random.hash(index)).collect();
        let mut sorted = hashes.clone();
        sorted.sort_unstable();
        let mut shuffled = hashes.clone();
        shuffled.sort_unstable_by_key(|&hash| random(7, hash));
        for (variant, width) in kinds(keys) {
            let first = build(builder(variant, width, 7.3), hashes.iter().copied());
            for other in [
                build(builder(variant, width, 7.3), hashes.iter().rev().copied()),
                build(builder(variant, width, 7.3), sorted.iter().copied()),
                build(builder(variant, width, 7.3), shuffled.iter().copied()),
            ] {
                assert_eq!(first.as_bytes(), other.as_bytes(), "{first:?}");
            }
        }
    }
}

/// A reused builder, for more and for fewer keys and after failures, builds the same filters as a
/// new one.
#[test]
fn a_builder_that_was_reset() {
    let mut reused = Filter::builder().columns(7.3);
    let mut functions = Function::builder().value_bits(5);
    for (round, keys) in [500, 3, 0, 40_000, 499, 70_000].into_iter().enumerate() {
        let hashes = (0..keys).map(|index| random(round as u64, index));
        reused.extend_hashes(hashes.clone());
        assert_eq!(reused.len(), keys);
        let filter = reused.finish_and_reset().expect("ordinary keys build");
        let new = build(Filter::builder().columns(7.3), hashes.clone());
        assert_eq!(filter.as_bytes(), new.as_bytes(), "{keys} keys");
        assert!(hashes.clone().all(|hash| filter.contains_hash(hash)), "{keys} keys");

        functions.extend_hashes(hashes.clone().map(|hash| (hash, hash % 32)));
        let function = functions.finish_and_reset().expect("ordinary pairs build");
        assert!(hashes.clone().all(|hash| function.get_hash(hash) == hash % 32), "{keys} keys");

        // A value that is too wide, and keys that are discarded: none may reappear.
        functions.push("too wide", 32);
        functions.finish_and_reset().expect_err("a value of six bits");
        reused.push("forgotten");
        reused.reset();
        assert!(reused.is_empty() && functions.is_empty());
    }
}

#[test]
fn any_number_of_threads_and_any_kernel() {
    for keys in [1000, 70_000, scale(140_000, 600_000, 3_000_000)] {
        for (variant, width) in kinds(keys) {
            let built = |threads, kernel| {
                let mut builder = builder(variant, width, 7.3).threads(threads).kernel(kernel);
                builder.extend_hashes((0..keys).map(|index| Keys::Random.hash(index)));
                builder.finish().expect("ordinary keys build")
            };
            let first = built(1, Kernel::best());
            for kernel in Kernel::available() {
                for threads in [1, 2, 3, 8] {
                    let other = built(threads, kernel);
                    assert!(
                        first.as_bytes() == other.as_bytes(),
                        "{threads} threads, {kernel:?}: {first:?}"
                    );
                }
            }
        }
    }
}

/// One key in 700 is a duplicate, but fewer than one in 1024 of all keys are duplicates in any one
/// segment.
#[test]
fn duplicates_of_all_segments_are_added_up() {
    for (variant, width) in [(Variant::Standard, Width::W128), (Variant::Bumped, Width::W192)] {
        let hashes = || (0..700_000).map(|index| Keys::Random.hash(index));
        let distinct = build(builder(variant, width, 2.0), hashes());
        let repeated = build(builder(variant, width, 2.0), hashes().chain(hashes().take(1000)));
        assert_eq!(repeated.len(), 700_000, "{repeated:?}");
        assert!(repeated.as_bytes() == distinct.as_bytes(), "{repeated:?}");
    }
}

#[test]
fn every_key_ten_times() {
    for keys in [1, 2, 10, 100, 1000, scale(5_000, 40_000, 300_000)] {
        for (variant, width) in kinds(10 * keys) {
            let hashes = || (0..keys).map(|index| Keys::Random.hash(index));
            let once = build(builder(variant, width, 7.3), hashes());
            let often = build(builder(variant, width, 7.3), (0..10).flat_map(|_| hashes()));
            assert_eq!(once.as_bytes(), often.as_bytes(), "{once:?}");
        }
    }
}

#[test]
fn a_fifth_of_duplicates() {
    for keys in [1000, scale(9_000, 90_000, 1_000_000)] {
        for (variant, width) in kinds(2 * keys) {
            let hashes = || (0..keys).map(|index| Keys::Random.hash(index));
            let once = build(builder(variant, width, 7.3), hashes());
            let more = hashes().chain((0..keys / 5).map(|index| Keys::Random.hash(index)));
            let twice = build(builder(variant, width, 7.3), more);
            assert_eq!(once.as_bytes(), twice.as_bytes(), "{once:?}");
        }
    }
}

#[test]
fn one_key_a_million_times_among_others() {
    let times = scale(10_000, 100_000, 1_000_000);
    for (variant, width) in kinds(2 * times) {
        let hashes = || (0..1000).map(|index| Keys::Random.hash(index));
        let once = build(builder(variant, width, 7.3), hashes());
        let often = build(
            builder(variant, width, 7.3),
            hashes().chain(std::iter::repeat_n(Keys::Random.hash(500), times as usize)),
        );
        assert_eq!(once.as_bytes(), often.as_bytes(), "{once:?}");
    }
}

#[test]
fn every_fifth_key_twice() {
    for keys in [500, 5_000, scale(20_000, 200_000, 1_000_000)] {
        for (variant, width) in kinds(keys) {
            let hashes = || (0..keys).map(|index| Keys::Random.hash(index));
            let once = build(builder(variant, width, 7.3), hashes());
            let again = hashes().step_by(5);
            let more = build(builder(variant, width, 7.3), hashes().chain(again));
            assert_eq!(once.as_bytes(), more.as_bytes(), "{once:?}");
        }
    }
}

#[test]
fn a_few_duplicates_are_kept_and_counted() {
    let keys = 100_000;
    let hashes = (0..keys).chain(0..10).map(|index| Keys::Random.hash(index));
    let filter = build(builder(Variant::Standard, Width::W128, 7.0), hashes);
    assert_eq!(filter.len(), keys + 10);
}

#[test]
fn every_duplicate_is_counted_once() {
    let keys = 100_000;
    for (variant, width) in kinds(keys) {
        // Up to one duplicate per 1024 keys may stay.
        for (duplicates, len) in [(97, keys + 97), (98, keys)] {
            let hashes = (0..keys).chain(0..duplicates).map(|index| Keys::Random.hash(index));
            assert_eq!(build(builder(variant, width, 1.0), hashes).len(), len, "{variant} {width}");
        }
    }
}

#[test]
fn columns_are_a_prefix() {
    for keys in [1, 40, 500, scale(30_000, 100_000, 1_000_000)] {
        for (variant, width) in kinds(keys) {
            let filters: Vec<Filter> = (1..=16)
                .map(|columns| {
                    let hashes = (0..keys).map(|index| Keys::Random.hash(index));
                    build(builder(variant, width, columns.into()), hashes)
                })
                .collect();
            for pair in filters.windows(2) {
                assert_prefix(&pair[0], &pair[1]);
            }
        }
    }
}

/// The first column of each block of the smaller filter is that of the larger one. So every
/// positive of the larger filter is a positive of the smaller one.
fn assert_prefix(smaller: &Filter, larger: &Filter) {
    let word = |filter: &Filter, block: usize| {
        let at = block * 8 * filter.columns() as usize;
        filter.as_bytes()[at..at + 8].to_vec()
    };
    // Of a Bumped filter, half of the blocks are certainly those of the first system.
    let whole = smaller.size_in_bytes() / (8 * smaller.columns() as usize);
    for block in 0..(whole / 2).saturating_sub(8) {
        assert_eq!(word(smaller, block), word(larger, block), "block {block}: {smaller:?}");
    }
    for probe in 0..10_000 {
        let hash = random(3, probe);
        assert!(!larger.contains_hash(hash) || smaller.contains_hash(hash));
    }
}
