//! The bytes of fixed keys do not change unless the construction version does.
//!
//! Golden files (`golden.rs`) check this for a few sets in full. This test checks digests of many
//! more: every variant, width and several numbers of columns, at sizes around changes of the plan.
//! If this test fails, either the change of the bytes is a bug, or it is intended: then raise the
//! construction version and replace the digests with those that the test prints.

use crate::support::{Keys, build, builder, kinds, random};
use ribbonfilter::{Effort, ExactSet, Filter, Function, Key, Shards, Split, Variant, Width};

/// The construction version of these digests.
const CONSTRUCTION_VERSION: u8 = 1;

/// Numbers of keys around the limits of blocks, segments and layers.
const SIZES: [u64; 12] = [0, 1, 2, 63, 64, 65, 500, 1025, 4097, 9001, 33_001, 66_001];
const COLUMNS: [f64; 4] = [1.0, 3.7, 8.0, 12.25];

/// The digest of all filters of a variant and width.
const FILTERS: [(Variant, Width, u64); 15] = [
    (Variant::Standard, Width::W16, 0xcb0b_dd41_d204_0373),
    (Variant::Standard, Width::W32, 0x23a3_67ec_e6d5_10fb),
    (Variant::Standard, Width::W64, 0x38f3_f52c_6a49_f829),
    (Variant::Standard, Width::W128, 0xb472_2cca_eb7e_0774),
    (Variant::Homogeneous, Width::W16, 0xeb9f_0b27_17a1_ce72),
    (Variant::Homogeneous, Width::W32, 0x2f7b_a25c_34e7_dc47),
    (Variant::Homogeneous, Width::W64, 0x380d_ac5f_448d_2f1b),
    (Variant::Homogeneous, Width::W128, 0x1301_8abf_d121_8bc2),
    (Variant::Balanced, Width::W16, 0x891f_7b49_5180_553d),
    (Variant::Balanced, Width::W32, 0x209b_5da1_6a42_4015),
    (Variant::Balanced, Width::W64, 0xd95a_4086_195d_50d7),
    (Variant::Balanced, Width::W128, 0x3099_06c7_71fb_d2f2),
    (Variant::Bumped, Width::W32, 0x0800_7084_947c_1e0a),
    (Variant::Bumped, Width::W64, 0x7aa8_f81e_bffb_2c81),
    (Variant::Bumped, Width::W128, 0x0c76_19da_dc84_0321),
];

/// The digests with [`Effort::Thorough`], for the variants that it affects.
const THOROUGH_FILTERS: [(Variant, Width, u64); 7] = [
    (Variant::Standard, Width::W16, 0xce57_6557_a013_7faf),
    (Variant::Standard, Width::W32, 0xe2b7_ea17_d344_3339),
    (Variant::Standard, Width::W64, 0x8ef5_288d_511f_4f74),
    (Variant::Standard, Width::W128, 0x31b1_dc74_3d96_85da),
    (Variant::Bumped, Width::W32, 0x53ea_dfb5_3408_f145),
    (Variant::Bumped, Width::W64, 0x47c3_4e64_612b_58fe),
    (Variant::Bumped, Width::W128, 0x6b3d_07dd_894f_98b2),
];

const FUNCTIONS: u64 = 0x7cee_79ef_f8c1_aa98;
const CONTAINERS: u64 = 0x364e_a181_8aa3_2798;
const EXACT_SETS: u64 = 0xa387_9056_da84_17d8;

/// A digest of a sequence of byte strings.
#[derive(Default)]
struct Digest(u64);

impl Digest {
    fn add(&mut self, bytes: &[u8]) {
        self.0 = [self.0, bytes.key_hash(0)].map(u64::to_le_bytes).concat().key_hash(0);
    }
}

/// Every filter stores the version of its construction.
fn assert_version(bytes: &[u8]) {
    assert_eq!(bytes[bytes.len() - 9] >> 4, CONSTRUCTION_VERSION);
}

