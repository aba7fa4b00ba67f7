//! qfilter: a quotient filter, which can grow. Its number of slots is a power of two, so its bits
//! per key depend on how close the number of keys is to the next power.

use crate::race::{Family, Peer, peer};
use qfilter::Filter;

/// A filter for a rate of 2^-`bits`.
pub fn filter(bits: u32) -> Box<dyn Peer> {
    let rate = 0.5_f64.powi(bits as i32);
    peer(
        format!("qfilter 2^-{bits}"),
        Family::Quotient,
        move |keys| {
            let mut filter = Filter::new(keys.len() as u64, rate).expect("a possible filter");
            for &key in keys {
                filter.insert_fingerprint(false, key).expect("capacity for all keys");
            }
            let bytes = filter.memory_usage();
            (filter, bytes.into())
        },
        Filter::contains_fingerprint,
    )
}
