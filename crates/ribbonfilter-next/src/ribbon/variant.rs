//! The variants: what happens where too many keys meet.

use core::fmt;

/// How a filter or map deals with places where more keys meet than there are slots.
///
/// ```
/// use ribbonfilter_next::Variant;
///
/// assert_eq!("bumped".parse::<Variant>()?, Variant::Bumped);
/// assert_eq!(Variant::Standard.to_string(), "standard");
/// # Ok::<(), ribbonfilter_next::ParseError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Variant {
    /// One system with enough slots. If it has no solution, another seed is tried. The fastest
    /// queries, and the smallest sets.
    Standard,
    /// A system with fewer slots than keys, so that nearly all of them are used. Where too many
    /// keys meet, some are *bumped* to a second, small system. The smallest filters.
    Bumped,
}

impl Variant {
    /// All variants.
    pub const ALL: &[Self] = &[Self::Standard, Self::Bumped];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Standard => "standard",
            Self::Bumped => "bumped",
        }
    }
}

impl fmt::Display for Variant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
