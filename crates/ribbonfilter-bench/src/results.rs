//! Stores finished rows as lines of JSON in a directory. A command that is stopped and started
//! again continues after the last complete line. `report` reads all rows.

use crate::machine::{CpuUse, Machine, load, today};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Instant;

#[derive(clap::Args, Clone, Debug)]
pub struct Folder {
    /// The directory of finished rows; rows that it already contains are not measured again
    #[arg(long, default_value = "target/results")]
    pub results: PathBuf,
    /// Remove the rows of earlier runs of this command
    #[arg(long)]
    pub fresh: bool,
}

impl Folder {
    /// Removes old rows of these names if `fresh` is set. The returned directory keeps its rows.
    pub fn begin(&self, names: &[&str]) -> Result<Self, String> {
        for path in names.iter().map(|name| self.path(name)) {
            if self.fresh && path.exists() {
                std::fs::remove_file(&path).map_err(|error| failed(&path, &error))?;
            }
        }
        Ok(Self { results: self.results.clone(), fresh: false })
    }

    fn path(&self, name: &str) -> PathBuf {
        self.results.join(name).with_extension("jsonl")
    }
}

/// Rows that are the same on every machine, since nothing in them is a time.
const SIMULATED: [&str; 6] =
    ["table1", "sweep", "smash-systems", "displacement", "shard-size", "fractions"];

/// Variables of the environment that influence times. They are part of a command.
const VARIABLES: [&str; 2] = ["RIBBONFILTER_KERNEL", "GLIBC_TUNABLES"];

/// The rows of one command.
pub struct Rows<T> {
    path: PathBuf,
    pub all: Vec<T>,
}

impl<T: Serialize + DeserializeOwned> Rows<T> {
    /// Reads the rows that are already finished. Fails if they come from another machine.
    pub fn open(folder: &Folder, name: &str) -> Result<Self, String> {
        std::fs::create_dir_all(&folder.results)
            .map_err(|error| failed(&folder.results, &error))?;
        let path = folder.begin(&[name])?.path(name);
        let rows = Self { all: read(&path)?, path };
        let runs = runs(&folder.results)?;
        let simulated = SIMULATED.contains(&name);
        match runs.iter().rev().find(|run| run.rows.split(' ').any(|rows| rows == name)) {
            Some(run) if !simulated && !rows.all.is_empty() && run.machine != Machine::this() => {
                Err(format!(
                    "{} was measured on another machine ({}): use --fresh or another --results",
                    rows.path.display(),
                    run.machine
                ))
            }
            _ => Ok(rows),
        }
    }

    /// Adds finished rows in a single write.
    pub fn add(&mut self, rows: Vec<T>) -> Result<(), String> {
        append(&self.path, &rows)?;
        self.all.extend(rows);
        Ok(())
    }

    /// Adds these rows and removes older rows that are equivalent by `same`.
    pub fn replace(&mut self, rows: Vec<T>, same: impl Fn(&T, &T) -> bool) -> Result<(), String> {
        self.all.retain(|old| !rows.iter().any(|new| same(old, new)));
        let kept = lines(&self.all)?;
        std::fs::write(&self.path, kept).map_err(|error| failed(&self.path, &error))?;
        self.add(rows)
    }
}

/// One run of a command, for the report.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Run {
    /// The names of the rows that the run added to, separated by spaces.
    pub rows: String,
    pub command: String,
    pub date: String,
    pub machine: Machine,
    /// The load average of the preceding minute.
    pub load: Option<f64>,
    /// The number of cores that other processes kept busy during the run, on average.
    #[serde(default)]
    pub others: Option<f64>,
    pub seconds: f64,
}

/// A run that is not finished yet, and its start.
pub struct Running {
    run: Run,
    start: Instant,
    cpu: Option<CpuUse>,
}

