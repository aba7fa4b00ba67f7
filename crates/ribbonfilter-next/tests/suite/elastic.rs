//! Shrinking and splitting: no key is lost, and the bytes equal those of a direct build.

use crate::support::{Keys, assert_all_found, build, builder, kinds, random, scale};
use ribbonfilter_next::{Effort, Filter, OwnedBytes, ShrinkError, Variant};

fn keys(count: u64) -> impl Iterator<Item = u64> + Clone {
    (0..count).map(|index| Keys::Random.hash(index))
}

fn assert_whole(filter: &Filter, count: u64) {
    assert_all_found(filter, keys(count));
    filter.verify().expect("whole");
}

#[test]
fn step_by_step_to_one_column() {
    for count in [1, 70, 1000, scale(5000, 60_000, 1_000_000)] {
        for (variant, width) in kinds(1000) {
            let direct = |columns| build(builder(variant, width, columns), keys(count));
            let mut filter = direct(12.0);
            for step in 1..16 {
                let columns = 12.0 - 0.75 * f64::from(step);
                filter = filter.shrink_to_columns(columns).expect("smaller");
                assert_whole(&filter, count);
                assert!(filter.as_bytes() == direct(columns).as_bytes(), "{filter:?}");
            }
        }
    }
}

/// Equations of different keys that depend on one another agree in one column half of the time. They
/// count as unsolvable all the same, or a filter of one column would have another seed.
#[test]
fn equations_that_agree_by_accident() {
    for round in 0..scale(600, 2000, 50_000) {
        let hashes = || (0..100 + round % 200).map(|index| random(round + 20, index));
        let built = |columns| {
            let builder = Filter::builder().variant(Variant::Standard).columns(columns);
            build(builder.effort(Effort::Thorough), hashes())
        };
        let smaller = built(9.0).shrink_to_columns(1.0).expect("fewer columns");
        assert!(smaller.as_bytes() == built(1.0).as_bytes(), "round {round}");
    }
}

#[test]
fn targets_choose_as_a_build_does() {
    let count = 20_000;
    for (variant, width) in kinds(1000) {
        let start = || Filter::builder().variant(variant).width(width);
        let filter = build(start().columns(10.0), keys(count));
        for rate in [0.0011, 0.01, 0.05, 0.3, 0.7] {
            let direct = build(start().false_positive_rate(rate), keys(count));
            let shrunk = filter.shrink_to_rate(rate).expect("smaller");
            assert!(shrunk.as_bytes() == direct.as_bytes(), "{shrunk:?}");
        }
        for bytes in [3000, 10_000, 22_222] {
            let direct = build(start().total_bytes(bytes), keys(count));
            let shrunk = filter.shrink_to_bytes(bytes).expect("smaller");
            assert!(shrunk.as_bytes() == direct.as_bytes(), "{shrunk:?}");
        }
        let Err(ShrinkError::SizeTooSmall { bytes: 400, needed }) = filter.shrink_to_bytes(400)
        else {
            panic!("less than one column");
        };
        let min = filter.shrink_to_bytes(needed).expect("one column");
        assert_whole(&min, count);
        assert_eq!((min.columns(), min.size_in_bytes() as u64), (1.0, needed));
    }
}

#[test]
fn parts_answer_together_as_the_whole() {
    let count = scale(3000, 30_000, 1_000_000);
    for (variant, width) in kinds(1000) {
        for (columns, split) in [(6.0, &[1, 2, 3][..]), (5.4, &[5, 1]), (4.0, &[4]), (4.7, &[2, 3])]
        {
            let filter = build(builder(variant, width, columns), keys(count));
            let parts = filter.split_columns(split).expect("parts");
            for part in &parts {
                assert_whole(part, count);
            }
            for index in 0..scale(10_000, 200_000, 10_000_000) {
                let hash = random(9, index);
                let together = parts.iter().all(|part| part.contains_hash(hash));
                assert_eq!(together, filter.contains_hash(hash));
            }
            // Every part has the codes of all buckets, two bits for 512 slots, and footers.
            let metadata = 60 + 2 * count as usize / 512 / 8;
            let size: usize = parts.iter().map(Filter::size_in_bytes).sum();
            assert!(size < filter.size_in_bytes() + metadata * parts.len());
        }
    }
}

