//! A cuckoo filter (Fan, Andersen, Kaminsky, Mitzenmacher: "Cuckoo Filter: Practically Better Than
//! Bloom", 2014), written for the comparison: buckets of four cells, fingerprints of 8, 12 or 16
//! bits. The crates have other widths, or a number of buckets that is a power of two, which wastes
//! up to half of the space. The paper's Cuckoo12 and Cuckoo16 have any number of buckets.
//!
//! A key has a fingerprint and two buckets; its fingerprint is in one of the eight cells. Each of
//! the two buckets follows from the other one and the fingerprint: their sum modulo the number of
//! buckets is a hash of the fingerprint. (The original uses an xor, which needs a power of two.)

use crate::race::{Family, Peer, peer};
use crate::random::Random;

/// Fractions of the cells that are used. The second gives the size of the paper's rows with a
/// dagger: more space, for a faster build.
const LOAD: f64 = 0.94;
const LOW_LOAD: f64 = 0.895;
/// Keys that are moved for one insertion, at most.
const MAX_MOVES: u32 = 1000;
/// An odd number without a pattern.
const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;

/// The filter of the full size and the one with more space.
pub fn both<const BITS: u32>() -> [Box<dyn Peer>; 2] {
    let full = filter::<BITS>(format!("Cuckoo{BITS} (ours, for comparison)"), LOAD);
    let low = filter::<BITS>(format!("Cuckoo{BITS} +space (ours, for comparison)"), LOW_LOAD);
    [full, low]
}

fn filter<const BITS: u32>(name: String, load: f64) -> Box<dyn Peer> {
    peer(
        name,
        Family::Cuckoo,
        move |keys| {
            let filter = Cuckoo::<BITS>::new(keys, load);
            let bytes = filter.cells.len();
            (filter, bytes.into())
        },
        Cuckoo::contains,
    )
}

struct Cuckoo<const BITS: u32> {
    /// The buckets, four fingerprints each, without gaps; 0 is an empty cell.
    cells: Vec<u8>,
    buckets: u64,
}

impl<const BITS: u32> Cuckoo<BITS> {
    const BUCKET_BYTES: usize = BITS as usize / 2;
    const BUCKET: u64 = u64::MAX >> (64 - 4 * BITS);
    const CELL: u64 = (1 << BITS) - 1;
    /// The lowest bit of each cell.
    const ONES: u64 = 1 | 1 << BITS | 1 << (2 * BITS) | 1 << (3 * BITS);
    /// The highest bit of each cell.
    const TOPS: u64 = Self::ONES << (BITS - 1);

    /// Inserts all keys. If they do not fit, starts again with more space.
    fn new(keys: &[u64], load: f64) -> Self {
        let buckets = (keys.len() as f64 / load / 4.0).ceil().max(1.0) as u64;
        // A read takes 8 bytes, so there are 8 more at the end.
        let cells = vec![0; buckets as usize * Self::BUCKET_BYTES + 8];
        let mut filter = Self { cells, buckets };
        let mut random = Random::new(6);
        match keys.iter().all(|&key| filter.insert(key, &mut random)) {
            true => filter,
            false => Self::new(keys, load * 0.98),
        }
    }

    /// Returns false if no cell was found.
    fn insert(&mut self, key: u64, random: &mut Random) -> bool {
        let mut fingerprint = fingerprint::<BITS>(key);
        let mut bucket = self.bucket_of(key);
        if self.put(bucket, fingerprint) {
            return true;
        }
        for _ in 0..MAX_MOVES {
            bucket = self.other(bucket, fingerprint);
            if self.put(bucket, fingerprint) {
                return true;
            }
            let shift = (random.next().unwrap_or(0) >> 62) as u32 * BITS;
            let cells = self.bucket(bucket);
            let moved = cells >> shift & Self::CELL;
            self.set_bucket(bucket, cells ^ (moved ^ fingerprint) << shift);
            fingerprint = moved;
        }
        false
    }

    /// Puts a fingerprint into an empty cell of a bucket, if there is one.
    fn put(&mut self, bucket: u64, fingerprint: u64) -> bool {
        let cells = self.bucket(bucket);
        let empty = Self::zeros(cells);
        if empty != 0 {
            // The lowest mark is always right; higher ones can be wrong because of borrows.
            let shift = empty.trailing_zeros() + 1 - BITS;
            self.set_bucket(bucket, cells | fingerprint << shift);
        }
        empty != 0
    }

    #[inline]
    fn contains(&self, key: u64) -> bool {
        let fingerprint = fingerprint::<BITS>(key);
        let one = self.bucket_of(key);
        let other = self.other(one, fingerprint);
        let pattern = fingerprint * Self::ONES;
        let found = |bucket| Self::zeros(self.bucket(bucket) ^ pattern);
        // Without a branch, both buckets are loaded at the same time.
        (found(one) | found(other)) != 0
    }

    /// Marks zero cells: not 0 if and only if there is one.
    #[inline]
    fn zeros(cells: u64) -> u64 {
        cells.wrapping_sub(Self::ONES) & !cells & Self::TOPS
    }

    #[inline]
    fn bucket_of(&self, key: u64) -> u64 {
        reduce(key, self.buckets)
    }

    #[inline]
    fn other(&self, bucket: u64, fingerprint: u64) -> u64 {
        let sum = reduce(fingerprint.wrapping_mul(FACTOR), self.buckets);
        if sum >= bucket { sum - bucket } else { sum + self.buckets - bucket }
    }

    #[inline]
    fn bucket(&self, bucket: u64) -> u64 {
        let byte = bucket as usize * Self::BUCKET_BYTES;
        let bytes = &self.cells[byte..byte + 8];
        u64::from_le_bytes(bytes.try_into().expect("8 bytes")) & Self::BUCKET
    }

    fn set_bucket(&mut self, bucket: u64, cells: u64) {
        let byte = bucket as usize * Self::BUCKET_BYTES;
        let bytes = &mut self.cells[byte..byte + Self::BUCKET_BYTES];
        bytes.copy_from_slice(&cells.to_le_bytes()[..Self::BUCKET_BYTES]);
    }
}

/// The low bits of the key; the bucket is taken from the high ones.
#[inline]
fn fingerprint<const BITS: u32>(key: u64) -> u64 {
    let low = key & ((1 << BITS) - 1);
    low + u64::from(low == 0)
}

/// A number below `range`, from the high bits of a hash.
#[inline]
fn reduce(hash: u64, range: u64) -> u64 {
    ((u128::from(hash) * u128::from(range)) >> 64) as u64
}

#[cfg(test)]
mod tests {
    use super::super::testing::check;
    use super::both;

    /// Eight cells are compared, of which the load is used.
    fn rate(bits: i32, load: f64) -> f64 {
        8.0 * load / (2_f64.powi(bits) - 1.0)
    }

    #[test]
    fn rates_and_sizes_are_as_in_theory() {
        for keys in [1_000, 100_003] {
            for ((filter, bits), load) in both::<8>().iter().zip([8; 2]).zip([0.94, 0.895]) {
                check(&**filter, keys, rate(bits, load), f64::from(bits) / load);
            }
            for ((filter, bits), load) in both::<12>().iter().zip([12; 2]).zip([0.94, 0.895]) {
                check(&**filter, keys, rate(bits, load), f64::from(bits) / load);
            }
            for ((filter, bits), load) in both::<16>().iter().zip([16; 2]).zip([0.94, 0.895]) {
                check(&**filter, keys, rate(bits, load), f64::from(bits) / load);
            }
        }
    }
}
