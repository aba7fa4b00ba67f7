//! Hashes the keys of a chunk of complete records, without copying a line.

use super::{Encoding, hex};
use memchr::{memchr, memchr_iter, memrchr};
use ribbonfilter::Key;

/// How records are separated, and which part of a record is the key.
#[derive(Clone, Copy, Debug)]
pub struct Format {
    pub encoding: Encoding,
    /// The byte that ends a line.
    pub end: u8,
    pub column: Option<Column>,
    /// Whether a group and a tab precede the key; the first tab in the line counts.
    pub grouped: bool,
    /// The delimiter between a key and the value that follows it; the last one in the line counts.
    pub value_after: Option<u8>,
    /// Whether to read compressed input as it is.
    pub plain: bool,
}

/// A field of a line.
#[derive(Clone, Copy, Debug)]
pub struct Column {
    pub number: u32,
    pub delimiter: u8,
}

/// The byte between a group and a key.
const GROUP_END: u8 = b'\t';
/// The hash of the unnamed group, to which keys without a group belong.
const UNNAMED: u64 = 0;

/// The size of a `u64le` record in bytes.
const INTEGER: usize = 8;

/// The hashes and values of one chunk.
#[derive(Default)]
pub struct Hashed {
    pub hashes: Vec<u64>,
    /// The hashes of the groups of the keys, if the format has any.
    pub groups: Vec<u64>,
    /// The values of the keys, if the format has any.
    pub values: Vec<u64>,
    /// Where each record ends, its line end included.
    pub ends: Vec<usize>,
    /// The error of the record that follows the last hashed one, if it has one.
    pub complaint: Option<String>,
    scratch: Vec<u8>,
}

impl Format {
    /// The number of bytes of the complete records at the beginning of `bytes`, if there is one.
    pub fn whole_records(&self, bytes: &[u8]) -> Option<usize> {
        let len = match self.encoding {
            Encoding::U64le => bytes.len() - bytes.len() % INTEGER,
            Encoding::Lines | Encoding::Hex => memrchr(self.end, bytes)? + 1,
        };
        (len > 0).then_some(len)
    }

    /// Hashes every key of a chunk.
    pub fn hash(&self, chunk: &[u8], key_seed: u64, hashed: &mut Hashed) {
        hashed.hashes.clear();
        hashed.groups.clear();
        hashed.values.clear();
        hashed.ends.clear();
        let outcome = match self.encoding {
            Encoding::Lines => {
                self.hash_lines(chunk, key_seed, hashed, |key, _| Ok(key.key_hash(key_seed)))
            }
            Encoding::Hex => self.hash_lines(chunk, key_seed, hashed, |key, scratch| {
                hex::decode(digits(key), scratch)?;
                Ok(scratch.key_hash(key_seed))
            }),
            Encoding::U64le => hash_integers(chunk, key_seed, hashed),
        };
        hashed.complaint = outcome.err();
    }

    fn hash_lines(
        &self,
        chunk: &[u8],
        key_seed: u64,
        hashed: &mut Hashed,
        hash: impl Fn(&[u8], &mut Vec<u8>) -> Result<u64, String>,
    ) -> Result<(), String> {
        let mut start = 0;
        let unended = !chunk.is_empty() && chunk.last() != Some(&self.end);
        let last = unended.then_some(chunk.len());
        for end in memchr_iter(self.end, chunk).chain(last) {
            let mut key = self.key(&chunk[start..end])?;
            if self.grouped {
                let group;
                (group, key) = with_group(key)?;
                push(&mut hashed.groups, group.key_hash(key_seed))?;
            }
            if let Some(delimiter) = self.value_after {
                let value;
                (key, value) = with_value(key, delimiter)?;
                push(&mut hashed.values, value)?;
            }
            push(&mut hashed.hashes, hash(key, &mut hashed.scratch)?)?;
            start = (end + 1).min(chunk.len());
            push(&mut hashed.ends, start)?;
        }
        Ok(())
    }

