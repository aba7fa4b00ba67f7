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
mod homogeneous;
mod memory;
mod standard;

pub use effort::Effort;

pub(crate) use columns::{Columns, Sketch};
pub(crate) use memory::{Means, Runs, Schedule};
pub(crate) use standard::overhead as standard_overhead;
pub(crate) use standard::queue_limit as standard_queue_limit;

use crate::error::BuildError;
use crate::format::{Content, FOOTER_BYTES, MAX_BLOCKS, MAX_KEYS, MAX_SEGMENT_BITS};
use crate::ribbon::equation::{Balance, FINGERPRINT_BITS};
use crate::ribbon::layers::Further;
use crate::ribbon::layout::{MAX_COLUMNS, Order};
use crate::ribbon::search::partition_point;
use crate::ribbon::shape::Shape;
use crate::{Variant, Width};

/// From this number of keys on, a Bumped filter of width 64 is built faster than a Standard one and
/// is hardly larger.
const MEDIUM: u64 = 1 << 14;

/// From this number of keys on, a Bumped filter of width 128 is the smallest.
const LARGE: u64 = 1 << 15;

/// What the filter or function is planned for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Target {
    Rate(f64),
    Columns(f64),
    BitsPerKey(f64),
    TotalBytes(u64),
    /// The bits of a function's values and fingerprints.
    Bits {
        value: u32,
        fingerprint: u32,
    },
}

