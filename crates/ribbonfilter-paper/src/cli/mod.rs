//! The subcommands, one file for each kind of work.

pub mod build;
pub mod change;
pub mod evidence;
mod files;
pub mod info;
mod lines;
pub mod query;

use std::fmt::Display;
use std::io;
use std::path::Path;
use std::process::ExitCode;

/// What a subcommand returns: an exit status, or why it failed.
pub type Outcome = Result<ExitCode, Failure>;

/// Why a subcommand failed, in one line.
#[derive(Debug)]
pub enum Failure {
    /// What went wrong, and where.
    Message(String),
    /// Nobody reads the output any longer, which is no error.
    OutputClosed,
}

impl Failure {
    /// A failure at a file.
    pub fn at(path: &Path, error: impl Display) -> Self {
        Self::Message(format!("{}: {error}", path.display()))
    }

    /// Prints the failure. Returns the exit status.
    pub fn report(self) -> ExitCode {
        match self {
            Self::OutputClosed => ExitCode::SUCCESS,
            Self::Message(message) => {
                eprintln!("ribbon-paper: {message}");
                ExitCode::from(2)
            }
        }
    }
}

/// A failure of standard output.
impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Self::OutputClosed,
            _ => Self::Message(format!("standard output: {error}")),
        }
    }
}
