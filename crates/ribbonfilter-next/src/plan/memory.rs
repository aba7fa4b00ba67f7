//! The memory that a build takes, and how a build that spills stays within its limit.
//!
//! A build in memory holds all hashes (of a map, also their copy, which is ordered), the finished
//! bytes, and for every thread the keys and rows of one segment. A build that spills writes hashes
//! to a file in *runs*, and later reads one *group* of segments after another from all runs.
//!
//! ```text
//! the finished bytes | bumped keys | keys and rows of a segment, for every thread | a group's hashes
//! ```

use super::Plan;
use crate::error::BuildError;

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
    /// The number of items that may be in memory before they are spilled.
    pub(crate) pushed: u64,
    /// A run is ordered by this number of top bits. The beginning of each of these *cells* is
    /// known.
    pub(crate) cell_bits: u32,
    /// Number of bytes that are written or read at a time.
    pub(crate) buffer: u64,
    /// The number of items in a slab of memory.
    slab: u64,
}

/// Minimum average number of items of a run in a cell, as a power of two, so that the index of the
/// runs is small compared to the runs.
const CELL_LOG: u32 = 8;

impl Runs {
    /// The runs of a build with a limit of `max_memory` bytes, of which half hold pushed items. A run
    /// is a slab of items.
    pub(crate) fn within(max_memory: u64, item_bytes: u64, slab: u64) -> Self {
        let pushed = (max_memory / 2 / item_bytes).max(2);
        let items = (pushed / 2).min(slab);
        Self {
            items,
            pushed,
            cell_bits: items.ilog2().saturating_sub(CELL_LOG),
            buffer: (max_memory / 64).clamp(1 << 12, 1 << 18),
            slab,
        }
    }

    /// The size in bytes of the index of the runs of `keys` keys.
    fn index(&self, keys: u64) -> u64 {
        keys.div_ceil(self.items) * (8 << self.cell_bits)
    }
}

/// One part in this many of the counted memory is added for what is not counted: losses of the
/// allocator, and small allocations.
const UNCOUNTED: u64 = 16;

/// Bytes that every additional thread takes on top of its workspace: its stack, and what the
/// allocator keeps for it.
const THREAD: u64 = 3 << 20;

/// Bytes per row of the segment that a thread solves, by the number of words of a row: all bits of
/// the pivot rows and of their right sides, with which they are stored in groups of eight.
const fn row_bytes(words: u64, right_bits: u64) -> u64 {
    9 * words + right_bits.div_ceil(8) + 2
}

impl Plan {
    /// The peak memory of the build in bytes: the pushed hashes (of a map, also a copy), the
    /// finished bytes, and one segment's rows for every thread. If that exceeds the limit and hashes
    /// may be spilled, this is the peak memory of the build that spills.
    ///
    /// ```
    /// use ribbonfilter_next::Filter;
    ///
    /// let plan = Filter::builder().threads(1).plan_for(10_000_000)?;
    /// assert!(plan.peak_memory() < 113_000_000); // 11.3 bytes per key
    /// let spilling = Filter::builder().max_memory(64 << 20).spill_to("/var/tmp");
    /// assert!(spilling.plan_for(10_000_000)?.peak_memory() <= 64 << 20);
    /// # Ok::<(), ribbonfilter_next::BuildError>(())
    /// ```
    pub fn peak_memory(&self) -> u64 {
        let Some(runs) = self.spilling() else { return self.in_memory() };
        match self.least(runs) {
            least if least <= self.limits.max_memory => self.limits.max_memory,
            _ => self.min_limit(),
        }
    }

    /// The least memory with which a build with these runs succeeds: groups of one segment.
    fn least(&self, runs: Runs) -> u64 {
        let pushing = self.item_bytes() * (runs.pushed + runs.items) + runs.buffer;
        (pushing + runs.index(self.keys)).max(self.spilled(runs, self.segment_keys()))
    }

    /// A limit with which a build that spills succeeds, close to the minimum. A higher limit changes
    /// the runs and the size of their index, so this iterates a few times.
    fn min_limit(&self) -> u64 {
        let slab = self.limits.runs.map_or(1, |runs| runs.slab);
        let mut limit = self.size_in_bytes();
        for _ in 0..8 {
            let least = self.least(Runs::within(limit, self.item_bytes(), slab));
            if least <= limit {
                break;
            }
            limit = least + least / 128;
        }
        limit.min(self.in_memory())
    }

    /// The same plan with other limits. A build that spills has as many of the threads as fit into the
    /// memory.
    pub(crate) fn with_limits(self, limits: Limits) -> Self {
        let with = |threads| Self { limits: Limits { threads, ..limits }, ..self };
        let all = with(limits.threads);
        let Some(runs) = all.spilling() else { return all };
        let mut fewer = (1..=limits.threads.min(self.segments().max(1))).rev().map(with);
        fewer.find(|plan| plan.least(runs) <= limits.max_memory).unwrap_or_else(|| with(1))
    }

    pub(crate) fn limits(&self) -> Limits {
        self.limits
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

    /// The number of items that may be read from spilled runs at a time. Half of the memory holds
    /// pushed items, so there may be runs even if all of them together would fit.
    pub(crate) fn group_items(&self) -> u64 {
        let Some(runs) = self.limits.runs else { return self.keys };
        let fixed = self.spilled(runs, 0);
        let rest = self.limits.max_memory.saturating_sub(fixed);
        // Of a group, keys of its last segment may be copied to the next one.
        (rest / (self.item_bytes() + 1))
            .saturating_sub(self.segment_keys())
            .max(self.segment_keys())
    }

    /// The peak memory in bytes if nothing is spilled.
    fn in_memory(&self) -> u64 {
        let copies = if self.map { 2 } else { 1 };
        copies * self.item_bytes() * self.keys + self.arranging() + self.solving()
    }

    /// The memory in bytes while groups of `group` keys are read and solved.
    fn spilled(&self, runs: Runs, group: u64) -> u64 {
        let groups = (self.item_bytes() + 1) * (group + self.segment_keys());
        let all = groups + self.solving() + runs.buffer + runs.index(self.keys);
        all + all / UNCOUNTED
    }

    /// The finished bytes, the bumped keys, and what threads need to solve segments.
    fn solving(&self) -> u64 {
        let threads = self.limits.threads.min(self.segments()).max(1);
        let bumped = 3 * self.item_bytes() * self.bumped;
        threads * self.workspace() + (threads - 1) * THREAD + bumped + self.size_in_bytes()
    }

    /// The bytes of a key during construction: a hash and, for a map, a value.
    fn item_bytes(&self) -> u64 {
        if self.map { 16 } else { 8 }
    }

    /// The pieces that threads fill while keys are arranged: for every segment one of 512 items.
    fn arranging(&self) -> u64 {
        let segments = self.segments();
        let pieces = if segments > 1 { 2 * (segments + segments / 8 + 2) } else { 0 };
        pieces * self.limits.threads * 512 * self.item_bytes()
    }

    /// The keys of the fullest segment, if hashes are random.
    fn segment_keys(&self) -> u64 {
        let mean = self.keys as f64 / self.segments().max(1) as f64;
        (mean * 1.01 + 6.0 * libm::sqrt(mean)) as u64
    }

    /// The bytes that one thread needs for one segment: its keys in order, and its rows.
    fn workspace(&self) -> u64 {
        let words = self.width().blocks() as u64;
        let row = row_bytes(words, self.first.columns.into());
        self.segment_keys() * (self.item_bytes() + row) + (64 << 10)
    }
}
