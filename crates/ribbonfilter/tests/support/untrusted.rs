//! Untrusted input: computes valid checksums for corrupt bytes, and runs every query on them.
//!
//! The mutation tests and the fuzz targets share this file. It follows `docs/format.md` and uses
//! no code of the library to compute checksums.

use ribbonfilter::{ExactSet, Filter, Function, Membership, Part, Shard, Shards};
use xxhash_rust::xxh3::xxh3_64;

/// Bytes of the footer.
pub const FOOTER_BYTES: usize = 40;
/// Bytes of an entry in a directory of shards by hash.
const ENTRY: usize = 32;
/// The hashes of the groups in samples of exact sets; 0 is the unnamed group.
pub const SAMPLE_GROUPS: std::ops::Range<u64> = 0..9;
/// Bytes between borders and footer, if shards are ranges.
const TAIL: usize = 15;

/// Decodes a little-endian number.
fn number(bytes: &[u8]) -> usize {
    bytes.iter().rev().fold(0, |number, &byte| number << 8 | usize::from(byte))
}

/// Writes the magic number and the version into the footer.
fn stamp(bytes: &mut [u8]) {
    if let Some(raw) = bytes.last_chunk_mut::<FOOTER_BYTES>() {
        raw[31] = raw[31] & 0xf0 | 1;
        raw[38..].copy_from_slice(&[0x52, 0xbf]);
    }
}

/// Recomputes all checksums, as an attacker would do.
pub fn seal(bytes: &mut [u8]) {
    let Some(raw) = bytes.len().checked_sub(FOOTER_BYTES) else { return };
    let is_container = bytes[raw + 28] & 3 == 3;
    let covered = if is_container { seal_shards(bytes).unwrap_or(0) } else { 0 };
    let data = xxh3_64(&bytes[covered..raw + 32]) as u32;
    bytes[raw + 32..raw + 36].copy_from_slice(&data.to_le_bytes());
    let check = footer_check(&bytes[raw..]);
    bytes[raw + 36..raw + 38].copy_from_slice(&check.to_le_bytes());
}

/// The checksum of the footer.
fn footer_check(footer: &[u8]) -> u16 {
    const K: [u64; 5] = [
        0x9159_015a_3070_dd17,
        0x152f_ecd8_f70e_5939,
        0x6733_2667_ffc0_0b31,
        0x8eb4_4a87_6858_1511,
        0xdb0c_2e0d_64f9_8fa7,
    ];
    let fold = |a: u64, b: u64| {
        let product = u128::from(a) * u128::from(b);
        product as u64 ^ (product >> 64) as u64
    };
    let word = |at: usize| footer[at..at + 8].iter().rev().fold(0, |n, &b| n << 8 | u64::from(b));
    let first = fold(word(0) ^ K[0], word(8) ^ K[1]);
    let second = fold(word(16) ^ K[2], word(24) ^ K[3]);
    fold(first ^ second ^ word(32) & 0xffff_0000_ffff_ffff, K[4]) as u16
}

/// The bytes with magic number, version and valid checksums.
pub fn sealed(bytes: &[u8]) -> Vec<u8> {
    let mut sealed = bytes.to_vec();
    stamp(&mut sealed);
    seal(&mut sealed);
    sealed
}

/// The bytes with zeros inserted or bytes removed at the front, so that they have the length that
/// the footer requires; `None` if that is too long. For filters and functions of one layer.
pub fn fitted(bytes: &[u8]) -> Option<Vec<u8>> {
    const MAX_LEN: u128 = 1 << 14;
    let field = |range: std::ops::Range<usize>| {
        let raw = bytes.last_chunk::<FOOTER_BYTES>()?;
        Some(raw[range].iter().rev().fold(0, |number: u128, &byte| number << 8 | u128::from(byte)))
    };
    let (what, segments) = (field(28..29)?, field(29..30)?);
    let slots = field(14..18)? << (segments & 31);
    let block_slots = (16 << (what >> 4 & 3)).min(64);
    let bits = (slots * (field(26..28)? & 127)).checked_sub(field(18..23)? * block_slots)?;
    let metadata = match what >> 2 & 3 {
        0 if segments & 31 > 0 => 1 << (segments & 31),
        2 => 1 << (segments & 31).checked_add(field(23..24)?).filter(|&bits| bits < 32)?,
        _ => 0,
    };
    let needed = bits.div_ceil(8) + metadata + FOOTER_BYTES as u128;
    let needed = usize::try_from(Some(needed).filter(|&needed| needed <= MAX_LEN)?).ok()?;
    let zeros = vec![0; needed.saturating_sub(bytes.len())];
    Some([&zeros, &bytes[bytes.len().saturating_sub(needed)..]].concat())
}

