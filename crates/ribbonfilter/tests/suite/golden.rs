//! Golden files of every format version, which every later release must open and query.
//!
//! Each file was written by the release that introduced its version, and has not changed since:
//! the files of version 1 are those of 0.2.0. It must open, verify, find
//! its keys and report the same properties. As long as the construction version is the same,
//! building from the same keys must give the same bytes on every machine.
//!
//! `RIBBONFILTER_WRITE_GOLDEN=1 cargo test --test suite golden` writes missing files and leaves
//! existing ones unchanged.

use crate::support::builder;
use ribbonfilter::{
    ExactSet, Filter, FilterBuilder, Function, Part, Shards, ShardsBuilder, Split, Variant, Width,
};
use std::path::PathBuf;

/// A golden file: its name, how it is built, its keys, and the properties that it reports.
struct Golden {
    name: &'static str,
    builder: fn() -> FilterBuilder<'static>,
    keys: u64,
    variant: Variant,
    width: Width,
}

use Variant::{Balanced, Bumped, Homogeneous, Standard};
use Width::{W16, W32, W64, W128};

#[rustfmt::skip]
const GOLDEN: [Golden; 22] = [
    Golden { name: "v1-empty", builder: || Filter::builder(), keys: 0, variant: Standard, width: W128 },
    Golden { name: "v1-one-key", builder: || Filter::builder(), keys: 1, variant: Standard, width: W128 },
    Golden { name: "v1-standard-16", builder: || builder(Standard, W16, 6.5), keys: 900, variant: Standard, width: W16 },
    Golden { name: "v1-standard-32", builder: || builder(Standard, W32, 7.7), keys: 1000, variant: Standard, width: W32 },
    Golden { name: "v1-standard-64", builder: || builder(Standard, W64, 7.7), keys: 1000, variant: Standard, width: W64 },
    Golden { name: "v1-standard-128", builder: || builder(Standard, W128, 31.9).key_seed(0x1234_5678_9abc_def0), keys: 1000, variant: Standard, width: W128 },
    Golden { name: "v1-standard-32-segments", builder: || builder(Standard, W32, 2.5), keys: 20_000, variant: Standard, width: W32 },
    Golden { name: "v1-standard-64-segments", builder: || builder(Standard, W64, 2.5), keys: 70_000, variant: Standard, width: W64 },
    Golden { name: "v1-standard-128-segments", builder: || builder(Standard, W128, 1.25), keys: 140_000, variant: Standard, width: W128 },
    Golden { name: "v1-homogeneous-16", builder: || builder(Homogeneous, W16, 5.5), keys: 1000, variant: Homogeneous, width: W16 },
    Golden { name: "v1-homogeneous-32", builder: || builder(Homogeneous, W32, 7.7), keys: 1000, variant: Homogeneous, width: W32 },
    Golden { name: "v1-homogeneous-64", builder: || builder(Homogeneous, W64, 7.7), keys: 1000, variant: Homogeneous, width: W64 },
    Golden { name: "v1-homogeneous-128", builder: || builder(Homogeneous, W128, 12.0), keys: 1000, variant: Homogeneous, width: W128 },
    Golden { name: "v1-balanced-64-one-shard", builder: || builder(Balanced, W64, 7.7), keys: 1000, variant: Balanced, width: W64 },
    Golden { name: "v1-balanced-32", builder: || builder(Balanced, W32, 4.5), keys: 5000, variant: Balanced, width: W32 },
    Golden { name: "v1-balanced-64-segments", builder: || builder(Balanced, W64, 1.25), keys: 140_000, variant: Balanced, width: W64 },
    Golden { name: "v1-balanced-128", builder: || builder(Balanced, W128, 2.0), keys: 33_000, variant: Balanced, width: W128 },
    Golden { name: "v1-homogeneous-64-segments", builder: || builder(Homogeneous, W64, 1.5), keys: 530_000, variant: Homogeneous, width: W64 },
    Golden { name: "v1-bumped-32", builder: || builder(Bumped, W32, 3.3), keys: 10_000, variant: Bumped, width: W32 },
    Golden { name: "v1-bumped-64", builder: || builder(Bumped, W64, 9.0).key_seed(7), keys: 5000, variant: Bumped, width: W64 },
    Golden { name: "v1-bumped-128", builder: || builder(Bumped, W128, 2.5), keys: 30_000, variant: Bumped, width: W128 },
    Golden { name: "v1-bumped-64-segments", builder: || builder(Bumped, W64, 0.75), keys: 300_000, variant: Bumped, width: W64 },
];

