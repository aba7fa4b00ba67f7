//! fastbloom: a blocked Bloom filter with its own hasher.

use super::contender::{Peer, single};
use fastbloom::BloomFilter;

pub fn all() -> Vec<Box<dyn Peer>> {
    vec![single(
        "fastbloom 1/256",
        |keys| {
            let filter = BloomFilter::with_false_pos(1.0 / 256.0).items(keys.iter());
            let bytes = filter.as_slice().len() * 8;
            (filter, bytes)
        },
        |filter, key| filter.contains(&key),
    )]
}