    /// The part of a line that holds the key, and the value if the format has one.
    fn key<'a>(&self, line: &'a [u8]) -> Result<&'a [u8], String> {
        let line = match line {
            [line @ .., b'\r'] if self.end == b'\n' => line,
            line => line,
        };
        match self.column {
            None => Ok(line),
            Some(column) => column.of(line),
        }
    }

    /// Writes the key of a record as text.
    pub fn write_key(&self, record: &[u8], text: &mut Vec<u8>) {
        if let (Encoding::U64le, Some(integer)) = (self.encoding, record.first_chunk::<INTEGER>()) {
            text.extend_from_slice(u64::from_le_bytes(*integer).to_string().as_bytes());
            return;
        }
        let line = record.strip_suffix(&[self.end]).unwrap_or(record);
        // Every record that was hashed has a key.
        let key = self.key(line).unwrap_or(line);
        text.extend_from_slice(if self.encoding == Encoding::Hex { digits(key) } else { key });
    }

    /// Hashes a key that was given as an argument.
    pub fn hash_argument(&self, key: &[u8], key_seed: u64) -> Result<u64, String> {
        match self.encoding {
            Encoding::Lines => Ok(key.key_hash(key_seed)),
            Encoding::Hex => {
                let mut bytes = Vec::new();
                hex::decode(digits(key), &mut bytes)?;
                Ok(bytes.key_hash(key_seed))
            }
            Encoding::U64le => {
                let number = str::from_utf8(key).ok().and_then(|text| text.parse::<u64>().ok());
                let number =
                    number.ok_or("not an integer from 0 to 2^64 - 1: write it in decimal")?;
                Ok(number.key_hash(key_seed))
            }
        }
    }

    /// Hashes a group and a key that were given as one argument.
    pub fn hash_grouped_argument(
        &self,
        argument: &[u8],
        key_seed: u64,
    ) -> Result<(u64, u64), String> {
        if !self.grouped {
            return Ok((UNNAMED, self.hash_argument(argument, key_seed)?));
        }
        let (group, key) = with_group(argument)?;
        Ok((group.key_hash(key_seed), self.hash_argument(key, key_seed)?))
    }

    /// Appends a line end if the last record lacks one.
    pub fn complete(&self, records: &mut Vec<u8>) {
        let lines = self.encoding != Encoding::U64le;
        if lines && records.last().is_some_and(|&last| last != self.end) {
            records.push(self.end);
        }
    }

    /// The name of a record in messages.
    pub fn record_name(&self) -> &'static str {
        match self.encoding {
            Encoding::Lines | Encoding::Hex => "line",
            Encoding::U64le => "integer",
        }
    }
}

/// The message for a record that cannot be stored.
const NO_MEMORY: &str = "not enough memory for it: allow more, or use fewer threads";

/// Appends an item, or fails if there is not enough memory.
fn push<T>(list: &mut Vec<T>, item: T) -> Result<(), String> {
    list.try_reserve(1).map_err(|_| NO_MEMORY)?;
    list.push(item);
    Ok(())
}

impl Column {
    fn of(self, line: &[u8]) -> Result<&[u8], String> {
        let Self { number, delimiter } = self;
        let (mut rest, mut passed) = (line, 1);
        loop {
            let end = memchr(delimiter, rest);
            if passed == number {
                return Ok(&rest[..end.unwrap_or(rest.len())]);
            }
            let Some(end) = end else {
                return Err(format!(
                    "no column {number}, only {passed}: is it the right --delimiter?"
                ));
            };
            rest = &rest[end + 1..];
            passed += 1;
        }
    }
}

impl Hashed {
    /// The hash of the group and of the key of each record.
    pub fn grouped(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        let groups = self.groups.iter().copied().chain(std::iter::repeat(UNNAMED));
        groups.zip(self.hashes.iter().copied())
    }
}

/// Splits a line into the group and the key that follows.
fn with_group(line: &[u8]) -> Result<(&[u8], &[u8]), String> {
    let end = memchr(GROUP_END, line).ok_or("no group: write it and a tab before the key")?;
    Ok((&line[..end], &line[end + 1..]))
}

