//! Helpers of the integration tests: keys, sizes and kernels.
#![allow(dead_code, reason = "each test takes what it needs")]

use ribbonfilter_exact::{Kernel, Key};

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

/// The kernel named by `RIBBONFILTER_KERNEL`, or else the best kernel of this CPU.
pub fn kernel() -> Kernel {
    match std::env::var("RIBBONFILTER_KERNEL") {
        Ok(name) => Kernel::by_name(&name).expect("a kernel that this CPU can run"),
        Err(_) => Kernel::best(),
    }
}
