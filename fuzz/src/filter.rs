//! Filters of any hashes and settings. Every key is found, and the bytes do not depend on the order
//! of the keys or the number of threads. If a build fails, it fails with the same error.

use crate::{Hashes, Settings, all};
use ribbonfilter::{BuildError, Filter};
use std::collections::HashSet;

/// The settings; the keys.
pub type Input = (Settings, Vec<Hashes>);

/// Runs the target.
pub fn run(input: Input) {
    let (settings, runs) = input;
    let mut hashes = all(&runs);
    let build = |threads, hashes: &[u64]| -> Result<Filter, BuildError> {
        let mut builder = settings.builder().threads(threads);
        builder.extend_hashes(hashes.iter().copied());
        builder.finish()
    };
    let built = build(1, &hashes);
    if let Ok(filter) = &built {
        let keys: HashSet<u64> = hashes.iter().copied().collect();
        assert!(keys.iter().all(|&key| filter.contains_hash(key)));
        assert!(filter.contains_hash_batch(&hashes).into_iter().all(|hit| hit));
        assert!((keys.len() as u64..=hashes.len() as u64).contains(&filter.len()));
        filter.verify().expect("just built");
    }
    hashes.reverse();
    match (built, build(2, &hashes)) {
        (Ok(one), Ok(other)) => assert!(one.as_bytes() == other.as_bytes()),
        // Two threads need more memory than one.
        (Ok(_), Err(BuildError::MemoryLimit { .. })) => {}
        (Err(one), Err(other)) => {
            assert_eq!(std::mem::discriminant(&one), std::mem::discriminant(&other));
        }
        (one, other) => panic!("{one:?}, but {other:?}"),
    }
}
