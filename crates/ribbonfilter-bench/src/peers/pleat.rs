//! pleat: ribbon filters, ported from the authors' C++ implementation.

use crate::race::{Family, Peer, batched};
use pleat::filter::{Ribbon, StdRibbon};

/// Homogeneous, w = 64.
pub fn homogeneous<const R: usize>() -> Box<dyn Peer> {
    batched(
        format!("pleat Homogeneous w=64 r={R}"),
        Family::Pleat,
        |keys| {
            let filter = Ribbon::<R>::from_keys_pleated(keys);
            let bytes = filter.size_bytes();
            (filter, bytes.into())
        },
        Ribbon::<R>::contains,
        |filter: &Ribbon<R>, keys, hits| {
            filter.contains_batch(keys, hits);
            true
        },
    )
}

/// Standard, w = 128.
pub fn standard<const R: usize>() -> Box<dyn Peer> {
    batched(
        format!("pleat Standard w=128 r={R}"),
        Family::Pleat,
        |keys| {
            let filter = StdRibbon::<R>::from_keys_pleated(keys).expect("random keys build");
            let bytes = filter.size_bytes();
            (filter, bytes.into())
        },
        StdRibbon::<R>::contains,
        |filter: &StdRibbon<R>, keys, hits| {
            filter.contains_batch(keys, hits);
            true
        },
    )
}
