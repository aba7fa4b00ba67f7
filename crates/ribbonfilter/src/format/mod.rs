//! The bytes of a filter: solution, metadata, and the footer at the end.
//!
//! `docs/format.md` is the specification; this module is its only implementation. The footer
//! comes last for two reasons. The solution begins at offset 0, so that an aligned buffer or a
//! memory map puts its blocks on cache lines. And a query may read a word beyond the solution
//! without leaving the buffer. All numbers are little-endian, and the buffer may have any
//! alignment.

use crate::error::{Kind, OpenError};
use crate::ribbon::equation::{Balance, FINGERPRINT_BITS, fold};

use crate::ribbon::layers::Codes;
use crate::ribbon::layout::{MAX_COLUMNS, Order, READ_AHEAD};
use crate::ribbon::shape::Shape;
use crate::{Variant, Width};
use xxhash_rust::xxh3::xxh3_64;

mod container;
pub(crate) mod exact;
mod kind;
mod layers;
pub(crate) mod lookup;
pub(crate) mod part;

pub(crate) use container::{
    Container, Directory, Filling, MAX_CELL_BITS, MAX_CONTAINER_BITS, MAX_CONTAINER_BYTES, Padded,
    Ranges, target_digest,
};
use kind::kind_of;
pub(crate) use layers::{directory_layer, little_endian};

/// The size of the footer in bytes.
pub(crate) const FOOTER_BYTES: usize = 40;
const _: () = assert!(READ_AHEAD <= FOOTER_BYTES);

/// The last two bytes of every structure of this family.
const MAGIC: [u8; 2] = [b'R', 0xbf];
/// The version of the layout, which a reader must support.
const FORMAT_VERSION: u8 = 1;
/// The version of the construction: the same keys give the same bytes within one version.
const CONSTRUCTION_VERSION: u8 = 1;
/// Both versions in one byte, as the footer stores them.
const VERSIONS: u8 = FORMAT_VERSION | CONSTRUCTION_VERSION << 4;

/// The maximum number of keys that the footer can store.
pub(crate) const MAX_KEYS: u64 = (1 << 48) - 1;
/// The maximum number of blocks that the column boundary can count.
pub(crate) const MAX_BLOCKS: u64 = 1 << 40;
/// The maximum number of segments, as a power of two.
pub(crate) const MAX_SEGMENT_BITS: u32 = 31;
/// The maximum number of shards per segment, as a power of two.
pub(crate) const MAX_SHARD_BITS: u32 = 16;

/// Odd constants of the footer's checksum: the fractional bits of the square roots of 31, 37, 41,
/// 43 and 47.
const CHECK: [u64; 5] = [
    0x9159_015a_3070_dd17,
    0x152f_ecd8_f70e_5939,
    0x6733_2667_ffc0_0b31,
    0x8eb4_4a87_6858_1511,
    0xdb0c_2e0d_64f9_8fa7,
];
/// The bits of the footer's last word that hold the footer's checksum.
const CHECK_FIELD: u64 = 0xffff << (8 * (at::FOOTER_CHECK.start - 32));

/// The offsets of the fields in the footer.
mod at {
    use core::ops::Range;

    pub(super) const KEY_SEED: Range<usize> = 0..8;
    pub(super) const KEYS: Range<usize> = 8..14;
    pub(super) const SEGMENT_SLOTS: Range<usize> = 14..18;
    /// In containers, in the bytes of the slots: the number of shards, or the number of the
    /// shard if it stands alone.
    pub(super) const SHARDS: Range<usize> = SEGMENT_SLOTS;
    pub(super) const BOUNDARY: Range<usize> = 18..23;
    pub(super) const RATE: Range<usize> = 23..26;
    /// In Balanced ribbons, in the bytes of the rate, which they do not store.
    pub(super) const SHARD_BITS: usize = 23;
    pub(super) const OVERLOAD: usize = 24;
    /// 7 bits columns, 6 bits first column or bits of fingerprints, 3 bits features.
    pub(super) const COLUMNS: Range<usize> = 26..28;
    /// 2 bits each: kind, variant, width, smash.
    pub(super) const WHAT: usize = 28;
    /// 5 bits segments as a power of two, 3 bits further layers.
    pub(super) const SEGMENTS: usize = 29;
    pub(super) const SEED: usize = 30;
    /// 4 bits format, 4 bits construction.
    pub(super) const VERSIONS: usize = 31;
    pub(super) const DATA_CHECK: Range<usize> = 32..36;
    pub(super) const FOOTER_CHECK: Range<usize> = 36..38;
    pub(super) const MAGIC: Range<usize> = 38..40;
}

