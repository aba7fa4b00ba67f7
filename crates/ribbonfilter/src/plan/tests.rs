//! Plans keep their guarantees, and guarantee as much as they can.

use super::frame::Frame;
use super::*;
use crate::error::BuildError;
use crate::format::MAX_SEGMENT_BITS;
use crate::ribbon::equation::FINGERPRINT_BITS;
use alloc::format;
use alloc::vec::Vec;

const VARIANTS: [Variant; 4] =
    [Variant::Standard, Variant::Homogeneous, Variant::Balanced, Variant::Bumped];

const TARGETS: [Target; 16] = [
    Target::Rate(0.999),
    Target::Rate(0.3),
    Target::Rate(0.01),
    Target::Rate(0.005),
    Target::Rate(1e-4),
    Target::Rate(1e-9),
    Target::Columns(0.01),
    Target::Columns(1.0),
    Target::Columns(3.4),
    Target::Columns(8.0),
    Target::Columns(31.5),
    Target::BitsPerKey(1.0),
    Target::BitsPerKey(9.0),
    Target::BitsPerKey(999_999.0),
    Target::TotalBytes(100),
    Target::TotalBytes(u64::MAX),
];

fn settings(variant: Variant, width: Width, target: Target) -> Settings {
    Settings { target, variant: Some(variant), width: Some(width), ..Settings::default() }
}

/// Calls `check` with every variant and width.
fn for_all_ribbons(mut check: impl FnMut(Variant, Width)) {
    for variant in VARIANTS {
        for width in Width::ALL {
            check(variant, width);
        }
    }
}

/// Every small number, then the borders of octaves and numbers between them, up to 2^40.
fn numbers_of_keys() -> impl Iterator<Item = u64> {
    let octaves = (9..=40).flat_map(|octave| {
        let power = 1u64 << octave;
        [power - 1, power, power + 1, power + power / 7, power / 5 * 8]
    });
    (0..=300).chain(octaves).filter(|&keys| keys <= 1 << 40)
}

/// The plan with an integral number of columns.
fn whole(frame: &Frame, columns: u32) -> Plan {
    frame.with(Columns { max: columns, boundary: 0 })
}

/// A plan with another boundary.
fn at_boundary(frame: &Frame, plan: Plan, boundary: u64) -> Plan {
    frame.with(Columns { max: plan.shape.columns, boundary })
}

fn frame(variant: Variant, width: Width, keys: u64) -> Frame {
    Frame::new(&settings(variant, width, Target::Columns(1.0)), keys, 0).expect("a suitable width")
}

/// What every plan must satisfy, for any target.
fn assert_sound(plan: &Plan, settings: &Settings) {
    let shape = &plan.shape;
    if plan.keys() == 0 {
        assert_eq!((plan.slots(), plan.size_in_bytes()), (0, FOOTER_BYTES as u64));
        assert_eq!(plan.expected_rate(), 0.0);
        return;
    }
    let blocks = shape.layout().blocks();
    assert!(plan.slots() >= plan.keys(), "{plan:?}");
    assert!(shape.boundary < blocks, "{plan:?}");
    assert!((1..=FINGERPRINT_BITS).contains(&shape.columns), "{plan:?}");
    assert!(shape.segment_slots <= u32::MAX.into(), "{plan:?}");
    assert!(shape.segment_bits <= MAX_SEGMENT_BITS, "{plan:?}");
    assert!(shape.segment_bits == 0 || shape.segment_slots.is_multiple_of(64), "{plan:?}");
    assert!(plan.queue_limit.is_none_or(|limit| limit < shape.width.bits()), "{plan:?}");
    assert!(plan.peak_memory() >= plan.size_in_bytes() + 8 * plan.keys(), "{plan:?}");
    let (nominal, rate) = (shape.nominal_rate().value(), plan.solution_rate);
    match shape.variant {
        Variant::Standard | Variant::Bumped => assert_eq!(rate, nominal),
        Variant::Balanced if shape.boundary == 0 => assert_eq!(rate, nominal),
        Variant::Balanced => assert!((nominal..=1.0).contains(&rate), "{plan:?}"),
        Variant::Homogeneous => assert!(rate >= nominal, "{plan:?}"),
    }
    assert_eq!(plan.expected_rate(), with_collisions(rate, plan.keys()));
    match settings.target {
        Target::Rate(rate) => assert!(plan.expected_rate() <= rate, "{plan:?}"),
        Target::Columns(columns) => {
            // Half a block of rounding, and the last block counts as whole.
            let off = (plan.columns() - columns).abs() * plan.slots() as f64;
            let block = f64::from(shape.width.block_slots());
            assert!(off <= 1.5 * block, "{plan:?}");
        }
        Target::BitsPerKey(bits) => assert!(plan.bits_per_key() <= bits, "{plan:?}"),
        Target::TotalBytes(bytes) => assert!(plan.size_in_bytes() <= bytes, "{plan:?}"),
        Target::Bits { value, fingerprint } => assert_eq!(shape.columns, value + fingerprint),
    }
}

