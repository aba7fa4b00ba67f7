//! Static functions: every value is returned, for any variant, width, value bits and kernel.

use crate::support::{Keys, kernel, kinds, random, scale};
use ribbonfilter_next::{
    BuildError, Filter, Function, FunctionBuilder, Kernel, Kind, OpenError, Variant, Width,
};

fn builder(variant: Variant, width: Width, bits: u32) -> FunctionBuilder<'static> {
    Function::builder().variant(variant).width(width).value_bits(bits).kernel(kernel())
}

/// The pairs of a set: keys of a kind, and random values of `bits` bits.
fn pairs(kind: Keys, keys: u64, bits: u32) -> Vec<(u64, u64)> {
    (0..keys).map(|index| (kind.hash(index), random(3, index) >> (64 - bits))).collect()
}

fn build(mut builder: FunctionBuilder<'_>, pairs: &[(u64, u64)]) -> Function {
    builder.extend_hashes(pairs.iter().copied());
    builder.finish().expect("ordinary keys build").with_kernel(kernel())
}

/// Every value is returned by every kind of query.
fn assert_exact(function: &Function, pairs: &[(u64, u64)]) {
    let hashes: Vec<u64> = pairs.iter().map(|&(hash, _)| hash).collect();
    let batch = function.get_hash_batch(&hashes);
    for (&(hash, value), &batched) in pairs.iter().zip(&batch) {
        assert_eq!(function.get_hash(hash), value, "{function:?}");
        assert_eq!(batched, value, "{function:?}");
    }
    for (&(_, value), found) in pairs.iter().zip(function.lookup_hash_batch(&hashes)) {
        assert_eq!(found, Some(value), "{function:?}");
    }
    function.verify().expect("whole");
}

#[test]
fn every_value_comes_back() {
    for keys in [0, 1, 2, 100, 5000, scale(30_000, 100_000, 1_000_000)] {
        for (variant, width) in kinds(keys) {
            for bits in [1, 2, 7, 8, 9, 16, 31, 32, 33, 63, 64] {
                if keys > 5000 && ![1, 9, 64].contains(&bits) && cfg!(debug_assertions) {
                    continue;
                }
                let pairs = pairs(Keys::Random, keys, bits);
                let function = build(builder(variant, width, bits), &pairs);
                assert!(keys == 0 || function.variant() == variant);
                assert_eq!((function.value_bits(), function.fingerprint_bits()), (bits, 0));
                assert_eq!(function.len(), keys);
                assert_exact(&function, &pairs);
            }
        }
    }
}

#[test]
fn every_value_of_a_large_set_comes_back() {
    let keys = scale(50_000, 1_000_000, 10_000_000);
    for bits in [1, 8, 64] {
        let pairs = pairs(Keys::Random, keys, bits);
        let builder = Function::builder().value_bits(bits).kernel(kernel());
        let function = build(builder, &pairs);
        assert_eq!(function.variant(), Variant::Bumped);
        assert_exact(&function, &pairs);
        let overhead = function.bits_per_key() / f64::from(bits) - 1.0;
        println!("{keys} keys, r = {bits}: {:.3} % overhead", 100.0 * overhead);
        if keys >= 1_000_000 {
            // Equations over eight slots leave some slots unused.
            let max = if bits == 8 { 0.001_6 } else { 0.006 };
            assert!(overhead < max, "{overhead} for {function:?}");
        }
    }
}

#[test]
fn poor_hashes_and_keys_of_any_type() {
    for kind in Keys::ALL {
        for (variant, width) in kinds(5000) {
            let pairs = pairs(kind, 5000, 13);
            assert_exact(&build(builder(variant, width, 13), &pairs), &pairs);
        }
    }
    let names = ["ada", "grace", "edsger", "barbara"];
    let lengths =
        Function::build(names.map(|name| (name, name.len() as u64)), 3).expect("few keys");
    assert_eq!(lengths.get_batch(&names), [3, 5, 6, 7]);
    assert_eq!(lengths.lookup_batch(&names), [3, 5, 6, 7].map(Some));
    let mut seeded = Function::builder().value_bits(3).key_seed(77);
    seeded.extend(names.map(|name| (name, name.len() as u64)));
    let seeded = seeded.finish().expect("few keys");
    assert_eq!(seeded.get("barbara"), 7);
    assert_ne!(seeded.as_bytes(), lengths.as_bytes());
}

