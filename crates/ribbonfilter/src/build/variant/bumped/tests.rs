//! All systems fill a segment alike, and hashes that are far from random do no harm.

use super::*;
use crate::build::Segment;
use crate::build::variant::system::{InBytes, OneByOne};
use crate::error::Kind;
use crate::format::Footer;
use crate::kernel::Kernel;
use crate::ribbon::equation::{Balance, mix, seeded, segment};
use crate::ribbon::layers::{Buckets, Further};
use crate::ribbon::layout::Order;
use crate::ribbon::width::with_band;
use crate::solve::byte_sliced::Eliminator;
use crate::solve::four_russians::FourRussians;
use crate::testing::Random;
use crate::{BuildError, Filter, Variant, Width};
use alloc::format;

const WIDTHS: [Width; 3] = [Width::W32, Width::W64, Width::W128];

/// The shape of one bumping layer.
fn layer(width: Width, segment_slots: u64, columns: u32, boundary: u64) -> Shape {
    Shape {
        variant: Variant::Bumped,
        width,
        smash: true,
        segment_bits: 0,
        segment_slots,
        further: Further::default(),
        columns,
        boundary,
        order: Order::Columns,
        balance: Balance::default(),
    }
}

/// For each set of keys, what a segment bumps and its bytes.
fn filled<E: Elimination>(
    cpu: E::Cpu,
    layer: &Shape,
    key_sets: &[Vec<u64>],
    value: fn(u64) -> ValueOf<E>,
) -> Vec<(Bumping<ValueOf<E>>, Vec<u8>)> {
    let mut workspace = Workspace::<E>::new(cpu, layer).expect("memory");
    let layout = layer.layout();
    let fill = |keys: &Vec<u64>| {
        let mut bytes = vec![0xa5; layout.size_in_bytes() as usize];
        let keys: Vec<_> = keys.iter().map(|&hash| Item { hash, value: value(hash) }).collect();
        let segment = Segment { number: 0, keys: &keys, first_slot: 0, layout, bytes: &mut bytes };
        let bumping = E::run(cpu, Fill { workspace: &mut workspace, segment }).expect("memory");
        (bumping, bytes)
    };
    key_sets.iter().map(fill).collect()
}

/// Mixed hashes whose starts lie in a range of slots.
fn crowd(
    layer: &Shape,
    random: &mut Random,
    count: usize,
    slots: core::ops::Range<u64>,
) -> Vec<u64> {
    let starts = layer.starts();
    let hashes = core::iter::from_fn(|| Some(random.next()));
    let there = |&hash: &u64| slots.contains(&starts.start(seeded(hash, segment::SEED)));
    hashes.filter(there).take(count).collect()
}

/// Sets of keys for a layer: few, the usual number, far too many, crowds in a part of the slots,
/// and each with duplicates.
fn key_sets(layer: &Shape, random: &mut Random) -> Vec<Vec<u64>> {
    let slots = layer.segment_slots as usize;
    let mut sets: Vec<Vec<u64>> = [0, 1, slots / 3, slots, slots * 17 / 16, 2 * slots]
        .map(|count| (0..count).map(|_| random.next()).collect())
        .into();
    for (count, end) in [(100, 8), (500, 300), (1000, 700), (slots / 2, slots as u64 / 2)] {
        let mut keys = crowd(layer, random, count, 0..end);
        keys.extend((0..slots / 2).map(|_| random.next()));
        sets.push(keys);
    }
    // More keys than any vector holds, at the beginning of a bucket whose first rows are filled.
    let bucket = Buckets::of(layer.width).slots();
    let mut keys = crowd(layer, random, 500, bucket..bucket + bucket / 12);
    keys.extend((0..slots * 9 / 8).map(|_| random.next()));
    sets.push(keys);
    for set in 1..sets.len() {
        let mut keys = sets[set].clone();
        let twice: Vec<u64> = keys.iter().copied().filter(|key| key % 5 == 0).collect();
        keys.extend(&twice);
        keys.extend(core::iter::repeat_n(keys[0], 2000));
        random.shuffle(&mut keys);
        sets.push(keys);
    }
    sets
}

