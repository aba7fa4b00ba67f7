//! Keys from files: one per line. A line ends with `\n` or `\r\n`, which is not part of the key.

use super::Failure;
use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::Path;

/// Calls `each` with every line of a file, or of standard input if its name is `-`.
pub fn for_each_line(
    path: &Path,
    each: impl FnMut(&[u8]) -> Result<(), Failure>,
) -> Result<(), Failure> {
    match path.to_str() {
        Some("-") => read(io::stdin().lock(), Path::new("standard input"), each),
        _ => {
            let file = File::open(path).map_err(|error| Failure::at(path, error))?;
            read(BufReader::new(file), path, each)
        }
    }
}

fn read(
    mut input: impl BufRead,
    path: &Path,
    mut each: impl FnMut(&[u8]) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let mut line = Vec::new();
    loop {
        line.clear();
        match input.read_until(b'\n', &mut line) {
            Ok(0) => return Ok(()),
            Ok(_) => each(without_end(&line))?,
            Err(error) => return Err(Failure::at(path, error)),
        }
    }
}

fn without_end(line: &[u8]) -> &[u8] {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    line.strip_suffix(b"\r").unwrap_or(line)
}
