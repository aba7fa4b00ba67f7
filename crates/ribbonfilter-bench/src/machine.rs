//! Describes where and when something was measured. Contains what explains the figures, but nothing
//! that identifies the machine.

use serde::{Deserialize, Serialize};
use std::time::{SystemTime, UNIX_EPOCH};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Machine {
    pub cpu: String,
    pub cores: usize,
    pub memory_gib: u64,
    pub kernel: String,
}

impl Machine {
    pub fn this() -> Self {
        let mebibytes = first_number("/proc/meminfo", "MemTotal").unwrap_or(0) / 1024;
        Self {
            cpu: cpu_model(),
            cores: cores(),
            memory_gib: (mebibytes + 512) / 1024,
            kernel: crate::kernel().name().into(),
        }
    }
}

impl std::fmt::Display for Machine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { cpu, cores, memory_gib, kernel } = self;
        write!(f, "{cpu}, {cores} cores, {memory_gib} GiB; kernel {kernel}")
    }
}

/// The number of cores of the machine, also if this process may use only some of them.
fn cores() -> usize {
    let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    match info.lines().filter(|line| line.starts_with("processor")).count() {
        0 => std::thread::available_parallelism().map_or(1, Into::into),
        cores => cores,
    }
}

/// The CPU name as lscpu prints it, with family and model number if they are known.
fn cpu_model() -> String {
    let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let field = |name: &str| {
        let line = info.lines().find(|line| line.split(':').next().map(str::trim) == Some(name));
        line.and_then(|line| line.split(':').nth(1)).map(|value| value.trim().to_string())
    };
    let Some(name) = field("model name") else {
        return std::env::consts::ARCH.into();
    };
    match field("cpu family").zip(field("model")) {
        Some((family, model)) => format!("{name} (family {family}, model {model})"),
        None => name,
    }
}

fn first_number(path: &str, field: &str) -> Option<u64> {
    let text = std::fs::read_to_string(path).ok()?;
    let line = text.lines().find(|line| line.starts_with(field))?;
    line.split_whitespace().nth(1)?.parse().ok()
}

/// The load average of the last minute, if the system provides it.
pub fn load() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/loadavg").ok()?;
    text.split_whitespace().next()?.parse().ok()
}

/// The CPU time that all processes, and this one, have used so far. The unit does not matter.
#[derive(Clone, Copy)]
pub struct CpuUse {
    all: f64,
    own: f64,
    /// Used or not, over all cores.
    passed: f64,
}

impl CpuUse {
    /// The use until now, if the system reports it.
    pub fn now() -> Option<Self> {
        let text = std::fs::read_to_string("/proc/stat").ok()?;
        let line = text.lines().next()?.strip_prefix("cpu ")?;
        // User, nice, system, idle, waiting, interrupts (two), and time that the host took.
        let ticks: Vec<f64> =
            line.split_whitespace().take(8).filter_map(|tick| tick.parse().ok()).collect();
        let passed: f64 = ticks.iter().sum();
        let all = passed - ticks.get(3)? - ticks.get(4)?;
        let text = std::fs::read_to_string("/proc/self/stat").ok()?;
        // The name of the program, in brackets, may contain spaces.
        let fields: Vec<&str> = text.rsplit(')').next()?.split_whitespace().collect();
        // User and system, of this process and of its children that have ended.
        let own: Vec<f64> =
            fields.get(11..15)?.iter().filter_map(|tick| tick.parse().ok()).collect();
        let own = own.iter().sum();
        Some(Self { all, own, passed })
    }

    /// The number of cores that other processes kept busy since an earlier use, on average.
    pub fn others_since(self, start: Self, cores: usize) -> f64 {
        let others = (self.all - start.all) - (self.own - start.own);
        (others / (self.passed - start.passed).max(1.0)).max(0.0) * cores as f64
    }
}

/// Today's date in UTC, such as 2021-03-04.
pub fn today() -> String {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs());
    date(seconds / 86_400)
}

/// The date `days` days after 1970-01-01. Years begin in March here, so that leap days come last.
fn date(days: u64) -> String {
    let days = days + 719_468;
    let (era, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let (year, month) = if month < 10 { (year, month + 3) } else { (year + 1, month - 9) };
    format!("{:04}-{month:02}-{day:02}", year + era * 400)
}

#[cfg(test)]
mod tests {
    use super::{CpuUse, date};

    #[test]
    fn others_are_not_this_process() {
        let start = CpuUse { all: 100.0, own: 50.0, passed: 1000.0 };
        let end = CpuUse { all: 180.0, own: 100.0, passed: 1200.0 };
        assert_eq!(end.others_since(start, 2), 0.3);
    }

    #[test]
    fn dates() {
        for (days, expected) in [
            (0, "1970-01-01"),
            (59, "1970-03-01"),
            (789, "1972-02-29"),
            (11_016, "2000-02-29"),
            (18_690, "2021-03-04"),
            (20_453, "2025-12-31"),
        ] {
            assert_eq!(date(days), expected);
        }
    }
}
