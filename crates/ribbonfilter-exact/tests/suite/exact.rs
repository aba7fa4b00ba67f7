//! Exact sets: every key of the universe gets its result, in every form of building one.

use crate::support::{Keys, kernel, random, scale};
use proptest::prelude::*;
use ribbonfilter::Filter;
use ribbonfilter_exact::{
    BuildError, Effort, ExactError, ExactSet, ExactSetBuilder, Key, Kind, Membership, OpenError,
};
use std::cell::Cell;
use std::collections::HashSet;
use std::ops::ControlFlow;

/// Numbers of members in a thousand keys of the universe.
const FRACTIONS: [u64; 7] = [0, 1, 10, 100, 500, 900, 1000];

/// Whether the key is one of `fraction` in a thousand.
fn is_member(index: u64, fraction: u64) -> bool {
    random(40, index) % 1000 < fraction
}

fn builder() -> ExactSetBuilder<'static> {
    ExactSet::builder().kernel(kernel())
}

/// The set of the first `universe` keys of a kind.
fn pushed(builder: ExactSetBuilder<'_>, keys: Keys, universe: u64, fraction: u64) -> ExactSet {
    let mut builder = builder;
    for index in 0..universe {
        match is_member(index, fraction) {
            true => builder.push_member_hash(keys.hash(index)),
            false => builder.push_other_hash(keys.hash(index)),
        }
    }
    builder.finish().expect("ordinary keys build").with_kernel(kernel())
}

/// Every key, alone and in batches.
fn assert_exact(set: &ExactSet, keys: Keys, universe: u64, fraction: u64) {
    set.verify().expect("just built");
    let hashes: Vec<u64> = (0..universe).map(|index| keys.hash(index)).collect();
    let batch = set.contains_hash_batch(&hashes);
    let mut members = 0;
    for (index, (&hash, hit)) in (0..).zip(hashes.iter().zip(batch)) {
        let expected = is_member(index, fraction);
        assert_eq!(set.contains_hash(hash), expected, "key {index} of {set:?}");
        assert_eq!(hit, expected, "key {index} in a batch of {set:?}");
        members += u64::from(expected);
    }
    assert_eq!((set.len(), set.universe_len()), (members, universe));
}

#[test]
fn every_key_of_the_universe_is_right() {
    for universe in scale(vec![1000, 20_000], vec![1000, 100_000], vec![1000, 100_000, 10_000_000])
    {
        for fraction in FRACTIONS {
            // Strings take long to make, and are hashed like integers.
            let all = if universe > 100_000 { &Keys::ALL[..3] } else { &Keys::ALL[..] };
            for &keys in all {
                let set = pushed(builder(), keys, universe, fraction);
                assert_exact(&set, keys, universe, fraction);
            }
        }
    }
}

/// The groups of a skewed universe: most keys are in few groups, whose fractions of members differ
/// by orders of magnitude. Group 0 has no name.
fn group_of(index: u64) -> u64 {
    let dice = random(41, index);
    (dice % 40) * (dice >> 32) % 40 * (dice >> 48) % 40
}

fn is_member_in(group: u64, index: u64) -> bool {
    let fraction = match group % 8 {
        0 => 5,
        1 => 0,
        2 => 1000,
        3 => 900,
        4 => 1,
        5 => 100,
        6 => 500,
        _ => 20,
    };
    is_member(index, fraction)
}

fn push_in(builder: &mut ExactSetBuilder<'_>, index: u64) {
    let group = group_of(index);
    match (group, is_member_in(group, index)) {
        (0, true) => builder.push_member(index),
        (0, false) => builder.push_other(index),
        (_, true) => builder.push_member_in(group, index),
        (_, false) => builder.push_other_in(group, index),
    }
}

