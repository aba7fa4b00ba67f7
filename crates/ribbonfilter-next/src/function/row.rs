//! The rows of a function: what the slots of a key sum to.
//!
//! ```text
//! column    0            value_bits                columns
//!           | value      | fingerprint             |
//! ```

use crate::ribbon::equation::map_fingerprint;

/// How rows are made of values and fingerprints; at most 64 bits together, of which a value
/// has at least one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Rows {
    pub(super) value_bits: u32,
    pub(super) fingerprint_bits: u32,
}

impl Rows {
    /// The largest value.
    #[inline]
    pub(super) fn max_value(self) -> u64 {
        u64::MAX >> (64 - self.value_bits)
    }

    /// The row of a key with this hash and a value.
    #[inline]
    pub(super) fn join(self, key_hash: u64, value: u64) -> u64 {
        // Without a fingerprint a value may be as long as the word, and no shift is.
        match self.fingerprint_bits {
            0 => value,
            bits => value | map_fingerprint(key_hash, bits) << self.value_bits,
        }
    }

    /// The value in a row.
    #[inline]
    pub(super) fn value(self, row: u64) -> u64 {
        row & self.max_value()
    }

    /// The value in a row if it is one of a key with this hash.
    #[inline]
    pub(super) fn value_of(self, key_hash: u64, row: u64) -> Option<u64> {
        let value = self.value(row);
        (self.join(key_hash, value) == row).then_some(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Random;

    #[test]
    fn values_come_back_and_strangers_seldom_do() {
        let mut random = Random(5);
        for (value_bits, fingerprint_bits) in [(1, 0), (64, 0), (63, 1), (1, 63), (8, 3), (32, 32)]
        {
            let rows = Rows { value_bits, fingerprint_bits };
            let mut found = 0;
            for _ in 0..4096 {
                let (key_hash, value) = (random.next(), random.next() & rows.max_value());
                let row = rows.join(key_hash, value);
                assert_eq!(rows.value(row), value);
                assert_eq!(rows.value_of(key_hash, row), Some(value));
                found += u32::from(rows.value_of(random.next(), row).is_some());
            }
            let expected = 4096.0 / libm::exp2(fingerprint_bits.into());
            let noise = 6.0 * libm::sqrt(expected);
            assert!((f64::from(found) - expected).abs() <= noise, "{rows:?}: {found}");
        }
    }
}
