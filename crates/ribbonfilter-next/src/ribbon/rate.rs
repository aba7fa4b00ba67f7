//! The false-positive rate of a system, and its columns on average.

use super::system::{SEGMENT_BITS, System};

/// The columns of all starts, added up.
pub(crate) fn units(system: &System) -> u64 {
    system.starts * u64::from(system.columns) - starts_before_boundary(system)
}

/// The columns in which a key is compared, on average over all starts.
pub(crate) fn mean_columns(system: &System) -> f64 {
    match system.starts {
        0 => system.columns.into(),
        starts => units(system) as f64 / starts as f64,
    }
}

/// The number of starts before the boundary.
fn starts_before_boundary(system: &System) -> u64 {
    let tail = system.width.blocks() as u64 - 1;
    let segment = (1 << SEGMENT_BITS) + tail;
    let (full, rest) = (system.boundary / segment, system.boundary % segment);
    let starts = (full << SEGMENT_BITS) + rest.min(1 << SEGMENT_BITS);
    starts.min(system.starts)
}

/// The probability that a random equation agrees with its fingerprint, on average over all starts;
/// 0 without starts.
pub(crate) fn rate(system: &System) -> f64 {
    if system.starts == 0 {
        return 0.0;
    }
    let fewer = starts_before_boundary(system) as f64 / system.starts as f64;
    libm::exp2(-f64::from(system.columns)) * (1.0 + fewer)
}

/// The rate with the probability that an absent key has the hash of one of the keys, where that is
/// at least a millionth of the rate.
pub(crate) fn with_collisions(rate: f64, keys: u64) -> f64 {
    let collision = collision(keys);
    if collision < rate / 1e6 { rate } else { rate + (1.0 - rate) * collision }
}

/// The probability that a hash is among those of the keys.
pub(crate) fn collision(keys: u64) -> f64 {
    keys as f64 / 18_446_744_073_709_551_616.0 // 2^64
}
