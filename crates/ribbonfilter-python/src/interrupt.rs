//! Ctrl-C cancels a build.

use crate::errors;
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use ribbonfilter::BuildError;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

/// The interval between two checks for signals. A check waits for the GIL.
const INTERVAL: Duration = Duration::from_millis(100);

/// Runs a build without the GIL, until it is done or interrupted.
pub fn watched<T: Send>(
    py: Python<'_>,
    build: impl FnOnce(&mut Watch) -> Result<T, BuildError> + Send,
) -> PyResult<T> {
    let mut watch = Watch::new();
    py.detach(|| build(&mut watch)).map_err(|error| watch.error(error))
}

/// Checks for signals at intervals, while a build runs without the GIL.
pub struct Watch {
    last: Instant,
    /// The exception that a signal handler raised.
    raised: Option<PyErr>,
}

impl Watch {
    fn new() -> Self {
        Self { last: Instant::now(), raised: None }
    }

    pub fn check(&mut self) -> ControlFlow<()> {
        if self.last.elapsed() < INTERVAL {
            return ControlFlow::Continue(());
        }
        self.last = Instant::now();
        self.raised = Python::attach(|py| py.check_signals().err());
        match self.raised {
            None => ControlFlow::Continue(()),
            Some(_) => ControlFlow::Break(()),
        }
    }

    /// The exception for a failed build: the signal handler's, if that cancelled the build.
    fn error(self, error: BuildError) -> PyErr {
        match (error, self.raised) {
            (BuildError::Cancelled, Some(raised)) => raised,
            (BuildError::Cancelled, None) => PyKeyboardInterrupt::new_err(()),
            (error, _) => errors::build(error),
        }
    }
}
