//! A build keeps its memory limit.
//!
//! Each case runs in a separate process, because it measures the memory of the process.

#![cfg(target_os = "linux")]

mod support;

use ribbonfilter_exact::ExactSet;
use support::{Keys, kernel};

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

/// How an exact set gets its others.
#[derive(Clone, Copy, Debug)]
enum Others {
    Spilled,
    SpilledInGroups,
    ReadTwice,
}

/// 24 MiB for an exact set of 5 * 10^6 keys, which is less than the size of their hashes.
#[test]
fn an_exact_set_stays_within_its_limit() {
    let cases = [Others::Spilled, Others::SpilledInGroups, Others::ReadTwice];
    each_in_a_process("an_exact_set_stays_within_its_limit", &cases, measure_exact);
}

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
