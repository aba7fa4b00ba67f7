//! For commands that were compiled without the crates for Parquet and Arrow.

use super::{Columnar, Counts};
use crate::error::{Error, Result};
use crate::input::{Flow, Inputs, Options};

pub fn read(
    _: &Inputs,
    columnar: &Columnar,
    _: &Options<'_>,
    _: impl FnMut(&[u64]) -> Result<Flow> + Send,
) -> Result<Counts> {
    Err(Error::new(format_args!(
        "--input {} needs a ribbon that was compiled with it: `cargo install ribbonfilter-cli \
         --features parquet`, or `cargo install --path crates/ribbonfilter-cli --features parquet` \
         in a clone",
        columnar.container.name()
    )))
}
