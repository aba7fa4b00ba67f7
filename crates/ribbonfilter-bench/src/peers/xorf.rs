//! xorf: binary fuse filters.

use super::contender::{Peer, single};
use xorf::{BinaryFuse8, BinaryFuse16, Filter};

pub fn all() -> Vec<Box<dyn Peer>> {
    vec![
        single(
            "xorf BinaryFuse8",
            |keys| {
                let filter = BinaryFuse8::try_from(keys).expect("random keys build");
                let bytes = filter.fingerprints.len();
                (filter, bytes)
            },
            |filter, key| filter.contains(&key),
        ),
        single(
            "xorf BinaryFuse16",
            |keys| {
                let filter = BinaryFuse16::try_from(keys).expect("random keys build");
                let bytes = filter.fingerprints.len() * 2;
                (filter, bytes)
            },
            |filter, key| filter.contains(&key),
        ),
    ]
}
