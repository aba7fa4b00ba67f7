//! The header that is kept is the one that the sources give.

use std::path::Path;

#[test]
fn the_header_is_up_to_date() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let config = cbindgen::Config::from_file(root.join("cbindgen.toml")).expect("configuration");
    let mut made = Vec::new();
    cbindgen::generate_with_config(root, config).expect("these sources parse").write(&mut made);
    let kept = root.join("include/ribbonfilter.h");
    if std::env::var_os("RIBBONFILTER_WRITE_HEADER").is_some() {
        std::fs::write(&kept, &made).expect("the header can be written");
    }
    assert!(
        std::fs::read(&kept).is_ok_and(|kept| kept == made),
        "include/ribbonfilter.h is out of date: run this test with RIBBONFILTER_WRITE_HEADER=1"
    );
}
