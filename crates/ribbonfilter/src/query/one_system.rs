//! Places in a single system of segments: Standard, Homogeneous and Balanced ribbons.

use super::Places;
use crate::Variant;
use crate::arch::{Knows, Laid, Path, Readable};
use crate::equation::{Seed, Seeded, Shards, Starts, below_segment, mix, seeded, segment};
use crate::format::Header;
use crate::width::Band;

#[derive(Clone, Copy)]
pub(crate) struct OneSystem {
    homogeneous: bool,
    segment_bits: u32,
    segment_slots: u64,
    starts: Starts,
    first_column: u32,
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
        Self {
            homogeneous: shape.variant == Variant::Homogeneous,
            segment_bits: shape.segment_bits,
            segment_slots: shape.segment_slots,
            starts: shape.starts(),
            first_column: header.first_column(),
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
        let (mut below, mut first_slot, mut seed) = (mixed, 0, self.seed);
        if self.segment_bits > 0 {
            let segment = self.segment(mixed);
            below = below_segment(mixed, self.segment_bits);
            first_slot = segment * self.segment_slots;
            if !P::PLAIN
                && let Some(seeds) = self.seeds
            {
                seed = seed_of(seeds, segment);
            }
        }
        let hash = seeded(below, seed);
        let start = match P::PLAIN {
            true => self.starts.plain_start(hash),
            false => self.starts.start(hash),
        };
        (first_slot + start, hash)
    }

    #[inline(always)]
    pub(super) fn segment(&self, mixed: u64) -> u64 {
        segment(mixed, self.segment_bits)
    }

    /// What the slots of a key must sum to.
    #[inline(always)]
    pub(super) fn row<P: Path>(&self, hash: Seeded) -> u64 {
        match P::PLAIN || self.homogeneous {
            true => 0,
            false => u64::from(hash.fingerprint()) >> self.first_column,
        }
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
        let slot = place.segment * self.segment_slots + self.starts.start(place.position);
        let row = u64::from(place.hash.fingerprint()) >> self.first_column;
        readable.lay::<B, P>(slot, place.hash.coefficients(), row)
    }
}

impl Places for OneSystem {
    type Known<const FRACTIONAL: bool, const PLAIN: bool> = Knows<FRACTIONAL, PLAIN>;
    type Far = Self;

    #[inline(always)]
    fn far(self) -> Self {
        self
    }

    /// Whether every row is expected to be zero, no start is smashed and one seed serves all.
    #[inline]
    fn is_plain(&self) -> bool {
        self.homogeneous && self.seeds.is_none() && !self.starts.is_smashed()
    }

    #[inline(always)]
    fn find<B: Band, P: Path>(&self, readable: Readable<'_>, key_hash: u64) -> Laid<B> {
        let mixed = mix(key_hash);
        if !P::PLAIN
            && let Some((shards, metadata)) = self.shards
        {
            return self.find_balanced::<B, P>(readable, mixed, shards, metadata);
        }
        let seed_of = |seeds, segment| Seed::new(readable.bytes()[seeds + segment as usize]);
        let (slot, hash) = self.place::<P>(mixed, seed_of);
        readable.lay::<B, P>(slot, hash.coefficients(), self.row::<P>(hash))
    }
}
