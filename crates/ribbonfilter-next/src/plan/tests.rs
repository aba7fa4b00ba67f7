//! Plans keep their guarantees, and guarantee as much as they can.

use super::frame::Frame;
use super::*;
use crate::error::BuildError;
use crate::ribbon::equation::MAX_COLUMNS;
use crate::ribbon::rate::{rate, units};
use crate::ribbon::system::SEGMENT_STARTS;
use crate::testing::Random;
use alloc::vec::Vec;

const FOOTER: u64 = format::FOOTER_BYTES as u64;

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
    Target::TotalBytes(300),
    Target::TotalBytes(u64::MAX),
];

/// Every combination of settings but the target.
fn all_settings() -> Vec<Settings> {
    let mut all = Vec::new();
    for variant in [None, Some(Variant::Standard), Some(Variant::Bumped)] {
        for width in [None, Some(Width::W128), Some(Width::W192), Some(Width::W256)] {
            for effort in [Effort::Normal, Effort::Thorough] {
                for fast in [false, true] {
                    all.push(Settings { variant, width, effort, fast, ..Settings::default() });
                }
            }
        }
    }
    all
}

/// Every small number, then powers of two and their neighbours and random ones, up to 2^36.
fn numbers_of_keys() -> Vec<u64> {
    let mut random = Random(7);
    let mut all: Vec<u64> = (0..=300).collect();
    for octave in 9..=36 {
        let power = 1u64 << octave;
        all.extend([power - 1, power, power + 1]);
        all.extend((0..8).map(|_| power + random.below(power)));
    }
    all.retain(|&keys| keys <= 1 << 36);
    all
}

fn plan(settings: Settings, keys: u64) -> Plan {
    settings.plan(keys, 0).expect("a plan")
}

fn of(target: Target) -> Settings {
    Settings { target, ..Settings::default() }
}

/// What a system of a plan must satisfy.
fn assert_system(system: &System) {
    assert!(system.starts >= 1, "{system:?}");
    assert!((1..=8).contains(&system.last_bytes), "{system:?}");
    assert!((1..=MAX_COLUMNS).contains(&system.columns), "{system:?}");
    assert!(system.boundary <= system.block(system.starts - 1), "{system:?}");
    let rate = libm::exp2(-f64::from(system.columns));
    let fewer = (0..system.starts.min(5000)).filter(|&s| system.block(s) < system.boundary).count();
    if system.starts <= 5000 {
        let counted = system.starts * u64::from(system.columns) - fewer as u64;
        assert_eq!(units(system), counted, "{system:?}");
        assert!(rate <= 1.0);
    }
}

/// What every plan must satisfy, for any target.
fn assert_sound(plan: &Plan, settings: &Settings) {
    if plan.keys() == 0 {
        assert_eq!((plan.slots(), plan.size_in_bytes()), (0, FOOTER));
        assert_eq!(plan.expected_rate(), 0.0);
        return;
    }
    assert_system(&plan.first);
    assert!(plan.slots() >= plan.keys(), "{plan:?}");
    assert!(plan.success > 0.05 && plan.seeds >= 24);
    if let Some(second) = plan.second {
        assert_system(&second);
        assert!(second.slots() >= plan.bumped, "{plan:?}");
        assert!(plan.first.slots() + plan.bumped >= plan.keys(), "{plan:?}");
        assert_eq!((plan.first.last_bytes, second.width), (8, Width::W256));
        assert!(rate(&second) <= plan.solution_rate, "{plan:?}");
        assert!((8..64).contains(&plan.counting.spare), "{plan:?}");
    } else {
        assert_eq!(plan.bumped, 0);
    }
    if settings.fast {
        assert!(plan.first.boundary == 0 && plan.second.is_none_or(|second| second.boundary == 0));
    }
    match settings.target {
        Target::Rate(rate) => assert!(plan.expected_rate() <= rate, "{plan:?}"),
        Target::Columns(columns) if settings.fast => assert!(plan.columns() >= columns),
        Target::Columns(columns) => {
            let off = (plan.columns() - columns).abs() * plan.first.starts as f64;
            assert!(off <= 1.0, "{plan:?}");
        }
        Target::BitsPerKey(bits) => assert!(plan.bits_per_key() <= bits, "{plan:?}"),
        Target::TotalBytes(bytes) => assert!(plan.size_in_bytes() <= bytes, "{plan:?}"),
        Target::Bits { .. } => {}
    }
}

