//! Planes on x86-64: [`sweep`] and [`substitute`], over the [`vectors`] of [`avx2`] or [`gfni`].

mod avx2;
mod gfni;
mod substitute;
mod sweep;
#[cfg(test)]
mod tests;
mod vectors;

use super::{CACHED, Eliminator, MOST_LANES, Planes, Pool, STRIDE};
use crate::kernel::avx2::Avx2;
use crate::kernel::avx512::Avx512;
use crate::layout::Layout;
use vectors::Vectors;

/// Bit `j` of byte `j`: row `j` of a panel begins with the panel's column `j`.
const DIAGONAL: u64 = 0x8040_2010_0804_0201;

/// The instructions that are used.
#[derive(Clone, Copy)]
pub(super) enum Means {
    Avx2(Avx2),
    Gfni(gfni::Gfni),
}

impl From<Avx2> for Eliminator {
    fn from(avx2: Avx2) -> Self {
        Self(Means::Avx2(avx2))
    }
}

impl From<Avx512> for Eliminator {
    /// With GFNI if the CPU has that, too.
    fn from(avx512: Avx512) -> Self {
        Self(gfni::Gfni::detect(avx512).map_or(Means::Avx2(avx512.into()), Means::Gfni))
    }
}

impl Means {
    /// Words that a table takes.
    pub(super) fn table_words(self) -> usize {
        match self {
            Self::Avx2(_) => Avx2::KEPT_WORDS,
            Self::Gfni(_) => gfni::Gfni::KEPT_WORDS,
        }
    }

    /// See [`Planes::eliminate`]; the system must then undo what was filled.
    pub(super) fn eliminate(self, planes: &mut Planes) -> bool {
        match self {
            Self::Avx2(cpu) => avx2::eliminate(cpu, planes),
            Self::Gfni(cpu) => gfni::eliminate(cpu, planes),
        }
    }

    /// See [`Planes::solve`].
    pub(super) fn solve(self, planes: &Planes, layout: &Layout, bytes: &mut [u8]) {
        match self {
            Self::Avx2(cpu) => avx2::solve(cpu, planes, layout, bytes),
            Self::Gfni(cpu) => gfni::solve(cpu, planes, layout, bytes),
        }
    }
}
