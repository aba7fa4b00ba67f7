//! One line for everything that goes wrong: what, where, and what to do.

use std::fmt::Display;
use std::io::{self, ErrorKind};
use std::path::Path;
use std::process::ExitCode;

/// Why a command ends early.
#[derive(Debug)]
pub enum Error {
    /// Something to tell on standard error.
    Message(String),
    /// Whoever read standard output has gone: there is nobody to tell.
    BrokenPipe,
}

pub type Result<T = ExitCode> = std::result::Result<T, Error>;

/// The exit status when nothing was found, as grep has it.
pub const NOT_FOUND: u8 = 1;
/// The exit status of an error, as grep has it.
const FAILED: u8 = 2;

impl Error {
    /// An error that has no place, or names it itself.
    pub fn new(what: impl Display) -> Self {
        Self::Message(what.to_string())
    }

    /// An error at a file.
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

    /// Tells it, and gives the exit status.
    pub fn report(self) -> ExitCode {
        match self {
            Self::Message(message) => {
                use io::Write;
                // Where even standard error is closed, the status alone must do.
                let _ = writeln!(io::stderr(), "ribbon: {}", one_line(&message));
                ExitCode::from(FAILED)
            }
            Self::BrokenPipe => ExitCode::SUCCESS,
        }
    }
}

/// A path as part of a message.
pub fn shown(path: &Path) -> String {
    one_line(&path.display().to_string())
}

/// The same text without control characters, which names of files may have.
fn one_line(text: &str) -> String {
    let escape = |c: char| if c.is_control() { c.escape_default().to_string() } else { c.into() };
    text.chars().map(escape).collect()
}

/// What happened and what to do, for the cases that people meet.
fn reason(error: &io::Error) -> String {
    match error.kind() {
        ErrorKind::NotFound => "no such file or folder: check the path".into(),
        ErrorKind::PermissionDenied => {
            "permission denied: change its permissions, or choose another".into()
        }
        ErrorKind::IsADirectory => "is a folder: name the files in it".into(),
        ErrorKind::NotADirectory => "lies in a file, not in a folder: check the path".into(),
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => {
            "no space is left there: free some, or write elsewhere".into()
        }
        ErrorKind::ReadOnlyFilesystem => "the file system is read-only: write elsewhere".into(),
        ErrorKind::OutOfMemory => {
            "the system refused memory to read it: allow more, or use fewer threads".into()
        }
        ErrorKind::UnexpectedEof => "ends too early: was it cut short?".into(),
        _ => without_number(&error.to_string()),
    }
}

/// The system's message without "(os error 5)".
fn without_number(message: &str) -> String {
    message.split(" (os error").next().unwrap_or(message).to_owned()
}

/// What the argument parser says: help as it is, errors in one line.
pub fn usage(error: &clap::Error) -> Result {
    if !error.use_stderr() {
        let printed = error.print();
        return printed.map(|()| ExitCode::SUCCESS).map_err(|error| Error::stdout(&error));
    }
    if error.kind() == clap::error::ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        return Err(Error::new("no command given: `ribbon --help` lists them"));
    }
    let text = error.to_string();
    let mut said = String::new();
    let lines = text.lines().take_while(|line| !line.starts_with("Usage:"));
    for line in lines.map(str::trim).filter(|line| !line.is_empty() && !is_pointer(line)) {
        match line.strip_prefix("tip: ") {
            Some(tip) => said.extend(["; ", tip]),
            None => said.extend([" ", line]),
        }
    }
    let said = said.trim_start().trim_start_matches("error: ");
    Err(Error::new(format_args!("{said} (see `{} --help`)", command_in(&text))))
}

/// The command that the parser's usage is about.
fn command_in(text: &str) -> String {
    let usage = text.lines().find_map(|line| line.strip_prefix("Usage: "));
    let is_name = |word: &&str| !word.starts_with(['[', '<', '-']);
    let words: Vec<_> = usage.unwrap_or("ribbon").split(' ').take_while(is_name).collect();
    words.join(" ")
}

/// The parser's own hint at the help, which ours replaces.
fn is_pointer(line: &str) -> bool {
    line.starts_with("For more information")
}
