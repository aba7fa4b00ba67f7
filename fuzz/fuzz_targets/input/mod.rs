//! The parts of the command's `input` module that its submodules need.

#[path = "../../../crates/ribbonfilter-cli/src/input/hex.rs"]
mod hex;
#[path = "../../../crates/ribbonfilter-cli/src/input/records.rs"]
pub mod records;

/// The command's type, without the derives for its argument parser.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    Lines,
    Hex,
    U64le,
}
