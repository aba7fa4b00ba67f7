//! Containers of shards: every key with every split, sizes, rates, processes, errors.

use crate::support::{Keys, kernel, kinds, random, scale};
use ribbonfilter_next::{
    BuildError, Effort, Filter, JoinError, Kind, OpenError, Shard, Shards, ShardsBuilder, Split,
    Variant, Width,
};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

/// A builder of shards of a variant and a width.
fn builder(split: Split, variant: Variant, width: Width, columns: f64) -> ShardsBuilder<'static> {
    Shards::builder(split).variant(variant).width(width).columns(columns).kernel(kernel())
}

fn finish(mut builder: ShardsBuilder<'_>, hashes: impl IntoIterator<Item = u64>) -> Shards {
    builder.extend_hashes(hashes);
    builder.finish().expect("ordinary keys build").with_kernel(kernel())
}

fn assert_all_found(shards: &Shards, hashes: &[u64]) {
    for (index, &hash) in hashes.iter().enumerate() {
        assert!(shards.contains_hash(hash), "key {index} is missing in {shards:?}");
    }
    assert!(shards.contains_hash_batch(hashes).iter().all(|&hit| hit), "{shards:?}");
}

/// All keys are found, by single and batched queries, in the container and in a view of it at an
/// odd address. Batches return the same results as single queries, and all reported properties are
/// true.
fn check(shards: &Shards, hashes: &[u64]) {
    shards.verify().expect("a fresh container is whole");
    assert_eq!(shards.len(), hashes.len() as u64);
    assert_all_found(shards, hashes);
    let absent: Vec<u64> = (0..5000).map(|index| random(9, index)).collect();
    let single: Vec<bool> = absent.iter().map(|&hash| shards.contains_hash(hash)).collect();
    assert_eq!(shards.contains_hash_batch(&absent), single);
    assert_eq!(shards.contains_hash_batch(&absent[..7]), single[..7]);
    let keys: Vec<bool> = absent.iter().map(|&key| shards.contains(key)).collect();
    assert_eq!(shards.contains_batch(&absent), keys);
    if hashes.is_empty() {
        assert!(single.iter().all(|&hit| !hit), "an empty container holds nothing");
    }
    let mut moved = vec![0];
    moved.extend_from_slice(shards.as_bytes());
    let view = Shards::open(&moved[1..]).expect("the same bytes");
    assert!(hashes.iter().take(1000).all(|&hash| view.contains_hash(hash)));
    assert!(hashes.iter().all(|&hash| view.shard_of_hash(hash) < view.shard_count()));
}

fn sizes() -> Vec<u64> {
    let mut sizes: Vec<u64> = (0..20).collect();
    sizes.extend([31, 63, 64, 65, 127, 128, 129, 255, 257, 1000, 1023, 1024, 1025, 4095, 4097]);
    sizes.extend(scale(vec![10_000], vec![10_000, 100_000, 1_000_000], vec![10_000_000]));
    sizes
}

#[test]
fn by_hash_loses_no_key() {
    for keys in sizes() {
        // Many shards are empty, or have one or two keys.
        for bits in [0, 1, 5] {
            for (variant, width) in kinds(1000) {
                if keys > 10_000 && (width == Width::W128 || bits == 1) {
                    continue;
                }
                let hashes: Vec<u64> = (0..keys).map(|index| random(bits.into(), index)).collect();
                let split = Split::ByHash { bits };
                let builder = builder(split, variant, width, 6.4);
                check(&finish(builder, hashes.iter().copied()), &hashes);
            }
        }
    }
}

/// More shards than are opened with the container, in batches that are grouped by shard and in
/// others.
#[test]
fn many_shards_lose_no_key() {
    let hashes: Vec<u64> = (0..40_000).map(|index| random(7, index)).collect();
    for bits in [10, 11, 16] {
        let shards = finish(Shards::builder(Split::ByHash { bits }), hashes.iter().copied());
        check(&shards, &hashes);
    }
}

