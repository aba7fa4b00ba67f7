use super::super::MAX_KEYS;
use super::*;
use crate::testing::Random;
use crate::{Filter, JoinError, Shard, Shards, Split};

fn build(split: Split, columns: f64, keys: u64) -> Vec<u8> {
    let mut builder = Shards::builder(split).columns(columns);
    builder.extend(0..keys);
    builder.finish().expect("ordinary keys build").as_bytes().to_vec()
}

/// Containers of every split, some with empty or many shards.
fn containers() -> Vec<Vec<u8>> {
    [
        build(Split::ByHash { bits: 0 }, 3.4, 2000),
        build(Split::ByHash { bits: 3 }, 8.0, 500),
        build(Split::ByHash { bits: 4 }, 3.4, 20),
        build(Split::ByHash { bits: 11 }, 3.4, 1000),
        build(Split::FixedSize { bits: 2, bytes: 150 }, 1.0, 300),
    ]
    .into()
}

/// Changes some bytes of a range at random.
fn damage(bytes: &mut [u8], range: Range<usize>, random: &mut Random) {
    for _ in 0..1 + random.below(4) {
        let position = range.start + random.below(range.len() as u64) as usize;
        bytes[position] = match random.below(3) {
            0 => 0xff,
            1 => 0,
            _ => random.next() as u8,
        };
    }
}

fn reseal(bytes: &mut [u8], from: usize, kind: Kind) {
    let raw: Raw = *bytes.last_chunk().expect("a footer");
    seal(&mut bytes[from..], raw, kind);
}

/// For any directory and footers with valid checksums, opening either rejects the container
/// or every query stays within the bytes.
#[test]
fn no_query_leaves_bytes_that_were_made_to_mislead() {
    let mut random = Random(1);
    for bytes in containers() {
        let container = Container::read(&bytes).expect("a container");
        let mut opened = 0;
        for _ in 0..if cfg!(miri) { 20 } else { 2000 } {
            let mut changed = bytes.clone();
            let shard = random.below(container.common.shards());
            let filter = container.filter(&bytes, shard).expect("an intact directory");
            if random.below(2) == 0 {
                let footer = filter.end - FOOTER_BYTES..filter.end - 8;
                damage(&mut changed, footer, &mut random);
                reseal(&mut changed[filter], 0, Kind::Filter);
            } else {
                damage(&mut changed, container.directory..bytes.len() - 8, &mut random);
                reseal(&mut changed, container.directory, Kind::Container);
            }
            let Ok(shards) = Shards::open(changed) else { continue };
            opened += 1;
            for _ in 0..50 {
                shards.contains_hash(random.next());
            }
            shards.contains_hash_batch(&[random.next(); 70]);
            let _ = shards.verify();
        }
        assert!(opened > 0);
    }
}

/// Keys, key seeds and padding that contradict the rest are found, though all checksums are valid.
#[test]
fn verification_compares_what_is_stored_twice() {
    for bytes in containers() {
        let container = Container::read(&bytes).expect("a container");
        let key_seed = Common { key_seed: 1, ..container.common };
        for lie in [
            Container { keys: container.keys + 1, ..container },
            Container { common: key_seed, ..container },
        ] {
            let mut bytes = bytes.clone();
            seal(&mut bytes[container.directory..], lie.encode(), Kind::Container);
            let error = Shards::open(bytes).expect("the footer is intact").verify();
            let expected = match lie.keys == container.keys {
                true => matches!(error, Err(OpenError::CorruptShard { shard: 0 })),
                false => matches!(error, Err(OpenError::CorruptDirectory)),
            };
            assert!(expected, "{lie:?}: {error:?}");
        }
    }
    let mut bytes = build(Split::FixedSize { bits: 2, bytes: 250 }, 1.0, 0);
    bytes[2 * 250 + 249] = 1;
    let opened = Shards::open(bytes).expect("the footer is intact");
    assert!(matches!(opened.verify(), Err(OpenError::CorruptShard { shard: 2 })));
}

#[test]
fn footers_that_no_builder_writes_are_refused() {
    let bytes = build(Split::ByHash { bits: 1 }, 3.4, 100);
    let directory = Container::read(&bytes).expect("a container").directory;
    let footer = bytes.len() - FOOTER_BYTES;
    for (field, value) in
        [(shards::NUMBER.start, 1), (shards::ALIGNED, 2), (shards::BITS, 25), (30, 1), (31, 1)]
    {
        let mut changed = bytes.clone();
        changed[footer + field] = value;
        reseal(&mut changed, directory, Kind::Container);
        let error = Shards::open(changed).expect_err("an impossible field");
        assert!(matches!(error, OpenError::Inconsistent { .. }), "{field}: {error}");
    }
}

fn shard(split: Split, number: u64) -> Vec<u8> {
    let mut builder = Shards::builder(split).only(number).expect("a shard");
    builder.extend(0..1000);
    builder.finish().expect("ordinary keys build").as_bytes().to_vec()
}

/// A shard whose filter is too large for its fixed size would reach into the next one.
#[test]
fn a_shard_is_not_larger_than_its_size() {
    let mut bytes = shard(Split::FixedSize { bits: 1, bytes: 700 }, 1);
    let alone = Alone::read(&bytes).expect("a shard");
    let size = filter_alone(&bytes).len() as u64;
    write_alone(&mut bytes, &Common { bytes: size, ..alone.common }, 1);
    assert!(Shard::open(&bytes[..]).is_ok_and(|shard| shard.verify().is_ok()));
    write_alone(&mut bytes, &Common { bytes: size - 1, ..alone.common }, 1);
    assert!(matches!(Shard::open(bytes), Err(OpenError::Inconsistent { field: "size of shards" })));
}

/// Shards whose filters together claim more keys than a container can count are refused.
#[test]
fn more_keys_than_can_be_counted_are_refused() {
    let lie = |number| {
        let mut bytes = shard(Split::ByHash { bits: 1 }, number);
        let alone = Alone::read(&bytes).expect("a shard");
        let end = bytes.len() - FOOTER_BYTES;
        Footer { keys: MAX_KEYS, ..alone.filter }.write(&mut bytes[..end]);
        Shard::open(bytes).expect("all checksums are valid")
    };
    assert!(
        Shards::assemble([lie(0)]).is_err_and(|error| matches!(error, JoinError::Missing { .. }))
    );
    let error = Shards::assemble([lie(0), lie(1)]).expect_err("too many keys");
    assert!(matches!(error, JoinError::TooManyKeys { .. }), "{error}");
}

/// A filter in a container has all its bytes, its footer included, and begins on a cache line if
/// filters are large.
#[test]
#[cfg_attr(miri, ignore = "long")]
fn large_filters_begin_on_cache_lines() {
    let large = build(Split::ByHash { bits: 1 }, 8.0, 2 * LARGE + 4000);
    let small = build(Split::ByHash { bits: 1 }, 8.0, 2 * LARGE - 4000);
    for (bytes, is_large) in [(large, true), (small, false)] {
        let container = Container::read(&bytes).expect("a container");
        let filters = [0, 1].map(|shard| container.filter(&bytes, shard).expect("a filter"));
        let begin = filters[0].end as u64;
        assert!(!begin.is_multiple_of(ALIGNMENT), "the test has to choose other numbers");
        let expected = if is_large { begin.next_multiple_of(ALIGNMENT) } else { begin };
        assert_eq!(filters[1].start as u64, expected);
        let keys = filters.map(|filter| Filter::open(&bytes[filter]).expect("a filter").len());
        assert_eq!(keys[0] + keys[1], container.keys);
        container.verify(&bytes).expect("intact");
    }
}
