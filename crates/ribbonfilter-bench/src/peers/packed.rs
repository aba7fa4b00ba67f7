//! A vector of numbers of `bits` bits each, for the filters that are written for the comparison.

pub struct Packed {
    bytes: Vec<u8>,
    bits: usize,
}

impl Packed {
    /// `len` zeros. A number may straddle bytes but must lie within 8 bytes, so `bits` is at most 57.
    pub fn new(len: usize, bits: u32) -> Self {
        assert!((1..=57).contains(&bits));
        let bits = bits as usize;
        // Every read takes 8 bytes, so there are 8 more at the end.
        Self { bytes: vec![0; (len * bits).div_ceil(8) + 8], bits }
    }

    #[inline]
    pub fn get(&self, index: usize) -> u64 {
        let bit = index * self.bits;
        (self.word(bit / 8) >> (bit % 8)) & ((1 << self.bits) - 1)
    }

    /// Sets a number that is still zero.
    pub fn set(&mut self, index: usize, value: u64) {
        let bit = index * self.bits;
        let word = self.word(bit / 8) | value << (bit % 8);
        self.bytes[bit / 8..bit / 8 + 8].copy_from_slice(&word.to_le_bytes());
    }

    pub fn size_in_bytes(&self) -> usize {
        self.bytes.len()
    }

    #[inline]
    fn word(&self, byte: usize) -> u64 {
        let bytes = &self.bytes[byte..byte + 8];
        u64::from_le_bytes(bytes.try_into().expect("8 bytes"))
    }
}

#[cfg(test)]
mod tests {
    use super::Packed;
    use crate::random::Random;

    #[test]
    fn numbers_come_back() {
        for bits in [1, 3, 7, 8, 12, 57] {
            let values: Vec<u64> = Random::new(1).take(1000).map(|x| x >> (64 - bits)).collect();
            let mut packed = Packed::new(values.len(), bits);
            values.iter().enumerate().for_each(|(index, &value)| packed.set(index, value));
            for (index, &value) in values.iter().enumerate() {
                assert_eq!(packed.get(index), value, "{bits} bits, {index}");
            }
        }
    }
}
