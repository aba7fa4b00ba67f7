//! Elasticity: a finished filter becomes smaller, or several, without its keys (paper,
//! section 5.1).
//!
//! ```text
//! columns   0 1 2 3 4 5 6 7        shrink          0 1 2 3 4 (5)
//! block 0   ▮ ▮ ▮ ▮ ▮ ▮ ▮ ▮       ------->         ▮ ▮ ▮ ▮ ▮
//! block 1   ▮ ▮ ▮ ▮ ▮ ▮ ▮ ▮                        ▮ ▮ ▮ ▮ ▮
//! block 2   ▮ ▮ ▮ ▮ ▮ ▮ ▮ ▮        split           ▮ ▮ ▮ ▮ ▮ ▮   <- boundary
//!           `--.--´ `--.--´       ------->   two filters of four columns each
//! ```
//!
//! Every column is a filter of its own with a rate of one half, so any of them may be left
//! out: a query compares fewer bits. Slots, seeds and locations do not depend on columns
//! in any variant but Homogeneous. In these variants a shrunk filter has the bytes of one built for its
//! size. A Homogeneous filter keeps the slots that its first columns needed, more than a
//! build for fewer would take. What its rate exceeds the nominal one by comes from few
//! crowded ranges, which all columns share: it stays while the nominal rate grows.

use crate::build::variant::exact_rate;
use crate::error::ShrinkError;
use crate::format::{self, Metadata};
use crate::plan::{Columns, Sketch, expected_rate};
use crate::ribbon::rate::with_collisions;
use crate::ribbon::shape::Shape;
use crate::storage::bytes::OwnedBytes;
use crate::{Filter, Variant};
use alloc::vec::Vec;

/// How often a Homogeneous filter is shrunk to a rate before a whole column more is kept.
const TRIES: u32 = 8;

impl<D: AsRef<[u8]>> Filter<D> {
    /// The smallest filter of the same keys with at most this false-positive rate.
    ///
    /// Needs no keys and works on a view. For every variant but Homogeneous the result has
    /// the very bytes of a build for that rate.
    ///
    /// ```
    /// use ribbonfilter::Filter;
    ///
    /// let filter = Filter::build(0..10_000, 0.001)?;
    /// let smaller = filter.shrink_to_rate(0.05)?;
    /// assert!(smaller.expected_rate() <= 0.05);
    /// assert_eq!(smaller.as_bytes(), Filter::build(0..10_000, 0.05)?.as_bytes());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If the filter has a higher rate already, if the rate is not between 0 and 1, if the
    /// filter is corrupt, or if memory runs out.
    pub fn shrink_to_rate(&self, rate: f64) -> Result<Filter, ShrinkError> {
        if !(rate > 0.0 && rate < 1.0) {
            return Err(ShrinkError::InvalidRate { rate });
        }
        let shape = self.footer().shape;
        let (mut aim, mut tried) = (rate, None);
        for more_blocks in (0..TRIES).map(|tries| 1 << tries) {
            let chosen = Columns::for_rate(aim, shape.columns, |columns| self.sketch(columns)).ok();
            // The rate may be missed by so little that the new aim results in the same columns.
            let blocks = shape.layout().blocks();
            let more = tried.map(|tried: Columns| tried.and_blocks(more_blocks, blocks));
            let chosen = chosen.map(|chosen| more.map_or(chosen, |more| chosen.or_more(more)));
            let Some(columns) = chosen.filter(|&columns| is_within(columns, &shape)) else {
                break;
            };
            let smaller = self.with_columns(columns)?;
            if smaller.expected_rate() <= rate {
                return Ok(smaller);
            }
            // The rate of a Homogeneous filter is known only after it is made.
            aim *= rate / smaller.expected_rate();
            tried = Some(columns);
        }
        match self.expected_rate() {
            // With fewer columns it would be higher, or there are none.
            lowest if lowest <= rate => self.with_columns(columns_of(&shape)),
            lowest => Err(ShrinkError::RateTooLow { rate, lowest }),
        }
    }

    /// The filter of the same keys with the lowest false-positive rate that takes at most
    /// `bytes` bytes, including the footer.
    ///
    /// ```
    /// use ribbonfilter::Filter;
    ///
    /// let filter = Filter::build(0..10_000, 0.001)?;
    /// let smaller = filter.shrink_to_bytes(8192)?;
    /// assert!((8100..=8192).contains(&smaller.size_in_bytes()));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If the filter has fewer bytes already, if not even one block of one column fits, if
    /// the filter is corrupt, or if memory runs out.
    pub fn shrink_to_bytes(&self, bytes: u64) -> Result<Filter, ShrinkError> {
        let (shape, size) = (self.footer().shape, self.size_in_bytes() as u64);
        if bytes > size {
            return Err(ShrinkError::SizeTooLarge { bytes, size });
        }
        if bytes == size {
            return self.with_columns(columns_of(&shape));
        }
        let boundary = shape.layout().blocks().saturating_sub(1);
        let min = Columns { max: shape.columns.min(1), boundary };
        let max = shape.columns.max(1);
        match Columns::for_bytes(bytes, min, max, |columns| self.sketch(columns)) {
            Ok(columns) => self.with_columns(columns),
            Err(needed) => Err(ShrinkError::SizeTooSmall { bytes, needed }),
        }
    }

