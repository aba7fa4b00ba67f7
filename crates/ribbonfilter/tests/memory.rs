//! What a build takes is what its plan told, and a limit is kept.
//!
//! Each case runs in a process of its own, since it measures the process.

#![cfg(target_os = "linux")]

mod support;

use ribbonfilter::{BuildError, Filter, Function, Variant, Width};
use support::{Keys, scale};

/// A figure of `/proc/self/status`, in bytes.
fn status(field: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("a Linux system");
    let line = status.lines().find(|line| line.starts_with(field)).expect("a known field");
    let kilobytes = line.split_whitespace().nth(1).and_then(|figure| figure.parse::<u64>().ok());
    kilobytes.expect("a figure") * 1024
}

/// The resident set at its highest since the last call.
fn peak_since_reset() -> u64 {
    status("VmHWM")
}

/// Forgets the highest resident set so far; whether the system allows it.
fn reset_peak() -> bool {
    std::fs::write("/proc/self/clear_refs", "5").is_ok()
}

/// A filter, or a function of so many bits; its variant, width and threads.
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
    const CASE: &str = "RIBBONFILTER_MEMORY_CASE";
    if let Ok(case) = std::env::var(CASE) {
        return measure(CASES[case.parse::<usize>().expect("a number")]);
    }
    for (number, case) in CASES.iter().enumerate() {
        let mut child = std::process::Command::new(std::env::current_exe().expect("this test"));
        child.args(["--exact", "the_plan_tells_the_peak_and_the_limit_is_kept"]);
        let status = child.env(CASE, number.to_string()).status().expect("it can be started");
        assert!(status.success(), "{case:?}");
    }
}

fn measure((value_bits, variant, width, threads): Case) {
    if !reset_peak() {
        return; // a system that does not let one measure
    }
    // Large enough that the allocator gives freed memory back to the system.
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
    println!("{variant} {what}, w = {width}, {threads} threads: {bytes} bytes a key");
    assert!((0.90..1.10).contains(&ratio), "{ratio} of the plan: {what}, {variant} {width}");
}

/// Builds a filter within what its plan tells, and returns that.
fn build_filter(variant: Variant, width: Width, threads: usize, keys: u64) -> u64 {
    let builder = || Filter::builder().variant(variant).width(width).columns(8.0).threads(threads);
    let needed = builder().plan_for(keys).expect("a plan").peak_memory();
    let mut kept = builder().max_memory(needed);
    kept.extend_hashes((0..keys).map(|index| Keys::Random.hash(index)));
    kept.finish().expect("within the limit");
    needed
}

/// The same for a function.
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
