//! Explains why an exact set cannot be built from two lists of keys.

use crate::error::{Error, Result};
use crate::input::{self, Batch, Flow, Format, Inputs};
use crate::progress::Progress;
use ribbonfilter::BuildError;

/// The inputs of both sides, and how they are read.
pub struct Sides<'a> {
    pub members: &'a Inputs,
    pub others: &'a Inputs,
    pub format: Format,
    pub key_seed: u64,
    pub threads: usize,
}

/// A key of an input.
struct Found {
    location: String,
    text: Vec<u8>,
}

impl Sides<'_> {
    /// Converts an error of the builder.
    pub fn explain(&self, error: &BuildError) -> Error {
        match *error {
            BuildError::BothSides { key_hash } => self.name_keys(key_hash).unwrap_or_else(|| {
                Error::new(format_args!(
                    "{}: a key is also a member, or two keys have the same hash {key_hash:#018x}: \
                     remove the key from one side, or use --universe if members may be among the \
                     others; if the keys differ, choose another --key-seed",
                    self.others.name(0).display(),
                ))
            }),
            BuildError::Collision => Error::new(
                "a member and another key, or two groups, have the same mixed hash: choose another \
                 --key-seed",
            ),
            BuildError::OthersChanged { first, later } => Error::at(
                self.others.name(0),
                format_args!(
                    "changed while it was read, from {first} to {later} keys or in their groups: try \
                     again when it is complete"
                ),
            ),
            _ => Error::new(error),
        }
    }

    /// Searches both sides for the keys with this hash, if they can be read again and have no
    /// groups: the hash of a key in a group is mixed with that of the group.
    fn name_keys(&self, key_hash: u64) -> Option<Error> {
        if self.format.grouped {
            return None;
        }
        let member = self.find(self.members, key_hash)?;
        let other = self.find(self.others, key_hash)?;
        let key = other.text.escape_ascii();
        Some(Error::new(if other.text.eq_ignore_ascii_case(&member.text) {
            format!(
                "{}: the key {key} is also a member, in {}: remove one of the lines, or use \
                 --universe if members may be among the others",
                other.location, member.location
            )
        } else {
            format!(
                "{}: the key {key} has the same hash as the member in {}: choose another --key-seed",
                other.location, member.location
            )
        }))
    }

    /// The first key with this hash. An input that cannot be read is like one that has none: there
    /// is an error to report already.
    fn find(&self, inputs: &Inputs, key_hash: u64) -> Option<Found> {
        if !inputs.are_files() {
            return None;
        }
        let Self { format, key_seed, threads, .. } = *self;
        let options = input::Options { key_seed, threads, progress: &Progress::none() };
        let mut found = None;
        let search = |batch: &Batch, index: &mut Option<usize>| {
            *index = batch.hashes().iter().position(|&hash| hash == key_hash);
        };
        let searched: Result<()> = input::read(inputs, format, options, search, |batch, index| {
            let Some(index) = *index else { return Ok(Flow::Continue) };
            let mut text = Vec::new();
            format.write_key(batch.record(index), &mut text);
            found = Some(Found { location: batch.location(index, inputs, &format), text });
            Ok(Flow::Stop)
        });
        searched.ok().and(found)
    }
}
