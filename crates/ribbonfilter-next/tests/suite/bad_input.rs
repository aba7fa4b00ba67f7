//! Bad input leads to a typed error that says what to do, never to a panic.

use crate::support::{Keys, build, builder, kinds, random};
use ribbonfilter_next::{
    BuildError, BuildOptions, Effort, Filter, Function, OpenError, Phase, Variant, Width,
};
use std::cell::Cell;
use std::ops::ControlFlow;

#[test]
fn rates_outside_zero_to_one() {
    for rate in [0.0, 1.0, -0.1, 1.5, f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let error = Filter::build(["ada"], rate).expect_err("a bad rate");
        assert!(matches!(error, BuildError::InvalidRate { .. }), "{error}");
        assert!(error.to_string().contains("between 0 and 1"), "{error}");
    }
}

#[test]
fn rates_below_the_fingerprint() {
    let error = Filter::build(["ada"], 1e-12).expect_err("too low a rate");
    assert!(matches!(error, BuildError::RateTooLow { .. }), "{error}");
    assert!(error.to_string().contains("the lowest here is 2.3"), "{error}");
}

#[test]
fn columns_out_of_range() {
    for columns in [0.0, -1.0, 32.1, 65.0, f64::NAN, f64::INFINITY] {
        let error = Filter::builder().columns(columns).plan_for(10).expect_err("bad columns");
        assert!(matches!(error, BuildError::InvalidColumns { max: 32, .. }), "{error}");
    }
}

#[test]
fn sizes_too_small_for_the_keys() {
    for bytes in [0, 39, 40, 100, 164] {
        let error = Filter::builder().total_bytes(bytes).plan_for(1000).expect_err("too small");
        let BuildError::SizeTooSmall { needed, .. } = error else { panic!("{error}") };
        let plan = Filter::builder().total_bytes(needed).plan_for(1000).expect("large enough");
        assert_eq!(plan.size_in_bytes(), needed);
        assert!(error.to_string().contains(&format!("at least {needed}")), "{error}");
    }
    for bits in [0.0, -3.0, f64::NAN, f64::INFINITY] {
        let error = Filter::builder().bits_per_key(bits).plan_for(1000).expect_err("no size");
        assert!(matches!(error, BuildError::InvalidBitsPerKey { .. }), "{error}");
    }
    assert!(Filter::builder().bits_per_key(0.5).plan_for(1000).is_err());
    assert!(Filter::builder().total_bytes(39).plan_for(0).is_err());
}

#[test]
fn overheads_out_of_range() {
    for overhead in [-0.1, 101.0, f64::NAN, f64::INFINITY] {
        let error = Filter::builder().overhead(overhead).plan_for(10).expect_err("bad overhead");
        assert!(matches!(error, BuildError::InvalidOverhead { .. }), "{error}");
    }
}

/// Keys pushed under one seed would not be found under another.
#[test]
fn a_key_seed_after_the_first_key() {
    let refused = |result: Result<(), BuildError>| {
        let error = result.expect_err("keys were pushed under another seed");
        assert!(matches!(error, BuildError::TooLate { setting: "key_seed" }), "{error}");
        assert!(error.to_string().contains("before any key"), "{error}");
    };
    let mut filter = Filter::builder();
    filter.push("ada");
    let mut filter = filter.key_seed(7);
    filter.push("grace");
    refused(filter.finish_and_reset().map(drop));
    // Without keys, the seed may be set again.
    let mut filter = filter.key_seed(8);
    filter.push("ada");
    assert!(filter.finish().expect("set in time").contains("ada"));

    let mut function = Function::builder().value_bits(7);
    function.push("ada", 36);
    refused(function.key_seed(7).finish().map(drop));

    let mut options = BuildOptions::default();
    let mut filter = Filter::builder().options(options.clone());
    filter.push("ada");
    // The same seed once more changes nothing.
    filter = filter.options(options.clone());
    options.key_seed = 7;
    refused(filter.options(options).finish().map(drop));
}

