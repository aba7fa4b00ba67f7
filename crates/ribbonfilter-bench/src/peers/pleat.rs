//! pleat: ribbon filters, ported from the authors' C++ implementation.

use crate::race::{Family, Peer, at_most, batched};
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

/// The largest number of keys from which the Standard filter was built. See [`MISSING`].
pub const MAX_KEYS: usize = 10_000_000;
/// What a table of more keys has to say.
pub const MISSING: &str = "Missing here: pleat Standard w=128. None of its 64 seeds leads to a \
    solution for 10⁸ keys (pleat 0.1.0, error `NoSolvingSeed`).";
/// Why its times for absent and present keys differ.
pub const STOPS: &str = "pleat stops at the first column that differs: a query for an absent key reads \
    two columns on average, and one for a present key all of them.";

/// Standard, w = 128.
pub fn standard<const R: usize>() -> Box<dyn Peer> {
    let peer = batched(
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
    );
    at_most(MAX_KEYS, peer)
}