fn assert_exact_in_groups(set: &ExactSet, universe: u64) {
    set.verify().expect("just built");
    let mut groups = HashSet::new();
    for index in 0..universe {
        let group = group_of(index);
        groups.insert(group);
        let expected = is_member_in(group, index);
        if group == 0 {
            assert_eq!(set.contains(index), expected, "key {index}");
            assert_eq!(set.contains_hash_in_group(0, index.key_hash(0)).is_member(), expected);
        } else {
            assert_eq!(set.contains_in(group, index), expected.into(), "key {index} of {group}");
        }
    }
    assert_eq!(set.groups(), groups.len() as u64);
    assert_eq!(set.universe_len(), universe);
    assert_eq!(set.contains_in("nobody", 1), Membership::UnknownGroup);
    assert_eq!(set.contains_batch_in("nobody", &[1]), None);
    assert_eq!(set.expected_rate_in("nobody"), None);
}

#[test]
fn every_key_of_every_group_is_right() {
    for universe in scale(vec![1000, 20_000], vec![1000, 100_000], vec![1000, 100_000, 10_000_000])
    {
        let mut builder = builder();
        (0..universe).for_each(|index| push_in(&mut builder, index));
        let set = builder.finish().expect("ordinary keys build");
        assert_exact_in_groups(&set, universe);
        // The same with a second pass over the others, and in the opposite order.
        let all = |members: bool| {
            let indices = (0..universe).rev().filter(|&index| group_of(index) > 0);
            indices
                .filter(move |&index| is_member_in(group_of(index), index) == members)
                .map(|index| (group_of(index), index))
        };
        let mut rest = self::builder();
        for index in (0..universe).filter(|&index| group_of(index) == 0) {
            push_in(&mut rest, index);
        }
        let again = rest.build_with_groups(all(true), || all(false)).expect("the same keys build");
        assert!(again == set, "{again:?}, but {set:?}");
    }
}

#[test]
fn groups_in_batches_are_those_alone() {
    let mut builder = builder();
    (0..20_000).for_each(|index| push_in(&mut builder, index));
    let set = builder.finish().expect("ordinary keys build");
    for group in 1..40u64 {
        let keys: Vec<u64> = (0..20_000).filter(|&index| group_of(index) == group).collect();
        let alone = keys.iter().map(|&key| set.contains_in(group, key));
        let hits = set.contains_batch_in(group, &keys);
        if keys.is_empty() {
            assert_eq!(hits, None);
            continue;
        }
        let hits = hits.expect("a known group");
        assert!(alone.eq(hits.into_iter().map(Membership::from)), "{group}");
    }
}

#[test]
fn groups_of_one_side_take_four_bytes_and_a_fifth() {
    let size = |groups: u64| {
        let mut builder = builder();
        builder.extend_members_in("both", 0..100);
        builder.extend_others_in("both", 100..2000);
        for group in 0..groups {
            match group % 2 {
                0 => builder.extend_members_in(group, 0..50),
                _ => builder.extend_others_in(group, 0..50),
            }
        }
        builder.finish().expect("ordinary keys build").size_in_bytes()
    };
    // 101 groups have 27 buckets of 16 bytes; a single named group has one.
    assert_eq!(size(100), size(0) + 26 * 16);
}

