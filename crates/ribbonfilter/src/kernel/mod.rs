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
//! - [`Kernel::run`] runs a [`Work`] once, as construction does.
//! - [`Kernel::single`] and [`Kernel::many`] return the address of a compiled query ([`Single`],
//!   [`Many`]), which an opened filter keeps.
//!
//! [`Solution`] contains the reads of blocks, with the bounds that justify them. This module is
//! independent of keys and variants.

/// Defines the functions of a module that are compiled for its instruction set.
macro_rules! entries {
    ($token:expr $(, $features:literal)?) => {
        /// # Safety
        /// The CPU must have the instruction set of this module. `base` must point to as many
        /// readable bytes as the probe's solution is made for.
        $(#[target_feature(enable = $features)])?
        unsafe fn single<S: $crate::kernel::Single>(
            probe: &S::Probe,
            base: *const u8,
            key_hash: u64,
        ) -> S::Output {
            use $crate::kernel::HasSolution;
            // SAFETY: the caller guarantees that `base` points to as many readable bytes as the
            // solution is made for.
            let readable = unsafe { probe.solution().over_all_from(base) };
            S::run($token, probe, readable, key_hash)
        }

        /// # Safety
        /// The CPU must have the instruction set of this module. `base` must point to as many
        /// readable bytes as the probe's solution is made for.
        $(#[target_feature(enable = $features)])?
        unsafe fn many<M: $crate::kernel::Many>(
            probe: &M::Probe,
            base: *const u8,
            inputs: &[M::Input],
            outputs: &mut [M::Output],
        ) {
            use $crate::kernel::HasSolution;
            // SAFETY: the caller guarantees that `base` points to as many readable bytes as the
            // solution is made for.
            let readable = unsafe { probe.solution().over_all_from(base) };
            M::run($token, probe, readable, inputs, outputs);
        }

        #[inline]
        pub(super) fn single_of<S: $crate::kernel::Single>(
        ) -> $crate::kernel::SingleFn<S::Probe, S::Output> {
            $crate::kernel::SingleFn(single::<S>)
        }

        #[inline]
        pub(super) fn many_of<M: $crate::kernel::Many>(
        ) -> $crate::kernel::ManyFn<M::Probe, M::Input, M::Output> {
            $crate::kernel::ManyFn(many::<M>)
        }
    };
}
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

#[cfg(target_arch = "x86_64")]
pub(crate) mod avx2;
#[cfg(target_arch = "x86_64")]
pub(crate) mod avx512;
#[cfg(all(target_arch = "aarch64", target_endian = "little"))]
pub(crate) mod neon;
mod portable;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
mod prefetch;
mod row_major;
mod rows;
mod solution;

pub(crate) use rows::{Columns, Rows};
pub(crate) use solution::{
    Any, Assumptions, Eight, Few, Readable, SMALL_BYTES, Sixteen, Small, Solution, matches_once,
};

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
pub(crate) use prefetch::prefetch;
/// Other targets have no prefetch instruction.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
pub(crate) fn prefetch(_: *const u8) {}

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
        row_major::sum_rows::<B, SIZE>(rows, coefficients)
    }

    /// Solves the rows of a block, from the last to the first, for the first `stored` columns.
    #[inline(always)]
    fn solve_rows<B: Band>(self, rows: Rows<'_, B>, columns: &mut Columns<B>, stored: usize) {
        rows::solve_rows(rows, columns, stored);
    }
}

/// A computation that is compiled separately for each instruction set.
pub(crate) trait Work {
    type Output;
    /// Must be `#[inline(always)]`, and so must every function in it that is to use the instruction
    /// set.
    fn run<I: Instructions>(self, instructions: I) -> Self::Output;
}

/// A type that queries a solution.
pub(crate) trait HasSolution {
    fn solution(&self) -> &Solution;
}

/// A query of one key hash. As in [`Work`], all of it must be `#[inline(always)]`.
pub(crate) trait Single {
    type Probe: HasSolution;
    type Output;
    /// `readable` provides the bytes of the probe's solution.
    fn run<I: Instructions>(
        instructions: I,
        probe: &Self::Probe,
        readable: Readable<'_>,
        key_hash: u64,
    ) -> Self::Output;
}

/// A query of many inputs, each with its output.
pub(crate) trait Many {
    type Probe: HasSolution;
    type Input;
    type Output;
    fn run<I: Instructions>(
        instructions: I,
        probe: &Self::Probe,
        readable: Readable<'_>,
        inputs: &[Self::Input],
        outputs: &mut [Self::Output],
    );
}

/// A [`Single`] compiled for an instruction set that this CPU has. Only [`Kernel`] creates these.
///
/// The length of the bytes is compared before the call, where a loop of queries compares it only
/// once, and only their address is passed on.
pub(crate) struct SingleFn<P, O>(unsafe fn(&P, *const u8, u64) -> O);

