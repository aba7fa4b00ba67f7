//! Ours.

use super::contender::{Described, Peer, value_of};
use crate::kernel;
use ribbonfilter::{Filter, Function, Variant, Width};

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

pub fn functions(threads: usize) -> Vec<Box<dyn Peer>> {
    [
        (Variant::Standard, Width::W64),
        (Variant::Standard, Width::W128),
        (Variant::Bumped, Width::W64),
        (Variant::Bumped, Width::W128),
    ]
    .into_iter()
    .map(|(variant, width)| function(variant, width, threads))
    .collect()
}

fn function(variant: Variant, width: Width, threads: usize) -> Box<dyn Peer> {
    Box::new(Described {
        name: format!("Function {variant} w={width} r=8"),
        ours: true,
        build: move |keys: &[u64]| {
            let mut builder = Function::builder()
                .variant(variant)
                .width(width)
                .value_bits(8)
                .threads(threads)
                .kernel(kernel());
            builder.extend_hashes(keys.iter().map(|&key| (key, value_of(key).into())));
            let function = builder.finish().expect("random keys build").with_kernel(kernel());
            let bytes = function.size_in_bytes();
            (function, bytes)
        },
        contains: |function: &Function, key: u64| {
            function.get_hash(key) == u64::from(value_of(key))
        },
        batch: get_batch,
        structure: std::marker::PhantomData,
    })
}

/// Asks for the values of a batch, some at a time, and compares them.
fn get_batch(function: &Function, keys: &[u64], hits: &mut [bool]) -> bool {
    let mut values = [0; 1024];
    for (keys, hits) in keys.chunks(values.len()).zip(hits.chunks_mut(values.len())) {
        function.get_hash_batch_into(keys, &mut values);
        for ((&key, &value), hit) in keys.iter().zip(&values).zip(hits) {
            *hit = value == u64::from(value_of(key));
        }
    }
    true
}
