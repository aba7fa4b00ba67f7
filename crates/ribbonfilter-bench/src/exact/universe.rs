//! Universes of keys, some of which are members.

use crate::random::{Random, distinct};

/// A key as both libraries take it: they differ in how many bits of the digest they use.
#[derive(Clone, Copy, Debug)]
pub struct Key {
    pub digest: [u8; 32],
    /// The group, zero for keys without one.
    pub group: [u8; 8],
    pub is_member: bool,
}

impl Key {
    /// Different numbers give different digests, in their first eight bytes too.
    fn new(number: u64, group: u64, is_member: bool) -> Self {
        let mut digest = [0; 32];
        for (index, word) in digest.as_chunks_mut().0.iter_mut().enumerate() {
            *word = distinct(4 * number + index as u64).to_le_bytes();
        }
        Self { digest, group: group.to_le_bytes(), is_member }
    }

    /// One of the four 64-bit words of the digest.
    pub fn word(&self, index: usize) -> u64 {
        u64::from_le_bytes(self.digest.as_chunks().0[index])
    }

    pub fn group_hash(&self) -> u64 {
        u64::from_le_bytes(self.group)
    }
}

/// Keys without groups, of which the first ones are members.
pub fn plain(keys: u64, members: u64) -> Vec<Key> {
    (0..keys).map(|number| Key::new(number, 0, number < members)).collect()
}

/// The keys of all issuers, one after the other.
pub fn grouped(issuers: &[Issuer]) -> Vec<Key> {
    let mut number = 0;
    let mut keys = Vec::new();
    for issuer in issuers {
        for index in 0..issuer.keys {
            keys.push(Key::new(number, issuer.group, index < issuer.members));
            number += 1;
        }
    }
    keys
}

/// A group of keys, of which the first ones are members.
#[derive(Clone, Copy, Debug)]
pub struct Issuer {
    pub group: u64,
    pub keys: u64,
    pub members: u64,
}

/// Rates of revocation differ by this power of two.
const SKEW: f64 = 20.0;

/// Issuers of about `keys` keys and `members` members. The `i`-th has a `1/i`-th of the keys of the
/// first; the logarithms of the rates of revocation are uniform.
pub fn issuers(count: u64, keys: u64, members: u64) -> Vec<Issuer> {
    let harmonic: f64 = (1..=count).map(|rank| 1.0 / rank as f64).sum();
    let sizes = (1..=count).map(|rank| (keys as f64 / (rank as f64 * harmonic)).ceil());
    let rates =
        Random::new(21).map(|random| (-SKEW * (random >> 11) as f64 / 2f64.powi(53)).exp2());
    let drawn: Vec<(f64, f64)> = sizes.zip(rates).collect();
    let members_at =
        |scale: f64| drawn.iter().map(move |(size, rate)| size * (rate * scale).min(1.0));
    // The scale that gives the number of members, by bisection.
    let (mut low, mut high) = (0.0, SKEW.exp2());
    for _ in 0..100 {
        let middle = (low + high) / 2.0;
        let more = members_at(middle).sum::<f64>() > members as f64;
        (low, high) = if more { (low, middle) } else { (middle, high) };
    }
    let groups = (0..).map(|index| distinct(1 << 50 | index));
    let counts = drawn.iter().map(|(size, _)| *size).zip(members_at(low));
    let issuer = |(group, (keys, members)): (u64, (f64, f64))| Issuer {
        group,
        keys: keys as u64,
        members: members.round() as u64,
    };
    groups.zip(counts).map(issuer).collect()
}
