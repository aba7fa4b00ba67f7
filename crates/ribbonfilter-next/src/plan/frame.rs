//! A plan for a number of keys: first the slots, then the columns.

use super::bumped::{self, Counting};
use super::settings::{Settings, Target};
use super::{Effort, Limits, Plan, standard};
use crate::error::BuildError;
use crate::format::Shape;
use crate::ribbon::equation::MAX_COLUMNS;
use crate::ribbon::rate::{collision, rate};
use crate::ribbon::system::System;
use crate::{Variant, Width};

/// From these numbers of keys on, a Bumped filter is smaller than a Standard one: by effort.
const LARGE: [u64; 2] = [1 << 14, 1 << 15];

/// The margin of a Bumped filter's rate, times the square root of its starts: 2.4 standard deviations
/// of the difference between hashes that are bumped on either side of the boundary.
const MARGIN: f64 = 0.1;

/// Up to this number of keys one block suffices.
const ONE_BLOCK: u64 = 60;

/// Maps of more columns than this are stored row by row, if they have enough keys.
const MAX_DENSE_COLUMNS: u32 = 8;
/// Below this number of keys equations over eight slots lose too many slots at the ends.
const MIN_ROW_KEYS: u64 = 1 << 12;

/// So that a product that should be an integer is not rounded to the next lower one.
const ROUNDING: f64 = 1e-6;

/// The probability that a seed of the first layer of a Bumped filter works: it bumps few enough keys,
/// and there is no contradiction. By effort.
const BUMPED_SUCCESS: [f64; 2] = [0.96, 0.6];

/// Below this number of keys, `fast` chooses W128: it takes up to 10 % extra slots.
const FAST_NARROW: u64 = 1 << 22;

/// All choices that precede the columns.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Frame {
    fast: bool,
    keys: u64,
    seeds: u32,
    success: f64,
    first: System,
    second: Option<System>,
    bumped: u64,
    counting: Counting,
}

impl Frame {
    pub(super) fn new(settings: &Settings, keys: u64, growth: u32) -> Self {
        let rows = is_rows(settings, keys);
        let (variant, width) = choose(settings, keys, rows);
        let minus_ln_p = standard::minus_ln_p(keys, settings.effort);
        let mut frame = Self {
            fast: settings.fast,
            keys,
            seeds: if settings.effort == Effort::Normal { 24 } else { 128 },
            success: libm::exp(-minus_ln_p),
            first: System::empty(width, 0),
            second: None,
            bumped: 0,
            counting: Counting::default(),
        };
        if keys == 0 {
            return frame;
        }
        match variant {
            Variant::Standard => {
                let requested = libm::ceil(keys as f64 * (1.0 + settings.overhead)) as u64;
                let planned = standard::slots(keys, width, rows, minus_ln_p);
                let mut slots = planned.max(requested).max(standard::min_slots(width));
                for _ in 0..growth {
                    slots += (slots / u64::from(width.slots())).max(8);
                }
                frame.first = standard::system(slots, width);
                // Queries that reach a trimmed block are slower.
                if settings.fast && frame.first.starts > 1 {
                    frame.first.last_bytes = 8;
                }
            }
            Variant::Bumped => {
                let Settings { effort, overhead, .. } = *settings;
                let layers = bumped::layers(keys, (width, rows), effort, overhead, growth);
                frame.first = layers.first;
                // The rows of few keys are dense.
                let rows = is_rows(settings, layers.bumped);
                frame.second = Some(System { rows, ..layers.second });
                frame.bumped = layers.bumped;
                frame.counting = layers.counting;
                frame.success = BUMPED_SUCCESS[effort as usize];
            }
        }
        frame.first.rows = rows;
        frame
    }

    /// The frame of a filter that exists, to plan other columns for it.
    pub(crate) fn of(shape: &Shape, keys: u64) -> Self {
        Self {
            fast: false,
            keys,
            seeds: 0,
            success: 1.0,
            first: shape.first,
            second: shape.second,
            bumped: 0,
            counting: Counting::default(),
        }
    }

    /// The plan without keys and slots: every query returns `false`.
    pub(super) fn empty(&self) -> Plan {
        self.with(0)
    }

    /// The plan with the fewest columns that guarantee a rate.
    pub(crate) fn for_rate(&self, rate: f64) -> Result<Plan, BuildError> {
        let collision = collision(self.keys);
        // As in `with_collisions`.
        let solution = match collision < rate / 1e6 {
            true => rate,
            false => (rate - collision) / (1.0 - collision),
        };
        let starts = self.first.starts;
        let max = starts * u64::from(MAX_COLUMNS);
        let columns = libm::ceil(-libm::log2(solution)).max(1.0);
        if solution <= 0.0 || columns > MAX_COLUMNS.into() {
            let lowest = self.with(max).expected_rate();
            return Err(BuildError::RateTooLow { rate, lowest });
        }
        // One column fewer in as many starts as the rate allows. Starts on either side of the
        // boundary do not bump the same fraction of their hashes, so a Bumped filter has a margin.
        let margin = match self.second {
            Some(_) => MARGIN / libm::sqrt(starts as f64),
            None => 0.0,
        };
        let fraction = solution * (1.0 - margin) * libm::exp2(columns) - 1.0;
        let fewer = match self.fast {
            true => 0,
            false => (fraction * starts as f64 + ROUNDING) as u64,
        };
        let mut units = starts * columns as u64 - fewer.min(starts - 1);
        while units < max && self.with(units).expected_rate() > rate {
            units += 1; // rounded too far
        }
        match self.with(units) {
            plan if plan.expected_rate() <= rate => Ok(Plan { max_rate: solution, ..plan }),
            plan => Err(BuildError::RateTooLow { rate, lowest: plan.expected_rate() }),
        }
    }

