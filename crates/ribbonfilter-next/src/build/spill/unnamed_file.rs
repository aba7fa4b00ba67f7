//! A file that no other process sees and that disappears when it is closed, even by a crash.
//!
//! Linux has files without a name. Elsewhere the file is created with a name that is removed
//! immediately or, on Windows, when the file is closed. A process that is killed in between may
//! leave an empty file.

use alloc::format;
use std::fs::{self, File, OpenOptions};
use std::hash::{BuildHasher, RandomState};
use std::io::{self, ErrorKind};
use std::path::Path;

/// Number of names to try if a name is taken.
const TRIES: u32 = 16;

/// Creates an empty file in a directory, open for writing and reading.
pub fn create(directory: &Path) -> io::Result<File> {
    #[cfg(target_os = "linux")]
    if let Ok(file) = without_name(directory) {
        return Ok(file);
    }
    // Not every file system supports unnamed files, and the named attempt returns the better error.
    let mut tries = (0..TRIES).map(|_| with_passing_name(directory));
    let taken = |file: &io::Result<File>| {
        file.as_ref().is_err_and(|error| error.kind() == ErrorKind::AlreadyExists)
    };
    tries.find(|file| !taken(file)).unwrap_or(Err(ErrorKind::AlreadyExists.into()))
}

/// Only the owner may read the file: hashes reveal something about keys.
fn options() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.read(true).write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

#[cfg(target_os = "linux")]
fn without_name(directory: &Path) -> io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt;
    options().custom_flags(libc::O_TMPFILE).open(directory)
}

fn with_passing_name(directory: &Path) -> io::Result<File> {
    let name = format!(".ribbonfilter-{:016x}.tmp", RandomState::new().hash_one(0));
    let path = directory.join(name);
    let mut options = options();
    options.create_new(true);
    #[cfg(windows)]
    {
        const FILE_FLAG_DELETE_ON_CLOSE: u32 = 0x0400_0000;
        std::os::windows::fs::OpenOptionsExt::custom_flags(&mut options, FILE_FLAG_DELETE_ON_CLOSE);
    }
    let file = options.open(&path)?;
    if !cfg!(windows) {
        fs::remove_file(&path)?;
    }
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Seek, Write};

    #[test]
    fn it_keeps_what_is_written_and_has_no_name() {
        let name = format!("ribbonfilter-unnamed-{}", std::process::id());
        let directory = std::env::temp_dir().join(name);
        fs::create_dir(&directory).expect("a directory");
        let files = [create(&directory), with_passing_name(&directory)].map(Result::unwrap);
        for mut file in files {
            if cfg!(not(windows)) {
                assert_eq!(fs::read_dir(&directory).expect("a directory").count(), 0);
            }
            file.write_all(b"ribbon").expect("space");
            file.rewind().expect("a file");
            let mut bytes = [0; 6];
            file.read_exact(&mut bytes).expect("a file");
            assert_eq!(&bytes, b"ribbon");
        }
        // Not `remove_dir_all`: the directory must be empty.
        fs::remove_dir(&directory).expect("an empty directory");
        let error = create(&directory).expect_err("no directory");
        assert_eq!(error.kind(), ErrorKind::NotFound);
    }
}
