//! Generates lines that look like a list of breached passwords: `make-digests N [SEED]` prints N
//! lines of 40 hexadecimal digits, a colon and a count. `scripts/make-digests` runs it.
//!
//! The digits are random numbers. SHA-1 would take most of the time. The same N and SEED give the
//! same lines; another SEED gives other digests.

use std::io::{self, BufWriter, Write};

/// Counts have at most this number of bits.
const COUNT_BITS: u32 = 20;

fn main() -> io::Result<()> {
    let mut arguments = std::env::args().skip(1).map(|text| text.parse::<u64>());
    let (lines, seed) = match (arguments.next(), arguments.next()) {
        (Some(Ok(lines)), None) => (lines, 1),
        (Some(Ok(lines)), Some(Ok(seed))) => (lines, seed),
        _ => return Err(io::Error::other("usage: make-digests N [SEED]")),
    };
    let mut random = Random(seed << 32);
    let mut out = BufWriter::with_capacity(1 << 16, io::stdout().lock());
    for _ in 0..lines {
        line(&mut random, &mut out)?;
    }
    out.flush()
}

fn line(random: &mut Random, out: &mut impl Write) -> io::Result<()> {
    let mut digits = [0; 40];
    for word in digits.chunks_mut(16) {
        let bits = random.next();
        for (at, digit) in word.iter_mut().enumerate() {
            *digit = b"0123456789ABCDEF"[(bits >> (4 * at)) as usize & 15];
        }
    }
    out.write_all(&digits)?;
    writeln!(out, ":{}", count(random.next()))
}

/// A count, most often small: each additional bit halves the probability.
fn count(bits: u64) -> u64 {
    let magnitude = bits.leading_zeros().min(COUNT_BITS - 1);
    (1 << magnitude) + (bits & ((1 << magnitude) - 1))
}

/// Steele, Lea and Flood's SplitMix64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
}