    /// The plan with the requested number of columns, to the nearest block.
    pub(crate) fn for_columns(&self, columns: f64) -> Plan {
        let columns = if self.fast { libm::ceil(columns) } else { columns };
        let units = libm::round(columns * self.first.starts as f64) as u64;
        self.with(units.max(1))
    }

    /// The plan with the lowest rate that fits `bytes` bytes.
    pub(crate) fn for_bytes(&self, bytes: u64) -> Result<Plan, BuildError> {
        if self.keys == 0 {
            let plan = self.empty();
            let needed = plan.size_in_bytes();
            return match bytes < needed {
                true => Err(BuildError::SizeTooSmall { bytes, needed, keys: 0 }),
                false => Ok(plan),
            };
        }
        // Fewer than one column in every block would hardly be a filter.
        let step = if self.fast { self.first.starts } else { 1 };
        let steps = |steps: u64| self.with(steps * step);
        let (mut low, mut high) =
            (self.first.starts / step, self.first.starts * u64::from(MAX_COLUMNS) / step + 1);
        let needed = steps(low).size_in_bytes();
        if needed > bytes {
            return Err(BuildError::SizeTooSmall { bytes, needed, keys: self.keys });
        }
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            if steps(middle).size_in_bytes() <= bytes { low = middle } else { high = middle }
        }
        Ok(steps(low))
    }

    /// The plan of a map with the given numbers of bits. A key that is not in the map is found with
    /// the probability that its fingerprint matches.
    pub(super) fn for_bits(&self, value: u32, fingerprint: u32) -> Plan {
        let columns = value + fingerprint;
        let mut plan = self.with(self.first.starts * u64::from(columns));
        plan.first.columns = columns;
        plan.solution_rate = libm::exp2(-f64::from(fingerprint));
        plan.fingerprint = fingerprint;
        plan.map = true;
        plan
    }

    /// The plan whose starts have this number of columns, added up. The second layer has as many per
    /// start, rounded up.
    pub(super) fn with(&self, units: u64) -> Plan {
        let first = with_units(self.first, units);
        let second = self.second.map(|second| {
            let all = u128::from(units) * u128::from(second.starts);
            with_units(second, all.div_ceil(first.starts.into()) as u64)
        });
        Plan {
            first,
            second,
            bumped: self.bumped,
            counting: self.counting,
            seeds: self.seeds,
            success: self.success,
            fingerprint: first.columns,
            map: false,
            solution_rate: rate(&first),
            max_rate: f64::INFINITY,
            keys: self.keys,
            limits: Limits::default(),
        }
    }
}

/// The system whose starts have this number of columns, added up.
fn with_units(system: System, units: u64) -> System {
    let Some(rest) = units.checked_rem(system.starts) else { return system };
    if rest == 0 {
        return System { columns: (units / system.starts) as u32, boundary: 0, ..system };
    }
    let columns = (units / system.starts) as u32 + 1;
    System { columns, boundary: system.block(system.starts - rest), ..system }
}

/// Whether a system of a map is stored row by row.
fn is_rows(settings: &Settings, keys: u64) -> bool {
    let Target::Bits { value, fingerprint } = settings.target else {
        return false;
    };
    let width = settings.width.unwrap_or(Width::W256);
    value + fingerprint > MAX_DENSE_COLUMNS && keys >= MIN_ROW_KEYS && width == Width::W256
}

/// The user's choice, or the smallest variant: Standard for small sets, Bumped for others. `fast`
/// bumps nothing, and who requests extra slots wants a fast build.
fn choose(settings: &Settings, keys: u64, rows: bool) -> (Variant, Width) {
    let small = keys < LARGE[settings.effort as usize] || settings.fast || settings.overhead > 0.0;
    let smallest = if small { Variant::Standard } else { Variant::Bumped };
    let variant = settings.variant.unwrap_or(smallest);
    let width = match (settings.width, variant) {
        _ if rows => Width::W256,
        (Some(Width::W64), _) if variant == Variant::Bumped || keys > ONE_BLOCK => Width::W128,
        (Some(width), _) => width,
        (None, Variant::Standard) => standard_width(settings.fast, keys),
        (None, Variant::Bumped) if settings.effort == Effort::Thorough => Width::W256,
        (None, Variant::Bumped) => Width::W192,
    };
    (variant, width)
}

/// For `fast` a narrow width. Otherwise the widest, which needs the fewest slots, unless the keys fit
/// into the one start of a narrower system.
fn standard_width(fast: bool, keys: u64) -> Width {
    match keys {
        ..=ONE_BLOCK => Width::W64,
        _ if fast && keys < FAST_NARROW => Width::W128,
        _ if fast => Width::W192,
        _ if keys <= 124 => Width::W128,
        _ if keys <= 1_100 => Width::W192,
        _ => Width::W256,
    }
}
