//! Turns panics of decoders into errors.

use crate::error::{Error, Result};
use std::cell::Cell;
use std::panic::{self, AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Once;

thread_local! {
    /// Whether this thread runs a decoder.
    static DECODES: Cell<bool> = const { Cell::new(false) };
}

/// Runs a decoder, and nothing else. Those of the `arrow` and `parquet` crates return errors for most
/// corrupt files, and panic for some.
pub fn guarded<T>(path: &Path, decode: impl FnOnce() -> Result<T>) -> Result<T> {
    silence_decoders();
    DECODES.set(true);
    let outcome = catch_unwind(AssertUnwindSafe(decode));
    DECODES.set(false);
    outcome.unwrap_or_else(|_| Err(Error::at(path, "is corrupt: copy it or write it again")))
}

/// A panic of a decoder becomes an error, so its message would be a second one. Other panics are
/// bugs, and keep theirs.
fn silence_decoders() {
    static SILENCED: Once = Once::new();
    SILENCED.call_once(|| {
        let hook = panic::take_hook();
        panic::set_hook(Box::new(move |panic| {
            if !DECODES.get() {
                hook(panic);
            }
        }));
    });
}
