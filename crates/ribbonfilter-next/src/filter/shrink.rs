//! Elasticity: a filter becomes smaller, or several, without its keys (paper, section 5.1).
//!
//! ```text
//! columns   0 1 2 3 4 5 6 7        shrink          0 1 2 3 4 (5)
//! block 0   # # # # # # # #       ------->         # # # # #
//! block 1   # # # # # # # #                        # # # # #
//! block 2   # # # # # # # #        split           # # # # #  #   <- boundary
//!           `--.--´ `--.--´       ------->   two filters of four columns each
//! ```
//!
//! Every column is a filter of its own with a rate of one half, so any of them may be left out: a
//! query compares fewer bits. Slots, seeds and codes do not depend on the columns, and the planner
//! turns a target into columns here as it does for a build. So a shrunk filter has the bytes of one
//! that was built for its target, unless the build was [`fast`](crate::FilterBuilder::fast): its
//! columns are whole.

use crate::Filter;
use crate::error::{Kind, ShrinkError};
use crate::format::{self, Content, Footer, Shape};
use crate::plan::Frame;
use crate::ribbon::system::System;
use crate::storage::bytes::OwnedBytes;
use alloc::vec::Vec;

/// How many times a smaller filter is made until it keeps its rate; nearly always once.
const TRIES: u32 = 8;

impl<D: AsRef<[u8]>> Filter<D> {
    /// The smallest filter of the same keys with at most this false-positive rate.
    ///
    /// Needs no keys and works on a view. The result has the bytes of a build for that rate.
    ///
    /// ```
    /// use ribbonfilter_next::Filter;
    ///
    /// let filter = Filter::build(0..10_000, 0.001)?;
    /// let smaller = filter.shrink_to_rate(0.05)?;
    /// assert!(smaller.expected_rate() <= 0.05);
    /// assert_eq!(smaller.as_bytes(), Filter::build(0..10_000, 0.05)?.as_bytes());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If the filter has a higher rate already, if the rate is not between 0 and 1, if the filter is
    /// corrupt, or if memory runs out.
    pub fn shrink_to_rate(&self, rate: f64) -> Result<Filter, ShrinkError> {
        if !(rate > 0.0 && rate < 1.0) {
            return Err(ShrinkError::InvalidRate { rate });
        }
        let whole = Whole::of(self)?;
        if whole.footer.keys == 0 {
            return whole.copy();
        }
        // The rate of a Bumped filter is known only after its columns are chosen: it depends on the
        // hashes that are bumped on either side of the boundary.
        let mut aim = rate;
        for _ in 0..TRIES {
            let planned = whole.frame().for_rate(aim).map(|plan| plan.shape());
            let Some(shape) = planned.ok().filter(|shape| whole.contains(shape)) else { break };
            let smaller = whole.columns_of_shape(0, shape)?;
            match smaller.expected_rate() {
                reached if reached <= rate => return Ok(smaller),
                missed => aim *= rate / missed,
            }
        }
        match self.expected_rate() {
            // The plan may have a column more in some starts than the rate needs: it is rounded.
            lowest if lowest <= rate => whole.copy(),
            lowest => Err(ShrinkError::RateTooLow { rate, lowest }),
        }
    }

    /// The filter of the same keys with the lowest false-positive rate that takes at most `bytes`
    /// bytes, including the footer.
    ///
    /// ```
    /// use ribbonfilter_next::Filter;
    ///
    /// let filter = Filter::build(0..10_000, 0.001)?;
    /// let smaller = filter.shrink_to_bytes(8192)?;
    /// assert!((8100..=8192).contains(&smaller.size_in_bytes()));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If the filter has fewer bytes already, if not even one column fits, if the filter is corrupt,
    /// or if memory runs out.
    pub fn shrink_to_bytes(&self, bytes: u64) -> Result<Filter, ShrinkError> {
        let whole = Whole::of(self)?;
        let size = whole.bytes.len() as u64;
        if bytes > size {
            return Err(ShrinkError::SizeTooLarge { bytes, size });
        }
        if bytes == size {
            return whole.copy();
        }
        let planned = whole.frame().for_bytes(bytes).map(|plan| plan.shape());
        match planned.ok().filter(|shape| whole.contains(shape)) {
            Some(shape) => whole.columns_of_shape(0, shape),
            None => Err(ShrinkError::SizeTooSmall { bytes, needed: whole.least_bytes() }),
        }
    }

    /// The filter of the same keys with this number of columns, to the nearest block: a rate of
    /// about `2^-columns`.
    ///
    /// ```
    /// use ribbonfilter_next::Filter;
    ///
    /// let filter = Filter::build(0..10_000, 0.001)?;
    /// assert!((filter.shrink_to_columns(4.5)?.columns() - 4.5).abs() < 0.01);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If the filter has fewer columns, if the filter is corrupt, or if memory runs out.
    pub fn shrink_to_columns(&self, columns: f64) -> Result<Filter, ShrinkError> {
        let whole = Whole::of(self)?;
        if whole.footer.keys == 0 && columns > 0.0 {
            return whole.copy();
        }
        let possible = columns > 0.0 && columns <= whole.footer.shape.first.columns.into();
        let planned = possible.then(|| whole.frame().for_columns(columns).shape());
        match planned.filter(|shape| whole.contains(shape)) {
            Some(shape) => whole.columns_of_shape(0, shape),
            None => Err(ShrinkError::InvalidColumns { columns, max: self.columns() }),
        }
    }

