//! What a build takes of memory, and how one that spills stays within its limit.
//!
//! A build in memory holds all hashes twice while it orders them. One that spills writes
//! them to a file in *runs*: as many as a share of the limit allows, in the order of their
//! top bits. Later it reads one *group* of segments after another from all runs, and has
//! in memory at a time
//!
//! ```text
//! the filter | bumped keys | the system of a segment, for every thread | a group's hashes
//! ```
//!
//! The *schedule* of a build that spills is as many threads as the limit allows, of those
//! that may be used, and then as few groups. It has no influence on the bytes.

use super::Plan;
use crate::Variant;
use crate::error::BuildError;
use crate::format::Content;

/// What a build may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Means {
    pub(crate) threads: u64,
    /// The most bytes that it may take.
    pub(crate) max_memory: u64,
    /// How hashes go to a file, if they may.
    pub(crate) runs: Option<Runs>,
}

impl Default for Means {
    fn default() -> Self {
        Self { threads: 1, max_memory: u64::MAX, runs: None }
    }
}

/// How hashes are spilled: what is written at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Runs {
    /// The items of a run.
    pub(crate) items: u64,
    /// A run is in the order of so many top bits, and it is known where each of these
    /// *cells* begins.
    pub(crate) cell_bits: u32,
    /// Bytes that are written or read at a time.
    pub(crate) buffer: u64,
}

/// A cell has no fewer items of a run than this in the mean, as a power of two: what is known
/// about runs shall weigh little beside the runs.
const CELL_LOG: u32 = 8;
/// The most cells, as a power of two. Finer ones would serve only narrow Standard ribbons.
const MAX_CELL_BITS: u32 = 12;

impl Runs {
    /// The runs of a build that may take so many bytes: half of them hold a run. So keys that
    /// fit in memory, ordered copy included, are not spilled beforehand.
    pub(crate) fn within(max_memory: u64, item_bytes: u64) -> Self {
        let items = (max_memory / 2 / item_bytes).max(1);
        Self {
            items,
            cell_bits: items.ilog2().saturating_sub(CELL_LOG).min(MAX_CELL_BITS),
            buffer: (max_memory / 64).clamp(1 << 12, 1 << 20),
        }
    }

    /// The bytes of what is known about the runs of so many keys.
    fn index(&self, keys: u64) -> u64 {
        keys.div_ceil(self.items) * (8 << self.cell_bits)
    }
}

/// How a build that spills goes on when all keys are there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Schedule {
    pub(crate) threads: u64,
    /// The segments are worked on in `1 << group_bits` groups.
    pub(crate) group_bits: u32,
    /// The most bytes that it takes at once.
    pub(crate) peak: u64,
}

/// Of all that is counted one part in so many is added for what is not: what the allocator
/// loses, and small things.
const UNCOUNTED: u64 = 16;

/// Bytes that every further thread takes beside its workspace: its stack, and what the allocator
/// keeps for it.
const THREAD: u64 = 3 << 20;

