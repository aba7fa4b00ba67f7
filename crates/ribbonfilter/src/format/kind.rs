//! The kind of structure that a footer describes.

use super::{FOOTER_BYTES, at, exact};
use crate::error::Kind;

/// The kinds that have a code of their own, in the order of the codes.
const CODED: [Kind; 4] = [Kind::Filter, Kind::Function, Kind::Part, Kind::Container];

/// The kind of structure that the footer describes. A shard that stands alone has the code of a
/// container and one more bit, an exact set that code and a filling that no container has.
#[inline(always)]
pub(super) fn kind_of(footer: &[u8; FOOTER_BYTES]) -> Kind {
    match CODED[usize::from(footer[at::WHAT] & 3)] {
        Kind::Container if footer[at::SEGMENTS] >> 5 == exact::FILLING => Kind::ExactSet,
        Kind::Container if footer[at::SEGMENTS] >> 7 == 1 => Kind::Shard,
        kind => kind,
    }
}