/// The error must concern these settings or this number of keys, and nothing else.
fn assert_reasonable(error: &BuildError, settings: &Settings, keys: u64) {
    let (target, variant) = (settings.target, settings.variant);
    match (error, target) {
        (BuildError::RateTooLow { rate, lowest }, Target::Rate(_)) => assert!(lowest > rate),
        (BuildError::InvalidColumns { columns, max }, Target::Columns(_)) => {
            assert!(variant == Some(Variant::Homogeneous) && *columns > f64::from(*max));
        }
        (
            BuildError::SizeTooSmall { bytes, needed, .. },
            Target::BitsPerKey(_) | Target::TotalBytes(_),
        ) => assert!(bytes < needed),
        (BuildError::Unsuitable { .. }, _) => {
            let max = if variant == Some(Variant::Bumped) { 0 } else { 1 << 10 };
            assert!(settings.width == Some(Width::W16) && keys > max);
        }
        _ => panic!("{settings:?} for {keys} keys: {error}"),
    }
}

#[test]
fn plans_are_sound_for_any_number_of_keys() {
    for_all_ribbons(|variant, width| {
        for target in TARGETS {
            let settings = settings(variant, width, target);
            for keys in numbers_of_keys() {
                match settings.plan(keys, 0) {
                    Ok(plan) => {
                        assert_eq!((plan.keys(), plan.variant()), (keys, variant));
                        assert_eq!(plan.width(), width);
                        assert_sound(&plan, &settings);
                    }
                    Err(error) => assert_reasonable(&error, &settings, keys),
                }
            }
        }
    });
}

#[test]
fn plans_with_overhead_and_growth_are_sound() {
    for_all_ribbons(|variant, width| {
        for overhead in [0.0, 0.01, 1.0, 100.0] {
            for keys in [1, 100, 5000, 1 << 20, (1 << 30) + 1] {
                for growth in [0, 1, 16] {
                    let settings =
                        Settings { overhead, ..settings(variant, width, Target::Columns(7.7)) };
                    match settings.plan(keys, growth) {
                        Ok(plan) => {
                            assert_sound(&plan, &settings);
                            let min = keys as f64 * (1.0 + overhead);
                            assert!(plan.slots() as f64 >= min, "{plan:?}");
                        }
                        Err(error) => assert_reasonable(&error, &settings, keys),
                    }
                }
            }
        }
    });
}

#[test]
fn growth_adds_slots() {
    for_all_ribbons(|variant, width| {
        let settings = settings(variant, width, Target::Columns(4.0));
        for keys in [1, 2, 17, 300, 1000, 100_000, 1 << 24, 1 << 40] {
            if settings.plan(keys, 0).is_err() {
                continue;
            }
            let grown = |growth| settings.plan(keys, growth).expect("a plan");
            let slots: Vec<u64> = (0..=16).map(|growth| grown(growth).slots()).collect();
            let increases = slots.is_sorted_by(|few, more| few < more);
            assert!(increases, "{keys} keys: {slots:?}");
            // By a fraction of 1 / w, and up to 64 slots in each segment to fill a block.
            let fraction = slots[0] / u64::from(width.bits()) + 1;
            let rounding = 64 * grown(0).segments();
            assert!(slots[1] <= slots[0] + fraction + rounding, "{keys} keys: {slots:?}");
        }
    });
}

