//! pleat: ribbon filters after the authors' C++.

use super::contender::{Described, Peer};
use pleat::filter::{Ribbon, StdRibbon};

pub fn all() -> Vec<Box<dyn Peer>> {
    vec![
        Box::new(Described {
            name: "pleat Homogeneous w=64 r=8".into(),
            ours: false,
            build: |keys: &[u64]| {
                let filter = Ribbon::<8>::from_keys_pleated(keys);
                let bytes = filter.size_bytes();
                (filter, bytes)
            },
            contains: |filter: &Ribbon<8>, key: u64| filter.contains(key),
            batch: |filter: &Ribbon<8>, keys: &[u64], hits: &mut [bool]| {
                filter.contains_batch(keys, hits);
                true
            },
            structure: std::marker::PhantomData,
        }),
        Box::new(Described {
            name: "pleat Standard w=128 r=8".into(),
            ours: false,
            build: |keys: &[u64]| {
                let filter = StdRibbon::<8>::from_keys_pleated(keys).expect("random keys build");
                let bytes = filter.size_bytes();
                (filter, bytes)
            },
            contains: |filter: &StdRibbon<8>, key: u64| filter.contains(key),
            batch: |filter: &StdRibbon<8>, keys: &[u64], hits: &mut [bool]| {
                filter.contains_batch(keys, hits);
                true
            },
            structure: std::marker::PhantomData,
        }),
    ]
}
