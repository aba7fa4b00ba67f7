//! A mapped filter returns the same results as one in memory, and a path that cannot be mapped is
//! an error.

#![cfg(feature = "mmap")]
#![expect(unsafe_code, reason = "nobody else knows the files of these tests")]

use ribbonfilter_next::{Filter, MappedBytes, OpenError};
use std::path::{Path, PathBuf};

/// A folder for one test, removed at the end.
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
    // SAFETY: the file is in a folder that only this test uses. While a test changes the file, it
    // holds no reference to the mapped bytes.
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

/// A file that is changed in place while it is mapped, which the contract forbids. A query cannot
/// detect the change, but `verify` does for every byte, and succeeds again once it is restored.
#[test]
fn a_change_under_the_map_is_found_by_verify() {
    use std::io::{Seek, SeekFrom, Write};
    let folder = Folder::new("changed");
    let path = folder.0.join("numbers.ribbon");
    let built = Filter::build(0..2000, 0.01).expect("a filter");
    std::fs::write(&path, built.as_bytes()).expect("written");
    let mapped = map(&path).expect("mapped");
    let mut file = std::fs::File::options().write(true).open(&path).expect("a file");
    let mut put = |place: usize, byte: u8| {
        file.seek(SeekFrom::Start(place as u64)).expect("a place in it");
        file.write_all(&[byte]).expect("written");
    };
    for place in (0..built.size_in_bytes()).step_by(7).chain([built.size_in_bytes() - 1]) {
        put(place, built.as_bytes()[place] ^ 0x10);
        assert!(mapped.verify().is_err(), "byte {place}");
        (0..100).for_each(|key| _ = std::hint::black_box(mapped.contains(key)));
        put(place, built.as_bytes()[place]);
        mapped.verify().expect("as it was");
    }
}
