//! Serialisation as bytes, in a binary format and in a text format.
#![cfg(feature = "serde")]

use ribbonfilter_exact::ExactSet;

#[test]
fn sets_survive_both_formats() {
    let set = ExactSet::build(0..100, 100..3000).expect("ordinary keys build");
    let binary = postcard::to_allocvec(&set).expect("bytes");
    assert!(binary.ends_with(set.as_bytes()));
    let back: ExactSet = postcard::from_bytes(&binary).expect("the same bytes");
    assert!(back == set && back.contains(17));
    let text = serde_json::to_string(&ExactSet::open(set.as_bytes()).expect("just built"));
    let text = text.expect("numbers");
    assert!(text.starts_with('['));
    let back: ExactSet = serde_json::from_str(&text).expect("the same numbers");
    assert!(back == set);
}

#[test]
fn corrupt_bytes_are_refused() {
    let set = ExactSet::build(0..100, 100..3000).expect("ordinary keys build");
    let mut binary = postcard::to_allocvec(&set).expect("bytes");
    for at in [2, binary.len() / 2, binary.len() - 5] {
        binary[at] ^= 1;
        assert!(postcard::from_bytes::<ExactSet>(&binary).is_err(), "{at}");
        binary[at] ^= 1;
    }
    assert!(postcard::from_bytes::<ExactSet>(&binary).is_ok());
    assert!(serde_json::from_str::<ExactSet>("[1,2,3]").is_err());
    assert!(serde_json::from_str::<ExactSet>("\"text\"").is_err());
}
