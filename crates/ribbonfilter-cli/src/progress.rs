//! Progress bars on standard error, shown only if it is a terminal.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use std::fmt::Write;

/// The progress bar of one phase. Dropping it clears the line, so that an error or the next bar can
/// be printed.
pub struct Progress(ProgressBar);

const BYTES: &str =
    "{msg:13} {wide_bar} {binary_bytes}/{binary_total_bytes}  {binary_bytes_per_sec}  {eta} left";
const BYTES_UNBOUNDED: &str = "{msg:13} {spinner} {binary_bytes}  {binary_bytes_per_sec}";
const KEYS: &str = "{msg:13} {wide_bar} {percent} %  {key_rate}  {eta} left";

impl Progress {
    /// A hidden bar, for quiet commands.
    pub fn none() -> Self {
        Self(ProgressBar::hidden())
    }

    /// A phase that counts bytes, whose total may be unknown.
    pub fn bytes(phase: &'static str, total: Option<u64>) -> Self {
        let template = if total.is_some() { BYTES } else { BYTES_UNBOUNDED };
        Self::new(phase, template, total)
    }

    /// A phase that counts keys.
    pub fn keys(phase: &'static str, total: u64) -> Self {
        Self::new(phase, KEYS, Some(total))
    }

    fn new(phase: &'static str, template: &str, total: Option<u64>) -> Self {
        // A template that does not parse would be a bug, but not one to panic for.
        let style = ProgressStyle::with_template(template);
        let style = style.unwrap_or_else(|_| ProgressStyle::default_bar());
        let bar = ProgressBar::with_draw_target(total, ProgressDrawTarget::stderr());
        let bar = bar.with_style(style.with_key("key_rate", key_rate)).with_message(phase);
        // Draw the bar now, however short the phase is.
        bar.tick();
        Self(bar)
    }

    /// Adds `more` to the progress.
    pub fn advance(&self, more: u64) {
        self.0.inc(more);
    }

    /// Sets the progress to `done`.
    pub fn set(&self, done: u64) {
        self.0.set_position(done);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}

fn key_rate(state: &ProgressState, text: &mut dyn Write) {
    let _ = write!(text, "{:.1} million keys/s", state.per_sec() / 1e6);
}
