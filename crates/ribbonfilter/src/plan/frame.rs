//! A plan for a number of keys, once variant and width are chosen: first the slots, then the
//! columns.

use super::{
    Columns, Limits, Plan, Settings, Sketch, Target, balanced, bumped, homogeneous, standard,
};
use crate::error::BuildError;
use crate::format::{FOOTER_BYTES, MAX_BLOCKS, MAX_KEYS, MAX_SEGMENT_BITS};
use crate::ribbon::equation::{Balance, FINGERPRINT_BITS};
use crate::ribbon::layers::Further;
use crate::ribbon::layout::Order;
use crate::ribbon::shape::Shape;
use crate::{Variant, Width};

/// The slots of a plan, chosen by the planner of its variant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct System {
    pub(super) segment_bits: u32,
    pub(super) segment_slots: u64,
    pub(super) further: Further,
    pub(super) smash: bool,
    pub(super) queue_limit: Option<u32>,
    /// The factor by which the filter's rate may exceed the nominal rate.
    pub(super) allowance: f64,
    pub(super) expected_redundant: u64,
    pub(super) balance: Balance,
}

impl System {
    /// One layer of segments with smash; seeds are not screened.
    pub(super) const fn new(segment_bits: u32, segment_slots: u64) -> Self {
        Self {
            segment_bits,
            segment_slots,
            further: Further::NONE,
            smash: true,
            queue_limit: None,
            allowance: 1.0,
            expected_redundant: 0,
            balance: Balance::EVEN,
        }
    }
}

/// All choices that precede the columns.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frame {
    settings: Settings,
    variant: Variant,
    width: Width,
    keys: u64,
    growth: u32,
    /// `None` if the system depends on the columns.
    system: Option<System>,
}

impl Frame {
    /// Returns an error if variant and width are not suitable for the number of keys.
    pub(super) fn new(settings: &Settings, keys: u64, growth: u32) -> Result<Self, BuildError> {
        let (variant, width) = settings.choose(keys);
        let mut frame = Self { settings: *settings, variant, width, keys, growth, system: None };
        if keys > suitable_keys(variant, width) {
            return Err(BuildError::Unsuitable { variant, width, keys, instead: Width::W128 });
        }
        let max = frame.max_keys();
        if keys > max {
            return Err(BuildError::TooManyKeys { keys, max });
        }
        if keys == 0 {
            frame.system = Some(System { smash: false, ..System::new(0, 0) });
        } else if variant != Variant::Homogeneous {
            frame.system = Some(frame.system(0.0));
        }
        Ok(frame)
    }

    /// The system for a number of columns, which matters only to a Homogeneous ribbon.
    fn system(&self, columns: f64) -> System {
        let Self { settings: Settings { overhead, effort, .. }, width, keys, .. } = *self;
        match self.variant {
            Variant::Standard => standard::system(keys, width, effort),
            Variant::Homogeneous => homogeneous::system(keys, width, columns),
            Variant::Balanced => balanced::system(keys, width),
            Variant::Bumped => bumped::system(keys, width, overhead, effort, self.growth),
        }
    }

    pub(super) fn max_columns(&self) -> u32 {
        match self.variant {
            Variant::Standard | Variant::Balanced | Variant::Bumped => FINGERPRINT_BITS,
            Variant::Homogeneous => homogeneous::max_columns(self.width),
        }
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
        let by_blocks = (slots / (2.0 + self.settings.overhead)) as u64;
        MAX_KEYS.min(by_segments).min(by_blocks)
    }

    /// The plan without keys and slots: every query returns `false`.
    pub(super) fn empty(&self) -> Result<Plan, BuildError> {
        let needed = FOOTER_BYTES as u64;
        match self.settings.target {
            Target::TotalBytes(bytes) if bytes < needed => {
                Err(BuildError::SizeTooSmall { bytes, needed, keys: 0 })
            }
            Target::Bits { value, fingerprint } => {
                Ok(self.with(Columns::whole(value + fingerprint)))
            }
            _ => Ok(self.with(Columns::whole(0))),
        }
    }

