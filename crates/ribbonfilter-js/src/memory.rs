//! Memory that JavaScript fills: scratch buffers, and the bytes of a structure.

use alloc::alloc::{Layout, alloc, dealloc};
use alloc::boxed::Box;
use ribbonfilter::OwnedBytes;

/// Hashes are 8 bytes, and 16 suit every vector.
const ALIGN: usize = 16;

fn layout(len: usize) -> Option<Layout> {
    Layout::from_size_align(len, ALIGN).ok().filter(|layout| layout.size() > 0)
}

/// Allocates `len` bytes. Returns null if `len` is 0 or the memory cannot grow.
#[cfg_attr(target_arch = "wasm32", unsafe(no_mangle))]
pub extern "C" fn allocate(len: usize) -> *mut u8 {
    // SAFETY: the size is not zero.
    layout(len).map_or(core::ptr::null_mut(), |layout| unsafe { alloc(layout) })
}

/// Frees what [`allocate`] returned for `len` bytes.
///
/// # Safety
/// `address` comes from [`allocate`] with the same `len`, and is not used again.
#[cfg_attr(target_arch = "wasm32", unsafe(no_mangle))]
pub unsafe extern "C" fn deallocate(address: *mut u8, len: usize) {
    if let Some(layout) = layout(len) {
        // SAFETY: the caller passes what `allocate` returned for this layout.
        unsafe { dealloc(address, layout) }
    }
}

/// Allocates a buffer of `len` bytes, to be filled and opened. Returns its handle, or null if the
/// memory cannot grow.
#[cfg_attr(target_arch = "wasm32", unsafe(no_mangle))]
pub extern "C" fn buffer(len: usize) -> *mut OwnedBytes {
    match OwnedBytes::zeroed(len) {
        Ok(bytes) => Box::into_raw(Box::new(bytes)),
        Err(error) => {
            crate::error::set_open(&error);
            core::ptr::null_mut()
        }
    }
}

/// The address of a buffer's bytes.
///
/// # Safety
/// `buffer` is a handle from [`buffer`].
#[cfg_attr(target_arch = "wasm32", unsafe(no_mangle))]
pub unsafe extern "C" fn buffer_bytes(buffer: *mut OwnedBytes) -> *mut u8 {
    // SAFETY: the caller passes a handle that is not freed.
    unsafe { (*buffer).as_mut().as_mut_ptr() }
}
