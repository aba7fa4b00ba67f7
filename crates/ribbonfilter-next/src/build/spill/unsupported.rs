//! Stands in for the spill file on targets without files. It can never be constructed.

use crate::build::item::{Item, Value};
use crate::error::BuildError;
use crate::plan::Runs;
use alloc::vec::Vec;
use core::convert::Infallible;
use core::marker::PhantomData;
use core::ops::Range;

/// Uninhabited: there are no directories.
#[derive(Clone)]
pub(crate) enum Directory {}

pub(crate) struct Spill<V> {
    never: Infallible,
    values: PhantomData<V>,
}

impl<V: Value> Spill<V> {
    pub(crate) fn create(directory: &Directory, _: Runs, _: u8) -> Result<Self, BuildError> {
        match *directory {}
    }

    pub(crate) fn len(&self) -> u64 {
        match self.never {}
    }

    pub(crate) fn runs(&self) -> Runs {
        match self.never {}
    }

    pub(crate) fn seed(&self) -> u8 {
        match self.never {}
    }

    pub(crate) fn cells(&self) -> usize {
        match self.never {}
    }

    pub(crate) fn write(&mut self, _: &mut Vec<Item<V>>) -> Result<(), BuildError> {
        match self.never {}
    }

    pub(crate) fn count(&self, _: Range<usize>) -> u64 {
        match self.never {}
    }

    pub(crate) fn read(&self, _: Range<usize>, _: &mut Vec<Item<V>>) -> Result<(), BuildError> {
        match self.never {}
    }

    pub(crate) fn with_seed(&self, _: u8) -> Result<Self, BuildError> {
        match self.never {}
    }

    pub(crate) fn distinct(&self) -> Result<Self, BuildError> {
        match self.never {}
    }
}
