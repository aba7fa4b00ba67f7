//! Progress on standard error, where someone watches: nothing is shown if it is no terminal.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// The bar of the present phase. Its clones are the same bar.
#[derive(Clone)]
pub struct Progress {
    bar: ProgressBar,
}

const BYTES: &str =
    "{msg:13} {wide_bar} {binary_bytes}/{binary_total_bytes}  {binary_bytes_per_sec}  {eta} left";
const BYTES_UNBOUNDED: &str = "{msg:13} {spinner} {binary_bytes}  {binary_bytes_per_sec}";
const KEYS: &str = "{msg:13} {wide_bar} {percent} %  {per_sec} keys  {eta} left";

impl Progress {
    /// No progress: for quiet commands.
    pub fn none() -> Self {
        Self { bar: ProgressBar::hidden() }
    }

    /// A bar that shows itself if standard error is a terminal.
    pub fn new() -> Self {
        Self { bar: ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr()) }
    }

    /// A phase that counts bytes, all of which may be known.
    pub fn start_bytes(&self, phase: &'static str, total: Option<u64>) {
        match total {
            Some(total) => self.start(phase, BYTES, total),
            None => {
                self.start(phase, BYTES_UNBOUNDED, 0);
                self.bar.unset_length();
            }
        }
    }

    /// A phase that counts keys.
    pub fn start_keys(&self, phase: &'static str, total: u64) {
        self.start(phase, KEYS, total);
    }

    fn start(&self, phase: &'static str, template: &str, total: u64) {
        // A template that does not parse would be a mistake of ours, not worth a panic.
        let style = ProgressStyle::with_template(template);
        self.bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        self.bar.set_message(phase);
        self.bar.set_length(total);
        self.bar.reset();
        self.bar.tick();
    }

    /// So much more of the present phase is done.
    pub fn advance(&self, more: u64) {
        self.bar.inc(more);
    }

    /// So much of the present phase is done.
    pub fn set(&self, done: u64) {
        self.bar.set_position(done);
    }

    /// Takes the bar from the screen, before anything else is written.
    pub fn clear(&self) {
        self.bar.finish_and_clear();
    }
}
