//! Ctrl-C stops a build.

use crate::errors;
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use ribbonfilter::{BuildError, Control};
use std::time::{Duration, Instant};

/// A look takes the GIL, which others may hold.
const BETWEEN_LOOKS: Duration = Duration::from_millis(100);

/// Builds without the GIL, until done or interrupted.
pub fn watched<T: Send>(
    py: Python<'_>,
    build: impl FnOnce(&mut Watch) -> Result<T, BuildError> + Send,
) -> PyResult<T> {
    let mut watch = Watch::new();
    py.detach(|| build(&mut watch)).map_err(|error| watch.error(error))
}

/// Looks for signals now and then, while a build runs without the GIL.
pub struct Watch {
    last: Instant,
    /// What a signal handler raised.
    raised: Option<PyErr>,
}

impl Watch {
    fn new() -> Self {
        Self { last: Instant::now(), raised: None }
    }

    pub fn look(&mut self) -> Control {
        if self.last.elapsed() < BETWEEN_LOOKS {
            return Control::Continue;
        }
        self.last = Instant::now();
        self.raised = Python::attach(|py| py.check_signals().err());
        match self.raised {
            None => Control::Continue,
            Some(_) => Control::Cancel,
        }
    }

    /// The error of a build: what the handler raised, if that was the cause.
    fn error(self, error: BuildError) -> PyErr {
        match (error, self.raised) {
            (BuildError::Cancelled, Some(raised)) => raised,
            (BuildError::Cancelled, None) => PyKeyboardInterrupt::new_err(()),
            (error, _) => errors::build(error),
        }
    }
}
