//! The fast way: a class at once, by byte planes.

use super::System;
use super::window::Class;
use crate::Width;
use crate::arch::{Eliminator, Instructions, MOST_LANES, Planes};
use crate::construct::{Goal, Item};
use crate::equation::{Seeded, Starts};
use crate::error::OutOfMemory;
use crate::layers::Buckets;
use crate::layout::Layout;
use crate::memory::try_reserve;
use crate::width::Band;
use alloc::vec::Vec;
use core::marker::PhantomData;

/// A system into which classes go by planes.
pub(super) struct ByPlanes<B, R: Goal> {
    starts: Starts,
    planes: Planes,
    /// A class without its duplicates.
    distinct: Vec<(u32, Item<Seeded, R::Value>)>,
    types: PhantomData<(B, R)>,
}

/// More keys than a class has starts, and a width more, are never independent, so that a class
/// that is too large for the lanes does not fit anyway.
const _: () = {
    let mut width = 0;
    while width < Width::ALL.len() {
        let Buckets { log, thresholds } = Buckets::of(Width::ALL[width]);
        let mut upper = 1 << log;
        let mut class = 0;
        while class < thresholds.len() {
            let rows = upper - thresholds[class] + Width::ALL[width].bits() - 1;
            assert!(rows as usize <= MOST_LANES);
            upper = thresholds[class];
            class += 1;
        }
        width += 1;
    }
};

impl<B: Band, R: Goal> System for ByPlanes<B, R> {
    type Value = R::Value;
    type Means = Eliminator;

    fn new(
        means: Eliminator,
        slots: u64,
        starts: Starts,
        columns: usize,
    ) -> Result<Self, OutOfMemory> {
        let planes = Planes::new(means, B::WIDTH, size_of::<R>(), slots, columns)?;
        Ok(Self { starts, planes, distinct: Vec::new(), types: PhantomData })
    }

    fn clear(&mut self) {
        self.planes.clear();
    }

    #[inline(always)]
    fn insert<I: Instructions>(
        &mut self,
        _: I,
        class: Class<'_, R::Value>,
    ) -> Result<Option<usize>, OutOfMemory> {
        let keys = class.starts.len();
        if keys <= MOST_LANES {
            let keys_of_class = class.starts.iter().copied().zip(class.items.iter().copied());
            if self.eliminate(keys_of_class) {
                return Ok(Some(keys));
            }
            // Most often it does not fit, but it may only be that a key is there twice.
            if class.duplicates() == 0 {
                return Ok(None);
            }
        }
        self.insert_distinct(class)
    }

    #[inline(always)]
    fn solve<I: Instructions>(&self, _: I, layout: &Layout, bytes: &mut [u8]) {
        self.planes.solve(layout, bytes);
    }
}

impl<B: Band, R: Goal> ByPlanes<B, R> {
    /// Makes rows of some keys, in the order of their starts, if they are independent.
    #[inline(always)]
    fn eliminate(
        &mut self,
        keys: impl ExactSizeIterator<Item = (u32, Item<Seeded, R::Value>)>,
    ) -> bool {
        let starts = self.starts;
        let lanes = keys.len();
        let equations = keys.map(|(start, item)| {
            let coefficients: B = starts.coefficients(item.hash);
            (start, coefficients.cyclic(start).to_words(), R::of(item).bits())
        });
        self.planes.fill(lanes, equations);
        self.planes.eliminate()
    }

    /// The same for a class with duplicates, which say nothing new.
    #[cold]
    #[inline(never)]
    fn insert_distinct(
        &mut self,
        class: Class<'_, R::Value>,
    ) -> Result<Option<usize>, OutOfMemory> {
        let mut distinct = core::mem::take(&mut self.distinct);
        distinct.clear();
        try_reserve(&mut distinct, class.starts.len())?;
        distinct.extend(class.starts.iter().copied().zip(class.items.iter().copied()));
        distinct.sort_unstable();
        distinct.dedup();
        let fits = distinct.len() <= MOST_LANES && self.eliminate(distinct.iter().copied());
        let filled = fits.then_some(distinct.len());
        self.distinct = distinct;
        Ok(filled)
    }
}
