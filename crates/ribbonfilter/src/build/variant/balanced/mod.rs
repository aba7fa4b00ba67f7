//! Balanced Ribbon (paper, section 6): two possible locations per key, and hardly an empty slot.
//!
//! A Standard system needs spare slots because its keys are unevenly distributed. Here the system
//! is divided into soft *shards*, and a shard with too many keys *bumps* some of them to their
//! second location in a later shard; one byte of metadata per shard records which. Shards are in
//! levels. Each level has half the shards of the preceding one, and a key is bumped to the next
//! level only. Level 0 is deliberately overloaded, and the keys that it bumps overload the next
//! level, so that down to the last shard there are always enough keys to fill a shard.
//!
//! A level is a run of whole segments, except that the last segment contains all of the last
//! levels. No equation crosses the end of a segment and keys are bumped between levels, so the
//! segments of a level are independent: they are distributed among threads, and the bytes do not
//! depend on which thread solves which segment.
//!
//! Construction fails only if a bumped key does not fit at its second location. In practice that
//! happens only in the last shard, which lacks as many slots as were left empty in all others. The
//! planner chooses the number of slots such that at most one seed in six fails for small sets, and
//! hardly any for large ones; the lowest seed that works is taken. If none of [`MAX_SEEDS`] works,
//! or if a segment is so crowded that none can, the plan gets more slots.
//!
//! A system of one shard is solved as a Standard one.

mod grouped;
mod segment;

use super::{Failure, Solved, standard};
use crate::Width;
use crate::build::{
    Group, Item, Partitioned, Segment, Task, Value, contradiction_among, for_each, segments,
    workspaces,
};
use crate::error::{BuildError, OutOfMemory};
use crate::progress::{Phase, Reporter};
use crate::ribbon::equation::{Seed, Shards};
use crate::ribbon::shape::Shape;
use crate::ribbon::width::Band;
use crate::solve::right_side::RightSide;
use crate::storage::memory::try_reserve;
use alloc::vec;
use alloc::vec::Vec;
use segment::{Balancing, Outcome, Workspace};

/// Number of seeds to try before the plan gets more slots.
const MAX_SEEDS: u8 = 16;
/// A segment with more than 5/4 of the average number of keys plus eight standard deviations
/// indicates duplicates or skewed hashes, which no seed can fix.
const CROWDED: (u64, u64) = (5, 4);

pub(super) fn solve<R: RightSide>(task: &mut Task<'_, '_, R::Value>) -> Result<Solved, Failure> {
    match task.plan.shape.shards() {
        Some(shards) => match task.plan.shape.width {
            // The planner has no shards of w = 16.
            Width::W16 => Err(Failure::NoSeed),
            Width::W32 => first_seed::<u32, R>(task, shards),
            Width::W64 => first_seed::<u64, R>(task, shards),
            Width::W128 => first_seed::<u128, R>(task, shards),
        },
        None => standard::solve::<R>(task),
    }
}

/// Solves the system under the lowest seed that works.
fn first_seed<B: Band, R: RightSide>(
    task: &mut Task<'_, '_, R::Value>,
    shards: Shards,
) -> Result<Solved, Failure> {
    if is_crowded(task)? {
        return Err(Failure::NoSeed);
    }
    let workspaces = &mut all_workspaces::<B, R>(task)?;
    for seed in 0..MAX_SEEDS {
        match solve_levels(task, workspaces, shards, seed) {
            // No other seed solves a system with two values for one key.
            Err(Failure::NoSeed) if seed == 0 && contradicts(task)? => break,
            Err(Failure::NoSeed) => {}
            done => return done,
        }
    }
    Err(Failure::NoSeed)
}

/// Whether two items of one key contradict each other. Such items are in the same segment.
fn contradicts<V: Value>(task: &Task<'_, '_, V>) -> Result<bool, BuildError> {
    task.keys.any_segment(task.plan.shape.segment_bits, |keys| Ok(contradiction_among(keys)?))
}

