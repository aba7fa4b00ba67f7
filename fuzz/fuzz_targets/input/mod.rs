//! What the command's modules find around them there.

#[path = "../../../crates/ribbonfilter-cli/src/input/hex.rs"]
mod hex;
#[path = "../../../crates/ribbonfilter-cli/src/input/records.rs"]
pub mod records;

/// As in the command, but for what its parser of arguments needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    Lines,
    Hex,
    U64le,
}