    /// The plan with the minimum number of columns that guarantee a rate.
    pub(super) fn for_rate(&self, rate: f64) -> Result<Plan, BuildError> {
        match Columns::for_rate(rate, self.max_columns(), |columns| self.sketch(columns)) {
            Ok(columns) => Ok(self.with(columns)),
            Err(lowest) => Err(BuildError::RateTooLow { rate, lowest }),
        }
    }

    /// The plan with the requested number of columns, to the nearest block.
    pub(super) fn for_columns(&self, columns: f64) -> Result<Plan, BuildError> {
        if columns > self.max_columns().into() {
            return Err(BuildError::InvalidColumns { columns, max: self.max_columns() });
        }
        let mut frame = *self;
        // Only here is a fraction known in advance. Elsewhere slots are planned for the next
        // integer, so that the size grows with the keys.
        if self.variant == Variant::Homogeneous {
            frame.system = Some(self.system(columns));
        }
        Ok(frame.with(Columns::nearest(columns, |columns| frame.sketch(columns))))
    }

    /// The plan with the lowest rate that fits `bytes` bytes.
    pub(super) fn for_bytes(&self, bytes: u64) -> Result<Plan, BuildError> {
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
    pub(super) fn for_bits(&self, value: u32, fingerprint: u32) -> Plan {
        let mut plan = self.with(Columns::whole(value + fingerprint));
        plan.shape.order = Order::of_values(plan.shape.columns);
        plan.solution_rate = libm::exp2(-f64::from(fingerprint));
        plan
    }

    fn sketch(&self, columns: Columns) -> Sketch {
        let plan = self.with(columns);
        Sketch { shape: plan.shape, rate: plan.expected_rate() }
    }

    /// The plan with the given columns.
    pub(super) fn with(&self, columns: Columns) -> Plan {
        let system = self.system.unwrap_or_else(|| self.system(columns.max.into()));
        let shape = Shape {
            variant: self.variant,
            width: self.width,
            smash: system.smash,
            segment_bits: system.segment_bits,
            segment_slots: self.segment_slots(&system),
            further: system.further,
            columns: columns.max,
            boundary: columns.boundary,
            order: Order::Columns,
            balance: system.balance,
        };
        Plan {
            shape,
            content: self.settings.content(),
            solution_rate: expected_rate(&shape, system.allowance),
            queue_limit: system.queue_limit,
            expected_redundant: system.expected_redundant,
            keys: self.keys,
            limits: Limits::default(),
        }
    }

    /// The slots of a segment, including the user's overhead and the growth.
    fn segment_slots(&self, system: &System) -> u64 {
        if self.keys == 0 || self.variant == Variant::Bumped {
            return system.segment_slots; // the planner of Bumped ribbons has applied both
        }
        let keys = self.keys as f64 / (1u64 << system.segment_bits) as f64;
        let requested = libm::ceil(keys * (1.0 + self.settings.overhead)) as u64;
        let mut slots = system.segment_slots.max(requested);
        for _ in 0..self.growth {
            slots += (slots / u64::from(self.width.bits())).max(1);
        }
        // Segments do not share blocks.
        if system.segment_bits > 0 { slots.next_multiple_of(64) } else { slots }
    }
}

/// The maximum number of keys for which a width makes sense.
fn suitable_keys(variant: Variant, width: Width) -> u64 {
    match (variant, width) {
        // The codes would cost as much as they save.
        (Variant::Bumped, Width::W16) => 0,
        // Beyond that a third of the slots would stay empty, and segments would consist almost only
        // of ends.
        (Variant::Standard | Variant::Balanced, Width::W16) => 1 << 10,
        _ => u64::MAX,
    }
}

/// The rate that a solution of this shape should not exceed.
pub(crate) fn expected_rate(shape: &Shape, allowance: f64) -> f64 {
    let allowance = match shape.variant {
        // With an integral number of columns, the start of a query does not matter.
        Variant::Balanced if shape.boundary == 0 => 1.0,
        Variant::Balanced => balanced::ALLOWANCE,
        _ => allowance,
    };
    (shape.nominal_rate().value() * allowance).min(1.0)
}
