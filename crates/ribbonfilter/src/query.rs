//! From a mixed hash to an answer: single queries, and batches that fetch ahead.

use crate::arch::{Compiled, Instructions, Kernel, Knows, Laid, Path, Query, Readable, Solution};
use crate::equation::{Seed, Shards, Starts, below_segment, mix, seeded, segment};
use crate::format::Header;
use crate::width::Band;
use crate::{Key, Variant};

/// Queries under way in a batch: while one is answered, the memory of so many behind it is
/// on its way.
const AHEAD: usize = 16;

/// Filters up to this size live in the core's own cache, where fetching ahead only costs.
const CACHED_BYTES: usize = 1 << 18;

/// Keys of a batch that are hashed at a time.
const HASHED: usize = 256;

/// All that a query needs besides the bytes, worked out once.
#[derive(Clone, Copy)]
pub(crate) struct Probe {
    compiled: Compiled<Self>,
    homogeneous: bool,
    segment_bits: u32,
    segment_slots: u64,
    starts: Starts,
    solution: Solution,
    first_column: u32,
    seed: Seed,
    /// Where the seeds of the segments begin, if each has one.
    seeds: Option<usize>,
    /// The shards of a Balanced ribbon, and where their bumped buckets are.
    shards: Option<(Shards, usize)>,
}

impl Probe {
    #[inline]
    pub(crate) fn new(header: &Header, len: usize, kernel: Kernel) -> Self {
        let shape = &header.shape;
        let (layout, starts) = (shape.layout(), shape.starts());
        let seeds = shape.segment_seeds().then(|| layout.size_in_bytes() as usize);
        let homogeneous = shape.variant == Variant::Homogeneous;
        let plain = homogeneous && seeds.is_none() && !starts.is_smashed();
        Self {
            compiled: kernel.compiled(shape.width, layout.is_fractional(), plain),
            homogeneous,
            segment_bits: shape.segment_bits,
            segment_slots: shape.segment_slots,
            starts,
            solution: Solution::new(layout, shape.width, len),
            first_column: header.first_column,
            seed: Seed::new(header.seed),
            seeds,
            shards: shape.shards().map(|shards| (shards, layout.size_in_bytes() as usize)),
        }
    }

    /// Whether the key with this hash might be in the set. If the bytes have another length
    /// than those that were opened, any key might.
    #[inline(always)]
    pub(crate) fn contains(&self, bytes: &[u8], key_hash: u64) -> bool {
        self.compiled.contains(self, bytes, key_hash)
    }

    /// The same for as many keys as there are hits.
    pub(crate) fn contains_keys<K: Key>(
        &self,
        bytes: &[u8],
        keys: &[K],
        key_seed: u64,
        hits: &mut [bool],
    ) {
        let mut hashes = [0; HASHED];
        for (keys, hits) in keys.chunks(HASHED).zip(hits.chunks_mut(HASHED)) {
            for (hash, key) in hashes.iter_mut().zip(keys) {
                *hash = key.key_hash(key_seed);
            }
            self.contains_hashes(bytes, &hashes[..keys.len()], hits);
        }
    }

    /// The same for as many hashes as there are hits.
    pub(crate) fn contains_hashes(&self, bytes: &[u8], key_hashes: &[u64], hits: &mut [bool]) {
        self.compiled.contains_all(self, bytes, key_hashes, hits);
    }

    /// Near the end of the solution. It takes what [`contains`](Query::contains) takes, so
    /// that the call is a jump and nothing need be saved before it.
    #[cold]
    #[inline(never)]
    fn contains_slowly<B: Band>(&self, bytes: &[u8], key_hash: u64) -> bool {
        let Some(readable) = self.solution.over(bytes) else {
            return true;
        };
        readable.matches_slowly(self.lay::<B, Knows<true, false>>(readable, key_hash))
    }

    #[inline(always)]
    fn lay<B: Band, P: Path>(&self, readable: Readable<'_>, key_hash: u64) -> Laid<B> {
        let mixed = mix(key_hash);
        if !P::PLAIN
            && let Some((shards, metadata)) = self.shards
        {
            return self.lay_balanced::<B, P>(readable, mixed, shards, metadata);
        }
        let (mut below, mut first_slot, mut seed) = (mixed, 0, self.seed);
        if self.segment_bits > 0 {
            let segment = segment(mixed, self.segment_bits);
            below = below_segment(mixed, self.segment_bits);
            first_slot = segment * self.segment_slots;
            if !P::PLAIN
                && let Some(seeds) = self.seeds
            {
                seed = Seed::new(readable.bytes()[seeds + segment as usize]);
            }
        }
        let hash = seeded(below, seed);
        let start = match P::PLAIN {
            true => self.starts.plain_start(hash),
            false => self.starts.start(hash),
        };
        let row = match P::PLAIN || self.homogeneous {
            true => 0,
            false => u64::from(hash.fingerprint()) >> self.first_column,
        };
        // Coefficients are not cut to the slots: few systems are so narrow, and they are
        // answered slowly, where it is done.
        readable.lay::<B, P>(first_slot + start, hash.coefficients(), row)
    }

    /// The same for a Balanced ribbon: at the primary place unless the key's bucket is bumped.
    #[inline(always)]
    fn lay_balanced<B: Band, P: Path>(
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

    #[inline(always)]
    fn answer<I: Instructions, B: Band, P: Path>(
        &self,
        instructions: I,
        readable: Readable<'_>,
        key_hash: u64,
        laid: Laid<B>,
    ) -> bool {
        match readable.matches::<I, B, P>(instructions, laid) {
            Some(matches) => matches,
            None => self.contains_slowly::<B>(readable.bytes(), key_hash),
        }
    }
}

impl Query for Probe {
    #[inline(always)]
    fn contains<I: Instructions, B: Band, P: Path>(
        &self,
        instructions: I,
        bytes: &[u8],
        key_hash: u64,
    ) -> bool {
        let Some(readable) = self.solution.over(bytes) else {
            return true;
        };
        let laid = self.lay::<B, P>(readable, key_hash);
        self.answer::<I, B, P>(instructions, readable, key_hash, laid)
    }

    #[inline(always)]
    fn contains_all<I: Instructions, B: Band, P: Path>(
        &self,
        instructions: I,
        bytes: &[u8],
        key_hashes: &[u64],
        hits: &mut [bool],
    ) {
        // A copy, which the compiler knows that no answer changes.
        let probe = { *self };
        let Some(readable) = probe.solution.over(bytes) else {
            hits.fill(true);
            return;
        };
        if bytes.len() <= CACHED_BYTES {
            for (&key_hash, hit) in key_hashes.iter().zip(hits) {
                let laid = probe.lay::<B, P>(readable, key_hash);
                *hit = probe.answer::<I, B, P>(instructions, readable, key_hash, laid);
            }
            return;
        }
        // A ring of equations on their way: each takes the place of one that is answered.
        let mut ring = [Laid::<B>::NOWHERE; AHEAD];
        for (laid, &key_hash) in ring.iter_mut().zip(key_hashes) {
            *laid = probe.lay::<B, P>(readable, key_hash);
            readable.fetch(instructions, laid);
        }
        let behind = key_hashes.get(AHEAD..).unwrap_or_default();
        for (index, (&key_hash, hit)) in key_hashes.iter().zip(hits).enumerate() {
            let place = &mut ring[index % AHEAD];
            *hit = probe.answer::<I, B, P>(instructions, readable, key_hash, *place);
            if let Some(&next) = behind.get(index) {
                *place = probe.lay::<B, P>(readable, next);
                readable.fetch(instructions, place);
            }
        }
    }
}
