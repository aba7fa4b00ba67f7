//! Byte-sliced elimination on x86-64: [`sweep`] and [`substitute`], generic over the [`vectors`] of
//! [`avx2`] or [`gfni`].
#![expect(unsafe_code, reason = "code that needs the CPU's features")]

mod avx2;
mod gfni;
mod substitute;
mod sweep;
#[cfg(test)]
mod tests;
mod transpose;
mod vectors;

use super::{ByteSliced, CACHED, MAX_LANES, Pool, STRIDE};
use crate::kernel::avx2::Avx2;
use crate::kernel::{Choice, Kernel, Work};
use crate::ribbon::layout::Layout;
use gfni::Gfni;
use vectors::Vectors;

/// Bit `j` of byte `j`: row `j` of a panel begins with the panel's column `j`.
const DIAGONAL: u64 = 0x8040_2010_0804_0201;

/// The instruction set in use.
#[derive(Clone, Copy)]
pub(super) enum InstructionSet {
    Avx2(Avx2),
    Gfni(Gfni),
}

impl InstructionSet {
    /// The instruction set of a kernel: with GFNI if the CPU has it in addition to AVX-512.
    pub(super) fn of(kernel: Kernel) -> Option<Self> {
        match kernel.0 {
            Choice::Avx2(avx2) => Some(Self::Avx2(avx2)),
            Choice::Avx512(avx512) => {
                Some(Gfni::detect(avx512).map_or(Self::Avx2(avx512.into()), Self::Gfni))
            }
            Choice::Portable => None,
        }
    }

    /// See [`Eliminator::run`](super::Eliminator::run).
    #[inline(always)]
    pub(super) fn run<W: Work>(self, work: W) -> W::Output {
        match self {
            Self::Avx2(cpu) => cpu.run(work),
            Self::Gfni(cpu) => cpu.avx512().run(work),
        }
    }

    /// Number of words of a table.
    pub(super) fn table_words(self) -> usize {
        match self {
            Self::Avx2(_) => Avx2::KEPT_WORDS,
            Self::Gfni(_) => Gfni::KEPT_WORDS,
        }
    }

    /// See [`ByteSliced::eliminate`]. If the result is `false`, the caller must undo the filled
    /// rows.
    pub(super) fn eliminate(self, system: &mut ByteSliced) -> bool {
        #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
        fn avx2(cpu: Avx2, system: &mut ByteSliced) -> bool {
            sweep::eliminate(cpu, system)
        }
        #[target_feature(
            enable = "gfni,avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,bmi1,bmi2,lzcnt,popcnt"
        )]
        fn gfni(cpu: Gfni, system: &mut ByteSliced) -> bool {
            sweep::eliminate(cpu, system)
        }
        match self {
            // SAFETY: the token proves that the CPU has these features.
            Self::Avx2(cpu) => unsafe { avx2(cpu, system) },
            // SAFETY: the token proves that the CPU has these features.
            Self::Gfni(cpu) => unsafe { gfni(cpu, system) },
        }
    }

    /// See [`ByteSliced::solve`].
    pub(super) fn solve(self, system: &ByteSliced, layout: &Layout, bytes: &mut [u8]) {
        #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
        fn avx2(cpu: Avx2, system: &ByteSliced, layout: &Layout, bytes: &mut [u8]) {
            substitute::solve(cpu, system, layout, bytes);
        }
        #[target_feature(
            enable = "gfni,avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,bmi1,bmi2,lzcnt,popcnt"
        )]
        fn gfni(cpu: Gfni, system: &ByteSliced, layout: &Layout, bytes: &mut [u8]) {
            substitute::solve(cpu, system, layout, bytes);
        }
        match self {
            // SAFETY: the token proves that the CPU has these features.
            Self::Avx2(cpu) => unsafe { avx2(cpu, system, layout, bytes) },
            // SAFETY: the token proves that the CPU has these features.
            Self::Gfni(cpu) => unsafe { gfni(cpu, system, layout, bytes) },
        }
    }
}