#[test]
fn any_order_number_of_threads_and_kernel() {
    for keys in [2, 1000, scale(40_000, 150_000, 1_000_000)] {
        for (variant, width) in kinds(keys) {
            for bits in [5, 32, 40] {
                let mut pairs = pairs(Keys::Random, keys, bits);
                let first = build(builder(variant, width, bits), &pairs);
                for (other, kernel) in Kernel::available().enumerate() {
                    pairs.sort_unstable_by_key(|&(hash, _)| random(9 + other as u64, hash));
                    for threads in [1, 3] {
                        let settings = builder(variant, width, bits);
                        let again = build(settings.threads(threads).kernel(kernel), &pairs);
                        assert!(
                            first.as_bytes() == again.as_bytes(),
                            "{threads} threads, {kernel:?}: {first:?}"
                        );
                    }
                }
            }
        }
    }
}

#[test]
fn every_kernel_reads_the_same() {
    for (variant, width) in kinds(5000) {
        for bits in [1, 8, 9, 16, 27, 32, 64] {
            let pairs = pairs(Keys::Random, 5000, bits);
            let function = build(builder(variant, width, bits), &pairs);
            let strangers: Vec<u64> = (0..2000).map(|index| random(4, index)).collect();
            let expected = function.get_hash_batch(&strangers);
            for kernel in Kernel::available() {
                let function = function.clone().with_kernel(kernel);
                assert_exact(&function, &pairs);
                assert_eq!(function.get_hash_batch(&strangers), expected, "{kernel:?}");
                let single = strangers.iter().map(|&hash| function.get_hash(hash));
                assert!(single.eq(expected.iter().copied()), "{kernel:?}");
            }
        }
    }
}

#[test]
fn fingerprints_tell_strangers() {
    for (variant, width) in kinds(5000) {
        for (value_bits, fingerprint_bits) in [(1, 1), (7, 4), (60, 4), (1, 8), (32, 32), (1, 63)] {
            let pairs = pairs(Keys::Random, 5000, value_bits);
            let settings = builder(variant, width, value_bits).fingerprint_bits(fingerprint_bits);
            let function = build(settings, &pairs);
            assert_eq!(function.value_bits(), value_bits);
            assert_eq!(function.fingerprint_bits(), fingerprint_bits);
            assert_exact(&function, &pairs);
            let probes = 20_000;
            let strangers = (0..probes).map(|probe| random(2, probe));
            let found = strangers.filter(|&hash| function.lookup_hash(hash).is_some()).count();
            let expected = probes as f64 / 2f64.powi(fingerprint_bits as i32);
            let noise = 6.0 * expected.sqrt() + 0.5;
            assert!((found as f64 - expected).abs() < noise, "{found}, {expected}: {function:?}");
        }
    }
}

#[test]
fn without_fingerprints_everything_is_found() {
    let function = build(builder(Variant::Standard, Width::W128, 7), &pairs(Keys::Random, 100, 7));
    assert!((0..1000).all(|probe| function.lookup_hash(random(2, probe)).is_some()));
}

#[test]
fn the_empty_function() {
    for (variant, width) in kinds(0) {
        let nothing = build(builder(variant, width, 9), &[]);
        assert!(nothing.is_empty());
        assert_eq!((nothing.value_bits(), nothing.size_in_bytes()), (9, 40));
        assert_eq!((nothing.get("ada"), nothing.lookup("ada")), (0, Some(0)));
        let nothing = build(builder(variant, width, 9).fingerprint_bits(1), &[]);
        assert!((0..100u64).all(|key| nothing.lookup(key).is_none()));
        assert_eq!(nothing.lookup_hash_batch(&[1, 2, 3]), [None; 3]);
    }
}