/// The same key may be a member of one group and not of another, and group and key are not
/// interchangeable.
#[test]
fn a_key_is_a_group_and_a_key() {
    let names = ["", "a", "b", "ab", "aa", "ba"];
    let member = |group: &str, key: &str| group.len() > key.len() || group < key;
    let mut builder = builder();
    for group in names {
        for key in names {
            match member(group, key) {
                true => builder.push_member_in(group, key),
                false => builder.push_other_in(group, key),
            }
        }
    }
    let set = builder.finish().expect("no two keys are one");
    for group in names {
        for key in names {
            assert_eq!(set.contains_in(group, key), member(group, key).into(), "{group} {key}");
        }
    }
    // The empty name is a name.
    assert!(!set.contains("a"));
    assert_eq!(set.expected_rate(), 0.0);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(scale(64, 256, 2048)))]

    /// Against a set of the standard library, with groups, duplicates and any order.
    #[test]
    fn agrees_with_a_hash_set(
        keys in prop::collection::vec((0u8..4, 0u16..600, any::<bool>()), 0..800),
        seed: u64,
        thorough: bool,
    ) {
        let members: HashSet<(u8, u16)> =
            keys.iter().filter(|key| key.2).map(|key| (key.0, key.1)).collect();
        let effort = if thorough { Effort::Thorough } else { Effort::Normal };
        let mut builder = ExactSet::builder().key_seed(seed).effort(effort);
        for &(group, key, _) in &keys {
            let is_member = members.contains(&(group, key));
            match (group, is_member) {
                (0, true) => builder.push_member(key),
                (0, false) => builder.push_other(key),
                (_, true) => builder.push_member_in(group, key),
                (_, false) => builder.push_other_in(group, key),
            }
        }
        let set = builder.finish().expect("ordinary keys build");
        let set = ExactSet::open(set.as_bytes()).expect("just built");
        prop_assert_eq!(set.len(), members.len() as u64);
        for &(group, key, _) in &keys {
            let expected = members.contains(&(group, key));
            if group == 0 {
                prop_assert_eq!(set.contains(key), expected);
            } else {
                prop_assert_eq!(set.contains_in(group, key), expected.into());
            }
        }
    }
}

/// All ways to build the same set give the same bytes.
#[test]
fn order_duplicates_threads_and_memory_change_nothing() {
    let universe = scale(20_000, 200_000, 1_000_000);
    for fraction in [10, 900] {
        let expected = pushed(builder(), Keys::Integers, universe, fraction);
        let reversed = {
            let mut builder = builder().threads(3);
            for index in (0..universe).rev().chain(0..universe / 2) {
                match is_member(index, fraction) {
                    true => builder.push_member(index),
                    false => builder.push_other(index),
                }
            }
            builder.finish().expect("the same keys build")
        };
        assert!(reversed == expected, "{fraction}");
        let members = || (0..universe).filter(|&index| is_member(index, fraction));
        let others = || (0..universe).rev().filter(|&index| !is_member(index, fraction));
        let twice = builder().build_with(members().chain(members()), others);
        assert!(twice.expect("the same keys build") == expected, "{fraction}");
        let universe = || 0..universe;
        let include = builder().others_include_members(true);
        let within = include.build_with(members(), universe).expect("the same keys build");
        assert!(within == expected, "{fraction}");
        let mut include = builder().others_include_members(true);
        include.extend_members(members());
        include.extend_others(universe());
        assert!(include.finish().expect("the same keys build") == expected, "{fraction}");
    }
}

#[cfg(feature = "std")]
#[test]
fn spilled_keys_give_the_same_bytes() {
    let universe = scale(100_000, 400_000, 4_000_000);
    // Groups have 16 bytes per key, and the function 32 per stored key.
    for (limit, grouped) in [(universe * 4, false), (universe * 7, true)] {
        let push = |builder: &mut ExactSetBuilder<'_>| {
            for index in (0..universe).chain(0..universe / 3) {
                match grouped {
                    true => builder.push_other_in(index % 5, index),
                    false => builder.push_other(index),
                }
            }
            for index in universe..universe + universe / 100 {
                match grouped {
                    true => builder.push_member_in(index % 4, index),
                    false => builder.push_member(index),
                }
            }
        };
        let (mut here, mut spilling) = (builder(), builder().max_memory(limit));
        spilling = spilling.spill_to(std::env::temp_dir());
        push(&mut here);
        push(&mut spilling);
        let (here, spilled) = (here.finish(), spilling.finish());
        assert!(here.expect("memory") == spilled.expect("a directory"), "{grouped}");
        let mut refused = builder().max_memory(limit);
        push(&mut refused);
        match refused.finish() {
            Err(ExactError::Build(BuildError::MemoryLimit { needed, limit: reported })) => {
                assert!(needed > limit && reported == limit);
            }
            other => panic!("{other:?}"),
        }
        // A key on both sides is found among spilled keys, too, or counts as a member.
        let mut conflict = builder().max_memory(limit).spill_to(std::env::temp_dir());
        push(&mut conflict);
        match grouped {
            true => conflict.push_member_in(3, 8),
            false => conflict.push_member(8),
        }
        let mut overlapping = builder().max_memory(limit).spill_to(std::env::temp_dir());
        overlapping = overlapping.others_include_members(true);
        push(&mut overlapping);
        match grouped {
            true => overlapping.push_member_in(3, 8),
            false => overlapping.push_member(8),
        }
        assert!(matches!(conflict.finish(), Err(ExactError::BothSides { .. })));
        let set = overlapping.finish().expect("8 is a member");
        let found = if grouped { set.contains_in(3, 8).is_member() } else { set.contains(8) };
        assert!(found, "{grouped}");
    }
}

