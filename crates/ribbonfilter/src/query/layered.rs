//! Queries of a Bumped ribbon: first the layer, then the answer.
//!
//! A key's start in a layer names a bucket, the bucket's two-bit code a threshold, and if the
//! key starts before it the key was bumped and is looked for in the next layer. One branch,
//! rarely taken, decides that for the first layer; a batch that fetches ahead looks into the
//! first two layers without any.

use super::{AHEAD, CACHED_BYTES, Located, fetch};
use crate::Width;
use crate::arch::{
    CompiledQuery, Instructions, Kernel, Path, Query, Readable, Solution, Work, with_path,
};
use crate::equation::{Seed, Seeded, Starts, below_segment, mix, seeded, segment};
use crate::format::{EXCEPTION, Header, little_endian};
use crate::layers::{Buckets, MAX_FURTHER, MOST};
use crate::width::{Band, with_band};

/// A layer, as a query sees it.
#[derive(Clone, Copy)]
struct Layer {
    segment_bits: u32,
    segment_slots: u64,
    first_slot: u64,
    starts: Starts,
    seed: Seed,
}

/// All that a query needs besides the bytes, worked out once.
#[derive(Clone, Copy)]
pub(crate) struct LayeredProbe {
    kernel: Kernel,
    compiled: CompiledQuery<Self>,
    width: Width,
    fractional: bool,
    first: Layer,
    further: [Layer; MAX_FURTHER],
    /// How many of these there are; the last does not bump.
    count: usize,
    bucket_log: u32,
    /// The thresholds of the codes, 16 bits each. If there are exceptions, that of
    /// [`MOST`] is the whole bucket, so that its keys come to [`LayeredProbe::is_bumped`].
    thresholds: u64,
    /// The threshold of [`MOST`] as it is.
    most: u64,
    /// Where codes and exceptions begin, and how many of these there are.
    codes: usize,
    exceptions: usize,
    exception_count: usize,
    solution: Solution,
    first_column: u32,
}