/// The feature bit for segments that each have a seed byte after the solution.
const SEGMENT_SEEDS: u8 = 1;
/// The feature bit for functions whose blocks are stored row-major.
const ROW_MAJOR: u8 = 2;

/// What the columns of a structure store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Content {
    /// Bits of fingerprints, from bit `first_column` on.
    Filter { first_column: u32 },
    /// The bits of values, followed by `fingerprint_bits` bits of fingerprints.
    Function { fingerprint_bits: u32 },
}

impl Content {
    pub(crate) fn kind(self) -> Kind {
        match self {
            Self::Filter { .. } => Kind::Filter,
            Self::Function { .. } => Kind::Function,
        }
    }

    /// The number that either kind stores in the same six bits.
    fn number(self) -> u32 {
        match self {
            Self::Filter { first_column: number } | Self::Function { fingerprint_bits: number } => {
                number
            }
        }
    }

    fn of(kind: Kind, number: u32) -> Self {
        match kind {
            Kind::Function => Self::Function { fingerprint_bits: number },
            _ => Self::Filter { first_column: number },
        }
    }

    /// Whether a structure with keys, or an empty one, can have `columns` columns.
    fn allows(self, columns: u32, empty: bool) -> bool {
        match self {
            Self::Filter { first_column } => {
                first_column + columns <= FINGERPRINT_BITS && (columns == 0) == empty
            }
            // Values have at least one bit, even in an empty function.
            Self::Function { fingerprint_bits } => {
                fingerprint_bits < columns && columns as usize <= MAX_COLUMNS
            }
        }
    }
}

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
    #[inline(always)]
    pub(crate) fn fill(&mut self, bytes: &[u8], kind: Kind) -> Result<(), OpenError> {
        self.fill_from_end(bytes, kind)?;
        check_length(bytes, self.shape.data_bytes())
    }

    /// Reads the footer without checking the length of the data, and returns the data that
    /// precede the footer.
    #[inline(always)]
    fn fill_from_end<'a>(&mut self, bytes: &'a [u8], kind: Kind) -> Result<&'a [u8], OpenError> {
        let Some((data, raw)) = bytes.split_last_chunk::<FOOTER_BYTES>() else {
            return Err(OpenError::TooShort { len: bytes.len(), needed: FOOTER_BYTES });
        };
        check_recognised(raw)?;
        self.decode(data, raw, kind)?;
        Ok(data)
    }

    /// Decodes the footer from its bytes `raw`, and the directory of layers from the end of the
    /// data that precede it.
    #[inline(always)]
    fn decode(
        &mut self,
        data: &[u8],
        raw: &[u8; FOOTER_BYTES],
        expected: Kind,
    ) -> Result<(), OpenError> {
        let kind = kind_of(raw);
        if kind != expected {
            return Err(OpenError::WrongKind { expected, found: kind });
        }
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
    #[inline(always)]
    fn decode_fixed(&mut self, raw: &[u8; FOOTER_BYTES]) -> Result<(), OpenError> {
        let what = raw[at::WHAT];
        let columns = get(raw, at::COLUMNS);
        let shape = &mut self.shape;
        shape.variant = match what >> 2 & 3 {
            0 => Variant::Standard,
            1 => Variant::Homogeneous,
            2 => Variant::Balanced,
            _ => Variant::Bumped,
        };
        shape.width = Width::ALL[usize::from(what >> 4 & 3)];
        shape.smash = match what >> 6 {
            0 => false,
            1 => true,
            _ => return Err(OpenError::Inconsistent { field: "smash" }),
        };
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
    #[inline(always)]
    fn check(&self, features: u8) -> Result<(), OpenError> {
        let shape = &self.shape;
        let wrong = |field| Err(OpenError::Inconsistent { field });
        if (self.keys == 0) != (shape.segment_slots == 0) {
            return wrong("number of slots");
        }
        if shape.segment_bits > 0 && !shape.segment_slots.is_multiple_of(64) {
            return wrong("segment size");
        }
        if !self.content.allows(shape.columns, self.keys == 0) {
            return wrong("number of columns");
        }
        self.check_function()?;
        layers::check(shape)?;
        let blocks = shape.slots().div_ceil(u64::from(shape.width.block_slots()));
        // With more blocks a filter could not be shrunk: the boundary would not fit its field.
        if blocks > MAX_BLOCKS {
            return wrong("number of slots");
        }
        if shape.boundary > 0 && shape.boundary >= blocks {
            return wrong("column boundary");
        }
        if shape.segment_seeds() != (features & SEGMENT_SEEDS != 0) {
            return wrong("segment seeds");
        }
        if self.rate != 0 && !(0.0..=1.0).contains(&decode_rate(self.rate)) {
            return wrong("rate");
        }
        Ok(())
    }

    /// Rejects what a function cannot be. A Homogeneous ribbon stores no values, and all values
    /// have the same number of bits, so there is no boundary.
    fn check_function(&self) -> Result<(), OpenError> {
        let wrong = |field| Err(OpenError::Inconsistent { field });
        match self.content {
            Content::Filter { .. } if self.shape.order == Order::Columns => Ok(()),
            Content::Filter { .. } => wrong("order of bits"),
            _ if !self.shape.order.suits(self.shape.columns) => wrong("order of bits"),
            _ if self.shape.variant == Variant::Homogeneous => wrong("variant"),
            _ if self.shape.boundary > 0 => wrong("column boundary"),
            _ if self.rate > 0 => wrong("rate"),
            _ => Ok(()),
        }
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
        footer.decode_fixed(&self.0).expect("read before");
        footer
    }
}

#[inline(always)]
fn features(raw: &[u8; FOOTER_BYTES]) -> u8 {
    raw[at::COLUMNS.end - 1] >> 5
}

/// Reads the shards of a Balanced ribbon, from the field that holds the rate of other variants.
#[inline(always)]
fn decode_balance(raw: &[u8; FOOTER_BYTES], shape: &Shape) -> Result<Balance, OpenError> {
    let balance =
        Balance { shard_bits: raw[at::SHARD_BITS].into(), overload: raw[at::OVERLOAD].into() };
    let alone = shape.segment_bits == 0 && balance.shard_bits == 0;
    let refused = balance.shard_bits > MAX_SHARD_BITS
        || balance.shard_bits > 0 && shape.segment_slots == 0
        || balance.overload > 0 && alone
        || raw[at::OVERLOAD + 1] > 0;
    if refused { Err(OpenError::Inconsistent { field: "shards" }) } else { Ok(balance) }
}

/// Whether the magic number is ours and the format version is supported.
#[inline(always)]
fn is_recognised(raw: &[u8; FOOTER_BYTES]) -> bool {
    raw[at::MAGIC] == MAGIC && raw[at::VERSIONS] & 15 == FORMAT_VERSION
}

/// Checks magic number, version and checksum of the footer, and reports what is wrong.
#[inline(always)]
fn check_recognised(raw: &[u8; FOOTER_BYTES]) -> Result<(), OpenError> {
    if raw[at::MAGIC] != MAGIC {
        return Err(OpenError::NotAFilter);
    }
    let found = raw[at::VERSIONS] & 15;
    if found != FORMAT_VERSION {
        return Err(OpenError::UnsupportedVersion { found, supported: FORMAT_VERSION });
    }
    if get(raw, at::FOOTER_CHECK) != footer_check(raw) {
        return Err(OpenError::CorruptFooter);
    }
    Ok(())
}

/// Checks that exactly `data` bytes precede the footer.
#[inline(always)]
fn check_length(bytes: &[u8], data: u64) -> Result<(), OpenError> {
    let (len, expected) = (bytes.len() as u64, data.saturating_add(FOOTER_BYTES as u64));
    if len == expected { Ok(()) } else { Err(OpenError::WrongLength { len, expected }) }
}

/// The content between the solution and the footer.
pub(crate) enum Metadata<'a> {
    /// One byte for each segment or shard.
    Bytes(&'a [u8]),
    /// The codes and exceptions of a Bumped ribbon.
    Codes(&'a Codes),
}

/// Completes a filter whose solution is written: adds metadata, footer and checksums.
pub(crate) fn finish(bytes: &mut [u8], footer: &Footer, metadata: &Metadata<'_>) {
    match metadata {
        Metadata::Bytes(metadata) => metadata_mut(bytes, footer).copy_from_slice(metadata),
        Metadata::Codes(codes) => layers::write(bytes, &footer.shape, codes),
    }
    seal(bytes, footer);
}

/// The bytes between the solution and the footer.
pub(crate) fn metadata<'a>(bytes: &'a [u8], footer: &Footer) -> &'a [u8] {
    let end = bytes.len() - FOOTER_BYTES;
    &bytes[end - footer.shape.metadata_bytes() as usize..end]
}

