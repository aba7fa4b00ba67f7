//! What the building of filters and of maps has in common: where to, with what memory, and what is
//! seen of it.

use crate::error::{Error, Result};
use crate::output::Output;
use crate::progress::Progress;
use crate::{show, values};
use clap::Args;
use ribbonfilter::{Control, Phase};
use std::path::PathBuf;

/// Bytes that are written between two reports.
const PIECE: usize = 1 << 20;

#[derive(Args)]
pub struct BuildArguments {
    /// The file to write to
    #[arg(long, short, value_name = "OUT")]
    output: PathBuf,
    /// Replace the output if it exists
    #[arg(long, short)]
    force: bool,
    /// The memory that the build may take, as 2GiB; more is refused
    #[arg(long, value_name = "BYTES", value_parser = values::bytes)]
    pub memory: Option<u64>,
    /// Hash the keys under this seed, which is stored in the output
    #[arg(long, value_name = "SEED", value_parser = values::seed, default_value = "0")]
    pub key_seed: u64,
    /// Print nothing but errors
    #[arg(long, short)]
    pub quiet: bool,
}

impl BuildArguments {
    pub fn create(&self) -> Result<Output> {
        Output::create(&self.output, self.force)
    }

    /// A phase that counts bytes, all of which may be known.
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

    /// What a builder of so many keys calls as it goes on.
    pub fn watch_solving(
        &self,
        keys: u64,
    ) -> impl FnMut(ribbonfilter::Progress) -> Control + Send + '_ {
        let mut present: Option<(Phase, Progress)> = None;
        move |news| {
            // The old bar leaves before the new one comes.
            present.take_if(|(phase, _)| *phase != news.phase);
            let new = || (news.phase, self.watch_keys(news.phase, keys));
            let (_, progress) = present.get_or_insert_with(new);
            progress.set((news.share() * keys as f64) as u64);
            Control::Continue
        }
    }

    /// Stops reading as soon as what is kept of the keys, so many bytes each, is too much alone.
    pub fn check_memory(&self, keys: u64, each: u64) -> Result<()> {
        match self.memory {
            Some(memory) if keys.saturating_mul(each) > memory => Err(Error::new(format_args!(
                "the hashes of the first {} keys alone exceed the {} allowed: allow more by \
                 --memory, or split the keys into several files",
                show::count(keys),
                show::bytes(memory),
            ))),
            _ => Ok(()),
        }
    }

    /// Writes what was built, and gives it its name.
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
