//! The fuzz targets, one module each, and what they share. The programs in `fuzz_targets` only call
//! these: so the library's generic code is compiled once, and not for each program. (The target
//! `records` does not use that code.)

#[path = "../../crates/ribbonfilter/tests/support/untrusted.rs"]
mod untrusted;

pub mod exact;
pub mod filter;
pub mod function;
pub mod kernels;
pub mod open;
pub mod shards;

use arbitrary::Arbitrary;
use ribbonfilter::{Filter, FilterBuilder, Variant, Width};
pub use untrusted::{fitted, query_everything, sealed};

/// The `index`-th number of a stream of random numbers.
pub fn random(stream: u64, index: u64) -> u64 {
    let mut x = index.wrapping_add(stream << 40).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    x = (x ^ x >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ x >> 31
}

/// Hashes to look up: the extremes, and some random ones.
pub fn probes() -> Vec<u64> {
    (0..60).map(|index| random(7, index)).chain([0, 1, u64::MAX, 1 << 63]).collect()
}

/// A run of key hashes. Small inputs describe large sets, some of them distributed very unevenly.
#[derive(Arbitrary, Clone, Copy, Debug)]
pub enum Hashes {
    /// A single hash, taken from the input.
    One(u64),
    /// Random hashes.
    Random { stream: u8, count: u16 },
    /// `first`, `first + step`, and so on.
    Steps { first: u64, step: u64, count: u16 },
    /// The same hash repeatedly.
    Same { hash: u64, count: u8 },
    /// Random hashes with equal top bits.
    Crowded { top: u8, bits: u8, count: u16 },
}

impl Hashes {
    /// The hashes of the run, fewer than 2^12. Short runs are more likely than long ones, so that
    /// the fuzzer executes more inputs.
    pub fn list(self) -> Vec<u64> {
        let run = |count: u16| 0..u64::from((count % 4096) >> (count >> 13));
        match self {
            Self::One(hash) => vec![hash],
            Self::Random { stream, count } => {
                run(count).map(|index| random(stream.into(), index)).collect()
            }
            Self::Steps { first, step, count } => {
                run(count).map(|index| first.wrapping_add(step.wrapping_mul(index))).collect()
            }
            Self::Same { hash, count } => vec![hash; count.into()],
            Self::Crowded { top, bits, count } => {
                let crowd = |hash: u64| hash >> (bits % 60) ^ u64::from(top) << 56;
                run(count).map(|index| crowd(random(3, index))).collect()
            }
        }
    }
}

/// All hashes of an input, fewer than 2^15.
pub fn all(runs: &[Hashes]) -> Vec<u64> {
    runs.iter().take(8).flat_map(|run| run.list()).collect()
}

/// The settings of a filter.
#[derive(Arbitrary, Clone, Copy, Debug)]
pub struct Settings {
    variant: u8,
    width: u8,
    target: Target,
    overhead: Option<u8>,
    key_seed: u64,
    max_memory: Option<u32>,
}

#[derive(Arbitrary, Clone, Copy, Debug)]
enum Target {
    /// Any 64-bit floating-point number.
    AnyColumns(f64),
    AnyRate(f64),
    AnyBits(f64),
    /// Reasonable values.
    Columns(u8),
    Rate(u16),
    Bytes(u32),
}

/// Converts any number to a variant.
pub fn variant(number: u8) -> Variant {
    Variant::ALL[usize::from(number) % Variant::ALL.len()]
}

/// Converts any number to a width.
pub fn width(number: u8) -> Width {
    Width::ALL[usize::from(number) % Width::ALL.len()]
}

impl Settings {
    pub fn builder(&self) -> FilterBuilder<'static> {
        let builder = Filter::builder()
            .variant(variant(self.variant))
            .width(width(self.width))
            .key_seed(self.key_seed);
        let builder = match self.target {
            Target::AnyColumns(columns) => builder.columns(columns),
            Target::AnyRate(rate) => builder.false_positive_rate(rate),
            Target::AnyBits(bits) => builder.bits_per_key(bits),
            Target::Columns(columns) => builder.columns(f64::from(columns) / 8.0),
            Target::Rate(rate) => builder.false_positive_rate(f64::from(rate) / 65536.0),
            Target::Bytes(bytes) => builder.total_bytes((bytes % (1 << 20)).into()),
        };
        let builder = match self.overhead {
            Some(overhead) => builder.overhead(f64::from(overhead) / 64.0),
            None => builder,
        };
        match self.max_memory {
            Some(bytes) => builder.max_memory(bytes.into()),
            None => builder,
        }
    }
}