/// Shrinking a part drops columns of this part, and a view shrinks like an owned filter.
#[test]
fn what_was_shrunk_is_a_filter_like_any_other() {
    let filter = Filter::build(0..5000u64, 0.001).expect("built");
    let view = Filter::open(filter.as_bytes()).expect("a filter");
    let shrunk = view.shrink_to_columns(6.5).expect("smaller");
    assert_eq!(shrunk.as_bytes(), filter.shrink_to_columns(6.5).expect("smaller").as_bytes());
    let part = &shrunk.split_columns(&[3, 4]).expect("parts")[1];
    let smaller = part.shrink_to_columns(2.0).expect("smaller");
    assert!((0..5000u64).all(|key| smaller.contains(key)));
    let wrong = (5000..15_000u64).filter(|&key| smaller.contains(key)).count();
    assert!((2200..2800).contains(&wrong), "{wrong} of 10,000 at a rate of a quarter");
}

#[test]
fn an_empty_filter_stays_empty() {
    let empty = Filter::build([""; 0], 0.01).expect("built");
    for shrunk in
        [empty.shrink_to_rate(0.5), empty.shrink_to_columns(3.0), empty.shrink_to_bytes(40)]
    {
        assert_eq!(shrunk.expect("a copy").as_bytes(), empty.as_bytes());
    }
    assert!(matches!(empty.shrink_to_bytes(39), Err(ShrinkError::SizeTooSmall { .. })));
}

#[test]
fn what_cannot_be_is_refused() {
    let filter = Filter::build(0..1000u64, 0.01).expect("built");
    let size = filter.size_in_bytes() as u64;
    assert!(matches!(filter.shrink_to_rate(0.001), Err(ShrinkError::RateTooLow { .. })));
    for rate in [0.0, 1.0, -1.0, f64::NAN] {
        assert!(matches!(filter.shrink_to_rate(rate), Err(ShrinkError::InvalidRate { .. })));
    }
    for columns in [0.0, -1.0, 6.9, 33.0, f64::NAN, f64::INFINITY] {
        let refused = filter.shrink_to_columns(columns);
        assert!(matches!(refused, Err(ShrinkError::InvalidColumns { .. })), "{columns}");
    }
    assert!(matches!(filter.shrink_to_bytes(size + 1), Err(ShrinkError::SizeTooLarge { .. })));
    assert!(matches!(filter.shrink_to_bytes(41), Err(ShrinkError::SizeTooSmall { .. })));
    for split in [&[][..], &[7, 0], &[3, 3], &[u32::MAX, u32::MAX]] {
        assert!(matches!(filter.split_columns(split), Err(ShrinkError::WrongColumns { .. })));
    }
    let same = filter.shrink_to_bytes(size).expect("a copy");
    assert_eq!(same.as_bytes(), filter.as_bytes());
    assert_eq!(filter.shrink_to_rate(0.01).expect("a copy").as_bytes(), filter.as_bytes());
}

#[test]
fn damage_is_not_sealed_anew() {
    let mut bytes = Filter::build(0..1000u64, 0.01).expect("built").into_inner().to_vec();
    bytes[7] ^= 4;
    let corrupt = Filter::open(bytes).expect("looks whole");
    assert!(matches!(corrupt.shrink_to_columns(3.0), Err(ShrinkError::Corrupt)));
    assert!(matches!(corrupt.split_columns(&[7]), Err(ShrinkError::Corrupt)));
}

/// Bytes that are replaced after they were opened.
struct Fickle {
    first: OwnedBytes,
    then: OwnedBytes,
    was_read: std::cell::Cell<bool>,
}

impl AsRef<[u8]> for Fickle {
    fn as_ref(&self) -> &[u8] {
        match self.was_read.replace(true) {
            false => self.first.as_ref(),
            true => self.then.as_ref(),
        }
    }
}

#[test]
fn another_buffer_than_was_opened_is_refused() {
    let build = |count| Filter::build(0..count, 0.01).expect("built").into_inner();
    let fickle = Fickle { first: build(1000), then: build(500), was_read: false.into() };
    let filter = Filter::open(fickle).expect("the first is a filter");
    assert!(matches!(filter.shrink_to_columns(2.0), Err(ShrinkError::Corrupt)));
}