/// The error must concern these settings or this number of keys, and nothing else.
fn assert_reasonable(error: &BuildError, settings: &Settings) {
    match (error, settings.target) {
        (BuildError::RateTooLow { rate, lowest }, Target::Rate(_)) => assert!(lowest > rate),
        (
            BuildError::SizeTooSmall { bytes, needed, .. },
            Target::BitsPerKey(_) | Target::TotalBytes(_),
        ) => assert!(bytes < needed),
        _ => panic!("{settings:?}: {error}"),
    }
}

#[test]
fn plans_are_sound_for_any_number_of_keys() {
    for settings in all_settings() {
        for target in TARGETS {
            let settings = Settings { target, ..settings };
            for keys in numbers_of_keys() {
                match settings.plan(keys, 0) {
                    Ok(plan) => {
                        assert_eq!(plan.keys(), keys);
                        assert!(settings.width.is_none_or(|width| width == plan.width()));
                        if let (Some(variant), 1..) = (settings.variant, keys) {
                            assert_eq!(plan.variant(), variant);
                        }
                        assert_sound(&plan, &settings);
                    }
                    Err(error) => assert_reasonable(&error, &settings),
                }
            }
        }
    }
}

#[test]
fn every_small_set_meets_its_rate_and_its_size() {
    for keys in 1..=3000 {
        for rate in [0.5, 0.01, 1e-6] {
            assert_sound(&plan(of(Target::Rate(rate)), keys), &of(Target::Rate(rate)));
        }
        let settings = of(Target::BitsPerKey(12.0));
        match settings.plan(keys, 0) {
            Ok(plan) => assert_sound(&plan, &settings),
            Err(error) => assert_reasonable(&error, &settings),
        }
    }
}

#[test]
fn overhead_and_growth_add_slots() {
    for settings in all_settings() {
        for keys in [1, 100, 5000, 1 << 20, (1 << 30) + 1] {
            for overhead in [0.0, 0.01, 1.0, 100.0] {
                let settings = Settings { overhead, target: Target::Columns(7.7), ..settings };
                let grown = |growth| settings.plan(keys, growth).expect("a plan");
                let slots: Vec<u64> = (0..=16).map(|growth| grown(growth).slots()).collect();
                assert!(slots[0] as f64 >= keys as f64 * (1.0 + overhead));
                // What the user requests is not added to the growth, but rounded to blocks.
                let sorted = slots.is_sorted_by(|few, more| *few <= more + 64 + more / 1024);
                assert!(sorted, "{settings:?} {keys} keys: {slots:?}");
                let more = slots[16] > slots[0] || grown(16).bumped > grown(0).bumped;
                assert!(more, "{settings:?} {keys} keys: {slots:?}");
                assert_sound(&grown(16), &settings);
            }
        }
    }
}

#[test]
fn slots_do_not_depend_on_the_columns() {
    for settings in all_settings() {
        for keys in numbers_of_keys().into_iter().filter(|&keys| keys > 0) {
            let slots = |target| {
                let plan = plan(Settings { target, ..settings }, keys);
                let second = plan.second.map(|second| (second.starts, second.last_bytes));
                (plan.first.starts, plan.first.last_bytes, plan.bumped, plan.counting, second)
            };
            let one = slots(Target::Columns(1.0));
            assert_eq!(one, slots(Target::Columns(32.0)));
            assert_eq!(one, slots(Target::Columns(7.3)));
            assert_eq!(one, slots(Target::Rate(0.02)));
        }
    }
}

/// How much smaller one more key may make a filter: with whole columns nothing. Otherwise the
/// boundaries of both layers move by blocks.
fn ripple(plan: &Plan, target: Target) -> u64 {
    match target {
        Target::Columns(columns) if columns.fract() == 0.0 => 0,
        _ => 8 * (1 + u64::from(plan.second.is_some())) * plan.width().blocks() as u64,
    }
}

/// What a new segment of the second layer adds, and the next block of the first one takes away
/// again.
fn new_segment(plan: &Plan) -> u64 {
    match plan.second {
        Some(second) if second.segments() > 1 => 3 * 8 * u64::from(second.columns),
        _ => 0,
    }
}

