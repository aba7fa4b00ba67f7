//! Whole filters of 8 columns by simple elimination: to count dependent equations and to measure
//! rates. Standard, Homogeneous and Bumped, with the equations of the library.

use crate::layer::{SEGMENT, layer};
use ribbonfilter_next::internals::{position, rehash, word};

/// Rows of `W` words that start at the block of their slot.
pub struct Band<const W: usize> {
    pub starts: u64,
    pub slots: u64,
    rows: Vec<[u64; W]>,
    right: Vec<u8>,
    pub dependent: u64,
    pub contradictions: u64,
    shift: usize,
}

/// The first of the 8 bits of a hash that are compared: normally the lowest ones.
fn shift() -> usize {
    static SHIFT: std::sync::OnceLock<usize> = std::sync::OnceLock::new();
    *SHIFT.get_or_init(|| std::env::var("SHIFT").map_or(0, |bits| bits.parse().unwrap()))
}

pub fn block(start: u64, w: u64) -> u64 {
    start + start / SEGMENT * (w - 1)
}

/// starts and slots of a Standard system with this number of slots without further ends
pub fn standard_shape(slots: u64, w: u64) -> (u64, u64) {
    let slots = slots.max(64 * (w - 1) + 8).next_multiple_of(8);
    let starts = slots.div_ceil(64) - (w - 1);
    (starts, slots + (starts.div_ceil(SEGMENT) - 1) * (w - 1) * 64)
}

pub type Words = fn(u64, usize) -> u64;

impl<const W: usize> Band<W> {
    pub fn new(starts: u64, slots: u64) -> Self {
        let blocks = slots.div_ceil(64) as usize + W;
        let (rows, right) = (vec![[0; W]; blocks * 64], vec![0; blocks * 64]);
        Self { starts, slots, rows, right, dependent: 0, contradictions: 0, shift: shift() }
    }
    pub fn equation(&self, h: u64, words: Words) -> (usize, [u64; W]) {
        let start = position(h, self.starts);
        let block = block(start, W as u64) as usize;
        let mut c: [u64; W] = core::array::from_fn(|i| words(h, i));
        if (block + W) as u64 * 64 > self.slots {
            let left = self.slots - (block + W - 1) as u64 * 64;
            c[W - 1] &= u64::MAX >> (64 - left);
        }
        (block, c)
    }
    pub fn insert(&mut self, block: usize, mut c: [u64; W], mut f: u8) -> bool {
        for i in 0..W {
            while c[i] != 0 {
                let slot = (block + i) * 64 + c[i].trailing_zeros() as usize;
                let row = self.rows[slot];
                if row[0] == 0 {
                    let mut out = [0; W];
                    out[..W - i].copy_from_slice(&c[i..]);
                    self.rows[slot] = out;
                    self.right[slot] = f;
                    return true;
                }
                for j in i..W {
                    c[j] ^= row[j - i];
                }
                f ^= self.right[slot];
            }
        }
        self.dependent += 1;
        self.contradictions += (f != 0) as u64;
        false
    }
    /// mixed hashes sorted
    pub fn of(hashes: &[u64], starts: u64, slots: u64, words: Words) -> Self {
        let mut band = Self::new(starts, slots);
        for &h in hashes {
            let (block, c) = band.equation(h, words);
            band.insert(block, c, (h >> shift()) as u8);
        }
        band
    }
    /// Free slots are zero, or random.
    pub fn solve(&self, random: bool) -> Vec<[u64; 8]> {
        let mut z = vec![[0u64; 8]; self.rows.len() / 64 + W];
        let mut rng = crate::Rng(77);
        for slot in (0..self.rows.len()).rev() {
            let row = &self.rows[slot];
            let fresh = if random { rng.next() } else { 0 };
            for c in 0..8 {
                let bit = if row[0] == 0 {
                    fresh >> c & 1
                } else {
                    let x = (0..W).fold(0, |x, i| x ^ (row[i] & z[slot / 64 + i][c]));
                    u64::from(x.count_ones() as u8 & 1 ^ self.right[slot] >> c & 1)
                };
                z[slot / 64][c] |= bit << (slot % 64);
            }
        }
        z
    }
    /// Whether a fresh equation lies in the span of the rows.
    pub fn spans(&self, block: usize, c: [u64; W]) -> bool {
        let (mut v, mut b) = (c, block);
        loop {
            while v[0] != 0 {
                let slot = b * 64 + v[0].trailing_zeros() as usize;
                let row = &self.rows[slot];
                if row[0] == 0 {
                    return false;
                }
                for j in 0..W {
                    v[j] ^= row[j];
                }
            }
            if v == [0; W] {
                return true;
            }
            v.rotate_left(1);
            v[W - 1] = 0;
            b += 1;
        }
    }
    pub fn matches(&self, z: &[[u64; 8]], h: u64) -> bool {
        let (block, c) = self.equation(h, word);
        (0..8).all(|r| {
            let x = (0..W).fold(0, |x, i| x ^ (c[i] & z[block + i][r]));
            x.count_ones() as u64 & 1 == h >> (r + self.shift) & 1
        })
    }
}

/// A Bumped filter of 8 columns; `None` if the first layer has a contradiction or bumps more than
/// `max_bumped` keys, or no seed of the second layer works.
pub struct Bumped<const W: usize> {
    first: Band<W>,
    z: Vec<[u64; 8]>,
    second: Band<4>,
    z2: Vec<[u64; 8]>,
    seed: u8,
    codes: Vec<u8>,
    thresholds: [u32; 4],
    pub bumped: usize,
    pub seeds: u32,
}

impl<const W: usize> Bumped<W> {
    pub fn build(
        hashes: &[u64],
        starts: u64,
        thresholds: [u32; 4],
        spare: u32,
        max_bumped: u64,
        second_slots: u64,
    ) -> Result<Self, &'static str> {
        let mut codes = vec![];
        let (n, ..) = layer(W, starts, &thresholds, spare, hashes, None, &mut |c| codes.push(c));
        if n > max_bumped {
            return Err("bumps too many");
        }
        let slots = 64 * (starts + starts.div_ceil(SEGMENT) * (W as u64 - 1));
        let bumps = |h: u64| {
            let p = position(h, starts << 16);
            ((p & 0x7_ffff) as u32) < thresholds[codes[(p >> 19) as usize] as usize]
        };
        let (out, kept): (Vec<u64>, Vec<u64>) = hashes.iter().partition(|h| bumps(**h));
        let first = Band::of(&kept, starts, slots, word);
        if first.contradictions > 0 {
            return Err("contradiction");
        }
        for seed in 0..32 {
            let mut second: Vec<u64> = out.iter().map(|h| rehash(*h, seed)).collect();
            second.sort_unstable();
            let (starts2, slots2) = standard_shape(second_slots, 4);
            let second = Band::of(&second, starts2, slots2, word);
            if second.contradictions == 0 {
                let (z, z2) = (first.solve(false), second.solve(false));
                return Ok(Self {
                    first,
                    z,
                    second,
                    z2,
                    seed,
                    codes,
                    thresholds,
                    bumped: out.len(),
                    seeds: seed as u32 + 1,
                });
            }
        }
        Err("second layer")
    }
    pub fn matches(&self, h: u64) -> bool {
        let p = position(h, self.first.starts << 16);
        if ((p & 0x7_ffff) as u32) < self.thresholds[self.codes[(p >> 19) as usize] as usize] {
            self.second.matches(&self.z2, rehash(h, self.seed))
        } else {
            self.first.matches(&self.z, h)
        }
    }
}
