//! The bytes of a filter or a map: solution, codes, and the footer at the end.
//!
//! ```text
//! Standard   | system                              | footer |
//! Bumped     | system | second system | codes | second | footer |
//! ```
//!
//! `docs/format.md` is the specification; this module is its only implementation. The footer
//! comes last for two reasons. The solution begins at offset 0, so that an aligned buffer or a
//! memory map puts its blocks on cache lines. And a query may read a word beyond the solution
//! without leaving the buffer. All numbers are little-endian, and the buffer may have any
//! alignment.

pub(crate) mod checks;
pub(crate) mod container;
#[cfg(feature = "internals")]
pub(crate) mod embedded;
pub(crate) mod fields;
mod kind;

use crate::Variant;
use crate::error::{Kind, OpenError};
use crate::kernel::Kernel;
use crate::query::{self, PADDING, Probe};
use crate::ribbon::bucket::{bumped_fractions, codes_in_bytes};
use crate::ribbon::equation::MAX_COLUMNS;
use crate::ribbon::rate::rate;
use crate::ribbon::system::System;
use crate::ribbon::width::Width;
use checks::{check_data, check_length, ensure, seal, split_footer};
use fields::{Raw, at, get, put, second};

/// The size of the footer in bytes.
pub const FOOTER_BYTES: usize = 40;
const _: () = assert!(PADDING <= FOOTER_BYTES as u64);

/// The maximum number of keys that the footer can store.
pub(crate) const MAX_KEYS: u64 = (1 << 48) - 1;
/// The maximum number of starts, and of blocks before the boundary.
pub(crate) const MAX_STARTS: u64 = (1 << 32) - 1;

/// All but the bits of a solution: what a plan decides and a footer stores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shape {
    pub(crate) first: System,
    /// The system of the bumped keys, in a Bumped filter.
    pub(crate) second: Option<System>,
}

impl Shape {
    pub(crate) fn variant(&self) -> Variant {
        if self.second.is_some() { Variant::Bumped } else { Variant::Standard }
    }

    /// The bytes that precede the footer.
    pub(crate) fn data_bytes(&self) -> u64 {
        let further = self.second.map_or(0, |system| {
            system.size_in_bytes() + codes_in_bytes(self.first.starts) + second::BYTES as u64
        });
        self.first.size_in_bytes() + further
    }

    pub(crate) fn size_in_bytes(&self) -> u64 {
        self.data_bytes() + FOOTER_BYTES as u64
    }
}

/// What the columns of a structure store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Content {
    /// Bits of fingerprints, from bit `first_column` on.
    Filter { first_column: u32 },
    /// The bits of values, followed by `fingerprint_bits` bits of fingerprints.
    Map { fingerprint_bits: u32 },
}

/// The footer of a filter or a map, decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Footer {
    pub(crate) shape: Shape,
    pub(crate) content: Content,
    pub(crate) keys: u64,
    pub(crate) key_seed: u64,
    /// The seed of the first system, and that of the second.
    pub(crate) seeds: [u8; 2],
    /// [`bumped_fractions`], on which only the rate depends; computed when the footer is written.
    pub(crate) bumped: [u16; 2],
}

impl Footer {
    /// Reads the footer of a filter or a map at the end of `bytes`. O(1).
    pub(crate) fn read(bytes: &[u8], kind: Kind) -> Result<Self, OpenError> {
        let (data, raw) = split_footer(bytes, kind)?;
        let footer = Self::of_data(data, raw, kind)?;
        check_length(bytes, footer.shape.data_bytes())?;
        Ok(footer)
    }

    /// The footer `raw` of a filter or a map whose data are the end of `data`.
    fn of_data(data: &[u8], raw: &Raw, kind: Kind) -> Result<Self, OpenError> {
        let further = match raw[at::SHAPE] & 15 {
            0 => None,
            1 => match data.last_chunk::<{ second::BYTES }>() {
                Some(further) => Some(further),
                None => {
                    return Err(OpenError::TooShort {
                        len: data.len() + FOOTER_BYTES,
                        needed: FOOTER_BYTES + second::BYTES,
                    });
                }
            },
            _ => return Err(OpenError::Inconsistent { field: "variant" }),
        };
        let footer = Self::decode(raw, further, kind)?;
        footer.check()?;
        Ok(footer)
    }

    fn decode(
        raw: &Raw,
        further: Option<&[u8; second::BYTES]>,
        kind: Kind,
    ) -> Result<Self, OpenError> {
        let width = Width::of_blocks(raw[at::SHAPE] >> 4);
        let first = System {
            width: width.ok_or(OpenError::Inconsistent { field: "width" })?,
            starts: get(raw, at::STARTS),
            columns: raw[at::COLUMNS].into(),
            boundary: get(raw, at::BOUNDARY),
            last_bytes: 1 + u32::from(raw[at::STORAGE] & 7),
            rows: raw[at::STORAGE] >> 3 & 1 == 1,
        };
        let second = further.map(|further| System {
            width: Width::W256,
            starts: get(further, second::STARTS),
            boundary: get(further, second::BOUNDARY),
            last_bytes: 1 + u32::from(raw[at::STORAGE] >> 4 & 7),
            rows: raw[at::STORAGE] >> 7 == 1,
            ..first
        });
        ensure(get(raw, at::RESERVED) == 0, "reserved part")?;
        let number = raw[at::FINGERPRINT].into();
        Ok(Self {
            shape: Shape { first, second },
            content: match kind {
                Kind::Function => Content::Map { fingerprint_bits: number },
                _ => Content::Filter { first_column: number },
            },
            keys: get(raw, at::KEYS),
            key_seed: get(raw, at::KEY_SEED),
            seeds: [raw[at::SEED], further.map_or(0, |further| further[second::SEED])],
            bumped: second::BUMPED.map(|field| further.map_or(0, |raw| get(raw, field) as u16)),
        })
    }

