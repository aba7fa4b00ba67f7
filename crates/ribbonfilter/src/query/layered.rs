//! Queries of a Bumped ribbon: first the layer, then the answer.
//!
//! A key's start in a layer names a bucket, the bucket's two-bit code a threshold, and if the
//! key starts before it the key was bumped and is looked for in the next layer. One branch,
//! rarely taken, decides that for the first layer; a batch that fetches ahead looks into the
//! first two layers without any.

use super::Places;
use crate::Width;
use crate::arch::{Knows, Laid, Path, Readable};
use crate::equation::{Seed, Seeded, Segments, Starts, mix, seeded};
use crate::format::{EXCEPTION, Header, little_endian};
use crate::layers::{self, Buckets, Further, MOST};
use crate::width::Band;

/// A layer, as a query sees it.
#[derive(Clone, Copy)]
struct Layer {
    segments: Segments,
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
    /// The thresholds of the codes, 16 bits each. If there are exceptions, that of
    /// [`MOST`] is the whole bucket, so that its keys come to [`Layers::is_bumped`]; if there
    /// is one layer only, all are 0.
    thresholds: u64,
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
            segments: Segments::new(layer.segment_bits(), layer.segment_slots()),
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
        let [most, others @ ..] = buckets.thresholds.map(u64::from);
        let most = if exception_count > 0 { buckets.slots() } else { most };
        let thresholds = match further.layers() {
            [] => 0,
            _ => others.iter().rev().fold(0, |packed, next| packed << 16 | next) << 16 | most,
        };
        Self {
            first,
            second,
            further,
            width,
            smash,
            seed,
            thresholds,
            codes,
            exceptions: codes + shape.buckets().div_ceil(4) as usize,
            exception_count,
            first_column: header.first_column(),
        }
    }

    pub(super) fn further(&self) -> Further {
        self.further
    }

    /// A key's place in a layer.
    #[inline(always)]
    fn place(layer: &Layer, mixed: u64) -> Place {
        let segments = layer.segments;
        let hash = seeded(segments.below(mixed), layer.seed);
        let first_slot = layer.first_slot + segments.first_slot(mixed);
        let slot = first_slot + layer.starts.start(hash);
        Place { segment: segments.number(mixed), hash, slot }
    }

    /// The code of a slot's bucket; that of any other where there are no buckets.
    #[inline(always)]
    fn code<B: Band>(&self, bytes: &[u8], slot: u64) -> Option<u8> {
        let bucket = slot >> Buckets::of(B::WIDTH).log;
        let byte = *bytes.get(self.codes + (bucket >> 2) as usize)?;
        Some(byte >> (2 * (bucket & 3)) & 3)
    }

    /// Whether this code of its bucket seems to bump a key. The exceptions have still to be
    /// asked if there are any.
    #[inline(always)]
    fn seems_bumped<B: Band>(&self, slot: u64, code: u8) -> bool {
        offset::<B>(slot) < (self.thresholds >> (16 * code)) & 0xffff
    }

    /// Whether a key that seems to be bumped is.
    #[inline(always)]
    fn is_bumped<B: Band>(&self, bytes: &[u8], slot: u64, code: u8) -> bool {
        let Buckets { log, thresholds: [most, ..] } = Buckets::of(B::WIDTH);
        code != MOST || offset::<B>(slot) < most.into() || self.is_exception(bytes, slot >> log)
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

    /// Where a key is that seems to be bumped from its place in the first layer: mostly in the
    /// second.
    #[inline(always)]
    fn behind<B: Band>(&self, bytes: &[u8], place: Place, code: u8) -> Place {
        if !self.is_bumped::<B>(bytes, place.slot, code) {
            return place;
        }
        let place = Self::place(&self.second, place.next_layer());
        let code = self.code::<B>(bytes, place.slot).unwrap_or_default();
        match self.seems_bumped::<B>(place.slot, code) {
            true => self.far_behind::<B>(bytes, place, code),
            false => place,
        }
    }

    /// The same from the second layer on. The last bumps nothing, whatever it seems.
    #[cold]
    #[inline(never)]
    fn far_behind<B: Band>(&self, bytes: &[u8], mut place: Place, mut code: u8) -> Place {
        let mut first_slot = self.second.first_slot;
        let further = self.further.layers();
        for (number, pair) in (2..).zip(further.windows(2)) {
            let [here, next] = *pair else { break };
            if !self.is_bumped::<B>(bytes, place.slot, code) {
                break;
            }
            first_slot += here.slots();
            let last = number == further.len();
            let seed = if last { self.seed } else { Seed::new(0) };
            let next = Layer::new(next, first_slot, self.width, self.smash, seed);
            place = Self::place(&next, place.next_layer());
            code = self.code::<B>(bytes, place.slot).unwrap_or_default();
            if last || !self.seems_bumped::<B>(place.slot, code) {
                break;
            }
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
    type Known<const FRACTIONAL: bool, const PLAIN: bool> = Knows<FRACTIONAL, false>;
    type Far = FarLayers;

    #[inline(always)]
    fn far(self) -> FarLayers {
        FarLayers(self)
    }

    #[inline(always)]
    fn find<B: Band, P: Path>(&self, readable: Readable<'_>, key_hash: u64) -> Laid<B> {
        let mut place = Self::place(&self.first, mix(key_hash));
        let code = self.code::<B>(readable.bytes(), place.slot).unwrap_or_default();
        if self.seems_bumped::<B>(place.slot, code) {
            place = self.behind::<B>(readable.bytes(), place, code);
        }
        self.lay::<B, P>(readable, place)
    }

    #[inline(always)]
    fn find_at_once<B: Band, P: Path>(
        &self,
        readable: Readable<'_>,
        key_hash: u64,
    ) -> Option<Laid<B>> {
        let place = Self::place(&self.first, mix(key_hash));
        let code = self.code::<B>(readable.bytes(), place.slot)?;
        let here = !self.seems_bumped::<B>(place.slot, code);
        here.then(|| self.lay::<B, P>(readable, place))
    }
}

/// Layers whose codes are read without a branch that depends on the first: most keys are in
/// one of the first two layers.
#[derive(Clone, Copy)]
pub(crate) struct FarLayers(Layers);

impl Places for FarLayers {
    type Known<const FRACTIONAL: bool, const PLAIN: bool> = Knows<FRACTIONAL, false>;
    type Far = Self;

    #[inline(always)]
    fn far(self) -> Self {
        self
    }

    #[inline(always)]
    fn find<B: Band, P: Path>(&self, readable: Readable<'_>, key_hash: u64) -> Laid<B> {
        let (Self(layers), bytes) = (self, readable.bytes());
        let near = Layers::place(&layers.first, mix(key_hash));
        let next = Layers::place(&layers.second, near.next_layer());
        let codes = [near, next].map(|place| layers.code::<B>(bytes, place.slot));
        let [Some(code), Some(next_code)] = codes else {
            return layers.find::<B, P>(readable, key_hash);
        };
        let from_first = layers.seems_bumped::<B>(near.slot, code);
        // The second of two layers bumps nothing: what seems so there is found behind, too.
        let from_next = layers.seems_bumped::<B>(next.slot, next_code);
        let doubtful = layers.exception_count > 0 && code == MOST;
        let place = match from_first & (from_next | doubtful) {
            true => layers.behind::<B>(bytes, near, code),
            false => near.or(next, from_first),
        };
        layers.lay::<B, P>(readable, place)
    }
}

/// How many slots of its bucket lie before a slot.
#[inline(always)]
fn offset<B: Band>(slot: u64) -> u64 {
    slot & (Buckets::of(B::WIDTH).slots() - 1)
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
