//! Files of filters. A file is written under a temporary name and renamed when it is complete, so
//! no reader sees a part of it, and a failure leaves what was there.

use super::Failure;
use ribbonfilter_paper::Stored;
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

/// Reads a file.
pub fn read(path: &Path) -> Result<Stored, Failure> {
    let bytes = fs::read(path).map_err(|error| Failure::at(path, error))?;
    Stored::from_bytes(&bytes).map_err(|error| Failure::at(path, error))
}

/// Writes a file.
pub fn write(path: &Path, stored: &Stored) -> Result<(), Failure> {
    let temporary = temporary_name(path);
    let written =
        write_new(&temporary, &stored.to_bytes()).and_then(|()| fs::rename(&temporary, path));
    written.map_err(|error| {
        // What is left of it is of no use; that it may be missing is no second error.
        let _ = fs::remove_file(&temporary);
        Failure::at(path, error)
    })
}

/// A name in the same folder, so that renaming does not copy.
fn temporary_name(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_os_string();
    name.push(format!(".{}.tmp", std::process::id()));
    path.with_file_name(name)
}

fn write_new(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let mut file = File::create_new(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}
