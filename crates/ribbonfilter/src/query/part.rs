//! Locating in a part of a filter: the key's location in the whole filter, relative to the part.
//!
//! A key that starts outside the part is located at [`Located::UNKNOWN`]: it might be in the
//! filter, so the query returns "maybe".

use super::single::{Located, Opened, System};
use super::{Locate, Locator, Membership, Probe, skipped_bits};
use crate::format::Footer;
use crate::kernel::Kernel;
use crate::ribbon::equation::mix;
use crate::ribbon::range::BlockRange;

/// The locator of a part.
#[derive(Clone, Copy)]
pub(crate) struct InPart {
    /// The system of the whole filter, with its seeds at their offset in the part.
    whole: System,
    /// The slots where the part's keys start: the first slot, and the number of slots.
    first_slot: u64,
    slots: u64,
    /// The segments that contain these slots: the first, and their number.
    first_segment: u64,
    segments: u64,
}

impl InPart {
    fn new(footer: &Footer, range: &BlockRange) -> Self {
        let mut whole = Locator::new(footer, &footer.shape.layout()).system;
        // The offset that the seed of segment 0 would have. It may wrap around below 0; adding the
        // number of a segment that the part contains wraps it back.
        let first_seed = range.solution_bytes().wrapping_sub(range.segments.start);
        whole.seeds = whole.seeds.map(|_| first_seed as usize);
        Self {
            whole,
            first_slot: range.starts.start,
            slots: range.starts.end - range.starts.start,
            first_segment: range.segments.start,
            segments: range.segments.end - range.segments.start,
        }
    }

    /// The equation of a key, if it starts in the part.
    #[cfg_attr(not(target_arch = "wasm32"), inline(always))]
    fn find<'a>(&self, opened: Opened<'a>, key_hash: u64) -> Option<Located<'a>> {
        let mixed = mix(key_hash);
        let segment = self.whole.segments.number(mixed).wrapping_sub(self.first_segment);
        if segment >= self.segments {
            return None;
        }
        let located = self.whole.locate(opened, mixed);
        let slot = located.slot.wrapping_sub(self.first_slot);
        (slot < self.slots).then(|| opened.located(slot, located.hash))
    }
}

impl Locate for InPart {
    #[cfg_attr(not(target_arch = "wasm32"), inline(always))]
    fn locate<'a>(&self, opened: Opened<'a>, key_hash: u64) -> Located<'a> {
        self.find(opened, key_hash).unwrap_or(Located::UNKNOWN)
    }
}

impl Probe<Membership, InPart> {
    /// A probe of the part in `bytes`, which holds `range` of the filter with this footer.
    pub(crate) fn of_part(footer: &Footer, range: &BlockRange, bytes: &[u8]) -> Self {
        let skipped = skipped_bits(footer);
        let (width, kernel) = (footer.shape.width, Kernel::best());
        Self::new(range.layout, width, bytes, kernel, InPart::new(footer, range), skipped)
    }

    /// Whether the key starts in the part.
    #[inline]
    pub(crate) fn covers(&self, bytes: &[u8], key_hash: u64) -> bool {
        let covers =
            |opened: Opened<'_, Self>| self.locator.find(opened.target(), key_hash).is_some();
        self.open(bytes, covers).unwrap_or(false)
    }
}
