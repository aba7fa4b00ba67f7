//! What is written is read back, and all other bytes are rejected.

use super::*;
use crate::build::variant::Solved;
use crate::build::{complete, footer};
use crate::plan::{Plan, Settings, Target};
use crate::ribbon::layers::Further;
use crate::testing::Random;
use crate::{Filter, Function, JoinError, OwnedBytes, Part};
use alloc::vec;
use alloc::vec::Vec;

/// The exponents that 6 bits can store: a filter's rate is at least 2^-32.
const EXPONENTS: core::ops::RangeInclusive<i32> = -62..=0;

#[test]
fn rates_come_back_within_their_error() {
    let mut random = Random(1);
    for exponent in EXPONENTS {
        for _ in 0..200 {
            let fraction = 0.5 + random.next() as f64 / 2f64.powi(65);
            let rate = libm::ldexp(fraction, exponent).max(2f64.powi(-62));
            let error = (decode_rate(encode_rate(rate)) - rate) / rate;
            assert!(error.abs() <= 2f64.powi(-19), "{rate:e}: {error:e}");
        }
    }
}

#[test]
fn powers_of_two_come_back_exactly() {
    for exponent in EXPONENTS {
        let rate = 2f64.powi(exponent);
        assert_eq!(decode_rate(encode_rate(rate)), rate);
    }
}

#[test]
fn a_larger_rate_is_not_stored_as_a_smaller_one() {
    let mut random = Random(2);
    let uniform = (0..5000).map(|i| f64::from(i + 1) / 5000.0);
    let mut rates: Vec<f64> = EXPONENTS
        .flat_map(|exponent| [1.0, 0.999_999_9, 1.000_000_1].map(|f| f * 2f64.powi(exponent)))
        .filter(|rate| (2f64.powi(-62)..=1.0).contains(rate))
        .chain(uniform)
        .chain((0..5000).map(|_| 1.0 / (1.0 + random.next() as f64 / 2f64.powi(3))))
        .collect();
    rates.sort_unstable_by(f64::total_cmp);
    assert!(rates.is_sorted_by_key(|&rate| decode_rate(encode_rate(rate))));
}

#[test]
fn stored_rates_are_written_as_they_were_read() {
    for e in 1..=63 {
        for fraction in [0, 1, 2, 0x1ffff, 0x20000, 0x3fffe, 0x3ffff] {
            let stored = e << 18 | fraction;
            if decode_rate(stored) <= 1.0 {
                assert_eq!(encode_rate(decode_rate(stored)), stored);
            }
        }
    }
}

fn plan(settings: Settings, keys: u64) -> Plan {
    settings.plan(keys, 0).expect("a plan")
}

/// Footers as builders write them: all widths and variants, one and many segments, integral
/// and fractional columns.
fn footers() -> Vec<Footer> {
    let mut random = Random(3);
    let mut footers = Vec::new();
    let variants = [Variant::Standard, Variant::Homogeneous, Variant::Balanced, Variant::Bumped];
    for variant in variants {
        for width in Width::ALL {
            for keys in [0, 1, 2, 100, 1000, 5000, 100_000, 1 << 24, 1 << 40] {
                for columns in [1.0, 3.4, 7.7, 8.0] {
                    let settings = Settings {
                        target: Target::Columns(columns),
                        variant: Some(variant),
                        width: Some(width),
                        ..Settings::default()
                    };
                    let Ok(plan) = settings.plan(keys, 0) else {
                        continue;
                    };
                    let solved = Solved {
                        seeds: vec![random.next() as u8],
                        rate: (variant == Variant::Homogeneous && keys > 0)
                            .then_some(plan.solution_rate),
                        ..Solved::default()
                    };
                    footers.push(footer(&plan, random.next(), &solved));
                }
            }
        }
    }
    footers
}