/// Splits a line into its key and the value that follows.
fn with_value(line: &[u8], delimiter: u8) -> Result<(&[u8], u64), String> {
    let Some(end) = memrchr(delimiter, line) else {
        let delimiter = delimiter.escape_ascii();
        return Err(format!("no value: write it after the key and '{delimiter}'"));
    };
    let (key, digits) = (&line[..end], &line[end + 1..]);
    let value = parse_decimal(digits).ok_or_else(|| {
        let found = digits.escape_ascii();
        format!("the value '{found}' is not an integer from 0 to 2^64 - 1")
    })?;
    Ok((key, value))
}

/// Parses a number that consists only of decimal digits.
fn parse_decimal(digits: &[u8]) -> Option<u64> {
    if digits.is_empty() {
        return None;
    }
    digits.iter().try_fold(0u64, |number, digit| {
        let digit = digit.is_ascii_digit().then(|| u64::from(digit - b'0'))?;
        number.checked_mul(10)?.checked_add(digit)
    })
}

/// The digits that precede the `:count` of a breached password.
fn digits(key: &[u8]) -> &[u8] {
    &key[..memchr(b':', key).unwrap_or(key.len())]
}

fn hash_integers(chunk: &[u8], key_seed: u64, hashed: &mut Hashed) -> Result<(), String> {
    let (integers, rest) = chunk.as_chunks::<INTEGER>();
    hashed.hashes.try_reserve(integers.len()).map_err(|_| NO_MEMORY)?;
    hashed.ends.try_reserve(integers.len()).map_err(|_| NO_MEMORY)?;
    hashed.hashes.extend(integers.iter().map(|bytes| bytes.key_hash(key_seed)));
    hashed.ends.extend((1..=integers.len()).map(|count| count * INTEGER));
    match rest.len() {
        0 => Ok(()),
        len => Err(format!("{len} bytes instead of {INTEGER}: was it truncated?")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINES: Format = Format {
        encoding: Encoding::Lines,
        end: b'\n',
        column: None,
        grouped: false,
        value_after: None,
        plain: false,
    };
    const HEX: Format = Format { encoding: Encoding::Hex, ..LINES };
    const INTEGERS: Format = Format { encoding: Encoding::U64le, ..LINES };

    fn hash(format: Format, chunk: &[u8]) -> Hashed {
        let mut hashed = Hashed::default();
        format.hash(chunk, 0, &mut hashed);
        hashed
    }

    fn hashes(keys: &[&[u8]]) -> Vec<u64> {
        keys.iter().map(|key| key.key_hash(0)).collect()
    }

    #[test]
    fn lines_end_with_lf_or_crlf_and_the_last_may_lack_it() {
        let expected = hashes(&[b"ada", b"", b"grace"]);
        for text in ["ada\n\ngrace\n", "ada\r\n\r\ngrace\r\n", "ada\n\ngrace"] {
            let hashed = hash(LINES, text.as_bytes());
            assert_eq!(hashed.hashes, expected, "{text:?}");
            assert_eq!(hashed.ends.last(), Some(&text.len()));
        }
        assert!(hash(LINES, b"").hashes.is_empty());
        let nulls = Format { end: 0, ..LINES };
        assert_eq!(hash(nulls, b"a\nb\r\0c").hashes, hashes(&[b"a\nb\r", b"c"]));
    }

    #[test]
    fn digests_with_and_without_counts() {
        let hashed = hash(HEX, b"00FF:12\nabcd\r\n");
        assert_eq!(hashed.hashes, hashes(&[&[0, 255], &[0xab, 0xcd]]));
        let hashed = hash(HEX, b"00\nabc\n00\n");
        assert_eq!(hashed.hashes.len(), 1);
        assert!(hashed.complaint.expect("odd").contains("odd"));
        assert_eq!(HEX.hash_argument(b"00ff", 0), Ok([0u8, 255].key_hash(0)));
    }

    #[test]
    fn integers_of_eight_bytes() {
        let hashed = hash(INTEGERS, &[7u64.to_le_bytes(), 9u64.to_le_bytes()].concat());
        assert_eq!(hashed.hashes, [7u64.key_hash(0), 9u64.key_hash(0)]);
        assert!(hash(INTEGERS, &[0; 11]).complaint.expect("a rest").contains("3 bytes"));
        assert_eq!(INTEGERS.hash_argument(b"7", 0), Ok(7u64.key_hash(0)));
        assert!(INTEGERS.hash_argument(b"seven", 0).is_err());
    }

    #[test]
    fn columns_of_a_table() {
        let second = Format { column: Some(Column { number: 2, delimiter: b';' }), ..LINES };
        assert_eq!(hash(second, b"a;b;c\r\nd;e\r\n").hashes, hashes(&[b"b", b"e"]));
        let hashed = hash(second, b"a;b\nlonely\n");
        assert_eq!(hashed.hashes.len(), 1);
        assert!(hashed.complaint.expect("no column 2").contains("no column 2, only 1"));
    }

    #[test]
    fn values_follow_the_last_delimiter() {
        let valued = Format { value_after: Some(b'\t'), ..LINES };
        let hashed = hash(valued, b"ada\t36\r\na\tb\t18446744073709551615\n\t007");
        assert_eq!(hashed.hashes, hashes(&[b"ada", b"a\tb", b""]));
        assert_eq!(hashed.values, [36, u64::MAX, 7]);
        let counted = Format { value_after: Some(b':'), ..HEX };
        let hashed = hash(counted, b"00FF:12\n");
        assert_eq!((hashed.hashes, hashed.values), (hashes(&[&[0, 255]]), vec![12]));
        for (line, part) in [
            ("ada", "no value"),
            ("ada\t", "''"),
            ("ada\t-1", "'-1'"),
            ("ada\t+1", "'+1'"),
            ("ada\t1.5", "'1.5'"),
            ("ada\t18446744073709551616", "2^64 - 1"),
        ] {
            let hashed = hash(valued, format!("a\t1\n{line}\n").as_bytes());
            assert!(hashed.complaint.expect("no value").contains(part), "{line}");
            assert_eq!(hashed.hashes.len(), 1);
        }
    }

    #[test]
    fn groups_precede_the_first_tab() {
        let grouped = Format { grouped: true, ..LINES };
        let hashed = hash(grouped, b"acme\t17\r\n\ta\tb\nacme\t");
        assert_eq!(hashed.hashes, hashes(&[b"17", b"a\tb", b""]));
        assert_eq!(hashed.groups, hashes(&[b"acme", b"", b"acme"]));
        let pairs = hashed.groups.iter().copied().zip(hashed.hashes.iter().copied());
        assert!(hashed.grouped().eq(pairs));
        let digests = hash(Format { grouped: true, ..HEX }, b"acme\t00FF:3\n");
        assert_eq!((digests.groups, digests.hashes), (hashes(&[b"acme"]), hashes(&[&[0, 255]])));
        let lonely = hash(grouped, b"acme\t17\nacme\n");
        assert_eq!(lonely.hashes.len(), 1);
        assert!(lonely.complaint.expect("no group").contains("no group"));
        let expected = Ok((b"acme".key_hash(1), b"17".key_hash(1)));
        assert_eq!(grouped.hash_grouped_argument(b"acme\t17", 1), expected);
        assert!(grouped.hash_grouped_argument(b"17", 1).is_err());
        assert_eq!(LINES.hash_grouped_argument(b"17", 1), Ok((UNNAMED, b"17".key_hash(1))));
        assert!(hash(LINES, b"17\n").grouped().eq([(UNNAMED, b"17".key_hash(0))]));
    }

    #[test]
    fn whole_records_end_where_one_does() {
        assert_eq!(LINES.whole_records(b"ada\ngra"), Some(4));
        assert_eq!(LINES.whole_records(b"ada"), None);
        assert_eq!(INTEGERS.whole_records(&[0; 19]), Some(16));
        assert_eq!(INTEGERS.whole_records(&[0; 7]), None);
    }
}
