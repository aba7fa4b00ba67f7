//! Shards that are filled until they are full (paper, section 5.4).
//!
//! Keys are sorted by a hash that is independent of their starts, and added to a system until one
//! does not fit: that one begins the next shard. Banding on the fly finds the longest prefix of the
//! keys that fits, so no shard is tried twice, and less than 1 % of the slots stay empty. The
//! natural size of a shard is `w^2 / 4` slots: there the median fraction of empty slots is least.
//!
//! The directory has 32 bits per shard: the hash at which it begins. Keys that do not differ in
//! these bits are added together.

use crate::banding::Banding;
use crate::hash::{Seeded, fingerprint, key_hash, shard_hash};
use crate::ribbon::{Item, single::Single};
use crate::width::{Word, with_word};
use crate::{Error, Settings, Solution, Starts, Variant, Width, rate, slots};

/// Systems of a fixed number of slots, and a last one.
#[derive(Clone, Debug, PartialEq)]
pub struct UntilFull {
    pub(crate) key_seed: u64,
    pub(crate) keys: u64,
    /// The shard hash, its upper half, at which each shard but the first begins.
    pub(crate) borders: Vec<u32>,
    /// One more than borders. The last may have any number of slots.
    pub(crate) shards: Vec<Single>,
}

/// The paper's natural number of slots of a shard.
pub fn natural_slots(width: Width) -> u64 {
    width.slots() * width.slots() / 4
}

/// The part of the shard hash that the directory stores.
fn cell(hash: u64) -> u32 {
    (shard_hash(hash) >> 32) as u32
}

impl UntilFull {
    /// Fills shards of `slots` slots, a multiple of the width.
    pub fn from_hashes(settings: &Settings, hashes: &[u64], slots: u64) -> Result<Self, Error> {
        settings.check()?;
        if settings.variant != Variant::Standard {
            return Err(Error::Unsupported(
                "shards until full are Standard: use --variant standard",
            ));
        }
        if slots == 0 || !slots.is_multiple_of(settings.width.slots()) {
            return Err(Error::Setting("the slots of a shard must be a multiple of the width"));
        }
        let mut hashes = hashes.to_vec();
        hashes.sort_unstable_by_key(|&hash| shard_hash(hash));
        hashes.dedup();
        let keys = hashes.len() as u64;
        let (borders, shards) =
            with_word!(settings.width, W => fill_all::<W>(settings, &hashes, slots))?;
        Ok(Self { key_seed: settings.key_seed, keys, borders, shards })
    }

    /// Whether a key may be in the set.
    pub fn contains(&self, key: impl AsRef<[u8]>) -> bool {
        self.contains_hash(key_hash(key.as_ref(), self.key_seed))
    }

    /// Whether the key of a hash may be in the set.
    pub fn contains_hash(&self, hash: u64) -> bool {
        let cell = cell(hash);
        let number = self.borders.partition_point(|&border| border <= cell);
        let shard = &self.shards[number];
        let width = shard.solution().layout().width();
        shard.solution().layout().slots() > 0 && {
            let (start, seeded) = shard.start(hash);
            with_word!(width, W => {
                let coefficients = seeded.coefficients::<W>();
                shard.solution().matches(start, coefficients, fingerprint(hash).into())
            })
        }
    }

    /// The number of keys.
    pub fn keys(&self) -> u64 {
        self.keys
    }

    /// The systems, in the order of the shard hashes.
    pub fn shards(&self) -> &[Single] {
        &self.shards
    }

    /// Slots of all shards.
    pub fn slots(&self) -> u64 {
        self.shards.iter().map(|shard| shard.solution().layout().slots()).sum()
    }

    /// The false-positive rate: an absent key is in a shard as often as the shard is wide.
    pub fn rate(&self) -> f64 {
        let ends = self.borders.iter().map(|&border| u64::from(border)).chain([1 << 32]);
        let (mut begin, mut sum) = (0, 0.0);
        for (shard, end) in self.shards.iter().zip(ends) {
            if shard.solution().layout().slots() > 0 {
                sum += (end - begin) as f64 * rate::nominal(shard.solution());
            }
            begin = end;
        }
        rate::with_collisions(sum / libm::exp2(32.0), self.keys)
    }
}

