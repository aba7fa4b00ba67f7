//! Counts retired instructions, where the system allows it.

/// The number of instructions that `work` retires, or `None` if they cannot be counted.
#[cfg(target_os = "linux")]
pub fn count<T>(work: impl FnOnce() -> T) -> Option<f64> {
    use perf_event::{Builder, events::Hardware};
    let mut counter = Builder::new(Hardware::INSTRUCTIONS).build().ok()?;
    counter.enable().ok()?;
    std::hint::black_box(work());
    counter.disable().ok()?;
    counter.read().ok().map(|count| count as f64)
}

#[cfg(not(target_os = "linux"))]
pub fn count<T>(_: impl FnOnce() -> T) -> Option<f64> {
    None
}
