//! A reader of Balanced filters, written from `docs/format.md` alone: no code of the library
//! but the bytes.

mod support;

use ribbonfilter::{Filter, Variant, Width};
use support::{Keys, build, builder, random, scale};

const MIX: u64 = 0xbb67_ae85_84ca_a73b;
const WHITEN: u64 = 0x3c6e_f372_fe94_f82b;
const SEED_STEP: u64 = 0xa54f_f53a_5f1d_36f1;
const SEEDED: u64 = 0x510e_527f_ade6_82d1;
const COEFFICIENTS_LOW: u64 = 0x9b05_688c_2b3e_6c1f;
const COEFFICIENTS_HIGH: u64 = 0x1f83_d9ab_fb41_bd6b;
const FINGERPRINT: u64 = 0x5be0_cd19_137e_2179;
const SECONDARY: u64 = 0x629a_292a_367c_d507;

fn fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    product as u64 ^ (product >> 64) as u64
}

fn times(a: u64, b: u64) -> u64 {
    a.wrapping_mul(b)
}

/// The top bits of a number.
fn top(number: u64, bits: u64) -> u64 {
    if bits == 0 { 0 } else { number >> (64 - bits) }
}

/// A filter, by the fields of its fixed part.
struct Reader<'a> {
    bytes: &'a [u8],
    segment_slots: u64,
    boundary: u64,
    shard_bits: u64,
    overload: u64,
    columns: u64,
    width: u64,
    smash: bool,
    segment_bits: u64,
    seed: u64,
}

impl<'a> Reader<'a> {
    fn new(bytes: &'a [u8]) -> Self {
        let fixed = &bytes[bytes.len() - 40..];
        let number = |from: usize, to: usize| {
            fixed[from..to].iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte))
        };
        assert_eq!(number(28, 29) >> 2 & 3, 2, "Balanced");
        Self {
            bytes,
            segment_slots: number(14, 18),
            boundary: number(18, 23),
            shard_bits: number(23, 24),
            overload: number(24, 25),
            columns: number(26, 28) & 0x7f,
            width: 16 << (number(28, 29) >> 4 & 3),
            smash: number(28, 29) >> 6 == 1,
            segment_bits: number(29, 30) & 31,
            seed: number(30, 31),
        }
    }

    fn slots(&self) -> u64 {
        self.segment_slots << self.segment_bits
    }

    fn block(&self) -> u64 {
        self.width.min(64)
    }

    fn solution_bits(&self) -> u64 {
        self.slots() * self.columns - self.boundary * self.block()
    }

    fn bit(&self, slot: u64, column: u64) -> bool {
        let (block, slots) = (self.block(), self.slots());
        let words = slot / block * self.columns - (slot / block).min(self.boundary);
        let stride = if slot / block < slots / block { block } else { slots % block };
        let bit = words * block + column * stride + slot % block;
        self.bytes[(bit / 8) as usize] >> (bit % 8) & 1 == 1
    }

    fn start(&self, position: u64) -> u64 {
        let last = self.segment_slots.saturating_sub(self.width);
        let smash = if self.smash && last > 0 { self.width / 4 } else { 0 };
        let total = last + 1 + 2 * smash;
        let place = ((u128::from(position) * u128::from(total)) >> 64) as u64;
        place.saturating_sub(smash).min(last)
    }

    /// Slot and hash of a key's place.
    fn place(&self, key_hash: u64) -> (u64, u64) {
        let (g, c) = (self.segment_bits, self.shard_bits);
        let k = g + c;
        let mixed = fold(key_hash ^ WHITEN, MIX);
        let h = fold((mixed << g) ^ times(self.seed, SEED_STEP), SEEDED);
        let (mut segment, mut position) = (top(mixed, g), h);
        let p = times(h, FINGERPRINT);
        if (p >> 16) % 256 < self.overload {
            match g {
                0 => position &= !(1 << 63),
                _ => segment &= !(1 << (g - 1)),
            }
        }
        let shard = (segment << c) + top(position, c);
        let limits = [40, 68, 88, 102, 112, 119, 124];
        let bucket = limits.iter().filter(|&&limit| limit <= (p >> 25) % 128).count();
        let metadata = &self.bytes[self.solution_bits().div_ceil(8) as usize..];
        assert_eq!(metadata.len(), if k == 0 { 40 } else { (1 << k) + 40 });
        if k == 0 || metadata[shard as usize] >> bucket & 1 == 0 {
            return (segment * self.segment_slots + self.start(position), h);
        }
        let level = (0..k).take_while(|bit| shard >> (k - 1 - bit) & 1 == 1).count() as u64;
        let next = (level + 1).min(k);
        let h2 = fold(h, SECONDARY);
        let begun = next + u64::from(next < k);
        let address = !(u64::MAX >> next) | h2 >> begun;
        let segment = top(address, g);
        (segment * self.segment_slots + self.start(address << g), h2)
    }

    fn contains(&self, key_hash: u64) -> bool {
        let (slot, h) = self.place(key_hash);
        let high = times(h.rotate_left(44), COEFFICIENTS_HIGH);
        let low = times(h, COEFFICIENTS_LOW) | 1;
        let coefficients = u128::from(high) << 64 | u128::from(low);
        let reach = self.width.min(self.segment_slots);
        let fingerprint = times(h, FINGERPRINT) >> 32;
        let columns = self.columns - u64::from(slot / self.block() < self.boundary);
        (0..columns).all(|column| {
            let chosen = (0..reach).filter(|i| coefficients >> i & 1 == 1);
            let parity = chosen.fold(false, |sum, i| sum ^ self.bit(slot + i, column));
            parity == (fingerprint >> column & 1 == 1)
        })
    }
}

#[test]
fn the_description_of_the_format_is_enough_to_read_balanced_filters() {
    for width in [Width::W32, Width::W64, Width::W128] {
        for keys in [50, 1000, 9_000, 40_000, scale(135_000, 300_000, 1_000_000)] {
            let hashes = || (0..keys).map(|index| Keys::Random.hash(index));
            let filter: Filter = build(builder(Variant::Balanced, width, 2.4), hashes());
            let reader = Reader::new(filter.as_bytes());
            assert!(hashes().all(|hash| reader.contains(hash)), "{filter:?}");
            for probe in (0..20_000).map(|probe| random(6, probe)) {
                assert_eq!(reader.contains(probe), filter.contains_hash(probe), "{filter:?}");
            }
        }
    }
}
