//! Parses sizes, counts, rates and names of the command line.

use clap::builder::{PossibleValuesParser, TypedValueParser};
use ribbonfilter::{Effort, Variant, Width};

/// Every variant and its name.
pub const VARIANTS: [(&str, Variant); 4] = [
    ("standard", Variant::Standard),
    ("homogeneous", Variant::Homogeneous),
    ("balanced", Variant::Balanced),
    ("bumped", Variant::Bumped),
];

/// The maximum number of shards in a container.
const MAX_SHARDS: u64 = 1 << 24;

/// Every width and its name.
const WIDTHS: [(&str, Width); 4] =
    [("16", Width::W16), ("32", Width::W32), ("64", Width::W64), ("128", Width::W128)];

/// Every effort and its name.
const EFFORTS: [(&str, Effort); 2] = [("normal", Effort::Normal), ("thorough", Effort::Thorough)];

/// The name of a variant as the command accepts and prints it.
pub fn variant_name(variant: Variant) -> String {
    variant.to_string().to_lowercase()
}

/// Parses the name of a variant.
pub fn variant() -> impl TypedValueParser<Value = Variant> {
    one_of(&VARIANTS)
}

/// Parses a width.
pub fn width() -> impl TypedValueParser<Value = Width> {
    one_of(&WIDTHS)
}

/// Parses the name of an effort.
pub fn effort() -> impl TypedValueParser<Value = Effort> {
    one_of(&EFFORTS)
}

/// A parser for a list of names, which help and completions show.
fn one_of<T: Copy + Send + Sync>(
    named: &'static [(&'static str, T)],
) -> impl TypedValueParser<Value = T> {
    let names = PossibleValuesParser::new(named.iter().map(|(name, _)| *name));
    names.try_map(move |text| {
        let found = named.iter().find(|(name, _)| name.eq_ignore_ascii_case(&text));
        found.map(|(_, value)| *value).ok_or("no such name")
    })
}

/// Parses a rate: `0.01`, `1%` or `1/100`.
pub fn rate(text: &str) -> Result<f64, String> {
    let number = |text: &str| text.trim().parse::<f64>().ok();
    let value = match (text.strip_suffix('%'), text.split_once('/')) {
        (Some(percent), _) => number(percent).map(|percent| percent / 100.0),
        (None, Some((part, whole))) => number(part).zip(number(whole)).map(|(a, b)| a / b),
        (None, None) => number(text),
    };
    value.ok_or_else(|| "write a rate as 0.01, 1% or 1/100".into())
}

/// Parses a count: `5000000`, `5_000_000`, `5e6`.
pub fn count(text: &str) -> Result<u64, String> {
    let plain = text.replace(['_', ','], "");
    if let Ok(count) = plain.parse() {
        return Ok(count);
    }
    let value = plain.parse::<f64>().ok();
    // Above 2^53 a floating-point number cannot represent every integer.
    let exact = value.filter(|value| value.fract() == 0.0 && (0.0..9e15).contains(value));
    exact.map(|value| value as u64).ok_or_else(|| "write an integer, such as 5000000 or 5e6".into())
}

/// Parses a number of bytes: `4096`, `64K`, `1.5GiB`, `2GB`. As in other tools, `K` and `KiB` are
/// 1024, `KB` is 1000.
pub fn bytes(text: &str) -> Result<u64, String> {
    let unit_at = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
    let (number, unit) = text.split_at(unit_at);
    let number = number.trim().replace('_', "").parse::<f64>().ok();
    let value = number.zip(unit_bytes(unit)).map(|(number, unit)| number * unit);
    let value = value.filter(|value| (0.0..=u64::MAX as f64).contains(value));
    value.map(|value| value as u64).ok_or_else(|| "write bytes as 4096, 64K, 1.5GiB or 2GB".into())
}

fn unit_bytes(unit: &str) -> Option<f64> {
    let unit = unit.to_ascii_uppercase();
    let (prefix, base) = match unit.strip_suffix("IB") {
        Some(prefix) => (prefix, 1024.0_f64),
        None => match unit.strip_suffix('B') {
            Some(prefix) => (prefix, 1000.0),
            None => (unit.as_str(), 1024.0),
        },
    };
    let power = ["", "K", "M", "G", "T"].iter().position(|known| *known == prefix)?;
    Some(base.powi(power as i32))
}

