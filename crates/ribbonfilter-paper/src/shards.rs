//! Shards by hash (paper, section 5.4, "Scaling with sharding"): keys are partitioned by a hash,
//! and each shard is a filter of its own, of a fixed size. The number of keys of a shard varies;
//! a fractional number of columns uses the size of every shard up.
//!
//! Each shard is built with more columns than it will keep, and then shrunk to the size: which
//! slots there are does not depend on the columns.

use crate::hash::{fastrange, key_hash, shard_hash};
use crate::{Error, Filter, Settings, Variant, slots};

/// More would be shards of hardly any keys.
const MAX_SHARDS: usize = 1 << 20;
/// Columns in addition to the average, for shards with few keys.
const MORE_COLUMNS: f64 = 2.0;

/// Filters of about the same size, each for the keys of a range of hashes.
#[derive(Clone, Debug, PartialEq)]
pub struct Shards {
    pub(crate) key_seed: u64,
    pub(crate) filters: Vec<Filter>,
}

fn shard(hash: u64, shards: usize) -> usize {
    fastrange(shard_hash(hash), shards as u64) as usize
}

impl Shards {
    /// Builds shards that have `settings.columns` columns on average.
    pub fn from_hashes(settings: &Settings, hashes: &[u64], shards: usize) -> Result<Self, Error> {
        settings.check()?;
        if !(1..=MAX_SHARDS).contains(&shards) {
            return Err(Error::Setting("the number of shards must be 1 to 1048576"));
        }
        let mut keys = vec![Vec::new(); shards];
        hashes.iter().for_each(|&hash| keys[shard(hash, shards)].push(hash));
        let wide = Settings {
            columns: (settings.columns + MORE_COLUMNS).min(32.0),
            epsilon: settings.epsilon.or_else(|| {
                let epsilon = slots::homogeneous_epsilon(settings.columns, settings.width);
                (settings.variant == Variant::Homogeneous).then_some(epsilon)
            }),
            ..*settings
        };
        let build = |keys: &Vec<u64>| Filter::from_hashes(&wide, keys);
        let filters = keys.iter().map(build).collect::<Result<Vec<_>, _>>()?;
        Ok(Self { key_seed: settings.key_seed, filters: of_one_size(filters, settings.columns)? })
    }

    /// Whether a key may be in the set.
    pub fn contains(&self, key: impl AsRef<[u8]>) -> bool {
        self.contains_hash(key_hash(key.as_ref(), self.key_seed))
    }

    /// Whether the key of a hash may be in the set.
    pub fn contains_hash(&self, hash: u64) -> bool {
        self.filters[shard(hash, self.filters.len())].contains_hash(hash)
    }

    /// The filters.
    pub fn filters(&self) -> &[Filter] {
        &self.filters
    }

    /// The number of keys.
    pub fn keys(&self) -> u64 {
        self.filters.iter().map(Filter::keys).sum()
    }

    /// The false-positive rate: an absent key is in any shard with the same probability.
    pub fn rate(&self) -> f64 {
        self.filters.iter().map(Filter::rate).sum::<f64>() / self.filters.len() as f64
    }

    /// The shards with as many columns fewer as there are more columns than `columns` on average.
    pub fn shrink(&self, columns: f64) -> Result<Self, Error> {
        let filters = of_one_size(self.filters.clone(), columns)?;
        Ok(Self { key_seed: self.key_seed, filters })
    }
}

/// Shrinks filters to the average size that they have with a number of columns.
fn of_one_size(filters: Vec<Filter>, columns: f64) -> Result<Vec<Filter>, Error> {
    let slots: u64 = filters.iter().map(|filter| filter.ribbon.slots()).sum();
    let all: usize = filters.iter().map(Filter::size).sum();
    let bits = |filter: &Filter| filter.ribbon.columns() * filter.ribbon.slots() as f64;
    let now = filters.iter().map(bits).sum::<f64>() / (slots as f64).max(1.0);
    if slots == 0 {
        return Ok(filters);
    }
    if columns > now + 1e-9 {
        return Err(Error::Columns { columns, max: now });
    }
    let size = all as f64 - (now - columns) * slots as f64 / 8.0;
    let size = (size / filters.len() as f64) as usize;
    let fixed = |filter: Filter| match filter.size() > size {
        true => filter.shrink_to_size(size),
        false => Ok(filter),
    };
    filters.into_iter().map(fixed).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Width;
    use crate::random::hashes;

    #[test]
    fn fixed_sizes_lose_no_key_and_are_exact() {
        for variant in Variant::ALL {
            for (keys, count) in [(0, 3), (5, 4), (30_000, 16)] {
                let hashes = hashes(keys, 1);
                let settings = Settings::new(variant, Width::W32, 7.3);
                let shards = Shards::from_hashes(&settings, &hashes, count).expect("seeds");
                assert!(hashes.iter().all(|&hash| shards.contains_hash(hash)), "{variant}");
                assert_eq!(shards.keys(), keys as u64);
                let sizes: Vec<usize> = shards.filters.iter().map(Filter::size).collect();
                let (min, max) = (sizes.iter().min(), sizes.iter().max());
                if keys > 1000 {
                    // Whole words of four bytes, in each of a few solutions.
                    assert!(max.zip(min).is_some_and(|(max, min)| max - min <= 24), "{sizes:?}");
                }
            }
        }
    }

    /// The size is that of the average shard, the columns vary with the keys, and the rate is what
    /// the columns say.
    #[test]
    fn columns_take_up_the_variance() {
        let settings = Settings::new(Variant::Standard, Width::W64, 8.0);
        let shards = Shards::from_hashes(&settings, &hashes(40_000, 2), 40).expect("seeds");
        let columns: Vec<f64> =
            shards.filters.iter().map(|filter| filter.ribbon.columns()).collect();
        let (min, max) = columns.iter().fold((99.0, 0.0), |(min, max): (f64, f64), &columns| {
            (min.min(columns), max.max(columns))
        });
        assert!(min > 7.0 && max < 9.0 && max - min > 0.2, "{min} to {max}");
        let positives = hashes(1 << 20, 3).into_iter().filter(|&hash| shards.contains_hash(hash));
        let (found, expected) = (positives.count() as f64, shards.rate() * f64::from(1 << 20));
        assert!((found - expected).abs() < 5.0 * libm::sqrt(expected), "{found}, not {expected}");
        let shrunk = shards.shrink(5.0).expect("fewer columns");
        assert!(hashes(40_000, 2).into_iter().all(|hash| shrunk.contains_hash(hash)));
        assert!(shards.shrink(9.0).is_err());
    }
}