/// The user's settings. The planner chooses the rest.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Settings {
    pub(crate) target: Target,
    pub(crate) variant: Option<Variant>,
    pub(crate) width: Option<Width>,
    pub(crate) overhead: f64,
    pub(crate) effort: Effort,
    pub(crate) key_seed: u64,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            target: Target::Rate(0.01),
            variant: None,
            width: None,
            overhead: 0.0,
            effort: Effort::default(),
            key_seed: 0,
        }
    }
}

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
    pub(crate) expected_rate: f64,
    /// Seeds whose longest queue of starts exceeds this are not solved.
    pub(crate) queue_limit: Option<u32>,
    /// Expected number of redundant equations among distinct keys.
    pub(crate) expected_redundant: u64,
    keys: u64,
    means: Means,
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

    /// The maximum false-positive rate of the filter.
    ///
    /// ```
    /// # let plan = ribbonfilter::Filter::builder().false_positive_rate(0.05).plan_for(1000)?;
    /// assert!(plan.expected_rate() <= 0.05);
    /// # Ok::<(), ribbonfilter::BuildError>(())
    /// ```
    pub fn expected_rate(&self) -> f64 {
        self.expected_rate
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

impl Settings {
    /// The plan for `keys` keys, with its slots increased `growth` times.
    pub(crate) fn plan(&self, keys: u64, growth: u32) -> Result<Plan, BuildError> {
        self.check()?;
        let (variant, width) = self.choose(keys);
        let Self { overhead, effort, .. } = *self;
        let mut frame = Frame { variant, width, keys, overhead, effort, growth, system: None };
        if keys == 0 {
            return self.empty(&frame);
        }
        frame.check_suitable()?;
        // Only the system of a Homogeneous ribbon depends on the columns, which are not yet known.
        if variant != Variant::Homogeneous {
            frame.system = Some(frame.system(0));
        }
        self.spend(&frame)
    }

    /// The maximum number of keys whose filter takes at most `bytes` bytes.
    pub(crate) fn max_keys(&self, bytes: u64) -> Result<u64, BuildError> {
        self.check()?;
        // For few keys a target of bits per key is too small, because of the footer. That is no
        // reason to search for fewer keys.
        let fits = |keys| match self.plan(keys, 0) {
            Ok(plan) => plan.size_in_bytes() <= bytes,
            Err(error) => matches!(error, BuildError::SizeTooSmall { .. }),
        };
        let mut octaves = (0..=MAX_KEYS.ilog2()).rev();
        let Some(octave) = octaves.find(|&octave| fits(1 << octave)) else {
            return Ok(0);
        };
        let end = (2 << octave).min(MAX_KEYS + 1) - (1 << octave);
        let max = (1 << octave) + partition_point(end, |more| fits((1 << octave) + more)) - 1;
        Ok(if self.plan(max, 0).is_ok() { max } else { 0 })
    }

    fn check(&self) -> Result<(), BuildError> {
        match self.target {
            Target::Rate(rate) if !(rate > 0.0 && rate < 1.0) => {
                return Err(BuildError::InvalidRate { rate });
            }
            Target::Columns(columns) if !(columns > 0.0 && columns <= FINGERPRINT_BITS.into()) => {
                return Err(BuildError::InvalidColumns { columns, max: FINGERPRINT_BITS });
            }
            Target::BitsPerKey(bits_per_key) if !(bits_per_key > 0.0 && bits_per_key < 1e6) => {
                return Err(BuildError::InvalidBitsPerKey { bits_per_key });
            }
            Target::Bits { value, fingerprint } => check_bits(value, fingerprint, self.variant)?,
            _ => {}
        }
        if !(0.0..=100.0).contains(&self.overhead) {
            return Err(BuildError::InvalidOverhead { overhead: self.overhead });
        }
        Ok(())
    }

    /// The user's choice, or the smallest variant for the effort: Standard for small sets, Bumped
    /// for others (`docs/choosing.md`).
    fn choose(&self, keys: u64) -> (Variant, Width) {
        let few = match self.effort {
            Effort::Normal => MEDIUM,
            Effort::Thorough => LARGE,
        };
        let small = keys < few || self.width == Some(Width::W16);
        let smallest = if small { Variant::Standard } else { Variant::Bumped };
        let variant = self.variant.unwrap_or(smallest);
        let width = self.width.unwrap_or(match variant {
            Variant::Bumped if self.effort == Effort::Normal && (few..LARGE).contains(&keys) => {
                Width::W64
            }
            Variant::Standard | Variant::Bumped => Width::W128,
            Variant::Homogeneous | Variant::Balanced => Width::W64,
        });
        (variant, width)
    }

    /// The plan without keys and slots: every query returns `false`.
    fn empty(&self, frame: &Frame) -> Result<Plan, BuildError> {
        let needed = FOOTER_BYTES as u64;
        match self.target {
            Target::TotalBytes(bytes) if bytes < needed => {
                Err(BuildError::SizeTooSmall { bytes, needed, keys: 0 })
            }
            _ => Ok(Plan {
                shape: Shape {
                    variant: frame.variant,
                    width: frame.width,
                    columns: match self.target {
                        Target::Bits { value, fingerprint } => value + fingerprint,
                        _ => 0,
                    },
                    ..Shape::EMPTY
                },
                content: self.content(),
                expected_rate: 0.0,
                queue_limit: None,
                expected_redundant: 0,
                keys: 0,
                means: Means::default(),
            }),
        }
    }

    fn content(&self) -> Content {
        match self.target {
            Target::Bits { fingerprint, .. } => Content::Function { fingerprint_bits: fingerprint },
            _ => Content::Filter { first_column: 0 },
        }
    }

    /// Turns the target into columns.
    fn spend(&self, frame: &Frame) -> Result<Plan, BuildError> {
        match self.target {
            Target::Rate(rate) => frame.for_rate(rate),
            Target::Columns(columns) => frame.for_columns(columns),
            Target::BitsPerKey(bits) => frame.for_bytes((frame.keys as f64 * bits / 8.0) as u64),
            Target::TotalBytes(bytes) => frame.for_bytes(bytes),
            Target::Bits { value, fingerprint } => Ok(frame.for_bits(value, fingerprint)),
        }
    }
}

/// All choices that precede the columns.
#[derive(Clone, Copy, Debug)]
struct Frame {
    variant: Variant,
    width: Width,
    keys: u64,
    overhead: f64,
    effort: Effort,
    growth: u32,
    /// The system, if it is already known.
    system: Option<System>,
}

impl Frame {
    fn max_columns(&self) -> u32 {
        match self.variant {
            Variant::Standard | Variant::Balanced | Variant::Bumped => FINGERPRINT_BITS,
            Variant::Homogeneous => homogeneous::max_columns(self.width),
        }
    }

    /// Returns an error if the width is not suitable for the number of keys.
    fn check_suitable(&self) -> Result<(), BuildError> {
        let max = match self.variant {
            Variant::Standard => standard::max_keys(self.width),
            Variant::Homogeneous => u64::MAX,
            Variant::Balanced => balanced::max_keys(self.width),
            Variant::Bumped => bumped::max_keys(self.width),
        };
        if self.keys > max {
            let Self { variant, width, keys, .. } = *self;
            return Err(BuildError::Unsuitable { variant, width, keys, instead: Width::W128 });
        }
        if self.keys > self.max_keys() {
            return Err(BuildError::TooManyKeys { keys: self.keys, max: self.max_keys() });
        }
        Ok(())
    }

    /// The maximum number of keys that the format can hold in segments of the usual size, with the
    /// requested overhead.
    fn max_keys(&self) -> u64 {
        let segment_log = match self.variant {
            Variant::Standard => standard::segment_log(self.width),
            Variant::Homogeneous => homogeneous::SEGMENT_LOG,
            Variant::Balanced => balanced::segment_log(self.width),
            Variant::Bumped => bumped::segment_log(self.width),
        };
        let by_segments = match 1u64.checked_shl(MAX_SEGMENT_BITS + 1 + segment_log) {
            Some(too_many) => too_many - 1,
            None => u64::MAX,
        };
        // Without a requested overhead, every plan takes fewer than two slots per key.
        let slots = (MAX_BLOCKS * u64::from(self.width.block_slots())) as f64;
        let by_blocks = (slots / (2.0 + self.overhead)) as u64;
        MAX_KEYS.min(by_segments).min(by_blocks)
    }

    /// The plan with the minimum number of columns that guarantee a rate.
    fn for_rate(&self, rate: f64) -> Result<Plan, BuildError> {
        match Columns::for_rate(rate, self.max_columns(), |columns| self.sketch(columns)) {
            Ok(columns) => Ok(self.with(columns)),
            Err(lowest) => Err(BuildError::RateTooLow { rate, lowest }),
        }
    }

    /// The plan with the requested number of columns, to the nearest block.
    fn for_columns(&self, columns: f64) -> Result<Plan, BuildError> {
        if columns > self.max_columns().into() {
            return Err(BuildError::InvalidColumns { columns, max: self.max_columns() });
        }
        let mut frame = *self;
        // Only here is a fraction known in advance. Elsewhere slots are planned for the next
        // integer, so that the size grows with the keys.
        if self.variant == Variant::Homogeneous {
            frame.system = Some(homogeneous::system(self.keys, self.width, columns));
        }
        Ok(frame.with(Columns::nearest(columns, |columns| frame.sketch(columns))))
    }

    /// The plan with the lowest rate that fits `bytes` bytes.
    fn for_bytes(&self, bytes: u64) -> Result<Plan, BuildError> {
        // Fewer than one column in every block would hardly be a filter.
        let (min, max) = (Columns::whole(1), self.max_columns());
        // Every key has a slot of its own, so more columns than this do not fit.
        let max = max.min(
            u32::try_from(bytes.saturating_mul(8) / self.keys).unwrap_or(max).saturating_add(2),
        );
        match Columns::for_bytes(bytes, min, max, |columns| self.sketch(columns)) {
            Ok(columns) => Ok(self.with(columns)),
            Err(needed) => Err(BuildError::SizeTooSmall { bytes, needed, keys: self.keys }),
        }
    }

    /// The plan of a function with the given numbers of bits. A key that is not in the function is
    /// found with the probability that its fingerprint matches.
    fn for_bits(&self, value: u32, fingerprint: u32) -> Plan {
        let plan = self.with(Columns::whole(value + fingerprint));
        Plan {
            shape: Shape { order: Order::of_values(plan.shape.columns), ..plan.shape },
            content: Content::Function { fingerprint_bits: fingerprint },
            expected_rate: libm::exp2(-f64::from(fingerprint)),
            ..plan
        }
    }

    fn sketch(&self, columns: Columns) -> Sketch {
        let Plan { shape, expected_rate, .. } = self.with(columns);
        Sketch { shape, rate: expected_rate }
    }

    fn system(&self, columns: u32) -> System {
        if let Some(system) = self.system {
            return system;
        }
        match self.variant {
            Variant::Standard => standard::system(self.keys, self.width, self.effort),
            Variant::Homogeneous => homogeneous::system(self.keys, self.width, columns.into()),
            Variant::Balanced => balanced::system(self.keys, self.width),
            Variant::Bumped => {
                bumped::system(self.keys, self.width, self.overhead, self.effort, self.growth)
            }
        }
    }

    /// The plan with the given columns.
    fn with(&self, columns: Columns) -> Plan {
        let system = self.system(columns.max);
        let shape = Shape {
            variant: self.variant,
            width: self.width,
            smash: system.smash,
            segment_bits: system.segment_bits,
            segment_slots: self.slots(system),
            further: system.further,
            columns: columns.max,
            boundary: columns.boundary,
            order: Order::Columns,
            balance: system.balance,
        };
        Plan {
            shape,
            content: Content::Filter { first_column: 0 },
            expected_rate: promised_rate(&shape, system.allowance),
            queue_limit: system.queue_limit,
            expected_redundant: system.expected_redundant,
            keys: self.keys,
            means: Means::default(),
        }
    }

    /// The slots of a segment, including the user's overhead and the growth.
    fn slots(&self, system: System) -> u64 {
        if self.variant == Variant::Bumped {
            return system.segment_slots; // its planner has applied both
        }
        let share = self.keys as f64 / (1u64 << system.segment_bits) as f64;
        let asked = libm::ceil(share * (1.0 + self.overhead)) as u64;
        let mut slots = system.segment_slots.max(asked);
        for _ in 0..self.growth {
            slots += (slots / u64::from(self.width.bits())).max(1);
        }
        // Segments do not share blocks.
        if system.segment_bits > 0 { slots.next_multiple_of(64) } else { slots }
    }
}

/// Returns an error for settings that no function can have.
fn check_bits(
    value_bits: u32,
    fingerprint_bits: u32,
    variant: Option<Variant>,
) -> Result<(), BuildError> {
    let max = MAX_COLUMNS as u32;
    if value_bits == 0 || value_bits > max || fingerprint_bits > max - value_bits {
        return Err(BuildError::InvalidBits { value_bits, fingerprint_bits, max });
    }
    match variant {
        Some(variant @ Variant::Homogeneous) => Err(BuildError::NotForFunctions { variant }),
        _ => Ok(()),
    }
}

/// The maximum rate of a filter of this shape.
pub(crate) fn promised_rate(shape: &Shape, allowance: f64) -> f64 {
    let allowance = match shape.variant {
        // With an integral number of columns, the start of a query does not matter.
        Variant::Balanced if shape.boundary == 0 => 1.0,
        Variant::Balanced => balanced::ALLOWANCE,
        _ => allowance,
    };
    (shape.nominal_rate().value() * allowance).min(1.0)
}

/// The choices of a variant's own planner.
#[derive(Clone, Copy, Debug, PartialEq)]
struct System {
    segment_bits: u32,
    segment_slots: u64,
    further: Further,
    smash: bool,
    queue_limit: Option<u32>,
    /// The factor by which the filter's rate may exceed the nominal rate.
    allowance: f64,
    expected_redundant: u64,
    balance: Balance,
}

#[cfg(test)]
mod tests;
