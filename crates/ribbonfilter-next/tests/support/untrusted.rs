//! Untrusted input: computes valid checksums for corrupt bytes, and runs every query on them, with
//! every kernel.
//!
//! It follows the format and uses no code of the library to compute checksums and lengths.
#![allow(dead_code, reason = "each test takes what it needs")]

use ribbonfilter_next::{Filter, Function, Kernel, Shard, Shards};
use std::ops::Range;
use xxhash_rust::xxh3::xxh3_64;

/// Bytes of the footer.
pub const FOOTER_BYTES: usize = 40;
/// Bytes of an end in the directory of a container.
const END: usize = 5;
/// Bytes that describe the second system of a Bumped filter, before the footer.
const SECOND: usize = 15;

/// The codes of kinds in the footer.
pub const FILTER: u8 = 1;
pub const FUNCTION: u8 = 2;
pub const CONTAINER: u8 = 3;
pub const SHARD: u8 = 4;

/// Decodes a little-endian number.
fn number(bytes: &[u8]) -> usize {
    bytes.iter().rev().fold(0, |number, &byte| number << 8 | usize::from(byte))
}

/// Writes the magic number and the version into the footer.
fn stamp(bytes: &mut [u8]) {
    if let Some(raw) = bytes.last_chunk_mut::<FOOTER_BYTES>() {
        raw[37..].copy_from_slice(&[2, 0x52, 0xbf]);
    }
}

/// Recomputes all checksums, as an attacker would do.
pub fn seal(bytes: &mut [u8]) {
    let Some(raw) = bytes.len().checked_sub(FOOTER_BYTES) else { return };
    let covered = match bytes[raw + 28] {
        CONTAINER => seal_filters(bytes).unwrap_or(0),
        SHARD => {
            seal(&mut bytes[..raw]);
            raw
        }
        _ => 0,
    };
    seal_from(bytes, covered);
}

/// Recomputes the checksums of the footer, of which that of the data begins at an offset.
fn seal_from(bytes: &mut [u8], covered: usize) {
    let raw = bytes.len() - FOOTER_BYTES;
    let data = xxh3_64(&bytes[covered..raw + 32]) as u32;
    bytes[raw + 32..raw + 36].copy_from_slice(&data.to_le_bytes());
    bytes[raw + 36] = 0;
    bytes[raw + 36] = xxh3_64(&bytes[raw..]) as u8;
}

/// The bytes with magic number, version and valid checksums.
pub fn sealed(bytes: &[u8]) -> Vec<u8> {
    let mut sealed = bytes.to_vec();
    stamp(&mut sealed);
    seal(&mut sealed);
    sealed
}

/// Recomputes the checksums of all filters of a container; returns the offset of the directory.
fn seal_filters(bytes: &mut [u8]) -> Option<usize> {
    let (rest, raw) = bytes.split_at_mut(bytes.len() - FOOTER_BYTES);
    let shards = 1_usize.checked_shl(raw[27].into())?;
    let directory = rest.len().checked_sub(shards.checked_mul(END)?)?;
    let (filters, ends) = rest.split_at_mut(directory);
    let (size, aligned) = (number(&raw[14..19]), raw[29] == 1);
    let mut before = 0_usize;
    for (shard, end) in ends.chunks_exact(END).enumerate() {
        let begin = match (size, aligned) {
            (0, false) => before,
            (0, true) => before.next_multiple_of(64),
            _ => shard.saturating_mul(size),
        };
        before = number(end);
        if let Some(filter) = filters.get_mut(begin..before)
            && filter.len() >= FOOTER_BYTES
        {
            seal_from(filter, 0);
        }
    }
    Some(directory)
}

/// The number of bytes of a system, from its fields.
fn system_size(blocks: u128, starts: u128, columns: u128, boundary: u128, storage: u8) -> u128 {
    let (last_bytes, rows) = (u128::from(storage & 7) + 1, storage >> 3 & 1 == 1);
    let all = starts + starts.div_ceil(4096) * blocks.saturating_sub(1);
    let Some(last) = all.checked_sub(1) else { return 0 };
    match rows {
        true => (8 * last + last_bytes) * columns,
        false => {
            let full = 8 * (columns * last).saturating_sub(boundary.min(last));
            full + columns.saturating_sub(u128::from(last < boundary)) * last_bytes
        }
    }
}

