//! From a mixed hash to an answer: single queries, and batches that fetch ahead.

mod layered;

use layered::LayeredProbe;

use crate::arch::{
    CompiledQuery, Instructions, Kernel, Path, Query, Readable, Solution, Work, with_path,
};
use crate::equation::{Seed, Starts, below_segment, mix, seeded, segment};
use crate::format::Header;
use crate::width::{Band, with_band};
use crate::{Variant, Width};

/// Queries under way in a batch: while one is answered, the memory of so many behind it is
/// on its way.
const AHEAD: usize = 16;

/// Filters up to this size live in the cache, where fetching ahead only costs.
const CACHED_BYTES: usize = 1 << 21;

/// All that a query needs besides the bytes, worked out once.
#[derive(Clone, Copy)]
pub(crate) struct Probe {
    kernel: Kernel,
    compiled: CompiledQuery<Self>,
    width: Width,
    fractional: bool,
    plain: bool,
    homogeneous: bool,
    segment_bits: u32,
    segment_slots: u64,
    starts: Starts,
    solution: Solution,
    first_column: u32,
    seed: Seed,
    /// Where the seeds of the segments begin, if each has one.
    seeds: Option<usize>,
}

/// What a query looks for, and where.
#[derive(Clone, Copy)]
struct Located<B> {
    slot: u64,
    coefficients: B,
    row: u64,
}

impl Probe {
    #[inline]
    pub(crate) fn new(header: &Header, len: usize, kernel: Kernel) -> Self {
        let shape = &header.shape;
        let (layout, starts) = (shape.layout(), shape.starts());
        let seeds = shape.segment_seeds().then(|| layout.size_in_bytes() as usize);
        let homogeneous = shape.variant == Variant::Homogeneous;
        let fractional = layout.is_fractional();
        let plain = homogeneous && seeds.is_none() && !starts.is_smashed();
        Self {
            kernel,
            compiled: kernel.compiled(shape.width, fractional, plain),
            width: shape.width,
            fractional,
            plain,
            homogeneous,
            segment_bits: shape.segment_bits,
            segment_slots: shape.segment_slots,
            starts,
            solution: Solution::new(layout, shape.width, len),
            first_column: header.first_column,
            seed: Seed::new(header.seed),
            seeds,
        }
    }

    /// Whether the key with this hash might be in the set. If the bytes have another length
    /// than those that were opened, any key might.
    #[inline(always)]
    pub(crate) fn contains(&self, bytes: &[u8], key_hash: u64) -> bool {
        self.compiled.call(self, bytes, mix(key_hash))
    }

    /// The same for many hashes.
    #[inline]
    pub(crate) fn contains_all(
        &self,
        bytes: &[u8],
        key_hashes: impl Iterator<Item = u64>,
        hits: &mut [bool],
    ) {
        match self.solution.over(bytes) {
            Some(readable) => self.kernel.run(Batch { probe: self, readable, key_hashes, hits }),
            None => hits.fill(true),
        }
    }

    #[inline(always)]
    fn locate<B: Band, P: Path>(&self, bytes: &[u8], mixed: u64) -> Located<B> {
        let (mut below, mut first_slot, mut seed) = (mixed, 0, self.seed);
        if self.segment_bits > 0 {
            let segment = segment(mixed, self.segment_bits);
            below = below_segment(mixed, self.segment_bits);
            first_slot = segment * self.segment_slots;
            if !P::PLAIN
                && let Some(seeds) = self.seeds
            {
                seed = Seed::new(bytes[seeds + segment as usize]);
            }
        }
        let hash = seeded(below, seed);
        let (start, row) = match P::PLAIN {
            true => (self.starts.plain_start(hash), 0),
            false if self.homogeneous => (self.starts.start(hash), 0),
            false => {
                let row = u64::from(hash.fingerprint()) >> self.first_column;
                (self.starts.start(hash), row)
            }
        };
        // Coefficients are not cut to the slots: few systems are so narrow, and
        // `matches_slowly` does it there.
        Located { slot: first_slot + start, coefficients: hash.coefficients(), row }
    }
}