#[test]
fn a_key_on_both_sides_is_refused() {
    let both = |result: Result<ExactSet, ExactError>, expected: u64| match result {
        Err(error @ ExactError::BothSides { key_hash }) => {
            assert_eq!(key_hash, expected);
            let text = error.to_string();
            assert!(text.contains("key_seed") && text.contains("one side"), "{text}");
        }
        other => panic!("{other:?}"),
    };
    let hash = 700.key_hash(0);
    // Few members or few others, so that either side is stored.
    for (members, others) in [(700..710, 0..701), (0..701, 700..720), (0..701, 700..1500)] {
        both(ExactSet::build(members.clone(), others.clone()), hash);
        both(builder().build_with(members.clone(), || others.clone()), hash);
        let mut builder = builder();
        builder.extend_members_in("g", members.clone());
        builder.extend_others_in("g", others.clone());
        assert!(matches!(builder.finish(), Err(ExactError::BothSides { .. })));
        let pairs = |keys: std::ops::Range<i32>| keys.map(|key| ("g", key));
        let built = self::builder().build_with_groups(pairs(members), || pairs(others.clone()));
        assert!(matches!(built, Err(ExactError::BothSides { .. })));
    }
}

/// Keys of different groups whose hashes collide.
#[test]
fn a_collision_of_groups_is_refused() {
    // The hash of a key in a group, as `docs/format.md` defines it.
    let group = 5u64.wrapping_mul(0xae5f_9156_e7b6_d99b);
    let build = |collide: bool| {
        let mut builder = builder();
        builder.extend_member_hashes(0..100);
        builder.extend_other_hashes(100..200);
        (0..100).for_each(|hash| builder.push_member_hash_in(5, hash));
        (100..200).for_each(|hash| builder.push_other_hash_in(5, hash));
        builder.push_other_hash_in(5, if collide { group ^ 7 } else { 200 });
        builder.finish()
    };
    assert!(build(false).is_ok());
    match build(true) {
        Err(error @ ExactError::Collision) => assert!(error.to_string().contains("key_seed")),
        other => panic!("{other:?}"),
    }
}

#[test]
fn others_that_change_are_refused() {
    let mut calls = 0;
    let mut builder = builder();
    builder.extend_members(0..10);
    let changed = builder.finish_with(|others| {
        calls += 1;
        (100..200 + calls).for_each(|key| others.push(key));
        Ok(())
    });
    assert!(matches!(changed, Err(ExactError::OthersChanged { first: 101, later: 102 })));
    let failing = self::builder().finish_with(|_| Err(std::io::Error::other("no disk").into()));
    assert!(matches!(failing, Err(ExactError::Build(BuildError::Io(_)))));
}

