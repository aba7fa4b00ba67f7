//! Turns the number of keys and one target into a plan, before any work is done.
//!
//! The planner chooses variant, width and slots from the number of keys, then turns the target into
//! columns: a rate becomes the minimum number of columns that reach it, a size the maximum number
//! that fit, in steps of one block of one column. The slots of a Standard filter never depend on
//! the columns, so its columns are a prefix of those of any filter with more columns.
//!
//! Every number that influences bytes is computed with integer arithmetic or `libm`, and is the
//! same on every target. All borders between regimes are powers of two, so that within an octave of
//! keys the size grows with the keys and [`Settings::max_keys`] can use binary search.

mod balanced;
mod bumped;
mod columns;
mod effort;
mod frame;
mod homogeneous;
mod memory;
mod settings;
mod standard;

pub use effort::Effort;

pub(crate) use columns::{Columns, Sketch};
pub(crate) use frame::expected_rate;
pub(crate) use memory::{Limits, Runs, Schedule};
pub(crate) use settings::{Settings, Target};
#[cfg(any(test, feature = "internals"))]
pub(crate) use standard::overhead as standard_overhead;
pub(crate) use standard::queue_limit as standard_queue_limit;

use crate::format::{Content, FOOTER_BYTES};
use crate::ribbon::rate::with_collisions;
use crate::ribbon::shape::Shape;
use crate::{Variant, Width};

/// The properties of a filter, known before any work is done.
///
/// ```
/// use ribbonfilter::Filter;
///
/// let plan = Filter::builder().false_positive_rate(0.01).plan_for(1_000_000)?;
/// assert!(plan.expected_rate() <= 0.01);
/// assert!(plan.size_in_bytes() < 900_000); // a Bloom filter takes 1,200,000
/// println!(
///     "{} w = {}: {} bytes, {} to build it",
///     plan.variant(), plan.width(), plan.size_in_bytes(), plan.peak_memory(),
/// );
/// # Ok::<(), ribbonfilter::BuildError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plan {
    pub(crate) shape: Shape,
    pub(crate) content: Content,
    /// The rate that the solution should not exceed, without equal hashes of different keys.
    pub(crate) solution_rate: f64,
    /// Seeds whose longest queue of starts exceeds this are not solved.
    pub(crate) queue_limit: Option<u32>,
    /// Expected number of redundant equations among distinct keys.
    pub(crate) expected_redundant: u64,
    keys: u64,
    limits: Limits,
}

impl Plan {
    /// The number of keys planned for.
    ///
    /// ```
    /// # let plan = ribbonfilter::Filter::builder().plan_for(1000)?;
    /// assert_eq!(plan.keys(), 1000);
    /// # Ok::<(), ribbonfilter::BuildError>(())
    /// ```
    pub fn keys(&self) -> u64 {
        self.keys
    }

    /// The variant.
    ///
    /// ```
    /// # use ribbonfilter::{Filter, Variant};
    /// let plan = Filter::builder().variant(Variant::Homogeneous).plan_for(1000)?;
    /// assert_eq!(plan.variant(), Variant::Homogeneous);
    /// # Ok::<(), ribbonfilter::BuildError>(())
    /// ```
    pub fn variant(&self) -> Variant {
        self.shape.variant
    }

    /// The ribbon width.
    ///
    /// ```
    /// # use ribbonfilter::{Filter, Width};
    /// let plan = Filter::builder().width(Width::W64).plan_for(1000)?;
    /// assert_eq!(plan.width(), Width::W64);
    /// # Ok::<(), ribbonfilter::BuildError>(())
    /// ```
    pub fn width(&self) -> Width {
        self.shape.width
    }

    /// The average number of columns: the bits that a query compares.
    ///
    /// ```
    /// # let plan = ribbonfilter::Filter::builder().columns(7.5).plan_for(100_000)?;
    /// assert!((plan.columns() - 7.5).abs() < 0.001);
    /// # Ok::<(), ribbonfilter::BuildError>(())
    /// ```
    pub fn columns(&self) -> f64 {
        self.shape.mean_columns()
    }

    /// The number of slots of the system. Each key takes one.
    ///
    /// ```
    /// # let plan = ribbonfilter::Filter::builder().plan_for(1000)?;
    /// assert!((1000..1010).contains(&plan.slots()));
    /// # Ok::<(), ribbonfilter::BuildError>(())
    /// ```
    pub fn slots(&self) -> u64 {
        self.shape.slots()
    }

    /// The number of independent segments of the system.
    ///
    /// ```
    /// # let plan = ribbonfilter::Filter::builder().plan_for(1000)?;
    /// assert_eq!(plan.segments(), 1);
    /// # Ok::<(), ribbonfilter::BuildError>(())
    /// ```
    pub fn segments(&self) -> u64 {
        self.shape.segments()
    }

    /// The false-positive rate of the filter.
    ///
    /// That of a Standard, Balanced or Bumped filter is at most this, unless the build needs more
    /// slots than planned and the target is a size: then the rate is higher. That of a Homogeneous
    /// filter is at most this, unless none of sixteen solutions reaches it: then the best of them
    /// is used. In both cases, [`Filter::expected_rate`](crate::Filter::expected_rate) reports the
    /// higher rate. The rate includes the probability of `n / 2^64` that the hash of an absent key
    /// is that of one of `n` keys.
    ///
    /// ```
    /// # let plan = ribbonfilter::Filter::builder().false_positive_rate(0.05).plan_for(1000)?;
    /// assert!(plan.expected_rate() <= 0.05);
    /// # Ok::<(), ribbonfilter::BuildError>(())
    /// ```
    pub fn expected_rate(&self) -> f64 {
        with_collisions(self.solution_rate, self.keys)
    }

    /// The expected number of seeds that a segment of the system tries, on average. Each costs at
    /// most the time of one solution, and less if it is ruled out early.
    ///
    /// ```
    /// # use ribbonfilter::{Effort, Filter};
    /// assert!(Filter::builder().plan_for(1000)?.expected_solutions() < 1.2);
    /// let thorough = Filter::builder().effort(Effort::Thorough);
    /// assert!(thorough.plan_for(1000)?.expected_solutions() > 1.5);
    /// # Ok::<(), ribbonfilter::BuildError>(())
    /// ```
    pub fn expected_solutions(&self) -> f64 {
        match self.shape.variant {
            Variant::Standard => standard::expected_seeds(self.keys, &self.shape),
            // One pass, except for at most one build in ten.
            Variant::Homogeneous | Variant::Balanced | Variant::Bumped => 1.0,
        }
    }

    /// The size of the filter in bytes, including the footer.
    ///
    /// ```
    /// # use ribbonfilter::Filter;
    /// let mut builder = Filter::builder();
    /// builder.extend(0..1000);
    /// let planned = builder.plan()?.size_in_bytes();
    /// assert_eq!(builder.finish()?.size_in_bytes() as u64, planned);
    /// # Ok::<(), ribbonfilter::BuildError>(())
    /// ```
    pub fn size_in_bytes(&self) -> u64 {
        self.shape.data_bytes() + FOOTER_BYTES as u64
    }

    /// All stored bits divided by the number of keys; infinite without keys.
    ///
    /// ```
    /// # let plan = ribbonfilter::Filter::builder().columns(8.0).plan_for(100_000)?;
    /// assert!((8.0..8.2).contains(&plan.bits_per_key()));
    /// # Ok::<(), ribbonfilter::BuildError>(())
    /// ```
    pub fn bits_per_key(&self) -> f64 {
        self.size_in_bytes() as f64 * 8.0 / self.keys as f64
    }
}

#[cfg(test)]
mod tests;
