//! The hashes of the keys in an Arrow array.

use arrow_array::cast::AsArray;
use arrow_array::types as of;
use arrow_array::{Array, ArrayRef, ArrowPrimitiveType};
use arrow_schema::DataType;
use ribbonfilter::Key;

/// What keys are. Those of different kinds are never equal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Integers,
    /// Strings or binary.
    Bytes,
}

impl Kind {
    /// The name in messages.
    pub fn name(self) -> &'static str {
        match self {
            Self::Integers => "integers",
            Self::Bytes => "strings or binary",
        }
    }
}

/// The kind of the keys in a column; `None` if it can have none.
pub fn kind(data_type: &DataType) -> Option<Kind> {
    match data_type {
        DataType::Dictionary(_, values) => kind(values),
        integer if integer.is_integer() => Some(Kind::Integers),
        bytes if bytes.is_string() || bytes.is_binary() => Some(Kind::Bytes),
        _ => None,
    }
}

/// Appends the hashes of all keys, which are the values that are not null. The error is the type of
/// the array, if keys cannot have it.
pub fn hash(array: &ArrayRef, key_seed: u64, hashes: &mut Vec<u64>) -> Result<(), DataType> {
    macro_rules! items {
        ($typed:expr) => {{
            let typed = $typed;
            append(array, hashes, |at| AsRef::<[u8]>::as_ref(typed.value(at)).key_hash(key_seed));
        }};
    }
    match array.data_type() {
        DataType::UInt8 => integers::<of::UInt8Type>(array, key_seed, hashes),
        DataType::UInt16 => integers::<of::UInt16Type>(array, key_seed, hashes),
        DataType::UInt32 => integers::<of::UInt32Type>(array, key_seed, hashes),
        DataType::UInt64 => integers::<of::UInt64Type>(array, key_seed, hashes),
        DataType::Int8 => integers::<of::Int8Type>(array, key_seed, hashes),
        DataType::Int16 => integers::<of::Int16Type>(array, key_seed, hashes),
        DataType::Int32 => integers::<of::Int32Type>(array, key_seed, hashes),
        DataType::Int64 => integers::<of::Int64Type>(array, key_seed, hashes),
        DataType::Utf8 => items!(array.as_string::<i32>()),
        DataType::LargeUtf8 => items!(array.as_string::<i64>()),
        DataType::Utf8View => items!(array.as_string_view()),
        DataType::Binary => items!(array.as_binary::<i32>()),
        DataType::LargeBinary => items!(array.as_binary::<i64>()),
        DataType::BinaryView => items!(array.as_binary_view()),
        DataType::FixedSizeBinary(_) => items!(array.as_fixed_size_binary()),
        DataType::Dictionary(_, _) => return dictionary(array, key_seed, hashes),
        DataType::Null => {}
        other => return Err(other.clone()),
    }
    Ok(())
}

fn integers<T>(array: &ArrayRef, key_seed: u64, hashes: &mut Vec<u64>)
where
    T: ArrowPrimitiveType<Native: Key>,
{
    let typed = array.as_primitive::<T>();
    append(array, hashes, |at| typed.value(at).key_hash(key_seed));
}

/// The values of a dictionary are hashed once each. An index may point to a null.
fn dictionary(array: &ArrayRef, key_seed: u64, hashes: &mut Vec<u64>) -> Result<(), DataType> {
    let dictionary = array.as_any_dictionary();
    let values = dictionary.values();
    let mut distinct = Vec::new();
    hash(values, key_seed, &mut distinct)?;
    if distinct.is_empty() {
        return Ok(());
    }
    // Nulls have no hash: the number of an entry is not its position in `distinct`.
    let nulls = values.logical_nulls();
    let mut next = distinct.into_iter();
    let present = |at: usize| nulls.as_ref().is_none_or(|nulls| nulls.is_valid(at));
    let by_index: Vec<u64> = (0..values.len())
        .map(|at| if present(at) { next.next().unwrap_or_default() } else { 0 })
        .collect();
    let indices = dictionary.normalized_keys();
    append(array, hashes, |at| by_index.get(indices[at]).copied().unwrap_or_default());
    Ok(())
}

/// Appends the hash of every value that is not null.
fn append(array: &ArrayRef, hashes: &mut Vec<u64>, hash: impl Fn(usize) -> u64) {
    match array.logical_nulls().filter(|nulls| nulls.null_count() > 0) {
        None => hashes.extend((0..array.len()).map(hash)),
        Some(nulls) => hashes.extend(nulls.valid_indices().map(hash)),
    }
}
