//! The bytes of a filter or an exact set.

use crate::handle;
use crate::status::Failure;
use ribbonfilter::OwnedBytes;

/// The bytes of what was built, or a buffer of the caller.
pub(crate) enum Bytes {
    Owned(OwnedBytes),
    Borrowed(&'static [u8]),
}

impl AsRef<[u8]> for Bytes {
    #[inline]
    fn as_ref(&self) -> &[u8] {
        match self {
            Self::Owned(bytes) => bytes.as_ref(),
            Self::Borrowed(bytes) => bytes,
        }
    }
}

/// Writes the address and the number of bytes to the caller's variables.
///
/// # Safety
/// `pointer` and `len` are null or point to writable values.
pub(crate) unsafe fn export(
    bytes: &[u8],
    pointer: *mut *const u8,
    len: *mut usize,
) -> Result<(), Failure> {
    // SAFETY: guaranteed by the caller.
    let (pointer, len) =
        unsafe { (handle::output(pointer, "result")?, handle::output(len, "length")?) };
    pointer.set(bytes.as_ptr());
    len.set(bytes.len());
    Ok(())
}
