//! Errors, each printed as one line that says what failed, where, and what to do.

use std::fmt::Display;
use std::io::{self, ErrorKind};
use std::path::Path;
use std::process::ExitCode;

/// The reason why a command fails.
#[derive(Debug)]
pub enum Error {
    /// A message for standard error.
    Message(String),
    /// The reader of standard output has closed the pipe. The command ends silently.
    BrokenPipe,
}

pub type Result<T = ExitCode> = std::result::Result<T, Error>;

/// The exit status when no key was found, as in grep.
pub const NOT_FOUND: u8 = 1;
/// The exit status of an error, as in grep.
const FAILED: u8 = 2;

impl Error {
    /// An error without a location, or with a message that already contains it.
    pub fn new(what: impl Display) -> Self {
        Self::Message(what.to_string())
    }

    /// An error about a file.
    pub fn at(path: &Path, what: impl Display) -> Self {
        Self::Message(format!("{}: {what}", shown(path)))
    }

    /// A failed operation on a file.
    pub fn io(path: &Path, error: &io::Error) -> Self {
        Self::at(path, reason(error))
    }

    /// A failed write to standard output.
    pub fn stdout(error: &io::Error) -> Self {
        match error.kind() {
            ErrorKind::BrokenPipe => Self::BrokenPipe,
            _ => Self::Message(format!("standard output: {}", reason(error))),
        }
    }

    /// Prints the error and returns the exit status.
    pub fn report(self) -> ExitCode {
        match self {
            Self::Message(message) => {
                use io::Write;
                // If standard error is closed, there is only the exit status.
                let _ = writeln!(io::stderr(), "ribbon: {}", one_line(&message));
                ExitCode::from(FAILED)
            }
            Self::BrokenPipe => ExitCode::SUCCESS,
        }
    }
}

/// Formats a path for a message.
pub fn shown(path: &Path) -> String {
    one_line(&path.display().to_string())
}

/// Escapes control characters, which file names may contain.
fn one_line(text: &str) -> String {
    let escape = |c: char| if c.is_control() { c.escape_default().to_string() } else { c.into() };
    text.chars().map(escape).collect()
}

/// Describes an I/O error and its remedy.
fn reason(error: &io::Error) -> String {
    match error.kind() {
        ErrorKind::NotFound => "no such file or directory: check the path".into(),
        ErrorKind::PermissionDenied => {
            "permission denied: change its permissions, or choose another".into()
        }
        ErrorKind::IsADirectory => "is a directory: name the files in it".into(),
        ErrorKind::NotADirectory => "a parent is a file, not a directory: check the path".into(),
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => {
            "no space left on the device: free some space, or write elsewhere".into()
        }
        ErrorKind::ReadOnlyFilesystem => "the file system is read-only: write elsewhere".into(),
        ErrorKind::OutOfMemory => {
            "not enough memory to read it: allow more, or use fewer threads".into()
        }
        ErrorKind::UnexpectedEof => "unexpected end of file: was it truncated?".into(),
        _ => without_code(&error.to_string()),
    }
}

/// Removes the code, such as "(os error 5)", from a message of the system.
fn without_code(message: &str) -> String {
    message.split(" (os error").next().unwrap_or(message).to_owned()
}

/// Prints the help of the argument parser as it is, and converts its errors to one line.
pub fn usage(error: &clap::Error) -> Result {
    if !error.use_stderr() {
        let printed = error.print();
        return printed.map(|()| ExitCode::SUCCESS).map_err(|error| Error::stdout(&error));
    }
    if error.kind() == clap::error::ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        return Err(Error::new("no command given: `ribbon --help` lists them"));
    }
    let text = error.to_string();
    let mut message = String::new();
    let lines = text.lines().take_while(|line| !line.starts_with("Usage:"));
    for line in lines.map(str::trim).filter(|line| !line.is_empty() && !is_help_hint(line)) {
        match line.strip_prefix("tip: ") {
            Some(tip) => message.extend(["; ", tip]),
            None => message.extend([" ", line]),
        }
    }
    let message = message.trim_start().trim_start_matches("error: ");
    Err(Error::new(format_args!("{message} (see `{} --help`)", command_in(&text))))
}

/// The name of the command in the parser's usage line.
fn command_in(text: &str) -> String {
    let usage = text.lines().find_map(|line| line.strip_prefix("Usage: "));
    let is_name = |word: &&str| !word.starts_with(['[', '<', '-']);
    let words: Vec<_> = usage.unwrap_or("ribbon").split(' ').take_while(is_name).collect();
    words.join(" ")
}

/// Whether a line is the parser's own hint at `--help`, which ours replaces.
fn is_help_hint(line: &str) -> bool {
    line.starts_with("For more information")
}
