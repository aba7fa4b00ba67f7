//! What bytes hold, as the footer tells.

use super::{FOOTER_BYTES, at};
use crate::error::Kind;

/// All that have a code, in its order.
const CODED: [Kind; 4] = [Kind::Filter, Kind::Function, Kind::Part, Kind::Container];

/// What a footer is of.
#[inline(always)]
pub(super) fn kind_of(footer: &[u8; FOOTER_BYTES]) -> Kind {
    match CODED[usize::from(footer[at::WHAT] & 3)] {
        Kind::Container if footer[at::SEGMENTS] >> 7 == 1 => Kind::Shard,
        kind => kind,
    }
}