#[test]
fn the_memory_limit_is_checked_before_any_work() {
    let builder = |bits, limit, threads| {
        let mut builder = Shards::builder(Split::ByHash { bits }).threads(threads).progress(|_| {
            panic!("work");
        });
        builder.extend(0..100_000);
        builder.max_memory(limit).finish()
    };
    for (bits, threads) in [(0, 1), (4, 1), (4, 4), (12, 2)] {
        let Err(BuildError::MemoryLimit { needed, limit: 900_000 }) =
            builder(bits, 900_000, threads)
        else {
            panic!("the hashes alone take 800,000 bytes, and the filters 84,000 twice");
        };
        // With 4096 shards, each of their footers counts, and the pieces of 1024 groups.
        let allowed = if bits > 10 { 24_000_000 } else { 20_000_000 };
        assert!((968_000..allowed).contains(&needed), "{bits} bits: {needed}");
        let mut enough = Shards::builder(Split::ByHash { bits }).threads(threads);
        enough.extend(0..100_000);
        assert!(enough.max_memory(needed).finish().is_ok());
    }
}

#[test]
fn fixed_sizes_lose_no_key_and_are_exact() {
    for keys in sizes() {
        for (bits, bits_per_key) in [(0, 9), (3, 12), (6, 20)] {
            let bytes = ((keys * bits_per_key / 8) >> bits) + 120;
            let hashes: Vec<u64> = (0..keys).map(|index| Keys::Strings.hash(index)).collect();
            let shards = finish(Shards::builder(Split::FixedSize { bits, bytes }), hashes.clone());
            check(&shards, &hashes);
            let directory = 5 * shards.shard_count() as usize + 40;
            assert_eq!(shards.directory_bytes(), directory);
            let size = shards.size_in_bytes() - directory;
            assert_eq!(size as u64, bytes << bits, "every shard has its bytes, no more, no less");
        }
    }
}

/// Measured rates are within five standard deviations of the rates that containers report, and at
/// most the requested rate.
#[test]
fn rates_are_as_told() {
    let keys = scale(20_000, 100_000, 1_000_000);
    let splits = [Split::ByHash { bits: 4 }, Split::FixedSize { bits: 4, bytes: keys / 16 }];
    for split in splits {
        for rate in [0.3, 0.02, 0.003] {
            let builder = Shards::builder(split).false_positive_rate(rate);
            let shards = finish(builder, (0..keys).map(|index| random(1, index)));
            let reported = shards.expected_rate();
            let raw = matches!(split, Split::FixedSize { .. });
            assert!(
                raw || reported <= rate * 1.000_01 && reported > rate * 0.9,
                "{split:?}: {reported}"
            );
            let probes = (400.0 / reported) as u64;
            let found = (0..probes).filter(|&probe| shards.contains_hash(random(2, probe))).count();
            let expected = reported * probes as f64;
            let noise = 5.0 * expected.sqrt();
            assert!((found as f64 - expected).abs() < noise, "{split:?}: {found}, not {expected}");
        }
    }
}

#[test]
fn order_threads_and_duplicates_change_nothing() {
    let hashes: Vec<u64> = (0..30_000).map(|index| random(3, index)).collect();
    // More shards than the 1024 groups of a build, too.
    let splits = [
        Split::ByHash { bits: 3 },
        Split::ByHash { bits: 12 },
        Split::FixedSize { bits: 5, bytes: 1500 },
    ];
    for split in splits {
        let expected = finish(Shards::builder(split).threads(1), hashes.iter().copied());
        for threads in [2, 3, 16] {
            let backwards = hashes.iter().rev().copied();
            let shards = finish(Shards::builder(split).threads(threads), backwards);
            assert!(shards.as_bytes() == expected.as_bytes(), "{split:?}, {threads} threads");
        }
        let twice = hashes.iter().chain(&hashes).copied();
        let shards = finish(Shards::builder(split), twice);
        assert!(shards.as_bytes() == expected.as_bytes(), "{split:?} with duplicates");
    }
}