/// The directory of a footer's layers, as it is stored immediately before the footer.
fn directory(footer: &Footer) -> Vec<u8> {
    let shape = &footer.shape;
    let count = shape.further.layers().len();
    let mut bytes = Vec::new();
    for layer in shape.further.layers() {
        bytes.extend_from_slice(&(layer.segment_slots() as u32).to_le_bytes());
        bytes.push(layer.segment_bits() as u8);
    }
    if count > 0 {
        bytes.extend_from_slice(&shape.further.exceptions.to_le_bytes());
    }
    bytes
}

/// A footer with a valid footer checksum.
fn sealed(mut raw: [u8; FOOTER_BYTES]) -> [u8; FOOTER_BYTES] {
    let check = footer_check(&raw);
    put(&mut raw, at::FOOTER_CHECK, check);
    raw
}

#[test]
fn footers_are_read_as_they_were_written() {
    let footers = footers();
    assert!(footers.len() > 200);
    for footer in footers {
        let decoded =
            decoded_from(&directory(&footer), &footer.encode(), Kind::Filter).expect("a footer");
        assert_eq!(decoded, footer);
    }
}

#[test]
fn fields_keep_their_largest_values() {
    let decoded =
        |footer: &Footer| decoded_from(&directory(footer), &footer.encode(), Kind::Filter);
    let max_segments = Shape {
        variant: Variant::Standard,
        width: Width::W128,
        smash: true,
        segment_bits: MAX_SEGMENT_BITS,
        segment_slots: 1 << 15,
        further: Further::default(),
        columns: FINGERPRINT_BITS,
        boundary: MAX_BLOCKS - 1,
        order: Order::Columns,
        balance: Balance::default(),
    };
    let max_slots = Shape {
        segment_bits: 14,
        segment_slots: u64::from(u32::MAX) - 63,
        boundary: MAX_BLOCKS - (1 << 14) - 1,
        ..max_segments
    };
    for shape in [max_segments, max_slots] {
        let footer = Footer {
            shape,
            keys: MAX_KEYS,
            key_seed: u64::MAX,
            seed: u8::MAX,
            content: Content::Filter { first_column: 0 },
            rate: encode_rate(1.0),
        };
        assert_eq!(decoded(&footer).expect("a footer"), footer);
        let narrow = Footer {
            shape: Shape { columns: 1, ..shape },
            content: Content::Filter { first_column: FINGERPRINT_BITS - 1 },
            ..footer
        };
        assert_eq!(decoded(&narrow).expect("a footer"), narrow);
        let too_long = match shape == max_slots {
            true => Shape { segment_bits: 15, ..shape },
            false => Shape { segment_slots: shape.segment_slots + 64, ..shape },
        };
        let refused = decoded(&Footer { shape: too_long, ..footer }).expect_err("too many blocks");
        assert!(matches!(refused, OpenError::Inconsistent { field: "number of slots" }));
    }
}

#[test]
fn finished_bytes_hold_header_and_seeds() {
    for keys in [0, 10, 20_000] {
        let settings = Settings { width: Some(Width::W32), ..Settings::default() };
        let plan = plan(settings, keys);
        let seeds: Vec<u8> = (0..plan.segments()).map(|segment| segment as u8 + 7).collect();
        let solved = Solved { seeds: seeds.clone(), ..Solved::default() };
        let mut bytes = vec![0xa5; plan.size_in_bytes() as usize];
        let footer = complete(&mut bytes, &plan, 5, &solved);
        assert_eq!(Footer::read(&bytes, Kind::Filter).expect("a footer"), footer);
        verify(&bytes, Kind::Filter).expect("unaltered");
        if footer.shape.segment_seeds() {
            let end = bytes.len() - FOOTER_BYTES;
            assert_eq!(bytes[end - seeds.len()..end], seeds);
            assert_eq!(footer.seed, 0);
        } else {
            assert_eq!(footer.seed, 7);
        }
        assert_eq!(footer.rate(), plan.shape.nominal_rate().value());
    }
}

