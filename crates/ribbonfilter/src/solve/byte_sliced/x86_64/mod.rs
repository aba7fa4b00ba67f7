//! Byte-sliced elimination on x86-64: [`sweep`] and [`substitute`], generic over the [`vectors`] of
//! [`avx2`] or [`gfni`].

mod avx2;
mod gfni;
mod substitute;
mod sweep;
#[cfg(test)]
mod tests;
mod vectors;

use super::{ByteSliced, CACHED, MAX_LANES, Pool, STRIDE};
use crate::kernel::avx2::Avx2;
use crate::kernel::{Choice, Kernel};
use crate::ribbon::layout::Layout;
use vectors::Vectors;

/// Bit `j` of byte `j`: row `j` of a panel begins with the panel's column `j`.
const DIAGONAL: u64 = 0x8040_2010_0804_0201;

/// The instruction set in use.
#[derive(Clone, Copy)]
pub(super) enum Means {
    Avx2(Avx2),
    Gfni(gfni::Gfni),
}

impl Means {
    /// The instruction set of a kernel: with GFNI if the CPU has it in addition to AVX-512.
    pub(super) fn of(kernel: Kernel) -> Option<Self> {
        match kernel.0 {
            Choice::Avx2(avx2) => Some(Self::Avx2(avx2)),
            Choice::Avx512(avx512) => {
                Some(gfni::Gfni::detect(avx512).map_or(Self::Avx2(avx512.into()), Self::Gfni))
            }
            Choice::Portable => None,
        }
    }

    /// Number of words of a table.
    pub(super) fn table_words(self) -> usize {
        match self {
            Self::Avx2(_) => Avx2::KEPT_WORDS,
            Self::Gfni(_) => gfni::Gfni::KEPT_WORDS,
        }
    }

    /// See [`ByteSliced::eliminate`]. If the result is `false`, the caller must undo the filled
    /// rows.
    pub(super) fn eliminate(self, planes: &mut ByteSliced) -> bool {
        match self {
            Self::Avx2(cpu) => avx2::eliminate(cpu, planes),
            Self::Gfni(cpu) => gfni::eliminate(cpu, planes),
        }
    }

    /// See [`ByteSliced::solve`].
    pub(super) fn solve(self, planes: &ByteSliced, layout: &Layout, bytes: &mut [u8]) {
        match self {
            Self::Avx2(cpu) => avx2::solve(cpu, planes, layout, bytes),
            Self::Gfni(cpu) => gfni::solve(cpu, planes, layout, bytes),
        }
    }
}