/// The bytes with zeros inserted or bytes removed at the front, so that they have the length that
/// the footer requires; `None` if that is too long. For filters and functions.
pub fn fitted(bytes: &[u8]) -> Option<Vec<u8>> {
    const MAX_LEN: u128 = 1 << 14;
    let raw = bytes.last_chunk::<FOOTER_BYTES>()?;
    let field = |raw: &[u8], range: Range<usize>| number(&raw[range]) as u128;
    let (starts, columns, storage) = (field(raw, 14..19), u128::from(raw[24]), raw[26]);
    let width = u128::from(raw[29] >> 4);
    let first = system_size(width, starts, columns, field(raw, 19..24), storage);
    let further = match raw[29] & 15 {
        0 => 0,
        _ => {
            let (data, _) = bytes.split_last_chunk::<FOOTER_BYTES>()?;
            let second = data.last_chunk::<SECOND>()?;
            let boundary = field(second, 5..10);
            let size = system_size(4, field(second, 0..5), columns, boundary, storage >> 4);
            size + starts.div_ceil(8).div_ceil(4) + SECOND as u128
        }
    };
    let needed = first + further + FOOTER_BYTES as u128;
    let needed = usize::try_from(Some(needed).filter(|&needed| needed <= MAX_LEN)?).ok()?;
    let zeros = vec![0; needed.saturating_sub(bytes.len())];
    Some([&zeros, &bytes[bytes.len().saturating_sub(needed)..]].concat())
}

/// Opens the bytes as every kind of structure and runs every query; returns whether any of them
/// opened and verified. Panics if two results contradict each other.
pub fn query_everything(bytes: &[u8], hashes: &[u64]) -> bool {
    ask_without_opening(bytes, hashes);
    let filter = Filter::open(bytes).is_ok_and(|filter| ask_filter(&filter, hashes));
    let function = Function::open(bytes).is_ok_and(|function| ask_function(&function, hashes));
    let shards = Shards::open(bytes).is_ok_and(|shards| ask_shards(&shards, hashes));
    let shard = Shard::open(bytes).is_ok_and(ask_shard);
    filter || function || shards || shard
}

/// A query that opens the filter itself accepts and rejects the same bytes as `open`, and returns
/// the same results.
fn ask_without_opening(bytes: &[u8], hashes: &[u64]) {
    let opened = Filter::open(bytes);
    for &hash in hashes {
        match (&opened, Filter::contains_hash_in(bytes, hash)) {
            (Ok(filter), Ok(hit)) => assert_eq!(filter.contains_hash(hash), hit),
            (Err(error), Err(other)) => {
                // The bytes are the same for all hashes.
                return assert_eq!(format!("{error:?}"), format!("{other:?}"));
            }
            (Ok(_), Err(error)) => panic!("refused what can be opened: {error}"),
            (Err(error), Ok(_)) => panic!("took what is refused: {error}"),
        }
    }
}