/// Filters without keys, with one segment, with many segments and seeds, and with a stored rate.
fn filters() -> Vec<Filter<OwnedBytes>> {
    let settings = [
        (Variant::Standard, Width::W128, 0, 8.0),
        (Variant::Standard, Width::W64, 50, 7.5),
        (Variant::Standard, Width::W32, 9000, 3.0),
        (Variant::Homogeneous, Width::W16, 60, 2.0),
        (Variant::Homogeneous, Width::W64, 300, 5.3),
        (Variant::Balanced, Width::W32, 9000, 2.0),
    ];
    let build = |(variant, width, keys, columns)| {
        let mut builder =
            Filter::builder().variant(variant).width(width).columns(columns).key_seed(9);
        builder.extend(0..keys);
        builder.finish().expect("a filter")
    };
    let filters: Vec<Filter> = settings.map(build).into();
    assert!(filters.iter().any(|filter| filter.as_bytes().len() == FOOTER_BYTES));
    assert!(filters.iter().any(|filter| footer_of(filter).shape.segment_seeds()));
    assert!(filters.iter().any(|filter| footer_of(filter).rate != 0));
    assert!(filters.iter().any(|filter| footer_of(filter).shape.shards().is_some()));
    filters
}

fn decoded_from(data: &[u8], raw: &[u8; FOOTER_BYTES], kind: Kind) -> Result<Footer, OpenError> {
    let mut footer = Footer::EMPTY;
    footer.decode(data, raw, kind).map(|()| footer)
}

fn footer_of(filter: &Filter) -> Footer {
    footer_of_bytes(filter.as_bytes())
}

fn footer_of_bytes(bytes: &[u8]) -> Footer {
    Footer::read(bytes, Kind::Filter).expect("a footer")
}

#[test]
fn every_flipped_bit_of_the_fixed_part_is_noticed_on_opening() {
    for filter in filters() {
        let mut bytes = filter.as_bytes().to_vec();
        let len = bytes.len();
        for bit in (len - FOOTER_BYTES) * 8..len * 8 {
            bytes[bit / 8] ^= 1 << (bit % 8);
            let place = bit - (len - FOOTER_BYTES) * 8;
            assert!(Footer::read(&bytes, Kind::Filter).is_err(), "{filter:?}: bit {place}");
            assert!(verify(&bytes, Kind::Filter).is_err(), "{filter:?}: bit {place}");
            bytes[bit / 8] ^= 1 << (bit % 8);
        }
        verify(&bytes, Kind::Filter).expect("unaltered again");
    }
}

/// Even if an attacker recomputes the footer checksum, the data checksum covers every field
/// that precedes it.
#[test]
fn every_changed_field_is_noticed_by_verifying() {
    for filter in filters() {
        let len = filter.as_bytes().len();
        for bit in 0..at::DATA_CHECK.end * 8 {
            let mut bytes = filter.as_bytes().to_vec();
            let raw = bytes.last_chunk_mut::<FOOTER_BYTES>().expect("a footer");
            raw[bit / 8] ^= 1 << (bit % 8);
            *raw = sealed(*raw);
            assert!(verify(&bytes, Kind::Filter).is_err(), "{len} bytes: bit {bit}");
        }
    }
}

#[test]
fn every_flipped_bit_of_the_data_is_noticed_by_verifying() {
    for filter in filters() {
        let mut bytes = filter.as_bytes().to_vec();
        // Every bit of a small filter, every 61st bit of a larger one.
        let step = if bytes.len() < 500 { 1 } else { 61 };
        for bit in (0..(bytes.len() - FOOTER_BYTES) * 8).step_by(step) {
            bytes[bit / 8] ^= 1 << (bit % 8);
            Footer::read(&bytes, Kind::Filter).expect("only the data is changed");
            assert!(matches!(verify(&bytes, Kind::Filter), Err(OpenError::CorruptData)));
            bytes[bit / 8] ^= 1 << (bit % 8);
        }
    }
}

