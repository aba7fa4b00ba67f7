//! sux: `VFilter` with 8-bit hashes, `VFunc` with values of 8 bits.

use super::contender::{Peer, single, value_of};
use dsi_progress_logger::no_logging;
use sux::dict::VFilter;
use sux::func::{VBuilder, VFunc};

type Filter = VFilter<u64, Box<[u8]>>;
type Function = VFunc<u64, Box<[u8]>>;

pub fn all(threads: usize) -> Vec<Box<dyn Peer>> {
    vec![single(
        "sux VFilter u8",
        move |keys| {
            let builder = VBuilder::default().max_num_threads(threads);
            let filter = Filter::try_par_new_with_builder(keys, builder, no_logging![])
                .expect("random keys build");
            let bytes = mem_dbg::MemSize::mem_size(&filter, mem_dbg::SizeFlags::default());
            (filter, bytes)
        },
        Filter::contains,
    )]
}

pub fn functions(threads: usize) -> Vec<Box<dyn Peer>> {
    vec![single(
        "sux VFunc u8",
        move |keys| {
            let builder = VBuilder::default().max_num_threads(threads);
            let values: Vec<u8> = keys.iter().map(|&key| value_of(key)).collect();
            let function =
                Function::try_par_new_with_builder(keys, &values, builder, no_logging![])
                    .expect("random keys build");
            let bytes = mem_dbg::MemSize::mem_size(&function, mem_dbg::SizeFlags::default());
            (function, bytes)
        },
        |function, key| function.get(key) == value_of(key),
    )]
}
