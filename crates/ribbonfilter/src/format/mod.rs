//! The bytes of a filter: solution, metadata, and the footer at the end.
//!
//! `docs/format.md` is the specification; this module is its only implementation. The footer
//! comes last for two reasons. The solution begins at offset 0, so that an aligned buffer or a
//! memory map puts its blocks on cache lines. And a query may read a word beyond the solution
//! without leaving the buffer. All numbers are little-endian, and the buffer may have any
//! alignment.

use crate::error::{Kind, OpenError};
use crate::ribbon::equation::{Balance, FINGERPRINT_BITS};
use crate::ribbon::layers::Codes;
use crate::ribbon::layout::{Order, READ_AHEAD};
use crate::ribbon::shape::Shape;
use crate::{Variant, Width};

mod checks;
mod container;
mod content;
pub(crate) mod exact;
mod fields;
mod kind;
mod layers;
pub(crate) mod lookup;
pub(crate) mod part;
pub(crate) mod pieces;

use checks::{
    MAGIC, VERSIONS, check_kind, check_length, data_check, ensure, footer_check, is_recognised,
    seal_footer, split_footer, write_checks,
};
pub(crate) use container::{
    Container, Directory, Filling, MAX_CELL_BITS, MAX_CONTAINER_BITS, MAX_CONTAINER_BYTES, Ranges,
    target_digest,
};
pub(crate) use content::Content;
pub(crate) use fields::little_endian;
use fields::{at, decode_rate, encode_rate, get, put};
use kind::kind_of;
pub(crate) use layers::directory_layer;

/// The size of the footer in bytes.
pub(crate) const FOOTER_BYTES: usize = 40;
const _: () = assert!(READ_AHEAD <= FOOTER_BYTES);

/// The maximum number of keys that the footer can store.
pub(crate) const MAX_KEYS: u64 = (1 << 48) - 1;
/// The maximum number of blocks that the column boundary can count.
pub(crate) const MAX_BLOCKS: u64 = 1 << 40;
/// The maximum number of segments, as a power of two.
pub(crate) const MAX_SEGMENT_BITS: u32 = 31;
/// The maximum number of shards per segment, as a power of two.
pub(crate) const MAX_SHARD_BITS: u32 = 16;

/// The feature bit for segments that each have a seed byte after the solution.
const SEGMENT_SEEDS: u8 = 1;
/// The feature bit for functions whose blocks are stored row-major.
const ROW_MAJOR: u8 = 2;

/// The footer of a filter or a function, decoded.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Footer {
    pub(crate) shape: Shape,
    pub(crate) keys: u64,
    pub(crate) key_seed: u64,
    /// The seed of all segments, unless each segment has a seed of its own.
    pub(crate) seed: u8,
    pub(crate) content: Content,
    /// The exact rate in its stored form; 0 if it equals the shape's nominal rate.
    rate: u32,
}

impl Footer {
    /// A footer to be filled.
    pub(crate) const EMPTY: Self = Self {
        shape: Shape::EMPTY,
        keys: 0,
        key_seed: 0,
        seed: 0,
        content: Content::Filter { first_column: 0 },
        rate: 0,
    };

    /// The footer with an exact rate; `None` stands for the nominal rate.
    pub(crate) fn with_rate(self, rate: Option<f64>) -> Self {
        Self { rate: rate.map_or(0, encode_rate), ..self }
    }

    /// The footer of a filter that has only some columns of the same solution.
    pub(crate) fn of_columns(&self, shape: Shape, first_column: u32, rate: Option<f64>) -> Self {
        Self { shape, content: Content::Filter { first_column }, ..*self }.with_rate(rate)
    }

    /// The fingerprint bit that the first column of a filter stores.
    pub(crate) fn first_column(&self) -> u32 {
        match self.content {
            Content::Filter { first_column } => first_column,
            Content::Function { .. } => 0,
        }
    }

    /// The false-positive rate.
    pub(crate) fn rate(&self) -> f64 {
        match self.rate {
            0 => self.shape.nominal_rate().value(),
            stored => decode_rate(stored),
        }
    }

    /// Reads the footer of a structure of the given kind at the end of `bytes`. O(1).
    pub(crate) fn read(bytes: &[u8], kind: Kind) -> Result<Self, OpenError> {
        let mut footer = Self::EMPTY;
        footer.fill(bytes, kind)?;
        Ok(footer)
    }

    /// Reads the footer into `self`. Engines open a filter for every query, and returning a
    /// `Footer` by value takes longer than decoding it.
    #[cfg_attr(not(target_arch = "wasm32"), inline(always))]
    pub(crate) fn fill(&mut self, bytes: &[u8], kind: Kind) -> Result<(), OpenError> {
        self.fill_from_end(bytes, kind)?;
        check_length(bytes, self.shape.data_bytes())
    }

