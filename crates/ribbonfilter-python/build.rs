//! On macOS a module that does not link libpython needs the linker's leave.

fn main() {
    pyo3_build_config::add_extension_module_link_args();
}
