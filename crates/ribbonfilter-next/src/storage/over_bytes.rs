//! What all structures over bytes share: files, their bytes, and equality.

/// Implements the methods and traits that all structures over bytes share. The structure has a
/// field `data` and a function `open`; `noun` names it in the documentation, and `example` is an
/// expression that builds one.
macro_rules! over_bytes {
    ($type:ident, $noun:literal, $example:literal) => {
        #[cfg(feature = "std")]
        impl $type {
            #[doc = concat!("Reads a ", $noun, " from a file into memory.")]
            ///
            /// ```
            #[doc = concat!("# use ribbonfilter_next::", stringify!($type), ";")]
            #[doc = concat!("# let name = format!(\"ribbon-open-", $noun, "-{}\", std::process::id());")]
            /// # let path = std::env::temp_dir().join(name);
            #[doc = concat!("let built = ", $example, ";")]
            /// std::fs::write(&path, built.as_bytes())?;
            #[doc = concat!("assert_eq!(", stringify!($type), "::open_file(&path)?, built);")]
            /// # std::fs::remove_file(&path)?;
            /// # Ok::<(), Box<dyn std::error::Error>>(())
            /// ```
            ///
            /// # Errors
            /// If the file cannot be read, or as in [`open`](Self::open).
            pub fn open_file(path: impl AsRef<std::path::Path>) -> Result<Self, $crate::OpenError> {
                Self::open($crate::OwnedBytes::read_file(path)?)
            }
        }

        #[cfg(feature = "mmap")]
        impl $type<$crate::MappedBytes> {
            #[doc = concat!("Maps the file of a ", $noun, " into memory. Queries read only the pages that they need.")]
            ///
            /// ```
            #[doc = concat!("# use ribbonfilter_next::", stringify!($type), ";")]
            #[doc = concat!("# let name = format!(\"ribbon-map-", $noun, "-{}\", std::process::id());")]
            /// # let path = std::env::temp_dir().join(name);
            #[doc = concat!("let built = ", $example, ";")]
            /// std::fs::write(&path, built.as_bytes())?;
            /// // SAFETY: nobody else knows the file.
            #[doc = concat!("let mapped = unsafe { ", stringify!($type), "::map_file(&path)? };")]
            /// assert_eq!(mapped, built);
            /// # drop(mapped);
            /// # std::fs::remove_file(&path)?;
            /// # Ok::<(), Box<dyn std::error::Error>>(())
            /// ```
            ///
            /// # Errors
            /// If the path is not a regular file that can be read, or as in [`open`](Self::open).
            ///
            /// # Safety
            #[doc = concat!("Nobody may change or shorten the file, in this process or another, as long as the ", $noun)]
            /// lives: the bytes would change under a shared reference. To update a file safely, rename
            /// a new file onto it; the old one is then replaced, not changed.
            #[expect(unsafe_code, reason = "a map is sound as long as its file does not change")]
            pub unsafe fn map_file(
                path: impl AsRef<std::path::Path>,
            ) -> Result<Self, $crate::OpenError> {
                // SAFETY: the caller promises that nobody changes the file.
                Self::open(unsafe { $crate::MappedBytes::map_file(path)? })
            }
        }

        impl<D: AsRef<[u8]>> $type<D> {
            #[doc = concat!("The bytes of the ", $noun, ": write them anywhere, [`open`](Self::open) them again.")]
            ///
            /// ```
            #[doc = concat!("# use ribbonfilter_next::", stringify!($type), ";")]
            #[doc = concat!("let built = ", $example, ";")]
            #[doc = concat!("assert_eq!(", stringify!($type), "::open(built.as_bytes())?, built);")]
            /// # Ok::<(), Box<dyn std::error::Error>>(())
            /// ```
            pub fn as_bytes(&self) -> &[u8] {
                self.data.as_ref()
            }

            #[doc = concat!("The buffer over which the ", $noun, " was opened.")]
            ///
            /// ```
            #[doc = concat!("# use ribbonfilter_next::", stringify!($type), ";")]
            #[doc = concat!("let built = ", $example, ";")]
            /// let bytes = built.as_bytes().to_vec();
            /// assert_eq!(built.into_inner().as_ref(), bytes);
            /// # Ok::<(), Box<dyn std::error::Error>>(())
            /// ```
            pub fn into_inner(self) -> D {
                self.data
            }
        }

        /// Equal if their bytes are equal, in any kind of buffer.
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

pub(crate) use over_bytes;
