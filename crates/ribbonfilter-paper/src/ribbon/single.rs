//! One system (paper, sections 3 to 5): Standard, with fingerprints or values, and Homogeneous,
//! without.

use super::{Item, Located, starts};
use crate::banding::{Banding, RightSide};
use crate::hash::{Seeded, free_row};
use crate::width::Word;
use crate::{Error, Layout, Solution, Starts, Width, slots};

/// Seeds that are tried with the same slots. At the planned number of slots one in twenty fails.
pub(crate) const SEEDS: u8 = 8;
/// How often a system is enlarged: the narrowest becomes 40 times as large, the widest twice.
pub(crate) const ENLARGEMENTS: u32 = 60;

/// One solved system.
#[derive(Clone, Debug, PartialEq)]
pub struct Single {
    seed: u8,
    smash: u64,
    solution: Solution,
}

impl Single {
    /// The system of no keys.
    pub(crate) fn empty(width: Width) -> Self {
        let solution = Solution::from_bytes(Layout::new(width, 0, 1.0), Vec::new());
        Self { seed: 0, smash: 0, solution: solution.expect("no bytes for no slots") }
    }

    /// A Standard system: another seed if construction fails, and more slots after several seeds
    /// (section 5.3).
    pub(crate) fn standard<W: Word, R: RightSide>(
        items: &[Item<R>],
        slots: u64,
        smash: u64,
        columns: f64,
    ) -> Result<Self, Error> {
        let (seed, banding) = first_seed(items.len(), slots, W::WIDTH, |banding, seed| {
            let starts = Starts::new(banding.slots(), W::WIDTH, smash);
            banding.insert_all(equations::<W, R>(items, starts, seed))
        })?;
        Ok(Self { seed, smash, solution: Solution::of(&banding, columns, |_| 0) })
    }

    /// A Homogeneous system: there is always a solution, and free variables are pseudo-random, so
    /// that it is not zero (section 4).
    pub(crate) fn homogeneous<W: Word, R: RightSide>(
        items: &[Item<R>],
        slots: u64,
        smash: u64,
        columns: f64,
    ) -> Self {
        let mut banding = Banding::<W, ()>::new(slots);
        let starts = Starts::new(slots, W::WIDTH, smash);
        banding.insert_all(items.iter().map(|item| {
            let seeded = Seeded::new(item.hash, 0);
            Item { hash: item.hash, value: () }.equation(starts.of(seeded.0), seeded)
        }));
        Self { seed: 0, smash, solution: Solution::of(&banding, columns, free_row) }
    }

    /// The system with these fields.
    pub(crate) fn from_fields(seed: u8, smash: u64, solution: Solution) -> Self {
        Self { seed, smash, solution }
    }

    pub(super) fn locate(&self, hash: u64) -> Option<Located<'_>> {
        if self.solution.layout().slots() == 0 {
            return None;
        }
        let (start, seeded) = self.start(hash);
        Some(Located { solution: &self.solution, start, seeded })
    }

    /// The start of a key. There must be a slot.
    pub fn start(&self, hash: u64) -> (u64, Seeded) {
        let seeded = Seeded::new(hash, self.seed);
        (self.starts().of(seeded.0), seeded)
    }

    /// The starts of the system. There must be a slot.
    pub fn starts(&self) -> Starts {
        starts(&self.solution, self.smash)
    }

    /// The solution.
    pub fn solution(&self) -> &Solution {
        &self.solution
    }

    /// The seed that worked.
    pub fn seed(&self) -> u8 {
        self.seed
    }

    /// The smash value.
    pub fn smash(&self) -> u64 {
        self.smash
    }

    pub(super) fn with_solution(&self, new: impl Fn(&Solution) -> Solution) -> Self {
        Self { solution: new(&self.solution), ..*self }
    }
}

/// The equations of keys under one seed.
fn equations<W: Word, R: RightSide>(
    items: &[Item<R>],
    starts: Starts,
    seed: u8,
) -> impl Iterator<Item = crate::banding::Equation<W, R>> {
    items.iter().map(move |item| {
        let seeded = Seeded::new(item.hash, seed);
        item.equation(starts.of(seeded.0), seeded)
    })
}

/// Tries seeds, then more slots, until `fill` succeeds. Returns the seed and the system.
pub(super) fn first_seed<W: Word, R: RightSide>(
    keys: usize,
    mut slots: u64,
    width: Width,
    mut fill: impl FnMut(&mut Banding<W, R>, u8) -> bool,
) -> Result<(u8, Banding<W, R>), Error> {
    for _ in 0..=ENLARGEMENTS {
        let mut banding = Banding::new(slots);
        for seed in 0..SEEDS {
            if fill(&mut banding, seed) {
                return Ok((seed, banding));
            }
            banding.clear();
        }
        slots = slots::enlarged(slots, width);
    }
    Err(Error::Unsolvable { keys: keys as u64, slots })
}
