//! A build takes the memory that its plan reports, and keeps a limit.
//!
//! Each case runs in a separate process, because it measures the memory of the process.

#![cfg(target_os = "linux")]

mod support;

#[cfg(feature = "std")]
use ribbonfilter::FilterBuilder;
use ribbonfilter::{BuildError, ExactSet, Filter, Function, Variant, Width};
use support::{Keys, kernel, scale};

/// A field of `/proc/self/status`, in bytes.
fn status(field: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("a Linux system");
    let line = status.lines().find(|line| line.starts_with(field)).expect("a known field");
    let kilobytes = line.split_whitespace().nth(1).and_then(|figure| figure.parse::<u64>().ok());
    kilobytes.expect("a figure") * 1024
}

/// The peak of the resident set since the last reset.
fn peak_since_reset() -> u64 {
    status("VmHWM")
}

/// Resets the peak of the resident set; returns whether the system allows it.
fn reset_peak() -> bool {
    std::fs::write("/proc/self/clear_refs", "5").is_ok()
}

/// The value bits of a function, or `None` for a filter; variant, width and threads.
type Case = (Option<u32>, Variant, Width, usize);

const CASES: [Case; 12] = [
    (None, Variant::Homogeneous, Width::W64, 1),
    (None, Variant::Homogeneous, Width::W64, 2),
    (None, Variant::Standard, Width::W128, 1),
    (None, Variant::Standard, Width::W64, 2),
    (None, Variant::Balanced, Width::W64, 1),
    (None, Variant::Balanced, Width::W128, 2),
    (None, Variant::Bumped, Width::W128, 1),
    (None, Variant::Bumped, Width::W64, 2),
    (Some(8), Variant::Standard, Width::W64, 2),
    (Some(8), Variant::Balanced, Width::W64, 1),
    (Some(8), Variant::Bumped, Width::W128, 1),
    (Some(64), Variant::Bumped, Width::W64, 2),
];

#[test]
fn the_plan_tells_the_peak_and_the_limit_is_kept() {
    each_in_a_process("the_plan_tells_the_peak_and_the_limit_is_kept", &CASES, measure);
}

/// Runs a test again for each case, in a process that measures this case.
fn each_in_a_process<C: Copy + std::fmt::Debug>(test: &str, cases: &[C], measure: fn(C)) {
    const CASE: &str = "RIBBONFILTER_MEMORY_CASE";
    if let Ok(case) = std::env::var(CASE) {
        return measure(cases[case.parse::<usize>().expect("a number")]);
    }
    for (number, case) in cases.iter().enumerate() {
        let mut child = std::process::Command::new(std::env::current_exe().expect("this test"));
        child.args(["--exact", "--nocapture", test]);
        let status = child.env(CASE, number.to_string()).status().expect("it can be started");
        assert!(status.success(), "{case:?}");
    }
}

/// 64 MiB for 10^7 keys, which is less than the size of the hashes, on one thread and on two.
#[cfg(feature = "std")]
#[test]
fn a_build_that_spills_stays_within_its_limit() {
    let kinds = [
        (Variant::Standard, Width::W64),
        (Variant::Homogeneous, Width::W64),
        (Variant::Balanced, Width::W64),
        (Variant::Bumped, Width::W64),
        (Variant::Bumped, Width::W128),
    ];
    let cases = kinds.map(|(variant, width)| [1, 2].map(|threads| (variant, width, threads)));
    let test = "a_build_that_spills_stays_within_its_limit";
    each_in_a_process(test, cases.as_flattened(), measure_spilling);
}

#[cfg(feature = "std")]
fn measure_spilling((variant, width, threads): (Variant, Width, usize)) {
    if !reset_peak() {
        return; // a system that does not let one measure
    }
    let keys = scale(5_000_000, 5_000_000, 10_000_000);
    let limit = 64 << 20;
    let build = |builder: FilterBuilder<'_>| {
        let mut builder =
            builder.variant(variant).width(width).columns(8.0).threads(threads).kernel(kernel());
        let planned = builder.plan_for(keys).expect("a plan").peak_memory();
        builder.extend_hashes((0..keys).map(|index| Keys::Random.hash(index)));
        (builder.finish().expect("within the limit"), planned)
    };
    let before = status("VmRSS");
    let (filter, planned) =
        build(Filter::builder().max_memory(limit).spill_to(std::env::temp_dir()));
    let taken = peak_since_reset() - before;
    println!(
        "{variant}, w = {width}, {threads} threads: {:.1} MB taken, {:.1} MB planned, {:.1} MB allowed",
        taken as f64 / 1e6,
        planned as f64 / 1e6,
        limit as f64 / 1e6,
    );
    assert!(planned <= limit && taken <= limit, "{taken} of {planned}: {variant} {width}");
    let (here, _) = build(Filter::builder());
    assert!(filter.as_bytes() == here.as_bytes(), "{variant} {width}");
}