    /// Rejects what no builder writes, so that sizes can be computed.
    fn check(&self) -> Result<(), OpenError> {
        let Shape { first, second } = self.shape;
        ensure((self.keys == 0) == (first.starts == 0), "number of keys")?;
        ensure(second.is_none() || first.starts > 0, "variant")?;
        let columns = first.columns;
        match self.content {
            Content::Filter { first_column } => {
                ensure(first_column + columns <= MAX_COLUMNS, "number of columns")?;
                ensure((columns == 0) == (first.starts == 0), "number of columns")?;
            }
            Content::Map { fingerprint_bits } => {
                ensure(fingerprint_bits < columns && columns <= 64, "number of columns")?;
                ensure(first.boundary == 0, "column boundary")?;
            }
        }
        for system in [Some(first), second].into_iter().flatten() {
            ensure(system.starts <= MAX_STARTS, "number of starts")?;
            let blocks = system.blocks();
            ensure(system.boundary == 0 || system.boundary < blocks, "column boundary")?;
        }
        Ok(())
    }

    /// The rate of the columns, which is that of a filter but for equal hashes of different keys.
    pub(crate) fn rate(&self) -> f64 {
        let Shape { first, second } = &self.shape;
        let Some(second) = second else { return rate(first) };
        let [bumped, before] = self.bumped.map(|fraction| f64::from(fraction) / 65_536.0);
        // Keys before the boundary are compared in one column fewer, so they count twice.
        let missing = libm::exp2(-f64::from(first.columns)) * (bumped + before);
        rate(first) - missing + bumped * rate(second)
    }

    /// The first bit of the fingerprint that a filter stores.
    pub(crate) fn first_column(&self) -> u32 {
        match self.content {
            Content::Filter { first_column } => first_column,
            Content::Map { .. } => 0,
        }
    }

    /// Encodes the footer after the data in `bytes`, which are complete but for it.
    pub(crate) fn write(&self, bytes: &mut [u8]) {
        let Shape { first, second: further } = self.shape;
        let mut raw: Raw = [0; FOOTER_BYTES];
        let storage = |system: &System| (system.last_bytes - 1) as u8 | u8::from(system.rows) << 3;
        let mut both = storage(&first);
        if let Some(system) = further {
            let end = bytes.len() - FOOTER_BYTES;
            let (data, raw) = bytes[..end].split_at_mut(end - second::BYTES);
            let codes = &data[data.len() - codes_in_bytes(first.starts) as usize..];
            let bumped = bumped_fractions(&first, codes);
            put(raw, second::STARTS, system.starts);
            put(raw, second::BOUNDARY, system.boundary);
            raw[second::SEED] = self.seeds[1];
            for (field, fraction) in second::BUMPED.into_iter().zip(bumped) {
                put(raw, field, fraction.into());
            }
            both |= storage(&system) << 4;
        }
        put(&mut raw, at::KEY_SEED, self.key_seed);
        put(&mut raw, at::KEYS, self.keys);
        put(&mut raw, at::STARTS, first.starts);
        put(&mut raw, at::BOUNDARY, first.boundary);
        raw[at::COLUMNS] = first.columns as u8;
        raw[at::STORAGE] = both;
        raw[at::SEED] = self.seeds[0];
        raw[at::SHAPE] = u8::from(further.is_some()) | (first.width.blocks() as u8) << 4;
        let (kind, number) = match self.content {
            Content::Filter { first_column } => (Kind::Filter, first_column),
            Content::Map { fingerprint_bits } => (Kind::Function, fingerprint_bits),
        };
        raw[at::FINGERPRINT] = number as u8;
        seal(bytes, raw, kind);
    }

    /// What queries need to know. The bytes are as many as the footer says.
    fn layout(&self) -> query::Layout {
        let Shape { mut first, second } = self.shape;
        // An empty filter has no columns, and its system no slots.
        first.columns = first.columns.max(1);
        let offset = first.size_in_bytes();
        query::Layout {
            seed: self.seeds[0],
            first_column: self.first_column(),
            first,
            second: second.map(|system| query::Second {
                system,
                seed: self.seeds[1],
                offset,
                codes: offset + system.size_in_bytes(),
            }),
            len: self.shape.size_in_bytes() as usize,
        }
    }

    /// The query of a structure with this footer.
    pub(crate) fn probe(&self, kernel: Kernel) -> Result<Probe, OpenError> {
        self.probe_of(&self.layout(), kernel)
    }

    fn probe_of(&self, layout: &query::Layout, kernel: Kernel) -> Result<Probe, OpenError> {
        let probe = match self.content {
            Content::Filter { .. } => Probe::filter(layout, kernel),
            Content::Map { .. } => Probe::map(layout, kernel),
        };
        probe.ok_or(OpenError::Inconsistent { field: "shape" })
    }
}

/// Checks that the bytes are intact: reads all of them and compares the checksums.
pub(crate) fn verify(bytes: &[u8], kind: Kind) -> Result<(), OpenError> {
    Footer::read(bytes, kind)?;
    if check_data(bytes) { Ok(()) } else { Err(OpenError::CorruptData) }
}
