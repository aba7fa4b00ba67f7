//! Shards that are filled until the first failure (paper, section 5.4).
//!
//! The mixed hashes are sorted and cut into *cells* of one or two keys, the top bits of the
//! hash. Cell after cell goes into a system of w²/4 slots, until one does not fit: that one
//! begins the next shard. No shard is tried twice. Only the last one, which takes what is left,
//! is planned for its keys and solved as a Standard filter is. (Another seed is tried for all
//! shards if the keys of one cell contradict each other; one pair in 2^15 keys of one start does
//! so if w = 16, and next to none in wider ribbons.)
//!
//! Which cells fit does not depend on columns, so the shards are found first, by one thread and
//! without solving anything. Then the columns of all are known, and every shard is banded again
//! and solved at its location, by all threads.

use super::builder::Keys;
use crate::Variant;
use crate::Width;
use crate::build::variant::system::{Elimination, with_elimination};
use crate::build::variant::{BandingWorkspace, StandardWorkspace};
use crate::build::{Item, MAX_GROWTH, Resources, Segment, for_each};
use crate::error::BuildError;
use crate::format::{Container, FOOTER_BYTES, Filling, MAX_CELL_BITS, Ranges};
use crate::plan::{Columns, Settings, Sketch, Target};
use crate::progress::{Phase, Reporter};
use crate::ribbon::equation::{Balance, Seed, Starts, seeded, segment};
use crate::ribbon::layers::Further;
use crate::ribbon::layout::Order;
use crate::ribbon::shape::Shape;
use crate::ribbon::width::Band;
use crate::solve::banding::Banding;
use crate::storage::bytes::OwnedBytes;
use crate::storage::memory::{try_grow, try_reserve};
use alloc::vec::Vec;

/// The paper's natural number of slots, near which the median fraction of slots that stay empty is
/// smallest: at this number or, with our smash, at half of it, which would double the directory.
const fn natural_slots(width: Width) -> u64 {
    let width = width.bits() as u64;
    width * width / 4
}

/// Seeds that are tried for all shards, the lowest first.
const SEEDS: u8 = 16;
/// With more keys no seed is likely to serve all cells of the narrowest ribbon.
const MAX_NARROW: u64 = 1 << 20;

/// A shard: its keys, by where they begin among all, and its first cell.
#[derive(Clone, Copy)]
struct Found {
    first_key: usize,
    first_cell: u64,
}

/// Builds a container of all keys.
pub(super) fn build(
    keys: Keys,
    width: Width,
    settings: &Settings,
    resources: Resources,
    progress: &mut Reporter<'_>,
) -> Result<OwnedBytes, BuildError> {
    with_elimination!(
        width,
        resources.kernel,
        u32,
        build_with(width, keys, settings, resources, progress)
    )
}

fn build_with<E: Elimination<RightSide = u32>>(
    cpu: E::Cpu,
    width: Width,
    mut keys: Keys,
    settings: &Settings,
    resources: Resources,
    progress: &mut Reporter<'_>,
) -> Result<OwnedBytes, BuildError> {
    keys.sort_unstable();
    keys.dedup();
    let cell_bits = cell_bits(keys.len() as u64);
    let (seed, found) = find_seed::<E::Band>(&keys, width, cell_bits, progress)?;
    let last_keys = &keys[found.last().map_or(0, |last| last.first_key)..];
    let mut borders = Vec::new();
    try_reserve(&mut borders, found.len())?;
    borders.extend(found.iter().map(|shard| shard.first_cell));
    let mut last = Last::<E>::new(cpu, width, last_keys, resources)?;
    let mut ranges =
        Ranges::new(width, cell_bits, natural_slots(width), last.shape.segment_slots, &borders);
    (ranges.seed, ranges.last_seed) = (seed, last.seed);
    let rate = spend(&mut ranges, &borders, settings)?;
    let len = ranges.data_bytes().saturating_add(FOOTER_BYTES as u64);
    let mut bytes = OwnedBytes::allocate(len)?;
    solve(&ranges, &found, &keys, &mut last, bytes.as_mut(), resources, progress)?;
    let filling = Filling::UntilFull(ranges);
    let container = Container::new(settings.key_seed, Variant::Standard, width, filling);
    ranges.write(bytes.as_mut(), &borders, &container.with_keys(keys.len() as u64, rate));
    Ok(bytes)
}

/// Cells of one key, up to two.
fn cell_bits(keys: u64) -> u32 {
    keys.max(1).ilog2().min(MAX_CELL_BITS)
}

