//! The records of the command, compared with a simple implementation, in one chunk and in chunks of
//! complete records. The command has no library, so its modules are compiled into this target.
#![no_main]

#[allow(dead_code, reason = "the command needs more of it")]
mod input;

use input::Encoding;
use input::records::{Column, Format, Hashed};
use libfuzzer_sys::fuzz_target;
use ribbonfilter::Key;

const SEED: u64 = 7;

fuzz_target!(|bytes: &[u8]| {
    let Some((&how, bytes)) = bytes.split_first() else { return };
    let format = format(how);
    let whole = hash(&format, &[bytes]);
    if format.value_after.is_none() && format.column.is_none() && !format.grouped {
        assert_eq!(whole.hashes, expected(&format, bytes));
    }
    let chunked = hash(&format, &chunks(&format, bytes, usize::from(how) + 1));
    assert!(whole == chunked);
    let mut text = Vec::new();
    for record in bytes.split_inclusive(|&byte| byte == format.end) {
        format.write_key(record, &mut text);
        let _ = format.hash_argument(record, SEED);
    }
    assert!(text.len() <= bytes.len() * 20);
});

/// One of the ways to call the command.
fn format(how: u8) -> Format {
    let encoding = [Encoding::Lines, Encoding::Hex, Encoding::U64le][usize::from(how) % 3];
    let is_line = encoding != Encoding::U64le;
    Format {
        encoding,
        grouped: is_line && how & 64 > 0,
        end: if is_line && how & 8 > 0 { 0 } else { b'\n' },
        column: (is_line && how & 16 > 0).then_some(Column { number: 2, delimiter: b',' }),
        value_after: (is_line && how & 32 > 0).then_some(b':'),
        plain: true,
    }
}

/// The records of all chunks up to the first invalid record.
#[derive(Debug, Default, PartialEq)]
struct Found {
    hashes: Vec<u64>,
    /// The hash of the group and of the key of each record.
    grouped: Vec<(u64, u64)>,
    values: Vec<u64>,
    complaint: Option<String>,
}

fn hash(format: &Format, chunks: &[&[u8]]) -> Found {
    let (mut found, mut hashed) = (Found::default(), Hashed::default());
    for chunk in chunks {
        format.hash(chunk, SEED, &mut hashed);
        assert!(hashed.ends.is_sorted() && hashed.ends.len() == hashed.hashes.len());
        assert!(hashed.ends.last().is_none_or(|&last| last <= chunk.len()));
        found.hashes.extend_from_slice(&hashed.hashes);
        found.grouped.extend(hashed.grouped());
        let valued = hashed.values.len().min(hashed.hashes.len());
        found.values.extend_from_slice(&hashed.values[..valued]);
        found.complaint = hashed.complaint.take();
        if found.complaint.is_some() {
            break;
        }
    }
    found
}

/// Splits the bytes into chunks of complete records of at least `size` bytes in total.
fn chunks<'a>(format: &Format, mut bytes: &'a [u8], size: usize) -> Vec<&'a [u8]> {
    let mut chunks = Vec::new();
    for end in size.. {
        if end >= bytes.len() {
            break;
        }
        if let Some(whole) = format.whole_records(&bytes[..end]).filter(|_| end % size == 0) {
            let (chunk, rest) = bytes.split_at(whole);
            chunks.push(chunk);
            bytes = rest;
        }
    }
    chunks.push(bytes);
    chunks
}

/// The hashes of all records that precede the first invalid one.
fn expected(format: &Format, bytes: &[u8]) -> Vec<u64> {
    if format.encoding == Encoding::U64le {
        return bytes.chunks_exact(8).map(|integer| integer.key_hash(SEED)).collect();
    }
    let mut records: Vec<&[u8]> = bytes.split(|&byte| byte == format.end).collect();
    // No record follows the last line end.
    records.pop_if(|last| last.is_empty());
    let hash = |record: &[u8]| {
        let carriage_return: &[u8] = if format.end == b'\n' { b"\r" } else { b"" };
        let line = record.strip_suffix(carriage_return).unwrap_or(record);
        match format.encoding {
            Encoding::Hex => Some(decoded(line)?.key_hash(SEED)),
            _ => Some(line.key_hash(SEED)),
        }
    };
    records.into_iter().map_while(hash).collect()
}

/// Decodes hexadecimal digits and ignores a count that follows a colon.
fn decoded(line: &[u8]) -> Option<Vec<u8>> {
    let digits = std::str::from_utf8(line.split(|&byte| byte == b':').next()?).ok()?;
    let good = !digits.is_empty() && digits.len() % 2 == 0;
    let digits: Vec<char> = good.then(|| digits.chars().collect())?;
    let pair =
        |pair: &[char]| Some((pair[0].to_digit(16)? * 16 + pair.get(1)?.to_digit(16)?) as u8);
    digits.chunks(2).map(pair).collect()
}
