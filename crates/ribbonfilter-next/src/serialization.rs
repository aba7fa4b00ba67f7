//! Serialisation with `serde` (feature `serde`).
//!
//! A filter is its bytes, so it serialises as its bytes. Deserialisation does not trust them: it
//! opens the filter, which checks the footer, and verifies all checksums. A format that has no
//! bytes, like JSON, stores a sequence of numbers instead.

#[cfg(any(test, feature = "build"))]
use crate::Effort;
use crate::{Filter, Function, OpenError, OwnedBytes, Shard, Shards, Variant, Width};
use alloc::vec::Vec;
use core::fmt;
use core::marker::PhantomData;
use core::str::FromStr;
use serde::de::{Deserialize, Deserializer, Error, SeqAccess, Visitor};
use serde::ser::{Serialize, Serializer};

/// What can be deserialised from bytes.
trait FromBytes: Sized {
    /// The name of the type in errors.
    const NAME: &str;

    /// Opens and verifies.
    fn from_bytes(bytes: OwnedBytes) -> Result<Self, OpenError>;
}

/// Takes bytes in any form in which a format delivers them.
struct Bytes<T>(PhantomData<T>);

impl<'de, T: FromBytes> Visitor<'de> for Bytes<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the bytes of a {}", T::NAME)
    }

    fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<T, E> {
        let owned = OwnedBytes::copy_of(bytes).map_err(OpenError::from);
        owned.and_then(T::from_bytes).map_err(E::custom)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut numbers: A) -> Result<T, A::Error> {
        // The length that the input claims is not trusted: a vector grows as numbers arrive.
        let mut bytes = Vec::new();
        while let Some(byte) = numbers.next_element()? {
            bytes.push(byte);
        }
        self.visit_bytes(&bytes)
    }
}

/// Serialises types as their bytes.
macro_rules! as_bytes {
    ($($type:ident),*) => {$(
        impl FromBytes for $type {
            const NAME: &str = stringify!($type);

            fn from_bytes(bytes: OwnedBytes) -> Result<Self, OpenError> {
                let opened = Self::open(bytes)?;
                opened.verify()?;
                Ok(opened)
            }
        }

        impl<D: AsRef<[u8]>> Serialize for $type<D> {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_bytes(self.as_bytes())
            }
        }

        /// Opens and verifies the bytes.
        impl<'de> Deserialize<'de> for $type {
            fn deserialize<S: Deserializer<'de>>(deserializer: S) -> Result<Self, S::Error> {
                deserializer.deserialize_byte_buf(Bytes(PhantomData))
            }
        }
    )*};
}

as_bytes!(Filter, Function, Shard, Shards);

/// Takes the name of a choice.
struct Name<T>(PhantomData<T>);

impl<T: FromStr<Err: fmt::Display>> Visitor<'_> for Name<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a name")
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<T, E> {
        name.parse().map_err(E::custom)
    }
}

/// Serialises choices as their names.
macro_rules! as_names {
    ($($type:ident),*) => {$(
        impl Serialize for $type {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $type {
            fn deserialize<S: Deserializer<'de>>(deserializer: S) -> Result<Self, S::Error> {
                deserializer.deserialize_str(Name(PhantomData))
            }
        }
    )*};
}

as_names!(Variant, Width);
#[cfg(any(test, feature = "build"))]
as_names!(Effort);
