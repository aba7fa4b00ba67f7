//! What `ribbonfilter-exact` is built on, and what benchmarks and the planner's measurements need.
//! Not covered by semantic versioning.
#![allow(missing_docs)]

use crate::ribbon::equation;

// What `ribbonfilter-exact` is built on.
#[cfg(all(feature = "build", feature = "std"))]
pub use crate::build::spill::unnamed_file::create as unnamed_file;
pub use crate::format::FOOTER_BYTES;
pub use crate::format::checks::{check_data, seal, split_footer};
pub use crate::format::embedded::{ENTRY_BYTES, Embedded, Entry, embed};
pub use crate::format::fields::{Raw, get, put};
#[cfg(feature = "build")]
pub use crate::progress::Reporter;

/// Reserves memory for keys, in huge pages if there are any.
#[cfg(feature = "build")]
pub fn try_reserve<T>(
    vec: &mut alloc::vec::Vec<T>,
    additional: usize,
) -> Result<(), crate::BuildError> {
    Ok(crate::storage::memory::try_reserve_huge(vec, additional)?)
}

pub const FRACTION_BITS: u32 = equation::FRACTION_BITS;

#[inline]
pub const fn mix(key_hash: u64, seed: u8) -> u64 {
    equation::Mixer::new(seed).mix(key_hash)
}

pub const fn rehash(mixed: u64, seed: u8) -> u64 {
    equation::rehash(mixed, seed)
}

#[inline]
pub const fn position(mixed: u64, span: u64) -> u64 {
    equation::position(mixed, span)
}

pub const fn word(mixed: u64, index: usize) -> u64 {
    equation::word(mixed, index)
}

pub fn eight_slots(mixed: u64) -> [u8; 8] {
    equation::eight_slots(mixed)
}

/// Starts, slots and success of the Standard system that is planned for a number of keys.
#[cfg(feature = "build")]
pub fn plan_standard(keys: u64, blocks: usize, thorough: bool) -> (u64, u64, f64) {
    let settings = crate::plan::Settings {
        variant: Some(crate::Variant::Standard),
        width: crate::Width::of_blocks(blocks as u8),
        effort: if thorough { crate::Effort::Thorough } else { crate::Effort::Normal },
        ..crate::plan::Settings::default()
    };
    let plan = settings.plan(keys, 0).expect("settings that are valid");
    (plan.first.starts, plan.first.slots(), 1.0 / plan.expected_solutions())
}

/// What is planned for a Bumped filter of 8 columns.
#[cfg(feature = "build")]
pub struct PlannedBumped {
    pub starts: u64,
    pub slots: u64,
    pub bumped: u64,
    pub second_starts: u64,
    pub second_slots: u64,
    pub spare: u32,
    pub size_in_bytes: u64,
}

#[cfg(feature = "build")]
pub fn plan_bumped(keys: u64, blocks: usize) -> PlannedBumped {
    let settings = crate::plan::Settings {
        target: crate::plan::Target::Columns(8.0),
        variant: Some(crate::Variant::Bumped),
        width: crate::Width::of_blocks(blocks as u8),
        ..crate::plan::Settings::default()
    };
    let plan = settings.plan(keys, 0).expect("settings that are valid");
    let second = plan.second.expect("a second layer");
    PlannedBumped {
        starts: plan.first.starts,
        slots: plan.first.slots(),
        bumped: plan.bumped,
        second_starts: second.starts,
        second_slots: second.slots(),
        spare: plan.counting.spare,
        size_in_bytes: plan.size_in_bytes(),
    }
}

pub const FOOTER: u64 = FOOTER_BYTES as u64;
pub const fn thresholds(blocks: usize) -> [u32; 4] {
    crate::ribbon::bucket::thresholds(match blocks {
        2 => crate::Width::W128,
        3 => crate::Width::W192,
        _ => crate::Width::W256,
    })
}