/// How an exact set gets its others.
#[cfg(feature = "std")]
#[derive(Clone, Copy, Debug)]
enum Others {
    Spilled,
    SpilledInGroups,
    ReadTwice,
}

/// 24 MiB for an exact set of 5 * 10^6 keys, which is less than the size of their hashes.
#[cfg(feature = "std")]
#[test]
fn an_exact_set_stays_within_its_limit() {
    let cases = [Others::Spilled, Others::SpilledInGroups, Others::ReadTwice];
    each_in_a_process("an_exact_set_stays_within_its_limit", &cases, measure_exact);
}

#[cfg(feature = "std")]
fn measure_exact(form: Others) {
    if !reset_peak() {
        return; // a system that does not let one measure
    }
    let (members, keys, limit) = (20_000, 5_000_000, 24 << 20);
    let before = status("VmRSS");
    let mut builder = ExactSet::builder().max_memory(limit).kernel(kernel());
    let hash = |index| Keys::Random.hash(index);
    let set = match form {
        Others::ReadTwice => {
            builder.extend_member_hashes((0..members).map(hash));
            builder.finish_with(|others| {
                (members..keys).for_each(|index| others.push_hash(hash(index)));
                Ok(())
            })
        }
        Others::Spilled => {
            builder = builder.spill_to(std::env::temp_dir());
            builder.extend_member_hashes((0..members).map(hash));
            builder.extend_other_hashes((members..keys).map(hash));
            builder.finish()
        }
        Others::SpilledInGroups => {
            builder = builder.spill_to(std::env::temp_dir());
            (0..members).for_each(|index| builder.push_member_hash_in(index % 9, hash(index)));
            (members..keys).for_each(|index| builder.push_other_hash_in(index % 9, hash(index)));
            builder.finish()
        }
    };
    let taken = peak_since_reset() - before;
    println!("{form:?}: {:.1} MB taken, {:.1} MB allowed", taken as f64 / 1e6, limit as f64 / 1e6);
    assert_eq!(set.expect("within the limit").universe_len(), keys);
    assert!(taken <= limit, "{taken} of {limit}: {form:?}");
}

fn measure((value_bits, variant, width, threads): Case) {
    if !reset_peak() {
        return; // a system that does not let one measure
    }
    // Large enough that the allocator returns freed memory to the system.
    let keys = scale(5_000_000, 5_000_000, 10_000_000);
    let before = status("VmRSS");
    let needed = match value_bits {
        None => build_filter(variant, width, threads, keys),
        Some(bits) => build_function(bits, variant, width, threads, keys),
    };
    let taken = (peak_since_reset() - before) as f64;
    let ratio = taken / needed as f64;
    let what = value_bits.map_or("filter".into(), |bits| format!("function of {bits} bits"));
    let bytes = taken / keys as f64;
    println!("{variant} {what}, w = {width}, {threads} threads: {bytes} bytes per key");
    assert!((0.90..1.10).contains(&ratio), "{ratio} of the plan: {what}, {variant} {width}");
}

/// Builds a filter within the peak memory that its plan reports, and returns that peak.
fn build_filter(variant: Variant, width: Width, threads: usize, keys: u64) -> u64 {
    let builder = || Filter::builder().variant(variant).width(width).columns(8.0).threads(threads);
    let needed = builder().plan_for(keys).expect("a plan").peak_memory();
    let mut kept = builder().max_memory(needed);
    kept.extend_hashes((0..keys).map(|index| Keys::Random.hash(index)));
    kept.finish().expect("within the limit");
    needed
}

/// Builds a function within the peak memory that its plan reports, and returns that peak.
fn build_function(bits: u32, variant: Variant, width: Width, threads: usize, keys: u64) -> u64 {
    let builder =
        || Function::builder().variant(variant).width(width).value_bits(bits).threads(threads);
    let needed = builder().plan_for(keys).expect("a plan").peak_memory();
    let mut kept = builder().max_memory(needed);
    kept.extend_hashes((0..keys).map(|index| (Keys::Random.hash(index), index & 0xff)));
    kept.finish().expect("within the limit");
    needed
}

#[test]
fn a_limit_below_the_plan_is_refused_before_any_work() {
    let builder = || Filter::builder().threads(1);
    let needed = builder().plan_for(100_000).expect("a plan").peak_memory();
    let mut refused = builder().max_memory(needed - 1).progress(|_| panic!("no work"));
    refused.extend(0..100_000);
    let error = refused.finish().expect_err("a limit");
    assert!(matches!(error, BuildError::MemoryLimit { .. }), "{error}");
    assert!(error.to_string().contains("allow more"), "{error}");
}