/// Given numbers spare a pass and change nothing; wrong ones are an error, also if only the groups
/// are wrong: a group without others would be stored as if all its keys were members.
#[test]
fn expected_numbers_of_others_are_checked() {
    let build = |expected: &[(&str, u64)]| {
        let (mut builder, mut calls) = (builder(), 0);
        for group in ["a", "b"] {
            builder.extend_members_in(group, 0..50);
        }
        expected.iter().for_each(|&(group, count)| builder.expect_others_in(group, count));
        let built = builder.finish_with(|others| {
            calls += 1;
            (50..1000).for_each(|key| others.push_in("a", key));
            Ok(())
        });
        (built, calls)
    };
    let (counted, calls) = build(&[]);
    assert_eq!(calls, 2);
    let (expected, calls) = build(&[("a", 900), ("a", 50), ("b", 0)]);
    assert_eq!(calls, 1);
    assert!(expected.expect("a set") == counted.expect("a set"));
    for wrong in [("a", 949), ("a", 951), ("b", 950), ("c", 950)] {
        let (built, _) = build(&[wrong]);
        assert!(matches!(built, Err(ExactError::OthersChanged { later: 950, .. })), "{wrong:?}");
    }
    let mut builder = builder();
    builder.expect_others_in("a", 1);
    let late = builder.key_seed(5).finish();
    assert!(matches!(late, Err(ExactError::Build(BuildError::TooLate { setting: "key_seed" }))));
}

/// Others are read only as often as necessary: to count them, to store them in a filter where they
/// are the smaller side, and to find those that pass where the members are.
#[test]
fn others_are_read_only_if_necessary() {
    for (few_members, few_others, expected) in [(true, false, 2), (false, true, 2), (true, true, 3)]
    {
        let (mut builder, mut calls) = (builder(), 0);
        let mut universe = Vec::new();
        for (group, wanted, members) in [("a", few_members, 0..20), ("b", few_others, 0..980)] {
            if wanted {
                builder.extend_members_in(group, members.clone());
                universe.push((group, members));
            }
        }
        let set = builder.finish_with(|others| {
            calls += 1;
            for (group, members) in &universe {
                (members.end..1000).for_each(|key| others.push_in(*group, key));
            }
            Ok(())
        });
        assert_eq!(calls, expected, "{few_members} {few_others}");
        let set = set.expect("a set");
        for (group, members) in universe {
            for key in 0..1000 {
                assert_eq!(set.contains_in(group, key).is_member(), members.contains(&key));
            }
        }
    }
}

/// The others may include members, even if not all of them are among the others.
#[test]
fn members_among_the_others_are_members() {
    for (members, others) in [
        (0..100, 50..1000),
        (0..1000, 900..1100),
        (0..10, 0..10),
        (0..5000, 0..5000),
        (0..100, 100..105),
    ] {
        let include = || builder().others_include_members(true);
        let set = include().build_with(members.clone(), || others.clone()).expect("no conflict");
        let mut pushed = include();
        pushed.extend_members(members.clone());
        pushed.extend_others(others.clone());
        for set in [set, pushed.finish().expect("no conflict")] {
            assert!(members.clone().all(|key| set.contains(key)));
            let rest = others.clone().filter(|key| !members.contains(key));
            assert!(rest.into_iter().all(|key| !set.contains(key)), "{members:?} {others:?}");
        }
    }
}

/// Others that are all members are found only when they are read again: their group stores nothing,
/// alone or beside a group whose others are in the same filter.
#[test]
fn a_group_of_members_alone_stores_nothing() {
    for groups in 1..=2 {
        let mut include = builder().others_include_members(true);
        (0..groups).for_each(|group| (0..5000).for_each(|key| include.push_member_in(group, key)));
        let set = include.finish_with(|others| {
            (0..5000).for_each(|key| others.push_in(0, key));
            (1..groups).for_each(|group| (4999..5001).for_each(|key| others.push_in(group, key)));
            Ok(())
        });
        let set = set.expect("a set");
        set.verify().expect("just built");
        assert_eq!(set.universe_len(), 5000 * groups + (groups - 1));
        for key in 0..5001 {
            assert!(key == 5000 || set.contains_in(0, key).is_member());
            assert!(groups == 1 || set.contains_in(1, key).is_member() == (key < 5000));
        }
    }
}

