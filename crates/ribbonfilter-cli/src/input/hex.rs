//! Hexadecimal digits become the bytes that they stand for.

/// The value of every digit; 255 for what is none.
const VALUES: [u8; 256] = {
    let mut values = [255; 256];
    let mut digit = 0;
    while digit < 16 {
        values[b"0123456789abcdef"[digit] as usize] = digit as u8;
        values[b"0123456789ABCDEF"[digit] as usize] = digit as u8;
        digit += 1;
    }
    values
};

/// Decodes all digits into `bytes`, or says what is wrong with them.
pub fn decode(digits: &[u8], bytes: &mut Vec<u8>) -> Result<(), String> {
    bytes.resize(digits.len() / 2, 0);
    // Wrong digits are counted together and looked for afterwards: no branch a digit.
    let mut seen = 0;
    let (pairs, odd) = digits.as_chunks::<2>();
    for (byte, [high, low]) in bytes.iter_mut().zip(pairs) {
        let (high, low) = (VALUES[usize::from(*high)], VALUES[usize::from(*low)]);
        seen |= high | low;
        *byte = high << 4 | low;
    }
    if seen > 15 || !odd.is_empty() || digits.is_empty() {
        return Err(complaint(digits));
    }
    Ok(())
}

fn complaint(digits: &[u8]) -> String {
    match digits.iter().find(|&&digit| VALUES[usize::from(digit)] > 15) {
        Some(&digit) => {
            format!("'{}' is no hexadecimal digit: is it --input lines?", digit.escape_ascii())
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
        for (digits, said) in [("", "no hex"), ("abc", "odd"), ("0g", "'g'"), ("a b0", "' '")] {
            let complaint = decode(digits.as_bytes(), &mut bytes).expect_err("not digits");
            assert!(complaint.contains(said), "{digits}: {complaint}");
        }
        for byte in 0..=255u8 {
            let good = decode(&[byte, b'0'], &mut bytes).is_ok();
            assert_eq!(good, byte.is_ascii_hexdigit(), "{byte}");
        }
    }
}