impl LayeredProbe {
    #[inline]
    pub(crate) fn new(header: &Header, len: usize, kernel: Kernel) -> Self {
        let shape = &header.shape;
        let layout = shape.layout();
        let buckets = Buckets::of(shape.width);
        let mut first_slot = 0;
        let mut layers = shape.layers().map(|layer| {
            let starts = Starts::new(layer.segment_slots, shape.width, shape.smash);
            let begin = first_slot;
            first_slot += layer.slots();
            Layer {
                segment_bits: layer.segment_bits,
                segment_slots: layer.segment_slots,
                first_slot: begin,
                starts,
                seed: Seed::new(0),
            }
        });
        let mut first = layers.next().expect("there is a first layer");
        let mut further = [first; MAX_FURTHER];
        let mut count = 0;
        for layer in layers {
            further[count] = layer;
            count += 1;
        }
        // Only the last layer has a seed.
        match count {
            0 => first.seed = Seed::new(header.seed),
            _ => further[count - 1].seed = Seed::new(header.seed),
        }
        let codes = layout.size_in_bytes() as usize;
        let exception_count = shape.further.exceptions as usize;
        let most = u64::from(buckets.thresholds[usize::from(MOST)]);
        let [_, others @ ..] = buckets.thresholds;
        let threshold = if exception_count > 0 { buckets.slots() } else { most };
        let thresholds =
            others.iter().rev().fold(0, |packed, &next| packed << 16 | u64::from(next)) << 16
                | threshold;
        let fractional = layout.is_fractional();
        Self {
            kernel,
            compiled: kernel.compiled(shape.width, fractional, false),
            width: shape.width,
            fractional,
            first,
            further,
            count,
            bucket_log: buckets.log,
            thresholds,
            most,
            codes,
            exceptions: codes + shape.buckets().div_ceil(4) as usize,
            exception_count,
            solution: Solution::new(layout, shape.width, len),
            first_column: header.first_column,
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

    /// A key's place in a layer.
    #[inline(always)]
    fn place(layer: &Layer, mixed: u64) -> Place {
        let (mut below, mut number, mut first_slot) = (mixed, 0, layer.first_slot);
        if layer.segment_bits > 0 {
            number = segment(mixed, layer.segment_bits);
            below = below_segment(mixed, layer.segment_bits);
            first_slot += number * layer.segment_slots;
        }
        let hash = seeded(below, layer.seed);
        Place { segment: number, hash, slot: first_slot + layer.starts.start(hash) }
    }

    /// Whether the code of its bucket seems to bump a key, and the code. The exceptions have
    /// still to be asked if there are any.
    #[inline(always)]
    fn seems_bumped(&self, bytes: &[u8], slot: u64) -> (bool, u8) {
        let bucket = slot >> self.bucket_log;
        let offset = slot & ((1 << self.bucket_log) - 1);
        let byte = bytes[self.codes + (bucket >> 2) as usize];
        let code = byte >> (2 * (bucket & 3)) & 3;
        (offset < (self.thresholds >> (16 * code)) & 0xffff, code)
    }

    /// Whether a key that seems to be bumped is.
    #[inline(always)]
    fn is_bumped(&self, bytes: &[u8], slot: u64, code: u8) -> bool {
        let offset = slot & ((1 << self.bucket_log) - 1);
        code != MOST || offset < self.most || self.is_exception(bytes, slot >> self.bucket_log)
    }

    /// Whether a bucket bumps all its keys: searches the sorted list by halving.
    #[inline(never)]
    fn is_exception(&self, bytes: &[u8], bucket: u64) -> bool {
        let list = &bytes[self.exceptions..][..self.exception_count * EXCEPTION];
        let entry = |at: usize| little_endian(&list[at * EXCEPTION..][..EXCEPTION]);
        let (mut low, mut high) = (0, self.exception_count);
        while low < high {
            let middle = low + (high - low) / 2;
            if entry(middle) < bucket {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low < self.exception_count && entry(low) == bucket
    }

    /// Where a key is that seems to be bumped from its place in the first layer.
    #[cold]
    #[inline(never)]
    fn behind(&self, bytes: &[u8], mut place: Place, mut code: u8) -> Place {
        let mut bumped = true;
        for (number, next) in (1..).zip(&self.further[..self.count]) {
            if !bumped || !self.is_bumped(bytes, place.slot, code) {
                break;
            }
            place = Self::place(next, place.next_layer());
            if number == self.count {
                break;
            }
            (bumped, code) = self.seems_bumped(bytes, place.slot);
        }
        place
    }

    #[inline(always)]
    fn located<B: Band>(&self, place: Place) -> Located<B> {
        Located {
            slot: place.slot,
            coefficients: place.hash.coefficients(),
            row: u64::from(place.hash.fingerprint()) >> self.first_column,
        }
    }

    /// Where to look for a key.
    #[inline(always)]
    fn locate<B: Band>(&self, bytes: &[u8], mixed: u64) -> Located<B> {
        let place = Self::place(&self.first, mixed);
        if self.count > 0 {
            let (bumped, code) = self.seems_bumped(bytes, place.slot);
            if bumped {
                return self.located(self.behind(bytes, place, code));
            }
        }
        self.located(place)
    }

    /// The same as [`locate`](Self::locate), without a branch that depends on the first code.
    #[inline(always)]
    fn locate_ahead<B: Band>(&self, bytes: &[u8], mixed: u64) -> Located<B> {
        if self.count < 2 {
            return self.locate::<B>(bytes, mixed);
        }
        let near = Self::place(&self.first, mixed);
        let (from_first, code) = self.seems_bumped(bytes, near.slot);
        let next = Self::place(&self.further[0], near.next_layer());
        let (from_next, _) = self.seems_bumped(bytes, next.slot);
        let doubtful = self.exception_count > 0 && code == MOST;
        if from_first & (from_next | doubtful) {
            return self.located(self.behind(bytes, near, code));
        }
        self.located(near.or(next, from_first))
    }
}

/// Where a key is in a layer, if it is not bumped there.
#[derive(Clone, Copy)]
struct Place {
    segment: u64,
    hash: Seeded,
    slot: u64,
}

impl Place {
    #[inline(always)]
    fn next_layer(self) -> u64 {
        self.hash.next_layer(self.segment)
    }

    /// The other place if `other` is wanted, by a choice that is no branch.
    #[inline(always)]
    fn or(self, other: Self, wanted: bool) -> Self {
        use core::hint::select_unpredictable;
        Self {
            segment: other.segment,
            hash: select_unpredictable(wanted, other.hash, self.hash),
            slot: select_unpredictable(wanted, other.slot, self.slot),
        }
    }
}

impl Query for LayeredProbe {
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
        self.locate::<B>(bytes, mixed).answer::<I, P>(instructions, readable)
    }
}

/// Many queries.
struct Batch<'a, H> {
    probe: &'a LayeredProbe,
    readable: Readable<'a>,
    key_hashes: H,
    hits: &'a mut [bool],
}

impl<H: Iterator<Item = u64>> Work for Batch<'_, H> {
    type Output = ();

    #[inline(always)]
    fn run<I: Instructions>(self, instructions: I) {
        let LayeredProbe { width, fractional, .. } = *self.probe;
        with_band!(width, B => with_path!(fractional, false, P => {
            self.run_with::<I, B, P>(instructions);
        }));
    }
}

impl<H: Iterator<Item = u64>> Batch<'_, H> {
    #[inline(always)]
    fn run_with<I: Instructions, B: Band, P: Path>(self, instructions: I) {
        let Self { probe, readable, key_hashes, hits } = self;
        let bytes = readable.bytes();
        if bytes.len() <= CACHED_BYTES {
            for (key_hash, hit) in key_hashes.zip(hits) {
                let at = probe.locate::<B>(bytes, mix(key_hash));
                *hit = at.answer::<I, P>(instructions, readable);
            }
            return;
        }
        let mut ring = [Located { slot: 0, coefficients: B::ZERO, row: 0 }; AHEAD];
        let mut asked = 0;
        for key_hash in key_hashes.take(hits.len()) {
            let at = probe.locate_ahead::<B>(bytes, mix(key_hash));
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
