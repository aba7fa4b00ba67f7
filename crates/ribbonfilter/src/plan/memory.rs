//! The memory that a build takes, and how a build that spills stays within its limit.
//!
//! A build in memory holds all hashes and, for a function, their ordered copy. A build that spills
//! writes them to a file in *runs*. A run has as many hashes as a fraction of the limit allows, in
//! the order of their top bits. Later the build reads one *group* of segments after another from
//! all runs, and has in memory at a time
//!
//! ```text
//! the filter | bumped keys | the system of a segment, for every thread | a group's hashes
//! ```
//!
//! The *schedule* of a build that spills has as many of the available threads as the limit allows,
//! and then as few groups as possible. It has no influence on the bytes.

use super::Plan;
use crate::error::BuildError;
use crate::format::Content;
use crate::ribbon::width::COMPACT;
use crate::{Variant, Width};

/// The limits of a build: its threads and its memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Limits {
    pub(crate) threads: u64,
    /// The memory limit in bytes.
    pub(crate) max_memory: u64,
    /// How hashes are spilled to a file; `None` if they must not be.
    pub(crate) runs: Option<Runs>,
}

impl Default for Limits {
    fn default() -> Self {
        Self { threads: 1, max_memory: u64::MAX, runs: None }
    }
}

/// How hashes are spilled: the runs that are written at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Runs {
    /// The maximum number of items in a run.
    pub(crate) items: u64,
    /// A run is ordered by this number of top bits. The beginning of each of these *cells* is
    /// known.
    pub(crate) cell_bits: u32,
    /// Number of bytes that are written or read at a time.
    pub(crate) buffer: u64,
}

/// Minimum average number of items of a run in a cell, as a power of two, so that the index of the
/// runs is small compared to the runs.
const CELL_LOG: u32 = 8;
/// Maximum number of cells, as a power of two. Finer cells would help only narrow Standard ribbons.
const MAX_CELL_BITS: u32 = 12;

impl Runs {
    /// The runs of a build with a limit of `max_memory` bytes, of which half hold a run. So keys
    /// that fit in memory together with their ordered copy are not spilled while they are pushed.
    pub(crate) fn within(max_memory: u64, item_bytes: u64) -> Self {
        let items = (max_memory / 2 / item_bytes).max(1);
        Self {
            items,
            cell_bits: items.ilog2().saturating_sub(CELL_LOG).min(MAX_CELL_BITS),
            buffer: (max_memory / 64).clamp(1 << 12, 1 << 20),
        }
    }

    /// The size in bytes of the index of the runs of `keys` keys.
    pub(crate) fn index(&self, keys: u64) -> u64 {
        keys.div_ceil(self.items) * (8 << self.cell_bits)
    }
}

/// How a build that spills proceeds after all keys are pushed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Schedule {
    pub(crate) threads: u64,
    /// The segments are processed in `1 << group_bits` groups.
    pub(crate) group_bits: u32,
    /// The peak memory in bytes.
    pub(crate) peak: u64,
}

/// One part in this many of the counted memory is added for what is not counted: losses of the
/// allocator, and small allocations.
const UNCOUNTED: u64 = 16;

/// Bytes that every additional thread takes on top of its workspace: its stack, and what the
/// allocator keeps for it.
const THREAD: u64 = 3 << 20;

impl Plan {
    /// The peak memory of the build in bytes: the pushed hashes (for a function, also their ordered
    /// copy), the finished filter, and one segment's system for every thread. If that exceeds the
    /// limit and hashes may be spilled, this is the peak memory of the build that spills.
    ///
    /// ```
    /// use ribbonfilter::Filter;
    ///
    /// let plan = Filter::builder().threads(1).plan_for(10_000_000)?;
    /// assert!(plan.peak_memory() < 113_000_000); // 11.3 bytes per key
    /// let spilling = Filter::builder().max_memory(64 << 20).spill_to("/var/tmp");
    /// assert!(spilling.plan_for(10_000_000)?.peak_memory() <= 64 << 20);
    /// # Ok::<(), ribbonfilter::BuildError>(())
    /// ```
    pub fn peak_memory(&self) -> u64 {
        let Some(runs) = self.spilling() else { return self.in_memory() };
        let peak = self.schedule(runs, |bits| self.fullest(bits)).peak.max(self.pushing(runs));
        if peak > self.limits.max_memory { self.min_limit() } else { peak }
    }

    /// A limit with which a build that spills succeeds, close to the minimum.
    ///
    /// A higher limit changes the runs and the size of their index, so this iterates a few times.
    fn min_limit(&self) -> u64 {
        let mut limit = self.size_in_bytes();
        for _ in 0..8 {
            let runs = Runs::within(limit, self.item_bytes());
            let limits = Limits { max_memory: limit, runs: Some(runs), ..self.limits };
            let plan = self.with_limits(limits);
            let peak = plan.schedule(runs, |bits| plan.fullest(bits)).peak;
            if peak <= limit {
                break;
            }
            limit = peak + peak / 128;
        }
        limit.min(self.in_memory())
    }

    /// The same plan with other limits.
    pub(crate) fn with_limits(self, limits: Limits) -> Self {
        Self { limits, ..self }
    }

    /// Returns an error if the build would exceed the memory limit.
    pub(crate) fn check_memory(&self) -> Result<(), BuildError> {
        match (self.peak_memory(), self.limits.max_memory) {
            (needed, limit) if needed > limit => Err(BuildError::MemoryLimit { needed, limit }),
            _ => Ok(()),
        }
    }