/// The columns are a prefix of those of a filter with more columns only if all else is the same.
#[test]
fn standard_slots_do_not_depend_on_the_columns() {
    for width in Width::ALL {
        for keys in numbers_of_keys().filter(|&keys| keys > 0) {
            let of = |target| settings(Variant::Standard, width, target).plan(keys, 0);
            let Ok(narrow) = of(Target::Columns(1.0)) else {
                continue;
            };
            for target in [Target::Columns(32.0), Target::Columns(7.3), Target::Rate(0.02)] {
                let mut other = of(target).expect("a plan");
                assert_eq!(other.queue_limit, narrow.queue_limit);
                other.shape.columns = narrow.shape.columns;
                other.shape.boundary = narrow.shape.boundary;
                assert_eq!(other.shape, narrow.shape);
            }
        }
    }
}

/// The maximum by which one more key may make a filter smaller: 0 with an integral number of
/// columns. With fractional columns the boundary moves by blocks, so one word of one block.
fn allowed_drop(width: Width, target: Target) -> u64 {
    match target {
        Target::Columns(columns) if columns.fract() == 0.0 => 0,
        _ => u64::from(width.block_slots() / 8),
    }
}

const SIZED: [Target; 5] = [
    Target::Columns(1.0),
    Target::Columns(8.0),
    Target::Columns(7.5),
    Target::Rate(0.3),
    Target::Rate(0.01),
];

/// The octaves in which slots grow with the keys. From 10^4 keys on, the margin of a Homogeneous
/// screen changes inside octaves, and with it the slots decrease by about a percent.
fn octaves(variant: Variant) -> core::ops::Range<u32> {
    match variant {
        Variant::Standard | Variant::Balanced | Variant::Bumped => 0..40,
        Variant::Homogeneous => 0..13,
    }
}

#[test]
fn size_grows_with_the_keys_inside_an_octave() {
    for_all_ribbons(|variant, width| {
        for target in SIZED {
            let settings = settings(variant, width, target);
            for octave in octaves(variant) {
                let first = 1u64 << octave;
                // Every number where octaves are short, otherwise 256 pairs of adjacent numbers.
                let step = (first / 256).max(1);
                let mut largest = 0;
                for at in (first..2 * first).step_by(step as usize) {
                    for keys in at..(at + 2).min(2 * first) {
                        let Ok(plan) = settings.plan(keys, 0) else {
                            continue;
                        };
                        let size = plan.size_in_bytes();
                        let drop = allowed_drop(width, target);
                        assert!(size + drop >= largest, "{target:?}: {plan:?}");
                        largest = largest.max(size);
                    }
                }
            }
        }
    });
}

#[test]
fn a_rate_is_met_with_nothing_to_spare() {
    for_all_ribbons(|variant, width| {
        for rate in [0.9, 0.3, 0.01, 1e-3, 1e-5, 1e-8] {
            for keys in numbers_of_keys().filter(|&keys| keys > 0) {
                let settings = settings(variant, width, Target::Rate(rate));
                let Ok(plan) = settings.plan(keys, 0) else {
                    continue;
                };
                assert!(plan.expected_rate() <= rate, "{plan:?}");
                let frame = frame(variant, width, keys);
                let next = plan.shape.boundary + 1;
                if next < plan.shape.layout().blocks() {
                    let cheaper = at_boundary(&frame, plan, next);
                    assert!(cheaper.expected_rate() > rate, "{plan:?}");
                }
                if plan.shape.columns > 1 {
                    let cheaper = whole(&frame, plan.shape.columns - 1);
                    assert!(cheaper.expected_rate() > rate, "{plan:?}");
                }
            }
        }
    });
}

