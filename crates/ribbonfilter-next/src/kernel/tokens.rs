//! The tokens: a value of one exists only where the CPU has the instructions.

/// Code that every CPU can run.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Portable;

/// Proof that the CPU has AVX2, BMI1, BMI2, LZCNT and POPCNT: Haswell, Zen and later.
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Avx2(());

#[cfg(target_arch = "x86_64")]
impl Avx2 {
    #[inline]
    pub(super) fn detect() -> Option<Self> {
        super::has_features!("avx2", "bmi1", "bmi2", "lzcnt", "popcnt").then_some(Self(()))
    }

    /// The token in a function that is compiled for the features: its caller has proved them.
    #[inline]
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    pub(crate) fn here() -> Self {
        Self(())
    }
}

/// Proof that the CPU has the AVX-512 of Ice Lake, Zen 4 and later, with GFNI, and all that
/// [`Avx2`] proves. Older CPUs with AVX-512 lack what makes it faster here; they use [`Avx2`].
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Avx512(());

#[cfg(target_arch = "x86_64")]
impl Avx512 {
    #[inline]
    pub(super) fn detect() -> Option<Self> {
        Avx2::detect()?;
        super::has_features!(
            "avx512f",
            "avx512bw",
            "avx512dq",
            "avx512vl",
            "avx512ifma",
            "avx512vbmi",
            "avx512vbmi2",
            "avx512vpopcntdq",
            "avx512bitalg",
            "gfni"
        )
        .then_some(Self(()))
    }

    /// The token in a function that is compiled for the features: its caller has proved them.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512ifma,avx512vbmi,\
        avx512vbmi2,avx512vpopcntdq,avx512bitalg,gfni,avx2,bmi1,bmi2,lzcnt,popcnt")]
    pub(crate) fn here() -> Self {
        Self(())
    }
}

/// Proof that the CPU has NEON, which every 64-bit Arm with an operating system has.
#[cfg(all(target_arch = "aarch64", target_endian = "little"))]
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Neon(());

#[cfg(all(target_arch = "aarch64", target_endian = "little"))]
impl Neon {
    #[inline]
    pub(super) fn detect() -> Option<Self> {
        cfg!(target_feature = "neon").then_some(Self(()))
    }

    /// The token in a function that is compiled for the features: its caller has proved them.
    #[inline]
    #[target_feature(enable = "neon")]
    pub(crate) fn here() -> Self {
        Self(())
    }
}
