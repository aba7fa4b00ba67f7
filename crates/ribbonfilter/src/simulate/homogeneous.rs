//! Homogeneous systems under one seed: their exact rates, and the span of their equations.

use super::mixed;
use crate::build::Item;
use crate::build::variant::{BandingWorkspace, SegmentRate};
use crate::kernel::Kernel;
use crate::ribbon::equation::{Seed, free_row, mix, seeded};
use crate::ribbon::layout::READ_AHEAD;
use crate::ribbon::shape::Shape;
use crate::ribbon::width::{Band, with_band};
use crate::{Variant, Width};
use alloc::vec;
use alloc::vec::Vec;

/// One homogeneous system under one seed.
#[derive(Clone, Copy, Debug)]
pub struct Instance {
    /// The exact rate over the nominal one.
    pub ratio: f64,
    /// The longest queue of starts.
    pub longest_queue: u32,
    /// Keys whose equation was redundant.
    pub redundant: u64,
}

/// Solves one homogeneous system and computes its exact rate.
pub fn homogeneous_instance(
    width: Width,
    slots: u64,
    smash: bool,
    columns: u32,
    key_hashes: impl Iterator<Item = u64>,
) -> Instance {
    fn run<B: Band>(shape: &Shape, keys: &[Item<u64, ()>]) -> Instance {
        let mut workspace = BandingWorkspace::<B, ()>::new(shape, Kernel::best()).expect("memory");
        let longest_queue = workspace.longest_queue(keys, 0, u32::MAX);
        let redundant = workspace.band(keys, 0).expect("memory").unwrap_or(0);
        let ratio = rate(&workspace, shape) / shape.nominal_rate().value();
        Instance { ratio, longest_queue, redundant }
    }
    let shape = shape(width, slots, smash, columns);
    with_band!(width, B => run::<B>(&shape, &mixed(key_hashes)))
}

/// The exact rates of one homogeneous system for several numbers of columns.
pub fn homogeneous_rates(
    width: Width,
    slots: u64,
    columns: &[u32],
    key_hashes: impl Iterator<Item = u64>,
) -> Vec<f64> {
    fn run<B: Band>(shape: &Shape, columns: &[u32], keys: &[Item<u64, ()>]) -> Vec<f64> {
        let workspace = banded::<B>(shape, keys);
        let of_columns = |&columns| rate(&workspace, &Shape { columns, ..*shape });
        columns.iter().map(of_columns).collect()
    }
    let shape = shape(width, slots, false, 1);
    with_band!(width, B => run::<B>(&shape, columns, &mixed(key_hashes)))
}

/// The exact rate of one homogeneous system, and the fraction of further keys, `probes`, whose
/// equations depend on those of the system: the two sides of the paper's Lemma 4.2.
pub fn rate_and_dependent_fraction(
    width: Width,
    slots: u64,
    columns: u32,
    key_hashes: impl Iterator<Item = u64>,
    probes: impl ExactSizeIterator<Item = u64>,
) -> (f64, f64) {
    fn run<B: Band>(
        shape: &Shape,
        keys: &[Item<u64, ()>],
        probes: impl ExactSizeIterator<Item = u64>,
    ) -> (f64, f64) {
        let mut workspace = banded::<B>(shape, keys);
        let rate = rate(&workspace, shape);
        let (count, starts) = (probes.len(), shape.starts());
        let dependent = probes.filter(|&key_hash| {
            let hash = seeded(mix(key_hash), Seed::new(0));
            let start = starts.start(hash);
            workspace.is_redundant(start as usize, starts.coefficients(hash, start))
        });
        (rate, dependent.count() as f64 / count as f64)
    }
    let shape = shape(width, slots, false, columns);
    with_band!(width, B => run::<B>(&shape, &mixed(key_hashes), probes))
}

fn shape(width: Width, slots: u64, smash: bool, columns: u32) -> Shape {
    let variant = Variant::Homogeneous;
    Shape { variant, width, smash, segment_slots: slots, columns, ..Shape::EMPTY }
}

fn banded<B: Band>(shape: &Shape, keys: &[Item<u64, ()>]) -> BandingWorkspace<B, ()> {
    let mut workspace = BandingWorkspace::new(shape, Kernel::best()).expect("memory");
    workspace.band(keys, 0).expect("memory");
    workspace
}

/// The exact rate of a system's solution with the columns of a shape.
fn rate<B: Band>(workspace: &BandingWorkspace<B, ()>, shape: &Shape) -> f64 {
    let layout = shape.layout();
    let mut bytes = vec![0; layout.size_in_bytes() as usize + READ_AHEAD];
    workspace.solve(|slot| free_row(slot).into(), &layout, &mut bytes);
    let rate = SegmentRate { shape, layout: &layout, bytes: &bytes };
    Kernel::best().run_scalar(rate).value()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Random;

    /// Lemma 4.2 of the paper: if one more key depends on the others with probability `p`, the rate
    /// is `p + (1 - p) 2^-r` on average over the seeds. The left side is the exact rate of the
    /// solution, the right side counts redundant insertions into the system before it is solved.
    ///
    /// Both sides are measured in the same systems, whose keys and probes are fixed. The average
    /// difference must be less than four of its standard errors, and the error less than 2 % of the
    /// rate (4 % in a debug build, which has fewer systems). So a deviation of 10 % would be seen.
    #[test]
    fn the_rate_is_that_of_dependent_and_other_keys() {
        let cases = [
            (Width::W16, 4, 0.25),
            (Width::W16, 8, 0.35),
            (Width::W32, 4, 0.10),
            (Width::W32, 8, 0.15),
            (Width::W64, 8, 0.06),
            (Width::W128, 8, 0.025),
        ];
        let (systems, precision) = if cfg!(debug_assertions) { (10, 0.04) } else { (40, 0.02) };
        let count = systems as f64;
        for (width, columns, extra) in cases {
            let nominal = libm::exp2(-f64::from(columns));
            let (mut rates, mut sum, mut squares) = (0.0, 0.0, 0.0);
            for seed in 0..systems {
                let (rate, dependent) = one_system(width, columns, extra, seed);
                let difference = rate - (dependent + (1.0 - dependent) * nominal);
                rates += rate / count;
                sum += difference;
                squares += difference * difference;
            }
            let mean = sum / count;
            let variance = (squares - sum * mean) / (count - 1.0);
            let error = libm::sqrt(variance / count);
            let case = (width, columns, rates, mean, error);
            assert!(mean.abs() < 4.0 * error, "{case:?}");
            assert!(error < precision * rates, "{case:?}");
            // Dependent keys are frequent enough here that the rate is not that of columns alone.
            assert!(rates > 1.2 * nominal, "{case:?}");
        }
    }

    /// The rate and the fraction of dependent probes of a system of 10,000 keys.
    fn one_system(width: Width, columns: u32, extra: f64, seed: u64) -> (f64, f64) {
        const KEYS: usize = 10_000;
        let slots = (KEYS as f64 * (1.0 + extra)) as u64;
        let mut random = Random(seed);
        let keys: Vec<u64> = (0..KEYS).map(|_| random.next()).collect();
        let probes = (0..3 * KEYS).map(|_| random.next());
        rate_and_dependent_fraction(width, slots, columns, keys.into_iter(), probes)
    }
}
