//! The committed header matches the sources.

use std::path::Path;

#[test]
fn the_header_is_up_to_date() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let config = cbindgen::Config::from_file(root.join("cbindgen.toml")).expect("configuration");
    let mut generated = Vec::new();
    let bindings = cbindgen::generate_with_config(root, config).expect("these sources parse");
    bindings.write(&mut generated);
    let path = root.join("include/ribbonfilter.h");
    if std::env::var_os("RIBBONFILTER_WRITE_HEADER").is_some() {
        std::fs::write(&path, &generated).expect("the header can be written");
    }
    assert!(
        std::fs::read(&path).is_ok_and(|committed| committed == generated),
        "include/ribbonfilter.h is out of date: run this test with RIBBONFILTER_WRITE_HEADER=1"
    );
}
