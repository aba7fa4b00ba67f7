//! sux: `VFilter` with 8-bit hashes.

use super::contender::{Peer, single};
use dsi_progress_logger::no_logging;
use sux::dict::VFilter;
use sux::func::VBuilder;

type Filter = VFilter<u64, Box<[u8]>>;

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
