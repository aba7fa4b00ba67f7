//! What a build takes is what its plan told, and a limit is kept.
//!
//! Each case runs in a process of its own, since it measures the process.

#![cfg(target_os = "linux")]

mod support;

use ribbonfilter::{BuildError, Filter, Variant, Width};
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

const CASES: [(Variant, Width, usize); 8] = [
    (Variant::Homogeneous, Width::W64, 1),
    (Variant::Homogeneous, Width::W64, 2),
    (Variant::Standard, Width::W128, 1),
    (Variant::Standard, Width::W64, 2),
    (Variant::Balanced, Width::W64, 1),
    (Variant::Balanced, Width::W128, 2),
    (Variant::Bumped, Width::W128, 1),
    (Variant::Bumped, Width::W64, 2),
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

fn measure((variant, width, threads): (Variant, Width, usize)) {
    if !reset_peak() {
        return; // a system that does not let one measure
    }
    // Large enough that the allocator gives freed memory back to the system.
    let keys = scale(5_000_000, 5_000_000, 10_000_000);
    let builder = || Filter::builder().variant(variant).width(width).columns(8.0).threads(threads);
    let needed = builder().plan_for(keys).expect("a plan").peak_memory();
    let before = status("VmRSS");
    let mut kept = builder().max_memory(needed);
    kept.extend_hashes((0..keys).map(|index| Keys::Random.hash(index)));
    let filter = kept.finish().expect("within the limit");
    let taken = (peak_since_reset() - before) as f64;
    let ratio = taken / needed as f64;
    println!("{variant} w = {width}, {threads} threads: {} bytes a key", taken / keys as f64);
    assert!((0.90..1.10).contains(&ratio), "{ratio} of the plan: {filter:?}");
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