    /// Reads the footer without checking the length of the data, and returns the data that
    /// precede the footer.
    #[cfg_attr(not(target_arch = "wasm32"), inline(always))]
    fn fill_from_end<'a>(&mut self, bytes: &'a [u8], kind: Kind) -> Result<&'a [u8], OpenError> {
        let (data, raw) = split_footer(bytes)?;
        self.decode(data, raw, kind)?;
        Ok(data)
    }

    /// Decodes the footer from its bytes `raw`, and the directory of layers from the end of the
    /// data that precede it.
    #[cfg_attr(not(target_arch = "wasm32"), inline(always))]
    fn decode(
        &mut self,
        data: &[u8],
        raw: &[u8; FOOTER_BYTES],
        expected: Kind,
    ) -> Result<(), OpenError> {
        check_kind(raw, expected)?;
        let unknown = features(raw) & !(SEGMENT_SEEDS | ROW_MAJOR);
        if unknown != 0 {
            return Err(OpenError::UnsupportedFeatures { features: unknown });
        }
        let further = usize::from(raw[at::SEGMENTS] >> 5);
        if further > 0 {
            self.shape.further = layers::read_directory(data, further)?;
        }
        self.decode_fixed(raw)?;
        self.check(features(raw))
    }

    /// Decodes the fields of the footer, without the directory of layers.
    #[cfg_attr(not(target_arch = "wasm32"), inline(always))]
    fn decode_fixed(&mut self, raw: &[u8; FOOTER_BYTES]) -> Result<(), OpenError> {
        let what = raw[at::WHAT];
        let columns = get(raw, at::COLUMNS);
        let shape = &mut self.shape;
        // A table of variants would be a load; this is no instruction at all.
        shape.variant = match what >> 2 & 3 {
            0 => Variant::Standard,
            1 => Variant::Homogeneous,
            2 => Variant::Balanced,
            _ => Variant::Bumped,
        };
        shape.width = Width::ALL[usize::from(what >> 4 & 3)];
        ensure(what >> 7 == 0, "smash")?;
        shape.smash = what >> 6 == 1;
        shape.segment_bits = u32::from(raw[at::SEGMENTS] & 31);
        shape.segment_slots = get(raw, at::SEGMENT_SLOTS);
        shape.columns = (columns & 0x7f) as u32;
        shape.boundary = get(raw, at::BOUNDARY);
        shape.order = if features(raw) & ROW_MAJOR == 0 { Order::Columns } else { Order::Rows };
        self.keys = get(raw, at::KEYS);
        self.key_seed = get(raw, at::KEY_SEED);
        self.seed = raw[at::SEED];
        self.content = Content::of(kind_of(raw), (columns >> 7 & 0x3f) as u32);
        self.rate = get(raw, at::RATE) as u32;
        if self.shape.variant == Variant::Balanced {
            self.shape.balance = decode_balance(raw, &self.shape)?;
            self.rate = 0;
        }
        Ok(())
    }

    /// Rejects what no builder writes, so that no query can leave the buffer.
    #[cfg_attr(not(target_arch = "wasm32"), inline(always))]
    fn check(&self, features: u8) -> Result<(), OpenError> {
        let shape = &self.shape;
        ensure((self.keys == 0) == (shape.segment_slots == 0), "number of slots")?;
        let aligned = shape.segment_bits == 0 || shape.segment_slots.is_multiple_of(64);
        ensure(aligned, "segment size")?;
        ensure(self.content.allows(shape.columns, self.keys == 0), "number of columns")?;
        self.check_function()?;
        layers::check(shape)?;
        let blocks = shape.slots().div_ceil(u64::from(shape.width.block_slots()));
        // With more blocks a filter could not be shrunk: the boundary would not fit its field.
        ensure(blocks <= MAX_BLOCKS, "number of slots")?;
        ensure(shape.boundary == 0 || shape.boundary < blocks, "column boundary")?;
        ensure(shape.segment_seeds() == (features & SEGMENT_SEEDS != 0), "segment seeds")?;
        ensure(self.rate == 0 || (0.0..=1.0).contains(&decode_rate(self.rate)), "rate")
    }

    /// Rejects what a function cannot be. A Homogeneous ribbon stores no values, and all values
    /// have the same number of bits, so there is no boundary.
    fn check_function(&self) -> Result<(), OpenError> {
        let shape = &self.shape;
        if let Content::Filter { .. } = self.content {
            return ensure(shape.order == Order::Columns, "order of bits");
        }
        ensure(shape.order.suits(shape.columns), "order of bits")?;
        ensure(shape.variant != Variant::Homogeneous, "variant")?;
        ensure(shape.boundary == 0, "column boundary")?;
        ensure(self.rate == 0, "rate")
    }

    fn encode(&self) -> [u8; FOOTER_BYTES] {
        let mut raw = [0; FOOTER_BYTES];
        let shape = &self.shape;
        let mut features = if shape.segment_seeds() { SEGMENT_SEEDS } else { 0 };
        if shape.order == Order::Rows {
            features |= ROW_MAJOR;
        }
        let columns = u64::from(shape.columns)
            | u64::from(self.content.number()) << 7
            | u64::from(features) << 13;
        put(&mut raw, at::KEY_SEED, self.key_seed);
        put(&mut raw, at::KEYS, self.keys);
        put(&mut raw, at::SEGMENT_SLOTS, shape.segment_slots);
        put(&mut raw, at::BOUNDARY, shape.boundary);
        put(&mut raw, at::RATE, u64::from(self.rate));
        if shape.variant == Variant::Balanced {
            raw[at::SHARD_BITS] = shape.balance.shard_bits as u8;
            raw[at::OVERLOAD] = shape.balance.overload as u8;
        }
        put(&mut raw, at::COLUMNS, columns);
        raw[at::WHAT] = self.content.kind() as u8
            | (shape.variant as u8) << 2
            | (shape.width as u8) << 4
            | u8::from(shape.smash) << 6;
        raw[at::SEGMENTS] = shape.segment_bits as u8 | (shape.further.layers().len() as u8) << 5;
        raw[at::SEED] = self.seed;
        raw[at::VERSIONS] = VERSIONS;
        raw[at::MAGIC].copy_from_slice(&MAGIC);
        raw
    }
}

