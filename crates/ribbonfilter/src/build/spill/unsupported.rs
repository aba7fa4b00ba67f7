//! Stands in for the spill file on targets without files. It can never be constructed.

use crate::build::{Group, Item, Partitioned, Value};
use crate::error::BuildError;
use crate::plan::Runs;
use core::convert::Infallible;
use core::marker::PhantomData;

/// Uninhabited: there are no directories.
#[derive(Clone)]
pub(crate) enum Directory {}

pub(crate) struct Spill<V> {
    never: Infallible,
    values: PhantomData<V>,
}

impl<V: Value> Spill<V> {
    pub(crate) fn create(directory: &Directory, _: Runs) -> Result<Self, BuildError> {
        match *directory {}
    }

    pub(crate) fn len(&self) -> u64 {
        match self.never {}
    }

    pub(crate) fn runs(&self) -> Runs {
        match self.never {}
    }

    pub(crate) fn write(&mut self, _: &mut [Item<u64, V>]) -> Result<(), BuildError> {
        match self.never {}
    }

    pub(crate) fn load(&self, _: Group, _: usize) -> Result<Partitioned<'static, V>, BuildError> {
        match self.never {}
    }

    pub(crate) fn fullest(&self, _: u32) -> u64 {
        match self.never {}
    }

    pub(crate) fn distinct(&self, _: usize) -> Result<Option<Self>, BuildError> {
        match self.never {}
    }
}