/// The bytes between the solution and the footer, to be written.
pub(crate) fn metadata_mut<'a>(bytes: &'a mut [u8], footer: &Footer) -> &'a mut [u8] {
    let end = bytes.len() - FOOTER_BYTES;
    &mut bytes[end - footer.shape.metadata_bytes() as usize..end]
}

/// Writes the footer and the checksums.
pub(crate) fn seal(bytes: &mut [u8], footer: &Footer) {
    seal_footer(bytes, footer.encode());
}

/// Writes a footer that is encoded but for its checksums, and then the checksums.
fn seal_footer(bytes: &mut [u8], encoded: [u8; FOOTER_BYTES]) {
    let raw = bytes.last_chunk_mut::<FOOTER_BYTES>().expect("room for the footer");
    *raw = encoded;
    write_checks(bytes);
}

fn write_checks(bytes: &mut [u8]) {
    let check = data_check(bytes);
    let raw = bytes.last_chunk_mut::<FOOTER_BYTES>().expect("room for the footer");
    put(raw, at::DATA_CHECK, check);
    let check = footer_check(raw);
    put(raw, at::FOOTER_CHECK, check);
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

/// The data checksum: 32 bits over everything that precedes the checksums, which includes the
/// other fields of the footer.
fn data_check(bytes: &[u8]) -> u64 {
    let covered = bytes.len() - FOOTER_BYTES + at::DATA_CHECK.start;
    xxh3_64(&bytes[..covered]) & 0xffff_ffff
}

/// The footer checksum: 16 bits over all other fields of the footer, the data checksum included.
///
/// Engines open a filter for every lookup, and a general hash took longer than the rest of
/// opening together. Here three multiplications mix all five words.
#[inline(always)]
fn footer_check(raw: &[u8; FOOTER_BYTES]) -> u64 {
    let word =
        |number: usize| u64::from_le_bytes(raw[8 * number..][..8].try_into().expect("eight bytes"));
    let first = fold(word(0) ^ CHECK[0], word(1) ^ CHECK[1]);
    let second = fold(word(2) ^ CHECK[2], word(3) ^ CHECK[3]);
    // The last word also holds the footer checksum, which is masked out.
    fold(first ^ second ^ word(4) & !CHECK_FIELD, CHECK[4]) & 0xffff
}

#[inline(always)]
fn get(raw: &[u8; FOOTER_BYTES], field: core::ops::Range<usize>) -> u64 {
    // One load of eight bytes for any field, because opening mostly consists of these reads. A
    // field near the end is loaded from the last eight bytes and shifted further.
    let from = field.start.min(FOOTER_BYTES - 8);
    let word = u64::from_le_bytes(raw[from..from + 8].try_into().expect("eight bytes"));
    word >> (8 * (field.start - from)) & u64::MAX >> (64 - 8 * field.len())
}

fn put(raw: &mut [u8; FOOTER_BYTES], field: core::ops::Range<usize>, value: u64) {
    let size = field.len();
    debug_assert!(size == 8 || value >> (8 * size) == 0);
    raw[field].copy_from_slice(&value.to_le_bytes()[..size]);
}

/// Encodes a rate in 24 bits: 6 bits `e` and 18 bits `f` for `(1 + f / 2^18) / 2^(e - 1)`, rounded
/// to the nearest; the relative error is at most 2^-19.
fn encode_rate(rate: f64) -> u32 {
    // No built filter has the rate 0, but untrusted input may when it is shrunk. It gets the
    // lowest rate that can be encoded.
    debug_assert!((0.0..=1.0).contains(&rate));
    // Rounding half up may carry into the exponent, which gives the next power of two.
    let rounded = (rate.to_bits() + (1 << 33)) >> 34;
    let (exponent, fraction) = (rounded >> 18, rounded & 0x3ffff);
    let e = (1024 - exponent).min(63);
    (e << 18 | fraction) as u32
}

fn decode_rate(stored: u32) -> f64 {
    let (e, fraction) = (u64::from(stored >> 18), u64::from(stored & 0x3ffff));
    f64::from_bits((1024 - e) << 52 | fraction << 34)
}

#[cfg(test)]
mod tests;
