//! sbbf-rs-safe: a split-block Bloom filter, as in Parquet.

use crate::race::{Family, Peer, peer};
use sbbf_rs_safe::Filter;

pub fn filter(bits_per_key: usize) -> Box<dyn Peer> {
    peer(
        format!("sbbf {bits_per_key} bits"),
        Family::SplitBlockBloom,
        move |keys| {
            let mut filter = Filter::new(bits_per_key, keys.len());
            for &key in keys {
                filter.insert_hash(key);
            }
            let bytes = filter.as_bytes().len();
            (filter, bytes.into())
        },
        Filter::contains_hash,
    )
}
