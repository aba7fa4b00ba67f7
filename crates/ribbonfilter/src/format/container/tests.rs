use super::*;
use crate::testing::Random;
use crate::{JoinError, Shard, Shards, Split};

/// Containers of every filling, some with layers, segments or many shards.
fn containers() -> Vec<Vec<u8>> {
    let build = |split, width, keys: u64| {
        let mut builder = Shards::builder(split).width(width).columns(3.4);
        builder.extend(0..keys);
        builder.finish().expect("ordinary keys build").as_bytes().to_vec()
    };
    [
        build(Split::UntilFull, Width::W16, 1000),
        build(Split::UntilFull, Width::W64, 3000),
        build(Split::UntilFull, Width::W128, 0),
        build(Split::ByHash { bits: 0 }, Width::W32, 2000),
        build(Split::ByHash { bits: 3 }, Width::W16, 500),
        build(Split::FixedSize { bits: 2, bytes: 99 }, Width::W64, 300),
    ]
    .into()
}

/// For any footer and directory with valid checksums, opening either rejects the container or
/// every query stays within the bytes.
#[test]
fn no_query_leaves_bytes_that_were_made_to_mislead() {
    let mut random = Random(1);
    for bytes in containers() {
        let container = Container::read(&bytes).expect("a container");
        let directory = bytes.len() - container.directory_bytes(&bytes);
        let mut opened = 0;
        for _ in 0..3000 {
            let mut changed = bytes.clone();
            let altered_bytes = 1 + random.below(4);
            for _ in 0..altered_bytes {
                let position =
                    directory + random.below((bytes.len() - directory - 8) as u64) as usize;
                changed[position] = match random.below(3) {
                    0 => 0xff,
                    1 => 0,
                    _ => random.next() as u8,
                };
            }
            let raw: [u8; FOOTER_BYTES] = *changed.last_chunk().expect("a footer");
            seal_footer(&mut changed[directory..], raw);
            let Ok(shards) = Shards::open(changed) else { continue };
            opened += 1;
            for _ in 0..50 {
                shards.contains_hash(random.next());
                shards.shard_of_hash(random.next());
            }
            shards.contains_hash_batch(&[random.next(); 70]);
            let _ = (shards.verify(), shards.columns());
        }
        assert!(opened > 0);
    }
}

/// Verification compares the footer of a shard that stands alone with its entry, and its size
/// with the size of all shards.
#[test]
fn a_shard_tells_the_truth_of_itself() {
    let shard = |split| {
        let mut builder = Shards::builder(split).only(0).expect("shard 0");
        builder.extend(0..1000);
        builder.finish().expect("ordinary keys build").as_bytes().to_vec()
    };
    for split in [Split::ByHash { bits: 0 }, Split::FixedSize { bits: 0, bytes: 2000 }] {
        let bytes = shard(split);
        let truth = Container::read_alone(&bytes).expect("a shard");
        let mut lies = Vec::from([
            Container { keys: truth.keys + 1, ..truth },
            Container { keys: super::super::MAX_KEYS, ..truth },
            Container { rate: truth.rate + 1, ..truth },
        ]);
        if let Filling::FixedSize { bits, .. } = truth.filling {
            let bytes = bytes.len() as u64 - (ENTRY + FOOTER_BYTES) as u64 - 1;
            lies.push(Container { filling: Filling::FixedSize { bits, bytes }, ..truth });
        }
        for lie in lies {
            let mut bytes = bytes.clone();
            let data = bytes.len() - ENTRY - FOOTER_BYTES;
            lie.seal(&mut bytes[data..]);
            let shard = Shard::open(bytes).expect("a footer that is whole");
            assert!(matches!(shard.verify(), Err(OpenError::CorruptShard { shard: 0 })), "{lie:?}");
            let error = Shards::assemble([shard]).expect_err("a shard that lies");
            assert!(matches!(error, JoinError::Corrupt { number: 0, .. }), "{error}");
        }
    }
}

/// Shards whose entries together claim more keys than a container can count are rejected.
#[test]
fn more_keys_than_can_be_counted_are_refused() {
    let shard = |number| {
        let mut builder = Shards::builder(Split::ByHash { bits: 1 }).only(number).expect("a shard");
        builder.extend(0..1000);
        let mut bytes = builder.finish().expect("ordinary keys build").as_bytes().to_vec();
        let truth = Container::read_alone(&bytes).expect("a shard");
        let directory = bytes.len() - ENTRY - FOOTER_BYTES;
        let max = super::super::MAX_KEYS;
        let keys = directory + IN_ENTRY.start..directory + IN_ENTRY.start + at::KEYS.len();
        bytes[keys].copy_from_slice(&max.to_le_bytes()[..at::KEYS.len()]);
        Container { keys: max, ..truth }.seal(&mut bytes[directory..]);
        Shard::open(bytes).expect("a footer that is whole")
    };
    let error = Shards::assemble([shard(0), shard(1)]).expect_err("too many keys");
    assert!(matches!(error, JoinError::TooManyKeys { .. }), "{error}");
}
