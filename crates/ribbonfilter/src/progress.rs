//! News of a long build, and the way to stop it.

use crate::error::BuildError;
use alloc::boxed::Box;

/// What a build is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Phase {
    /// Bringing the key hashes into the order of their segments.
    Partitioning,
    /// Finding seeds and solving the systems.
    Solving,
    /// Handing the finished bytes to a writer.
    Writing,
}

/// How far a build has come. A phase may start over when another seed or more slots are
/// needed.
///
/// ```
/// use ribbonfilter::{Control, Filter};
///
/// let mut builder = Filter::builder().progress(|progress| {
///     eprintln!("{:?}: {:.0} %", progress.phase, progress.share() * 100.0);
///     Control::Continue
/// });
/// builder.extend(0..1000);
/// builder.finish()?;
/// # Ok::<(), ribbonfilter::BuildError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Progress {
    /// The present phase.
    pub phase: Phase,
    /// Steps of it that are done.
    pub done: u64,
    /// All its steps.
    pub total: u64,
}

impl Progress {
    /// The share of the present phase that is done, from 0 to 1.
    ///
    /// ```
    /// # use ribbonfilter::{Control, Filter};
    /// # let mut builder = Filter::builder().progress(|progress| {
    /// assert!((0.0..=1.0).contains(&progress.share()));
    /// # Control::Continue
    /// # });
    /// # builder.push("ada");
    /// # builder.finish()?;
    /// # Ok::<(), ribbonfilter::BuildError>(())
    /// ```
    pub fn share(&self) -> f64 {
        if self.total == 0 { 1.0 } else { self.done as f64 / self.total as f64 }
    }
}

/// What a progress callback wants.
///
/// ```
/// use ribbonfilter::{BuildError, Control, Filter};
///
/// let mut builder = Filter::builder().progress(|_| Control::Cancel);
/// builder.push("ada");
/// assert!(matches!(builder.finish(), Err(BuildError::Cancelled)));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Control {
    /// Go on.
    Continue,
    /// Stop: the build returns [`BuildError::Cancelled`].
    Cancel,
}

/// The user's callback, if there is one.
#[derive(Default)]
pub(crate) struct Reporter<'p>(Option<Box<dyn FnMut(Progress) -> Control + Send + 'p>>);

impl<'p> Reporter<'p> {
    pub(crate) fn new(callback: impl FnMut(Progress) -> Control + Send + 'p) -> Self {
        Self(Some(Box::new(callback)))
    }

    pub(crate) fn report(&mut self, phase: Phase, done: u64, total: u64) -> Result<(), BuildError> {
        let Some(callback) = &mut self.0 else {
            return Ok(());
        };
        match callback(Progress { phase, done, total }) {
            Control::Continue => Ok(()),
            Control::Cancel => Err(BuildError::Cancelled),
        }
    }
}