/// A [`Many`] compiled for an instruction set that this CPU has.
pub(crate) struct ManyFn<P, I, O>(unsafe fn(&P, *const u8, &[I], &mut [O]));

impl<P, O> Clone for SingleFn<P, O> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<P, O> Copy for SingleFn<P, O> {}

impl<P, I, O> Clone for ManyFn<P, I, O> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<P, I, O> Copy for ManyFn<P, I, O> {}

#[expect(unsafe_code, reason = "code that needs the CPU's features, and bytes of a known length")]
impl<P: HasSolution, O> SingleFn<P, O> {
    /// `None` if the bytes do not have the length that the solution is made for.
    #[inline(always)]
    pub(crate) fn call(self, probe: &P, bytes: &[u8], key_hash: u64) -> Option<O> {
        probe.solution().over(bytes)?;
        // SAFETY: a kernel exists only where the CPU has its features, and the bytes have the
        // length that the solution is made for.
        Some(unsafe { (self.0)(probe, bytes.as_ptr(), key_hash) })
    }
}

#[expect(unsafe_code, reason = "code that needs the CPU's features, and bytes of a known length")]
impl<P: HasSolution, I, O> ManyFn<P, I, O> {
    /// Runs the query if the bytes have the length that the solution is made for. Returns whether
    /// they do.
    #[inline(always)]
    pub(crate) fn call(self, probe: &P, bytes: &[u8], inputs: &[I], outputs: &mut [O]) -> bool {
        let right = probe.solution().over(bytes).is_some();
        if right {
            // SAFETY: a kernel exists only where the CPU has its features, and the bytes have the
            // length that the solution is made for.
            unsafe { (self.0)(probe, bytes.as_ptr(), inputs, outputs) }
        }
        right
    }
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

/// Calls a function in the module of the chosen kernel; `None` for the portable one.
macro_rules! in_module_with_vectors {
    ($choice:expr, $name:ident::<$type:ty>()) => {
        match $choice {
            Choice::Portable => None,
            #[cfg(target_arch = "x86_64")]
            Choice::Avx2(_) => Some(avx2::$name::<$type>()),
            #[cfg(target_arch = "x86_64")]
            Choice::Avx512(_) => Some(avx512::$name::<$type>()),
            #[cfg(all(target_arch = "aarch64", target_endian = "little"))]
            Choice::Neon(_) => Some(neon::$name::<$type>()),
        }
    };
}

impl Kernel {
    /// All kernels that this CPU can run, the best first.
    #[cfg(any(test, feature = "internals"))]
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
        #[cfg(target_arch = "x86_64")]
        {
            if let Some(avx512) = avx512::Avx512::detect() {
                return Self(Choice::Avx512(avx512));
            }
            if let Some(avx2) = avx2::Avx2::detect() {
                return Self(Choice::Avx2(avx2));
            }
        }
        #[cfg(all(target_arch = "aarch64", target_endian = "little"))]
        if let Some(neon) = neon::Neon::detect() {
            return Self(Choice::Neon(neon));
        }
        Self(Choice::Portable)
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

    /// The kernel for work that the compiler vectorizes. With AVX-512 the compiler would use gather
    /// and scatter instructions, which cost more time than they save.
    pub(crate) fn for_compiler(self) -> Self {
        match self.0 {
            #[cfg(target_arch = "x86_64")]
            Choice::Avx512(token) => Self(Choice::Avx2(token.into())),
            _ => self,
        }
    }

    /// A query compiled for every target.
    #[inline]
    pub(crate) fn portable_single<S: Single>() -> SingleFn<S::Probe, S::Output> {
        portable::single_of::<S>()
    }

    /// A query of many inputs compiled for every target.
    #[inline]
    pub(crate) fn portable_many<M: Many>() -> ManyFn<M::Probe, M::Input, M::Output> {
        portable::many_of::<M>()
    }

    /// A query compiled for this kernel. `None` for the portable kernel, for which it is not
    /// compiled.
    #[inline]
    pub(crate) fn single_with_vectors<S: Single>(self) -> Option<SingleFn<S::Probe, S::Output>> {
        in_module_with_vectors!(self.0, single_of::<S>())
    }

    /// A query of many inputs compiled for this kernel. `None` for the portable kernel.
    #[inline]
    pub(crate) fn many_with_vectors<M: Many>(
        self,
    ) -> Option<ManyFn<M::Probe, M::Input, M::Output>> {
        in_module_with_vectors!(self.0, many_of::<M>())
    }

    /// A query compiled for this kernel, including the portable one.
    #[inline]
    pub(crate) fn single<S: Single>(self) -> SingleFn<S::Probe, S::Output> {
        self.single_with_vectors::<S>().unwrap_or(Self::portable_single::<S>())
    }

    /// A query of many inputs compiled for this kernel, including the portable one.
    #[inline]
    pub(crate) fn many<M: Many>(self) -> ManyFn<M::Probe, M::Input, M::Output> {
        self.many_with_vectors::<M>().unwrap_or(Self::portable_many::<M>())
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
