//! Ribbon filters for C, and through C for C++, Go, Java, Zig and engines written in them.
//!
//! Implements the functions of `include/ribbonfilter.h`: build from keys or hashes, open a borrowed
//! buffer, look up keys one by one or in batches, plan, shrink, free; and the same for exact sets.
//! These rules hold for all
//! functions:
//!
//! - **Errors are values.** A function that can fail returns a [`ribbon_status`]; a query returns a
//!   negative status. [`ribbon_last_error`](status::ribbon_last_error) returns the message of the
//!   last failure on the current thread. No panic unwinds into C.
//! - **Handles are checked.** A null pointer is rejected, and so is a builder where a filter is
//!   expected. A freed handle cannot be detected reliably; do not use it.
//! - **Results are written last**, and only on success: a failed call leaves them unchanged.
//! - Any number of threads may query a filter at the same time. Only one thread at a time may use a
//!   builder.
#![expect(unsafe_code, reason = "pointers from C")]
#![expect(non_camel_case_types, reason = "these are the names in C")]

pub mod builder;
mod bytes;
pub mod exact;
pub mod exact_builder;
pub mod filter;
mod handle;
pub mod other_keys;
pub mod plan;
pub mod settings;
pub mod status;

pub use builder::ribbon_builder;
pub use exact::ribbon_exact;
pub use exact_builder::ribbon_exact_builder;
pub use filter::ribbon_filter;
pub use other_keys::ribbon_other_keys;
pub use settings::ribbon_settings;
pub use status::ribbon_status;
