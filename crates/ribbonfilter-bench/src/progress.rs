//! What is being measured, on standard error.

use std::io::{IsTerminal, Write};
use std::time::Instant;

/// Groups of rows, each measured in turns.
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

    /// A line that the next replaces, where there is someone to read it.
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
