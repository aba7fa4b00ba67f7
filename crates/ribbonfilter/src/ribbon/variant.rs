//! The members of the ribbon family.

use core::fmt;

/// A member of the ribbon family.
///
/// | variant | paper | what a query computes | size |
/// |---|---|---|---|
/// | `Standard` | section 3 | fingerprints in a system that is retried until it is solvable | the smallest for small sets; a seed for every segment |
/// | `Balanced` | section 6 | fingerprints; keys that find no slot move to a second location | small for large sets: about 0.4 % above the minimum at width 64 |
/// | `Homogeneous` | section 4 | zero: no fingerprints, never fails | some percent more; the fastest query |
/// | `Bumped` | [its successor] | fingerprints in layers that pass on the keys they cannot hold | the smallest for large sets: 0.06 to 0.23 % above the minimum at widths 64 and 128 |
///
/// [its successor]: https://arxiv.org/abs/2109.01892
///
/// ```
/// use ribbonfilter::{Filter, Variant};
///
/// let mut builder = Filter::builder().variant(Variant::Homogeneous);
/// builder.extend(0..1000);
/// assert_eq!(builder.finish()?.variant(), Variant::Homogeneous);
/// # Ok::<(), ribbonfilter::BuildError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Variant {
    /// Standard Ribbon: a static function of fingerprints.
    Standard,
    /// Homogeneous Ribbon: a random solution of a homogeneous system.
    Homogeneous,
    /// Balanced Ribbon: fingerprints, and two locations for every key.
    Balanced,
    /// Bumped Ribbon (BuRR): overloaded layers, each of which bumps a few keys to the next.
    /// For widths 32, 64 and 128.
    Bumped,
}

impl Variant {
    /// Every variant.
    ///
    /// ```
    /// use ribbonfilter::Variant;
    ///
    /// assert!(Variant::ALL.contains(&Variant::Bumped));
    /// ```
    pub const ALL: &[Self] = &[Self::Standard, Self::Homogeneous, Self::Balanced, Self::Bumped];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Standard => "Standard",
            Self::Balanced => "Balanced",
            Self::Homogeneous => "Homogeneous",
            Self::Bumped => "Bumped",
        }
    }
}

impl fmt::Display for Variant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
