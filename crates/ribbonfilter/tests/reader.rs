//! What is left without the feature `build`: golden files are opened, verified and queried.
//!
//! `cargo test -p ribbonfilter --no-default-features --features std --test reader`

use ribbonfilter::{ExactSet, Filter, Function, OpenError, Part, Shards};
use std::fs;
use std::path::{Path, PathBuf};

fn golden() -> Vec<(String, PathBuf)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let entries = fs::read_dir(folder).expect("golden files");
    let path = |entry: std::io::Result<fs::DirEntry>| entry.expect("an entry").path();
    let name = |path: &Path| path.file_name().expect("a name").to_string_lossy().into_owned();
    entries.map(path).map(|path| (name(&path), path)).collect()
}

/// Opens, verifies and queries a file; the number of keys of ten thousand that it seems to contain.
fn found(name: &str, path: &Path) -> Result<usize, OpenError> {
    let keys = 0..10_000u64;
    Ok(if name.contains("-part-") {
        let part = Part::open(fs::read(path)?)?;
        part.verify()?;
        keys.filter(|&key| part.contains(key)).count()
    } else if name.contains("-shards-") {
        let shards = Shards::open(fs::read(path)?)?;
        shards.verify()?;
        keys.filter(|&key| shards.contains(key)).count()
    } else if name.contains("-exact-") {
        let set = ExactSet::open(fs::read(path)?)?;
        set.verify()?;
        keys.filter(|&key| set.contains(key)).count()
    } else if name.contains("-function-") {
        let function = Function::open(fs::read(path)?)?;
        function.verify()?;
        keys.filter(|&key| function.get(key) > 0).count()
    } else {
        let filter = Filter::open_file(path)?;
        filter.verify()?;
        let hits = filter.contains_batch(&keys.clone().collect::<Vec<_>>());
        assert!(keys.zip(&hits).all(|(key, &hit)| filter.contains(key) == hit));
        hits.into_iter().filter(|&hit| hit).count()
    })
}

#[test]
fn golden_files_are_opened_and_queried() {
    let mut filters = 0;
    for (name, path) in golden() {
        let found = found(&name, &path).unwrap_or_else(|error| panic!("{name}: {error}"));
        if name.contains("empty") && !name.contains("part") {
            assert_eq!(found, 0, "{name}");
        }
        filters += 1;
    }
    assert!(filters > 30);
}

#[test]
fn corrupt_bytes_are_refused() {
    let (_, path) =
        golden().into_iter().find(|(name, _)| name == "v1-bumped-128.ribbon").expect("there");
    let mut bytes = fs::read(path).expect("bytes");
    let last = bytes.len() - 1;
    bytes[last - 8] ^= 1;
    assert!(Filter::open(&bytes[..]).is_err());
}
