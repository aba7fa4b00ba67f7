//! Files: a filter, a part of one, or shards, as bytes.
//!
//! ```text
//! magic "RIBP" | version 1 | kind | record of the kind | checksum (XXH3 of all before), 8 bytes
//! ```
//!
//! All numbers are little-endian. A record is the fields of a struct one after another; a list has
//! its length in front. Reading checks everything that a query relies on. No length is trusted: a
//! buffer is allocated only for bytes that are there.

use crate::filter::Header;
use crate::ribbon::balanced::{Balanced, Shape};
use crate::ribbon::bumped::{Bumped, Layer};
use crate::ribbon::{Ribbon, single::Single, soft::Soft};
use crate::{Error, Filter, Layout, Part, Shards, Solution, UntilFull, Variant, Width};
use xxhash_rust::xxh3::xxh3_64;

const MAGIC: [u8; 4] = *b"RIBP";
const VERSION: u8 = 1;
/// Magic, version and kind.
const FRONT: usize = 6;
const CHECKSUM: usize = 8;

/// What a file contains.
#[derive(Clone, Debug, PartialEq)]
pub enum Stored {
    /// A filter.
    Filter(Filter),
    /// A part of a filter.
    Part(Part),
    /// Shards by hash.
    Shards(Shards),
    /// Shards that were filled until they were full.
    UntilFull(UntilFull),
}

impl Stored {
    /// The bytes of a file.
    pub fn to_bytes(&self) -> Vec<u8> {
        let kind = match self {
            Self::Filter(_) => 1,
            Self::Part(_) => 2,
            Self::Shards(_) => 3,
            Self::UntilFull(_) => 4,
        };
        let mut bytes = [&MAGIC[..], &[VERSION, kind]].concat();
        match self {
            Self::Filter(filter) => filter.write(&mut bytes),
            Self::Part(part) => part.write(&mut bytes),
            Self::Shards(shards) => shards.write(&mut bytes),
            Self::UntilFull(shards) => shards.write(&mut bytes),
        }
        let checksum = xxh3_64(&bytes);
        bytes.extend_from_slice(&checksum.to_le_bytes());
        bytes
    }

    /// Reads the bytes of a file.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        if !bytes.starts_with(&MAGIC) {
            return Err(Error::Corrupt("it does not begin with RIBP"));
        }
        let (bytes, checksum) =
            bytes.split_last_chunk::<CHECKSUM>().ok_or(Error::Corrupt("it is too short"))?;
        if xxh3_64(bytes) != u64::from_le_bytes(*checksum) {
            return Err(Error::Corrupt("the checksum is wrong"));
        }
        let Some([.., VERSION, kind]) = bytes.get(..FRONT) else {
            return Err(Error::Corrupt("it has another version"));
        };
        let mut input = &bytes[FRONT..];
        let stored = match kind {
            1 => Self::Filter(Filter::read(&mut input)?),
            2 => Self::Part(Part::read(&mut input)?),
            3 => Self::Shards(Shards::read(&mut input)?),
            4 => Self::UntilFull(UntilFull::read(&mut input)?),
            _ => return Err(Error::Corrupt("it is of an unknown kind")),
        };
        match input.is_empty() {
            true => Ok(stored),
            false => Err(Error::Corrupt("there are bytes after its end")),
        }
    }

    /// Whether a key may be in the set; `None` if it belongs to another part.
    pub fn contains(&self, key: &[u8]) -> Option<bool> {
        match self {
            Self::Filter(filter) => Some(filter.contains(key)),
            Self::Part(part) => part.contains(key),
            Self::Shards(shards) => Some(shards.contains(key)),
            Self::UntilFull(shards) => Some(shards.contains(key)),
        }
    }
}

/// The size of the file of a filter.
pub(crate) fn size(filter: &Filter) -> usize {
    let mut bytes = Vec::new();
    filter.write(&mut bytes);
    FRONT + bytes.len() + CHECKSUM
}

/// Fields one after another.
trait Record: Sized {
    fn write(&self, bytes: &mut Vec<u8>);
    fn read(input: &mut &[u8]) -> Result<Self, Error>;
}

const TOO_SHORT: Error = Error::Corrupt("it ends too early");
const INVALID: Error = Error::Corrupt("a field is invalid");

/// The next bytes of the input.
fn take<'a>(input: &mut &'a [u8], count: usize) -> Result<&'a [u8], Error> {
    let (bytes, rest) = input.split_at_checked(count).ok_or(TOO_SHORT)?;
    *input = rest;
    Ok(bytes)
}

