//! Ours.

use super::contender::{Described, Peer};
use crate::kernel;
use ribbonfilter::{Filter, Variant, Width};

pub fn all(threads: usize) -> Vec<Box<dyn Peer>> {
    [
        (Variant::Homogeneous, Width::W64, 8.0),
        (Variant::Homogeneous, Width::W64, 7.0),
        (Variant::Homogeneous, Width::W32, 8.0),
        (Variant::Homogeneous, Width::W128, 8.0),
        (Variant::Standard, Width::W64, 8.0),
        (Variant::Standard, Width::W128, 8.0),
        (Variant::Balanced, Width::W64, 7.0),
        (Variant::Bumped, Width::W128, 8.0),
        (Variant::Bumped, Width::W64, 8.0),
        (Variant::Bumped, Width::W32, 8.0),
        (Variant::Bumped, Width::W128, 16.0),
        (Variant::Homogeneous, Width::W64, 16.0),
    ]
    .into_iter()
    .map(|(variant, width, columns)| peer(variant, width, columns, threads))
    .collect()
}

fn peer(variant: Variant, width: Width, columns: f64, threads: usize) -> Box<dyn Peer> {
    Box::new(Described {
        name: format!("{variant} w={width} r={columns}"),
        ours: true,
        build: move |keys: &[u64]| {
            let mut builder = Filter::builder()
                .variant(variant)
                .width(width)
                .columns(columns)
                .threads(threads)
                .kernel(kernel());
            builder.extend_hashes(keys.iter().copied());
            let filter = builder.finish().expect("random keys build").with_kernel(kernel());
            let bytes = filter.size_in_bytes();
            (filter, bytes)
        },
        contains: |filter: &Filter, key: u64| filter.contains_hash(key),
        batch: |filter: &Filter, keys: &[u64], hits: &mut [bool]| {
            filter.contains_hash_batch_into(keys, hits);
            true
        },
        structure: std::marker::PhantomData,
    })
}
