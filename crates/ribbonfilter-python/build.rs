//! On macOS the linker needs an option to allow a module that does not link libpython.

fn main() {
    pyo3_build_config::add_extension_module_link_args();
}
