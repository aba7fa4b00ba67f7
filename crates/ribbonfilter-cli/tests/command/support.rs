//! A temporary directory in which tests run the command.

use std::ffi::OsStr;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;

pub const RIBBON: &str = env!("CARGO_BIN_EXE_ribbon");

/// A temporary directory, removed when it is dropped.
pub struct Folder(TempDir);

impl Folder {
    pub fn new() -> Self {
        Self(tempfile::tempdir().expect("a directory"))
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        fs::write(self.path(name), bytes).expect("written");
    }

    pub fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).expect("a file")
    }

    /// The names of all files, sorted.
    pub fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.0.path()).expect("a directory");
        let name = |entry: fs::DirEntry| entry.file_name().to_string_lossy().into_owned();
        let mut names: Vec<_> = entries.map(|entry| name(entry.expect("an entry"))).collect();
        names.sort();
        names
    }

    /// The command with these arguments, separated by spaces, in this directory.
    pub fn command(&self, arguments: &str) -> Command {
        command_in(self.0.path(), arguments.split_whitespace())
    }

    /// Runs the command with empty standard input.
    pub fn run(&self, arguments: &str) -> Ran {
        self.run_with(arguments, b"")
    }

    /// Runs the command with this standard input.
    pub fn run_with(&self, arguments: &str, input: &[u8]) -> Ran {
        feed(&mut self.command(arguments), input)
    }

    /// Runs a command that must succeed and leave standard error empty. Returns its output.
    pub fn good(&self, arguments: &str) -> String {
        let ran = self.run(arguments);
        assert_eq!((ran.status, ran.stderr.as_str()), (0, ""), "ribbon {arguments}");
        ran.stdout
    }
}

pub fn command_in<A: AsRef<OsStr>>(
    folder: &Path,
    arguments: impl IntoIterator<Item = A>,
) -> Command {
    let mut command = Command::new(RIBBON);
    command.args(arguments).current_dir(folder);
    command
}

/// The result of a run.
#[derive(Debug)]
pub struct Ran {
    pub status: i32,
    pub stdout: String,
    pub stderr: String,
}

impl Ran {
    /// Asserts exit status 2, one line on standard error that contains this message, and no output.
    #[track_caller]
    pub fn fails_with(&self, message: &str) {
        assert_eq!((self.status, self.stdout.as_str()), (2, ""), "{self:?}");
        assert!(self.stderr.starts_with("ribbon: "), "{self:?}");
        assert!(self.stderr.contains(message), "{self:?} does not contain {message:?}");
        assert_eq!(self.stderr.find('\n'), Some(self.stderr.len() - 1), "{self:?}");
    }
}

pub fn feed(command: &mut Command, input: &[u8]) -> Ran {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("ribbon runs");
    let mut stdin = child.stdin.take().expect("a pipe");
    let output = std::thread::scope(|scope| {
        // The command may end without reading all input.
        scope.spawn(move || drop(stdin.write_all(input)));
        child.wait_with_output().expect("ribbon ends")
    });
    ran(&output)
}

fn ran(output: &Output) -> Ran {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Ran {
        status: output.status.code().expect("no signal"),
        stdout: text(&output.stdout),
        stderr: text(&output.stderr),
    }
}

/// Distinct lines in a fixed order.
pub fn lines(count: usize) -> Vec<String> {
    (0..count).map(|number| format!("key number {}\n", number * 7919 % 1_000_003)).collect()
}

pub fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).expect("compressed");
    encoder.finish().expect("compressed")
}

pub fn zstd(bytes: &[u8]) -> Vec<u8> {
    zstd::encode_all(bytes, 1).expect("compressed")
}

/// Whether to run the tests with the sizes of `scripts/test-full`.
pub fn full() -> bool {
    std::env::var_os("RIBBONFILTER_FULL").is_some()
}
