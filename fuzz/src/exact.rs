//! Exact sets of any hashes, in groups. Every key of the universe gets its result, or the build
//! fails because a hash is on both sides. All ways to build a set give the same bytes.

use crate::{Hashes, all};
use ribbonfilter::{BuildError, Effort, ExactSet, ExactSetBuilder, Kernel, Membership};
use std::collections::HashMap;

/// Whether the effort is `Thorough`, and whether others may be members; runs of hashes, each with
/// its group and side.
pub type Input = (bool, bool, Vec<(u8, bool, Hashes)>);

/// Runs the target.
pub fn run(input: Input) {
    let (thorough, overlap, runs) = input;
    // Group, hash and side. Group 0 is the unnamed one.
    let keys: Vec<(u64, u64, bool)> = runs
        .iter()
        .take(8)
        .flat_map(|&(group, member, run)| {
            all(&[run]).into_iter().map(move |hash| (u64::from(group % 5), hash, member))
        })
        .collect();
    let builder = || -> ExactSetBuilder<'static> {
        let effort = if thorough { Effort::Thorough } else { Effort::Normal };
        ExactSet::builder().effort(effort).others_include_members(overlap)
    };
    let push = |builder: &mut ExactSetBuilder<'static>, &(group, hash, member): &_| match member {
        true => builder.push_member_hash_in(group, hash),
        false => builder.push_other_hash_in(group, hash),
    };
    let mut pushed = builder();
    keys.iter().for_each(|key| push(&mut pushed, key));
    let set = pushed.finish();

    let mut again = builder().threads(2).kernel(Kernel::by_name("portable").expect("there"));
    keys.iter().rev().for_each(|key| push(&mut again, key));
    let again = again.finish();

    let mut streamed = builder();
    keys.iter().filter(|key| key.2).for_each(|key| push(&mut streamed, key));
    let streamed = streamed.finish_with(|others| {
        for &(group, hash, _) in keys.iter().filter(|key| !key.2) {
            others.push_hash_in(group, hash);
        }
        Ok(())
    });

    let mut expected = HashMap::new();
    let mut conflict = false;
    for &(group, hash, member) in &keys {
        let before = expected.entry((group, hash)).or_insert(member);
        conflict |= *before != member;
        *before |= member;
    }
    if conflict && !overlap {
        for result in [set, again] {
            assert!(matches!(result, Err(BuildError::BothSides { .. })), "{result:?}");
        }
        // Found only after the filters are built.
        assert!(streamed.is_err(), "{streamed:?}");
        return;
    }
    let sets = match (set, again, streamed) {
        (Ok(set), Ok(again), Ok(streamed)) => {
            assert!(set.as_bytes() == again.as_bytes());
            [set, streamed]
        }
        // Hashes of different groups can collide, and any hashes can be unsolvable.
        (Err(one), Err(other), Err(third)) => {
            for error in [one, other, third] {
                let cause = matches!(error, BuildError::Collision | BuildError::Unsolvable { .. });
                assert!(cause, "{error:?}");
            }
            return;
        }
        differing => panic!("{differing:?}"),
    };
    for set in sets {
        set.verify().expect("just built");
        for (&(group, hash), &member) in &expected {
            assert_eq!(set.contains_hash_in_group(group, hash), Membership::from(member));
            assert!(group > 0 || set.contains_hash(hash) == member);
        }
    }
}
