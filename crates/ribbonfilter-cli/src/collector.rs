//! Collects hashes for a filter or for the shards of a container.

use crate::filter_file::Set;
use ribbonfilter::{BuildError, FilterBuilder, OwnedBytes, Progress, ShardsBuilder};
use std::ops::ControlFlow;

pub enum Collector {
    Filter(FilterBuilder<'static>),
    Shards(ShardsBuilder<'static>),
}

impl Collector {
    /// Rejects settings that are invalid for every number of keys, before the input is read.
    pub fn check(&self) -> Result<(), BuildError> {
        match self {
            Self::Filter(builder) => match builder.plan_for(0) {
                Ok(_) | Err(BuildError::SizeTooSmall { .. }) => Ok(()),
                Err(error) => Err(error),
            },
            Self::Shards(builder) => builder.check(),
        }
    }

    pub fn extend_hashes(&mut self, hashes: &[u64]) {
        let hashes = hashes.iter().copied();
        match self {
            Self::Filter(builder) => builder.extend_hashes(hashes),
            Self::Shards(builder) => builder.extend_hashes(hashes),
        }
    }

    pub fn len(&self) -> u64 {
        match self {
            Self::Filter(builder) => builder.len(),
            Self::Shards(builder) => builder.len(),
        }
    }

    /// Builds the filter or the container.
    pub fn finish(
        self,
        progress: impl FnMut(Progress) -> ControlFlow<()> + Send,
    ) -> Result<Set<OwnedBytes>, BuildError> {
        match self {
            Self::Filter(builder) => builder.progress(progress).finish().map(Set::Filter),
            Self::Shards(builder) => builder.progress(progress).finish().map(Set::Shards),
        }
    }
}
