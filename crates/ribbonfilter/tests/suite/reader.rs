//! Readers of Balanced filters and of parts, written from `docs/format.md` alone. They use only
//! the bytes, and no code of the library.

use crate::support::{Keys, build, builder, random, scale};
use ribbonfilter::{Filter, Variant, Width};

const MIX: u64 = 0xbb67_ae85_84ca_a73b;
const WHITEN: u64 = 0xffff_ffff_fe94_f82b;
const SEED_STEP: u64 = 0xa54f_f53a_5f1d_36f1;
const SEEDED: u64 = 0x510e_527f_ade6_82d1;
const COEFFICIENTS_0: u64 = 0x9b05_688c_2b3e_6c1f;
const COEFFICIENTS_1: u64 = 0x1f83_d9ab_fb41_bd6b;
const FINGERPRINT: u64 = 0x5be0_cd19_137e_2179;
const SECONDARY: u64 = 0x629a_292a_367c_d507;
const CHECK_0: u64 = 0x9159_015a_3070_dd17;
const CHECK_1: u64 = 0x152f_ecd8_f70e_5939;
const CHECK_2: u64 = 0x6733_2667_ffc0_0b31;
const CHECK_3: u64 = 0x8eb4_4a87_6858_1511;
const CHECK_4: u64 = 0xdb0c_2e0d_64f9_8fa7;

fn fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    product as u64 ^ (product >> 64) as u64
}

fn times(a: u64, b: u64) -> u64 {
    a.wrapping_mul(b)
}

fn fastrange(hash: u64, range: u64) -> u64 {
    ((u128::from(hash) * u128::from(range)) >> 64) as u64
}

/// The hash of a key under a seed.
fn seeded(mixed: u64, seed: u64) -> u64 {
    fold(mixed, SEEDED.wrapping_add(times(2 * seed, SEED_STEP)))
}

/// A little-endian number.
fn number(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte))
}

/// The checksum of a footer, computed from its other fields.
fn footer_checksum(footer: &[u8]) -> u64 {
    let mut footer = footer.to_vec();
    footer[36..38].fill(0);
    let f = |index: usize| number(&footer[8 * index..8 * index + 8]);
    let x = fold(f(0) ^ CHECK_0, f(1) ^ CHECK_1);
    let y = fold(f(2) ^ CHECK_2, f(3) ^ CHECK_3);
    fold(x ^ y ^ f(4), CHECK_4) & 0xffff
}

/// The top bits of a number.
fn top(number: u64, bits: u64) -> u64 {
    if bits == 0 { 0 } else { number >> (64 - bits) }
}