    /// How hashes are spilled, if the build exceeds the memory limit otherwise and spilling is
    /// allowed.
    pub(crate) fn spilling(&self) -> Option<Runs> {
        self.limits.runs.filter(|_| self.in_memory() > self.limits.max_memory)
    }

    /// The peak memory in bytes if nothing is spilled.
    fn in_memory(&self) -> u64 {
        let pushed = self.item_bytes() * self.keys;
        let threads = self.limits.threads.min(self.shape.segments());
        let solving = threads * self.workspace(1.0) + self.bumped() + self.size_in_bytes();
        // The items of a function stay in insertion order, so that an error can name values that
        // contradict each other. They are ordered in a copy.
        let copied = match self.content {
            Content::Function { .. } if self.shape.segment_bits > 0 => pushed,
            _ => 0,
        };
        pushed + copied + solving
    }

    /// The bytes of a key during construction: a hash and, for a function, a value.
    fn item_bytes(&self) -> u64 {
        match self.content {
            Content::Filter { .. } => 8,
            Content::Function { .. } => 16,
        }
    }

    /// The maximum number of keys that are bumped from one layer or level to the next.
    pub(crate) fn bumped_keys(&self) -> u64 {
        self.keys / 512 * u64::from(self.shape.balance.overload) + self.shape.further.slots()
    }

    /// The bytes of bumped keys, which are collected per segment and then ordered for the next
    /// layer or level. A Balanced filter holds three copies at a time.
    fn bumped(&self) -> u64 {
        let copies = if self.shape.balance.overload > 0 { 3 } else { 2 };
        self.item_bytes() * copies * self.bumped_keys()
    }

    /// The bytes that one thread needs for one segment that has `skew` times the expected number of
    /// keys.
    fn workspace(&self, skew: f64) -> u64 {
        let shape = &self.shape;
        let width = if COMPACT { Width::W128 } else { shape.width };
        let coefficients = u64::from(width.bits() / 8);
        let right_side = match self.content {
            _ if matches!(shape.variant, Variant::Standard | Variant::Bumped) => {
                u64::from(shape.columns).div_ceil(8)
            }
            Content::Function { .. } => 8,
            Content::Filter { .. } if shape.variant == Variant::Homogeneous => 0,
            Content::Filter { .. } => 4,
        };
        let mean = self.keys as f64 / shape.segments() as f64;
        let overload = mean / 256.0 * f64::from(shape.balance.overload);
        let fullest = (mean + overload + 6.0 * libm::sqrt(mean)) * skew;
        // The segment's hashes in parts, each with spare capacity.
        let ordered = self.item_bytes() * (fullest + fullest / 8.0) as u64;
        // A Standard ribbon's keys are counted by start, and sorted with these counts.
        let counts = if shape.variant == Variant::Standard { 2 + 4 } else { 0 };
        shape.segment_slots * (coefficients + right_side + counts) + ordered
    }

    /// The memory in bytes while keys are pushed and spilled.
    fn pushing(&self, runs: Runs) -> u64 {
        self.item_bytes() * runs.items + runs.buffer + runs.index(self.keys)
    }

    /// The number of keys in the fullest of `1 << bits` groups, if hashes are random.
    fn fullest(&self, bits: u32) -> u64 {
        let mean = self.keys as f64 / (1u64 << bits) as f64;
        (mean + 6.0 * libm::sqrt(mean)) as u64
    }

    /// The best schedule that the limit allows, or the one that takes the least memory. `fullest`
    /// maps a number of groups, as a power of two, to the number of keys in the fullest of them.
    pub(crate) fn schedule(&self, runs: Runs, fullest: impl Fn(u32) -> u64) -> Schedule {
        let finest = self.shape.segment_bits.min(runs.cell_bits);
        let skew = fullest(finest) as f64 / self.fullest(finest) as f64;
        let schedule = |threads: u64, group_bits| Schedule {
            threads,
            group_bits,
            peak: self.spilled(runs, threads, skew.max(1.0), group_bits, fullest(group_bits)),
        };
        let max = self.limits.threads.clamp(1, self.shape.segments());
        let all = (1..=max).rev().flat_map(|threads| {
            // Each group has a segment for every thread.
            let shared = threads.next_power_of_two().ilog2();
            let finest = finest.min(self.shape.segment_bits.saturating_sub(shared));
            (0..=finest).map(move |group_bits| (threads, group_bits))
        });
        let mut all = all.map(|(threads, group_bits)| schedule(threads, group_bits));
        let fits = all.find(|schedule| schedule.peak <= self.limits.max_memory);
        fits.unwrap_or_else(|| schedule(1, finest))
    }

    /// The memory in bytes while groups of `group` keys are read and solved.
    fn spilled(&self, runs: Runs, threads: u64, skew: f64, group_bits: u32, group: u64) -> u64 {
        let shape = &self.shape;
        // Segments in the first half of a Balanced filter take keys of the other half.
        let loaded = if shape.balance.overload > 0 { 2 } else { 1 };
        // If a cell spans several segments, the group has to be ordered after it is read.
        let ordered = u64::from(shape.segment_bits > runs.cell_bits.max(group_bits));
        let groups = self.item_bytes() * group * (loaded + ordered);
        let solving = threads * self.workspace(skew) + self.bumped() + self.size_in_bytes();
        let all = groups + solving + runs.buffer + runs.index(self.keys);
        all + all / UNCOUNTED + (threads - 1) * THREAD
    }
}
