//! Lists the kernels that this CPU can run, the best first.

fn main() {
    for kernel in ribbonfilter::Kernel::available() {
        println!("{kernel:?}");
    }
}
