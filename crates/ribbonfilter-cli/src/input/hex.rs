//! Decodes hexadecimal digits to bytes.

/// Number of digits that are decoded together: one per byte of a machine word.
const BLOCK: usize = 8;

/// A word with this value in all bytes.
const fn all(byte: u8) -> u64 {
    u64::from_le_bytes([byte; BLOCK])
}

/// Decodes all digits into `bytes`, or returns a message that describes the first mistake.
pub fn decode(digits: &[u8], bytes: &mut Vec<u8>) -> Result<(), String> {
    let (blocks, rest) = digits.as_chunks::<BLOCK>();
    bytes.resize(digits.len().div_ceil(BLOCK) * BLOCK / 2, 0);
    // Collect wrong digits and look for them afterwards: no branch per digit.
    let mut wrong = 0;
    let mut decode_to = |decoded: &mut [u8; BLOCK / 2], block: &[u8; BLOCK]| {
        let (four, bad) = decode_block(u64::from_le_bytes(*block));
        *decoded = four.to_le_bytes();
        wrong |= bad;
    };
    let decoded = bytes.as_chunks_mut().0;
    for (decoded, block) in decoded.iter_mut().zip(blocks) {
        decode_to(decoded, block);
    }
    if let (Some(decoded), false) = (decoded.last_mut(), rest.is_empty()) {
        let mut block = [b'0'; BLOCK];
        block[..rest.len()].copy_from_slice(rest);
        decode_to(decoded, &block);
    }
    bytes.truncate(digits.len() / 2);
    if wrong != 0 || digits.len() % 2 == 1 || digits.is_empty() {
        return Err(complaint(digits));
    }
    Ok(())
}

/// Decodes eight digits to four bytes. The second result has a bit set for every byte that is not a
/// digit. All eight digits are processed together, each in its byte of the word.
#[inline(always)]
fn decode_block(digits: u64) -> (u32, u64) {
    let ascii = digits & all(0x7f);
    let lower = ascii | all(0x20);
    let letter = between(lower, b'a', b'f');
    let good = (between(ascii, b'0', b'9') | letter) & !digits;
    // The low four bits of 'a' are 1, so the value of a letter is 9 more than its low bits.
    let values = (ascii & all(0x0f)) + (letter >> 7 | letter >> 4);
    // Combine each pair of values to a byte, then move the bytes together.
    let pairs = (values << 4 | values >> 8) & 0x00ff_00ff_00ff_00ff;
    let pairs = (pairs | pairs >> 8) & 0x0000_ffff_0000_ffff;
    ((pairs | pairs >> 16) as u32, good & all(0x80) ^ all(0x80))
}

/// Sets the highest bit of every byte from `first` to `last`. All bytes must be below 128, so that
/// no sum carries into the next byte.
#[inline(always)]
fn between(bytes: u64, first: u8, last: u8) -> u64 {
    (bytes + all(0x80 - first)) & !(bytes + all(0x7f - last)) & all(0x80)
}

fn complaint(digits: &[u8]) -> String {
    match digits.iter().find(|digit| !digit.is_ascii_hexdigit()) {
        Some(&digit) => {
            let digit = digit.escape_ascii();
            format!("'{digit}' is not a hexadecimal digit: did you mean --input lines?")
        }
        None if digits.is_empty() => "no hexadecimal digits: remove the empty line".into(),
        None => format!("{} hexadecimal digits, an odd number: one is missing", digits.len()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_of_either_case_and_nothing_else() {
        let mut bytes = vec![9; 100];
        decode(b"00fFA5", &mut bytes).expect("digits");
        assert_eq!(bytes, [0x00, 0xff, 0xa5]);
        for (digits, part) in [("", "no hex"), ("abc", "odd"), ("0g", "'g'"), ("a b0", "' '")] {
            let complaint = decode(digits.as_bytes(), &mut bytes).expect_err("not digits");
            assert!(complaint.contains(part), "{digits}: {complaint}");
        }
        let digits: Vec<u8> = (0..100).map(|at| b"0123456789abcdefABCDEF"[at * 7 % 22]).collect();
        for len in (2..=100).step_by(2) {
            decode(&digits[..len], &mut bytes).expect("digits");
            let again: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
            assert!(again.as_bytes().eq_ignore_ascii_case(&digits[..len]));
            for wrong in 0..len {
                let mut digits = digits[..len].to_vec();
                digits[wrong] = b'x';
                assert!(decode(&digits, &mut bytes).is_err());
            }
        }
        for byte in 0..=255u8 {
            let good = decode(&[byte, b'0'], &mut bytes).is_ok();
            assert_eq!(good, byte.is_ascii_hexdigit(), "{byte}");
        }
    }
}