/// The options of a struct have the same effect as those that are set one by one, and a directory
/// is ignored where keys are not spilled.
#[test]
fn options_from_a_struct() {
    let mut options = BuildOptions::default();
    options.variant = Some(Variant::Bumped);
    options.width = Some(Width::W128);
    options.effort = Effort::Thorough;
    options.overhead = 0.1;
    options.max_memory = Some(24 << 20);
    options.spill_to = Some(std::env::temp_dir());
    options.key_seed = 3;
    let mut one_by_one = builder(Variant::Bumped, Width::W128, 8.0).key_seed(3).overhead(0.1);
    one_by_one = one_by_one.effort(Effort::Thorough);
    one_by_one.extend(0..1_000_000);
    let mut from_struct = Filter::builder().columns(8.0).options(options.clone());
    from_struct.extend(0..1_000_000);
    let built = from_struct.finish().expect("spilled");
    assert_eq!(built.as_bytes(), one_by_one.finish().expect("in memory").as_bytes());

    let limited = |error: BuildError| matches!(error, BuildError::MemoryLimit { .. });
    let mut function = Function::builder().value_bits(1).options(options.clone());
    function.extend((0..1_000_000).map(|key| (key, 1)));
    assert!(limited(function.finish().expect_err("pairs are not spilled")));
}

#[test]
fn more_keys_than_the_format_counts() {
    for keys in [1 << 48, u64::MAX] {
        let error = Filter::builder().plan_for(keys).expect_err("too many keys");
        assert!(matches!(error, BuildError::TooManyKeys { .. }), "{error}");
    }
    for (variant, width) in kinds(1 << 36) {
        let plan = builder(variant, width, 8.0).plan_for(1 << 36).expect("2^36 keys fit");
        assert!(plan.size_in_bytes() > 1 << 36);
    }
}

