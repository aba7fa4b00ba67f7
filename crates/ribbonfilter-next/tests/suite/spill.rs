//! Hashes beyond the memory limit are spilled to disk, and the result is the same.

#![cfg(feature = "std")]

use crate::support::{Keys, builder, kernel, kinds, random, scale};
use ribbonfilter_next::{BuildError, Filter, FilterBuilder, Phase, Variant, Width};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

/// A reused builder spills again, to the same directory.
#[test]
fn a_builder_that_was_reset() {
    let directory = Directory::new("reset");
    let mut builder = Filter::builder().max_memory(24 << 20).spill_to(&directory.0);
    for round in 0..2 {
        let hashes = (0..1_000_000).map(|index| random(round, index));
        builder.extend_hashes(hashes.clone());
        let filter = builder.finish_and_reset().expect("ordinary keys build");
        assert_eq!(filter.len(), 1_000_000);
        assert!(hashes.clone().all(|hash| filter.contains_hash(hash)));
    }
    // The plan still fits the limit, so the directory is still set: these keys would not fit into
    // memory.
    assert!(builder.plan_for(1_000_000).expect("a plan").peak_memory() <= 24 << 20);
    directory.assert_empty();
}

/// A directory for one test. Nothing may be left in it.
struct Directory(PathBuf);

impl Directory {
    fn new(name: &str) -> Self {
        let name = format!("ribbonfilter-{name}-{}", std::process::id());
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir(&path).expect("a directory");
        Self(path)
    }

    #[track_caller]
    fn assert_empty(&self) {
        assert_eq!(std::fs::read_dir(&self.0).expect("a directory").count(), 0);
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        // This fails unless the directory is empty.
        let removed = std::fs::remove_dir(&self.0);
        if !std::thread::panicking() {
            removed.expect("nothing was left");
        }
    }
}

fn push(
    mut builder: FilterBuilder<'_>,
    hashes: impl IntoIterator<Item = u64>,
) -> FilterBuilder<'_> {
    hashes.into_iter().for_each(|hash| builder.push_hash(hash));
    builder
}

/// The minimum limit with which `keys` keys can be built on one thread.
fn least(builder: FilterBuilder<'_>, directory: &Path, keys: u64) -> u64 {
    let plan = builder.threads(1).max_memory(1).spill_to(directory).plan_for(keys);
    plan.expect("a plan").peak_memory()
}

#[test]
fn the_bytes_are_those_of_a_build_in_memory() {
    let directory = Directory::new("same-bytes");
    for keys in [300_000, scale(600_000, 3_000_000, 10_000_000)] {
        for (variant, width) in kinds(keys) {
            let builder = || builder(variant, width, 7.3).kernel(kernel());
            let hashes = || (0..keys).map(|index| Keys::Random.hash(index));
            let here = push(builder().threads(1), hashes());
            let in_memory = here.plan().expect("a plan").peak_memory();
            let here = here.finish().expect("in memory");
            let min = least(builder(), &directory.0, keys);
            // Equal for a single segment, which cannot be read in parts.
            assert!(min <= in_memory, "{variant} {width}: {min} of {in_memory}");
            let limits = [(1, min), (2, min * 5 / 4), (3, min * 2), (1, in_memory)];
            for (threads, limit) in limits {
                let builder = builder().threads(threads).max_memory(limit);
                let spilling = push(builder.spill_to(&directory.0), hashes());
                let plan = spilling.plan().expect("a plan");
                assert!(plan.peak_memory() <= limit, "{variant} {width}: {plan:?}");
                let filter = spilling.finish().expect("it fits");
                assert!(filter.as_bytes() == here.as_bytes(), "{variant} {width}, {keys} keys");
            }
        }
    }
}