/// Asks for the memory that a query will read.
#[inline(always)]
fn fetch<I: Instructions, B: Band>(
    solution: &Solution,
    instructions: I,
    bytes: &[u8],
    at: &Located<B>,
) {
    const LINE: usize = 64;
    let layout = solution.layout().of_width(B::WIDTH);
    let block = layout.block_of(at.slot);
    let begin = layout.offset(block);
    let end = layout.offset(block + B::PARTS as u64);
    let mut line = begin;
    while line < end {
        instructions.prefetch(bytes, line);
        line += LINE;
    }
    // Blocks need not begin on a line, so that the last bytes may lie on one more.
    instructions.prefetch(bytes, end - 1);
}

impl Query for Probe {
    #[inline(always)]
    fn contains<I: Instructions, B: Band, P: Path>(
        &self,
        instructions: I,
        bytes: &[u8],
        mixed: u64,
    ) -> bool {
        let Some(readable) = self.solution.over(bytes) else {
            return true;
        };
        self.locate::<B, P>(bytes, mixed).answer::<I, P>(instructions, readable)
    }
}

/// The probe of a filter, whatever its variant.
#[derive(Clone, Copy)]
#[expect(clippy::large_enum_variant, reason = "a filter has one, and none is to be allocated")]
pub(crate) enum AnyProbe {
    Plain(Probe),
    Layered(LayeredProbe),
}

impl AnyProbe {
    #[inline]
    pub(crate) fn new(header: &Header, len: usize, kernel: Kernel) -> Self {
        match header.shape.variant {
            Variant::Bumped => Self::Layered(LayeredProbe::new(header, len, kernel)),
            _ => Self::Plain(Probe::new(header, len, kernel)),
        }
    }

    /// Whether the key with this hash might be in the set.
    #[inline(always)]
    pub(crate) fn contains(&self, bytes: &[u8], key_hash: u64) -> bool {
        match self {
            Self::Plain(probe) => probe.contains(bytes, key_hash),
            Self::Layered(probe) => probe.contains(bytes, key_hash),
        }
    }

    /// The same for many hashes.
    #[inline]
    pub(crate) fn contains_all(
        &self,
        bytes: &[u8],
        key_hashes: impl Iterator<Item = u64>,
        hits: &mut [bool],
    ) {
        match self {
            Self::Plain(probe) => probe.contains_all(bytes, key_hashes, hits),
            Self::Layered(probe) => probe.contains_all(bytes, key_hashes, hits),
        }
    }
}

/// Many queries.
struct Batch<'a, H> {
    probe: &'a Probe,
    readable: Readable<'a>,
    key_hashes: H,
    hits: &'a mut [bool],
}

impl<H: Iterator<Item = u64>> Work for Batch<'_, H> {
    type Output = ();

    #[inline(always)]
    fn run<I: Instructions>(self, instructions: I) {
        let Probe { width, fractional, plain, .. } = *self.probe;
        with_band!(width, B => with_path!(fractional, plain, P => {
            self.run_with::<I, B, P>(instructions);
        }));
    }
}

impl<H: Iterator<Item = u64>> Batch<'_, H> {
    #[inline(always)]
    fn run_with<I: Instructions, B: Band, P: Path>(self, instructions: I) {
        let Self { probe, readable, key_hashes, hits } = self;
        // A copy, which the compiler knows that no answer changes.
        let probe = &{ *probe };
        let bytes = readable.bytes();
        if bytes.len() <= CACHED_BYTES {
            for (key_hash, hit) in key_hashes.zip(hits) {
                let at = probe.locate::<B, P>(bytes, mix(key_hash));
                *hit = at.answer::<I, P>(instructions, readable);
            }
            return;
        }
        let mut ring = [Located { slot: 0, coefficients: B::ZERO, row: 0 }; AHEAD];
        let mut asked = 0;
        for key_hash in key_hashes.take(hits.len()) {
            let at = probe.locate::<B, P>(bytes, mix(key_hash));
            fetch(&probe.solution, instructions, bytes, &at);
            let before = core::mem::replace(&mut ring[asked % AHEAD], at);
            if asked >= AHEAD {
                hits[asked - AHEAD] = before.answer::<I, P>(instructions, readable);
            }
            asked += 1;
        }
        for rest in asked.saturating_sub(AHEAD)..asked {
            hits[rest] = ring[rest % AHEAD].answer::<I, P>(instructions, readable);
        }
    }
}

impl<B: Band> Located<B> {
    #[inline(always)]
    fn answer<I: Instructions, P: Path>(self, instructions: I, readable: Readable<'_>) -> bool {
        let Self { slot, coefficients, row } = self;
        readable.matches::<I, B, P>(instructions, slot, coefficients, row)
    }
}