    /// Several smaller filters of the same keys, with this number of columns each, which together
    /// give the same result as this one: a key might be in the set if all of them contain it.
    ///
    /// An engine can keep more of them in memory for a table that is queried often. The product of
    /// their rates is the rate of the whole. If the filter has a fraction of a column, the last part
    /// has it, counted as one.
    ///
    /// ```
    /// use ribbonfilter_next::Filter;
    ///
    /// let mut builder = Filter::builder().columns(8.0);
    /// builder.extend(0..10_000);
    /// let parts = builder.finish()?.split_columns(&[3, 5])?;
    /// assert!(parts.iter().all(|part| part.contains(5)));
    /// assert_eq!([parts[0].columns(), parts[1].columns()], [3.0, 5.0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If the columns do not add up to those of the filter, if the filter is corrupt, or if memory
    /// runs out.
    pub fn split_columns(&self, columns: &[u32]) -> Result<Vec<Filter>, ShrinkError> {
        let whole = Whole::of(self)?;
        let all = whole.footer.shape;
        let requested = columns.iter().map(|&columns| u64::from(columns)).sum();
        if requested != u64::from(all.first.columns) || columns.contains(&0) {
            return Err(ShrinkError::WrongColumns { requested, columns: all.first.columns });
        }
        let mut end = 0;
        let parts = columns.iter().map(|&columns| {
            let first = end;
            end += columns;
            let part = |system: System| {
                let is_last = end == system.columns;
                System { columns, boundary: if is_last { system.boundary } else { 0 }, ..system }
            };
            let shape = Shape { first: part(all.first), second: all.second.map(part) };
            whole.columns_of_shape(first, shape)
        });
        parts.collect()
    }
}

/// A filter that is intact, to be made smaller.
struct Whole<'a> {
    bytes: &'a [u8],
    footer: Footer,
}

impl<'a> Whole<'a> {
    /// Checks everything: what is made of a corrupt filter would seem intact.
    fn of<D: AsRef<[u8]>>(filter: &'a Filter<D>) -> Result<Self, ShrinkError> {
        let bytes = filter.data.as_ref();
        // A foreign `AsRef` may have other bytes by now.
        if bytes.len() != filter.size_in_bytes() || format::verify(bytes, Kind::Filter).is_err() {
            return Err(ShrinkError::Corrupt);
        }
        let footer = Footer::read(bytes, Kind::Filter).map_err(|_| ShrinkError::Corrupt)?;
        Ok(Self { bytes, footer })
    }

    fn frame(&self) -> Frame {
        Frame::of(&self.footer.shape, self.footer.keys)
    }

    fn copy(&self) -> Result<Filter, ShrinkError> {
        self.columns_of_shape(0, self.footer.shape)
    }

    /// The bytes of the smallest filter with these slots that the planner allows.
    fn least_bytes(&self) -> u64 {
        self.frame().for_columns(1.0).size_in_bytes()
    }

    /// Whether no block of a shape with the same slots has more columns than it has here.
    fn contains(&self, shape: &Shape) -> bool {
        let within = |smaller: &System, all: &System| {
            smaller.columns < all.columns
                || smaller.columns == all.columns && smaller.boundary >= all.boundary
        };
        let Shape { first, second } = &self.footer.shape;
        within(&shape.first, first)
            && shape.second.iter().zip(second).all(|(shape, second)| within(shape, second))
    }

    /// The filter of a shape that [is contained](Self::contains), with the columns from `first` on.
    fn columns_of_shape(&self, first: u32, shape: Shape) -> Result<Filter, ShrinkError> {
        let mut smaller = OwnedBytes::allocate(shape.size_in_bytes())?;
        let all = &self.footer.shape;
        let systems =
            [Some((&all.first, &shape.first)), all.second.as_ref().zip(shape.second.as_ref())];
        let (mut from, mut to) = (self.bytes, smaller.as_mut());
        for (all, system) in systems.into_iter().flatten() {
            (from, to) = copy_columns((from, all), first as usize, (to, system));
        }
        // Codes and footers, of which the latter are overwritten.
        to.copy_from_slice(from);
        let first_column = self.footer.first_column() + first;
        let content = Content::Filter { first_column };
        Footer { shape, content, ..self.footer }.write(smaller.as_mut());
        Ok(Filter::open(smaller).expect("what was shrunk can be opened"))
    }
}

/// Copies the columns of a system, from `first` on, that a smaller one has. Returns what follows the
/// systems.
fn copy_columns<'f, 't>(
    (mut from, all): (&'f [u8], &System),
    first: usize,
    (mut to, system): (&'t mut [u8], &System),
) -> (&'f [u8], &'t mut [u8]) {
    // Blocks without a column take no bytes, so a footer can claim any number of them.
    let first_stored = if all.columns == 1 { all.boundary } else { 0 };
    for block in first_stored..all.blocks() {
        // The bytes of a column: fewer in a block that is trimmed.
        let width = all.mask(block).count_ones() as usize / 8;
        let (source, rest) = from.split_at(all.columns_of(block) as usize * width);
        let (target, left) = to.split_at_mut(system.columns_of(block) as usize * width);
        target.copy_from_slice(&source[first * width..][..target.len()]);
        (from, to) = (rest, left);
    }
    (from, to)
}