fn assert_same<V: Value>(
    found: &[(Bumping<V>, Vec<u8>)],
    expected: &[(Bumping<V>, Vec<u8>)],
    what: &str,
) {
    assert_eq!(found.len(), expected.len());
    for (set, (found, expected)) in found.iter().zip(expected).enumerate() {
        assert!(found.0 == expected.0, "{what}, set {set}: bumping");
        assert!(found.1 == expected.1, "{what}, set {set}: bytes");
    }
}

#[test]
fn a_class_at_once_is_the_same_as_one_by_one() {
    for shape in [(1024, 1, 0), (2560, 8, 3), (9728, 13, 0), (4096, 32, 0)] {
        check_both_ways::<u32>(shape, |_| ());
    }
}

#[test]
fn a_class_at_once_is_the_same_as_one_by_one_for_values() {
    for shape in [(1024, 1, 0), (2560, 8, 0), (9728, 33, 0), (4096, 64, 0)] {
        check_both_ways::<u64>(shape, mix);
    }
}

fn check_both_ways<R: RightSide>(
    (slots, columns, boundary): (u64, u32, u64),
    value: fn(u64) -> R::Value,
) {
    let mut random = Random(1);
    for width in WIDTHS {
        let layer = layer(width, slots, columns, boundary);
        let sets = key_sets(&layer, &mut random);
        let portable = Kernel::by_name("portable").expect("always there");
        with_band!(width, B => {
            let expected = filled::<OneByOne<B, R>>(portable, &layer, &sets, value);
            for kernel in Kernel::available() {
                let what = format!("{width}, {slots} slots");
                let by_tables = filled::<FourRussians<B, R>>(kernel, &layer, &sets, value);
                assert_same(&by_tables, &expected, &what);
                let in_wide_rows = filled::<FourRussians<u128, R>>(kernel, &layer, &sets, value);
                assert_same(&in_wide_rows, &expected, &what);
                if let Some(cpu) = Eliminator::of(kernel) {
                    let by_planes = filled::<InBytes<B, R>>(cpu, &layer, &sets, value);
                    assert_same(&by_planes, &expected, &what);
                }
            }
            // The sets cover the intended cases.
            assert!(expected.iter().any(|(bumping, _)| bumping.redundant > 2000));
            let nothing = |(bumping, _): &(Bumping<_>, _)| bumping.codes.iter().all(|&code| code == 3);
            assert!(expected.iter().any(nothing));
            if !Buckets::of(width).covers_all() {
                assert!(expected.iter().any(|(bumping, _)| !bumping.exceptions.is_empty()));
            }
        });
    }
}

#[test]
fn what_stays_in_a_segment_is_what_its_codes_say() {
    let mut random = Random(2);
    for width in WIDTHS {
        let layer = layer(width, 4096, 8, 0);
        let (starts, buckets) = (layer.starts(), Buckets::of(width));
        for keys in key_sets(&layer, &mut random) {
            let sets = [keys.clone()];
            let kernel = Kernel::best();
            let outcome =
                with_band!(width, B => filled::<OneByOne<B, u32>>(kernel, &layer, &sets, |_| ()));
            let bumping = &outcome[0].0;
            assert_eq!(bumping.codes.len() as u64, 4096 >> buckets.log);
            let is_bumped = |&key: &u64| {
                let start = starts.start(seeded(key, segment::SEED));
                let bucket = start >> buckets.log;
                let threshold = match bumping.exceptions.contains(&bucket) {
                    true => buckets.slots(),
                    false => buckets.thresholds[bumping.codes[bucket as usize] as usize].into(),
                };
                start % buckets.slots() < threshold
            };
            let next = |&key: &u64| seeded(key, segment::SEED).next_layer(0);
            let mut expected: Vec<u64> =
                keys.iter().filter(|key| is_bumped(key)).map(next).collect();
            let mut found: Vec<u64> = bumping.bumped.iter().map(|item| item.hash).collect();
            expected.sort_unstable();
            found.sort_unstable();
            assert_eq!(found, expected);
        }
    }
}

fn build(width: Width, hashes: &[u64]) -> Result<Filter, BuildError> {
    let mut builder = Filter::builder().variant(Variant::Bumped).width(width).columns(9.0);
    builder.extend_hashes(hashes.iter().copied());
    builder.finish()
}

