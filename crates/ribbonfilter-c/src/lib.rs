//! Ribbon filters for C, and through it for C++, Go, Java, Zig and the engines written in them.
//!
//! The functions of `include/ribbonfilter.h`: build from keys or hashes, open a borrowed buffer,
//! ask, ask for many, plan, shrink, free. Rules that hold for all of them:
//!
//! - **Errors are values.** Whatever can fail returns a [`ribbon_status`] (a query: a negative
//!   one), and [`ribbon_last_error`](status::ribbon_last_error) has the message of the last
//!   failure on this thread. Nothing unwinds across the border.
//! - **Handles know what they are.** A null pointer, or a builder where a filter is expected, is
//!   refused. (A handle that was freed cannot be told from others; do not use it.)
//! - **Results are written last**, and only on success; a failed call changes nothing.
//! - A filter may be asked by any number of threads at a time, a builder used by one.
#![expect(unsafe_code, reason = "pointers from C")]
#![expect(non_camel_case_types, reason = "these are C's names")]

pub mod builder;
pub mod filter;
mod handle;
pub mod plan;
pub mod settings;
pub mod status;

pub use builder::ribbon_builder;
pub use filter::ribbon_filter;
pub use settings::ribbon_settings;
pub use status::ribbon_status;
