//! The kinds of filters, which determine the colors of figures and the groups of tables.

use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Family {
    Bumped,
    Balanced,
    Standard,
    Homogeneous,
    Pleat,
    BinaryFuse,
    Xor,
    XorPlus,
    VFilter,
    Quotient,
    Cuckoo,
    Bloom,
    BlockedBloom,
    SplitBlockBloom,
    RegisterBloom,
}

impl Family {
    pub const ALL: [Self; 15] = [
        Self::Bumped,
        Self::Balanced,
        Self::Standard,
        Self::Homogeneous,
        Self::Pleat,
        Self::BinaryFuse,
        Self::Xor,
        Self::XorPlus,
        Self::VFilter,
        Self::Quotient,
        Self::Cuckoo,
        Self::Bloom,
        Self::BlockedBloom,
        Self::SplitBlockBloom,
        Self::RegisterBloom,
    ];

    pub fn is_ours(self) -> bool {
        matches!(self, Self::Bumped | Self::Balanced | Self::Standard | Self::Homogeneous)
    }

    /// The CSS class of the family in figures.
    pub fn class(self) -> String {
        format!("f-{self:?}").to_lowercase()
    }

    pub fn label(self) -> &'static str {
        match self {
            Self::Bumped => "Bumped",
            Self::Balanced => "Balanced",
            Self::Standard => "Standard",
            Self::Homogeneous => "Homogeneous",
            Self::Pleat => "pleat ribbon",
            Self::BinaryFuse => "Binary fuse",
            Self::Xor => "Xor",
            Self::XorPlus => "Xor+",
            Self::VFilter => "VFilter",
            Self::Quotient => "Quotient",
            Self::Cuckoo => "Cuckoo",
            Self::Bloom => "Bloom",
            Self::BlockedBloom => "Blocked Bloom",
            Self::SplitBlockBloom => "Split-block Bloom",
            Self::RegisterBloom => "Register Bloom",
        }
    }
}

impl From<ribbonfilter::Variant> for Family {
    fn from(variant: ribbonfilter::Variant) -> Self {
        use ribbonfilter::Variant;
        match variant {
            Variant::Standard => Self::Standard,
            Variant::Homogeneous => Self::Homogeneous,
            Variant::Balanced => Self::Balanced,
            _ => Self::Bumped,
        }
    }
}
