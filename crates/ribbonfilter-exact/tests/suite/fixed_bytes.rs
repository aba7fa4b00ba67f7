//! The same keys and settings give the same bytes in every version: digests of many sets.

use crate::support::random;
use ribbonfilter_exact::{Effort, ExactSet, Key};

const EXACT_SETS: u64 = 0x681c_0b45_fb2e_e9cd;

/// Sets of many fractions of members, and one of many groups.
#[test]
fn exact_sets() {
    let mut digest = 0u64;
    let mut add = |set: ExactSet| digest = (digest ^ set.as_bytes().key_hash(0)).rotate_left(7);
    for effort in [Effort::Normal, Effort::Thorough] {
        for (members, others) in
            [(0, 0), (1, 0), (1, 1), (1, 5000), (30, 20_000), (700, 6000), (4000, 4001), (9000, 40)]
        {
            let mut builder = ExactSet::builder().effort(effort);
            builder.extend_members(0..members);
            builder.extend_others(members..members + others);
            add(builder.finish().expect("ordinary keys build"));
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
    add(builder.finish().expect("ordinary keys build"));
    assert!(digest == EXACT_SETS, "exact sets: other bytes than before: {digest:#018x}");
}
