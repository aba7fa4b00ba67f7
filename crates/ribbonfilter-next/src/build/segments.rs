//! Solves the segments of a layer, one after another or on several threads.
//!
//! Segments are independent, so the bytes do not depend on which thread solves which segment.

use super::arranged::Arranged;
use super::bumping::bump;
use super::contradiction;
use super::equations::SegmentEquations;
use super::item::{Item, Value};
use super::layer::Layer;
use super::parallel::for_each;
use super::sorted::Sorted;
use super::stored::Stored;
use crate::error::{BuildError, OutOfMemory};
use crate::kernel::Kernel;
use crate::progress::{Phase, Reporter};
use crate::ribbon::bucket::codes_in_bytes;
use crate::ribbon::width::Width;
use crate::solve::{self, Workspace, solve};
use crate::storage::memory::{try_grow, try_reserve};
use alloc::vec::Vec;
use core::ops::Range;

/// Why a layer was not solved.
#[derive(Debug)]
pub(crate) enum Failure {
    /// Its equations contradict each other: another seed may do.
    NoSolution,
    /// Two keys with the same hash have different values: no seed will do if they are one key.
    Contradiction,
    /// Nothing helps.
    Fatal(BuildError),
}

impl From<BuildError> for Failure {
    fn from(error: BuildError) -> Self {
        Self::Fatal(error)
    }
}

impl From<OutOfMemory> for Failure {
    fn from(error: OutOfMemory) -> Self {
        Self::Fatal(error.into())
    }
}

/// What a thread needs to solve a segment, reused from segment to segment.
pub(crate) struct Worker<V> {
    kernel: Kernel,
    sorted: Sorted<V>,
    skips: Vec<u32>,
    workspace: Workspace,
}

impl<V: Value> Worker<V> {
    pub(crate) fn new(kernel: Kernel) -> Self {
        Self {
            kernel,
            sorted: Sorted::default(),
            skips: Vec::new(),
            workspace: Workspace::default(),
        }
    }
}

/// A segment to be solved.
struct Segment<'a, I> {
    number: u64,
    items: I,
    /// The bytes of its blocks.
    bytes: &'a mut [u8],
    /// The codes of its buckets, if keys are bumped.
    codes: &'a mut [u8],
}

/// What became of a segment's keys, or of all.
#[derive(Debug)]
pub(crate) struct Outcome<V> {
    /// The number of keys whose equations follow from others: duplicates.
    pub(crate) redundant: u64,
    pub(crate) bumped: Vec<Item<V>>,
}

/// Where the solution goes: the bytes and codes of all segments that are not solved yet.
pub(crate) struct Output<'a> {
    pub(crate) bytes: &'a mut [u8],
    pub(crate) codes: &'a mut [u8],
}

impl<'a> Output<'a> {
    /// Splits off the bytes and codes of a segment, the next one.
    fn split(&mut self, layer: &Layer, segment: u64) -> (&'a mut [u8], &'a mut [u8]) {
        let starts = layer.system.segment_starts(segment);
        let codes = match layer.bumping {
            Some(_) => codes_in_bytes(starts.end - starts.start),
            None => 0,
        };
        let front = |all: &mut &'a mut [u8], size: u64| {
            let (front, rest) = core::mem::take(all).split_at_mut(size as usize);
            *all = rest;
            front
        };
        let size = layer.system.segment_size(segment);
        (front(&mut self.bytes, size), front(&mut self.codes, codes))
    }
}

