//! A mapped filter answers as the one in memory does, and what cannot be mapped is an error.

#![cfg(feature = "mmap")]
#![expect(unsafe_code, reason = "nobody else knows the files of these tests")]

use ribbonfilter::{Filter, MappedBytes, OpenError};
use std::path::{Path, PathBuf};

/// A folder of this test's own, removed at the end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("ribbon-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).expect("a folder");
        Self(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn map(path: &Path) -> Result<Filter<MappedBytes>, OpenError> {
    // SAFETY: the file lies in the test's own folder.
    unsafe { Filter::map_file(path) }
}

#[test]
fn a_mapped_filter_is_the_same() {
    let folder = Folder::new("mapped");
    let path = folder.0.join("numbers.ribbon");
    let built = Filter::build(0..10_000, 0.01).expect("a filter");
    std::fs::write(&path, built.as_bytes()).expect("written");
    let mapped = map(&path).expect("mapped");
    mapped.verify().expect("whole");
    assert_eq!(mapped.as_bytes(), built.as_bytes());
    for key in 0..50_000 {
        assert_eq!(mapped.contains(key), built.contains(key), "{key}");
    }
}

#[test]
fn what_cannot_be_mapped_is_an_error() {
    let folder = Folder::new("unmapped");
    assert!(matches!(map(&folder.0), Err(OpenError::Io(_))), "a folder");
    assert!(matches!(map(&folder.0.join("none")), Err(OpenError::Io(_))), "no file");
    let empty = folder.0.join("empty");
    std::fs::write(&empty, b"").expect("written");
    assert!(matches!(map(&empty), Err(OpenError::TooShort { len: 0, .. })), "an empty file");
}
