//! Reports on standard error what is being measured.

use std::io::{IsTerminal, Write};
use std::time::Instant;

/// The progress through groups of rows.
pub struct Progress {
    start: Instant,
    groups: usize,
    group: usize,
    line: String,
    terminal: bool,
}

impl Progress {
    pub fn new(groups: usize) -> Self {
        let terminal = std::io::stderr().is_terminal();
        Self { start: Instant::now(), groups, group: 0, line: String::new(), terminal }
    }

    /// Begins the next group.
    pub fn group(&mut self, title: &str) {
        self.group += 1;
        let seconds = self.start.elapsed().as_secs();
        self.line = format!("[{}/{} {seconds:>4} s] {title}", self.group, self.groups);
        if !self.terminal {
            eprintln!("{}", self.line);
        }
    }

    /// Prints a line that the next one replaces, if standard error is a terminal.
    pub fn doing(&self, name: &str, round: u32, rounds: u32) {
        if self.terminal {
            eprint!("\r\x1b[K{}: {name}, round {round} of {rounds}", self.line);
            let _ = std::io::stderr().flush();
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if self.terminal {
            eprint!("\r\x1b[K");
        }
        eprintln!("measured in {} s", self.start.elapsed().as_secs());
    }
}
