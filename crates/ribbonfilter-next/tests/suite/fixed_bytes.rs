//! The bytes of fixed keys do not change unless the version of the format does, and every kernel
//! builds the same.
//!
//! Digests of all variants, widths and several numbers of columns, at sizes around changes of the
//! plan. If a test fails, either the change of the bytes is a bug, or it is intended: then replace the
//! digests with those that the test prints.

use crate::support::{Keys, random};
use ribbonfilter_next::{
    Effort, Filter, FilterBuilder, Function, FunctionBuilder, Kernel, Key, Shards, Split, Variant,
    Width,
};

/// The version of the format of these digests.
const VERSION: u8 = 2;

/// Numbers of keys around the limits of blocks, narrow systems, buckets, layers and pieces.
const SIZES: [u64; 16] =
    [0, 1, 2, 59, 60, 61, 124, 125, 196, 197, 500, 1025, 4097, 9001, 33_001, 66_001];
/// Numbers of keys around one segment.
const LARGE: [u64; 2] = [262_000, 300_000];
const COLUMNS: [f64; 5] = [0.6, 1.0, 3.7, 8.0, 12.25];

/// The digest of all filters of a variant and width.
const FILTERS: [(Variant, Width, u64); 6] = [
    (Variant::Standard, Width::W128, 0xfd36_4e0e_383a_2138),
    (Variant::Standard, Width::W192, 0x0e56_7615_4df6_3a87),
    (Variant::Standard, Width::W256, 0x7924_59db_1629_9829),
    (Variant::Bumped, Width::W128, 0xacc4_3b4d_938b_53f3),
    (Variant::Bumped, Width::W192, 0xba94_0e65_ba47_e7a1),
    (Variant::Bumped, Width::W256, 0xa0f5_b0d8_f01b_3c5b),
];
const CHOSEN: u64 = 0x1bbe_5ff7_4b23_04d0;
const LARGE_FILTERS: u64 = 0x9816_5790_fd9a_1bb0;
const FUNCTIONS: u64 = 0xaef3_3cf6_c72c_18d8;
const CONTAINERS: u64 = 0x5683_c3e0_0fce_0554;

/// A digest of a sequence of byte strings.
#[derive(Default, Debug, PartialEq)]
struct Digest(u64);

impl Digest {
    fn add(&mut self, bytes: &[u8]) {
        assert_eq!(bytes[bytes.len() - 3], VERSION);
        self.0 = [self.0, bytes.key_hash(0)].map(u64::to_le_bytes).concat().key_hash(0);
    }
}

/// Digests under every kernel; they must be the same.
fn digest(what: &str, add: impl Fn(&mut Digest, Kernel)) -> u64 {
    let digests = Kernel::available().map(|kernel| {
        let mut digest = Digest::default();
        add(&mut digest, kernel);
        (kernel, digest)
    });
    let digests: Vec<_> = digests.collect();
    let first = &digests[0].1;
    assert!(digests.iter().all(|(_, digest)| digest == first), "{what}: {digests:?}");
    first.0
}

fn compare(what: &str, found: u64, expected: u64) {
    assert!(found == expected, "{what}: other bytes than before: {found:#018x}");
}

/// Adds the filters of a builder for several numbers of keys.
fn add<'p>(
    digest: &mut Digest,
    kernel: Kernel,
    sizes: &[u64],
    builder: impl Fn() -> FilterBuilder<'p>,
) {
    for &keys in sizes {
        if builder().plan_for(keys).is_ok() {
            let mut builder = builder().kernel(kernel);
            builder.extend_hashes((0..keys).map(|index| Keys::Random.hash(index)));
            digest.add(builder.finish().expect("ordinary keys build").as_bytes());
        }
    }
}

#[test]
fn filters_of_every_kind() {
    let mut different = String::new();
    for (variant, width, expected) in FILTERS {
        let found = digest("filters", |digest, kernel| {
            for columns in COLUMNS {
                let builder = || Filter::builder().variant(variant).width(width).columns(columns);
                add(digest, kernel, &SIZES, builder);
            }
        });
        if found != expected {
            different += &format!("\n{variant} {width}: {found:#018x}");
        }
    }
    assert!(different.is_empty(), "other bytes than before:{different}");
}

