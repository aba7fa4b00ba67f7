//! qfilter: a quotient filter, which can grow. Its slots are a power of two, so its size depends
//! on where between two of them the number of keys lies.

use crate::race::{Family, Peer, peer};
use qfilter::Filter;

/// A filter for a rate of 2 to the power of minus `bits`.
pub fn filter(bits: u32) -> Box<dyn Peer> {
    let rate = 0.5_f64.powi(bits as i32);
    peer(
        format!("qfilter 2^-{bits}"),
        Family::Quotient,
        move |keys| {
            let mut filter = Filter::new(keys.len() as u64, rate).expect("a possible filter");
            for &key in keys {
                filter.insert_fingerprint(false, key).expect("room for all keys");
            }
            let bytes = filter.memory_usage();
            (filter, bytes.into())
        },
        Filter::contains_fingerprint,
    )
}
