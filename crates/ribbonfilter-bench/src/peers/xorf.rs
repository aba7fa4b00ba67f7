//! xorf: Xor filters and binary fuse filters, of 8 and 16 bits.

use crate::race::{Family, Peer, peer};
use xorf::{BinaryFuse8, BinaryFuse16, Filter, Xor8, Xor16};

pub fn eight() -> Vec<Box<dyn Peer>> {
    vec![
        peer(
            "xorf BinaryFuse8",
            Family::BinaryFuse,
            |keys| {
                let filter = BinaryFuse8::try_from(keys).expect("random keys build");
                let bytes = filter.fingerprints.len();
                (filter, bytes.into())
            },
            |filter, key| filter.contains(&key),
        ),
        peer(
            "xorf Xor8",
            Family::Xor,
            |keys| {
                let filter = Xor8::from(keys);
                let bytes = filter.fingerprints.len();
                (filter, bytes.into())
            },
            |filter, key| filter.contains(&key),
        ),
    ]
}

pub fn sixteen() -> Vec<Box<dyn Peer>> {
    vec![
        peer(
            "xorf BinaryFuse16",
            Family::BinaryFuse,
            |keys| {
                let filter = BinaryFuse16::try_from(keys).expect("random keys build");
                let bytes = filter.fingerprints.len() * 2;
                (filter, bytes.into())
            },
            |filter, key| filter.contains(&key),
        ),
        peer(
            "xorf Xor16",
            Family::Xor,
            |keys| {
                let filter = Xor16::from(keys);
                let bytes = filter.fingerprints.len() * 2;
                (filter, bytes.into())
            },
            |filter, key| filter.contains(&key),
        ),
    ]
}
