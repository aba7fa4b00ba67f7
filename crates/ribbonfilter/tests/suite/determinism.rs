//! The same keys give the same bytes, in any order and with any duplicates. With fewer columns,
//! the columns are a prefix.

use crate::support::{Keys, build, builder, kinds, random, scale};
use ribbonfilter::{Filter, Function, Kernel, Variant, Width};

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
    let filter = build(builder(Variant::Standard, Width::W64, 7.0), hashes);
    assert_eq!(filter.len(), keys + 10);
}

#[test]
fn every_duplicate_is_counted_once() {
    let keys = 100_000;
    let kinds = [Width::W32, Width::W64, Width::W128].map(|width| (Variant::Balanced, width));
    for (variant, width) in kinds.into_iter().chain([(Variant::Standard, Width::W64)]) {
        // Up to one duplicate per 1024 keys may stay.
        for (duplicates, len) in [(97, keys + 97), (98, keys)] {
            let hashes = (0..keys).chain(0..duplicates).map(|index| Keys::Random.hash(index));
            assert_eq!(build(builder(variant, width, 1.0), hashes).len(), len, "{variant} {width}");
        }
    }
}

#[test]
fn columns_are_a_prefix() {
    let kinds = [Variant::Standard, Variant::Balanced, Variant::Bumped]
        .into_iter()
        .flat_map(|variant| [Width::W32, Width::W64, Width::W128].map(|width| (variant, width)));
    for keys in [40, 500, scale(5_000, 100_000, 1_000_000)] {
        for (variant, width) in kinds.clone() {
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

/// Every column of the smaller filter equals that column of the larger one, bit by bit. So every
/// positive of the larger filter is a positive of the smaller one.
fn assert_prefix(smaller: &Filter, larger: &Filter) {
    let slots = slots(smaller);
    assert_eq!(slots, self::slots(larger));
    assert_eq!(metadata(smaller, slots), metadata(larger, slots));
    for column in 0..smaller.columns() as u64 {
        for slot in 0..slots {
            assert_eq!(bit(smaller, slots, slot, column), bit(larger, slots, slot, column));
        }
    }
    for probe in 0..10_000 {
        let hash = random(3, probe);
        assert!(!larger.contains_hash(hash) || smaller.contains_hash(hash));
    }
}

/// The slots of a filter with a whole number of columns.
fn slots(filter: &Filter) -> u64 {
    let columns = filter.columns() as u32;
    let builder = builder(filter.variant(), filter.width(), columns.into());
    let plan = builder.plan_for(filter.len()).expect("it was built");
    assert_eq!(plan.size_in_bytes(), filter.size_in_bytes() as u64, "no growth was needed");
    plan.slots()
}

/// The metadata between the solution and the footer: seeds, or bumped buckets.
fn metadata(filter: &Filter, slots: u64) -> &[u8] {
    let solution = (slots * filter.columns() as u64).div_ceil(8) as usize;
    &filter.as_bytes()[solution..filter.size_in_bytes() - 40]
}

/// One bit of the solution, located only from the description of the format.
fn bit(filter: &Filter, slots: u64, slot: u64, column: u64) -> bool {
    let columns = filter.columns() as u64;
    let block_slots = u64::from(filter.width().bits().min(64));
    let block = slot / block_slots;
    let stride = if (block + 1) * block_slots <= slots { block_slots } else { slots % block_slots };
    let bit = block * block_slots * columns + column * stride + slot % block_slots;
    filter.as_bytes()[(bit / 8) as usize] >> (bit % 8) & 1 == 1
}