macro_rules! number_records {
    ($($number:ty)*) => {$(
        impl Record for $number {
            fn write(&self, bytes: &mut Vec<u8>) {
                bytes.extend_from_slice(&self.to_le_bytes());
            }

            fn read(input: &mut &[u8]) -> Result<Self, Error> {
                let bytes = take(input, size_of::<$number>())?;
                Ok(Self::from_le_bytes(bytes.try_into().expect("the length that was taken")))
            }
        }
    )*};
}

number_records! { u8 u32 u64 }

impl<T: Record> Record for Vec<T> {
    fn write(&self, bytes: &mut Vec<u8>) {
        (self.len() as u64).write(bytes);
        self.iter().for_each(|item| item.write(bytes));
    }

    fn read(input: &mut &[u8]) -> Result<Self, Error> {
        let count = u64::read(input)?;
        // Every item takes at least one byte.
        if count > input.len() as u64 {
            return Err(TOO_SHORT);
        }
        (0..count).map(|_| T::read(input)).collect()
    }
}

impl Record for Width {
    fn write(&self, bytes: &mut Vec<u8>) {
        (self.slots() as u8).write(bytes);
    }

    fn read(input: &mut &[u8]) -> Result<Self, Error> {
        let slots = u64::from(u8::read(input)?);
        Self::ALL.into_iter().find(|width| width.slots() == slots).ok_or(INVALID)
    }
}

impl Record for Variant {
    fn write(&self, bytes: &mut Vec<u8>) {
        (*self as u8).write(bytes);
    }

    fn read(input: &mut &[u8]) -> Result<Self, Error> {
        Self::ALL.get(usize::from(u8::read(input)?)).copied().ok_or(INVALID)
    }
}

impl Record for Header {
    fn write(&self, bytes: &mut Vec<u8>) {
        self.variant.write(bytes);
        (self.first_column as u8).write(bytes);
        self.key_seed.write(bytes);
        self.keys.write(bytes);
    }

    fn read(input: &mut &[u8]) -> Result<Self, Error> {
        let (variant, first_column) = (Variant::read(input)?, u8::read(input)?.into());
        let (key_seed, keys) = (u64::read(input)?, u64::read(input)?);
        let header = Self { variant, key_seed, keys, first_column };
        if first_column < crate::hash::FINGERPRINT_BITS { Ok(header) } else { Err(INVALID) }
    }
}

impl Record for Layout {
    fn write(&self, bytes: &mut Vec<u8>) {
        let (width, blocks, columns, boundary) = self.fields();
        width.write(bytes);
        (columns as u8).write(bytes);
        blocks.write(bytes);
        boundary.write(bytes);
    }

    fn read(input: &mut &[u8]) -> Result<Self, Error> {
        let (width, columns) = (Width::read(input)?, u32::from(u8::read(input)?));
        let (blocks, boundary) = (u64::read(input)?, u64::read(input)?);
        let layout = Self::from_fields(width, blocks, columns, boundary).ok_or(INVALID)?;
        // Blocks without columns would take no bytes, and there could be any number of them.
        let has_columns = layout.columns_of(0) > 0 && columns <= crate::hash::FINGERPRINT_BITS;
        let size = layout.checked_size().filter(|_| has_columns);
        size.map(|_| layout).ok_or(INVALID)
    }
}

fn read_solution(layout: Layout, input: &mut &[u8]) -> Result<Solution, Error> {
    let bytes = take(input, layout.size())?.to_vec();
    Solution::from_bytes(layout, bytes).ok_or(INVALID)
}

impl Record for Solution {
    fn write(&self, bytes: &mut Vec<u8>) {
        self.layout().write(bytes);
        bytes.extend_from_slice(self.bytes());
    }

    fn read(input: &mut &[u8]) -> Result<Self, Error> {
        let layout = Layout::read(input)?;
        read_solution(layout, input)
    }
}

/// A smash value is at most the width, so it fits into a byte.
fn read_smash(input: &mut &[u8]) -> Result<u64, Error> {
    let smash = u8::read(input)?.into();
    if smash <= Width::W128.slots() { Ok(smash) } else { Err(INVALID) }
}

impl Record for Single {
    fn write(&self, bytes: &mut Vec<u8>) {
        self.seed().write(bytes);
        (self.smash() as u8).write(bytes);
        self.solution().write(bytes);
    }

    fn read(input: &mut &[u8]) -> Result<Self, Error> {
        let (seed, smash) = (u8::read(input)?, read_smash(input)?);
        Ok(Self::from_fields(seed, smash, Solution::read(input)?))
    }
}

