//! For targets without instructions for byte-sliced elimination. `InstructionSet` cannot be constructed.

use super::ByteSliced;
use crate::kernel::{Kernel, Work};
use crate::ribbon::layout::Layout;

/// Uninhabited: no instructions are available.
#[derive(Clone, Copy)]
pub(super) enum InstructionSet {}

impl InstructionSet {
    pub(super) fn of(_: Kernel) -> Option<Self> {
        None
    }

    pub(super) fn run<W: Work>(self, _: W) -> W::Output {
        match self {}
    }

    pub(super) fn table_words(self) -> usize {
        match self {}
    }

    pub(super) fn eliminate(self, _: &mut ByteSliced) -> bool {
        match self {}
    }

    pub(super) fn solve(self, _: &ByteSliced, _: &Layout, _: &mut [u8]) {
        match self {}
    }
}
