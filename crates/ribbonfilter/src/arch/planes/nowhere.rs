//! Where no instructions for planes are at hand: no token, so no call.

use super::Planes;
use crate::layout::Layout;

/// There is none.
pub(super) type Token = core::convert::Infallible;

pub(super) fn eliminate(token: Token, _: &mut Planes) -> bool {
    match token {}
}

pub(super) fn solve(token: Token, _: &Planes, _: &Layout, _: &mut [u8]) {
    match token {}
}