impl Record for Balanced {
    fn write(&self, bytes: &mut Vec<u8>) {
        let (seed, smash, Shape { bits, overload }) = self.fields();
        bytes.extend_from_slice(&[seed, smash as u8, bits as u8, overload]);
        bytes.extend_from_slice(self.metadata());
        self.solution().write(bytes);
    }

    fn read(input: &mut &[u8]) -> Result<Self, Error> {
        let (seed, smash) = (u8::read(input)?, read_smash(input)?);
        let shape = Shape { bits: u8::read(input)?.into(), overload: u8::read(input)? };
        let shards = 1usize.checked_shl(shape.bits).ok_or(INVALID)?;
        let metadata = take(input, shards)?.to_vec();
        let solution = Solution::read(input)?;
        Self::from_fields(seed, smash, shape, metadata, solution).ok_or(INVALID)
    }
}

impl Record for Layer {
    fn write(&self, bytes: &mut Vec<u8>) {
        (self.smash() as u8).write(bytes);
        self.codes().to_vec().write(bytes);
        self.solution().write(bytes);
    }

    fn read(input: &mut &[u8]) -> Result<Self, Error> {
        let (smash, codes) = (read_smash(input)?, Vec::read(input)?);
        Self::from_fields(smash, codes, Solution::read(input)?).ok_or(INVALID)
    }
}

impl Record for Bumped {
    fn write(&self, bytes: &mut Vec<u8>) {
        self.layers().to_vec().write(bytes);
        self.last().write(bytes);
    }

    fn read(input: &mut &[u8]) -> Result<Self, Error> {
        Ok(Self::from_fields(Vec::read(input)?, Single::read(input)?))
    }
}

impl Record for Soft {
    fn write(&self, bytes: &mut Vec<u8>) {
        (self.smash() as u8).write(bytes);
        self.seeds().to_vec().write(bytes);
        self.solution().write(bytes);
    }

    fn read(input: &mut &[u8]) -> Result<Self, Error> {
        let (smash, seeds) = (read_smash(input)?, Vec::read(input)?);
        Self::from_fields(smash, seeds, Solution::read(input)?).ok_or(INVALID)
    }
}

impl Record for Ribbon {
    fn write(&self, bytes: &mut Vec<u8>) {
        match self {
            Self::Single(single) => {
                bytes.push(0);
                single.write(bytes);
            }
            Self::Balanced(balanced) => {
                bytes.push(1);
                balanced.write(bytes);
            }
            Self::Bumped(bumped) => {
                bytes.push(2);
                bumped.write(bytes);
            }
            Self::Soft(soft) => {
                bytes.push(3);
                soft.write(bytes);
            }
        }
    }

    fn read(input: &mut &[u8]) -> Result<Self, Error> {
        Ok(match u8::read(input)? {
            0 => Self::Single(Single::read(input)?),
            1 => Self::Balanced(Balanced::read(input)?),
            2 => Self::Bumped(Bumped::read(input)?),
            3 => Self::Soft(Soft::read(input)?),
            _ => return Err(INVALID),
        })
    }
}

impl Record for Filter {
    fn write(&self, bytes: &mut Vec<u8>) {
        self.header.write(bytes);
        self.ribbon.write(bytes);
    }

    fn read(input: &mut &[u8]) -> Result<Self, Error> {
        Ok(Self { header: Header::read(input)?, ribbon: Ribbon::read(input)? })
    }
}

impl Record for Part {
    fn write(&self, bytes: &mut Vec<u8>) {
        self.header.write(bytes);
        bytes.extend_from_slice(&[self.seed, self.smash as u8]);
        self.whole.write(bytes);
        self.starts.start.write(bytes);
        self.starts.end.write(bytes);
        self.solution.write(bytes);
    }

    fn read(input: &mut &[u8]) -> Result<Self, Error> {
        let (header, seed, smash) = (Header::read(input)?, u8::read(input)?, read_smash(input)?);
        let (whole, starts) = (Layout::read(input)?, u64::read(input)?..u64::read(input)?);
        let solution = Solution::read(input)?;
        let part = Self { header, seed, smash, whole, starts, solution };
        if part.is_valid() { Ok(part) } else { Err(INVALID) }
    }
}

impl Record for Shards {
    fn write(&self, bytes: &mut Vec<u8>) {
        self.key_seed.write(bytes);
        self.filters.write(bytes);
    }

    fn read(input: &mut &[u8]) -> Result<Self, Error> {
        let shards = Self { key_seed: u64::read(input)?, filters: Vec::read(input)? };
        if shards.filters.is_empty() { Err(INVALID) } else { Ok(shards) }
    }
}