fn filters(variant: Variant, width: Width, effort: Effort) -> u64 {
    let mut digest = Digest::default();
    for keys in SIZES {
        for columns in COLUMNS {
            let builder = builder(variant, width, columns).effort(effort);
            if builder.plan_for(keys).is_ok() {
                let filter = build(builder, (0..keys).map(|index| Keys::Random.hash(index)));
                assert_version(filter.as_bytes());
                digest.add(filter.as_bytes());
            }
        }
    }
    digest.0
}

/// Compares all digests, and prints those that differ.
fn compare(digests: &[(Variant, Width, u64)], effort: Effort) {
    let mut different = String::new();
    for &(variant, width, expected) in digests {
        let found = filters(variant, width, effort);
        if found != expected {
            different += &format!("\n{variant} {width}: {found:#018x}");
        }
    }
    assert!(different.is_empty(), "other bytes than before:{different}");
}

#[test]
fn filters_of_every_kind() {
    assert_eq!(kinds(1).len(), FILTERS.len());
    compare(&FILTERS, Effort::Normal);
}

#[test]
fn thorough_filters() {
    compare(&THOROUGH_FILTERS, Effort::Thorough);
}

#[test]
fn functions_of_every_kind() {
    let mut digest = Digest::default();
    for (variant, width) in kinds(1) {
        for (keys, value_bits) in [(0, 1), (100, 64), (1025, 16), (5000, 3)] {
            let builder = Function::builder().variant(variant).width(width);
            let mut builder = builder.value_bits(value_bits).fingerprint_bits(0);
            if builder.plan_for(keys).is_ok() {
                let value = |index| random(6, index) >> (64 - value_bits);
                builder.extend((0..keys).map(|index| (index, value(index))));
                let function = builder.finish().expect("ordinary keys build");
                assert_version(function.as_bytes());
                digest.add(function.as_bytes());
            }
        }
    }
    assert!(digest.0 == FUNCTIONS, "functions: other bytes than before: {:#018x}", digest.0);
}

#[test]
fn containers_parts_and_smaller_filters() {
    let mut digest = Digest::default();
    for split in
        [Split::UntilFull, Split::ByHash { bits: 3 }, Split::FixedSize { bits: 3, bytes: 900 }]
    {
        let mut builder = Shards::builder(split);
        builder.extend(0..5000);
        let shards = builder.finish().expect("ordinary keys build");
        assert_version(shards.as_bytes());
        digest.add(shards.as_bytes());
    }
    let mut builder = Filter::builder().columns(9.0);
    builder.extend(0..9000);
    let filter = builder.finish().expect("ordinary keys build");
    filter.cut(5).expect("parts").iter().for_each(|part| digest.add(part.as_bytes()));
    digest.add(filter.shrink_to_rate(0.02).expect("smaller").as_bytes());
    filter.split_columns(&[4, 5]).expect("two").iter().for_each(|part| digest.add(part.as_bytes()));
    assert!(digest.0 == CONTAINERS, "containers: other bytes than before: {:#018x}", digest.0);
}

/// Exact sets of many fractions of members, and one of many groups.
#[test]
fn exact_sets() {
    let mut digest = Digest::default();
    for effort in [Effort::Normal, Effort::Thorough] {
        for (members, others) in
            [(0, 0), (1, 0), (1, 1), (1, 5000), (30, 20_000), (700, 6000), (4000, 4001), (9000, 40)]
        {
            let mut builder = ExactSet::builder().effort(effort);
            builder.extend_members(0..members);
            builder.extend_others(members..members + others);
            let set = builder.finish().expect("ordinary keys build");
            assert_version(set.as_bytes());
            digest.add(set.as_bytes());
        }
    }
    let mut builder = ExactSet::builder();
    for index in 0..100_000 {
        let group = index % 61;
        match random(7, index) % 2000 < group * group {
            true => builder.push_member_in(group, index),
            false => builder.push_other_in(group, index),
        }
    }
    digest.add(builder.finish().expect("ordinary keys build").as_bytes());
    assert!(digest.0 == EXACT_SETS, "exact sets: other bytes than before: {:#018x}", digest.0);
}
