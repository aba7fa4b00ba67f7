//! Places in a part of a filter: those of the whole, where the part has them.
//!
//! Of a key that starts elsewhere a part knows nothing. It is given an equation without a single
//! coefficient, which always holds: it might be there.

use super::one_system::OneSystem;
use super::{Holds, Places, Probe};
use crate::arch::{Kernel, Knows, Laid, Path, Readable};
use crate::equation::{Seed, Seeded, mix};
use crate::format::Header;
use crate::stretch::Stretch;
use crate::width::Band;

#[derive(Clone, Copy)]
pub(crate) struct InPart {
    /// The filter that was cut.
    whole: OneSystem,
    /// Where the keys of the part start: a slot, and how many there are from it on.
    first_slot: u64,
    slots: u64,
    /// The segments of these slots.
    first_segment: u64,
    segments: u64,
    /// Where their seeds begin, if they have any.
    seeds: usize,
}

impl InPart {
    fn new(header: &Header, stretch: &Stretch) -> Self {
        Self {
            whole: OneSystem::new(header),
            first_slot: stretch.starts.start,
            slots: stretch.starts.end - stretch.starts.start,
            first_segment: stretch.segments.start,
            segments: stretch.segments.end - stretch.segments.start,
            seeds: stretch.solution_bytes() as usize,
        }
    }

    /// Where a key starts in the part, and its hash there, if it starts in it.
    #[inline(always)]
    fn place<P: Path>(&self, bytes: &[u8], key_hash: u64) -> Option<(u64, Seeded)> {
        let mixed = mix(key_hash);
        let segment = self.whole.segment(mixed).wrapping_sub(self.first_segment);
        if segment >= self.segments {
            return None;
        }
        let seed_of = |_, _| Seed::new(bytes[self.seeds + segment as usize]);
        let (slot, hash) = self.whole.place::<P>(mixed, seed_of);
        let slot = slot.wrapping_sub(self.first_slot);
        (slot < self.slots).then_some((slot, hash))
    }
}

impl Places for InPart {
    /// What may be known of any filter: parts are few, and are asked where time goes elsewhere.
    type Known<const FRACTIONAL: bool, const PLAIN: bool> = Knows<true, false>;
    type Far = Self;

    #[inline(always)]
    fn far(self) -> Self {
        self
    }

    #[inline(always)]
    fn find<B: Band, P: Path>(&self, readable: Readable<'_>, key_hash: u64) -> Laid<B> {
        match self.place::<P>(readable.bytes(), key_hash) {
            Some((slot, hash)) => {
                readable.lay::<B, P>(slot, hash.coefficients(), self.whole.row::<P>(hash))
            }
            None => Laid::NOWHERE,
        }
    }
}

impl Probe<InPart, Holds> {
    /// The probe of a part of so many bytes, of the filter with this header.
    pub(crate) fn of_part(header: &Header, stretch: &Stretch, len: usize) -> Self {
        let places = InPart::new(header, stretch);
        Self::new(stretch.layout, header.shape.width, len, Kernel::best(), places)
    }

    /// Whether the key starts in the part.
    #[inline]
    pub(crate) fn covers(&self, bytes: &[u8], key_hash: u64) -> bool {
        let place = |readable: Readable<'_>| {
            self.places.place::<Knows<true, false>>(readable.bytes(), key_hash)
        };
        self.solution.over(bytes).and_then(place).is_some()
    }
}
