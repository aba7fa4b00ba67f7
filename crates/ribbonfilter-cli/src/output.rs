//! Writes to standard output, and files atomically.
//!
//! A file is written without a name or, where the system does not support this, under a temporary
//! name in the directory of its target. It is then synced and atomically renamed or linked to its
//! target. If the process is killed at any time, the target is the complete old file or the
//! complete new one. There are no other files, unless it is killed between the link and the rename
//! that replace a file: then the complete new file is also there under a temporary name.

use crate::error::{Error, Result};
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// Writes to standard output and flushes it.
pub fn print(bytes: impl AsRef<[u8]>) -> Result<()> {
    let mut stdout = io::stdout().lock();
    let outcome = stdout.write_all(bytes.as_ref()).and_then(|()| stdout.flush());
    outcome.map_err(|error| Error::stdout(&error))
}

/// The permissions of a new file, before the umask is applied.
#[cfg(unix)]
const MODE: u32 = 0o666;

/// An output file that is not committed yet.
pub struct Output {
    target: PathBuf,
    force: bool,
    draft: Draft,
}

enum Draft {
    #[cfg(target_os = "linux")]
    Unnamed(File),
    Named(NamedTempFile),
}

impl Output {
    /// Creates an output. Fails early if the target cannot be written.
    pub fn create(target: &Path, force: bool) -> Result<Self> {
        check(target, force)?;
        // Replace the file that a symbolic link points to, not the link.
        let target = fs::canonicalize(target).unwrap_or_else(|_| target.to_owned());
        let draft = Draft::create(&target).map_err(|error| Error::io(&target, &error))?;
        Ok(Self { target, force, draft })
    }

    pub fn write(&mut self, bytes: &[u8]) -> Result<()> {
        let outcome = self.draft.file().write_all(bytes);
        outcome.map_err(|error| Error::io(&self.target, &error))
    }

    /// Moves the output to its target.
    pub fn commit(mut self) -> Result<()> {
        let target = self.target;
        let outcome = self.draft.file().sync_all();
        let outcome = outcome.and_then(|()| self.draft.keep(&target, self.force));
        match outcome {
            Ok(()) => Ok(()),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(exists(&target)),
            Err(error) => Err(Error::io(&target, &error)),
        }
    }
}

/// Writes several files, named by the output and a number from 0 on, and returns their names. No
/// file is committed before all are written.
pub fn write_numbered<'a>(
    output: &Path,
    force: bool,
    contents: impl Iterator<Item = &'a [u8]>,
) -> Result<Vec<PathBuf>> {
    let (mut targets, mut outputs) = (Vec::new(), Vec::new());
    for (number, bytes) in (0..).zip(contents) {
        let target = numbered(output, number);
        let mut output = Output::create(&target, force)?;
        output.write(bytes)?;
        targets.push(target);
        outputs.push(output);
    }
    outputs.into_iter().try_for_each(Output::commit)?;
    Ok(targets)
}

fn numbered(output: &Path, number: u32) -> PathBuf {
    let mut name = output.as_os_str().to_owned();
    name.push(format!(".{number}"));
    name.into()
}

fn exists(target: &Path) -> Error {
    Error::at(target, "already exists: --force replaces it")
}

fn check(target: &Path, force: bool) -> Result<()> {
    let Ok(metadata) = target.metadata() else {
        return Ok(());
    };
    if metadata.is_dir() {
        return Err(Error::at(target, "is a directory: name a file in it"));
    }
    if !metadata.is_file() {
        return Err(Error::at(target, "is not a regular file: choose another name"));
    }
    if !force {
        return Err(exists(target));
    }
    if metadata.permissions().readonly() {
        return Err(Error::at(target, "is read-only: make it writable, or choose another name"));
    }
    Ok(())
}

