//! fastbloom: a Bloom filter with its own hasher. Its bits are not in blocks.

use crate::race::{Family, Peer, peer};
use fastbloom::BloomFilter;

/// A filter for a rate of 2^-`bits`.
pub fn filter(bits: u32) -> Box<dyn Peer> {
    let rate = 0.5_f64.powi(bits as i32);
    peer(
        format!("fastbloom 2^-{bits}"),
        Family::Bloom,
        move |keys| {
            let filter = BloomFilter::with_false_pos(rate).items(keys.iter());
            let bytes = filter.as_slice().len() * 8;
            (filter, bytes.into())
        },
        |filter, key| filter.contains(&key),
    )
}
