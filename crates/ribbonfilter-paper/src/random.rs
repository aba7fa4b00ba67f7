//! Random numbers that are the same in every run: keys for simulations, tables and tests.

/// SplitMix64: a counter through a good mixer.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// The stream of a seed.
    pub fn new(seed: u64) -> Self {
        // Streams of neighbouring seeds would otherwise be the same counter, shifted by one step.
        Self(Self(seed).number())
    }

    /// The next number.
    pub fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    /// A number below `end`.
    pub fn below(&mut self, end: u64) -> u64 {
        self.number() % end
    }

    /// Permutes a slice.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last as u64 + 1) as usize);
        }
    }
}

impl Iterator for Random {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        Some(self.number())
    }
}

/// The given number of random key hashes.
pub fn hashes(count: usize, seed: u64) -> Vec<u64> {
    Random::new(seed).take(count).collect()
}