#[test]
fn two_values_for_one_key_are_named() {
    for keys in [2, 100, 5000, scale(40_000, 150_000, 150_000)] {
        for (variant, width) in kinds(keys) {
            let mut pairs = pairs(Keys::Random, keys, 8);
            let (first, second) = (keys / 3, keys - 1);
            pairs[second as usize] = (pairs[first as usize].0, pairs[first as usize].1 ^ 1);
            let mut builder = builder(variant, width, 8);
            builder.extend_hashes(pairs.iter().copied());
            let error = builder.finish().expect_err("two values");
            let found = match error {
                BuildError::Contradiction { first, second } => (first, second),
                _ => panic!("{error}"),
            };
            assert_eq!(found, (first, second), "{keys} keys, {variant} {width}");
            assert!(error.to_string().contains("key_seed"), "{error}");
        }
    }
}

#[test]
fn contradictions_among_many_duplicates_are_named() {
    for (variant, width) in kinds(5000) {
        let once = pairs(Keys::Random, 1000, 8);
        let mut often = once.repeat(5);
        often[4321].1 ^= 4;
        let mut builder = builder(variant, width, 8);
        builder.extend_hashes(often);
        let error = builder.finish().expect_err("two values");
        assert!(
            matches!(error, BuildError::Contradiction { first: 321, second: 4321 }),
            "{variant} {width}: {error}"
        );
    }
}

#[test]
fn the_same_pair_twice_is_harmless() {
    for (variant, width) in kinds(20_000) {
        let once = pairs(Keys::Random, 4000, 11);
        let function = build(builder(variant, width, 11), &once);
        let often = build(builder(variant, width, 11), &once.repeat(5));
        assert!(function.as_bytes() == often.as_bytes(), "{function:?}");
        let mut few = once.clone();
        few.extend_from_slice(&once[17..19]);
        let few = build(builder(variant, width, 11), &few);
        assert_eq!(few.len(), 4002);
        assert_exact(&few, &once);
    }
}

#[test]
fn values_that_are_too_wide_are_named() {
    for (bits, values, position) in
        [(1, vec![0, 1, 2, 9], 2), (7, vec![128], 0), (63, vec![5, 1 << 63], 1)]
    {
        let pairs: Vec<(u64, u64)> = (0..).zip(values).collect();
        let wide = pairs[position].1;
        let error = Function::build(pairs, bits).expect_err("too wide");
        assert!(error.to_string().contains(&format!("position {position}")), "{error}");
        match error {
            BuildError::ValueTooWide { position: found, value, value_bits } => {
                assert_eq!((found, value, value_bits), (position as u64, wide, bits));
            }
            other => panic!("{other}"),
        }
    }
    assert_eq!(Function::build([(1, u64::MAX)], 64).expect("it fits").get(1), u64::MAX);
}

#[test]
fn bits_that_no_function_has() {
    for (value, fingerprint) in
        [(0, 0), (0, 8), (65, 0), (64, 1), (1, 64), (u32::MAX, u32::MAX), (1, u32::MAX)]
    {
        let builder = || Function::builder().value_bits(value).fingerprint_bits(fingerprint);
        for error in [builder().finish().map(drop), builder().plan_for(1000).map(drop)] {
            let error = error.expect_err("bad bits");
            assert!(matches!(error, BuildError::InvalidBits { max: 64, .. }), "{error}");
        }
        assert!(builder().max_keys(1 << 20).is_err());
    }
    assert!(matches!(Function::builder().finish(), Err(BuildError::InvalidBits { .. })));
}

#[test]
fn filters_and_functions_are_not_mistaken() {
    let (pairs, keys) = (pairs(Keys::Random, 100, 7), [1, 2, 3]);
    let function = build(builder(Variant::Standard, Width::W128, 7), &pairs);
    let filter = Filter::build(keys, 0.01).expect("few keys");
    let error = Filter::open(function.as_bytes()).expect_err("a function");
    assert!(matches!(
        error,
        OpenError::WrongKind { expected: Kind::Filter, found: Kind::Function }
    ));
    let error = Function::open(filter.as_bytes()).expect_err("a filter");
    assert!(matches!(
        error,
        OpenError::WrongKind { expected: Kind::Function, found: Kind::Filter }
    ));
}