/// All plans for these keys: all columns, all boundaries.
fn all_plans(frame: Frame) -> impl Iterator<Item = Plan> {
    (1..=frame.max_columns()).flat_map(move |columns| {
        let plan = whole(&frame, columns);
        let blocks = plan.shape.layout().blocks();
        (0..blocks).map(move |boundary| at_boundary(&frame, plan, boundary))
    })
}

#[test]
fn no_other_plan_that_fits_has_a_lower_rate() {
    for_all_ribbons(|variant, width| {
        for keys in [1, 2, 20, 64, 150, 300, 700] {
            for bytes in [41, 45, 60, 75, 100, 200, 333, 500, 1000, 5000] {
                let plan = settings(variant, width, Target::TotalBytes(bytes)).plan(keys, 0);
                if let Err(BuildError::Unsuitable { width, .. }) = plan {
                    assert_eq!(width, Width::W16);
                    continue;
                }
                let all: Vec<Plan> = all_plans(frame(variant, width, keys)).collect();
                let fitting = all.iter().filter(|plan| plan.size_in_bytes() <= bytes);
                let lowest = fitting.map(Plan::expected_rate).fold(f64::INFINITY, f64::min);
                match plan {
                    Ok(plan) => {
                        assert!(plan.size_in_bytes() <= bytes, "{plan:?}");
                        assert_eq!(plan.expected_rate(), lowest, "{plan:?}");
                    }
                    Err(BuildError::SizeTooSmall { needed, .. }) => {
                        assert_eq!(needed, whole(&frame(variant, width, keys), 1).size_in_bytes());
                        assert!(needed > bytes);
                    }
                    Err(error) => panic!("{error}"),
                }
            }
        }
    });
}

#[test]
fn a_size_is_used_up_to_the_last_block() {
    for_all_ribbons(|variant, width| {
        for keys in numbers_of_keys().filter(|&keys| keys > 0) {
            for bits in [2.5, 6.0, 9.7, 20.0] {
                let settings = settings(variant, width, Target::BitsPerKey(bits));
                let Ok(plan) = settings.plan(keys, 0) else {
                    continue;
                };
                let bytes = (keys as f64 * bits / 8.0) as u64;
                assert!(plan.size_in_bytes() <= bytes, "{plan:?}");
                let frame = frame(variant, width, keys);
                if let Some(finer) = plan.shape.boundary.checked_sub(1) {
                    let larger = at_boundary(&frame, plan, finer);
                    assert!(larger.size_in_bytes() > bytes, "{plan:?}");
                } else if plan.shape.columns < frame.max_columns() {
                    let more = whole(&frame, plan.shape.columns + 1);
                    let blocks = more.shape.layout().blocks();
                    let larger = at_boundary(&frame, more, blocks - 1);
                    let better = larger.expected_rate() < plan.expected_rate();
                    assert!(larger.size_in_bytes() > bytes || !better, "{plan:?}");
                }
            }
        }
    });
}

fn fits(settings: &Settings, keys: u64, bytes: u64) -> bool {
    let plan = settings.plan(keys, 0);
    plan.is_ok_and(|plan| plan.size_in_bytes() <= bytes)
}

#[test]
fn one_more_than_the_most_keys_does_not_fit() {
    for_all_ribbons(|variant, width| {
        for target in SIZED {
            let settings = settings(variant, width, target);
            for bytes in (0..36).map(|octave| 41 + (37u64 << octave)) {
                let max = settings.max_keys(bytes).expect("sound settings");
                assert!(max == 0 || fits(&settings, max, bytes), "{settings:?}");
                assert!(!fits(&settings, max + 1, bytes), "{settings:?}");
            }
        }
    });
}

