//! Everything that serialises as its bytes comes back from every kind of format, and corrupt bytes
//! do not.

use ribbonfilter_next::{Effort, Filter, Function, Shard, Shards, Split, Variant, Width};
use serde::de::value::{BytesDeserializer, Error, SeqDeserializer};
use serde::de::{Deserialize, DeserializeOwned};
use serde::ser::Serialize;
use std::fmt::Debug;

/// Calls `check` for one value of every type, and its bytes.
macro_rules! for_all_types {
    ($check:ident) => {{
        let filter = Filter::build(0..1000, 0.01).expect("a filter");
        $check::<Filter>(&filter, filter.as_bytes());
        let function = Function::build((0..100u64).map(|n| (n, n)), 7).expect("a function");
        $check::<Function>(&function, function.as_bytes());
        let split = Split::ByHash { bits: 1 };
        let mut builder = Shards::builder(split);
        builder.extend(0..1000);
        let shards = builder.finish().expect("shards");
        $check::<Shards>(&shards, shards.as_bytes());
        let mut builder = Shards::builder(split).only(1).expect("a shard");
        builder.extend(0..1000);
        let shard = builder.finish().expect("a shard");
        $check::<Shard>(&shard, shard.as_bytes());
    }};
}

fn comes_back<T: Serialize + DeserializeOwned + PartialEq + Debug>(value: &T, bytes: &[u8]) {
    let json = serde_json::to_string(value).expect("JSON");
    assert_eq!(json, serde_json::to_string(bytes).expect("JSON"), "a sequence of numbers");
    assert_eq!(&serde_json::from_str::<T>(&json).expect("read"), value);
    assert_eq!(&serde_json::from_reader::<_, T>(json.as_bytes()).expect("read"), value);
    let binary = postcard::to_allocvec(value).expect("binary");
    assert!(binary.ends_with(bytes) && binary.len() <= bytes.len() + 5, "a length and the bytes");
    assert_eq!(&postcard::from_bytes::<T>(&binary).expect("read"), value);
    let by_reference = BytesDeserializer::<Error>::new(bytes);
    assert_eq!(&T::deserialize(by_reference).expect("read"), value);
    let one_by_one = SeqDeserializer::<_, Error>::new(bytes.iter().copied());
    assert_eq!(&T::deserialize(one_by_one).expect("read"), value);
}

#[test]
fn every_type_comes_back_from_every_format() {
    for_all_types!(comes_back);
}

fn is_refused_if_corrupt<T: Serialize + DeserializeOwned + Debug>(_: &T, bytes: &[u8]) {
    let read = |bytes: &[u8]| T::deserialize(BytesDeserializer::<Error>::new(bytes));
    for at in 0..bytes.len() {
        let mut corrupt = bytes.to_vec();
        corrupt[at] ^= 0x10;
        read(&corrupt).expect_err("one bit is wrong");
    }
    read(&bytes[1..]).expect_err("a byte is missing");
    read(&[]).expect_err("no bytes");
    serde_json::from_str::<T>("[1, 2, 256]").expect_err("not a byte");
    let error = serde_json::from_str::<T>("7").expect_err("not bytes");
    assert!(error.to_string().contains("the bytes of a"), "{error}");
}

#[test]
fn corrupt_bytes_are_refused() {
    for_all_types!(is_refused_if_corrupt);
}

#[test]
fn an_error_is_that_of_opening() {
    let filter = Filter::build(["ada"], 0.01).expect("a filter");
    let json = serde_json::to_string(&filter).expect("JSON");
    let error = serde_json::from_str::<Function>(&json).expect_err("a filter is no function");
    let expected = Function::open(filter.as_bytes()).expect_err("a filter is no function");
    assert!(error.to_string().starts_with(&expected.to_string()), "{error}");
}

#[test]
fn a_view_serialises_as_the_filter_does() {
    let filter = Filter::build(["ada"], 0.01).expect("a filter");
    let view = Filter::open(filter.as_bytes()).expect("opened");
    assert_eq!(postcard::to_allocvec(&view), postcard::to_allocvec(&filter));
}

fn named<T>(choices: &[T])
where
    T: Serialize + for<'de> Deserialize<'de> + PartialEq + Debug + ToString,
{
    for choice in choices {
        let json = serde_json::to_string(choice).expect("JSON");
        assert_eq!(json, format!("{:?}", choice.to_string()));
        assert_eq!(&serde_json::from_str::<T>(&json).expect("read"), choice);
        let binary = postcard::to_allocvec(choice).expect("binary");
        assert_eq!(&postcard::from_bytes::<T>(&binary).expect("read"), choice);
    }
    let error = serde_json::from_str::<T>("\"ribbon\"").expect_err("no such choice");
    assert!(error.to_string().starts_with("expected one of"), "{error}");
}

#[test]
fn choices_serialise_as_their_names() {
    named(Variant::ALL);
    named(&Width::ALL);
    named(Effort::ALL);
}