fn key(index: u64) -> String {
    format!("golden key {index}")
}

fn path(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(format!("tests/golden/{name}.ribbon"))
}

fn built(golden: &Golden) -> Filter {
    let mut builder = (golden.builder)();
    builder.extend((0..golden.keys).map(key));
    builder.finish().expect("ordinary keys build")
}

#[test]
fn golden_files_answer_for_ever() {
    for golden in &GOLDEN {
        let path = path(golden.name);
        if std::env::var_os("RIBBONFILTER_WRITE_GOLDEN").is_some() && !path.exists() {
            std::fs::write(&path, built(golden).as_bytes()).expect("a writable tree");
        }
        let filter = Filter::open_file(&path).expect(golden.name);
        filter.verify().expect(golden.name);
        assert_eq!(filter.len(), golden.keys, "{}", golden.name);
        assert_eq!((filter.variant(), filter.width()), (golden.variant, golden.width));
        for index in 0..golden.keys {
            assert!(filter.contains(key(index)), "{} lost key {index}", golden.name);
        }
        let probes = 20_000;
        let found = (0..probes).filter(|&probe| filter.contains(key(1 << 40 | probe))).count();
        let expected = filter.expected_rate() * probes as f64;
        let noise = 6.0 * expected.sqrt() + 3.0;
        assert!((found as f64 - expected).abs() < noise, "{}: {found}, {expected}", golden.name);
    }
}

#[test]
fn the_same_keys_give_the_golden_bytes() {
    for golden in &GOLDEN {
        let bytes = std::fs::read(path(golden.name)).expect(golden.name);
        assert!(bytes == built(golden).as_bytes(), "{} came out differently", golden.name);
    }
}

/// A golden function: its name, variant, width, bits and keys.
struct GoldenFunction {
    name: &'static str,
    variant: Variant,
    width: Width,
    value_bits: u32,
    fingerprint_bits: u32,
    keys: u64,
}

#[rustfmt::skip]
const FUNCTIONS: [GoldenFunction; 8] = [
    GoldenFunction { name: "v1-function-empty", variant: Standard, width: W128, value_bits: 9, fingerprint_bits: 0, keys: 0 },
    GoldenFunction { name: "v1-function-standard-128", variant: Standard, width: W128, value_bits: 64, fingerprint_bits: 0, keys: 500 },
    GoldenFunction { name: "v1-function-standard-32-narrow", variant: Standard, width: W32, value_bits: 32, fingerprint_bits: 0, keys: 20 },
    GoldenFunction { name: "v1-function-standard-16", variant: Standard, width: W16, value_bits: 5, fingerprint_bits: 6, keys: 300 },
    GoldenFunction { name: "v1-function-balanced-64", variant: Balanced, width: W64, value_bits: 3, fingerprint_bits: 0, keys: 20_000 },
    GoldenFunction { name: "v1-function-bumped-32", variant: Bumped, width: W32, value_bits: 33, fingerprint_bits: 4, keys: 5000 },
    GoldenFunction { name: "v1-function-bumped-64", variant: Bumped, width: W64, value_bits: 7, fingerprint_bits: 8, keys: 20_000 },
    GoldenFunction { name: "v1-function-bumped-128", variant: Bumped, width: W128, value_bits: 12, fingerprint_bits: 4, keys: 20_000 },
];

fn value(golden: &GoldenFunction, index: u64) -> u64 {
    crate::support::random(6, index) >> (64 - golden.value_bits)
}

fn built_function(golden: &GoldenFunction) -> Function {
    let mut builder = Function::builder()
        .variant(golden.variant)
        .width(golden.width)
        .value_bits(golden.value_bits)
        .fingerprint_bits(golden.fingerprint_bits);
    builder.extend((0..golden.keys).map(|index| (key(index), value(golden, index))));
    builder.finish().expect("ordinary keys build")
}