/// Fills shard after shard. Returns where all but the first begin, and the systems.
fn fill_all<W: Word>(
    settings: &Settings,
    hashes: &[u64],
    slots: u64,
) -> Result<(Vec<u32>, Vec<Single>), Error> {
    let (mut borders, mut shards, mut rest) = (Vec::new(), Vec::new(), hashes);
    if slots >= slots::standard(hashes.len() as u64, W::WIDTH) {
        // There is one shard only, however large the others would be.
        return Ok((borders, vec![last::<W>(settings, hashes)?]));
    }
    let mut banding = Banding::new(slots);
    while !rest.is_empty() {
        let (seed, taken) = fill::<W>(&mut banding, settings.smash(), rest)?;
        if taken == rest.len() {
            break;
        }
        let solution = Solution::of(&banding, settings.columns, |_| 0);
        shards.push(Single::from_fields(seed, settings.smash(), solution));
        rest = &rest[taken..];
        borders.push(cell(rest[0]));
    }
    shards.push(last::<W>(settings, rest)?);
    Ok((borders, shards))
}

/// Adds keys until some do not fit. Returns the seed and the number of keys that were added.
fn fill<W: Word>(
    banding: &mut Banding<W, u32>,
    smash: u64,
    hashes: &[u64],
) -> Result<(u8, usize), Error> {
    let (starts, mut filled) = (Starts::new(banding.slots(), W::WIDTH, smash), Vec::new());
    for seed in 0..=u8::MAX {
        banding.clear();
        let mut taken = 0;
        for cell in hashes.chunk_by(|&one, &other| cell(one) == cell(other)) {
            let equations = cell.iter().map(|&hash| {
                let seeded = Seeded::new(hash, seed);
                let (start, coefficients) = (starts.of(seeded.0), seeded.coefficients());
                crate::banding::Equation { start, coefficients, right_side: fingerprint(hash) }
            });
            if !banding.insert_all_or_none(equations, &mut filled) {
                break;
            }
            taken += cell.len();
        }
        // Keys that do not even fit an empty shard together need another seed.
        if taken > 0 {
            return Ok((seed, taken));
        }
    }
    Err(Error::Unsolvable { keys: hashes.len() as u64, slots: banding.slots() })
}

/// The last shard has as many slots as a Standard system of its keys.
fn last<W: Word>(settings: &Settings, hashes: &[u64]) -> Result<Single, Error> {
    if hashes.is_empty() {
        return Ok(Single::empty(W::WIDTH));
    }
    let items: Vec<Item<u32>> =
        hashes.iter().map(|&hash| Item { hash, value: fingerprint(hash) }).collect();
    let slots = slots::standard(hashes.len() as u64, W::WIDTH);
    Single::standard::<W, u32>(&items, slots, settings.smash(), settings.columns)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::hashes;

    fn build(width: Width, keys: usize, slots: u64) -> UntilFull {
        let settings = Settings::new(Variant::Standard, width, 7.5);
        UntilFull::from_hashes(&settings, &hashes(keys, 1), slots).expect("seeds")
    }

    #[test]
    fn until_full_loses_no_key() {
        for width in Width::ALL {
            let natural = natural_slots(width);
            for (keys, slots) in
                [(0, natural), (1, natural), (500, width.slots()), (20_000, natural)]
            {
                let shards = build(width, keys, slots);
                let context = format!("w = {width}, {keys} keys");
                assert!(hashes(keys, 1).iter().all(|&h| shards.contains_hash(h)), "{context}");
                assert!(shards.borders.is_sorted(), "{context}");
            }
        }
    }

    /// The paper: less than 1 % with 2^10 slots and `w` = 64, without the directory.
    #[test]
    fn until_full_wastes_little() {
        let shards = build(Width::W64, 300_000, 1 << 10);
        let waste = shards.slots() as f64 / 300_000.0 - 1.0;
        assert!(waste < 0.01, "{waste}");
        let waste = build(Width::W128, 300_000, 1 << 12).slots() as f64 / 300_000.0 - 1.0;
        assert!(waste < 0.005, "{waste}");
    }

    #[test]
    fn the_measured_rate_is_the_expected_one() {
        let shards = build(Width::W32, 20_000, 256);
        let found = hashes(1 << 20, 9).into_iter().filter(|&hash| shards.contains_hash(hash));
        let (found, expected) = (found.count() as f64, shards.rate() * f64::from(1 << 20));
        assert!((found - expected).abs() < 5.0 * libm::sqrt(expected), "{found}, not {expected}");
    }

    #[test]
    fn what_cannot_be_is_refused() {
        let settings = Settings::new(Variant::Standard, Width::W64, 7.0);
        let build = |settings: &Settings, slots| UntilFull::from_hashes(settings, &[1], slots);
        assert!(build(&settings, 0).is_err() && build(&settings, 1000).is_err());
        let balanced = Settings { variant: Variant::Balanced, ..settings };
        assert!(matches!(build(&balanced, 1024), Err(Error::Unsupported(_))));
    }
}
