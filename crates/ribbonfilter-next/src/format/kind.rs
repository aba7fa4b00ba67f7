//! The kind of structure that a footer describes.

use crate::error::{Kind, OpenError};

/// All kinds, in the order of their codes. Code 0 is none, so that zeroed bytes are no structure.
const KINDS: [Kind; 5] =
    [Kind::Filter, Kind::Function, Kind::Container, Kind::Shard, Kind::ExactSet];

pub(super) fn encode(kind: Kind) -> u8 {
    KINDS.iter().position(|&other| other == kind).map_or(0, |code| code as u8 + 1)
}

pub(super) fn decode(code: u8) -> Result<Kind, OpenError> {
    let index = usize::from(code).checked_sub(1);
    let kind = index.and_then(|index| KINDS.get(index).copied());
    kind.ok_or(OpenError::Inconsistent { field: "kind" })
}
