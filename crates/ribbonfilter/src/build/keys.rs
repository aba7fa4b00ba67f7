//! The keys of a build, one group of segments at a time.

use super::{Group, Partitioned, Spill, Value};
use crate::error::BuildError;
use crate::plan::Schedule;

/// Keys in segment order.
pub(crate) enum Keys<'a, V: Value> {
    /// In memory: a single group.
    Here(Partitioned<'a, V>),
    /// In a file, from which each group is read when it is needed.
    Spilled(&'a Spill<V>, Schedule),
}

impl<V: Value> Keys<'_, V> {
    /// The number of groups, as a power of two.
    pub(crate) fn group_bits(&self) -> u32 {
        match self {
            Self::Here(_) => 0,
            Self::Spilled(_, schedule) => schedule.group_bits,
        }
    }

    /// The keys of a group.
    pub(crate) fn group(&self, group: Group) -> Result<Partitioned<'_, V>, BuildError> {
        match self {
            Self::Here(all) => Ok(all.view()),
            Self::Spilled(spill, schedule) => spill.load(group, schedule.threads as usize),
        }
    }
}