/// The same for groups that are too small for a filter, whose others are found only when the function
/// is built: the bytes are those of pushed keys.
#[test]
fn a_small_group_of_members_alone_stores_nothing() {
    for keys in [1, 2, 10, 50, 99, 100, 1000] {
        let include = || builder().others_include_members(true);
        let set = include().build_with(0..keys, || 0..keys).expect("a set");
        let mut pushed = include();
        pushed.extend_members(0..keys);
        pushed.extend_others(0..keys);
        let pushed = pushed.finish().expect("a set");
        assert_eq!((set.universe_len(), set.size_in_bytes()), (keys, 40), "{keys} keys");
        assert!(set == pushed && set.expected_rate() == 1.0, "{keys} keys");
        // Beside a group that has others: those of both are counted.
        let members = (0..keys).map(|key| (0, key)).chain([(1, 0), (1, 1)]);
        let universe = || (0..keys).map(|key| (0, key)).chain((0..9).map(|key| (1, key)));
        let set = include().build_with_groups(members, universe).expect("a set");
        assert_eq!((set.len(), set.universe_len()), (keys + 2, keys + 9));
        for (group, key) in universe() {
            assert_eq!(set.contains_in(group, key).is_member(), group == 0 || key < 2);
        }
    }
}

/// Whether members are among the others or not, the set is that of the distinct keys.
#[test]
fn a_universe_without_its_members_has_the_same_bytes() {
    for (members, others) in [(20_000, 20_000), (20_000, 18_000), (20_000, 500), (100, 20_000)] {
        let others = members..members + others;
        let expected = ExactSet::build(0..members, others.clone()).expect("no conflict");
        for first in [0, members / 2, members] {
            let include = builder().others_include_members(true);
            let universe = || first..others.end;
            let set = include.build_with(0..members, universe).expect("no conflict");
            assert!((0..others.end).all(|key| set.contains(key) == (key < members)));
            // Where the others are the larger side, they are counted but not kept, so all members are
            // taken to be among them.
            if others.len() < members as usize || first == 0 {
                assert_eq!(set.as_bytes(), expected.as_bytes(), "{members} {others:?} {first}");
            }
        }
    }
}

/// Keys without a group are in no stage of a set whose only group has a name.
#[test]
fn the_only_group_may_have_a_name() {
    let mut named = builder();
    named.extend_members_in("group", 0..40_000);
    named.extend_others_in("group", 40_000..240_000);
    let set = named.finish().expect("no conflict");
    let keys: Vec<u32> = (0..240_000).collect();
    assert!(keys.iter().all(|key| !set.contains(key)));
    assert!(set.contains_batch(&keys).iter().all(|hit| !hit));
    let hits = set.contains_batch_in("group", &keys).expect("a known group");
    for (&key, hit) in keys.iter().zip(hits) {
        assert_eq!((hit, set.contains_in("group", key).is_member()), (key < 40_000, key < 40_000));
    }
    assert_eq!(set.expected_rate(), 0.0);
}

/// After a cancellation no further keys are read, not even endless ones.
#[test]
fn a_cancelled_pass_ends() {
    let cancelled = || builder().progress(|_| ControlFlow::Break(()));
    assert!(matches!(
        cancelled().build_with(0..10, || 10..),
        Err(ExactError::Build(BuildError::Cancelled))
    ));
    let members = (0..10).map(|key| (1, key));
    let set = cancelled().build_with_groups(members, || (10..).map(|key| (1, key)));
    assert!(matches!(set, Err(ExactError::Build(BuildError::Cancelled))));
    let mut many = builder();
    many.push_other(1);
    many.expect_others(u64::MAX);
    assert!(matches!(
        many.build_with([2], || [3]),
        Err(ExactError::Build(BuildError::TooManyKeys { .. }))
    ));
}

#[test]
fn either_side_may_be_empty() {
    let nobody: [u64; 0] = [];
    let set = ExactSet::build(nobody, nobody).expect("nothing to do");
    assert_eq!((set.len(), set.universe_len(), set.size_in_bytes()), (0, 0, 40));
    assert!(!set.contains(1) && set.is_empty());
    let set = ExactSet::build(nobody, 0..1000).expect("nothing to do");
    assert_eq!((set.universe_len(), set.size_in_bytes()), (1000, 40));
    assert!((0..1000).all(|key| !set.contains(key)));
    let set = ExactSet::build(0..1000, nobody).expect("nothing to do");
    assert_eq!((set.len(), set.size_in_bytes()), (1000, 40));
    assert!((0..1000).all(|key| set.contains(key)));
    assert_eq!(set.expected_rate(), 1.0);
    assert_eq!(set.lower_bound_bits(), 0.0);
}