/// Whether some segment has far more keys than the others.
fn is_crowded<V: Value>(task: &Task<'_, '_, V>) -> Result<bool, BuildError> {
    let Task { plan, keys, .. } = task;
    let mean = plan.keys() / plan.shape.segments();
    let max = mean * CROWDED.0 / CROWDED.1 + 8 * mean.isqrt();
    let bits = plan.shape.segment_bits;
    Ok(bits > 0 && keys.any_segment(bits, |keys| Ok(keys.len() as u64 > max))?)
}

/// Whether the plan's slots suffice under one seed, for simulations.
#[cfg(any(test, feature = "internals"))]
pub(crate) fn fits(task: &mut Task<'_, '_, ()>, seed: u8) -> bool {
    fn run<B: Band>(task: &mut Task<'_, '_, ()>, seed: u8) -> Result<Solved, Failure> {
        let shards = task.plan.shape.shards().expect("more than one shard");
        solve_levels(task, &mut all_workspaces::<B, u32>(task)?, shards, seed)
    }
    crate::ribbon::width::with_band!(task.plan.shape.width, B => run::<B>(task, seed)).is_ok()
}

/// One workspace per thread.
fn all_workspaces<B: Band, R: RightSide>(
    task: &Task<'_, '_, R::Value>,
) -> Result<Vec<Workspace<B, R>>, OutOfMemory> {
    let Task { plan, resources, .. } = task;
    let new = || Workspace::new(&plan.shape, resources.kernel);
    workspaces(&plan.shape, resources.threads(), new)
}

/// Solves the system under one seed, level by level.
fn solve_levels<B: Band, R: RightSide>(
    task: &mut Task<'_, '_, R::Value>,
    workspaces: &mut [Workspace<B, R>],
    shards: Shards,
    seed: u8,
) -> Result<Solved, Failure> {
    let Task { plan, keys, bytes, resources, progress } = task;
    let (shape, threads) = (plan.shape, resources.threads());
    let (mut segments, mut before) = (segments(&shape, bytes), 0);
    let mut solved = Solved { seeds: vec![seed], ..Solved::default() };
    try_reserve(&mut solved.metadata, shards.count() as usize)?;
    let mut bumped = Vec::new();
    for level in 0..=shape.segment_bits {
        let level_bits = (shape.segment_bits - level).saturating_sub(1);
        let arrived = by_segment(bumped, level_bits, threads)?;
        let (first, mut outcomes) = (before, Vec::new());
        let budget = resources.budget_for_bumped();
        for group in groups(first, level_bits, shape.segment_bits, keys.group_bits()) {
            let keys_of = |group| keys.group(group);
            let mine = keys_of(group)?;
            let others = later_half(group, &shape).map(keys_of).transpose()?;
            let level_segments = group.len().min(1 << level_bits);
            let level_segments_with_keys = segments
                .by_ref()
                .take(level_segments)
                .map(|segment| Segment { keys: mine.segment(segment.number), ..segment });
            let report = |done| -> Result<(), Failure> {
                let done = (before + done) as u64;
                Ok(progress.report(Phase::Solving, done, shape.segments())?)
            };
            let done =
                for_each(workspaces, level_segments_with_keys, report, |workspace, segment| {
                    let number = segment.number;
                    let balancing = Balancing {
                        shards,
                        seed: Seed::new(seed),
                        starts: shape.starts(),
                        shard_slots: shape.segment_slots as usize / shards.in_segment(),
                        number,
                        level,
                        keys: segment.keys,
                        overload: overload(others.as_ref(), number, shape.segment_bits),
                        arrived: arrived.segment(number - first as u64),
                    };
                    let outcome = balancing.run(workspace)?;
                    budget.take(outcome.bumped.len())?;
                    workspace.solve(&segment.layout, segment.bytes);
                    Ok(outcome)
                })?;
            before += level_segments;
            outcomes.extend(done);
        }
        bumped = gather(&mut solved, outcomes)?;
    }
    Ok(solved)
}