/// A filter, with the fields of its footer.
struct Reader<'a> {
    bytes: &'a [u8],
    kind: u64,
    variant: u64,
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
        let footer = &bytes[bytes.len() - 40..];
        assert_eq!(number(&footer[36..38]), footer_checksum(footer), "the footer's checksum");
        let number = |from: usize, to: usize| number(&footer[from..to]);
        Self {
            bytes,
            kind: number(28, 29) & 3,
            variant: number(28, 29) >> 2 & 3,
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

    /// The first bit of a block.
    fn block_bit(&self, block: u64) -> u64 {
        (block * self.columns - block.min(self.boundary)) * self.block()
    }

    /// A bit of a solution that begins with the block `first`.
    fn bit(&self, slot: u64, column: u64, first: u64) -> bool {
        let (block, slots) = (self.block(), self.slots());
        let stride = if slot / block < slots / block { block } else { slots % block };
        let bit = self.block_bit(slot / block) + column * stride + slot % block;
        let bit = bit - self.block_bit(first);
        self.bytes[(bit / 8) as usize] >> (bit % 8) & 1 == 1
    }

    fn start(&self, position: u64) -> u64 {
        let last = self.segment_slots.saturating_sub(self.width);
        let smash = if self.smash && last > 0 { self.width / 4 } else { 0 };
        let total = last + 1 + 2 * smash;
        fastrange(position, total).saturating_sub(smash).min(last)
    }

    /// The slot and hash of a key's location.
    fn place(&self, key_hash: u64) -> (u64, u64) {
        let (g, c) = (self.segment_bits, self.shard_bits);
        let k = g + c;
        let mixed = fold(key_hash ^ WHITEN, MIX);
        let h = seeded(mixed, self.seed);
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
        assert_eq!((self.kind, self.variant), (0, 2), "Balanced");
        let (slot, h) = self.place(key_hash);
        self.holds(slot, h, 0)
    }

    /// The slots whose coefficient is 1 in an equation that starts at the given slot.
    fn chosen(&self, slot: u64, h: u64) -> Vec<u64> {
        let block = self.block();
        let word_0 = times(h, COEFFICIENTS_0);
        let word_1 = times(h.rotate_left(44), COEFFICIENTS_1);
        let coefficient = |s: u64| {
            let is_second_of_three = self.width == 128 && s / block == slot / block + 1;
            let word = if is_second_of_three { word_1 } else { word_0 };
            s == slot || word >> (s % block) & 1 == 1
        };
        let reach = self.width.min(self.segment_slots);
        (slot..slot + reach).filter(|&s| coefficient(s)).collect()
    }

    /// Whether the equation of a key holds in a solution that begins with the block `first`.
    fn holds(&self, slot: u64, h: u64, first: u64) -> bool {
        let chosen = self.chosen(slot, h);
        let fingerprint =
            if self.variant == 1 { 0 } else { fastrange(h, COEFFICIENTS_0) & 0xffff_ffff };
        let columns = self.columns - u64::from(slot / self.block() < self.boundary);
        (0..columns).all(|column| {
            let bits = chosen.iter().map(|&slot| self.bit(slot, column, first));
            let parity = bits.fold(false, |sum, bit| sum ^ bit);
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

/// A part, with its label and the fields of its footer.
struct PartReader<'a> {
    whole: Reader<'a>,
    first: u64,
    end: u64,
    segments: std::ops::RangeInclusive<u64>,
    seeds: &'a [u8],
}

impl<'a> PartReader<'a> {
    fn new(bytes: &'a [u8]) -> Self {
        let whole = Reader::new(bytes);
        assert!(whole.kind == 2 && whole.variant < 2, "a part");
        let label = &bytes[bytes.len() - 52..];
        let (i, k) = (number(&label[..4]), number(&label[4..8]));
        let blocks = whole.slots().div_ceil(whole.block());
        let (first, end) = (i * blocks / k, (i + 1) * blocks / k);
        let held = (end + (whole.width - 1).div_ceil(whole.block())).min(blocks);
        let bits = if held == blocks { whole.solution_bits() } else { whole.block_bit(held) };
        let solution = (bits - whole.block_bit(first)).div_ceil(8) as usize;
        let last_slot = (end * whole.block()).min(whole.slots()) - 1;
        let segments =
            first * whole.block() / whole.segment_slots..=last_slot / whole.segment_slots;
        let has_seeds = whole.variant == 0 && whole.segment_bits > 0;
        let count = if has_seeds { segments.clone().count() } else { 0 };
        assert_eq!(bytes.len(), solution + count + 52);
        Self { whole, first, end, segments, seeds: &bytes[solution..solution + count] }
    }

    /// The filter's result, if the part covers the key.
    fn contains(&self, key_hash: u64) -> Option<bool> {
        let (whole, mixed) = (&self.whole, fold(key_hash ^ WHITEN, MIX));
        let segment = top(mixed, whole.segment_bits);
        if !self.segments.contains(&segment) {
            return None;
        }
        let seed = match self.seeds {
            [] => whole.seed,
            seeds => seeds[(segment - self.segments.start()) as usize].into(),
        };
        let h = seeded(mixed, seed);
        let slot = segment * whole.segment_slots + whole.start(h);
        let covered = (self.first..self.end).contains(&(slot / whole.block()));
        covered.then(|| whole.holds(slot, h, self.first))
    }
}

#[test]
fn the_description_of_the_format_is_enough_to_read_parts() {
    for variant in [Variant::Standard, Variant::Homogeneous] {
        for (width, keys) in [
            (Width::W16, 300),
            (Width::W32, 20_000),
            (Width::W64, 1000),
            (Width::W64, 140_000),
            (Width::W128, 3000),
        ] {
            let hashes = || (0..keys).map(|index| Keys::Random.hash(index));
            let filter: Filter = build(builder(variant, width, 2.4), hashes());
            for part in filter.cut(5).expect("parts") {
                let reader = PartReader::new(part.as_bytes());
                for hash in hashes().take(20_000).chain((0..5000).map(|probe| random(6, probe))) {
                    let expected = part.covers(hash).then(|| filter.contains_hash(hash));
                    assert_eq!(reader.contains(hash), expected, "{part:?}");
                }
            }
        }
    }
}
