//! Places in a single system of segments: Standard, Homogeneous and Balanced ribbons.

use super::Places;
use crate::Variant;
use crate::arch::{Knows, Laid, Path, Readable};
use crate::equation::{FINGERPRINT_BITS, Seed, Seeded, Segments, Shards, Starts, mix, seeded};
use crate::format::Header;
use crate::width::Band;

#[derive(Clone, Copy)]
pub(crate) struct OneSystem {
    /// Every row is expected to be zero, no start is smashed and one seed serves all.
    plain: bool,
    segments: Segments,
    starts: Starts,
    /// How many bits of a fingerprint are not stored: all if every row is zero.
    skipped: u32,
    seed: Seed,
    /// Where the seeds of the segments begin, if each has one.
    seeds: Option<usize>,
    /// The shards of a Balanced ribbon, and where their bumped buckets are.
    shards: Option<(Shards, usize)>,
}

impl OneSystem {
    #[inline]
    pub(super) fn new(header: &Header) -> Self {
        let shape = &header.shape;
        let metadata = shape.layout().size_in_bytes() as usize;
        let starts = shape.starts();
        let homogeneous = shape.variant == Variant::Homogeneous;
        Self {
            plain: homogeneous && !starts.is_smashed(),
            segments: Segments::new(shape.segment_bits, shape.segment_slots),
            starts,
            skipped: if homogeneous { FINGERPRINT_BITS } else { header.first_column() },
            seed: Seed::new(header.seed),
            seeds: shape.segment_seeds().then_some(metadata),
            shards: shape.shards().map(|shards| (shards, metadata)),
        }
    }

    /// Where a key that has one place starts, and its hash there. `seed_of` is asked where the
    /// segments have seeds: for that of a segment, and told where they begin in a filter.
    #[inline(always)]
    pub(super) fn place<P: Path>(
        &self,
        mixed: u64,
        seed_of: impl FnOnce(usize, u64) -> Seed,
    ) -> (u64, Seeded) {
        let seed = match self.seeds {
            Some(seeds) if !P::PLAIN => seed_of(seeds, self.segment(mixed)),
            _ => self.seed,
        };
        let hash = seeded(self.segments.below(mixed), seed);
        let start = match P::PLAIN {
            true => self.starts.plain_start(hash),
            false => self.starts.start(hash),
        };
        (self.segments.first_slot(mixed) + start, hash)
    }

    #[inline(always)]
    pub(super) fn segment(&self, mixed: u64) -> u64 {
        self.segments.number(mixed)
    }

    /// What the slots of a key must sum to.
    #[inline(always)]
    pub(super) fn row<P: Path>(&self, hash: Seeded) -> u64 {
        if P::PLAIN { 0 } else { u64::from(hash.fingerprint()) >> self.skipped }
    }

    /// The place of a key in a Balanced ribbon: the primary one unless its bucket is bumped.
    #[inline(always)]
    fn find_balanced<B: Band, P: Path>(
        &self,
        readable: Readable<'_>,
        mixed: u64,
        shards: Shards,
        metadata: usize,
    ) -> Laid<B> {
        let mut place = shards.primary(mixed, self.seed);
        let shard = shards.shard(place);
        if readable.bytes()[metadata + shard as usize] >> place.hash.bucket() & 1 == 1 {
            place = shards.secondary(shards.level(shard), place.hash);
        }
        let first_slot = self.segments.first_slot_of(place.segment);
        let slot = first_slot + self.starts.start(place.position);
        readable.lay::<B, P>(slot, place.hash.coefficients(), self.row::<P>(place.hash))
    }
}

impl Places for OneSystem {
    type Known<const FRACTIONAL: bool, const PLAIN: bool> = Knows<FRACTIONAL, PLAIN>;
    type Far = Self;

    #[inline(always)]
    fn far(self) -> Self {
        self
    }

    #[inline]
    fn is_plain(&self) -> bool {
        self.plain
    }

    #[inline]
    fn are_unique(&self) -> bool {
        self.shards.is_none()
    }

    #[inline(always)]
    fn find<B: Band, P: Path>(&self, readable: Readable<'_>, key_hash: u64) -> Laid<B> {
        let mixed = mix(key_hash);
        if !P::PLAIN
            && !P::SHORT
            && let Some((shards, metadata)) = self.shards
        {
            return self.find_balanced::<B, P>(readable, mixed, shards, metadata);
        }
        let seed_of = |seeds, segment| Seed::new(readable.bytes()[seeds + segment as usize]);
        let (slot, hash) = self.place::<P>(mixed, seed_of);
        readable.lay::<B, P>(slot, hash.coefficients(), self.row::<P>(hash))
    }
}
