//! A build takes the memory that its plan reports, and keeps a limit.
//!
//! Each case runs in a separate process, because it measures the memory of the process.

#![cfg(all(target_os = "linux", feature = "internals", feature = "parallel"))]

mod support;

use ribbonfilter_next::{BuildError, Filter, FilterBuilder, Function, Variant, Width};
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

/// What is built.
#[derive(Clone, Copy, Debug)]
enum Built {
    /// The fastest filter.
    Fast,
    /// The default, a Bumped filter.
    Filter,
    /// A function of this number of bits.
    Function(u32),
}

/// What is built, with how many threads.
type Case = (Built, usize);

const CASES: [Case; 8] = [
    (Built::Fast, 1),
    (Built::Fast, 2),
    (Built::Filter, 1),
    (Built::Filter, 2),
    (Built::Function(8), 1),
    (Built::Function(8), 2),
    (Built::Function(32), 1),
    (Built::Function(32), 2),
];

/// Large enough that the allocator returns freed memory to the system.
fn keys() -> u64 {
    scale(5_000_000, 5_000_000, 10_000_000)
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

#[test]
fn the_plan_tells_the_peak_and_the_limit_is_kept() {
    each_in_a_process("the_plan_tells_the_peak_and_the_limit_is_kept", &CASES, measure);
}

fn measure((built, threads): Case) {
    if !reset_peak() {
        return; // a system that does not let one measure
    }
    let before = status("VmRSS");
    let needed = match built {
        Built::Fast => build_filter(|| Filter::builder().fast().threads(threads)),
        Built::Filter => build_filter(|| Filter::builder().threads(threads)),
        Built::Function(bits) => build_function(bits, threads),
    };
    let taken = (peak_since_reset() - before) as f64;
    let (ratio, bytes) = (taken / needed as f64, taken / keys() as f64);
    println!("{built:?}, {threads} threads: {bytes:.2} bytes per key, {ratio:.3} of the plan");
    assert!((0.80..1.10).contains(&ratio), "{ratio} of the plan: {built:?}, {threads} threads");
}

/// Builds a filter within the peak memory that its plan reports, and returns that peak.
fn build_filter<'p>(builder: impl Fn() -> FilterBuilder<'p>) -> u64 {
    let needed = builder().plan_for(keys()).expect("a plan").peak_memory();
    let mut kept = builder().kernel(kernel()).max_memory(needed);
    kept.extend_hashes((0..keys()).map(|index| Keys::Random.hash(index)));
    kept.finish().expect("within the limit");
    needed
}

/// Builds a function within the peak memory that its plan reports, and returns that peak.
fn build_function(bits: u32, threads: usize) -> u64 {
    let builder = || Function::builder().value_bits(bits).threads(threads);
    let needed = builder().plan_for(keys()).expect("a plan").peak_memory();
    let mut kept = builder().kernel(kernel()).max_memory(needed);
    kept.extend_hashes((0..keys()).map(|index| (Keys::Random.hash(index), index & 0xff)));
    kept.finish().expect("within the limit");
    needed
}

/// 64 MiB for 5 * 10^6 keys. With 32 columns the build needs groups; with 24 columns all would fit, but
/// the hashes were spilled while they were pushed. With 8 columns the limit is 24 MiB, less than the
/// hashes take.
#[test]
fn a_build_that_spills_stays_within_its_limit() {
    let cases = [
        (Variant::Standard, Width::W192, 24.0, 1),
        (Variant::Standard, Width::W192, 24.0, 2),
        (Variant::Bumped, Width::W192, 32.0, 1),
        (Variant::Bumped, Width::W256, 32.0, 2),
        (Variant::Standard, Width::W128, 8.0, 1),
        (Variant::Bumped, Width::W192, 8.0, 1),
        (Variant::Bumped, Width::W128, 8.0, 2),
    ];
    each_in_a_process("a_build_that_spills_stays_within_its_limit", &cases, measure_spilling);
}

fn measure_spilling((variant, width, columns, threads): (Variant, Width, f64, usize)) {
    if !reset_peak() {
        return; // a system that does not let one measure
    }
    let limit = if columns > 8.0 { 64 << 20 } else { 24 << 20 };
    let build = |builder: FilterBuilder<'_>| {
        let mut builder = builder
            .variant(variant)
            .width(width)
            .columns(columns)
            .threads(threads)
            .kernel(kernel());
        let planned = builder.plan_for(keys()).expect("a plan").peak_memory();
        builder.extend_hashes((0..keys()).map(|index| Keys::Random.hash(index)));
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
    let (here, in_memory) = build(Filter::builder());
    assert!(in_memory > limit || columns == 24.0, "the test does not spill");
    assert!(filter.as_bytes() == here.as_bytes(), "{variant} {width}");
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
