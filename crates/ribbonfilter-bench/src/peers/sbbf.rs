//! sbbf-rs-safe: a split-block Bloom filter, as in Parquet.

use super::contender::{Peer, single};
use sbbf_rs_safe::Filter;

pub fn all() -> Vec<Box<dyn Peer>> {
    vec![single(
        "sbbf 12 bits",
        |keys| {
            let mut filter = Filter::new(12, keys.len());
            for &key in keys {
                filter.insert_hash(key);
            }
            let bytes = filter.as_bytes().len();
            (filter, bytes)
        },
        Filter::contains_hash,
    )]
}