/// The lowest seed under which every cell fits a shard, and the shards; at least one.
fn find_seed<B: Band>(
    keys: &[Item<u64, ()>],
    width: Width,
    cell_bits: u32,
    progress: &mut Reporter<'_>,
) -> Result<(u8, Vec<Found>), BuildError> {
    let count = keys.len() as u64;
    if width == Width::W16 && count > MAX_NARROW {
        let variant = Variant::Standard;
        return Err(BuildError::Unsuitable { variant, width, keys: count, instead: Width::W128 });
    }
    let mut crowded = 0;
    for seed in 0..SEEDS {
        match find::<B>(keys, width, cell_bits, Seed::new(seed), progress)? {
            Ok(found) => return Ok((seed, found)),
            Err(cell) => crowded = cell,
        }
    }
    Err(unsolvable(crowded, natural_slots(width)))
}

/// Fills shard after shard; or the number of keys of a cell that fits no shard.
fn find<B: Band>(
    keys: &[Item<u64, ()>],
    width: Width,
    cell_bits: u32,
    seed: Seed,
    progress: &mut Reporter<'_>,
) -> Result<Result<Vec<Found>, usize>, BuildError> {
    let slots = natural_slots(width);
    let starts = Starts::new(slots, width, true);
    let mut banding = Banding::<B, u32>::new(slots as usize)?;
    let mut filled = Vec::new();
    let mut found = Vec::new();
    try_reserve(&mut found, keys.len() / (slots as usize / 2) + 1)?;
    found.push(Found { first_key: 0, first_cell: 0 });
    let (mut first_key, mut alone) = (0, true);
    for cell in
        keys.chunk_by(|one, other| segment(one.hash, cell_bits) == segment(other.hash, cell_bits))
    {
        let equation = |item: &Item<_, _>| item.map(|mixed| seeded(mixed, seed)).equation(starts);
        let equations = || cell.iter().map(equation);
        if banding.insert_all_or_none(equations(), &mut filled)?.is_none() {
            let begun = Found { first_key, first_cell: segment(cell[0].hash, cell_bits) };
            try_grow(&mut found, 1)?;
            found.push(begun);
            progress.report(Phase::Partitioning, first_key as u64, keys.len() as u64)?;
            banding.clear();
            // What does not fit an empty shard fits none.
            if alone || banding.insert_all_or_none(equations(), &mut filled)?.is_none() {
                return Ok(Err(cell.len()));
            }
        }
        alone = false;
        first_key += cell.len();
    }
    Ok(Ok(found))
}

/// The last shard: planned for its keys, and banded.
struct Last<E: Elimination> {
    shape: Shape,
    seed: u8,
    workspace: StandardWorkspace<E>,
}

impl<E: Elimination<RightSide = u32>> Last<E> {
    fn new(
        cpu: E::Cpu,
        width: Width,
        keys: &[Item<u64, ()>],
        resources: Resources,
    ) -> Result<Self, BuildError> {
        let settings = Settings {
            target: Target::Columns(1.0),
            variant: Some(Variant::Standard),
            width: Some(width),
            ..Settings::default()
        };
        let mut slots = 0;
        for growth in 0..=MAX_GROWTH {
            let plan = settings.plan(keys.len() as u64, growth)?;
            slots = plan.slots();
            // How many columns there will be is not known yet.
            let shape = Shape { columns: crate::ribbon::equation::FINGERPRINT_BITS, ..plan.shape };
            let mut workspace = StandardWorkspace::new(cpu, &shape, resources.kernel)?;
            if let Some((seed, _)) = workspace.first_seed(plan.queue_limit, keys)? {
                return Ok(Self { shape: plan.shape, seed, workspace });
            }
        }
        Err(unsolvable(keys.len(), slots))
    }
}

/// Turns the target into columns of all shards; the rate that they give.
fn spend(ranges: &mut Ranges, borders: &[u64], settings: &Settings) -> Result<f64, BuildError> {
    if ranges.total_slots() == 0 {
        return Ok(0.0);
    }
    let row = *ranges;
    let sketch = |columns: Columns| Sketch {
        shape: one_row(&row, columns),
        rate: rate(&row.with_columns(columns.max, columns.boundary), borders),
    };
    let max = crate::ribbon::equation::FINGERPRINT_BITS;
    let columns = match settings.target {
        Target::Rate(rate) => Columns::for_rate(rate, max, sketch)
            .map_err(|lowest| BuildError::RateTooLow { rate, lowest })?,
        Target::Columns(columns) => Columns::nearest(columns, sketch),
        _ => Columns::whole(max),
    };
    *ranges = row.with_columns(columns.max, columns.boundary);
    Ok(rate(ranges, borders))
}

