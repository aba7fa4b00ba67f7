//! Queries of a Bumped ribbon: first the layer, then the answer.
//!
//! A key's start in a layer names a bucket, the bucket's two-bit code a threshold, and if the
//! key starts before it the key was bumped and is looked for in the next layer. One branch,
//! rarely taken, decides that for the first layer; a batch that fetches ahead looks into the
//! first two layers without any.

use super::Places;
use crate::Width;
use crate::arch::{Laid, Path, Readable};
use crate::equation::{Seed, Seeded, Starts, below_segment, mix, seeded, segment};
use crate::format::{EXCEPTION, Header, little_endian};
use crate::layers::{self, Buckets, Further, MOST};
use crate::width::Band;

/// A layer, as a query sees it.
#[derive(Clone, Copy)]
struct Layer {
    segment_bits: u32,
    segment_slots: u64,
    first_slot: u64,
    starts: Starts,
    seed: Seed,
}

#[derive(Clone, Copy)]
pub(crate) struct Layers {
    first: Layer,
    /// The second, if there is one: most keys are in one of the two.
    second: Layer,
    /// The layers behind the first; the last does not bump, and only it has a seed.
    further: Further,
    width: Width,
    smash: bool,
    seed: Seed,
    bucket_log: u32,
    /// The thresholds of the codes, 16 bits each. If there are exceptions, that of
    /// [`MOST`] is the whole bucket, so that its keys come to [`Layers::is_bumped`].
    thresholds: u64,
    /// The threshold of [`MOST`] as it is.
    most: u64,
    /// Where codes and exceptions begin, and how many of these there are.
    codes: usize,
    exceptions: usize,
    exception_count: usize,
    first_column: u32,
}

impl Layer {
    #[inline(always)]
    fn new(layer: layers::Layer, first_slot: u64, width: Width, smash: bool, seed: Seed) -> Self {
        Self {
            segment_bits: layer.segment_bits(),
            segment_slots: layer.segment_slots(),
            first_slot,
            starts: Starts::new(layer.segment_slots(), width, smash),
            seed,
        }
    }
}

impl Layers {
    #[inline]
    pub(super) fn new(header: &Header) -> Self {
        let shape = &header.shape;
        let (layout, further, width, smash) =
            (shape.layout(), shape.further, shape.width, shape.smash);
        let buckets = Buckets::of(width);
        let seed = Seed::new(header.seed);
        let seed_of =
            |layer: usize| if layer == further.layers().len() { seed } else { Seed::new(0) };
        let front = layers::Layer::new(shape.segment_bits, shape.segment_slots);
        let first = Layer::new(front, 0, width, smash, seed_of(0));
        let second = match further.layers().first() {
            Some(&second) => Layer::new(second, front.slots(), width, smash, seed_of(1)),
            None => first,
        };
        let codes = layout.size_in_bytes() as usize;
        let exception_count = shape.further.exceptions as usize;
        let most = u64::from(buckets.thresholds[usize::from(MOST)]);
        let [_, others @ ..] = buckets.thresholds;
        let threshold = if exception_count > 0 { buckets.slots() } else { most };
        let thresholds =
            others.iter().rev().fold(0, |packed, &next| packed << 16 | u64::from(next)) << 16
                | threshold;
        Self {
            first,
            second,
            further,
            width,
            smash,
            seed,
            bucket_log: buckets.log,
            thresholds,
            most,
            codes,
            exceptions: codes + shape.buckets().div_ceil(4) as usize,
            exception_count,
            first_column: header.first_column(),
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
        let mut first_slot = self.second.first_slot;
        let further = self.further.layers();
        for (number, &next) in (1..).zip(further) {
            if !bumped || !self.is_bumped(bytes, place.slot, code) {
                break;
            }
            let last = number == further.len();
            let seed = if last { self.seed } else { Seed::new(0) };
            let next = Layer::new(next, first_slot, self.width, self.smash, seed);
            place = Self::place(&next, place.next_layer());
            if last {
                break;
            }
            first_slot += next.segment_slots << next.segment_bits;
            (bumped, code) = self.seems_bumped(bytes, place.slot);
        }
        place
    }

    #[inline(always)]
    fn lay<B: Band, P: Path>(&self, readable: Readable<'_>, place: Place) -> Laid<B> {
        let row = u64::from(place.hash.fingerprint()) >> self.first_column;
        readable.lay::<B, P>(place.slot, place.hash.coefficients(), row)
    }
}

impl Places for Layers {
    #[inline(always)]
    fn find<B: Band, P: Path>(&self, readable: Readable<'_>, key_hash: u64) -> Laid<B> {
        let mut place = Self::place(&self.first, mix(key_hash));
        if !self.further.layers().is_empty() {
            let (bumped, code) = self.seems_bumped(readable.bytes(), place.slot);
            if bumped {
                place = self.behind(readable.bytes(), place, code);
            }
        }
        self.lay::<B, P>(readable, place)
    }

    /// Without a branch that depends on the first code: most keys are in one of the first
    /// two layers.
    #[inline(always)]
    fn find_far<B: Band, P: Path>(&self, readable: Readable<'_>, key_hash: u64) -> Laid<B> {
        if self.further.layers().len() < 2 {
            return self.find::<B, P>(readable, key_hash);
        }
        let bytes = readable.bytes();
        let near = Self::place(&self.first, mix(key_hash));
        let (from_first, code) = self.seems_bumped(bytes, near.slot);
        let next = Self::place(&self.second, near.next_layer());
        let (from_next, _) = self.seems_bumped(bytes, next.slot);
        let doubtful = self.exception_count > 0 && code == MOST;
        let place = match from_first & (from_next | doubtful) {
            true => self.behind(bytes, near, code),
            false => near.or(next, from_first),
        };
        self.lay::<B, P>(readable, place)
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