/// The directory of a file.
fn folder(target: &Path) -> &Path {
    match target.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

impl Draft {
    /// Creates a draft in the directory of its target.
    fn create(target: &Path) -> io::Result<Self> {
        if target.file_name().is_none() {
            return Err(io::ErrorKind::IsADirectory.into());
        }
        #[cfg(target_os = "linux")]
        if let Ok(file) = unnamed::create(folder(target)) {
            return Ok(Self::Unnamed(file));
        }
        named(target).map(Self::Named)
    }

    fn file(&mut self) -> &mut File {
        match self {
            #[cfg(target_os = "linux")]
            Self::Unnamed(file) => file,
            Self::Named(file) => file.as_file_mut(),
        }
    }

    fn keep(self, target: &Path, force: bool) -> io::Result<()> {
        match self {
            #[cfg(target_os = "linux")]
            Self::Unnamed(file) => unnamed::keep(&file, target, force)?,
            Self::Named(file) if force => drop(file.persist(target)?),
            Self::Named(file) => drop(file.persist_noclobber(target)?),
        }
        // Sync the directory, too, where this is possible, so that the name survives a power loss.
        if let Ok(folder) = File::open(folder(target)) {
            let _ = folder.sync_all();
        }
        Ok(())
    }
}

/// A temporary file that is removed unless it is persisted.
fn named(target: &Path) -> io::Result<NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".ribbon-").suffix(".tmp");
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(MODE));
    // Drop the message: it would name the temporary path, which the user does not know.
    builder.tempfile_in(folder(target)).map_err(|error| error.kind().into())
}

/// Files without a name, which the system removes when the process ends.
#[cfg(target_os = "linux")]
mod unnamed {
    use super::{MODE, folder};
    use rustix::fs::{AtFlags, CWD, Mode, OFlags, linkat, open};
    use std::fs::{self, File};
    use std::io;
    use std::os::fd::AsRawFd;
    use std::path::{Path, PathBuf};

    /// Creates a file in this directory. Fails if the file system does not support it.
    pub fn create(folder: &Path) -> io::Result<File> {
        let flags = OFlags::TMPFILE | OFlags::WRONLY | OFlags::CLOEXEC;
        let file = File::from(open(folder, flags, Mode::from_raw_mode(MODE))?);
        fs::metadata(handle(&file))?;
        Ok(file)
    }

    /// Gives the file its name. An existing file can be replaced atomically only by a rename, which
    /// needs a temporary name first.
    pub fn keep(file: &File, target: &Path, force: bool) -> io::Result<()> {
        if !force {
            return link(file, target);
        }
        let temporary = folder(target).join(format!(".ribbon-{}.tmp", std::process::id()));
        if let Err(error) = link(file, &temporary) {
            if error.kind() != io::ErrorKind::AlreadyExists {
                return Err(error);
            }
            // An earlier process with the same id was killed between link and rename.
            fs::remove_file(&temporary)?;
            link(file, &temporary)?;
        }
        fs::rename(&temporary, target).inspect_err(|_| drop(fs::remove_file(&temporary)))
    }

    fn link(file: &File, name: &Path) -> io::Result<()> {
        Ok(linkat(CWD, handle(file), CWD, name, AtFlags::SYMLINK_FOLLOW)?)
    }

    /// The path under which `/proc` shows the unnamed file.
    fn handle(file: &File) -> PathBuf {
        PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).expect("a folder");
        let name = |entry: io::Result<fs::DirEntry>| entry.expect("an entry").file_name();
        entries.map(|entry| name(entry).to_string_lossy().into_owned()).collect()
    }

    /// Both kinds of draft become the target, replace a file only with `force`, and leave no other
    /// file.
    #[test]
    fn drafts_become_their_target() {
        let folder = tempfile::tempdir().expect("a folder");
        let target = folder.path().join("target");
        let named = || Draft::Named(named(&target).expect("a file"));
        let default = || Draft::create(&target).expect("a file");
        for draft in [&named as &dyn Fn() -> Draft, &default] {
            let output = |text: &str, force| {
                let mut output = Output { target: target.clone(), force, draft: draft() };
                output.write(text.as_bytes()).expect("written");
                output
            };
            drop(output("dropped", false));
            assert!(names(folder.path()).is_empty());
            output("first", false).commit().expect("a new file");
            assert!(output("second", false).commit().is_err());
            assert_eq!(fs::read(&target).expect("a file"), b"first");
            output("third", true).commit().expect("a replaced file");
            assert_eq!(fs::read(&target).expect("a file"), b"third");
            assert_eq!(names(folder.path()), ["target"]);
            fs::remove_file(&target).expect("removed");
        }
    }
}