#[test]
fn size_grows_with_the_keys_inside_an_octave() {
    let targets =
        [Target::Columns(1.0), Target::Columns(8.0), Target::Columns(7.5), Target::Rate(0.01)];
    for settings in all_settings() {
        for target in targets {
            let settings = Settings { target, ..settings };
            for octave in 0..31 {
                let first = 1u64 << octave;
                let mut largest = 0;
                // Every number where octaves are short, otherwise 64 runs of 4.
                for at in (first..2 * first).step_by((first / 64).max(4) as usize) {
                    for keys in at..(at + 4).min(2 * first) {
                        let plan = plan(settings, keys);
                        let size = plan.size_in_bytes();
                        let drop = ripple(&plan, target) + new_segment(&plan);
                        assert!(size + drop >= largest, "{largest} {settings:?}: {plan:?}");
                        largest = largest.max(size);
                    }
                }
            }
        }
    }
}

#[test]
fn targets_are_met_with_nothing_to_spare() {
    for settings in all_settings().into_iter().filter(|settings| !settings.fast) {
        for keys in numbers_of_keys().into_iter().filter(|&keys| keys > 0) {
            let frame = Frame::new(&settings, keys, 0);
            for rate in [0.9, 0.3, 0.01, 1e-3, 1e-5, 1e-8] {
                let Ok(plan) = (Settings { target: Target::Rate(rate), ..settings }).plan(keys, 0)
                else {
                    continue;
                };
                // Of a Bumped filter there is a margin.
                if plan.second.is_some() {
                    continue;
                }
                if let Some(fewer @ 1..) = units(&plan.first).checked_sub(1) {
                    assert!(frame.with(fewer).expected_rate() > rate, "{plan:?}");
                }
            }
            for bits in [2.5, 6.0, 9.7, 20.0] {
                let target = Target::BitsPerKey(bits);
                let Ok(plan) = (Settings { target, ..settings }).plan(keys, 0) else {
                    continue;
                };
                let bytes = (keys as f64 * bits / 8.0) as u64;
                let more = units(&plan.first) + 1;
                if more <= plan.first.starts * u64::from(MAX_COLUMNS) {
                    assert!(frame.with(more).size_in_bytes() > bytes, "{plan:?}");
                }
            }
        }
    }
}

#[test]
fn one_more_than_the_most_keys_does_not_fit() {
    for settings in all_settings() {
        for target in [Target::Columns(8.0), Target::Columns(7.5), Target::Rate(0.01)] {
            let settings = Settings { target, ..settings };
            for octave in 0..31 {
                let bytes = FOOTER + 10 + (37u64 << octave);
                let max = settings.max_keys(bytes).expect("settings that are valid");
                let fits = |keys| plan(settings, keys).size_in_bytes() <= bytes;
                assert!(max == 0 || fits(max), "{settings:?} {bytes}");
                for more in 1..400 {
                    assert!(!fits(max + more), "{settings:?} {bytes}: {max} + {more}");
                }
            }
        }
    }
    assert_eq!(of(Target::Rate(0.01)).max_keys(10).expect("valid"), 0);
}

/// The overheads that the planner is made for: without the footer, at 8 columns.
#[test]
fn default_filters_are_small() {
    let bounds = [
        (1_000, 0.009),
        (3_000, 0.007),
        (10_000, 0.008),
        (30_000, 0.0045),
        (100_000, 0.0025),
        (1_000_000, 0.0015),
        (10_000_000, 0.0014),
        (1_000_000_000, 0.0019),
        (1 << 36, 0.0025),
    ];
    for (keys, bound) in bounds {
        let plan = plan(of(Target::Columns(8.0)), keys);
        let overhead = (plan.size_in_bytes() - FOOTER) as f64 / keys as f64 - 1.0;
        assert!(overhead <= bound, "{keys} keys: {overhead}");
        let thorough = Settings { effort: Effort::Thorough, ..of(Target::Columns(8.0)) };
        let thorough = thorough.plan(keys, 0).expect("a plan");
        assert!(thorough.size_in_bytes() <= plan.size_in_bytes(), "{keys} keys");
    }
}

/// `constants standard`: slots with which a seed works with the planned probability, measured.
#[test]
fn standard_slots_are_those_measured() {
    let measured = [
        (Width::W128, 10_000, 0.037),
        (Width::W128, 100_000, 0.0665),
        (Width::W128, 1_000_000, 0.0885),
        (Width::W192, 10_000, 0.0125),
        (Width::W192, 100_000, 0.0275),
        (Width::W192, 1_000_000, 0.0390),
        (Width::W256, 1_000, 0.008),
        (Width::W256, 10_000, 0.0062),
        (Width::W256, 100_000, 0.0160),
        (Width::W256, 1_000_000, 0.0242),
    ];
    for (width, keys, extra) in measured {
        let settings = Settings {
            variant: Some(Variant::Standard),
            width: Some(width),
            ..of(Target::Columns(8.0))
        };
        let slots = plan(settings, keys).slots() as f64;
        let expected = keys as f64 * (1.0 + extra);
        assert!((slots - expected).abs() <= 0.001 * expected, "{width} {keys}: {slots}");
    }
}