    /// The filter of the same keys with this number of columns, to the nearest block: a rate of
    /// about `2^-columns`.
    ///
    /// ```
    /// use ribbonfilter::Filter;
    ///
    /// let filter = Filter::build(0..10_000, 0.001)?;
    /// assert!((filter.shrink_to_columns(4.5)?.columns() - 4.5).abs() < 0.01);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If the filter has fewer columns, if the filter is corrupt, or if memory runs out.
    pub fn shrink_to_columns(&self, columns: f64) -> Result<Filter, ShrinkError> {
        let shape = self.footer().shape;
        let invalid = ShrinkError::InvalidColumns { columns, max: self.columns() };
        if self.is_empty() && columns > 0.0 {
            return self.with_columns(columns_of(&shape));
        }
        if !(columns > 0.0 && columns <= shape.columns.into()) {
            return Err(invalid);
        }
        let nearest = Columns::nearest(columns, |columns| self.sketch(columns));
        if !is_within(nearest, &shape) {
            return Err(invalid);
        }
        self.with_columns(nearest)
    }

    /// Several smaller filters of the same keys, with this number of columns each, which
    /// together give the same result as this one: a key might be in the set if all of them contain it.
    ///
    /// An engine can keep more of them in memory for a table that is queried often. The product of
    /// their rates is the rate of the whole; for a Homogeneous filter it is a little less than that,
    /// because all its columns have their highest rates in the same few ranges of slots. If the filter has a fraction
    /// of a column, the last part has it, counted as one.
    ///
    /// ```
    /// use ribbonfilter::Filter;
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
    /// If the columns do not add up to those of the filter, if the filter is corrupt, or if
    /// memory runs out.
    pub fn split_columns(&self, columns: &[u32]) -> Result<Vec<Filter>, ShrinkError> {
        let shape = self.footer().shape;
        let requested = columns.iter().map(|&columns| u64::from(columns)).sum();
        if requested != u64::from(shape.columns) || columns.contains(&0) {
            return Err(ShrinkError::WrongColumns { requested, columns: shape.columns });
        }
        let mut first = 0;
        let parts = columns.iter().map(|&max| {
            let begin = first;
            first += max;
            let boundary = if first == shape.columns { shape.boundary } else { 0 };
            self.some_columns(begin, Columns { max, boundary })
        });
        parts.collect()
    }

    /// The shape and rate with the given columns.
    fn sketch(&self, columns: Columns) -> Sketch {
        let shape = of_columns(&self.footer().shape, columns);
        // What exceeds the nominal rate stays; for most variants it is nothing.
        let excess = self.footer().rate() - self.footer().shape.nominal_rate().value();
        let rate = with_collisions(expected_rate(&shape, 1.0) + excess, self.len());
        Sketch { shape, rate }
    }

    fn with_columns(&self, columns: Columns) -> Result<Filter, ShrinkError> {
        self.some_columns(0, columns)
    }

    /// The filter of some of the columns, from `first` on.
    fn some_columns(&self, first: u32, columns: Columns) -> Result<Filter, ShrinkError> {
        let (from, all) = (self.whole_bytes()?, self.footer());
        let shape = of_columns(&all.shape, columns);
        let mut smaller = OwnedBytes::allocate(shape.data_bytes() + format::FOOTER_BYTES as u64)?;
        let to = smaller.as_mut();
        all.shape.layout().copy_columns(from, first as usize, &shape.layout(), to);
        let homogeneous = shape.variant == Variant::Homogeneous && !self.is_empty();
        let rate = homogeneous.then(|| exact_rate(&shape, to).value());
        let footer = all.of_columns(shape, all.first_column() + first, rate);
        format::finish(to, &footer, &Metadata::Bytes(format::metadata(from, &all)));
        Ok(Filter::open(smaller).expect("what was shrunk can be opened"))
    }
}

fn columns_of(shape: &Shape) -> Columns {
    Columns { max: shape.columns, boundary: shape.boundary }
}

fn of_columns(shape: &Shape, columns: Columns) -> Shape {
    Shape { columns: columns.max, boundary: columns.boundary, ..*shape }
}

/// Whether no block would have more columns than it has.
fn is_within(columns: Columns, shape: &Shape) -> bool {
    columns.max < shape.columns
        || columns.max == shape.columns && columns.boundary >= shape.boundary
}
