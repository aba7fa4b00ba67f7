//! Cutting and joining: for the keys that it covers, every part returns the same results as the
//! filter, and all parts joined give the filter again.

use crate::support::{Keys, build, builder, random, scale};
use ribbonfilter::{Filter, JoinError, Kind, OpenError, Part, ShrinkError, Variant, Width};
use std::cell::Cell;

const CUT: [Variant; 2] = [Variant::Standard, Variant::Homogeneous];

fn keys(count: u64) -> impl Iterator<Item = u64> + Clone {
    (0..count).map(|index| Keys::Random.hash(index))
}

/// Filters of every variant and width that can be cut: with and without segments, with whole and
/// fractional columns and less than one column, and with a trimmed last block.
fn filters(count: u64) -> Vec<Filter> {
    let mut filters = Vec::new();
    for (variant, width) in crate::support::kinds(count) {
        for columns in [1.0, 0.4, 5.0, 6.7] {
            if CUT.contains(&variant) {
                filters.push(build(builder(variant, width, columns), keys(count)));
            }
        }
    }
    filters
}

fn blocks(filter: &Filter) -> u32 {
    match filter.cut(u32::MAX).expect_err("too many parts") {
        ShrinkError::WrongParts { max, .. } => u32::try_from(max).expect("few blocks"),
        error => panic!("{error}"),
    }
}

/// The one part that covers a key.
fn covering(parts: &[Part], hash: u64) -> &Part {
    let mut covering = parts.iter().filter(|part| part.covers(hash));
    let part = covering.next().expect("a part covers every key");
    assert!(covering.next().is_none(), "two parts cover a key");
    part
}

/// Queries all parts, and joins them.
fn check(filter: &Filter, count: u64, parts: u32, probes: u64) {
    let cut = filter.cut(parts).expect("parts");
    assert_eq!(cut.len(), parts as usize);
    for (number, part) in (0..).zip(&cut) {
        part.verify().expect("whole");
        assert_eq!((part.number(), part.part_count()), (number, parts.into()));
        assert_eq!(part.filter_len(), filter.len());
    }
    for hash in keys(count) {
        assert!(covering(&cut, hash).contains_hash(hash), "a lost key: {filter:?}");
    }
    for hash in (0..probes).map(|index| random(9, index)) {
        let expected = filter.contains_hash(hash);
        assert_eq!(covering(&cut, hash).contains_hash(hash), expected, "{filter:?}");
        assert_eq!(cut.iter().all(|part| part.contains_hash(hash)), expected, "{filter:?}");
    }
    let views: Vec<_> =
        cut.iter().rev().map(|part| Part::open(part.as_bytes()).expect("a part")).collect();
    assert!(Filter::join(&views).expect("all parts").as_bytes() == filter.as_bytes());
}

#[test]
fn parts_answer_as_the_filter() {
    for count in [1, 2, 17, 70, 1000, scale(3000, 9000, 100_000)] {
        for filter in filters(count) {
            let max = blocks(&filter);
            for parts in [1, 2, 3, 7, 20, max / 2, max - 1, max] {
                if (1..=max).contains(&parts) && u64::from(parts) * count < 4_000_000 {
                    let queried = scale(300, 3000, 30_000) / u64::from(parts);
                    check(&filter, count.min(20_000), parts, queried);
                }
            }
        }
    }
}

/// Segments with seeds of their own, cut inside and between segments; a million probes.
#[test]
fn seven_parts_of_many_segments() {
    for (variant, width, columns, count) in [
        (Variant::Standard, Width::W32, 2.5, 20_000),
        (Variant::Standard, Width::W64, 6.6, scale(70_000, 140_000, 1_000_000)),
        (Variant::Standard, Width::W128, 8.0, scale(140_000, 280_000, 1_000_000)),
        (Variant::Homogeneous, Width::W64, 1.5, scale(20_000, 1_050_000, 5_000_000)),
    ] {
        let filter = build(builder(variant, width, columns), keys(count));
        let probes = scale(20_000, 1_100_000, 4_000_000);
        check(&filter, count, 7, probes);
        check(&filter, count, 64, scale(100, 10_000, 100_000));
    }
}