#[test]
fn settings_are_checked() {
    let mut late = builder();
    late.push_other("ada");
    assert!(matches!(
        late.key_seed(1).finish(),
        Err(ExactError::Build(BuildError::TooLate { .. }))
    ));
    let mut cancelled = builder().progress(|_| ControlFlow::Break(()));
    cancelled.extend_members(0..10);
    cancelled.extend_others(10..1000);
    assert!(matches!(cancelled.finish(), Err(ExactError::Build(BuildError::Cancelled))));
    let cancelled = builder().progress(|_| ControlFlow::Break(()));
    assert!(matches!(
        cancelled.build_with(0..10, || 10..1000),
        Err(ExactError::Build(BuildError::Cancelled))
    ));
    let many = builder().plan_for(u64::MAX, u64::MAX);
    assert!(matches!(many, Err(ExactError::Build(BuildError::TooManyKeys { .. }))));
}

#[test]
fn plans_are_kept() {
    for (members, others) in
        [(1000, 99_000), (9000, 1000), (5000, 5000), (10, 100_000), (0, 5), (3, 4)]
    {
        let plan = builder().plan_for(members, others).expect("a plan");
        let set = ExactSet::build(0..members, members..members + others).expect("ordinary keys");
        let size = set.size_in_bytes() as u64;
        assert!(size <= plan.max_size(), "{plan:?} {size}");
        let (expected, max) = (plan.expected_size(), plan.max_size());
        assert!(size >= expected - (max - expected), "{plan:?} {size}");
        assert!((plan.lower_bound_bits() - set.lower_bound_bits()).abs() <= 0.04);
        assert_eq!((plan.members(), plan.others()), (members, others));
    }
}

/// Keys outside the universe are members as often as the set says.
#[test]
fn the_rate_outside_the_universe_is_the_expected_one() {
    for fraction in [1, 10, 100, 500, 900] {
        let set = pushed(builder(), Keys::Integers, 100_000, fraction);
        let probes = scale(50_000, 400_000, 4_000_000);
        let found = (0..probes).filter(|&probe| set.contains_hash(random(42, probe))).count();
        let expected = set.expected_rate() * probes as f64;
        let rare = set.expected_rate().min(1.0 - set.expected_rate()) * probes as f64;
        // The function is a random one, whose mean deviates from one half, too: more so if small.
        let noise = 6.0 * rare.sqrt() + 0.05 * rare;
        assert!((found as f64 - expected).abs() < noise, "{fraction}: {found}, {expected}");
    }
}

#[test]
fn other_kinds_are_named() {
    let filter = Filter::build(["ada"], 0.01).expect("a key");
    let set = ExactSet::build(["ada"], ["grace"]).expect("two keys");
    match ExactSet::open(filter.as_bytes()) {
        Err(OpenError::WrongKind { expected, found }) => {
            assert_eq!((expected, found), (Kind::ExactSet, Kind::Filter));
        }
        other => panic!("{other:?}"),
    }
    let error = Filter::open(set.as_bytes()).expect_err("another kind").to_string();
    assert!(error.starts_with("the bytes hold an exact set, not a filter"), "{error}");
    assert!(ribbonfilter::Function::open(set.as_bytes()).is_err());
}