#[test]
fn cancelling_at_every_step() {
    for stop_at in 0..20 {
        let mut calls = 0;
        let mut builder = builder(Variant::Standard, Width::W128, 8.0).progress(|progress| {
            assert!((0.0..=1.0).contains(&progress.fraction()));
            calls += 1;
            if calls > stop_at { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        builder.extend(0..600_000);
        let result = builder.finish();
        match result {
            Err(BuildError::Cancelled) => assert_eq!(calls, stop_at + 1),
            Ok(filter) => assert!(calls <= stop_at && filter.contains(7)),
            Err(error) => panic!("{error}"),
        }
    }
}

#[test]
fn progress_reaches_its_end_in_every_phase() {
    for &variant in Variant::ALL {
        let mut last = Vec::new();
        let mut builder = Filter::builder().variant(variant).progress(|progress| {
            last.retain(|&(phase, _, _)| phase != progress.phase);
            last.push((progress.phase, progress.done, progress.total));
            ControlFlow::Continue(())
        });
        builder.extend(0..600_000);
        let in_segments = builder.plan().expect("a plan").segments() > 1;
        let mut bytes = Vec::new();
        builder.finish_to(&mut bytes).expect("memory takes it");
        Filter::open(bytes).expect("written whole").verify().expect("written right");
        let phases: Vec<Phase> = last.iter().map(|&(phase, ..)| phase).collect();
        let all = [Phase::Partitioning, Phase::Solving, Phase::Writing];
        assert_eq!(phases, all[usize::from(!in_segments)..], "{variant}");
        assert!(last.iter().all(|&(_, done, total)| done == total), "{variant}: {last:?}");
    }
}

#[test]
fn writers_that_fail() {
    struct Full;
    impl std::io::Write for Full {
        fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
            Err(std::io::ErrorKind::StorageFull.into())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let mut builder = Filter::builder();
    builder.push("ada");
    let error = builder.finish_to(Full).expect_err("a full disk");
    let BuildError::Io(inner) = &error else { panic!("{error}") };
    assert_eq!(inner.kind(), std::io::ErrorKind::StorageFull);
    assert!(error.to_string().contains(&inner.to_string()), "{error}");
}

#[test]
fn files_that_are_not_there() {
    let error = Filter::open_file("no/such/file.ribbon").expect_err("no file");
    assert!(matches!(error, OpenError::Io(_)), "{error}");
}

/// A filter of every kind, small enough to corrupt every byte.
fn victims() -> Vec<Filter> {
    let hashes = |keys| (0..keys).map(|index| Keys::Random.hash(index));
    let mut victims: Vec<Filter> = kinds(300)
        .into_iter()
        .map(|(variant, width)| build(builder(variant, width, 5.4), hashes(300)))
        .collect();
    victims.push(build(Filter::builder(), []));
    victims.push(build(Filter::builder(), hashes(1)));
    victims.push(build(builder(Variant::Bumped, Width::W192, 1.0), hashes(4100)));
    victims
}

#[test]
fn truncated_and_extended_bytes() {
    for filter in victims() {
        let bytes = filter.as_bytes();
        for len in 0..bytes.len() {
            assert!(Filter::open(&bytes[..len]).is_err(), "cut at {len}: {filter:?}");
            if len > 0 {
                assert!(refused(&bytes[len..]), "front cut at {len}: {filter:?}");
            }
        }
        for extra in 1..100 {
            let longer = [bytes, &vec![0; extra]].concat();
            assert!(Filter::open(longer).is_err(), "{extra} bytes more: {filter:?}");
            assert!(refused(&[&vec![0; extra], bytes].concat()), "{extra} before: {filter:?}");
        }
    }
}

#[test]
fn altered_bytes() {
    for filter in victims() {
        let mut bytes = filter.as_bytes().to_vec();
        for place in 0..bytes.len() {
            for flip in [1, 2, 4, 8, 16, 32, 64, 128, 0xff] {
                bytes[place] ^= flip;
                assert!(refused(&bytes), "byte {place} ^ {flip:#x}: {filter:?}");
                bytes[place] ^= flip;
            }
        }
        assert!(!refused(&bytes));
    }
}

/// Whether `open` or `verify` rejects the bytes. If they can be opened, queries must not panic.
fn refused(bytes: &[u8]) -> bool {
    let Ok(filter) = Filter::open(bytes) else {
        return true;
    };
    for probe in 0..200 {
        std::hint::black_box(filter.contains_hash(random(9, probe)));
    }
    filter.verify().is_err()
}

#[test]
fn another_version() {
    let mut bytes = Filter::build(["ada"], 0.01).expect("one key").as_bytes().to_vec();
    let version = bytes.len() - 3;
    bytes[version] = 9;
    let error = Filter::open(bytes).expect_err("an unknown version");
    assert!(matches!(error, OpenError::UnsupportedVersion { found: 9, supported: 2 }), "{error}");
    assert!(error.to_string().contains("newer release"), "{error}");
}

#[test]
fn arbitrary_bytes() {
    for stream in 0..20_000 {
        let len = random(11, stream) % 200;
        let bytes: Vec<u8> = (0..len).map(|index| random(stream, index) as u8).collect();
        assert!(Filter::open(bytes).is_err());
    }
}

/// Bytes whose length changes after the filter was opened.
struct Shifty<'a> {
    bytes: &'a [u8],
    shorter: &'a Cell<bool>,
}

impl AsRef<[u8]> for Shifty<'_> {
    fn as_ref(&self) -> &[u8] {
        if self.shorter.get() { &self.bytes[..1] } else { self.bytes }
    }
}

#[test]
fn a_buffer_that_changes_its_length_never_loses_a_key() {
    let original = build(Filter::builder(), (0..1000).map(|index| Keys::Random.hash(index)));
    let shorter = Cell::new(false);
    let shifty = Shifty { bytes: original.as_bytes(), shorter: &shorter };
    let filter = Filter::open(shifty).expect("whole at first");
    filter.verify().expect("whole at first");
    assert!(!(0..100).all(|probe| filter.contains_hash(random(5, probe))));
    shorter.set(true);
    assert!((0..100).all(|probe| filter.contains_hash(random(5, probe))));
    assert!(filter.verify().is_err());
}

/// Whoever prints an error and its sources prints nothing twice.
#[cfg(feature = "std")]
#[test]
fn no_source_is_printed_twice() {
    use std::error::Error;
    let error = Filter::open_file("/nonexistent/file").expect_err("no such file");
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(deeper) = source {
        text += &deeper.to_string();
        source = deeper.source();
    }
    assert_eq!(text.matches("No such file").count(), 1, "{text}");
}
