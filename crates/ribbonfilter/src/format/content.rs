//! What the columns of a structure store: fingerprints, or values.

use crate::error::Kind;
use crate::ribbon::equation::FINGERPRINT_BITS;
use crate::ribbon::layout::MAX_COLUMNS;

/// What the columns of a structure store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Content {
    /// Bits of fingerprints, from bit `first_column` on.
    Filter { first_column: u32 },
    /// The bits of values, followed by `fingerprint_bits` bits of fingerprints.
    Function { fingerprint_bits: u32 },
}

impl Content {
    pub(crate) fn kind(self) -> Kind {
        match self {
            Self::Filter { .. } => Kind::Filter,
            Self::Function { .. } => Kind::Function,
        }
    }

    /// The number that either kind stores in the same six bits.
    pub(super) fn number(self) -> u32 {
        match self {
            Self::Filter { first_column: number } | Self::Function { fingerprint_bits: number } => {
                number
            }
        }
    }

    pub(super) fn of(kind: Kind, number: u32) -> Self {
        match kind {
            Kind::Function => Self::Function { fingerprint_bits: number },
            _ => Self::Filter { first_column: number },
        }
    }

    /// Whether a structure with keys, or an empty one, can have `columns` columns.
    pub(super) fn allows(self, columns: u32, empty: bool) -> bool {
        match self {
            Self::Filter { first_column } => {
                first_column + columns <= FINGERPRINT_BITS && (columns == 0) == empty
            }
            // Values have at least one bit, even in an empty function.
            Self::Function { fingerprint_bits } => {
                fingerprint_bits < columns && columns as usize <= MAX_COLUMNS
            }
        }
    }
}