/// All keys are found, in single queries and in a batch.
fn assert_found(filter: &Filter, hashes: &[u64]) {
    assert!(hashes.iter().all(|&hash| filter.contains_hash(hash)), "{filter:?}");
    assert!(filter.contains_hash_batch(hashes).iter().all(|&hit| hit), "{filter:?}");
    filter.verify().expect("whole");
}

/// Key hashes whose mixed hash satisfies `wanted`.
fn chosen(random: &mut Random, count: usize, wanted: impl Fn(u64) -> bool) -> Vec<u64> {
    let hashes = core::iter::from_fn(|| Some(random.next()));
    hashes.filter(|&hash| wanted(mix(hash))).take(count).collect()
}

#[test]
fn crowds_in_one_bucket_or_segment_are_built() {
    let mut random = Random(3);
    for width in WIDTHS {
        let builder = Filter::builder().variant(Variant::Bumped).width(width);
        let shape = builder.plan_for(30_000).expect("a plan").shape;
        let buckets = Buckets::of(width);
        let in_first_bucket =
            |mixed| shape.starts().start(seeded(mixed, segment::SEED)) < buckets.slots() / 2;
        let mut hashes: Vec<u64> = (0..28_000).map(|_| random.next()).collect();
        hashes.extend(chosen(&mut random, 2_000, in_first_bucket));
        assert_found(&build(width, &hashes).expect("a crowd of some"), &hashes);
        // All in one bucket: every layer except the last is useless.
        let hashes = chosen(&mut random, 6_000, in_first_bucket);
        assert_found(&build(width, &hashes).expect("a crowd of all"), &hashes);
    }
    let hashes = chosen(&mut random, 300_000, |mixed| segment(mixed, 1) == 1);
    for width in WIDTHS {
        let plan = Filter::builder().variant(Variant::Bumped).width(width).plan_for(300_000);
        assert!(plan.expect("a plan").segments() > 1);
        match build(width, &hashes) {
            Ok(filter) => assert_found(&filter, &hashes),
            Err(error) => assert!(matches!(error, BuildError::Unsolvable { .. }), "{error}"),
        }
    }
}

#[test]
fn exceptions_are_stored_and_found() {
    let mut random = Random(4);
    for width in [Width::W64, Width::W128] {
        let plan = Filter::builder().variant(Variant::Bumped).width(width).plan_for(100_000);
        let shape = plan.expect("a plan").shape;
        let buckets = Buckets::of(width);
        // Twice the capacity of a bucket, in each of three buckets, all among their last starts.
        let crowded = |mixed| {
            let start = shape.starts().start(seeded(mixed, segment::SEED));
            let crowded = [7, 8, 40].contains(&(start >> buckets.log));
            crowded && start % buckets.slots() >= buckets.slots() / 2
        };
        let mut hashes = chosen(&mut random, 9 * buckets.slots() as usize, crowded);
        while hashes.len() < 100_000 {
            hashes.push(random.next());
        }
        let filter = build(width, &hashes).expect("ordinary but for three buckets");
        assert_found(&filter, &hashes);
        let footer = Footer::read(filter.as_bytes(), Kind::Filter).expect("a footer");
        assert!(footer.shape.further.exceptions > 0, "{filter:?}");
        let absent = (0..200_000).filter(|_| filter.contains_hash(random.next())).count();
        assert!((250..550).contains(&absent), "{absent} of 200000 at a rate of 1/512");
        // Up to eight columns, lookups in the bytes use a separate code path.
        let smaller = filter.shrink_to_columns(8.0).expect("fewer columns");
        for &hash in &hashes {
            let found = Filter::contains_hash_in(smaller.as_bytes(), hash);
            assert!(found.expect("a filter"), "{smaller:?}");
        }
    }
}

#[test]
fn equal_and_few_distinct_hashes() {
    for width in WIDTHS {
        for distinct in [1, 2, 7, 1000, 5000] {
            let mut random = Random(distinct);
            let once: Vec<u64> = (0..distinct).map(|_| random.next()).collect();
            let often: Vec<u64> = once.iter().copied().cycle().take(40_000).collect();
            let filter = build(width, &often).expect("duplicates");
            assert_found(&filter, &once);
            assert_eq!(filter.as_bytes(), build(width, &once).expect("distinct").as_bytes());
        }
    }
}
