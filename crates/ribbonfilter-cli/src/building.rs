//! Shared by `build`, `map build` and `exact build`: the output file, the memory limit and the
//! progress bars.

use crate::error::{Error, Result};
use crate::output::Output;
use crate::progress::Progress;
use crate::{show, values};
use clap::Args;
use ribbonfilter::Phase;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

/// Bytes that are written between two updates of the progress bar.
const PIECE: usize = 1 << 20;

#[derive(Args)]
pub struct BuildArguments {
    /// The file to write to
    #[arg(long, short, value_name = "OUT")]
    output: PathBuf,
    /// Replace the output if it exists
    #[arg(long, short)]
    force: bool,
    /// Maximum memory of the build, such as 2GiB; a build that needs more fails
    #[arg(long, value_name = "BYTES", value_parser = values::bytes)]
    pub memory: Option<u64>,
    /// Hash the keys with this seed, which is stored in the output
    #[arg(long, value_name = "SEED", value_parser = values::seed, default_value = "0")]
    pub key_seed: u64,
    /// Print only errors
    #[arg(long, short)]
    pub quiet: bool,
}

impl BuildArguments {
    pub fn create(&self) -> Result<Output> {
        Output::create(&self.output, self.force)
    }

    /// The progress bar of a phase that counts bytes, whose total may be unknown.
    pub fn watch_bytes(&self, phase: &'static str, total: Option<u64>) -> Progress {
        if self.quiet { Progress::none() } else { Progress::bytes(phase, total) }
    }

    fn watch_keys(&self, phase: Phase, total: u64) -> Progress {
        let name = match phase {
            Phase::Partitioning => "partitioning",
            _ => "solving",
        };
        if self.quiet { Progress::none() } else { Progress::keys(name, total) }
    }

    /// Returns the progress callback for a builder of `keys` keys.
    pub fn watch_solving(
        &self,
        keys: u64,
    ) -> impl FnMut(ribbonfilter::Progress) -> ControlFlow<()> + Send + '_ {
        let mut current: Option<(Phase, Progress)> = None;
        move |report| {
            // Remove the old bar before the new one is drawn.
            current.take_if(|(phase, _)| *phase != report.phase);
            let new = || (report.phase, self.watch_keys(report.phase, keys));
            let (_, progress) = current.get_or_insert_with(new);
            progress.set((report.fraction() * keys as f64) as u64);
            ControlFlow::Continue(())
        }
    }

    /// Fails as soon as the hashes of the keys alone, `bytes_per_key` each, exceed the memory
    /// limit.
    pub fn check_memory(&self, keys: u64, bytes_per_key: u64) -> Result<()> {
        match self.memory {
            Some(memory) if keys.saturating_mul(bytes_per_key) > memory => {
                Err(Error::new(format_args!(
                    "the hashes of the first {} keys alone exceed the {} allowed: raise --memory, \
                     or split the keys into several files",
                    show::count(keys),
                    show::bytes(memory),
                )))
            }
            _ => Ok(()),
        }
    }

    /// Writes the bytes of the filter, map or exact set and commits the output.
    pub fn write(&self, bytes: &[u8], mut output: Output) -> Result<()> {
        let progress = self.watch_bytes("writing", Some(bytes.len() as u64));
        for piece in bytes.chunks(PIECE) {
            output.write(piece)?;
            progress.advance(piece.len() as u64);
        }
        drop(progress);
        output.commit()
    }
}

/// Checks the directory for spilled hashes before the input is read.
pub fn check_folder(folder: &Path) -> Result<()> {
    let metadata = folder.metadata().map_err(|error| Error::io(folder, &error))?;
    match metadata.is_dir() {
        true => Ok(()),
        false => Err(Error::at(folder, "is not a directory: name one to spill hashes to")),
    }
}