#[test]
fn golden_functions_answer_for_ever() {
    for golden in &FUNCTIONS {
        let path = path(golden.name);
        if std::env::var_os("RIBBONFILTER_WRITE_GOLDEN").is_some() && !path.exists() {
            std::fs::write(&path, built_function(golden).as_bytes()).expect("a writable tree");
        }
        let function = Function::open_file(&path).expect(golden.name);
        function.verify().expect(golden.name);
        assert_eq!(function.len(), golden.keys, "{}", golden.name);
        assert_eq!((function.variant(), function.width()), (golden.variant, golden.width));
        assert_eq!(function.value_bits(), golden.value_bits);
        assert_eq!(function.fingerprint_bits(), golden.fingerprint_bits);
        for index in 0..golden.keys {
            let found = function.lookup(key(index));
            assert_eq!(found, Some(value(golden, index)), "{}: key {index}", golden.name);
        }
        assert!(function.as_bytes() == built_function(golden).as_bytes(), "{}", golden.name);
    }
}

/// A golden part: its name, the golden filter that was cut, and which part of how many it is.
struct GoldenPart {
    name: &'static str,
    filter: &'static str,
    number: u64,
    parts: u32,
}

#[rustfmt::skip]
const PARTS: [GoldenPart; 4] = [
    GoldenPart { name: "v1-part-empty", filter: "v1-empty", number: 0, parts: 1 },
    GoldenPart { name: "v1-part-standard-32-segments", filter: "v1-standard-32-segments", number: 2, parts: 5 },
    GoldenPart { name: "v1-part-standard-128", filter: "v1-standard-128", number: 1, parts: 3 },
    GoldenPart { name: "v1-part-homogeneous-64", filter: "v1-homogeneous-64", number: 2, parts: 3 },
];

#[test]
fn golden_parts_answer_for_ever() {
    for golden in &PARTS {
        let whole = GOLDEN.iter().find(|whole| whole.name == golden.filter).expect("a filter");
        let filter = Filter::open_file(path(golden.filter)).expect(golden.filter);
        let cut = filter.cut(golden.parts).expect("parts");
        let cut = &cut[golden.number as usize];
        let path = path(golden.name);
        if std::env::var_os("RIBBONFILTER_WRITE_GOLDEN").is_some() && !path.exists() {
            std::fs::write(&path, cut.as_bytes()).expect("a writable tree");
        }
        let part = Part::open_file(&path).expect(golden.name);
        part.verify().expect(golden.name);
        assert!(part.as_bytes() == cut.as_bytes(), "{} came out differently", golden.name);
        assert_eq!((part.number(), part.part_count()), (golden.number, golden.parts.into()));
        assert_eq!(part.filter_len(), whole.keys);
        let covered = (0..whole.keys).filter(|&index| part.covers_key(key(index))).count() as u64;
        let share = whole.keys / u64::from(golden.parts);
        assert!((share * 3 / 4..=share * 5 / 4).contains(&covered), "{}: {covered}", golden.name);
        for index in 0..whole.keys {
            assert!(part.contains(key(index)), "{} lost key {index}", golden.name);
            let probe = key(1 << 40 | index);
            assert!(!part.covers_key(&probe) || part.contains(&probe) == filter.contains(&probe));
        }
    }
}

/// A golden container: its name, how it is built, its keys and shards.
struct GoldenShards {
    name: &'static str,
    builder: fn() -> ShardsBuilder<'static>,
    keys: u64,
    shards: u64,
}

