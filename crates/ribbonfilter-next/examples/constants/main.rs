//! Measures the constants of the planner, and what the decisions in `docs/decisions` rest on.
//!
//! ```text
//! cargo run --release -p ribbonfilter-next --features internals --example constants -- <command> <arguments>
//! ```
#![allow(dead_code, missing_docs)]
#![allow(clippy::precedence, clippy::needless_range_loop, clippy::should_implement_trait)]
#![allow(clippy::semicolon_if_nothing_returned)]

mod bumped;
mod filter;
mod hashing;
mod homogeneous;
mod layer;
mod patterns;
mod rows;
mod standard;

/// SplitMix64.
#[derive(Clone)]
pub struct Rng(pub u64);

impl Rng {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mix(self.0)
    }
    pub fn below(&mut self, end: u64) -> u64 {
        (self.next() as u128 * end as u128 >> 64) as u64
    }
    pub fn unit(&mut self) -> f64 {
        ((self.next() >> 11) as f64 + 0.5) / (1u64 << 53) as f64
    }
}

pub fn mix(z: u64) -> u64 {
    let z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ z >> 31
}

/// `n` sorted uniform hashes, by exponential gaps.
pub fn sorted(n: usize, rng: &mut Rng) -> Vec<u64> {
    let mut sum = 0.0;
    let mut gap = || {
        sum -= rng.unit().ln();
        sum
    };
    let gaps: Vec<f64> = (0..=n).map(|_| gap()).collect();
    let scale = 18_446_744_073_709_551_615.0 / gaps[n];
    gaps[..n].iter().map(|gap| (gap * scale) as u64).collect()
}

pub fn list<T: std::str::FromStr>(text: &str) -> Vec<T>
where
    T::Err: std::fmt::Debug,
{
    text.split(',').map(|item| item.parse().unwrap()).collect()
}

pub use ribbonfilter_next::internals::thresholds;

fn main() {
    let a: Vec<String> = std::env::args().collect();
    let rest = &a[2.min(a.len())..];
    match a.get(1).map_or("", String::as_str) {
        "standard" => standard::measure(rest),
        "chain" => standard::chain(rest),
        "bumped" => bumped::measure(rest),
        "check" => bumped::check(rest),
        "planned" => bumped::planned(rest),
        "thresholds" => bumped::search(rest),
        "structured" => hashing::structured(rest),
        "rates" => hashing::rates(rest),
        "families" => hashing::families(rest),
        "words" => hashing::words(rest),
        "large" => hashing::large(rest),
        "homogeneous" => homogeneous::measure(rest),
        "rows" => rows::measure(rest),
        _ => eprintln!(
            "standard | chain | bumped | check | planned | thresholds | structured | rates | families | words | large | homogeneous | rows"
        ),
    }
}