/// A part holds its own blocks, and at most one or two blocks of the next part.
#[test]
fn parts_cost_what_they_say() {
    for filter in filters(9000) {
        let parts = filter.cut(5).expect("parts");
        // The extra blocks that equations reach into, label and footer, and a duplicate seed.
        let following = filter.columns().ceil() * f64::from(filter.width().bits()) / 8.0;
        let max = filter.size_in_bytes() as f64 + 4.0 * (following + 52.0 + 1.0) + 12.0;
        let size: usize = parts.iter().map(Part::size_in_bytes).sum();
        assert!(size as f64 <= max, "{size} bytes, {max} allowed: {filter:?}");
        assert!(size > filter.size_in_bytes());
    }
}

#[test]
fn an_empty_filter_is_its_only_part() {
    let empty = Filter::build([""; 0], 0.01).expect("built");
    check(&empty, 0, 1, 1000);
    let part = &empty.cut(1).expect("a part")[0];
    assert!(part.covers_key("ada") && !part.contains("ada"));
    assert!(matches!(empty.cut(2), Err(ShrinkError::WrongParts { parts: 2, max: 1 })));
}

#[test]
fn keys_and_views_as_of_a_filter() {
    let mut builder = Filter::builder().variant(Variant::Standard).key_seed(7);
    builder.extend(0..5000u64);
    let filter = builder.finish().expect("built");
    let view = Filter::open(filter.as_bytes()).expect("a filter");
    let (parts, of_view) = (filter.cut(4).expect("parts"), view.cut(4).expect("parts"));
    for (part, of_view) in parts.iter().zip(&of_view) {
        assert_eq!(part.as_bytes(), of_view.as_bytes());
        assert_eq!((part.key_seed(), part.width()), (7, filter.width()));
        assert_eq!(
            (part.variant(), part.filter_rate()),
            (filter.variant(), filter.expected_rate())
        );
    }
    for key in 0..10_000u64 {
        let mut covering = parts.iter().filter(|part| part.covers_key(key));
        let part = covering.next().expect("one covers it");
        assert_eq!(part.contains(key), filter.contains(key));
        assert!(covering.next().is_none());
    }
}

/// A filter that has some columns of another can be cut like any other.
#[test]
fn shrunk_and_split_filters_are_cut() {
    let whole = build(builder(Variant::Standard, Width::W64, 8.5), keys(5000));
    check(&whole.shrink_to_columns(3.3).expect("smaller"), 5000, 6, 20_000);
    for part in whole.split_columns(&[4, 5]).expect("parts") {
        check(&part, 5000, 6, 20_000);
    }
}

#[test]
fn what_cannot_be_cut_is_refused() {
    for variant in [Variant::Balanced, Variant::Bumped] {
        let error = build(Filter::builder().variant(variant), keys(5000)).cut(3);
        let error = error.expect_err("no such cut");
        assert!(matches!(error, ShrinkError::CannotBeCut { variant: found } if found == variant));
        assert!(error.to_string().contains("build shards"), "{error}");
    }
    let filter = build(builder(Variant::Standard, Width::W64, 5.0), keys(100));
    let max = blocks(&filter);
    for parts in [0, max + 1, u32::MAX] {
        let error = filter.cut(parts).expect_err("no such cut");
        assert!(matches!(error, ShrinkError::WrongParts { .. }), "{error}");
        assert!(error.to_string().contains(&format!("blocks, {max}")), "{error}");
    }
    let mut corrupt = filter.as_bytes().to_vec();
    corrupt[3] ^= 1;
    let corrupt = Filter::open(corrupt).expect("a filter");
    assert!(matches!(corrupt.cut(2), Err(ShrinkError::Corrupt)));
}

#[test]
fn parts_and_filters_are_not_taken_for_each_other() {
    let filter = build(Filter::builder(), keys(100));
    let part = &filter.cut(1).expect("a part")[0];
    let error = Filter::open(part.as_bytes()).expect_err("no filter");
    assert!(matches!(error, OpenError::WrongKind { .. }), "{error}");
    let error = Part::open(filter.as_bytes()).expect_err("no part");
    assert!(matches!(error, OpenError::WrongKind { .. }), "{error}");
}

