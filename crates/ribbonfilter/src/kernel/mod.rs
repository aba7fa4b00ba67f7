//! Kernels: all code that is specific to a CPU, under one common interface.
//!
//! A kernel computes the parities of eight columns under the coefficients of an equation, and
//! solves rows. [`Instructions`] is that interface. Each module below implements it for one
//! instruction set, and [`portable`] for every target. The types that implement it are *tokens*:
//! one exists only where the CPU has the instructions, so using it is safe.
//!
//! [`Kernel`] is the run-time choice among them, a value that filters carry and tests select. Code
//! is compiled for an instruction set in two ways. Both compile it as a whole, so that all code
//! below is inlined and nothing is dispatched twice:
//!
//! - [`Kernel::run`] runs a [`Work`] once, as construction does; [`Kernel::run_scalar`] one that has
//!   no vector code of its own.
//! - [`compile!`] gives the address of a generic function, which an opened filter keeps.
//!
//! This module is independent of keys, variants and files.

/// Whether the CPU has all these features. They are detected at run time; without `std`, which
/// provides the detection, they are the features that the program was compiled for.
#[cfg(target_arch = "x86_64")]
macro_rules! has_features {
    ($($feature:tt),+) => {{
        #[cfg(feature = "std")]
        let found = $(std::is_x86_feature_detected!($feature))&&+;
        #[cfg(not(feature = "std"))]
        let found = $(cfg!(target_feature = $feature))&&+;
        found
    }};
}
#[cfg(target_arch = "x86_64")]
pub(crate) use has_features;

/// Compiles a generic function for every instruction set. Its first type parameter and its first
/// argument are the instructions, and it must be `#[inline(always)]`, as must be every function in
/// it that is to use the instruction set. `'a` is a lifetime of the first other argument.
///
/// Defines `$vectors`, which returns the function that is compiled for a kernel with vectors, and
/// none for the portable kernel; and `$portable`, which returns the portable one. They are two
/// functions, so that what only `$vectors` is called for is not compiled in portable code.
///
/// The functions are returned as pointers to unsafe functions: the CPU must have the instructions
/// of the kernel. A [`Kernel`] is the proof.
macro_rules! compile {
    (
        $run:ident as $visibility:vis $vectors:ident, $portable:ident:
        <$a:lifetime, $($type:ident: $bound:path),+>($($argument:ident: $of:ty),+) -> $result:ty
    ) => {
        $visibility fn $vectors<$($type: $bound),+>(
            kernel: $crate::kernel::Kernel,
        ) -> Option<for<$a> unsafe fn($($of),+) -> $result> {
            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
            fn avx2<$a, $($type: $bound),+>($($argument: $of),+) -> $result {
                $run::<_, $($type),+>($crate::kernel::avx2::Avx2::here(), $($argument),+)
            }
            #[cfg(target_arch = "x86_64")]
            #[target_feature(
                enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vpopcntdq,avx2,bmi1,bmi2,lzcnt,popcnt"
            )]
            fn avx512<$a, $($type: $bound),+>($($argument: $of),+) -> $result {
                $run::<_, $($type),+>($crate::kernel::avx512::Avx512::here(), $($argument),+)
            }
            #[cfg(all(target_arch = "aarch64", target_endian = "little"))]
            #[target_feature(enable = "neon")]
            fn neon<$a, $($type: $bound),+>($($argument: $of),+) -> $result {
                $run::<_, $($type),+>($crate::kernel::neon::Neon::here(), $($argument),+)
            }
            match kernel.0 {
                $crate::kernel::Choice::Portable => None,
                #[cfg(target_arch = "x86_64")]
                $crate::kernel::Choice::Avx2(_) => Some(avx2::<$($type),+>),
                #[cfg(target_arch = "x86_64")]
                $crate::kernel::Choice::Avx512(_) => Some(avx512::<$($type),+>),
                #[cfg(all(target_arch = "aarch64", target_endian = "little"))]
                $crate::kernel::Choice::Neon(_) => Some(neon::<$($type),+>),
            }
        }

        $visibility fn $portable<$($type: $bound),+>() -> for<$a> unsafe fn($($of),+) -> $result {
            fn portable<$a, $($type: $bound),+>($($argument: $of),+) -> $result {
                $run::<_, $($type),+>($crate::kernel::portable::Portable, $($argument),+)
            }
            portable::<$($type),+>
        }
    };
}
pub(crate) use compile;

#[cfg(target_arch = "x86_64")]
pub(crate) mod avx2;
#[cfg(target_arch = "x86_64")]
pub(crate) mod avx512;
#[cfg(all(target_arch = "aarch64", target_endian = "little"))]
pub(crate) mod neon;
pub(crate) mod portable;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
mod prefetch;

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
pub(crate) use prefetch::prefetch;
/// Other targets have no prefetch instruction.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
pub(crate) fn prefetch(_: *const u8) {}

/// Tells the compiler that the calling block is rarely executed. `core::hint::cold_path` needs Rust
/// 1.95; for a call of a cold function the compiler sets the same branch weights.
#[cold]
#[inline(always)]
pub(crate) fn cold_path() {}

use crate::ribbon::layout::MAX_COLUMNS;
use crate::ribbon::width::Band;
use core::fmt;

/// Number of columns whose parities a kernel computes in one step.
pub(crate) const GROUP: usize = 8;

/// The coefficients of an equation, aligned to blocks; see
/// [`Multipliers::expand`](crate::ribbon::equation::Multipliers::expand).
#[derive(Clone, Copy)]
pub(crate) struct Coefficients {
    pub(crate) words: [u64; 2],
    /// The first slot, of which only the position in its block matters.
    pub(crate) slot: u64,
}

