//! Formats numbers as text.

/// A count with thousands separators: `1,234,567`.
pub fn count(value: u64) -> String {
    let digits = value.to_string();
    let mut shown = String::with_capacity(digits.len() * 4 / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            shown.push(',');
        }
        shown.push(digit);
    }
    shown
}

/// Bytes in a suitable unit: `1.2 MiB`.
pub fn bytes(value: u64) -> String {
    let mut scaled = value as f64;
    for unit in ["bytes", "KiB", "MiB", "GiB"] {
        // 1023.96 would be shown as 1024.0.
        if scaled < 1023.95 {
            let digits = usize::from(unit != "bytes");
            return format!("{scaled:.digits$} {unit}");
        }
        scaled /= 1024.0;
    }
    format!("{scaled:.1} TiB")
}

/// The exact number of bytes, and the size in a suitable unit: `2,048 bytes (2.0 KiB)`.
pub fn size(value: u64) -> String {
    let exact = format!("{} bytes", count(value));
    if value < 1024 { exact } else { format!("{exact} ({})", bytes(value)) }
}

/// Bits per key: `8.003`, or `-` if there are no keys.
pub fn bits(value: f64) -> String {
    if value.is_finite() { format!("{value:.3}") } else { "-".into() }
}

/// A fraction in percent: `1.88 %`.
pub fn percent(fraction: f64) -> String {
    if fraction.is_finite() { format!("{:.2} %", fraction * 100.0) } else { "-".into() }
}

/// A rate as a number and as one in `n`: `0.00391 (1 in 256)`.
pub fn rate(rate: f64) -> String {
    if rate <= 0.0 {
        return "0".into();
    }
    format!("{} (1 in {})", significant(rate), count((1.0 / rate).round() as u64))
}

/// A number with three significant digits.
pub fn significant(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return "0".into();
    }
    if value < 1e-4 {
        return format!("{value:.2e}");
    }
    // Rounding may add a digit, so take the exponent of the rounded value.
    let rounded = format!("{value:.2e}");
    let exponent = rounded.split_once('e').and_then(|(_, exponent)| exponent.parse::<i32>().ok());
    format!("{value:.*}", (2 - exponent.unwrap_or(0)).max(0) as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_formatted() {
        assert_eq!([0, 999, 1000, 1_234_567].map(count), ["0", "999", "1,000", "1,234,567"]);
        assert_eq!(
            [0, 1023, 1024, 1_048_575, 1 << 30].map(bytes),
            ["0 bytes", "1023 bytes", "1.0 KiB", "1.0 MiB", "1.0 GiB"]
        );
        assert_eq!(percent(0.01876), "1.88 %");
        assert_eq!(percent(f64::NAN), "-");
        assert_eq!(rate(1.0 / 256.0), "0.00391 (1 in 256)");
        assert_eq!(rate(0.000_999_98), "0.00100 (1 in 1,000)");
        assert_eq!(rate(1e-6), "1.00e-6 (1 in 1,000,000)");
        assert_eq!(rate(0.0), "0");
    }
}