/// Variant and width as the planner chooses them, for every target and effort.
#[test]
fn filters_as_they_are_planned() {
    let found = digest("planned", |digest, kernel| {
        for builder in [
            || Filter::builder(),
            || Filter::builder().fast(),
            || Filter::builder().fast().columns(3.5),
            || Filter::builder().bits_per_key(9.5),
            || Filter::builder().total_bytes(5000),
            || Filter::builder().false_positive_rate(0.3).overhead(0.1),
            || Filter::builder().effort(Effort::Thorough).columns(5.2),
            || Filter::builder().columns(32.0).key_seed(7),
        ] {
            add(digest, kernel, &SIZES, builder);
        }
    });
    compare("filters as planned", found, CHOSEN);
}

#[test]
fn filters_of_several_segments() {
    let found = digest("large", |digest, kernel| {
        for (variant, width, columns) in [
            (Variant::Standard, Width::W128, 2.3),
            (Variant::Standard, Width::W256, 9.0),
            (Variant::Bumped, Width::W128, 8.0),
            (Variant::Bumped, Width::W192, 3.4),
            (Variant::Bumped, Width::W256, 1.0),
        ] {
            let builder = || Filter::builder().variant(variant).width(width).columns(columns);
            add(digest, kernel, &LARGE, builder);
        }
        add(digest, kernel, &LARGE, || Filter::builder().fast());
    });
    compare("filters of several segments", found, LARGE_FILTERS);
}

#[test]
fn functions_of_every_kind() {
    let found = digest("functions", |digest, kernel| {
        for (keys, value_bits, fingerprint_bits) in [
            (0, 1, 0),
            (1, 5, 0),
            (60, 64, 0),
            (100, 33, 31),
            (1025, 16, 0),
            (1025, 17, 9),
            (5000, 3, 0),
            (9000, 8, 8),
            (70_000, 40, 0),
            (70_000, 1, 0),
            (300_000, 8, 0),
        ] {
            for variant in [None, Some(Variant::Standard), Some(Variant::Bumped)] {
                for width in [None, Some(Width::W128), Some(Width::W192), Some(Width::W256)] {
                    if keys > 10_000 && variant.is_some() == width.is_some() {
                        continue;
                    }
                    let mut builder = Function::builder().value_bits(value_bits);
                    builder = builder.fingerprint_bits(fingerprint_bits).kernel(kernel);
                    builder = variant.into_iter().fold(builder, FunctionBuilder::variant);
                    builder = width.into_iter().fold(builder, FunctionBuilder::width);
                    let value = |index| random(6, index) >> (64 - value_bits);
                    builder.extend((0..keys).map(|index| (index, value(index))));
                    digest.add(builder.finish().expect("ordinary keys build").as_bytes());
                }
            }
        }
    });
    compare("functions", found, FUNCTIONS);
}

#[test]
fn containers_shards_and_smaller_filters() {
    let found = digest("containers", |digest, kernel| {
        for (split, keys) in [
            (Split::ByHash { bits: 0 }, 3000),
            (Split::ByHash { bits: 3 }, 5000),
            (Split::ByHash { bits: 6 }, 40),
            (Split::ByHash { bits: 1 }, 150_000),
            (Split::FixedSize { bits: 3, bytes: 900 }, 5000),
        ] {
            let mut builder = Shards::builder(split).kernel(kernel);
            builder.extend(0..keys);
            digest.add(builder.finish().expect("ordinary keys build").as_bytes());
            let mut alone = Shards::builder(split).kernel(kernel).only(0).expect("a shard");
            alone.extend(0..keys);
            digest.add(alone.finish().expect("ordinary keys build").as_bytes());
        }
        for variant in [Variant::Standard, Variant::Bumped] {
            let mut builder = Filter::builder().variant(variant).columns(9.0).kernel(kernel);
            builder.extend(0..9000);
            let filter = builder.finish().expect("ordinary keys build");
            digest.add(filter.shrink_to_rate(0.02).expect("smaller").as_bytes());
            digest.add(filter.shrink_to_columns(2.5).expect("smaller").as_bytes());
            let parts = filter.split_columns(&[4, 5]).expect("two");
            parts.iter().for_each(|part| digest.add(part.as_bytes()));
        }
    });
    compare("containers", found, CONTAINERS);
}
