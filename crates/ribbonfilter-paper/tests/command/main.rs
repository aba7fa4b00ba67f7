//! The command `ribbon-paper`, as a user runs it.

mod errors;
mod filters;

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

/// A folder that is removed when the test ends.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("ribbon-paper-{}-{number}", std::process::id());
        let path = std::env::temp_dir().join(name);
        fs::create_dir(&path).expect("a new folder");
        Self(path)
    }

    fn path(&self, name: &str) -> String {
        self.0.join(name).to_str().expect("a name in UTF-8").into()
    }

    /// A file of the keys `key 0` … .
    fn keys(&self, count: u32) -> String {
        let lines: String = (0..count).map(|i| format!("key {i}\n")).collect();
        fs::write(self.path("keys"), lines).expect("a file");
        self.path("keys")
    }

    /// Builds a filter of the file of keys; returns its path.
    fn build(&self, keys: u32, options: &str) -> String {
        let (keys, output) = (self.keys(keys), self.path("filter"));
        let mut arguments = vec!["build", &keys, "-o", &output];
        arguments.extend(options.split(' '));
        assert_eq!(run(&arguments, ""), (0, String::new(), String::new()), "{options}");
        output
    }

    /// The names of the files in the folder.
    fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(&self.0).expect("the folder");
        let mut names: Vec<String> = entries
            .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into())
            .collect();
        names.sort();
        names
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Runs the command with an input. Returns exit status, output and errors.
fn run(arguments: &[&str], input: &str) -> (i32, String, String) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_ribbon-paper"))
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command");
    // The command may end before it has read everything.
    let _ = child.stdin.take().expect("a pipe").write_all(input.as_bytes());
    let Output { status, stdout, stderr } = child.wait_with_output().expect("the command");
    let text = |bytes| String::from_utf8(bytes).expect("text");
    (status.code().expect("no signal"), text(stdout), text(stderr))
}

/// Asserts that the command fails with one line that contains `words`.
fn assert_fails(arguments: &[&str], words: &[&str]) {
    let (status, output, errors) = run(arguments, "");
    assert_eq!((status, output.as_str()), (2, ""), "{arguments:?}: {errors}");
    assert_eq!(errors.lines().count(), 1, "{errors}");
    for word in words {
        assert!(errors.contains(word), "{arguments:?}: {errors}");
    }
}

/// A field of `info`.
fn field(path: &str, name: &str) -> String {
    let (status, output, errors) = run(&["info", path], "");
    assert_eq!(status, 0, "{errors}");
    let line = output.lines().find_map(|line| line.strip_prefix(&format!("{name}\t")));
    line.unwrap_or_else(|| panic!("no {name}: {output}")).into()
}

fn exists(path: &str) -> bool {
    Path::new(path).exists()
}