#[test]
fn every_other_length_is_refused() {
    for filter in filters() {
        let bytes = filter.as_bytes();
        for len in 0..bytes.len() {
            assert!(Footer::read(&bytes[..len], Kind::Filter).is_err(), "the first {len}");
            let rest = &bytes[bytes.len() - len..];
            match Footer::read(rest, Kind::Filter) {
                Err(OpenError::TooShort { .. }) => assert!(len < FOOTER_BYTES),
                Err(OpenError::WrongLength { len: found, .. }) => assert_eq!(found, len as u64),
                other => panic!("the last {len}: {other:?}"),
            }
        }
        for more in 1..100 {
            for filling in [0, 0xff, b'R'] {
                let extension = vec![filling; more];
                let following = [bytes, &extension].concat();
                assert!(Footer::read(&following, Kind::Filter).is_err(), "{more} following");
                let before = [&extension, bytes].concat();
                assert!(matches!(
                    Footer::read(&before, Kind::Filter),
                    Err(OpenError::WrongLength { .. })
                ));
            }
        }
    }
}

/// A change to the bytes of a footer.
type Change = fn(&mut [u8; FOOTER_BYTES]);

#[test]
fn what_is_not_ours_is_refused_by_name() {
    let filters = filters();
    let original = *filters[1].as_bytes().last_chunk().expect("a footer");
    let alter = |change: Change| {
        let mut raw = original;
        change(&mut raw);
        let mut bytes = filters[1].as_bytes().to_vec();
        *bytes.last_chunk_mut().expect("a footer") = sealed(raw);
        Footer::read(&bytes, Kind::Filter).expect_err("a changed footer")
    };
    let error = alter(|raw| raw[at::MAGIC.start] = b'r');
    assert!(matches!(error, OpenError::NotAFilter));
    let error = alter(|raw| raw[at::VERSIONS] += 1);
    assert!(matches!(error, OpenError::UnsupportedVersion { found: 2, supported: 1 }));
    let error = alter(|raw| raw[at::COLUMNS.end - 1] |= 0x80);
    assert!(matches!(error, OpenError::UnsupportedFeatures { features: 4 }));
    for kind in [Kind::Function, Kind::Part, Kind::Container] {
        let mut raw = original;
        raw[at::WHAT] |= kind as u8;
        match decoded_from(&[0; 100], &raw, Kind::Filter) {
            Err(OpenError::WrongKind { expected, found }) => {
                assert_eq!((expected, found), (Kind::Filter, kind));
            }
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn what_no_builder_writes_is_refused_by_its_field() {
    let filters = filters();
    let raw_footer = |filter: &Filter| *filter.as_bytes().last_chunk().expect("a footer");
    let [empty, small, segmented, balanced] = [0, 1, 2, 5].map(|index| raw_footer(&filters[index]));
    let refused = |mut raw: [u8; FOOTER_BYTES], change: Change| {
        change(&mut raw);
        match decoded_from(&[0; 100], &raw, Kind::Filter) {
            Err(OpenError::Inconsistent { field }) => field,
            other => panic!("{other:?}"),
        }
    };
    let changes: [([u8; FOOTER_BYTES], Change, &str); 20] = [
        (small, |raw| raw[at::WHAT] |= 2 << 6, "smash"),
        (small, |raw| put(raw, at::KEYS, 0), "number of slots"),
        (small, |raw| put(raw, at::SEGMENT_SLOTS, 0), "number of slots"),
        (empty, |raw| put(raw, at::KEYS, 1), "number of slots"),
        (empty, |raw| put(raw, at::SEGMENT_SLOTS, 1), "number of slots"),
        (segmented, |raw| raw[at::SEGMENT_SLOTS.start] |= 1, "segment size"),
        (small, |raw| put(raw, at::COLUMNS, 0), "number of columns"),
        (small, |raw| put(raw, at::COLUMNS, 33), "number of columns"),
        (small, |raw| put(raw, at::COLUMNS, 8 | 25 << 7), "number of columns"),
        (empty, |raw| put(raw, at::COLUMNS, 1), "number of columns"),
        (small, |raw| put(raw, at::BOUNDARY, 1), "column boundary"),
        (segmented, |raw| put(raw, at::COLUMNS, 3), "segment seeds"),
        (small, |raw| raw[at::COLUMNS.end - 1] |= 0x20, "segment seeds"),
        (small, |raw| raw[at::COLUMNS.end - 1] |= 0x40, "order of bits"),
        (small, |raw| raw[at::SEGMENTS] |= 0x20, "number of layers"),
        (small, |raw| put(raw, at::RATE, 1 << 18 | 1), "rate"),
        (balanced, |raw| raw[at::SHARD_BITS] = MAX_SHARD_BITS as u8 + 1, "shards"),
        (balanced, |raw| raw[at::SHARD_BITS] = 0, "shards"),
        (balanced, |raw| put(raw, at::SEGMENT_SLOTS, 0), "shards"),
        (balanced, |raw| raw[at::OVERLOAD + 1] = 1, "shards"),
    ];
    for (raw, change, field) in changes {
        assert_eq!(refused(raw, change), field);
    }
}

#[test]
fn what_no_function_is_is_refused_by_its_field() {
    let mut builder = Function::builder().value_bits(7).fingerprint_bits(2);
    builder.push("ada", 36);
    let function = builder.finish().expect("a pair");
    let original: [u8; FOOTER_BYTES] = *function.as_bytes().last_chunk().expect("a footer");
    const fn columns(columns: u64, fingerprint: u64) -> u64 {
        columns | fingerprint << 7
    }
    const ROWS: u64 = (ROW_MAJOR as u64) << 13;
    assert_eq!(get(&original, at::COLUMNS), columns(9, 2));
    let decoded = |change: Change| {
        let mut raw = original;
        change(&mut raw);
        decoded_from(&[0; 100], &raw, Kind::Function)
    };
    let wide = decoded(|raw| put(raw, at::COLUMNS, columns(64, 63))).expect("a function");
    assert_eq!(wide.content, Content::Function { fingerprint_bits: 63 });
    let narrow = decoded(|raw| put(raw, at::COLUMNS, columns(1, 0))).expect("a function");
    assert_eq!(narrow.content, Content::Function { fingerprint_bits: 0 });
    let rows = decoded(|raw| put(raw, at::COLUMNS, columns(32, 2) | ROWS)).expect("a function");
    assert_eq!(rows.shape.order, Order::Rows);
    let changes: [(Change, &str); 9] = [
        (|raw| put(raw, at::COLUMNS, columns(9, 2) | ROWS), "order of bits"),
        (|raw| put(raw, at::COLUMNS, columns(8, 2) | ROWS), "order of bits"),
        (|raw| put(raw, at::COLUMNS, columns(9, 9)), "number of columns"),
        (|raw| put(raw, at::COLUMNS, columns(9, 63)), "number of columns"),
        (|raw| put(raw, at::COLUMNS, columns(0, 0)), "number of columns"),
        (|raw| put(raw, at::COLUMNS, columns(65, 0)), "number of columns"),
        (|raw| raw[at::WHAT] |= (Variant::Homogeneous as u8) << 2, "variant"),
        (|raw| put(raw, at::BOUNDARY, 1), "column boundary"),
        (|raw| put(raw, at::RATE, 1 << 18), "rate"),
    ];
    for (change, field) in changes {
        match decoded(change) {
            Err(OpenError::Inconsistent { field: found }) => assert_eq!(found, field),
            other => panic!("{other:?}"),
        }
    }
    let found = Footer::read(function.as_bytes(), Kind::Filter).expect_err("no filter");
    assert!(matches!(
        found,
        OpenError::WrongKind { expected: Kind::Filter, found: Kind::Function }
    ));
}

/// Reading never panics; and if a footer is accepted, queries of a function with arbitrary
/// bytes do not panic either.
#[test]
fn untrusted_functions_never_panic() {
    const LARGEST: u64 = 1 << 20;
    let mut random = Random(8);
    let noise = random.bytes(LARGEST as usize);
    let (mut accepted, mut wide, mut row_major) = (0, 0, 0);
    for _ in 0..60_000 {
        let mut raw = untrusted(&mut random);
        let number = random.below(64) & random.below(64);
        let features = get(&raw, at::COLUMNS) >> 13 << 13;
        let columns = match random.below(4) {
            0 => 16 << random.below(3) | u64::from(ROW_MAJOR) << 13,
            _ => random.below(66),
        };
        put(&mut raw, at::COLUMNS, columns | number << 7 | features);
        put(&mut raw, at::BOUNDARY, random.below(16) / 15);
        raw[at::WHAT] = raw[at::WHAT] & !3 | Kind::Function as u8;
        if raw[at::WHAT] >> 2 & 3 != Variant::Balanced as u8 {
            put(&mut raw, at::RATE, random.below(16) / 15);
        }
        let raw = sealed(raw);
        let expected = match Footer::read(&raw, Kind::Function) {
            Ok(_) => FOOTER_BYTES as u64,
            Err(OpenError::WrongLength { expected, .. }) if expected < LARGEST => expected,
            Err(_) => continue,
        };
        let data = &noise[..expected as usize - FOOTER_BYTES];
        let function = Function::open([data, &raw].concat()).expect("the announced length");
        accepted += 1;
        wide += u32::from(function.value_bits() > 32);
        row_major += columns >> 14;
        let hashes: Vec<u64> = (0..20).map(|_| random.next()).chain([0, u64::MAX]).collect();
        let values = function.get_hash_batch(&hashes);
        for (&hash, &value) in hashes.iter().zip(&values) {
            assert_eq!(function.get_hash(hash), value);
            assert!(function.value_bits() == 64 || value >> function.value_bits() == 0);
            function.lookup_hash(hash);
        }
        assert!(function.verify().is_err());
    }
    assert!(accepted > 1000, "{accepted} accepted: the test shows too little");
    assert!(wide > 100, "{wide} with many bits: the test shows too little");
    assert!(row_major > 100, "{row_major} in rows: the test shows too little");
}

/// A footer with our magic number and untrusted contents: sometimes arbitrary bits, mostly bits
/// that may be accepted.
fn untrusted(random: &mut Random) -> [u8; FOOTER_BYTES] {
    let mut raw: [u8; FOOTER_BYTES] = random.bytes(FOOTER_BYTES).try_into().expect("the length");
    if random.below(8) > 0 {
        let slots = match random.below(2) {
            0 => random.below(3000),
            _ => random.below(40) * 64,
        };
        put(&mut raw, at::SEGMENT_SLOTS, slots);
        put(&mut raw, at::BOUNDARY, random.next() >> 24 >> random.below(41));
        put(&mut raw, at::RATE, random.below(2) * (random.next() >> 40));
        let features = random.below(2) << 13;
        put(&mut raw, at::COLUMNS, random.below(34) | features);
        raw[at::WHAT] &= 0b0111_1100;
        if raw[at::WHAT] >> 2 & 3 == Variant::Balanced as u8 {
            put(&mut raw, at::RATE, random.below(18) | random.below(256) << 8);
        }
        raw[at::SEGMENTS] = random.below(8) as u8;
    }
    raw[at::VERSIONS] = VERSIONS;
    raw[at::MAGIC].copy_from_slice(&MAGIC);
    sealed(raw)
}

/// Reading never panics; and if a footer is accepted, queries of a filter with arbitrary bytes
/// do not panic either.
#[test]
fn untrusted_footers_never_panic() {
    const LARGEST: u64 = 1 << 20;
    let mut random = Random(4);
    let noise = random.bytes(LARGEST as usize);
    let (mut accepted, mut balanced) = (0, 0);
    for _ in 0..40_000 {
        let raw = untrusted(&mut random);
        let expected = match Footer::read(&raw, Kind::Filter) {
            Ok(_) => FOOTER_BYTES as u64,
            Err(OpenError::WrongLength { expected, .. }) if expected < LARGEST => expected,
            Err(_) => continue,
        };
        let data = &noise[..expected as usize - FOOTER_BYTES];
        let filter = Filter::open([data, &raw].concat()).expect("the announced length");
        accepted += 1;
        balanced += u32::from(footer_of_bytes(filter.as_bytes()).shape.shards().is_some());
        for _ in 0..20 {
            filter.contains_hash(random.next());
        }
        for extreme in [0, u64::MAX] {
            filter.contains_hash(extreme);
        }
        assert!((0.0..=1.0).contains(&filter.expected_rate()), "{filter:?}");
        assert!(filter.columns() <= 32.0, "{filter:?}");
        assert!(filter.verify().is_err());
    }
    assert!(accepted > 1000, "{accepted} accepted: the test shows too little");
    assert!(balanced > 100, "{balanced} with shards: the test shows too little");
}

/// The same for parts: labels that are more or less consistent, over filters of any size.
#[test]
fn untrusted_parts_never_panic() {
    const LARGEST: u64 = 1 << 20;
    let mut random = Random(9);
    let noise = random.bytes(LARGEST as usize);
    let (mut accepted, mut huge) = (0, 0);
    for _ in 0..60_000 {
        let mut raw = untrusted(&mut random);
        raw[at::WHAT] = raw[at::WHAT] & !0b1011 | Kind::Part as u8;
        if random.below(4) == 0 {
            raw[at::SEGMENTS] = random.below(32) as u8;
            put(&mut raw, at::SEGMENT_SLOTS, random.below(1 << 26) * 64);
        }
        let parts = random.next() as u32 >> random.below(32);
        let number = random.below(u64::from(parts) + 1) as u32;
        let label = [number, parts, 7].map(u32::to_le_bytes).concat();
        let end = [&label[..], &sealed(raw)].concat();
        let expected = match part::read(&end) {
            Ok(_) => end.len() as u64,
            Err(OpenError::WrongLength { expected, .. }) if expected < LARGEST => expected,
            Err(_) => continue,
        };
        let data = &noise[..expected as usize - end.len()];
        let part = Part::open([data, &end].concat()).expect("the announced length");
        accepted += 1;
        huge += u32::from(part.footer.shape.data_bytes() > 1 << 40);
        for hash in (0..20).map(|_| random.next()).chain([0, u64::MAX]) {
            assert!(part.contains_hash(hash) || part.covers(hash));
        }
        assert!(part.verify().is_err());
        assert!(Filter::join(&[part]).is_err());
    }
    assert!(accepted > 1000, "{accepted} accepted: the test shows too little");
    assert!(huge > 100, "{huge} of huge filters: the test shows too little");
}

/// A part that was changed and got valid checksums again cannot be joined: the checksum of the
/// filter no longer matches.
#[test]
fn parts_that_lie_are_not_joined() {
    let filter = &filters()[2];
    let mut first = filter.cut(2).expect("parts").remove(0).as_bytes().to_vec();
    let second = &filter.cut(2).expect("parts")[1];
    let second = Part::open(second.as_bytes().to_vec()).expect("a part");
    first[0] ^= 1;
    write_checks(&mut first);
    let first = Part::open(first).expect("a part");
    first.verify().expect("its own checksums are right");
    assert!(matches!(Filter::join(&[second, first]), Err(JoinError::WrongChecksum)));
}

/// The same for the directory of a Bumped filter: layers that are more or less consistent, and
/// random codes and exceptions.
#[test]
fn untrusted_layers_never_panic() {
    const LARGEST: u64 = 1 << 20;
    let mut random = Random(6);
    let noise = random.bytes(LARGEST as usize);
    let (mut accepted, mut excepted) = (0, 0);
    for _ in 0..20_000 {
        let mut raw = untrusted(&mut random);
        let count = 1 + random.below(7) as usize;
        let size = |random: &mut Random| match random.below(8) {
            0 => random.next() & 0xffff_ffff,
            1 => random.below(3000),
            _ => 512 * (1 + random.below(6)),
        };
        raw[at::WHAT] = 3 << 2 | (1 + random.below(3) as u8) << 4 | (random.below(2) as u8) << 6;
        raw[at::SEGMENTS] = (count as u8) << 5 | random.below(3) as u8;
        put(&mut raw, at::SEGMENT_SLOTS, size(&mut random));
        put(&mut raw, at::BOUNDARY, random.below(30));
        put(&mut raw, at::COLUMNS, 1 + random.below(20));
        put(&mut raw, at::RATE, 0);
        let raw = sealed(raw);
        let mut directory = Vec::new();
        for number in 1..=count {
            let bits = if number == count { 0 } else { random.below(3) as u8 };
            let bits = if random.below(40) == 0 { random.next() as u8 } else { bits };
            directory.extend_from_slice(&(size(&mut random) as u32).to_le_bytes());
            directory.push(bits);
        }
        let exceptions = match random.below(4) {
            0 => 0,
            1 => random.next() as u32,
            _ => random.below(100) as u32,
        };
        directory.extend_from_slice(&exceptions.to_le_bytes());
        let end = [&directory[..], &raw].concat();
        let expected = match Footer::read(&end, Kind::Filter) {
            Err(OpenError::WrongLength { expected, .. }) if expected < LARGEST => expected,
            _ => continue,
        };
        let data = &noise[..expected as usize - end.len()];
        let filter = Filter::open([data, &end].concat()).expect("the announced length");
        accepted += 1;
        excepted += u32::from(exceptions > 0);
        let hashes: Vec<u64> = (0..50).map(|_| random.next()).chain([0, u64::MAX]).collect();
        let hits: Vec<bool> = hashes.iter().map(|&hash| filter.contains_hash(hash)).collect();
        assert_eq!(filter.contains_hash_batch(&hashes), hits);
        assert!(filter.verify().is_err());
    }
    assert!(accepted > 1000 && excepted > 500, "{accepted}, {excepted} with exceptions");
}

/// A layer that no builder writes is rejected.
#[test]
fn layers_that_cannot_be_are_refused() {
    let mut builder = Filter::builder().variant(Variant::Bumped).width(Width::W32).columns(5.0);
    builder.extend(0..20_000);
    let filter = builder.finish().expect("a filter");
    let shape = footer_of(&filter).shape;
    let count = shape.further.layers().len();
    assert!(count >= 2, "{shape:?}");
    let directory = filter.as_bytes().len() - FOOTER_BYTES - (5 * count + 4);
    let with = |at: usize, value: u8| {
        let mut bytes = filter.as_bytes().to_vec();
        bytes[directory + at] = value;
        match Footer::read(&bytes, Kind::Filter) {
            Err(OpenError::Inconsistent { field }) => field,
            Err(OpenError::WrongLength { .. }) => "length",
            other => panic!("{other:?}"),
        }
    };
    let last = 5 * (count - 1);
    assert_eq!(with(0, 1), "size of a layer");
    assert_eq!(with(4, 32), "size of a layer");
    assert_eq!(with(4, 255), "size of a layer");
    assert_eq!(with(4, 1), "length");
    assert_eq!(with(last + 4, 1), "last layer");
    assert_eq!(with(last + 1, 0xee), "length");
    assert_eq!(with(5 * count, 9), "length");
    let mut bytes = filter.as_bytes().to_vec();
    let end = directory + last;
    bytes[end..end + 4].fill(0);
    assert!(matches!(
        Footer::read(&bytes, Kind::Filter),
        Err(OpenError::Inconsistent { field: "last layer" })
    ));
    // A flipped bit of codes, exceptions or directory is detected by `verify` at the latest.
    let begin = shape.layout().size_in_bytes() as usize;
    for bit in begin * 8..(filter.as_bytes().len() - FOOTER_BYTES) * 8 {
        let mut bytes = filter.as_bytes().to_vec();
        bytes[bit / 8] ^= 1 << (bit % 8);
        assert!(verify(&bytes, Kind::Filter).is_err(), "bit {bit}");
        if bit / 8 < directory {
            let view = Filter::open(&bytes[..]).expect("only the data is changed");
            (0..50).for_each(|key| {
                view.contains(key);
            });
        }
    }
}

#[test]
fn noise_is_refused() {
    let mut random = Random(5);
    for len in 0..2000 {
        assert!(Footer::read(&random.bytes(len), Kind::Filter).is_err());
    }
}