/// The groups that contain the segments of a level. The last may also contain other segments.
fn groups(
    first: usize,
    level_bits: u32,
    segment_bits: u32,
    group_bits: u32,
) -> impl Iterator<Item = Group> {
    let each = segment_bits - group_bits;
    let (first, count) = (first as u64 >> each, 1 << level_bits.saturating_sub(each));
    (first..first + count).map(move |number| Group::new(segment_bits, group_bits, number))
}

/// If `group` contains segments of level 0: the group of the segments whose overload they take.
fn later_half(group: Group, shape: &Shape) -> Option<Group> {
    let half = shape.segments() / 2;
    (group.first() < half).then(|| group.after(half))
}

/// The keys of the segment in the later half whose overload a segment of level 0 takes.
fn overload<'a, V: Value>(
    later: Option<&'a Partitioned<'_, V>>,
    number: u64,
    segment_bits: u32,
) -> &'a [Item<u64, V>] {
    let half = (1 << segment_bits) >> 1;
    match later {
        Some(later) if number < half => later.segment(number + half),
        _ => &[],
    }
}

/// Orders bumped keys by the segments of the next level.
fn by_segment<V: Value>(
    bumped: Vec<Item<u64, V>>,
    bits: u32,
    threads: usize,
) -> Result<Partitioned<'static, V>, BuildError> {
    Partitioned::new(bumped, Group::all(bits), threads, &mut Reporter::default())
}

/// Merges the outcomes of a level's segments into `solved`. Returns the keys that the level bumps.
fn gather<V: Value>(
    solved: &mut Solved,
    outcomes: Vec<Outcome<V>>,
) -> Result<Vec<Item<u64, V>>, Failure> {
    let mut bumped = Vec::new();
    try_reserve(&mut bumped, outcomes.iter().map(|outcome| outcome.bumped.len()).sum())?;
    for outcome in outcomes {
        bumped.extend(outcome.bumped);
        solved.metadata.extend(outcome.metadata);
        solved.redundant += outcome.redundant;
    }
    Ok(bumped)
}

#[cfg(test)]
mod tests {
    use crate::ribbon::equation::mix;
    use crate::testing::Random;
    use crate::{BuildError, Filter, Variant, Width};
    use alloc::vec::Vec;

    fn build(hashes: impl Iterator<Item = u64>) -> Result<Filter, BuildError> {
        let target = Filter::builder().variant(Variant::Balanced).width(Width::W32).columns(1.0);
        let mut builder = target;
        builder.extend_hashes(hashes);
        builder.finish()
    }

    /// Random hashes whose four top bits, after mixing, lie in a range.
    fn crowd(keys: usize, sixteenths: core::ops::Range<u64>) -> Vec<u64> {
        let mut random = Random(12);
        let hashes = core::iter::repeat_with(|| random.next());
        hashes.filter(|&hash| sixteenths.contains(&(mix(hash) >> 60))).take(keys).collect()
    }

    #[test]
    fn keys_that_crowd_in_one_segment_are_refused() {
        let keys = 1 << 17;
        for sixteenths in [0..8, 8..16, 15..16] {
            let refused = build(crowd(keys, sixteenths).into_iter());
            assert!(matches!(refused, Err(BuildError::Unsolvable { .. })), "{refused:?}");
        }
    }

    #[test]
    fn uneven_segments_are_levelled_out() {
        // The first half of the system gets 1/16 more than half of the keys: less than the
        // overload.
        let keys = 1 << 17;
        let mut hashes = crowd(keys / 16, 0..8);
        let mut random = Random(13);
        hashes.extend((0..keys - keys / 16).map(|_| random.next()));
        let filter = build(hashes.iter().copied()).expect("within the overload");
        assert!(hashes.iter().all(|&hash| filter.contains_hash(hash)));
        assert!(filter.bits_per_key() < 1.1, "{filter:?}");
    }

    #[test]
    fn one_hash_many_times_is_one_key() {
        for times in [1 << 13, 1 << 17] {
            let filter = build(core::iter::repeat_n(7, times)).expect("one key");
            assert_eq!(filter.len(), 1);
            assert!(filter.contains_hash(7));
        }
    }
}