/// The footer of an opened structure in its stored form. Engines open a filter for every query,
/// and most of them never need the decoded footer.
#[derive(Clone, Copy)]
pub(crate) struct Packed([u8; FOOTER_BYTES]);

impl Packed {
    /// Copies the footer of bytes from which a footer was read.
    #[inline(always)]
    pub(crate) fn of(bytes: &[u8]) -> Self {
        Self(*bytes.last_chunk().expect("a footer was read"))
    }

    #[inline(always)]
    pub(crate) fn key_seed(&self) -> u64 {
        get(&self.0, at::KEY_SEED)
    }

    /// Decodes the footer again. If `bytes` have changed since they were opened, the layers after
    /// the first may be missing.
    pub(crate) fn footer(&self, bytes: &[u8]) -> Footer {
        let mut footer = Footer::EMPTY;
        let further = usize::from(self.0[at::SEGMENTS] >> 5);
        if let Some((data, raw)) = bytes.split_last_chunk::<FOOTER_BYTES>()
            && *raw == self.0
        {
            footer.shape.further = layers::read_directory(data, further).unwrap_or_default();
        }
        footer.decode_fixed(&self.0).expect("decoded when it was opened");
        footer
    }
}

#[inline(always)]
fn features(raw: &[u8; FOOTER_BYTES]) -> u8 {
    raw[at::COLUMNS.end - 1] >> 5
}

/// Reads the shards of a Balanced ribbon, from the field that holds the rate of other variants.
#[cfg_attr(not(target_arch = "wasm32"), inline(always))]
fn decode_balance(raw: &[u8; FOOTER_BYTES], shape: &Shape) -> Result<Balance, OpenError> {
    let balance =
        Balance { shard_bits: raw[at::SHARD_BITS].into(), overload: raw[at::OVERLOAD].into() };
    let alone = shape.segment_bits == 0 && balance.shard_bits == 0;
    let refused = balance.shard_bits > MAX_SHARD_BITS
        || balance.shard_bits > 0 && shape.segment_slots == 0
        || balance.overload > 0 && alone
        || raw[at::OVERLOAD + 1] > 0;
    ensure(!refused, "shards").map(|()| balance)
}

/// The content between the solution and the footer.
pub(crate) enum Metadata<'a> {
    /// One byte for each segment or shard, or the metadata of another filter as they are stored.
    Bytes(&'a [u8]),
    /// The codes and exceptions of a Bumped ribbon.
    Codes(&'a Codes),
}

/// Completes a filter whose solution is written: adds metadata, footer and checksums.
pub(crate) fn finish(bytes: &mut [u8], footer: &Footer, metadata: &Metadata<'_>) {
    match metadata {
        Metadata::Bytes(metadata) => {
            debug_assert_eq!(metadata.len() as u64, footer.shape.metadata_bytes());
            let end = bytes.len() - FOOTER_BYTES;
            bytes[end - metadata.len()..end].copy_from_slice(metadata);
        }
        Metadata::Codes(codes) => layers::write(bytes, &footer.shape, codes),
    }
    seal_footer(bytes, footer.encode());
}

/// The bytes between the solution and the footer.
pub(crate) fn metadata<'a>(bytes: &'a [u8], footer: &Footer) -> &'a [u8] {
    let end = bytes.len() - FOOTER_BYTES;
    &bytes[end - footer.shape.metadata_bytes() as usize..end]
}

/// Checks that the bytes are intact: reads all of them and compares the checksums.
pub(crate) fn verify(bytes: &[u8], kind: Kind) -> Result<(), OpenError> {
    match kind {
        Kind::Part => part::read(bytes).map(|_| ())?,
        _ => Footer::read(bytes, kind).map(|_| ())?,
    }
    let stored = bytes.last_chunk::<FOOTER_BYTES>().map(|raw| get(raw, at::DATA_CHECK));
    if stored == Some(data_check(bytes)) { Ok(()) } else { Err(OpenError::CorruptData) }
}

#[cfg(test)]
mod tests;