#[test]
fn a_build_can_be_stopped() {
    for split in [Split::ByHash { bits: 3 }, Split::ByHash { bits: 11 }] {
        let (mut calls, stop_at) = (0, 3);
        let mut builder = Shards::builder(split).progress(|_| {
            calls += 1;
            if calls < stop_at { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
        builder.extend(0..10_000);
        assert!(matches!(builder.finish(), Err(BuildError::Cancelled)), "{split:?}");
        assert_eq!(calls, stop_at);
    }
}

#[test]
fn few_distinct_keys_many_times() {
    for split in [Split::ByHash { bits: 0 }, Split::ByHash { bits: 2 }] {
        let shards = finish(Shards::builder(split), (0..5000).map(|index| index % 3));
        assert_eq!(shards.len(), 3);
        assert_all_found(&shards, &[0, 1, 2]);
    }
}

/// Shards that are built by eight processes and then assembled equal those of one process.
#[test]
fn eight_processes_give_the_bytes_of_one() {
    const NUMBER: &str = "RIBBONFILTER_TEST_SHARD";
    const FOLDER: &str = "RIBBONFILTER_TEST_FOLDER";
    let split = Split::ByHash { bits: 3 };
    let builder = || Shards::builder(split).false_positive_rate(0.005);
    let keys = 0..scale(20_000u64, 300_000, 3_000_000);
    let file = |folder: &Path, number: u64| folder.join(format!("{number}.shard"));
    if let Ok(number) = std::env::var(NUMBER) {
        // One of the eight processes: it reads all keys and keeps its own.
        let number = number.parse().expect("a number");
        let folder = PathBuf::from(std::env::var_os(FOLDER).expect("a folder"));
        let mut builder = builder().only(number).expect("one of eight");
        builder.extend(keys);
        let shard = builder.finish().expect("ordinary keys build");
        std::fs::write(file(&folder, number), shard.as_bytes()).expect("a writable folder");
        return;
    }
    let folder = std::env::temp_dir().join(format!("ribbonfilter-shards-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a writable folder");
    let processes: Vec<_> = (0..8u64)
        .map(|number| {
            let program = std::env::current_exe().expect("this test");
            std::process::Command::new(program)
                .args(["--exact", "shards::eight_processes_give_the_bytes_of_one"])
                .env(NUMBER, number.to_string())
                .env(FOLDER, &folder)
                .stdout(std::process::Stdio::null())
                .spawn()
                .expect("a process")
        })
        .collect();
    for mut process in processes {
        assert!(process.wait().expect("an end").success());
    }
    // In an arbitrary order.
    let shards: Vec<_> = [5, 0, 7, 1, 2, 6, 4, 3]
        .map(|number| Shard::open_file(file(&folder, number)).expect("a shard"))
        .into();
    std::fs::remove_dir_all(&folder).expect("the folder of this test");
    let mut written = Vec::new();
    let count = Shards::assemble_to(shards.iter().cloned(), &mut written).expect("all are there");
    assert_eq!(count, written.len() as u64);
    let assembled = Shards::assemble(shards).expect("all are there");
    let mut one = builder();
    one.extend(keys.clone());
    let one = one.finish().expect("ordinary keys build");
    assert!(assembled.as_bytes() == one.as_bytes());
    assert!(written == one.as_bytes());
    assert!(keys.into_iter().all(|key| assembled.contains(key)));
}

fn shard(builder: ShardsBuilder<'_>, number: u64) -> Shard {
    let mut builder = builder.only(number).expect("a shard by hash");
    builder.extend(0..500);
    builder.finish().expect("ordinary keys build")
}

#[test]
fn shards_that_do_not_belong_together_are_reported() {
    let split = Split::ByHash { bits: 2 };
    let plain = || Shards::builder(split);
    let all = || (0..4).map(|number| shard(plain(), number)).collect::<Vec<_>>();
    assert!(Shards::assemble(all()).is_ok());
    assert!(matches!(Shards::assemble::<Vec<u8>>([]), Err(JoinError::Empty)));
    for missing in 0..4 {
        let mut some = all();
        some.remove(missing as usize);
        match Shards::assemble(some) {
            Err(JoinError::Missing { number, count: 4 }) => {
                assert_eq!(number, missing);
            }
            other => panic!("{other:?}"),
        }
    }
    for duplicate in 0..4 {
        let mut more = all();
        more.push(shard(plain(), duplicate));
        match Shards::assemble(more) {
            Err(JoinError::Duplicate { number, position: 4 }) => assert_eq!(number, duplicate),
            other => panic!("{other:?}"),
        }
    }
    // Positions are those of the given order, for any numbers.
    let mut more = all();
    more.reverse();
    more.insert(1, shard(plain(), 3));
    match Shards::assemble(more) {
        Err(JoinError::Duplicate { number: 3, position: 1 }) => {}
        other => panic!("{other:?}"),
    }
    let settings = "target, variant, width or effort";
    let others: [(ShardsBuilder<'_>, &str); 8] = [
        (Shards::builder(Split::ByHash { bits: 3 }), "split"),
        (Shards::builder(Split::FixedSize { bits: 2, bytes: 999 }), "split"),
        (plain().key_seed(1), "key seed"),
        (plain().variant(Variant::Bumped), settings),
        (plain().width(Width::W192), settings),
        (plain().effort(Effort::Thorough), settings),
        (plain().false_positive_rate(0.02), settings),
        (plain().columns(7.0), settings),
    ];
    for (other, expected) in others {
        let mut mixed = all();
        mixed[2] = shard(other, 2);
        match Shards::assemble(mixed) {
            Err(JoinError::Mismatch { number: 2, position: 2, field }) => {
                assert_eq!(field, expected);
            }
            other => panic!("{expected}: {other:?}"),
        }
    }
    let small = |bytes, number| shard(Shards::builder(Split::FixedSize { bits: 1, bytes }), number);
    let error = Shards::assemble([small(800, 0), small(900, 1)]).unwrap_err();
    assert!(error.to_string().contains("size of shards"), "{error}");
}

#[test]
fn what_cannot_be_is_refused() {
    // Before there are keys as well as after them.
    let refused = |builder: ShardsBuilder<'_>| {
        let checked = builder.check().unwrap_err();
        let error = builder.finish().unwrap_err();
        assert_eq!(checked.to_string(), error.to_string());
        error
    };
    let error = refused(Shards::builder(Split::ByHash { bits: 25 }));
    assert!(matches!(error, BuildError::TooManyShards { bits: 25, max: 24 }));
    let error = Shards::builder(Split::ByHash { bits: 2 }).only(4).unwrap_err();
    assert!(matches!(error, BuildError::NoSuchShard { shard: 4, shards: 4 }));
    let split = Split::ByHash { bits: 2 };
    let error = refused(Shards::builder(split).false_positive_rate(0.0));
    assert!(matches!(error, BuildError::InvalidRate { .. }));
    let error = refused(Shards::builder(split).columns(33.0));
    assert!(matches!(error, BuildError::InvalidColumns { .. }));
    let mut builder = Shards::builder(Split::FixedSize { bits: 1, bytes: 10 });
    builder.extend(0..1000);
    let error = builder.finish().unwrap_err();
    assert!(matches!(error, BuildError::SizeTooSmall { bytes: 10, .. }), "{error}");
    let error = refused(Shards::builder(Split::FixedSize { bits: 24, bytes: 1 << 20 }));
    assert!(matches!(error, BuildError::ContainerTooLarge { .. }));
}

#[test]
fn kinds_are_not_mistaken_for_each_other() {
    let container = Shards::builder(Split::ByHash { bits: 1 }).finish().expect("no keys");
    let alone = shard(Shards::builder(Split::ByHash { bits: 1 }), 1);
    let filter = Filter::build(["ada"], 0.01).expect("a key");
    let reported = |error: OpenError| match error {
        OpenError::WrongKind { expected, found } => (expected, found),
        other => panic!("{other}"),
    };
    let (a, b, c) = (Kind::Filter, Kind::Container, Kind::Shard);
    assert_eq!(reported(Filter::open(container.as_bytes()).unwrap_err()), (a, b));
    assert_eq!(reported(Filter::open(alone.as_bytes()).unwrap_err()), (a, c));
    assert_eq!(reported(Shards::open(filter.as_bytes()).unwrap_err()), (b, a));
    assert_eq!(reported(Shards::open(alone.as_bytes()).unwrap_err()), (b, c));
    assert_eq!(reported(Shard::open(container.as_bytes()).unwrap_err()), (c, b));
    assert_eq!(reported(Shard::open(filter.as_bytes()).unwrap_err()), (c, a));
}

/// Containers of a few hundred keys, with every split.
fn small_containers() -> Vec<Shards> {
    let splits = [
        (Split::ByHash { bits: 2 }, Variant::Standard, Width::W192),
        (Split::ByHash { bits: 1 }, Variant::Bumped, Width::W128),
        (Split::FixedSize { bits: 2, bytes: 250 }, Variant::Standard, Width::W256),
    ];
    let keys = |variant| if variant == Variant::Bumped { 5000 } else { 500 };
    let build = |(split, variant, width)| {
        let hashes = (0..keys(variant)).map(|index| random(4, index));
        finish(builder(split, variant, width, 4.5), hashes)
    };
    splits.into_iter().map(build).collect()
}

/// Every corrupt byte is detected, and the error names its shard; no query panics.
#[test]
fn corrupt_bytes_are_reported_by_shard() {
    for shards in small_containers() {
        let bytes = shards.as_bytes();
        let data = bytes.len() - shards.directory_bytes();
        let mut named = 0;
        for position in 0..bytes.len() {
            if position < data && position % 7 > 0 && bytes.len() > 1000 {
                continue;
            }
            let mut corrupt = bytes.to_vec();
            corrupt[position] ^= 1 << (position % 8);
            let result = Shards::open(&corrupt[..]).and_then(|view| {
                (0..300).for_each(|index| {
                    view.contains_hash(random(4, index));
                });
                view.contains_hash_batch(&[1; 100]);
                view.columns();
                view.verify()
            });
            let error = result.expect_err("no byte is without meaning");
            if let OpenError::CorruptShard { shard } = error {
                assert!(position < data && shard < shards.shard_count());
                named += 1;
            } else {
                assert!(position >= data, "{position}: {error}");
            }
        }
        assert!(named > 0, "{shards:?}");
    }
}

#[test]
fn the_corrupt_shard_is_named() {
    let split = Split::FixedSize { bits: 3, bytes: 300 };
    let bytes = finish(Shards::builder(split), (0..1000).map(|index| random(5, index)));
    for shard in 0..8 {
        for offset in [0, 150, 299] {
            let mut corrupt = bytes.as_bytes().to_vec();
            corrupt[shard * 300 + offset] ^= 4;
            let error = Shards::open(corrupt).expect("opening looks at the end").verify();
            match error {
                Err(OpenError::CorruptShard { shard: named }) => assert_eq!(named, shard as u64),
                other => panic!("shard {shard}: {other:?}"),
            }
        }
    }
}

#[test]
fn cut_and_arbitrary_bytes_are_refused() {
    for shards in small_containers() {
        let bytes = shards.as_bytes();
        for len in (0..bytes.len()).step_by(1 + bytes.len() / 500) {
            assert!(Shards::open(&bytes[..len]).is_err(), "cut to {len}");
            assert!(Shards::open(&bytes[bytes.len() - len..]).is_err(), "begun {len} late");
        }
        // A random directory may be opened and then return any result, but must not panic.
        let begin = bytes.len() - shards.directory_bytes();
        for stream in 0..scale(20, 200, 2000) {
            let mut corrupt = bytes.to_vec();
            let directory = &mut corrupt[begin..bytes.len() - 40];
            for (position, byte) in (0..).zip(directory) {
                if random(stream, position) % 4 < stream % 4 + 1 {
                    *byte = random(stream + 1, position) as u8;
                }
            }
            if let Ok(view) = Shards::open(corrupt) {
                (0..500).for_each(|index| {
                    view.contains_hash(random(6, index));
                });
                view.contains_hash_batch(&[3; 500]);
                view.shard_of_hash(7);
                assert!(view.as_bytes() == bytes || view.verify().is_err());
            }
        }
    }
    let alone = shard(Shards::builder(Split::ByHash { bits: 0 }), 0);
    let bytes = alone.as_bytes();
    for position in 0..bytes.len() {
        assert!(Shard::open(&bytes[..position]).is_err());
        let mut corrupt = bytes.to_vec();
        corrupt[position] ^= 1;
        let result = Shard::open(&corrupt[..]).map(|shard| Shards::assemble([shard]));
        assert!(!matches!(result, Ok(Ok(_))), "byte {position} was changed");
    }
}
