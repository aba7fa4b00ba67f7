//! Helpers of the integration tests: keys, variants, sizes and measured rates.
#![allow(dead_code, reason = "each test takes what it needs")]

use ribbonfilter_next::{Filter, FilterBuilder, Kernel, Key, Variant, Width};

/// Selects a value for a debug run, a release run, or the long run of `scripts/test-full`.
pub fn scale<T>(debug: T, release: T, full: T) -> T {
    if std::env::var_os("RIBBONFILTER_FULL").is_some() {
        full
    } else if cfg!(debug_assertions) {
        debug
    } else {
        release
    }
}

/// The `index`-th number of a random stream.
pub fn random(stream: u64, index: u64) -> u64 {
    let mut x = index.wrapping_add(stream << 40).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    x = (x ^ x >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ x >> 31
}

/// Kinds of key sets. Keys of different indices are distinct.
#[derive(Clone, Copy, Debug)]
pub enum Keys {
    /// Random 64-bit hashes.
    Random,
    /// Integers 0, 1, 2, …, hashed as keys.
    Integers,
    /// The hashes 0, 1, 2, … themselves.
    RawIntegers,
    /// Strings with a common prefix.
    Strings,
}

impl Keys {
    pub const ALL: [Self; 4] = [Self::Random, Self::Integers, Self::RawIntegers, Self::Strings];

    pub fn hash(self, index: u64) -> u64 {
        match self {
            Self::Random => random(1, index),
            Self::Integers => index.key_hash(0),
            Self::RawIntegers => index,
            Self::Strings => format!("https://example.org/{index}").key_hash(0),
        }
    }
}

/// Every variant and width that can be planned for `keys` keys.
pub fn kinds(keys: u64) -> Vec<(Variant, Width)> {
    let pairs = Variant::ALL.iter().flat_map(|&variant| Width::ALL.map(|width| (variant, width)));
    pairs
        .filter(|&(variant, width)| {
            Filter::builder().variant(variant).width(width).columns(1.0).plan_for(keys).is_ok()
        })
        .collect()
}

pub fn builder(variant: Variant, width: Width, columns: f64) -> FilterBuilder<'static> {
    Filter::builder().variant(variant).width(width).columns(columns)
}

/// The kernel named by `RIBBONFILTER_KERNEL`, or else the best kernel of this CPU.
pub fn kernel() -> Kernel {
    match std::env::var("RIBBONFILTER_KERNEL") {
        Ok(name) => Kernel::by_name(&name).expect("a kernel that this CPU can run"),
        Err(_) => Kernel::best(),
    }
}

/// Builds a filter of hashes with the [`kernel`] of this run.
pub fn build(builder: FilterBuilder<'_>, hashes: impl IntoIterator<Item = u64>) -> Filter {
    let mut builder = builder.kernel(kernel());
    hashes.into_iter().for_each(|hash| builder.push_hash(hash));
    builder.finish().expect("ordinary keys build").with_kernel(kernel())
}

/// Looks up every key in the opened filter and in its bytes.
pub fn assert_all_found(filter: &Filter, hashes: impl IntoIterator<Item = u64>) {
    for (index, hash) in hashes.into_iter().enumerate() {
        assert!(filter.contains_hash(hash), "key {index} is missing in {filter:?}");
        let found = Filter::contains_hash_in(filter.as_bytes(), hash).expect("a filter");
        assert!(found, "key {index} is missing in the bytes of {filter:?}");
    }
}

/// The number of false positives among `probes` keys that are not in the set.
pub fn false_positives(filter: &Filter, probes: u64) -> u64 {
    (0..probes).filter(|&probe| filter.contains_hash(random(2, probe))).count() as u64
}

/// The measured rate, with enough probes for a relative standard deviation of `precision`.
pub fn measured_rate(filter: &Filter, precision: f64) -> f64 {
    let probes = (1.0 / (filter.expected_rate() * precision * precision)) as u64;
    false_positives(filter, probes) as f64 / probes as f64
}

/// All stored bits divided by the minimum of any filter with this rate, minus one.
pub fn overhead(filter: &Filter, rate: f64) -> f64 {
    filter.bits_per_key() / -rate.log2() - 1.0
}