/// The name of a set, and its hash for every index.
type Set = (&'static str, fn(u64) -> u64);

/// Duplicates are also removed on disk, and the plan is for the distinct keys.
#[test]
fn duplicates_are_removed_on_disk() {
    let directory = Directory::new("duplicates");
    let keys = 400_000;
    let sets: [Set; 4] = [
        ("each twice", |index| random(1, index / 2)),
        ("few", |index| random(1, index.saturating_sub(100))),
        ("half of them one", |index| random(1, if index % 2 == 0 { 0 } else { index })),
        ("all one", |_| 7),
    ];
    for (variant, width) in kinds(keys) {
        for (name, hash) in sets {
            let builder = || builder(variant, width, 4.0).kernel(kernel());
            let here = push(builder(), (0..keys).map(hash)).finish().expect("in memory");
            let limit = least(builder(), &directory.0, keys);
            let spilling = builder().max_memory(limit).spill_to(&directory.0);
            let filter = push(spilling, (0..keys).map(hash)).finish();
            let filter =
                filter.unwrap_or_else(|error| panic!("{variant} {width}, {name}: {error}"));
            assert!(filter.as_bytes() == here.as_bytes(), "{variant} {width}, {name}");
        }
    }
}

#[test]
fn a_limit_that_is_too_low_is_refused_with_one_that_is_not() {
    let directory = Directory::new("too-low");
    let keys = 300_000;
    let hashes = || (0..keys).map(|index| Keys::Integers.hash(index));
    for (variant, width) in kinds(keys) {
        let within = |limit| {
            let builder = builder(variant, width, 8.0).max_memory(limit).spill_to(&directory.0);
            let mut builder = builder.threads(2).progress(|_| ControlFlow::Continue(()));
            builder.extend_hashes(hashes());
            builder.finish()
        };
        match within(100_000) {
            Err(BuildError::MemoryLimit { needed, limit: 100_000 }) => {
                within(needed).expect("what the error reports");
                let refused = within(needed / 10 * 9);
                assert!(matches!(refused, Err(BuildError::MemoryLimit { .. })), "{refused:?}");
            }
            other => panic!("{variant} {width}: {other:?}"),
        }
    }
}

/// Without a limit nothing is written, so an invalid directory is not an error.
#[test]
fn no_limit_no_file() {
    let mut builder = Filter::builder().spill_to("/nowhere/at/all");
    builder.extend(0..100_000);
    assert!(builder.finish().expect("in memory").contains(99_999));
}

fn small() -> FilterBuilder<'static> {
    Filter::builder().variant(Variant::Standard).width(Width::W128).threads(1).max_memory(20 << 20)
}

#[test]
fn a_directory_that_cannot_be_written_to() {
    let directory = Directory::new("unwritable");
    let file = directory.0.join("file");
    std::fs::write(&file, "").expect("a file");
    for path in [directory.0.join("none"), file.clone()] {
        let mut builder = small().spill_to(&path);
        builder.extend(0..3_000_000);
        // Hashes that do not fit into memory are dropped.
        assert!(builder.len() < 1_400_000);
        let error = builder.finish().expect_err("no directory");
        assert!(matches!(error, BuildError::Spill { .. }), "{error:?}");
        let said = error.to_string();
        assert!(said.contains(path.to_str().expect("a name")), "{said}");
        assert!(said.contains("name a directory that exists"), "{said}");
    }
    std::fs::remove_file(file).expect("removed");
}

#[test]
fn nothing_is_left_of_a_build_that_is_cancelled_or_dropped() {
    let directory = Directory::new("cancelled");
    let mut dropped = small().spill_to(&directory.0);
    dropped.extend(0..3_000_000);
    directory.assert_empty();
    drop(dropped);
    directory.assert_empty();
    let cancel_late = |progress: ribbonfilter_next::Progress| match progress.phase {
        Phase::Solving if progress.done > 0 => ControlFlow::Break(()),
        _ => ControlFlow::Continue(()),
    };
    let mut cancelled = small().spill_to(&directory.0).progress(cancel_late);
    cancelled.extend(0..3_000_000);
    assert!(matches!(cancelled.finish(), Err(BuildError::Cancelled)));
    directory.assert_empty();
}

/// A full file system: the error reports it, and the space is freed again.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk() {
    use std::process::{Command, Stdio};
    let directory = Directory::new("full-disk");
    let mut mount = Command::new("mount");
    mount.args(["-t", "tmpfs", "-o", "size=12m", "tmpfs"]).arg(&directory.0).stderr(Stdio::null());
    if !mount.status().is_ok_and(|status| status.success()) {
        eprintln!("skipped: a small file system can only be mounted by root");
        return;
    }
    let build = |keys: u64| {
        let mut builder = small().spill_to(&directory.0);
        builder.extend(0..keys);
        (builder.len(), builder.finish())
    };
    let outcomes = [build(3_000_000), build(1_350_000), build(3_000_000)];
    let left = std::fs::read_dir(&directory.0).expect("a directory").count();
    let unmounted = Command::new("umount").arg(&directory.0).status();
    assert!(unmounted.is_ok_and(|status| status.success()));
    assert_eq!(left, 0);
    for (number, (len, outcome)) in outcomes.into_iter().enumerate() {
        match outcome {
            // The 10.8 MB of this build fit even after a failure.
            Ok(filter) => assert_eq!((number, filter.len()), (1, 1_350_000)),
            Err(error) => {
                assert!(number != 1 && len < 3_000_000, "{error}");
                let said = error.to_string();
                assert!(said.contains("free some space") && said.contains("full-disk"), "{said}");
            }
        }
    }
}
