//! sux: `VFilter` with hashes of 8 or any number of bits, `VFunc` with values of 8 bits.

use crate::race::{Family, Peer, peer, value_of};
use dsi_progress_logger::no_logging;
use mem_dbg::{MemSize, SizeFlags};
use sux::bits::BitFieldVec;
use sux::dict::VFilter;
use sux::func::{VBuilder, VFunc};

type Bytes = VFilter<u64, Box<[u8]>>;
type Packed = VFilter<u64, BitFieldVec<Box<[usize]>>>;
type Function = VFunc<u64, Box<[u8]>>;

/// Hashes of 8 bits, one per byte.
pub fn bytes(threads: usize) -> Box<dyn Peer> {
    peer(
        "sux VFilter u8",
        Family::VFilter,
        move |keys| {
            let builder = VBuilder::default().max_num_threads(threads);
            let filter = Bytes::try_par_new_with_builder(keys, builder, no_logging![])
                .expect("random keys build");
            let bytes = filter.mem_size(SizeFlags::default());
            (filter, bytes.into())
        },
        Bytes::contains,
    )
}

/// Hashes of any number of bits, packed.
pub fn packed(bits: usize, threads: usize) -> Box<dyn Peer> {
    peer(
        format!("sux VFilter {bits} bits"),
        Family::VFilter,
        move |keys| {
            let builder = VBuilder::default().max_num_threads(threads);
            let filter = Packed::try_par_new_with_builder(keys, bits, builder, no_logging![])
                .expect("random keys build");
            let bytes = filter.mem_size(SizeFlags::default());
            (filter, bytes.into())
        },
        Packed::contains,
    )
}

pub fn function(threads: usize) -> Box<dyn Peer> {
    peer(
        "sux VFunc u8",
        Family::VFilter,
        move |keys| {
            let builder = VBuilder::default().max_num_threads(threads);
            let values: Vec<u8> = keys.iter().map(|&key| value_of(key)).collect();
            let function =
                Function::try_par_new_with_builder(keys, &values, builder, no_logging![])
                    .expect("random keys build");
            let bytes = function.mem_size(SizeFlags::default());
            (function, bytes.into())
        },
        |function, key| function.get(key) == value_of(key),
    )
}