fn ask_filter(filter: &Filter<&[u8]>, hashes: &[u64]) -> bool {
    let answers = filter.contains_hash_batch(hashes);
    for kernel in Kernel::available() {
        let filter = filter.clone().with_kernel(kernel);
        let same = |(&hash, &hit): (&u64, &bool)| filter.contains_hash(hash) == hit;
        assert!(hashes.iter().zip(&answers).all(same), "{kernel:?}, one by one: {filter:?}");
        assert!(filter.contains_hash_batch(hashes) == answers, "{kernel:?}: {filter:?}");
        // Batches of other lengths, which end within a group.
        let few = &hashes[..hashes.len() / 3];
        assert!(filter.contains_hash_batch(few) == answers[..few.len()], "{kernel:?}: {filter:?}");
    }
    let _ = format!("{filter:?} {} {}", filter.bits_per_key(), filter.variant());
    let _ = format!("{} {} {}", filter.width(), filter.key_seed(), filter.is_empty());
    assert!((0.0..=1.0).contains(&filter.expected_rate()), "{filter:?}");
    assert_eq!(filter.size_in_bytes(), filter.as_bytes().len());
    let _ = filter.contains("key") | filter.contains_batch(&["key"])[0];
    let verified = filter.verify().is_ok();
    let smaller = [
        filter.shrink_to_columns(filter.columns() / 2.0),
        filter.shrink_to_bytes(filter.size_in_bytes() as u64 * 3 / 4),
        filter.shrink_to_rate(filter.expected_rate().sqrt()),
    ];
    for smaller in smaller.into_iter().flatten() {
        // With fewer columns, every positive stays positive.
        let found = smaller.contains_hash_batch(hashes);
        assert!(verified && answers.iter().zip(found).all(|(&before, now)| now || !before));
        assert!(smaller.verify().is_ok() && smaller.size_in_bytes() <= filter.size_in_bytes());
    }
    let columns = filter.columns().ceil() as u32;
    if let Ok(split) = filter.split_columns(&[columns / 2, columns - columns / 2]) {
        let together = |hash| split.iter().all(|part| part.contains_hash(hash));
        assert!(hashes.iter().zip(&answers).all(|(&hash, &hit)| together(hash) == hit));
    }
    verified
}

fn ask_function(function: &Function<&[u8]>, hashes: &[u64]) -> bool {
    let values = function.get_hash_batch(hashes);
    for kernel in Kernel::available() {
        let function = function.clone().with_kernel(kernel);
        assert!(function.get_hash_batch(hashes) == values, "{kernel:?}: {function:?}");
        let found = function.lookup_hash_batch(hashes);
        for ((&hash, &value), found) in hashes.iter().zip(&values).zip(found) {
            let alone = (function.get_hash(hash), function.lookup_hash(hash));
            assert_eq!(alone, (value, found), "{kernel:?}: {function:?}");
            assert!(found.is_none_or(|found| found == value));
        }
    }
    let _ = format!("{function:?} {}", function.bits_per_key());
    let _ = format!("{} {}", function.key_seed(), function.is_empty());
    let _ = (function.get("key"), function.lookup_batch(&["key"]), function.get_batch(&["key"]));
    assert_eq!(function.size_in_bytes(), function.as_bytes().len());
    function.verify().is_ok()
}

fn ask_shards(shards: &Shards<&[u8]>, hashes: &[u64]) -> bool {
    let answers = shards.contains_hash_batch(hashes);
    for kernel in Kernel::available() {
        let shards = shards.clone().with_kernel(kernel);
        let same = |(&hash, &hit): (&u64, &bool)| shards.contains_hash(hash) == hit;
        assert!(hashes.iter().zip(&answers).all(same), "{kernel:?}: {shards:?}");
        assert!(shards.contains_hash_batch(hashes) == answers, "{kernel:?}: {shards:?}");
    }
    assert!(hashes.iter().all(|&hash| shards.shard_of_hash(hash) < shards.shard_count()));
    let _ = format!("{shards:?} {} {}", shards.bits_per_key(), shards.expected_rate());
    let _ = format!("{} {}", shards.columns(), shards.directory_bytes());
    let _ = format!("{} {} {}", shards.variant(), shards.width(), shards.key_seed());
    let _ = shards.contains("key") | shards.contains_batch(&["key"])[0];
    shards.verify().is_ok()
}

fn ask_shard(shard: Shard<&[u8]>) -> bool {
    let _ = format!("{shard:?} {} {} {}", shard.variant(), shard.width(), shard.key_seed());
    assert!(shard.number() < shard.shard_count());
    assert_eq!(shard.size_in_bytes(), shard.as_bytes().len());
    let verified = shard.verify().is_ok();
    // A container of fixed-size shards has the declared size for any number of keys.
    let too_large = |raw: &[u8; FOOTER_BYTES]| number(&raw[14..19]) > 1024;
    if shard.as_bytes().last_chunk().is_some_and(too_large) {
        return verified;
    }
    if let Ok(assembled) = Shards::assemble([shard]) {
        assert!(verified && assembled.verify().is_ok());
    }
    verified
}
