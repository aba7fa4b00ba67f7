//! Static functions (paper, section 2, and section 8 for many columns): a value of `r` bits for
//! each key, and any value for other keys.

use crate::hash::key_hash;
use crate::ribbon::{Item, Ribbon};
use crate::{Error, Settings, Variant};

/// The maximum number of bits of a value.
pub const MAX_BITS: u32 = 64;

/// A map from a fixed set of keys to values, which does not store the keys.
#[derive(Clone, Debug, PartialEq)]
pub struct Function {
    key_seed: u64,
    ribbon: Ribbon,
}

impl Function {
    /// Builds a function whose values have `bits` bits; `settings.columns` is not used.
    ///
    /// ```
    /// use ribbonfilter_paper::{Function, Settings, Variant, Width};
    ///
    /// let settings = Settings::new(Variant::Bumped, Width::W64, 1.0);
    /// let ages = Function::build(&settings, 7, [("ada", 36), ("grace", 85)])?;
    /// assert_eq!(ages.get("grace"), 85);
    /// # Ok::<(), ribbonfilter_paper::Error>(())
    /// ```
    pub fn build<K: AsRef<[u8]>>(
        settings: &Settings,
        bits: u32,
        pairs: impl IntoIterator<Item = (K, u64)>,
    ) -> Result<Self, Error> {
        let Settings { variant, key_seed, .. } = *settings;
        if variant == Variant::Homogeneous {
            return Err(Error::Unsupported(
                "a Homogeneous system has no values: use standard, balanced or bumped",
            ));
        }
        if !(1..=MAX_BITS).contains(&bits) {
            return Err(Error::Columns { columns: bits.into(), max: MAX_BITS.into() });
        }
        // The settings other than columns are those of a filter.
        Settings { columns: 1.0, ..*settings }.check()?;
        let pairs = pairs.into_iter();
        let item = |(key, value): (K, u64)| Item { hash: key_hash(key.as_ref(), key_seed), value };
        let items = distinct(pairs.map(item).collect(), bits)?;
        let settings = Settings { columns: bits.into(), ..*settings };
        Ok(Self { key_seed, ribbon: Ribbon::build(&settings, &items)? })
    }

    /// The value of a key; any value if the key is not one of those of the function.
    pub fn get(&self, key: impl AsRef<[u8]>) -> u64 {
        self.ribbon.query(key_hash(key.as_ref(), self.key_seed)).unwrap_or(0)
    }

    /// The solutions.
    pub fn ribbon(&self) -> &Ribbon {
        &self.ribbon
    }

    /// The bytes of solutions and metadata.
    pub fn size(&self) -> usize {
        let solutions = self.ribbon.solutions().iter().map(|s| s.bytes().len()).sum::<usize>();
        solutions + self.ribbon.metadata_bytes()
    }
}

/// Removes duplicates; no seed helps against two values for one hash.
fn distinct(mut items: Vec<Item<u64>>, bits: u32) -> Result<Vec<Item<u64>>, Error> {
    if let Some(item) = items.iter().find(|item| item.value > u64::MAX >> (MAX_BITS - bits)) {
        return Err(Error::Value { value: item.value, bits });
    }
    items.sort_unstable_by_key(|item| (item.hash, item.value));
    items.dedup_by_key(|item| (item.hash, item.value));
    match items.windows(2).any(|pair| pair[0].hash == pair[1].hash) {
        true => Err(Error::Contradiction),
        false => Ok(items),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Width;
    use crate::random::Random;

    const VARIANTS: [Variant; 4] =
        [Variant::Standard, Variant::Balanced, Variant::Bumped, Variant::Soft];

    fn pairs(count: usize, bits: u32) -> Vec<(String, u64)> {
        let values = Random::new(bits.into()).map(|value| value >> (64 - bits));
        (0..count).map(|i| format!("key {i}")).zip(values).collect()
    }

    #[test]
    fn every_value_comes_back() {
        for variant in VARIANTS {
            for width in Width::ALL {
                for (count, bits) in [(1, 1), (2, 64), (300, 3), (7000, 33), (20_000, 1)] {
                    let pairs = pairs(count, bits);
                    let settings = Settings::new(variant, width, 1.0);
                    let function = Function::build(&settings, bits, pairs.iter().cloned());
                    let function = function.expect("distinct keys");
                    for (key, value) in &pairs {
                        assert_eq!(
                            function.get(key),
                            *value,
                            "{variant}, w = {width}, {bits} bits"
                        );
                    }
                }
            }
        }
    }

    /// Section 2: the space is about `(1 + eps) r` bits per key.
    #[test]
    fn functions_take_hardly_more_than_their_values() {
        let settings = Settings::new(Variant::Bumped, Width::W64, 1.0);
        let function = Function::build(&settings, 8, pairs(100_000, 8)).expect("distinct keys");
        let bits = 8.0 * function.size() as f64 / 100_000.0;
        assert!(bits < 8.0 * 1.006, "{bits} bits per key");
    }

    #[test]
    fn what_cannot_be_is_refused() {
        let build = |variant, bits, pairs: &[(&str, u64)]| {
            let settings = Settings::new(variant, Width::W64, 1.0);
            Function::build(&settings, bits, pairs.iter().copied())
        };
        let twice = [("a", 1), ("b", 2), ("a", 3)];
        assert_eq!(build(Variant::Standard, 4, &twice), Err(Error::Contradiction));
        assert!(build(Variant::Standard, 4, &[("a", 1), ("b", 2), ("a", 1)]).is_ok());
        let wide = Error::Value { value: 16, bits: 4 };
        assert_eq!(build(Variant::Standard, 4, &[("a", 16)]), Err(wide));
        assert!(matches!(build(Variant::Homogeneous, 4, &[]), Err(Error::Unsupported(_))));
        assert!(matches!(build(Variant::Standard, 65, &[]), Err(Error::Columns { .. })));
        assert_eq!(build(Variant::Standard, 4, &[]).map(|empty| empty.get("a")), Ok(0));
    }
}