/// Solves the segments for which items were arranged, in front of `output`, with one thread for each
/// worker. The first failure stops the work.
pub(crate) fn solve_segments<V: Value>(
    workers: &mut [Worker<V>],
    layer: &Layer,
    (segments, arranged): (Range<u64>, &Arranged<'_, V>),
    output: &mut Output<'_>,
    progress: &mut Reporter<'_>,
) -> Result<Outcome<V>, Failure> {
    let (first, total) = (segments.start, layer.system.segments());
    let pieces = segments.map(|number| {
        let (bytes, codes) = output.split(layer, number);
        Segment { number, items: arranged.segment((number - first) as usize), bytes, codes }
    });
    let outcomes = for_each(
        workers,
        pieces,
        |number| Ok(progress.report(Phase::Solving, first + number as u64, total)?),
        |worker, segment| worker.solve(layer, segment),
    )?;
    let mut all = Outcome { redundant: 0, bumped: Vec::new() };
    for outcome in outcomes {
        all.redundant += outcome.redundant;
        try_grow(&mut all.bumped, outcome.bumped.len())?;
        all.bumped.extend(outcome.bumped);
    }
    Ok(all)
}

impl<V: Value> Worker<V> {
    /// Solves a segment. A Bumped one always has a solution: if the keys that stay are dependent
    /// nevertheless, it is solved again with shorter queues.
    fn solve<'i>(
        &mut self,
        layer: &Layer,
        segment: Segment<'_, impl Iterator<Item = &'i [Item<V>]> + Clone>,
    ) -> Result<Outcome<V>, Failure>
    where
        V: 'i,
    {
        let Segment { number, items, bytes, codes } = segment;
        self.sorted.fill(items, layer.system.segment_starts(number), layer)?;
        let mut bumping = layer.bumping;
        loop {
            let mut bumped = Vec::new();
            self.skips.clear();
            if let Some(bumping) = &bumping {
                let output = (&mut *codes, &mut self.skips, &mut bumped);
                bump(&mut self.sorted, layer, bumping, output)?;
            }
            match self.eliminate(layer, number, bytes)? {
                Some(redundant) if redundant == 0 || redundant == self.duplicates()? => {
                    return Ok(Outcome { redundant, bumped });
                }
                _ if contradiction::is_among(&self.sorted)? => return Err(Failure::Contradiction),
                _ => match &mut bumping {
                    Some(bumping) => bumping.counting.spare += bumping.counting.spare.max(8),
                    None => return Err(Failure::NoSolution),
                },
            }
        }
    }

    /// Solves the equations of the keys that are not bumped. Returns the number of redundant ones;
    /// `None` if there is no solution.
    fn eliminate(
        &mut self,
        layer: &Layer,
        number: u64,
        bytes: &mut [u8],
    ) -> Result<Option<u64>, OutOfMemory> {
        let system = layer.system;
        let first = system.block(system.segment_starts(number).start);
        let stored = Stored { system, first, bytes };
        let equations = &mut SegmentEquations { sorted: &self.sorted, skips: &self.skips, stored };
        let (kernel, workspace) = (self.kernel, &mut self.workspace);
        let solved = match system.width {
            Width::W64 => solve::<1, _>(kernel, workspace, equations, system.columns),
            Width::W128 => solve::<2, _>(kernel, workspace, equations, system.columns),
            Width::W192 => solve::<3, _>(kernel, workspace, equations, system.columns),
            Width::W256 => solve::<4, _>(kernel, workspace, equations, system.columns),
        };
        match solved {
            Ok(redundant) => Ok(Some(redundant)),
            Err(solve::Failure::NoSolution) => Ok(None),
            Err(solve::Failure::OutOfMemory { bytes }) => Err(OutOfMemory::new(bytes)),
        }
    }

    /// The number of keys that are not bumped and occurred before. If more equations are redundant,
    /// some follow from those of other keys. Their right sides agree by accident, which depends on
    /// the number of columns: as if they did not, such a system counts as unsolvable.
    fn duplicates(&self) -> Result<u64, OutOfMemory> {
        let mut duplicates = 0;
        let mut sorted = Vec::new();
        for start in 0..self.sorted.starts() {
            let skip = self.skips.get(start).map_or(0, |&skip| skip as usize);
            let items = &self.sorted.of(start)[skip..];
            sorted.clear();
            try_reserve(&mut sorted, items.len())?;
            sorted.extend_from_slice(items);
            sorted.sort_unstable();
            duplicates += sorted.windows(2).filter(|pair| pair[0] == pair[1]).count() as u64;
        }
        Ok(duplicates)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{Settings, Target};
    use crate::ribbon::equation::coefficients;
    use crate::testing::Random;
    use crate::{Variant, Width};
    use alloc::vec;

    /// With hardly a slot to spare, equations are dependent somewhere. The segment is then solved
    /// again with more to spare, so it bumps more keys, and every other key has its fingerprint.
    #[test]
    fn a_segment_with_too_little_to_spare_is_solved_again() {
        let settings = Settings {
            target: Target::Columns(8.0),
            variant: Some(Variant::Bumped),
            width: Some(Width::W192),
            ..Settings::default()
        };
        let mut plan = settings.plan(60_000, 0).expect("a plan");
        plan.counting.spare = 1;
        let layer = Layer::first(&plan, 0);
        let mut random = Random(11);
        let items: Vec<_> = (0..60_000).map(|_| Item { hash: random.next(), value: () }).collect();
        let slices = [&items[..]].into_iter();
        let mut bytes = vec![0; plan.first.size_in_bytes() as usize];
        let mut codes = vec![0; codes_in_bytes(plan.first.starts) as usize];
        let segment =
            Segment { number: 0, items: slices.clone(), bytes: &mut bytes, codes: &mut codes };
        let outcome = Worker::new(Kernel::best()).solve(&layer, segment).expect("a solution");

        let mut sorted = Sorted::default();
        sorted.fill(slices, 0..plan.first.starts, &layer).expect("memory");
        let (mut first_codes, mut skips, mut bumped) = (codes.clone(), Vec::new(), Vec::new());
        let bumping = layer.bumping.expect("keys are bumped");
        let output = (&mut first_codes[..], &mut skips, &mut bumped);
        bump(&mut sorted, &layer, &bumping, output).expect("memory");
        assert!(outcome.bumped.len() > bumped.len(), "it was solved once");

        let mut hashes: Vec<u64> = outcome.bumped.iter().map(|item| item.hash).collect();
        hashes.sort_unstable();
        let kept = sorted.all().iter().filter(|item| hashes.binary_search(&item.hash).is_err());
        for Item { hash, .. } in kept {
            let first = 64 * layer.start(*hash) as usize;
            for column in 0..8 {
                let word = |block: usize| {
                    let at = first + 64 * block + 8 * column;
                    u64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes"))
                };
                let ones = coefficients::<3>(*hash).into_iter().enumerate();
                let ones: u32 = ones.map(|(block, mask)| (word(block) & mask).count_ones()).sum();
                assert_eq!(u64::from(ones % 2), hash >> column & 1);
            }
        }
    }
}
