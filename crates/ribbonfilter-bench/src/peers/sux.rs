//! sux: `VFilter` with hashes of 8 or any number of bits, `VFunc` with values of 1 to 64 bits.

use crate::race::{Family, Peer, Size, peer, value_of};
use dsi_progress_logger::no_logging;
use mem_dbg::{MemSize, SizeFlags};
use sux::bits::BitFieldVec;
use sux::dict::VFilter;
use sux::func::{VBuilder, VFunc};

type Bytes = VFilter<u64, Box<[u8]>>;
type Packed = VFilter<u64, BitFieldVec<Box<[usize]>>>;
type PackedFunction = VFunc<u64, BitFieldVec<Box<[usize]>>>;

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

/// A function with values of 1, 8, 16, 32 or 64 bits. Those of 1 bit are packed, the others are
/// integers.
pub fn function(bits: u32, threads: usize) -> Box<dyn Peer> {
    match bits {
        1 => packed_function(bits, threads),
        8 => bytes_function(threads),
        16 => function_u16(threads),
        32 => function_u32(threads),
        _ => function_u64(threads),
    }
}

/// Functions whose values are integers. (A generic function would need traits of sux that it does
/// not export.)
macro_rules! functions {
    ($($name:ident: $integer:ident,)*) => { $(
        fn $name(threads: usize) -> Box<dyn Peer> {
            type Function = VFunc<u64, Box<[$integer]>>;
            const BITS: u32 = $integer::BITS;
            peer(
                concat!("sux VFunc ", stringify!($integer)),
                Family::VFilter,
                move |keys| {
                    let builder = VBuilder::default().max_num_threads(threads);
                    let values: Vec<$integer> =
                        keys.iter().map(|&key| value_of(key, BITS) as $integer).collect();
                    let function =
                        Function::try_par_new_with_builder(keys, &values, builder, no_logging![])
                            .expect("random keys build");
                    let bytes = function.mem_size(SizeFlags::default());
                    (function, function_size(bytes, BITS))
                },
                |function: &Function, key| u64::from(function.get(key)) == value_of(key, BITS),
            )
        }
    )* };
}

functions! {
    bytes_function: u8,
    function_u16: u16,
    function_u32: u32,
    function_u64: u64,
}

fn packed_function(bits: u32, threads: usize) -> Box<dyn Peer> {
    peer(
        format!("sux VFunc {bits} bits"),
        Family::VFilter,
        move |keys| {
            let builder = VBuilder::default().max_num_threads(threads);
            let values: Vec<usize> = keys.iter().map(|&key| value_of(key, bits) as usize).collect();
            let function =
                PackedFunction::try_par_new_with_builder(keys, &values, builder, no_logging![])
                    .expect("random keys build");
            let bytes = function.mem_size(SizeFlags::default());
            ((function, bits), function_size(bytes, bits))
        },
        |(function, bits), key| function.get(key) as u64 == value_of(key, *bits),
    )
}

fn function_size(bytes: usize, bits: u32) -> Size {
    Size { bytes, rate: Some(0.5_f64.powi(bits as i32)) }
}