#[test]
fn fast_filters_are_narrow_and_have_few_extra_slots() {
    let fast = Settings { fast: true, ..of(Target::Rate(0.003)) };
    for keys in numbers_of_keys().into_iter().filter(|&keys| keys >= 1000) {
        let plan = plan(fast, keys);
        assert_eq!(plan.variant(), Variant::Standard);
        let extra = plan.slots() as f64 / keys as f64 - 1.0;
        assert!(extra <= 0.102, "{plan:?}");
        assert_eq!(plan.first.columns, 9);
        assert_eq!(plan.width() == Width::W128, keys < 1 << 22);
    }
}

#[test]
fn maps_with_wide_values_are_stored_by_rows() {
    let bits = |value, fingerprint| of(Target::Bits { value, fingerprint });
    for keys in numbers_of_keys() {
        for (value, fingerprint) in [(1, 0), (8, 0), (5, 4), (64, 0), (32, 32)] {
            let plan = plan(bits(value, fingerprint), keys);
            let columns = value + fingerprint;
            assert_eq!((plan.first.columns, plan.fingerprint), (columns, fingerprint));
            assert_eq!(plan.first.rows, columns > 8 && keys >= 1 << 12);
            assert!(!plan.first.rows || plan.width() == Width::W256);
            assert_eq!(plan.first.boundary, 0);
            assert_eq!(plan.variant() == Variant::Bumped, keys >= 1 << 14);
            let least = (keys * u64::from(columns)).div_ceil(8) + FOOTER;
            assert!(plan.size_in_bytes() >= least, "{plan:?}");
            if let Some(second) = plan.second {
                assert_eq!((second.columns, second.boundary), (columns, 0));
                assert_eq!(second.rows, columns > 8 && plan.bumped >= 1 << 12);
            }
            if keys >= 1 << 20 {
                assert!((plan.size_in_bytes() as f64) < 1.006 * least as f64, "{plan:?}");
            }
        }
    }
    assert!(matches!(bits(60, 5).plan(9, 0), Err(BuildError::InvalidBits { max: 64, .. })));
    assert!(matches!(bits(0, 5).plan(9, 0), Err(BuildError::InvalidBits { .. })));
}

#[test]
fn invalid_settings_are_errors() {
    let error = |target| of(target).plan(5, 0).expect_err("an error");
    for rate in [0.0, 1.0, -0.1, f64::NAN, f64::INFINITY] {
        assert!(matches!(error(Target::Rate(rate)), BuildError::InvalidRate { .. }));
    }
    for columns in [0.0, 32.1, f64::NAN] {
        assert!(matches!(error(Target::Columns(columns)), BuildError::InvalidColumns { .. }));
    }
    for bits in [0.0, -1.0, 1e7, f64::NAN] {
        assert!(matches!(error(Target::BitsPerKey(bits)), BuildError::InvalidBitsPerKey { .. }));
    }
    assert!(matches!(error(Target::Rate(1e-12)), BuildError::RateTooLow { .. }));
    assert!(matches!(error(Target::TotalBytes(40)), BuildError::SizeTooSmall { .. }));
    for overhead in [-0.1, 101.0, f64::NAN] {
        let settings = Settings { overhead, ..Settings::default() };
        assert!(matches!(settings.plan(5, 0), Err(BuildError::InvalidOverhead { .. })));
    }
    let many = Settings::default().plan(MAX_KEYS + 1, 0);
    assert!(matches!(many, Err(BuildError::TooManyKeys { .. })));
}

#[test]
fn segments_are_full_but_the_last() {
    for keys in [1 << 20, 1 << 24, (1 << 30) + 12_345] {
        let plan = plan(Settings::default(), keys);
        assert_eq!(plan.segments(), plan.first.starts.div_ceil(SEGMENT_STARTS));
        assert!(plan.peak_memory() < 12 * keys + (16 << 20), "{plan:?}");
        let four = plan.with_limits(Limits { threads: 4, ..Limits::default() });
        assert!(four.peak_memory() > plan.peak_memory());
    }
}