#[rustfmt::skip]
const CONTAINERS: [GoldenShards; 5] = [
    GoldenShards { name: "v1-shards-empty", builder: || Shards::builder(Split::UntilFull), keys: 0, shards: 1 },
    GoldenShards { name: "v1-shards-until-full-64", builder: || Shards::builder(Split::UntilFull).width(W64).columns(3.6), keys: 10_000, shards: 10 },
    GoldenShards { name: "v1-shards-until-full-16", builder: || Shards::builder(Split::UntilFull).width(W16).columns(4.0).key_seed(7), keys: 900, shards: 16 },
    GoldenShards { name: "v1-shards-by-hash-bumped-32", builder: || Shards::builder(Split::ByHash { bits: 2 }).width(W32).columns(3.3), keys: 12_000, shards: 4 },
    GoldenShards { name: "v1-shards-fixed-size-homogeneous-64", builder: || Shards::builder(Split::FixedSize { bits: 4, bytes: 100 }).variant(Homogeneous).width(W64), keys: 1500, shards: 16 },
];

#[test]
fn golden_containers_answer_for_ever() {
    for golden in &CONTAINERS {
        let mut builder = (golden.builder)();
        builder.extend((0..golden.keys).map(key));
        let built = builder.finish().expect("ordinary keys build");
        let path = path(golden.name);
        if std::env::var_os("RIBBONFILTER_WRITE_GOLDEN").is_some() && !path.exists() {
            std::fs::write(&path, built.as_bytes()).expect("a writable tree");
        }
        let shards = Shards::open_file(&path).expect(golden.name);
        shards.verify().expect(golden.name);
        assert_eq!((shards.len(), shards.shard_count()), (golden.keys, golden.shards));
        for index in 0..golden.keys {
            assert!(shards.contains(key(index)), "{} lost key {index}", golden.name);
        }
        assert!(shards.as_bytes() == built.as_bytes(), "{} came out differently", golden.name);
    }
}

/// A golden exact set: its name, how its keys are spread over groups, and the members of a
/// thousand keys in each group.
struct GoldenExact {
    name: &'static str,
    keys: u64,
    /// The members of a thousand keys, by group. The first group has no name.
    groups: &'static [u64],
}

#[rustfmt::skip]
const EXACT: [GoldenExact; 7] = [
    GoldenExact { name: "v1-exact-empty", keys: 0, groups: &[0] },
    GoldenExact { name: "v1-exact-no-members", keys: 100, groups: &[0] },
    GoldenExact { name: "v1-exact-one-stage", keys: 2000, groups: &[500] },
    GoldenExact { name: "v1-exact-two-stages", keys: 50_000, groups: &[20] },
    GoldenExact { name: "v1-exact-split-filter", keys: 60_000, groups: &[1] },
    GoldenExact { name: "v1-exact-inverted", keys: 20_000, groups: &[970] },
    GoldenExact { name: "v1-exact-groups", keys: 60_000, groups: &[10, 0, 1000, 3, 900, 500, 80] },
];

impl GoldenExact {
    fn group(&self, index: u64) -> usize {
        (index % self.groups.len() as u64) as usize
    }

    fn is_member(&self, index: u64) -> bool {
        crate::support::random(8, index) % 1000 < self.groups[self.group(index)]
    }

    fn built(&self) -> ExactSet {
        let mut builder = ExactSet::builder().key_seed(self.keys);
        for index in 0..self.keys {
            match (self.group(index), self.is_member(index)) {
                (0, true) => builder.push_member(key(index)),
                (0, false) => builder.push_other(key(index)),
                (group, true) => builder.push_member_in(group, key(index)),
                (group, false) => builder.push_other_in(group, key(index)),
            }
        }
        builder.finish().expect("ordinary keys build")
    }
}

#[test]
fn golden_exact_sets_answer_for_ever() {
    for golden in &EXACT {
        let path = path(golden.name);
        if std::env::var_os("RIBBONFILTER_WRITE_GOLDEN").is_some() && !path.exists() {
            std::fs::write(&path, golden.built().as_bytes()).expect("a writable tree");
        }
        let set = ExactSet::open_file(&path).expect(golden.name);
        set.verify().expect(golden.name);
        assert_eq!(set.universe_len(), golden.keys);
        for index in 0..golden.keys {
            let found = match golden.group(index) {
                0 => set.contains(key(index)),
                group => set.contains_in(group, key(index)).is_member(),
            };
            assert_eq!(found, golden.is_member(index), "{}: key {index}", golden.name);
        }
        assert!(set.as_bytes() == golden.built().as_bytes(), "{} differs", golden.name);
    }
}