/// All slots as if they were of one system: what the layout of all shards is.
fn one_row(ranges: &Ranges, columns: Columns) -> Shape {
    Shape {
        variant: Variant::Standard,
        width: ranges.width,
        smash: true,
        segment_bits: 0,
        segment_slots: ranges.total_slots(),
        further: Further::default(),
        columns: columns.max,
        boundary: columns.boundary,
        order: Order::Columns,
        balance: Balance::default(),
    }
}

/// The rate: an absent key falls on a shard as often as the shard is wide.
fn rate(ranges: &Ranges, borders: &[u64]) -> f64 {
    let boundary = ranges.layout().boundary_slot();
    let shard = (boundary / ranges.slots).min(ranges.last());
    let cells = (1u64 << ranges.cell_bits) as f64;
    let begin = borders[shard as usize] as f64;
    let end = borders.get(shard as usize + 1).map_or(cells, |&border| border as f64);
    let starts = ranges.starts(shard);
    let weight = starts.weight_before(boundary - shard * ranges.slots) as f64;
    let before = begin + (end - begin) * weight / starts.total_weight() as f64;
    (1.0 + before / cells) * libm::exp2(-f64::from(ranges.columns))
}

/// Solves every shard at its location.
fn solve<E: Elimination<RightSide = u32>>(
    ranges: &Ranges,
    found: &[Found],
    keys: &[Item<u64, ()>],
    last: &mut Last<E>,
    bytes: &mut [u8],
    resources: Resources,
    progress: &mut Reporter<'_>,
) -> Result<(), BuildError> {
    let layout = ranges.layout();
    let begin = layout.offset(layout.block_of(ranges.last() * ranges.slots));
    let (others, last_bytes) = bytes.split_at_mut(begin);
    if ranges.last_slots > 0 {
        let part = layout.part(ranges.last() * ranges.slots, ranges.last_slots);
        last.workspace.solve(&part, last_bytes);
    }
    let natural = Shape { segment_slots: ranges.slots, ..last.shape };
    let threads = resources.threads().min(ranges.count as usize).max(1);
    let new = |_| BandingWorkspace::<E::Band, u32>::new(&natural, resources.kernel);
    let mut workspaces = (0..threads).map(new).collect::<Result<Vec<_>, _>>()?;
    let shards = segments(ranges, found, keys, others);
    let report = |number| progress.report(Phase::Solving, number as u64, ranges.count);
    for_each(&mut workspaces, shards, report, |workspace, shard| {
        let banded = workspace.band(shard.keys, ranges.seed)?;
        banded.ok_or(unsolvable(shard.keys.len(), ranges.slots))?;
        workspace.solve(|_| 0, &shard.layout, shard.bytes);
        Ok(())
    })
    .map(|_: Vec<()>| ())
}

/// The keys that did not fit a system, and its slots.
fn unsolvable(keys: usize, slots: u64) -> BuildError {
    BuildError::Unsolvable { keys: keys as u64, slots }
}

/// All shards but the last, each with its keys and bytes.
fn segments<'a>(
    ranges: &Ranges,
    found: &'a [Found],
    keys: &'a [Item<u64, ()>],
    mut bytes: &'a mut [u8],
) -> impl Iterator<Item = Segment<'a, ()>> + Send {
    let (all, slots) = (ranges.layout(), ranges.slots);
    (0..).zip(found.windows(2)).map(move |(shard, pair)| {
        let first_slot = shard * slots;
        let layout = all.part(first_slot, slots);
        let (mine, rest) =
            core::mem::take(&mut bytes).split_at_mut(layout.size_in_bytes() as usize);
        bytes = rest;
        let keys = &keys[pair[0].first_key..pair[1].first_key];
        Segment { number: shard, keys, first_slot, layout, bytes: mine }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::Kernel;
    use crate::plan::Limits;
    use crate::testing::Random;

    /// The error says how many keys do not fit how many slots, not numbers of something else.
    #[test]
    fn a_cell_that_fits_no_shard_is_named() {
        let mut random = Random(3);
        // All in the first cell, of which a shard of w = 32 has 256 slots.
        let keys: Keys = (0..1000).map(|_| (random.next() >> 12).into()).collect();
        let resources = Resources::new(Kernel::best(), Limits::default());
        let settings = Settings::default();
        let built = build(keys, Width::W32, &settings, resources, &mut Reporter::default());
        assert!(
            matches!(built, Err(BuildError::Unsolvable { keys: 1000, slots: 256 })),
            "{built:?}"
        );
    }
}