/// Compares with trying all numbers. Where a block of the boundary makes sizes vary
/// non-monotonically, the search may stop before the last number that fits, but by less than a
/// block.
#[test]
fn the_most_keys_are_the_most_that_fit() {
    const TRIED: u64 = 1 << 12;
    for_all_ribbons(|variant, width| {
        for target in SIZED {
            let settings = settings(variant, width, target);
            for bytes in [0, 40, 41, 45, 100, 201, 401] {
                let max = settings.max_keys(bytes).expect("sound settings");
                let tried = (1..TRIED).rev().find(|&keys| fits(&settings, keys, bytes));
                let short = tried.unwrap_or(0) - max;
                let bound = match allowed_drop(width, target) {
                    0 => 0,
                    _ => u64::from(width.block_slots()) - 1,
                };
                assert!(short <= bound, "{settings:?}, {bytes} bytes: {max} + {short}");
            }
        }
    });
}

/// A regression test: Homogeneous slots once grew without limit when there were fewer columns.
#[test]
fn hardly_any_columns_take_few_slots() {
    for_all_ribbons(|variant, width| {
        for columns in [0.01, 1e-3, 1e-9, 1e-191, f64::MIN_POSITIVE] {
            for keys in [1, 1157, 1_000_000, 1 << 36] {
                let Ok(plan) = settings(variant, width, Target::Columns(columns)).plan(keys, 0)
                else {
                    continue;
                };
                let what = format!("{variant} {width}, {columns:e} columns, {keys} keys");
                assert!(plan.slots() <= 3 * keys + 1000, "{what}: {plan:?}");
                assert!(plan.peak_memory() <= 64 * keys + (1 << 27), "{what}: {plan:?}");
            }
        }
    });
}

#[test]
fn bad_input_is_refused_by_its_name() {
    let plan = |target| {
        let settings = Settings { target, ..Settings::default() };
        let error = settings.plan(1000, 0).expect_err("bad input");
        assert!(settings.max_keys(1000).is_err(), "the same for the most keys");
        assert!(settings.plan(0, 0).is_err(), "the same without keys");
        error
    };
    for rate in [0.0, 1.0, -0.1, 1.5, f64::NAN, f64::INFINITY] {
        let error = plan(Target::Rate(rate));
        assert!(matches!(error, BuildError::InvalidRate { .. }), "{rate}");
    }
    for columns in [0.0, -1.0, 32.01, f64::NAN, f64::INFINITY] {
        let error = plan(Target::Columns(columns));
        assert!(matches!(error, BuildError::InvalidColumns { max: 32, .. }), "{columns}");
    }
    for bits in [0.0, -1.0, 1e6, f64::NAN, f64::INFINITY] {
        let error = plan(Target::BitsPerKey(bits));
        assert!(matches!(error, BuildError::InvalidBitsPerKey { .. }), "{bits}");
    }
    for overhead in [-0.01, 100.1, f64::NAN, f64::INFINITY] {
        let settings = Settings { overhead, ..Settings::default() };
        let error = settings.plan(1000, 0).expect_err("bad input");
        assert!(matches!(error, BuildError::InvalidOverhead { .. }), "{overhead}");
    }
}

