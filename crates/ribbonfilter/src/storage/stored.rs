//! What every structure offers because it is its bytes.

/// Files, access to the bytes and comparison, for a type with a field `data` and a function `open`.
macro_rules! stored {
    ($type:ident, $what:literal) => {
        impl $type {
            #[doc = concat!("Reads ", $what, " from a file into memory.")]
            ///
            /// # Errors
            #[doc = concat!("If the file cannot be read, or as in [`open`](", stringify!($type), "::open).")]
            #[cfg(feature = "std")]
            pub fn open_file(path: impl AsRef<std::path::Path>) -> Result<Self, crate::OpenError> {
                Self::open(crate::OwnedBytes::read_file(path)?)
            }
        }

        #[cfg(feature = "mmap")]
        impl $type<crate::MappedBytes> {
            #[doc = concat!("Maps the file of ", $what, " into memory: only what is used is read.")]
            ///
            /// # Errors
            /// If the path is not a regular file that can be read, or as in
            #[doc = concat!("[`open`](", stringify!($type), "::open).")]
            ///
            /// # Safety
            /// As for [`Filter::map_file`](crate::Filter::map_file).
            #[expect(unsafe_code, reason = "a map is sound as long as its file does not change")]
            pub unsafe fn map_file(
                path: impl AsRef<std::path::Path>,
            ) -> Result<Self, crate::OpenError> {
                // SAFETY: the caller promises that nobody changes the file.
                Self::open(unsafe { crate::MappedBytes::map_file(path)? })
            }
        }

        impl<D: AsRef<[u8]>> $type<D> {
            #[doc = concat!("The bytes of ", $what, ": write them anywhere, [`open`](Self::open) them again.")]
            pub fn as_bytes(&self) -> &[u8] {
                self.data.as_ref()
            }

            /// The buffer that was given to [`open`](Self::open).
            pub fn into_inner(self) -> D {
                self.data
            }
        }

        /// Equal if their bytes are, in any kind of buffer.
        impl<D: AsRef<[u8]>, E: AsRef<[u8]>> PartialEq<$type<E>> for $type<D> {
            fn eq(&self, other: &$type<E>) -> bool {
                self.as_bytes() == other.as_bytes()
            }
        }

        impl<D: AsRef<[u8]>> Eq for $type<D> {}

        /// The bytes, as `as_bytes` returns them.
        impl<D: AsRef<[u8]>> AsRef<[u8]> for $type<D> {
            fn as_ref(&self) -> &[u8] {
                self.as_bytes()
            }
        }
    };
}

pub(crate) use stored;
