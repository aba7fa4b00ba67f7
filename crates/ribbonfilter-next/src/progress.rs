//! News of a long build, and the way to stop it.

use crate::error::BuildError;
use alloc::boxed::Box;
use core::ops::ControlFlow;

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
/// use core::ops::ControlFlow;
/// use ribbonfilter_next::Filter;
///
/// let mut builder = Filter::builder().progress(|progress| {
///     eprintln!("{:?}: {:.0} %", progress.phase, progress.fraction() * 100.0);
///     ControlFlow::Continue(())
/// });
/// builder.extend(0..1000);
/// builder.finish()?;
/// # Ok::<(), ribbonfilter_next::BuildError>(())
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
    /// The fraction of the current phase that is done, from 0 to 1.
    ///
    /// ```
    /// # use core::ops::ControlFlow;
    /// # use ribbonfilter_next::Filter;
    /// # let mut builder = Filter::builder().progress(|progress| {
    /// assert!((0.0..=1.0).contains(&progress.fraction()));
    /// # ControlFlow::Continue(())
    /// # });
    /// # builder.push("ada");
    /// # builder.finish()?;
    /// # Ok::<(), ribbonfilter_next::BuildError>(())
    /// ```
    pub fn fraction(&self) -> f64 {
        if self.total == 0 { 1.0 } else { self.done as f64 / self.total as f64 }
    }
}

/// The user's callback, if there is one.
#[derive(Default)]
pub struct Reporter<'p>(Option<Box<dyn FnMut(Progress) -> ControlFlow<()> + Send + 'p>>);

impl<'p> Reporter<'p> {
    /// Calls back.
    pub fn new(callback: impl FnMut(Progress) -> ControlFlow<()> + Send + 'p) -> Self {
        Self(Some(Box::new(callback)))
    }

    /// Reports how far a phase is; an error if the callback stops the build.
    pub fn report(&mut self, phase: Phase, done: u64, total: u64) -> Result<(), BuildError> {
        let Some(callback) = &mut self.0 else {
            return Ok(());
        };
        match callback(Progress { phase, done, total }) {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(()) => Err(BuildError::Cancelled),
        }
    }

    /// Writes finished bytes, and reports how far that is. Returns their number.
    #[cfg(feature = "std")]
    pub fn write(
        &mut self,
        bytes: &[u8],
        mut writer: impl std::io::Write,
    ) -> Result<u64, BuildError> {
        /// Bytes between two reports.
        const PIECE: usize = 1 << 20;
        let (mut done, total) = (0, bytes.len() as u64);
        for piece in bytes.chunks(PIECE) {
            self.report(Phase::Writing, done, total)?;
            writer.write_all(piece)?;
            done += piece.len() as u64;
        }
        writer.flush()?;
        self.report(Phase::Writing, total, total)?;
        Ok(total)
    }
}