impl Plan {
    /// The most memory that the build takes at once, in bytes: the pushed hashes (of a function
    /// and their ordered copy), the finished filter, and for every thread one segment's
    /// system. If that is more than it may take and hashes may be spilled, the build takes
    /// what is told here with them on disk.
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
        if peak > self.means.max_memory { self.least() } else { peak }
    }

    /// A limit with which the build can spill, not far above the least.
    ///
    /// A higher limit changes the runs, and what is kept about them: hence some tries.
    fn least(&self) -> u64 {
        let mut limit = self.size_in_bytes();
        for _ in 0..8 {
            let runs = Runs::within(limit, self.item_bytes());
            let means = Means { max_memory: limit, runs: Some(runs), ..self.means };
            let plan = self.with_means(means);
            let peak = plan.schedule(runs, |bits| plan.fullest(bits)).peak;
            if peak <= limit {
                break;
            }
            limit = peak + peak / 128;
        }
        limit.min(self.in_memory())
    }

    /// The same plan for other means.
    pub(crate) fn with_means(self, means: Means) -> Self {
        Self { means, ..self }
    }

    /// Refuses a limit that would be exceeded.
    pub(crate) fn check_memory(&self) -> Result<(), BuildError> {
        match (self.peak_memory(), self.means.max_memory) {
            (needed, limit) if needed > limit => Err(BuildError::MemoryLimit { needed, limit }),
            _ => Ok(()),
        }
    }

    /// How hashes are spilled, if they take more memory than they may and may go elsewhere.
    pub(crate) fn spilling(&self) -> Option<Runs> {
        self.means.runs.filter(|_| self.in_memory() > self.means.max_memory)
    }

    /// What is taken if nothing is spilled.
    fn in_memory(&self) -> u64 {
        let pushed = self.item_bytes() * self.keys;
        let threads = self.means.threads.min(self.shape.segments());
        let solving = threads * self.workspace(1.0) + self.bumped() + self.size_in_bytes();
        // What was pushed for a function stays in its order, to tell which values contradict each
        // other, and is ordered in a copy.
        let copied = match self.content {
            Content::Function { .. } if self.shape.segment_bits > 0 => pushed,
            _ => 0,
        };
        pushed + copied + solving
    }

    /// The bytes of a key on its way: a hash and, for a function, a value.
    fn item_bytes(&self) -> u64 {
        match self.content {
            Content::Filter { .. } => 8,
            Content::Function { .. } => 16,
        }
    }

    /// Keys that are bumped from one layer or level to the next at a time.
    pub(crate) fn bumped_keys(&self) -> u64 {
        self.keys / 512 * u64::from(self.shape.balance.overload) + self.shape.further.slots()
    }

    /// The bytes of bumped keys, which leave their segment and are brought into the order of
    /// the next layer or level; of a Balanced filter three copies at a time.
    fn bumped(&self) -> u64 {
        let copies = if self.shape.balance.overload > 0 { 3 } else { 2 };
        self.item_bytes() * copies * self.bumped_keys()
    }

    /// The bytes that one thread needs for one segment, which has so many times the keys that
    /// it should have.
    fn workspace(&self, skew: f64) -> u64 {
        let shape = &self.shape;
        let coefficients = u64::from(shape.width.bits() / 8);
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
        // The segment's hashes in parts, each with room to spare.
        let ordered = self.item_bytes() * (fullest + fullest / 8.0) as u64;
        // A Standard ribbon's keys are counted by their starts, and placed by these counts.
        let counts = if shape.variant == Variant::Standard { 2 + 4 } else { 0 };
        shape.segment_slots * (coefficients + right_side + counts) + ordered
    }

    /// The bytes taken while keys are pushed and spilled.
    fn pushing(&self, runs: Runs) -> u64 {
        self.item_bytes() * runs.items + runs.buffer + runs.index(self.keys)
    }

    /// The keys of the fullest of `1 << bits` groups, if hashes are random.
    fn fullest(&self, bits: u32) -> u64 {
        let mean = self.keys as f64 / (1u64 << bits) as f64;
        (mean + 6.0 * libm::sqrt(mean)) as u64
    }

    /// The best schedule that the limit allows, or the one that takes the least, by the keys
    /// of the fullest of so many groups.
    pub(crate) fn schedule(&self, runs: Runs, fullest: impl Fn(u32) -> u64) -> Schedule {
        let finest = self.shape.segment_bits.min(runs.cell_bits);
        let skew = fullest(finest) as f64 / self.fullest(finest) as f64;
        let schedule = |threads: u64, group_bits| Schedule {
            threads,
            group_bits,
            peak: self.spilled(runs, threads, skew.max(1.0), group_bits, fullest(group_bits)),
        };
        let max = self.means.threads.clamp(1, self.shape.segments());
        let all = (1..=max).rev().flat_map(|threads| {
            // A segment of each group for every thread.
            let shared = threads.next_power_of_two().ilog2();
            let finest = finest.min(self.shape.segment_bits.saturating_sub(shared));
            (0..=finest).map(move |group_bits| (threads, group_bits))
        });
        let mut all = all.map(|(threads, group_bits)| schedule(threads, group_bits));
        let fits = all.find(|schedule| schedule.peak <= self.means.max_memory);
        fits.unwrap_or_else(|| schedule(1, finest))
    }

    /// The bytes taken while groups of so many keys are read and solved.
    fn spilled(&self, runs: Runs, threads: u64, skew: f64, group_bits: u32, group: u64) -> u64 {
        let shape = &self.shape;
        // The segments of a Balanced filter's first half take keys of the other half.
        let loaded = if shape.balance.overload > 0 { 2 } else { 1 };
        // Cells that are no finer than segments leave a group to be ordered.
        let ordered = u64::from(shape.segment_bits > runs.cell_bits.max(group_bits));
        let groups = self.item_bytes() * group * (loaded + ordered);
        let solving = threads * self.workspace(skew) + self.bumped() + self.size_in_bytes();
        let all = groups + solving + runs.buffer + runs.index(self.keys);
        all + all / UNCOUNTED + (threads - 1) * THREAD
    }
}