#[test]
fn views_of_altered_bytes_do_not_panic() {
    for (variant, width) in kinds(3000) {
        let pairs = pairs(Keys::Random, 3000, 33);
        let function = build(builder(variant, width, 33), &pairs);
        let bytes = function.as_bytes();
        for len in [0, 1, 39, 40, bytes.len() - 1] {
            assert!(Function::open(&bytes[..len]).is_err());
        }
        for trial in 0..50 {
            let mut changed = bytes.to_vec();
            let at = random(5, trial) as usize % (bytes.len() - 40);
            changed[at] ^= 1 << (trial % 8);
            // The directory of layers determines the length, so opening detects its corruption.
            let Ok(view) = Function::open(&changed[..]) else {
                assert_eq!(variant, Variant::Bumped);
                continue;
            };
            assert!(matches!(view.verify(), Err(OpenError::CorruptData)));
            for &(hash, _) in &pairs[..100] {
                view.get_hash(hash);
            }
        }
    }
}

#[test]
fn plans_and_buffers() {
    let pairs = pairs(Keys::Random, 5000, 21);
    let mut builder = Function::builder().value_bits(21).fingerprint_bits(3);
    builder.extend_hashes(pairs.iter().copied());
    let plan = builder.plan().expect("a plan");
    assert_eq!((plan.keys(), plan.columns(), plan.expected_rate()), (5000, 24.0, 0.125));
    let mut bytes = Vec::new();
    assert_eq!(builder.finish_to(&mut bytes).expect("a writer"), plan.size_in_bytes());
    assert_eq!(bytes.len() as u64, plan.size_in_bytes());
    let function = Function::open(bytes).expect("whole");
    let hashes: Vec<u64> = pairs.iter().map(|&(hash, _)| hash).collect();
    let mut values = [u64::MAX; 4];
    function.get_hash_batch_into(&hashes[..2], &mut values);
    assert_eq!(values, [pairs[0].1, pairs[1].1, u64::MAX, u64::MAX]);
    function.get_hash_batch_into(&hashes, &mut values);
    assert_eq!(values, [0, 1, 2, 3].map(|index: usize| pairs[index].1));
    function.get_batch_into(&["ada"; 0], &mut values);
    assert_eq!(values[0], pairs[0].1);
}

#[test]
fn small_functions_take_hardly_more_than_their_values() {
    for (keys, bits) in [(10, 8), (100, 8), (1000, 16), (5000, 3)] {
        let function =
            build(Function::builder().value_bits(bits), &pairs(Keys::Random, keys, bits));
        let min = 40 + (keys * u64::from(bits)).div_ceil(8);
        let size = function.size_in_bytes() as u64;
        assert!((min..min + min / 20 + 8).contains(&size), "{size}, {min}");
    }
}

/// A lookup costs as much as `get` and a comparison. (When it decoded the footer each time, it
/// took five times as long.)
#[cfg(not(debug_assertions))]
#[test]
fn a_lookup_takes_about_as_long_as_a_get() {
    let pairs = pairs(Keys::Random, 10_000, 8);
    let function = build(builder(Variant::Bumped, Width::W128, 8).fingerprint_bits(8), &pairs);
    let time = |query: &dyn Fn(u64) -> u64| {
        let begin = std::time::Instant::now();
        let sum = pairs.iter().fold(0, |sum: u64, &(hash, _)| sum.wrapping_add(query(hash)));
        std::hint::black_box(sum);
        begin.elapsed()
    };
    let get = || time(&|hash| function.get_hash(hash));
    let lookup = || time(&|hash| function.lookup_hash(hash).unwrap_or(0));
    let (mut gets, mut lookups) = (get(), lookup());
    for _ in 0..50 {
        gets = gets.min(get());
        lookups = lookups.min(lookup());
    }
    assert!(lookups < 3 * gets, "{lookups:?} instead of {gets:?}");
}
