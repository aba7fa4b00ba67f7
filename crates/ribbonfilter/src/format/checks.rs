//! What every footer is checked for: magic number, version, length and checksums.

use super::FOOTER_BYTES;
use super::fields::{at, get, put};
use super::kind::kind_of;
use crate::Key;
use crate::error::{Kind, OpenError};
use crate::ribbon::equation::fold;

/// The last two bytes of every structure of this family.
pub(super) const MAGIC: [u8; 2] = [b'R', 0xbf];
/// The version of the layout, which a reader must support.
const FORMAT_VERSION: u8 = 1;
/// The version of the construction: the same keys give the same bytes within one version.
const CONSTRUCTION_VERSION: u8 = 1;
/// Both versions in one byte, as the footer stores them.
pub(super) const VERSIONS: u8 = FORMAT_VERSION | CONSTRUCTION_VERSION << 4;

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

/// Refuses what no builder writes: `field` cannot have its value.
#[inline(always)]
pub(super) fn ensure(valid: bool, field: &'static str) -> Result<(), OpenError> {
    if valid { Ok(()) } else { Err(OpenError::Inconsistent { field }) }
}

/// Splits the footer from the data that precede it, and checks magic number, version and checksum
/// of the footer.
#[cfg_attr(not(target_arch = "wasm32"), inline(always))]
pub(super) fn split_footer(bytes: &[u8]) -> Result<(&[u8], &[u8; FOOTER_BYTES]), OpenError> {
    let Some((data, raw)) = bytes.split_last_chunk::<FOOTER_BYTES>() else {
        return Err(OpenError::TooShort { len: bytes.len(), needed: FOOTER_BYTES });
    };
    check_recognised(raw)?;
    Ok((data, raw))
}

/// The last `N` bytes of the data that precede the footer.
pub(super) fn last_of<const N: usize>(data: &[u8]) -> Result<&[u8; N], OpenError> {
    let too_short =
        OpenError::TooShort { len: data.len() + FOOTER_BYTES, needed: N + FOOTER_BYTES };
    data.last_chunk().ok_or(too_short)
}

/// Checks that the footer describes a structure of this kind.
#[cfg_attr(not(target_arch = "wasm32"), inline(always))]
pub(super) fn check_kind(raw: &[u8; FOOTER_BYTES], expected: Kind) -> Result<(), OpenError> {
    let found = kind_of(raw);
    if found == expected { Ok(()) } else { Err(OpenError::WrongKind { expected, found }) }
}

/// Whether the magic number is ours and the format version is supported.
#[inline(always)]
pub(super) fn is_recognised(raw: &[u8; FOOTER_BYTES]) -> bool {
    raw[at::MAGIC] == MAGIC && raw[at::VERSIONS] & 15 == FORMAT_VERSION
}

/// Checks magic number, version and checksum of the footer, and reports what is wrong.
#[cfg_attr(not(target_arch = "wasm32"), inline(always))]
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
#[cfg_attr(not(target_arch = "wasm32"), inline(always))]
pub(super) fn check_length(bytes: &[u8], data: u64) -> Result<(), OpenError> {
    let (len, expected) = (bytes.len() as u64, data.saturating_add(FOOTER_BYTES as u64));
    if len == expected { Ok(()) } else { Err(OpenError::WrongLength { len, expected }) }
}

/// Writes a footer that is encoded but for its checksums, and then the checksums.
pub(super) fn seal_footer(bytes: &mut [u8], encoded: [u8; FOOTER_BYTES]) {
    let raw = bytes.last_chunk_mut::<FOOTER_BYTES>().expect("a footer");
    *raw = encoded;
    write_checks(bytes);
}

pub(super) fn write_checks(bytes: &mut [u8]) {
    let check = data_check(bytes);
    let raw = bytes.last_chunk_mut::<FOOTER_BYTES>().expect("a footer");
    put(raw, at::DATA_CHECK, check);
    let check = footer_check(raw);
    put(raw, at::FOOTER_CHECK, check);
}

/// The data checksum: 32 bits over everything that precedes the checksums, which includes the
/// other fields of the footer.
pub(super) fn data_check(bytes: &[u8]) -> u64 {
    let covered = bytes.len() - FOOTER_BYTES + at::DATA_CHECK.start;
    bytes[..covered].key_hash(0) & 0xffff_ffff
}

/// The footer checksum: 16 bits over all other fields of the footer, the data checksum included.
///
/// Engines open a filter for every lookup, and a general hash took longer than the rest of
/// opening together. Here three multiplications mix all five words.
#[cfg_attr(not(target_arch = "wasm32"), inline(always))]
pub(super) fn footer_check(raw: &[u8; FOOTER_BYTES]) -> u64 {
    let word =
        |number: usize| u64::from_le_bytes(raw[8 * number..][..8].try_into().expect("eight bytes"));
    let first = fold(word(0) ^ CHECK[0], word(1) ^ CHECK[1]);
    let second = fold(word(2) ^ CHECK[2], word(3) ^ CHECK[3]);
    // The last word also holds the footer checksum, which is masked out.
    fold(first ^ second ^ word(4) & !CHECK_FIELD, CHECK[4]) & 0xffff
}
