//! Threads that build one filter, and threads that query a shared filter.

use crate::support::{Keys, assert_all_found, builder};
use ribbonfilter_next::{Filter, Function, Variant, Width};

/// Sizes at which each variant has several segments.
const KINDS: [(Variant, Width, u64); 4] = [
    (Variant::Standard, Width::W128, 700_000),
    (Variant::Standard, Width::W192, 300_000),
    (Variant::Bumped, Width::W192, 900_000),
    (Variant::Bumped, Width::W256, 263_000),
];

fn hashes(keys: u64) -> impl Iterator<Item = u64> + Clone {
    (0..keys).map(|index| Keys::Random.hash(index))
}

#[test]
fn several_threads_build_what_one_thread_builds() {
    for (variant, width, keys) in KINDS {
        let [alone, together] = [1, 4].map(|threads| {
            let mut builder = builder(variant, width, 2.0).threads(threads);
            builder.extend_hashes(hashes(keys));
            builder.finish().expect("ordinary keys build")
        });
        assert!(alone.as_bytes() == together.as_bytes(), "{variant} {width}");
    }
}

#[test]
fn functions_by_several_threads() {
    let mut function = Function::builder().value_bits(3).threads(4);
    function.extend((0..600_000).map(|key| (key, key % 8)));
    let function = function.finish().expect("ordinary keys build");
    assert!((0..600_000).all(|key| function.get(key) == key % 8));
}

/// Queries need no lock, because they do not change a filter.
#[test]
fn one_filter_for_many_threads() {
    fn is_shared<T: Send + Sync>(shared: &T) -> &T {
        shared
    }
    let mut builder = Filter::builder();
    builder.extend_hashes(hashes(40_000));
    let filter = builder.finish().expect("ordinary keys build");
    let filter = is_shared(&filter);
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                assert_all_found(filter, hashes(40_000));
                let queried: Vec<u64> = hashes(40_000).collect();
                assert!(filter.contains_hash_batch(&queried).iter().all(|&hit| hit));
                filter.verify().expect("whole");
            });
        }
    });
}
