//! The engine for AVX-512, and what it shares with the one for AVX2.
#![expect(unsafe_code, reason = "intrinsics on memory, functions with target features")]
#![expect(clippy::needless_range_loop, reason = "a vector of several arrays is an index")]

/// Functions that are compiled for the instruction set of [`Avx512`](crate::kernel::Avx512).
/// Intrinsics without memory operands are safe in them.
macro_rules! avx512 {
    ($($function:item)+) => {$(
        #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,\
            avx512vpopcntdq,gfni,avx2,bmi1,bmi2,lzcnt,popcnt")]
        $function
    )+};
}
use avx512;

#[macro_use]
mod search;
mod byte_planes;
mod matrices;
mod vectors;
mod window;

pub(super) use byte_planes::BytePlanes;
pub(super) use vectors::Line;