#[test]
fn only_all_parts_of_one_cut_are_joined() {
    let filter = build(builder(Variant::Standard, Width::W64, 5.0), keys(1000));
    let other = build(builder(Variant::Standard, Width::W64, 5.0), keys(1001).skip(1));
    let (parts, foreign) = (filter.cut(4).expect("parts"), other.cut(4).expect("parts"));
    let fewer = filter.cut(3).expect("parts");
    let join = |parts: &[&Part]| {
        let parts: Vec<Part> = parts.iter().map(|&part| part.clone()).collect();
        Filter::join(&parts).expect_err("not all parts of one cut")
    };
    let [a, b, c, d] = &parts[..] else { panic!("four parts") };
    assert!(matches!(join(&[]), JoinError::Empty));
    assert!(matches!(join(&[a, b, c]), JoinError::Missing { number: 3, count: 4, .. }));
    assert!(matches!(join(&[d]), JoinError::Missing { number: 0, count: 4, .. }));
    assert!(matches!(join(&[d, b, a]), JoinError::Missing { number: 2, count: 4, .. }));
    assert!(matches!(join(&[a, b, c, b]), JoinError::Duplicate { number: 1, position: 3, .. }));
    assert!(matches!(join(&[a, b, c, d, a]), JoinError::Duplicate { number: 0, position: 4, .. }));
    assert!(matches!(
        join(&[a, b, &foreign[2], d]),
        JoinError::Mismatch { number: 2, position: 2, field: "filter", .. }
    ));
    assert!(matches!(
        join(&[a, b, c, &fewer[2]]),
        JoinError::Mismatch { number: 2, position: 3, field: "number of parts", .. }
    ));
    let mut corrupt: Vec<_> =
        parts.iter().map(|part| Part::open(part.as_bytes().to_vec()).expect("a part")).collect();
    let mut bytes = corrupt[1].as_bytes().to_vec();
    bytes[0] ^= 1;
    corrupt[1] = Part::open(bytes).expect("only the footer is read");
    assert!(matches!(
        Filter::join(&corrupt),
        Err(JoinError::Corrupt { kind: Kind::Part, number: 1, position: 1 })
    ));
}

#[test]
fn truncated_extended_and_corrupt_bytes() {
    for filter in filters(70) {
        for part in filter.cut(blocks(&filter).min(3)).expect("parts") {
            let mut bytes = part.as_bytes().to_vec();
            for len in 0..bytes.len() {
                assert!(Part::open(&bytes[..len]).is_err(), "cut at {len}");
                assert!(len == 0 || refused(&bytes[len..]), "front cut at {len}");
            }
            for place in 0..bytes.len() {
                for flip in [1, 2, 4, 8, 16, 32, 64, 128, 0xff] {
                    bytes[place] ^= flip;
                    assert!(refused(&bytes), "byte {place} ^ {flip:#x}: {part:?}");
                    bytes[place] ^= flip;
                }
            }
            assert!(!refused(&bytes));
        }
    }
}

/// Whether `open` or `verify` rejects the bytes. If they can be opened, queries must not panic.
fn refused(bytes: &[u8]) -> bool {
    let Ok(part) = Part::open(bytes) else {
        return true;
    };
    for hash in (0..10).map(|probe| random(9, probe)) {
        assert!(part.covers(hash) || part.contains_hash(hash));
    }
    part.verify().is_err()
}

/// Bytes whose length changes after the part was opened.
struct Shifty<'a>(&'a [u8], &'a Cell<bool>);

impl AsRef<[u8]> for Shifty<'_> {
    fn as_ref(&self) -> &[u8] {
        if self.1.get() { &self.0[..1] } else { self.0 }
    }
}

#[test]
fn a_buffer_that_changes_its_length_never_loses_a_key() {
    let filter = build(builder(Variant::Standard, Width::W32, 5.0), keys(9000));
    let (parts, shorter) = (filter.cut(2).expect("parts"), Cell::new(false));
    let part = Part::open(Shifty(parts[0].as_bytes(), &shorter)).expect("whole at first");
    assert!(!(0..100).all(|probe| part.contains_hash(random(5, probe))));
    shorter.set(true);
    assert!((0..100).all(|probe| part.contains_hash(random(5, probe))));
    assert!(!(0..100).any(|probe| part.covers(random(5, probe))));
    assert!(part.verify().is_err() && Filter::join(&[part]).is_err());
}
