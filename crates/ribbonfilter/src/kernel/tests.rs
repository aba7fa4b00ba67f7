//! Every kernel that this CPU can run solves rows as the plain code does. The tests of `query/`
//! compare their queries with an oracle. A new kernel is tested as soon as [`Kernel::available`]
//! lists it.

use super::portable::solve_rows;
use super::*;
use crate::testing::Random;
use alloc::vec::Vec;

/// The rows of one block, and the state of the columns before they are solved.
struct SolveRows<'a, B> {
    coefficients: &'a [B],
    values: &'a [u64],
    columns: Columns<B>,
    stored: usize,
}

impl<B: Band> Work for SolveRows<'_, B> {
    type Output = Columns<B>;

    #[inline(always)]
    fn run<I: Instructions>(mut self, instructions: I) -> Columns<B> {
        let rows = Rows { coefficients: self.coefficients, values: self.values };
        instructions.solve_rows(rows, &mut self.columns, self.stored);
        self.columns
    }
}

fn check_solving<B: Band>() {
    let mut random = Random(B::WIDTH.bits().into());
    for rows in [1, 2, 15, 16, 31, 32, 63, 64] {
        for stored in [0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 24, 31, 32] {
            // A quarter of the rows are empty.
            let draw = |random: &mut Random| match random.next() & 3 {
                0 => B::ZERO,
                _ => B::from_words(random.next() | 1, random.next()),
            };
            let coefficients: Vec<B> = (0..rows).map(|_| draw(&mut random)).collect();
            let values: Vec<u64> = (0..rows).map(|_| random.next()).collect();
            let before: Columns<B> = [(); MAX_COLUMNS].map(|()| random.band());
            let mut expected = before;
            let plain = Rows { coefficients: &coefficients, values: &values };
            solve_rows(plain, &mut expected, stored);
            for kernel in Kernel::available() {
                let solved = kernel.run(SolveRows {
                    coefficients: &coefficients,
                    values: &values,
                    columns: before,
                    stored,
                });
                assert_eq!(solved[..stored], expected[..stored], "{kernel:?}");
            }
        }
    }
}

#[test]
fn kernels_solve_rows_as_the_plain_code_does() {
    check_solving::<u16>();
    check_solving::<u32>();
    check_solving::<u64>();
    check_solving::<u128>();
}

#[test]
fn kernels_are_known_by_name() {
    assert_eq!(Kernel::available().next(), Some(Kernel::best()));
    for kernel in Kernel::available() {
        assert_eq!(Kernel::by_name(kernel.name()), Some(kernel));
    }
    assert!(Kernel::by_name("portable").is_some());
    assert_eq!(Kernel::by_name("none"), None);
}