/// The layout of all shards but the last is stored once.
impl Record for UntilFull {
    fn write(&self, bytes: &mut Vec<u8>) {
        self.key_seed.write(bytes);
        self.keys.write(bytes);
        self.borders.write(bytes);
        if let Some((last, full)) = self.shards.split_last() {
            last.write(bytes);
            if let Some(first) = full.first() {
                (first.smash() as u8).write(bytes);
                first.solution().layout().write(bytes);
            }
            for shard in full {
                shard.seed().write(bytes);
                bytes.extend_from_slice(shard.solution().bytes());
            }
        }
    }

    fn read(input: &mut &[u8]) -> Result<Self, Error> {
        let (key_seed, keys, borders) = (u64::read(input)?, u64::read(input)?, Vec::read(input)?);
        let (last, mut shards) = (Single::read(input)?, Vec::new());
        if !borders.is_empty() {
            let (smash, layout) = (read_smash(input)?, Layout::read(input)?);
            for _ in &borders {
                let seed = u8::read(input)?;
                let solution = read_solution(layout, input)?;
                shards.push(Single::from_fields(seed, smash, solution));
            }
        }
        shards.push(last);
        let valid = borders.is_sorted();
        valid.then_some(Self { key_seed, keys, borders, shards }).ok_or(INVALID)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Settings;
    use crate::random::{Random, hashes};

    /// A file of every kind and variant.
    fn files() -> Vec<Stored> {
        let (hashes, mut files) = (hashes(6000, 1), Vec::new());
        for variant in Variant::ALL {
            let settings = Settings::new(variant, Width::W32, 3.5);
            let filter = Filter::from_hashes(&settings, &hashes).expect("a filter");
            files.extend(filter.cut(2).into_iter().flatten().map(Stored::Part));
            files.push(Stored::Filter(filter));
            files.push(Stored::Filter(Filter::from_hashes(&settings, &[]).expect("no keys")));
            let shards = Shards::from_hashes(&settings, &hashes[..500], 3).expect("shards");
            files.push(Stored::Shards(shards));
        }
        let settings = Settings::new(Variant::Standard, Width::W16, 3.5);
        let shards = UntilFull::from_hashes(&settings, &hashes[..500], 64).expect("shards");
        files.push(Stored::UntilFull(shards));
        files
    }

    #[test]
    fn files_are_read_as_they_were_written() {
        for stored in files() {
            let bytes = stored.to_bytes();
            assert_eq!(Stored::from_bytes(&bytes).as_ref(), Ok(&stored));
            if let Stored::Filter(filter) = &stored {
                assert_eq!(filter.size(), bytes.len());
            }
        }
    }

    #[test]
    fn corrupt_bytes_are_refused() {
        let mut random = Random::new(1);
        for stored in files() {
            let bytes = stored.to_bytes();
            for _ in 0..50 {
                let mut other = bytes.clone();
                let at = random.below(other.len() as u64) as usize;
                other[at] ^= 1 << random.below(8);
                assert!(matches!(Stored::from_bytes(&other), Err(Error::Corrupt(_))));
                let end = random.below(bytes.len() as u64) as usize;
                assert!(matches!(Stored::from_bytes(&bytes[..end]), Err(Error::Corrupt(_))));
            }
        }
    }

    /// A checksum is no proof of anything. Whatever is accepted can be queried, measured, shrunk
    /// and cut without a panic, and hardly anything takes more memory than its bytes.
    #[test]
    fn untrusted_bytes_with_a_right_checksum_do_no_harm() {
        let mut random = Random::new(2);
        let mut accepted = 0;
        for stored in files() {
            let bytes = stored.to_bytes();
            for _ in 0..400 {
                let mut other = bytes[..bytes.len() - CHECKSUM].to_vec();
                for _ in 0..=random.below(3) {
                    // The fields are at the front.
                    let at = random.below(other.len().min(120) as u64) as usize;
                    other[at] = random.number() as u8;
                }
                let checksum = xxh3_64(&other);
                other.extend_from_slice(&checksum.to_le_bytes());
                let Ok(stored) = Stored::from_bytes(&other) else { continue };
                accepted += 1;
                for key in 0..20u64 {
                    stored.contains(&key.to_le_bytes());
                }
                match stored {
                    Stored::Filter(filter) => {
                        assert!((0.0..=1.0).contains(&filter.rate()));
                        let _ = (filter.shrink(1.5), filter.split(1), filter.cut(2));
                    }
                    Stored::Part(part) => drop(Filter::join(&[part])),
                    Stored::Shards(shards) => drop((shards.rate(), shards.shrink(1.5))),
                    Stored::UntilFull(shards) => drop(shards.rate()),
                }
            }
        }
        assert!(accepted > 100, "{accepted}");
    }
}