/// Recomputes the checksums of all shards; returns the offset of the directory, if there is one.
fn seal_shards(bytes: &mut [u8]) -> Option<usize> {
    let (rest, raw) = bytes.split_at_mut(bytes.len() - FOOTER_BYTES);
    let (shards, size) = (number(&raw[14..18]), number(&raw[18..23]));
    match raw[29] >> 5 {
        2 => seal_ranges(rest, shards, raw),
        // An exact set has one checksum of everything.
        3 => Some(0),
        filling => {
            let entries = if filling & 4 == 0 { shards } else { 1 };
            let begin = rest.len().checked_sub(entries.checked_mul(ENTRY)?)?;
            let (data, entries) = rest.split_at_mut(begin);
            let mut before = 0;
            for (index, entry) in entries.chunks_exact_mut(ENTRY).enumerate() {
                if filling & 3 == 1 {
                    before = index.saturating_mul(size);
                }
                let end = number(&entry[..5]);
                let check = data.get(before..end).map_or(0, xxh3_64) as u32;
                entry[28..].copy_from_slice(&check.to_le_bytes());
                before = end;
            }
            Some(begin)
        }
    }
}

/// Recomputes the checksums of shards in ranges; returns the offset of the directory.
fn seal_ranges(rest: &mut [u8], shards: usize, raw: &[u8]) -> Option<usize> {
    let (rest, tail) = rest.split_last_chunk_mut::<TAIL>()?;
    let border = usize::from(tail[9]) + 2;
    let begin = rest.len().checked_sub(shards.checked_mul(border)?)?;
    let (solution, borders) = rest.split_at_mut(begin);
    let (columns, boundary) = (usize::from(raw[26] & 0x7f), number(&raw[18..23]));
    let block_slots = (16 << (raw[28] >> 4 & 3)).min(64);
    let shard_blocks = number(&tail[..4]) / block_slots;
    let offset = |shard: usize| {
        let block = shard.saturating_mul(shard_blocks);
        let words = block.saturating_mul(columns).saturating_sub(block.min(boundary));
        words.saturating_mul(block_slots / 8)
    };
    for (shard, border) in borders.chunks_exact_mut(border).enumerate() {
        let end = if shard + 1 == shards { solution.len() } else { offset(shard + 1) };
        let check = solution.get(offset(shard)..end).map_or(0, xxh3_64) as u16;
        let (_, stored) = border.split_at_mut(border.len() - 2);
        stored.copy_from_slice(&check.to_le_bytes());
    }
    tail[11..].copy_from_slice(&(xxh3_64(solution) as u32).to_le_bytes());
    Some(begin)
}

/// Opens the bytes as every kind of structure and runs every query; returns whether any of them
/// opened and verified. Panics if two results contradict each other.
pub fn query_everything(bytes: &[u8], hashes: &[u64]) -> bool {
    ask_without_opening(bytes, hashes);
    let filter = Filter::open(bytes).is_ok_and(|filter| ask_filter(&filter, hashes));
    let function = Function::open(bytes).is_ok_and(|function| ask_function(&function, hashes));
    let part = Part::open(bytes).is_ok_and(|part| ask_part(&part, hashes));
    let shards = Shards::open(bytes).is_ok_and(|shards| ask_shards(&shards, hashes));
    let shard = Shard::open(bytes).is_ok_and(ask_shard);
    let exact = ExactSet::open(bytes).is_ok_and(|exact| ask_exact(&exact, hashes));
    filter || function || part || shards || shard || exact
}

/// A query that opens the filter itself accepts and rejects the same bytes as `open`, and returns
/// the same results.
fn ask_without_opening(bytes: &[u8], hashes: &[u64]) {
    let opened = Filter::open(bytes);
    for &hash in hashes {
        match (&opened, Filter::contains_hash_in(bytes, hash)) {
            (Ok(filter), Ok(hit)) => assert_eq!(filter.contains_hash(hash), hit),
            (Err(error), Err(other)) => assert_eq!(format!("{error:?}"), format!("{other:?}")),
            (Ok(_), Err(error)) => panic!("refused what can be opened: {error}"),
            (Err(error), Ok(_)) => panic!("took what is refused: {error}"),
        }
    }
}

