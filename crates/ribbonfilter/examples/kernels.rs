//! Lists the kernels that this CPU can run, starting with the best.

fn main() {
    for kernel in ribbonfilter::Kernel::available() {
        println!("{kernel:?}");
    }
}