#[test]
fn copies_are_equal_and_files_can_be_opened() {
    let set = pushed(builder(), Keys::Integers, 5000, 100);
    let view = ExactSet::open(set.as_bytes()).expect("just built");
    assert!(view == set && set.clone() == set && *set.as_ref() == *view.as_bytes());
    assert!(format!("{set:?}").contains("universe_len: 5000"));
    let path = std::env::temp_dir().join(format!("ribbon-exact-{}", std::process::id()));
    let mut bytes = Vec::new();
    let mut again = builder();
    again.extend_members((0..5000).filter(|&index| is_member(index, 100)));
    again.extend_others((0..5000).filter(|&index| !is_member(index, 100)));
    assert_eq!(again.finish_to(&mut bytes).expect("memory"), set.size_in_bytes() as u64);
    std::fs::write(&path, &bytes).expect("a writable directory");
    assert!(ExactSet::open_file(&path).expect("a file") == set);
    #[cfg(feature = "mmap")]
    {
        #[expect(unsafe_code, reason = "a map is sound as long as its file does not change")]
        // SAFETY: nobody else knows the file.
        let bytes = unsafe { ribbonfilter_exact::MappedBytes::map_file(&path) }.expect("a file");
        let mapped = ExactSet::open(bytes).expect("intact");
        assert!(mapped == set && mapped.contains(17) == set.contains(17));
    }
    std::fs::remove_file(&path).expect("the file");
    // The bytes may be at any address.
    let shifted = [&[0], &bytes[..]].concat();
    let shifted = ExactSet::open(&shifted[1..]).expect("the same bytes");
    assert!((0..5000).all(|index: u64| shifted.contains(index) == is_member(index, 100)));
}

/// The way to ship updates that `docs/exact.md` describes: a small set of all keys for which the
/// old one is wrong.
#[test]
fn a_set_of_the_changes_corrects_the_old_one() {
    let (before, today) =
        (0..scale(20_000, 200_000, 2_000_000), 5000..scale(21_000, 220_000, 2_200_000));
    let was_member = |key: &u64| is_member(*key, 10);
    let is_member_today = |key: &u64| was_member(key) || is_member(key ^ 1 << 50, 1);
    let (members, others): (Vec<u64>, Vec<u64>) = before.partition(was_member);
    let base = ExactSet::build(members, others).expect("ordinary keys build");
    let wrong = |key: &u64| base.contains(key) != is_member_today(key);
    let changes = builder()
        .build_with(today.clone().filter(wrong), || today.clone().filter(|key| !wrong(key)))
        .expect("ordinary keys build");
    for key in today {
        assert_eq!(base.contains(key) != changes.contains(key), is_member_today(&key), "{key}");
    }
    assert!(changes.size_in_bytes() < base.size_in_bytes() / 2, "{changes:?} {base:?}");
}

/// Bytes that become shorter after they were opened: no panic, and no members without bytes.
#[test]
fn bytes_that_become_shorter_do_no_harm() {
    struct Shortened<'a>(&'a [u8], &'a Cell<usize>);
    impl AsRef<[u8]> for Shortened<'_> {
        fn as_ref(&self) -> &[u8] {
            &self.0[..self.1.get()]
        }
    }
    let keys: Vec<u64> = (0..20_500).collect();
    for grouped in [false, true] {
        let mut builder = builder();
        match grouped {
            true => keys.iter().for_each(|&key| match key < 500 {
                true => builder.push_member_in(key % 8, key),
                false => builder.push_other_in(key % 8, key),
            }),
            false => keys.iter().for_each(|&key| match key < 500 {
                true => builder.push_member(key),
                false => builder.push_other(key),
            }),
        }
        let set = builder.finish().expect("ordinary keys build");
        let len = Cell::new(set.size_in_bytes());
        let set = ExactSet::open(Shortened(set.as_bytes(), &len)).expect("just built");
        for shorter in [len.get() - 1, len.get() - 41, len.get() / 2, 1, 0] {
            len.set(shorter);
            let batch = set.contains_batch(&keys);
            assert!(keys.iter().zip(batch).all(|(&key, hit)| set.contains(key) == hit));
            let alone = keys.iter().map(|&key| set.contains_in(3, key));
            let members = alone.filter(|result| result.is_member()).count();
            if let Some(hits) = set.contains_batch_in(3, &keys) {
                assert_eq!(hits.iter().filter(|&&hit| hit).count(), members);
            }
            assert!(shorter > 1 || members == 0 && !keys.iter().any(|&key| set.contains(key)));
        }
    }
}
