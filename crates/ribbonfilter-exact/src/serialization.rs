//! Serialisation with `serde` (feature `serde`): a set is its bytes, so it serialises as its bytes.
//!
//! Deserialisation does not trust them: it opens the set, which checks the footer, and verifies the
//! rest. A format that has no bytes, like JSON, stores a sequence of numbers instead.

use crate::ExactSet;
use alloc::vec::Vec;
use core::fmt;
use ribbonfilter::OwnedBytes;
use serde::de::{Deserialize, Deserializer, Error, SeqAccess, Visitor};
use serde::ser::{Serialize, Serializer};

impl<D: AsRef<[u8]>> Serialize for ExactSet<D> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(self.as_bytes())
    }
}

/// Opens and verifies the bytes.
impl<'de> Deserialize<'de> for ExactSet {
    fn deserialize<S: Deserializer<'de>>(deserializer: S) -> Result<Self, S::Error> {
        deserializer.deserialize_byte_buf(Bytes)
    }
}

/// Takes bytes in any form in which a format delivers them.
struct Bytes;

impl<'de> Visitor<'de> for Bytes {
    type Value = ExactSet;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the bytes of an ExactSet")
    }

    fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<ExactSet, E> {
        let mut owned = OwnedBytes::zeroed(bytes.len()).map_err(E::custom)?;
        owned.as_mut().copy_from_slice(bytes);
        let set = ExactSet::open(owned).map_err(E::custom)?;
        set.verify().map_err(E::custom)?;
        Ok(set)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut numbers: A) -> Result<ExactSet, A::Error> {
        // The length that the input claims is not trusted: a vector grows as numbers arrive.
        let mut bytes = Vec::new();
        while let Some(byte) = numbers.next_element()? {
            bytes.push(byte);
        }
        self.visit_bytes(&bytes)
    }
}
