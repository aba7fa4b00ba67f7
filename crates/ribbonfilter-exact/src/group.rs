//! The label of a group.

/// An odd number, the fractional bits of the square root of 59.
const GROUP: u64 = 0xae5f_9156_e7b6_d99b;

/// The hash of the unnamed group, and its label.
pub(crate) const UNNAMED: u64 = 0;

/// The label of a group, which is mixed into the hashes of its keys, and listed in the set.
///
/// Both hashes are made by the same function, so that plain exclusive or would confuse the key "b"
/// of the group "a" with the key "a" of the group "b". Multiplying one of them by an odd number
/// keeps different groups apart for any key, and different keys for any group.
#[inline]
pub(crate) const fn label(group_hash: u64) -> u64 {
    group_hash.wrapping_mul(GROUP)
}
