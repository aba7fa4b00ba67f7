//! Kernels: all code that is specific to a CPU, and how code is compiled for one.
//!
//! A [`Kernel`] is an instruction set that was found on this CPU: portable, AVX2, AVX-512 or NEON.
//! Each has a *token*, a type of which a value exists only where the CPU has the instructions. So
//! a token is a proof, and its methods are safe to call.
//!
//! [`compile!`] is the one way to compile a generic function for every instruction set. The
//! function is compiled as a whole, so that everything in it is inlined and nothing is dispatched
//! twice. What differs between instruction sets is a trait of the caller that the tokens implement.
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

/// Compiles a generic function for every instruction set.
///
/// ```text
/// compile! {
///     /// The query of an opened filter.
///     pub(crate) fn compiled[const W: usize][W] = query(probe: &Probe, key_hash: u64) -> bool;
/// }
/// ```
/// defines `compiled::<W>(kernel)`, which returns a pointer to `query::<_, W>` compiled for the
/// kernel. The first type parameter and the first argument of `query` are the token. `query` must
/// be `#[inline(always)]`, and so must every function in it that is to use the instruction set.
///
/// The pointer is to an unsafe function. Its caller guarantees that the CPU has the instructions of
/// the kernel, for which a [`Kernel`] is the proof, and all that `query` requires, if it is unsafe.
macro_rules! compile {
    (
        $(#[$doc:meta])*
        $visibility:vis fn $name:ident[$($parameters:tt)*][$($names:tt)*] =
            $run:ident($($argument:ident: $of:ty),+ $(,)?) -> $result:ty;
    ) => {
        $(#[$doc])*
        #[allow(unsafe_code, unused_unsafe, reason = "`run` may be safe or unsafe")]
        $visibility fn $name<$($parameters)*>(
            kernel: $crate::kernel::Kernel,
        ) -> unsafe fn($($of),+) -> $result {
            unsafe fn portable<$($parameters)*>($($argument: $of),+) -> $result {
                // SAFETY: the caller guarantees what `run` requires.
                unsafe { $run::<_, $($names)*>($crate::kernel::Portable, $($argument),+) }
            }
            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
            unsafe fn avx2<$($parameters)*>($($argument: $of),+) -> $result {
                // SAFETY: the caller guarantees what `run` requires.
                unsafe { $run::<_, $($names)*>($crate::kernel::Avx2::here(), $($argument),+) }
            }
            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512ifma,avx512vbmi,\
                avx512vbmi2,avx512vpopcntdq,avx512bitalg,gfni,avx2,bmi1,bmi2,lzcnt,popcnt")]
            unsafe fn avx512<$($parameters)*>($($argument: $of),+) -> $result {
                // SAFETY: the caller guarantees what `run` requires.
                unsafe { $run::<_, $($names)*>($crate::kernel::Avx512::here(), $($argument),+) }
            }
            #[cfg(all(target_arch = "aarch64", target_endian = "little"))]
            #[target_feature(enable = "neon")]
            unsafe fn neon<$($parameters)*>($($argument: $of),+) -> $result {
                // SAFETY: the caller guarantees what `run` requires.
                unsafe { $run::<_, $($names)*>($crate::kernel::Neon::here(), $($argument),+) }
            }
            match kernel.0 {
                $crate::kernel::Choice::Portable(_) => portable::<$($names)*>,
                #[cfg(target_arch = "x86_64")]
                $crate::kernel::Choice::Avx2(_) => avx2::<$($names)*>,
                #[cfg(target_arch = "x86_64")]
                $crate::kernel::Choice::Avx512(_) => avx512::<$($names)*>,
                #[cfg(all(target_arch = "aarch64", target_endian = "little"))]
                $crate::kernel::Choice::Neon(_) => neon::<$($names)*>,
            }
        }
    };
}
pub(crate) use compile;

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
#[cfg(target_arch = "x86_64")]
mod avx512_batch;
mod evaluate;
mod opaque;
mod sixty_four;
mod tokens;

pub(crate) use evaluate::Evaluate;
pub(crate) use opaque::opaque;
pub(crate) use sixty_four::{Geometry, Located, MAX_STARTS};
#[cfg(all(target_arch = "aarch64", target_endian = "little"))]
pub(crate) use tokens::Neon;
pub(crate) use tokens::Portable;
#[cfg(target_arch = "x86_64")]
pub(crate) use tokens::{Avx2, Avx512};

use core::fmt;

/// The instruction set that a structure uses: chosen once, carried as a value.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Kernel(pub(crate) Choice);

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Choice {
    Portable(Portable),
    #[cfg(target_arch = "x86_64")]
    Avx2(Avx2),
    #[cfg(target_arch = "x86_64")]
    Avx512(Avx512),
    #[cfg(all(target_arch = "aarch64", target_endian = "little"))]
    Neon(Neon),
}

impl Kernel {
    /// All kernels that this CPU can run, the best first.
    pub fn available() -> impl Iterator<Item = Self> {
        let choices = [
            #[cfg(target_arch = "x86_64")]
            Avx512::detect().map(Choice::Avx512),
            #[cfg(target_arch = "x86_64")]
            Avx2::detect().map(Choice::Avx2),
            #[cfg(all(target_arch = "aarch64", target_endian = "little"))]
            Neon::detect().map(Choice::Neon),
            Some(Choice::Portable(Portable)),
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
        Self::available().next().unwrap_or(Self(Choice::Portable(Portable)))
    }

    /// The kernel with the given name, if this CPU can run it.
    #[cfg(feature = "internals")]
    pub fn by_name(name: &str) -> Option<Self> {
        Self::available().find(|kernel| kernel.name() == name)
    }

    /// `portable`, `avx2`, `avx512` or `neon`.
    pub fn name(self) -> &'static str {
        match self.0 {
            Choice::Portable(_) => "portable",
            #[cfg(target_arch = "x86_64")]
            Choice::Avx2(_) => "avx2",
            #[cfg(target_arch = "x86_64")]
            Choice::Avx512(_) => "avx512",
            #[cfg(all(target_arch = "aarch64", target_endian = "little"))]
            Choice::Neon(_) => "neon",
        }
    }
}

impl fmt::Debug for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