/// A number of shards: a power of two, or as many as it takes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ShardCount {
    TwoToThe(u32),
    UntilFull,
}

/// Parses a number of shards.
pub fn shards(text: &str) -> Result<ShardCount, String> {
    if text.eq_ignore_ascii_case("until-full") {
        return Ok(ShardCount::UntilFull);
    }
    let possible = |shards: &u64| shards.is_power_of_two() && *shards <= MAX_SHARDS;
    let bits = count(text).ok().filter(possible).map(u64::ilog2);
    bits.map(ShardCount::TwoToThe).ok_or_else(|| {
        format!("write a power of two up to {MAX_SHARDS}, such as 8 or 256, or until-full")
    })
}

/// Parses a seed, in decimal or, after `0x`, in hexadecimal digits.
pub fn seed(text: &str) -> Result<u64, String> {
    let seed = match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16),
        None => text.parse(),
    };
    seed.map_err(|_| "write a number below 2^64, such as 7 or 0x5eed".into())
}

/// Parses a delimiter: one byte, or `\t`.
pub fn delimiter(text: &str) -> Result<u8, String> {
    match text.as_bytes() {
        b"\\t" => Ok(b'\t'),
        [byte] => Ok(*byte),
        _ => Err("write one ASCII character, or \\t for a tab".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_with_every_kind_of_unit() {
        for (text, value) in [
            ("0", 0),
            ("4096", 4096),
            ("4_096B", 4096),
            ("64K", 65536),
            ("64k", 65536),
            ("64KiB", 65536),
            ("64KB", 64000),
            ("1.5GiB", 3 << 29),
            ("2 GB", 2_000_000_000),
            ("1T", 1 << 40),
        ] {
            assert_eq!(bytes(text), Ok(value), "{text}");
        }
        for text in ["", "K", "-1", "1X", "1e40", "nan", "inf", "1GG"] {
            assert!(bytes(text).is_err(), "{text}");
        }
    }

    #[test]
    fn counts_and_rates() {
        assert_eq!(count("5e7"), Ok(50_000_000));
        assert_eq!(count("50_000_000"), Ok(50_000_000));
        assert_eq!(count("18446744073709551615"), Ok(u64::MAX));
        for text in ["", "1.5", "-3", "1e30", "many", "nan"] {
            assert!(count(text).is_err(), "{text}");
        }
        assert_eq!(rate("0.25"), Ok(0.25));
        assert_eq!(rate("25%"), Ok(0.25));
        assert_eq!(rate("1/4"), Ok(0.25));
        for text in ["", "%", "1/", "/2", "few"] {
            assert!(rate(text).is_err(), "{text}");
        }
    }

    #[test]
    fn names_seeds_and_delimiters() {
        for (name, variant) in VARIANTS {
            assert_eq!(variant_name(variant), name);
        }
        for (name, width) in WIDTHS {
            assert_eq!(width.to_string(), name);
        }
        assert_eq!(WIDTHS.map(|(_, width)| width), Width::ALL);
        for (name, effort) in EFFORTS {
            assert_eq!(effort.to_string(), name);
        }
        assert_eq!(EFFORTS.map(|(_, effort)| effort), Effort::ALL);
        for (text, bits) in [("1", 0), ("256", 8), ("16777216", 24)] {
            assert_eq!(shards(text), Ok(ShardCount::TwoToThe(bits)));
        }
        for text in ["0", "3", "33554432", "many"] {
            assert!(shards(text).is_err(), "{text}");
        }
        assert_eq!(seed("0x10"), Ok(16));
        assert_eq!(seed("10"), Ok(10));
        assert!(seed("-1").is_err());
        assert_eq!(delimiter("\\t"), Ok(b'\t'));
        assert_eq!(delimiter(";"), Ok(b';'));
        assert!(delimiter("::").is_err());
    }
}
