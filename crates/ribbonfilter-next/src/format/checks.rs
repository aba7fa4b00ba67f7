//! What every footer is checked for: magic number, version, length and checksums.

use super::fields::{Raw, at, get, put};
use super::{FOOTER_BYTES, kind};
use crate::Key;
use crate::error::{Kind, OpenError};

/// The last two bytes of every structure of this family.
const MAGIC: [u8; 2] = [b'R', 0xbf];
/// The version of the format, which a reader must support.
const VERSION: u8 = 2;

/// Refuses what no builder writes: `field` cannot have its value.
#[inline(always)]
pub(crate) fn ensure(valid: bool, field: &'static str) -> Result<(), OpenError> {
    if valid { Ok(()) } else { Err(OpenError::Inconsistent { field }) }
}

/// Splits the footer of a structure of some kind from the data that precede it, and checks magic
/// number, version and checksum of the footer.
pub fn split_footer(bytes: &[u8], expected: Kind) -> Result<(&[u8], &Raw), OpenError> {
    let Some((data, raw)) = bytes.split_last_chunk::<FOOTER_BYTES>() else {
        return Err(OpenError::TooShort { len: bytes.len(), needed: FOOTER_BYTES });
    };
    if raw[at::MAGIC] != MAGIC {
        return Err(OpenError::NotAFilter);
    }
    let found = raw[at::VERSION];
    if found != VERSION {
        return Err(OpenError::UnsupportedVersion { found, supported: VERSION });
    }
    if get(raw, at::FOOTER_CHECK) != footer_check(raw) {
        return Err(OpenError::CorruptFooter);
    }
    let found = kind::decode(raw[at::KIND])?;
    if found != expected {
        return Err(OpenError::WrongKind { expected, found });
    }
    Ok((data, raw))
}

/// Checks that exactly `data` bytes precede the footer.
pub(crate) fn check_length(bytes: &[u8], data: u64) -> Result<(), OpenError> {
    let (len, expected) = (bytes.len() as u64, data.saturating_add(FOOTER_BYTES as u64));
    if len == expected { Ok(()) } else { Err(OpenError::WrongLength { len, expected }) }
}

/// Writes a footer at the end of `bytes`, with its kind, version, magic number and checksums.
pub fn seal(bytes: &mut [u8], mut raw: Raw, kind: Kind) {
    raw[at::KIND] = kind::encode(kind);
    raw[at::VERSION] = VERSION;
    raw[at::MAGIC].copy_from_slice(&MAGIC);
    let end = bytes.len() - FOOTER_BYTES;
    bytes[end..].copy_from_slice(&raw);
    let check = data_check(bytes);
    put(&mut raw, at::DATA_CHECK, check);
    let check = footer_check(&raw);
    put(&mut raw, at::FOOTER_CHECK, check);
    bytes[end..].copy_from_slice(&raw);
}

/// Compares the checksum of bytes whose footer was read.
pub fn check_data(bytes: &[u8]) -> bool {
    let stored = bytes.last_chunk::<FOOTER_BYTES>().map(|raw| get(raw, at::DATA_CHECK));
    stored == Some(data_check(bytes))
}

/// The data checksum: 32 bits over everything that precedes the checksums, which includes the
/// other fields of the footer.
fn data_check(bytes: &[u8]) -> u64 {
    let covered = bytes.len() - FOOTER_BYTES + at::DATA_CHECK.start;
    bytes[..covered].key_hash(0) & 0xffff_ffff
}

/// The footer checksum: 8 bits over all other fields of the footer, the data checksum included.
fn footer_check(raw: &Raw) -> u64 {
    let mut fields = *raw;
    fields[at::FOOTER_CHECK].fill(0);
    fields.key_hash(0) & 0xff
}