impl Running {
    pub fn begin(rows: &str) -> Self {
        let arguments: Vec<String> = std::env::args().skip(1).collect();
        let variables = VARIABLES.map(|name| match std::env::var(name) {
            Ok(value) => format!("{name}={value} "),
            Err(_) => String::new(),
        });
        let run = Run {
            rows: rows.into(),
            command: format!("{}ribbon-bench {}", variables.concat(), arguments.join(" ")),
            date: today(),
            machine: Machine::this(),
            load: load(),
            others: None,
            seconds: 0.0,
        };
        Self { run, start: Instant::now(), cpu: CpuUse::now() }
    }

    pub fn end(mut self, folder: &Folder) -> Result<(), String> {
        self.run.seconds = self.start.elapsed().as_secs_f64().round();
        let cores = self.run.machine.cores;
        self.run.others = self
            .cpu
            .zip(CpuUse::now())
            .map(|(start, end)| (end.others_since(start, cores) * 100.0).round() / 100.0);
        append(&folder.results.join("runs.jsonl"), &[self.run])
    }
}

/// All runs that wrote rows to a directory.
pub fn runs(folder: &Path) -> Result<Vec<Run>, String> {
    read(&folder.join("runs.jsonl"))
}

/// Reads the lines of a file and ignores an incomplete last line. A missing file has no rows.
pub fn read<T: DeserializeOwned>(path: &Path) -> Result<Vec<T>, String> {
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(failed(path, &error)),
    };
    let complete = text.rfind('\n').map_or("", |end| &text[..end]);
    let parse = |(number, line): (usize, &str)| {
        serde_json::from_str(line)
            .map_err(|error| format!("{}:{}: {error}", path.display(), number + 1))
    };
    complete.lines().enumerate().map(parse).collect()
}

fn append<T: Serialize>(path: &Path, rows: &[T]) -> Result<(), String> {
    let failed = |error: std::io::Error| failed(path, &error);
    let truncated =
        std::fs::read(path).is_ok_and(|bytes| bytes.last().is_some_and(|&b| b != b'\n'));
    if truncated {
        let text = std::fs::read(path).map_err(failed)?;
        let end = text.iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1);
        std::fs::write(path, &text[..end]).map_err(failed)?;
    }
    let text = lines(rows)?;
    let mut file =
        std::fs::OpenOptions::new().create(true).append(true).open(path).map_err(failed)?;
    file.write_all(text.as_bytes()).map_err(failed)
}

fn lines<T: Serialize>(rows: &[T]) -> Result<String, String> {
    let line = |row| serde_json::to_string(row).map(|line| line + "\n");
    rows.iter().map(line).collect::<Result<String, _>>().map_err(|error| error.to_string())
}

fn failed(path: &Path, error: &std::io::Error) -> String {
    format!("{}: {error}", path.display())
}

#[cfg(test)]
mod tests {
    use super::{SIMULATED, append, read};
    use std::path::Path;

    /// Each name is that of recorded rows, and these contain no times.
    #[test]
    fn simulated_rows_have_these_names() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/results");
        for name in SIMULATED {
            let rows: Vec<serde_json::Value> = read(&folder.join(format!("{name}.jsonl"))).unwrap();
            assert!(!rows.is_empty(), "{name}");
            for time in ["build", "single", "latency", "seconds"] {
                assert!(rows.iter().all(|row| row.get(time).is_none()), "{name}: {time}");
            }
        }
    }

    #[test]
    fn a_truncated_line_is_replaced() {
        let path = std::env::temp_dir().join(format!("ribbon-bench-{}.jsonl", std::process::id()));
        std::fs::write(&path, "1\n2\n3").unwrap();
        assert_eq!(read::<u32>(&path).unwrap(), [1, 2]);
        append(&path, &[4_u32]).unwrap();
        assert_eq!(read::<u32>(&path).unwrap(), [1, 2, 4]);
        std::fs::remove_file(&path).unwrap();
        assert!(read::<u32>(&path).unwrap().is_empty());
    }
}