#[test]
fn what_cannot_be_had_is_refused_by_its_name() {
    let refused = |variant, width, target, keys| {
        let plan = settings(variant, width, target).plan(keys, 0);
        plan.expect_err("out of reach")
    };
    let (standard, homogeneous) = (Variant::Standard, Variant::Homogeneous);
    let error = refused(homogeneous, Width::W16, Target::Columns(8.1), 100);
    assert!(matches!(error, BuildError::InvalidColumns { max: 8, .. }));
    let error = refused(homogeneous, Width::W16, Target::Rate(1e-3), 100);
    assert!(matches!(error, BuildError::RateTooLow { lowest, .. } if lowest > 1.0 / 256.0));
    let error = refused(standard, Width::W64, Target::Rate(1e-10), 100);
    assert!(
        matches!(error, BuildError::RateTooLow { lowest, .. } if lowest == 1.0 / 4_294_967_296.0)
    );
    let error = refused(standard, Width::W64, Target::TotalBytes(39), 0);
    assert!(matches!(error, BuildError::SizeTooSmall { needed: 40, keys: 0, .. }));
    let error = refused(standard, Width::W64, Target::TotalBytes(52), 100);
    assert!(matches!(error, BuildError::SizeTooSmall { bytes: 52, keys: 100, .. }));
    for (variant, width) in [
        (standard, Width::W32),
        (standard, Width::W128),
        (homogeneous, Width::W64),
        (Variant::Balanced, Width::W64),
    ] {
        let error = refused(variant, width, Target::Rate(0.01), u64::MAX);
        let BuildError::TooManyKeys { max, .. } = error else {
            panic!("{error}");
        };
        let largest = settings(variant, width, Target::Rate(0.01));
        largest.plan(max, 0).expect("as many as it says");
        assert!(matches!(largest.plan(max + 1, 0), Err(BuildError::TooManyKeys { .. })));
    }
    let error = refused(standard, Width::W16, Target::Rate(0.01), 1025);
    let BuildError::Unsuitable { instead, .. } = error else {
        panic!("{error}");
    };
    let advised = settings(standard, instead, Target::Rate(0.01)).plan(1025, 0);
    advised.expect("the advice is good");
}

/// The expected number of seeds agrees with what builds need, within a third. The average of 400
/// samples of a geometric distribution deviates by a twentieth.
#[test]
fn builds_try_as_many_seeds_as_expected() {
    use crate::simulate::planned_build;
    use crate::testing::Random;
    for (width, keys, effort) in [
        (Width::W32, 400, Effort::Normal),
        (Width::W64, 1000, Effort::Normal),
        (Width::W64, 1000, Effort::Thorough),
        (Width::W128, 1000, Effort::Normal),
        (Width::W128, 1000, Effort::Thorough),
    ] {
        let builds = (0..400).map(|set| {
            let mut random = Random(set);
            let hashes = (0..keys).map(|_| random.next());
            planned_build(Variant::Standard, width, effort, 1.0, hashes).expect("a build")
        });
        let builds: Vec<_> = builds.collect();
        let average = builds.iter().map(|build| build.solutions).sum::<f64>() / 400.0;
        let ratio = average / builds[0].expected_solutions;
        assert!((0.75..1.34).contains(&ratio), "w = {width}, {keys} keys, {effort}: {ratio}");
    }
}

/// Keys with equal hashes are part of the rate: of the plan, and of what a target rate allows.
#[test]
fn equal_hashes_are_part_of_the_rate() {
    let plan = |target: Target, keys: u64| {
        let variant = Some(Variant::Bumped);
        Settings { target, variant, ..Settings::default() }.plan(keys, 0)
    };
    let of_columns = |columns, keys| plan(Target::Columns(columns), keys).unwrap();
    // 2^32 keys of 2^64 hashes have the rate of 32 columns, and cannot have a lower one.
    let (keys, least) = (1 << 32, libm::exp2(-32.0));
    assert_eq!(of_columns(32.0, keys).expected_rate(), least + (1.0 - least) * least);
    let error = plan(Target::Rate(1.99 * least), keys).unwrap_err();
    assert!(matches!(error, BuildError::RateTooLow { lowest, .. } if lowest > 1.99 * least));
    // A target is met with them; without them it would be met with fewer columns.
    let met = plan(Target::Rate(5.0 * least), keys).unwrap();
    assert!((4.9 * least..=5.0 * least).contains(&met.expected_rate()), "{met:?}");
    assert!(met.solution_rate <= 4.0 * least && met.columns() >= 30.0, "{met:?}");
    // Where they are less than a millionth of the rate, nothing changes.
    assert_eq!(of_columns(8.0, 1_000_000).expected_rate(), libm::exp2(-8.0));
    assert_eq!(of_columns(8.0, 1 << 40).expected_rate(), {
        let collision = libm::exp2(-24.0);
        libm::exp2(-8.0) + (1.0 - libm::exp2(-8.0)) * collision
    });
}