impl Coefficients {
    /// The coefficients for each block; see [`Band::over_blocks`].
    #[inline(always)]
    fn over_blocks<B: Band>(self) -> [u64; 3] {
        B::over_blocks(self.words, self.slot as u32 % B::WIDTH.block_slots())
    }
}

/// The rows of one block. For each row, its coefficients, zero if it is empty, and its value: the
/// sum over the coefficients, or the free variable of an empty row.
pub(crate) struct Rows<'a, B> {
    pub(crate) coefficients: &'a [B],
    pub(crate) values: &'a [u64],
}

/// For each column, the `w` rows solved last.
pub(crate) type Columns<B> = [B; MAX_COLUMNS];

/// An instruction set.
pub(crate) trait Instructions: Copy {
    /// The parities of eight columns, one bit each. The caller uses only the bits that `columns`
    /// has.
    ///
    /// # Safety
    /// Eight words of a block must be readable from each of the first [`Band::PARTS`] parts on.
    #[expect(unsafe_code, reason = "the caller proves what can be read")]
    unsafe fn parities<B: Band>(
        self,
        parts: [*const u8; 3],
        coefficients: Coefficients,
        columns: u8,
    ) -> u8;

    /// The sum of the rows that the coefficients select among `w` rows of `SIZE` bytes: 2, 4 or 8.
    #[inline(always)]
    fn sum_rows<B: Band, const SIZE: usize>(self, rows: &[u8], coefficients: B) -> u64 {
        portable::sum_rows::<B, SIZE>(rows, coefficients)
    }

    /// Solves the rows of a block, from the last to the first, for the first `stored` columns.
    #[inline(always)]
    fn solve_rows<B: Band>(self, rows: Rows<'_, B>, columns: &mut Columns<B>, stored: usize) {
        portable::solve_rows(rows, columns, stored);
    }
}

/// A computation that is compiled separately for each instruction set.
pub(crate) trait Work {
    type Output;
    /// Must be `#[inline(always)]`, and so must every function in it that is to use the instruction
    /// set.
    fn run<I: Instructions>(self, instructions: I) -> Self::Output;
}

/// The kernel that a filter uses: chosen once, carried as a value.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Kernel(pub(crate) Choice);

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Choice {
    Portable,
    #[cfg(target_arch = "x86_64")]
    Avx2(avx2::Avx2),
    #[cfg(target_arch = "x86_64")]
    Avx512(avx512::Avx512),
    #[cfg(all(target_arch = "aarch64", target_endian = "little"))]
    Neon(neon::Neon),
}

impl Kernel {
    /// All kernels that this CPU can run, the best first.
    pub fn available() -> impl Iterator<Item = Self> {
        let choices = [
            #[cfg(target_arch = "x86_64")]
            avx512::Avx512::detect().map(Choice::Avx512),
            #[cfg(target_arch = "x86_64")]
            avx2::Avx2::detect().map(Choice::Avx2),
            #[cfg(all(target_arch = "aarch64", target_endian = "little"))]
            neon::Neon::detect().map(Choice::Neon),
            Some(Choice::Portable),
        ];
        choices.into_iter().flatten().map(Self)
    }

    /// The best kernel for this CPU. The features are detected once and cached.
    #[inline]
    pub fn best() -> Self {
        #[cfg(feature = "std")]
        {
            static BEST: std::sync::OnceLock<Kernel> = std::sync::OnceLock::new();
            *BEST.get_or_init(Self::detect)
        }
        #[cfg(not(feature = "std"))]
        Self::detect()
    }

    fn detect() -> Self {
        Self::available().next().unwrap_or(Self(Choice::Portable))
    }

    /// The kernel with the given name, if this CPU can run it.
    #[cfg(any(test, feature = "internals"))]
    pub fn by_name(name: &str) -> Option<Self> {
        Self::available().find(|kernel| kernel.name() == name)
    }

    /// `portable`, `avx2`, `avx512` or `neon`.
    pub fn name(self) -> &'static str {
        match self.0 {
            Choice::Portable => "portable",
            #[cfg(target_arch = "x86_64")]
            Choice::Avx2(_) => "avx2",
            #[cfg(target_arch = "x86_64")]
            Choice::Avx512(_) => "avx512",
            #[cfg(all(target_arch = "aarch64", target_endian = "little"))]
            Choice::Neon(_) => "neon",
        }
    }

    /// Runs work that has no vector code of its own: which instructions it uses is left to the
    /// compiler. It is not compiled for AVX-512, with which the compiler would use gather and
    /// scatter instructions, which cost more time than they save.
    #[inline(always)]
    pub(crate) fn run_scalar<W: Work>(self, work: W) -> W::Output {
        match self.0 {
            Choice::Portable => portable::run(work),
            #[cfg(target_arch = "x86_64")]
            Choice::Avx2(token) => token.run(work),
            #[cfg(target_arch = "x86_64")]
            Choice::Avx512(token) => avx2::Avx2::from(token).run(work),
            #[cfg(all(target_arch = "aarch64", target_endian = "little"))]
            Choice::Neon(token) => token.run(work),
        }
    }

    /// Runs `work` with this kernel's instructions.
    #[inline(always)]
    pub(crate) fn run<W: Work>(self, work: W) -> W::Output {
        match self.0 {
            Choice::Portable => portable::run(work),
            #[cfg(target_arch = "x86_64")]
            Choice::Avx2(token) => token.run(work),
            #[cfg(target_arch = "x86_64")]
            Choice::Avx512(token) => token.run(work),
            #[cfg(all(target_arch = "aarch64", target_endian = "little"))]
            Choice::Neon(token) => token.run(work),
        }
    }
}

impl fmt::Debug for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests;