fn ask_filter(filter: &Filter<&[u8]>, hashes: &[u64]) -> bool {
    let answers = filter.contains_hash_batch(hashes);
    assert!(hashes.iter().zip(&answers).all(|(&hash, &hit)| filter.contains_hash(hash) == hit));
    let _ = format!("{filter:?} {} {}", filter.bits_per_key(), filter.expected_rate());
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
    if let Ok(cut) = filter.cut(3) {
        let together = |hash| cut.iter().all(|part| part.contains_hash(hash));
        assert!(hashes.iter().zip(&answers).all(|(&hash, &hit)| together(hash) == hit));
        let joined = Filter::join(&cut).expect("what was cut can be joined");
        assert!(joined.contains_hash_batch(hashes) == answers);
    }
    verified
}

fn ask_function(function: &Function<&[u8]>, hashes: &[u64]) -> bool {
    let values = function.get_hash_batch(hashes);
    let found = function.lookup_hash_batch(hashes);
    for ((&hash, value), found) in hashes.iter().zip(values).zip(found) {
        assert_eq!((function.get_hash(hash), function.lookup_hash(hash)), (value, found));
        assert!(found.is_none_or(|found| found == value));
    }
    let _ = format!("{function:?} {}", function.bits_per_key());
    function.verify().is_ok()
}

fn ask_part(part: &Part<&[u8]>, hashes: &[u64]) -> bool {
    assert!(hashes.iter().all(|&hash| part.covers(hash) || part.contains_hash(hash)));
    let _ = format!("{part:?} {}", part.filter_rate());
    let verified = part.verify().is_ok();
    if let Ok(joined) = Filter::join(std::slice::from_ref(part)) {
        let same = |&hash| joined.contains_hash(hash) == part.contains_hash(hash);
        assert!(verified && hashes.iter().all(same));
    }
    verified
}

fn ask_shards(shards: &Shards<&[u8]>, hashes: &[u64]) -> bool {
    let answers = shards.contains_hash_batch(hashes);
    assert!(hashes.iter().zip(&answers).all(|(&hash, &hit)| shards.contains_hash(hash) == hit));
    assert!(hashes.iter().all(|&hash| shards.shard_of_hash(hash) < shards.shard_count()));
    let _ = format!("{shards:?} {} {}", shards.bits_per_key(), shards.expected_rate());
    let _ = format!("{} {}", shards.columns(), shards.directory_bytes());
    shards.verify().is_ok()
}

fn ask_shard(shard: Shard<&[u8]>) -> bool {
    let _ = format!("{shard:?}");
    let verified = shard.verify().is_ok();
    // A container of fixed-size shards has the declared size for any number of keys.
    let too_large = |raw: &[u8; FOOTER_BYTES]| raw[29] >> 5 & 3 == 1 && number(&raw[18..23]) > 1024;
    if shard.as_bytes().last_chunk().is_some_and(too_large) {
        return verified;
    }
    if let Ok(assembled) = Shards::assemble([shard]) {
        assert!(verified && assembled.verify().is_ok());
    }
    verified
}

fn ask_exact(set: &ExactSet<&[u8]>, hashes: &[u64]) -> bool {
    let hits = set.contains_hash_batch(hashes);
    let unnamed = set.contains_hash_in_group(0, hashes[0]) != Membership::UnknownGroup;
    for (&hash, hit) in hashes.iter().zip(hits) {
        assert_eq!(set.contains_hash(hash), hit);
        assert!(!unnamed || set.contains_hash_in_group(0, hash) == hit.into());
    }
    // Groups that the samples have, and others.
    for group in SAMPLE_GROUPS.chain(hashes.iter().copied()) {
        for &hash in hashes.iter().take(4) {
            let _ = set.contains_hash_in_group(group, hash);
        }
    }
    assert!((0.0..=1.0).contains(&set.expected_rate()));
    assert!(set.expected_rate_in("group").is_none_or(|rate| (0.0..=1.0).contains(&rate)));
    let _ = set.contains_batch_in("group", hashes);
    let _ = format!("{set:?} {} {}", set.bits_per_member(), set.lower_bound_bits());
    set.verify().is_ok()
}
