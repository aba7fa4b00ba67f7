//! Algorithm 1 against elimination on dense rows, which makes no use of bands.

use super::*;
use crate::kernel::Kernel;
use crate::ribbon::equation::free_row;
use crate::ribbon::layout::{Layout, READ_AHEAD};
use crate::solve::back_substitution::Solve;
use crate::testing::Random;
use alloc::vec;
use core::fmt::Debug;

/// A right-hand side that tests can draw at random and add up.
trait Drawn: RightSide + Debug {
    fn draw(random: &mut Random) -> Self;
}

impl Drawn for () {
    fn draw(_: &mut Random) {}
}

impl Drawn for u32 {
    /// Three different bits only, so that a dependent equation is sometimes consistent.
    fn draw(random: &mut Random) -> Self {
        (random.next() as u32 & 7).rotate_right(1)
    }
}

/// Any start, with the coefficients cut to the existing slots.
fn draw_one<B: Band, R: Drawn>(slots: usize, random: &mut Random) -> Equation<B, R> {
    let start = random.below(slots as u64) as usize;
    let bits = B::from_words(random.next() | 1, random.next());
    let coefficients = bits & B::first_bits((slots - start) as u64);
    Equation { start, coefficients, right_side: R::draw(random) }
}

/// The slots that an equation touches.
fn touched<B: Band, R: Copy>(equation: &Equation<B, R>) -> impl Iterator<Item = usize> + use<B, R> {
    let Equation { start, coefficients, .. } = *equation;
    let is_set = move |&k: &u32| coefficients.advance(k).first_block() & 1 == 1;
    (0..B::WIDTH.bits()).filter(is_set).map(move |k| start + k as usize)
}

fn dense<B: Band, R: Copy>(equation: &Equation<B, R>, slots: usize) -> (Vec<bool>, R) {
    let mut row = vec![false; slots];
    touched(equation).for_each(|slot| row[slot] = true);
    (row, equation.right_side)
}

/// Elimination on dense rows. It clears from the *last* slot, where Algorithm 1 clears from the
/// first, so their agreement is not an artefact of the order.
struct Dense<R> {
    /// Rows, indexed by the last slot that a row touches.
    rows: Vec<Option<(Vec<bool>, R)>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    Independent,
    Redundant,
    Inconsistent,
}

impl From<Insertion> for Outcome {
    fn from(insertion: Insertion) -> Self {
        match insertion {
            Insertion::At(_) => Self::Independent,
            Insertion::Redundant => Self::Redundant,
            Insertion::Inconsistent => Self::Inconsistent,
        }
    }
}

impl<R: RightSide> Dense<R> {
    fn new(slots: usize) -> Self {
        Self { rows: (0..slots).map(|_| None).collect() }
    }

    fn insert(&mut self, (mut row, mut right_side): (Vec<bool>, R)) -> Outcome {
        for last in (0..self.rows.len()).rev() {
            match &self.rows[last] {
                _ if !row[last] => {}
                Some((other, other_side)) => {
                    row.iter_mut().zip(other).for_each(|(bit, other)| *bit ^= other);
                    right_side = right_side.xor(*other_side);
                }
                None => {
                    self.rows[last] = Some((row, right_side));
                    return Outcome::Independent;
                }
            }
        }
        match right_side == R::ZERO {
            true => Outcome::Redundant,
            false => Outcome::Inconsistent,
        }
    }

    /// The first slots of a basis in echelon form, found column by column. These are the slots at
    /// which a column prefix gains rank.
    fn pivots(&self) -> Vec<usize> {
        let mut rows: Vec<Vec<bool>> =
            self.rows.iter().flatten().map(|row| row.0.clone()).collect();
        let mut pivots = Vec::new();
        for column in 0..self.rows.len() {
            let Some(found) = rows.iter().position(|row| row[column]) else {
                continue;
            };
            let pivot = rows.swap_remove(found);
            for row in rows.iter_mut().filter(|row| row[column]) {
                row.iter_mut().zip(&pivot).for_each(|(bit, other)| *bit ^= other);
            }
            pivots.push(column);
        }
        pivots
    }
}

/// The equation of a row, `None` if it is empty.
fn row<B: Band, R: RightSide>(banding: &Banding<B, R>, row: usize) -> Option<(B, R)> {
    let (coefficients, right_sides) = banding.rows(row..row + 1);
    (coefficients[0] != B::ZERO).then_some((coefficients[0], right_sides[0]))
}

fn all_rows<B: Band, R: RightSide>(banding: &Banding<B, R>) -> Vec<Option<(B, R)>> {
    (0..banding.slots()).map(|slot| row(banding, slot)).collect()
}

fn filled<B: Band, R: RightSide>(banding: &Banding<B, R>) -> Vec<usize> {
    (0..banding.slots()).filter(|&slot| row(banding, slot).is_some()).collect()
}

fn banding<B: Band, R: RightSide>(slots: usize) -> Banding<B, R> {
    Banding::new(slots).expect("memory")
}

fn insert<B: Band, R: Drawn>(banding: &mut Banding<B, R>, equation: &Equation<B, R>) -> Insertion {
    banding.insert(equation.start, equation.coefficients, equation.right_side)
}

/// Smaller than the narrowest width, around each, and larger than the widest.
const SLOTS: [usize; 11] = [1, 2, 5, 16, 17, 40, 64, 100, 128, 200, 333];

/// Calls `check::<B, R>(slots, equations, random)` for all widths, sizes and loads, from a tenth of
/// the capacity to one and a half times the capacity.
macro_rules! for_all_systems {
    ($check:ident) => {
        for slots in SLOTS {
            for load in [0.1, 0.5, 0.9, 1.0, 1.5] {
                let mut random = Random((slots as u64) << 32 | (load * 10.0) as u64);
                let count = libm::ceil(slots as f64 * load) as usize;
                $check::<u16, u32>(slots, count, &mut random);
                $check::<u32, u32>(slots, count, &mut random);
                $check::<u64, u32>(slots, count, &mut random);
                $check::<u128, u32>(slots, count, &mut random);
                $check::<u16, ()>(slots, count, &mut random);
                $check::<u32, ()>(slots, count, &mut random);
                $check::<u64, ()>(slots, count, &mut random);
                $check::<u128, ()>(slots, count, &mut random);
            }
        }
    };
}

fn draw<B: Band, R: Drawn>(slots: usize, count: usize, random: &mut Random) -> Vec<Equation<B, R>> {
    (0..count).map(|_| draw_one(slots, random)).collect()
}

/// The equations that a system accepts in the given order, including duplicates. They are
/// consistent with each other.
fn consistent<B: Band, R: Drawn>(
    slots: usize,
    count: usize,
    random: &mut Random,
) -> Vec<Equation<B, R>> {
    let mut banding = banding(slots);
    let mut equations = draw(slots, count, random);
    equations.retain(|equation| insert(&mut banding, equation) != Insertion::Inconsistent);
    equations
}

fn agree_with_dense<B: Band, R: Drawn>(slots: usize, count: usize, random: &mut Random) {
    let (mut banding, mut oracle) = (banding::<B, R>(slots), Dense::new(slots));
    let mut rank = 0;
    for equation in draw(slots, count, random) {
        let insertion = insert(&mut banding, &equation);
        let outcome = oracle.insert(dense(&equation, slots));
        assert_eq!(Outcome::from(insertion), outcome, "{equation:?}");
        rank += usize::from(outcome == Outcome::Independent);
    }
    assert_eq!(filled(&banding), oracle.pivots());
    assert_eq!(filled(&banding).len(), rank);
}

#[test]
fn insertions_agree_with_dense_elimination() {
    for_all_systems!(agree_with_dense);
}

/// The comparison above would prove little if one of the outcomes never occurred.
#[test]
fn overloaded_systems_see_every_outcome() {
    let mut random = Random(1);
    let mut banding = banding::<u16, u32>(200);
    let equations = draw(200, 300, &mut random);
    let outcomes: Vec<Outcome> =
        equations.iter().map(|equation| insert(&mut banding, equation).into()).collect();
    for outcome in [Outcome::Independent, Outcome::Redundant, Outcome::Inconsistent] {
        assert!(outcomes.contains(&outcome), "{outcome:?}");
    }
}

fn keep_the_invariants<B: Band, R: Drawn>(slots: usize, count: usize, random: &mut Random) {
    let mut banding = banding::<B, R>(slots);
    for equation in draw(slots, count, random) {
        let before = all_rows(&banding);
        let insertion = insert(&mut banding, &equation);
        let mut expected = before.clone();
        if let Insertion::At(slot) = insertion {
            assert!(slot >= equation.start && before[slot].is_none());
            expected[slot] = row(&banding, slot);
        }
        assert_eq!(all_rows(&banding), expected, "only the named row changes");
    }
    for slot in filled(&banding) {
        let (coefficients, _) = row(&banding, slot).expect("a filled row");
        assert_eq!(coefficients.leading_gap(), 0);
        assert_eq!(coefficients & B::first_bits((slots - slot) as u64), coefficients);
    }
    banding.clear();
    assert!(filled(&banding).is_empty());
}

#[test]
fn rows_begin_with_a_one_and_stay_inside() {
    for_all_systems!(keep_the_invariants);
}

fn take_back<B: Band, R: Drawn>(slots: usize, count: usize, random: &mut Random) {
    let equations = draw(slots, count, random);
    for kept in [0, count / 3, count - 1] {
        let mut banding = banding::<B, R>(slots);
        let (first, latest) = equations.split_at(kept);
        first.iter().for_each(|equation| {
            insert(&mut banding, equation);
        });
        let before = all_rows(&banding);
        let rows = latest.iter().filter_map(|equation| match insert(&mut banding, equation) {
            Insertion::At(row) => Some(row),
            Insertion::Redundant | Insertion::Inconsistent => None,
        });
        let rows: Vec<usize> = rows.collect();
        assert_eq!(filled(&banding).len(), before.iter().flatten().count() + rows.len());
        banding.undo(rows);
        assert_eq!(all_rows(&banding), before, "after {kept} of {count}");
    }
}

#[test]
fn undo_restores_the_earlier_system() {
    for_all_systems!(take_back);
}

/// Inserting in a batch equals inserting one by one: the number of redundant equations, the filled
/// rows and whether there is a solution.
fn insert_together<B: Band, R: Drawn>(slots: usize, count: usize, random: &mut Random) {
    for equations in [draw::<B, R>(slots, count, random), consistent(slots, count, random)] {
        let mut single = banding(slots);
        let outcomes: Vec<Insertion> =
            equations.iter().map(|equation| insert(&mut single, equation)).collect();
        let mut together = banding(slots);
        let redundant = together.insert_all(equations.iter().copied());
        if outcomes.contains(&Insertion::Inconsistent) {
            assert_eq!(redundant, None);
            continue;
        }
        let expected = outcomes.iter().filter(|&&outcome| outcome == Insertion::Redundant).count();
        assert_eq!(redundant, Some(expected as u64));
        assert_eq!(filled(&together), filled(&single));
        for place in places::<B>(slots) {
            let solve = |banding| solution(banding, free_row, &place, Kernel::best());
            assert!(solve(&single) == solve(&together), "w = {}, {slots} slots", B::WIDTH);
        }
    }
}

#[test]
fn inserting_all_is_inserting_one_by_one() {
    for_all_systems!(insert_together);
    let mut random = Random(7);
    // More equations than are prepared ahead.
    for (slots, count) in [(1100, 1000), (3000, 1537), (300, 299), (300, 4000)] {
        insert_together::<u16, ()>(slots, count, &mut random);
        insert_together::<u64, u32>(slots, count, &mut random);
        insert_together::<u128, u32>(slots, count, &mut random);
    }
}

/// The location of a segment in a layout of several, and the segment's own part of the layout.
#[derive(Clone, Copy, Debug)]
struct Place {
    whole: Layout,
    part: Layout,
    first_slot: u64,
}

/// The segment alone, after another and, if it ends with a block, before another; with integral and
/// with fractional columns.
fn places<B: Band>(slots: usize) -> Vec<Place> {
    let mut places = Vec::new();
    for (before, following) in [(0, 0), (128, 0), (0, 192), (64, 64)] {
        let slots = slots as u64;
        if following > 0 && !slots.is_multiple_of(64) {
            continue;
        }
        let all = before + slots + following;
        let blocks = all.div_ceil(B::WIDTH.block_slots().into());
        for (columns, boundary) in [(1, 0), (3, blocks / 2), (8, blocks - 1), (32, 0)] {
            let whole = Layout::new(B::WIDTH, all, columns, boundary);
            let part = whole.part(before, slots);
            places.push(Place { whole, part, first_slot: before });
        }
    }
    places
}

/// The previous contents of the bytes. They must not matter, and must stay unchanged elsewhere.
const STALE: u8 = 0xa5;

fn solution<B: Band, R: RightSide>(
    banding: &Banding<B, R>,
    free: fn(u64) -> u32,
    place: &Place,
    kernel: Kernel,
) -> Vec<u8> {
    let Place { whole, part, first_slot } = place;
    let mut bytes = vec![STALE; whole.size_in_bytes() as usize + READ_AHEAD];
    let begin = whole.offset(whole.block_of(*first_slot));
    let end = begin + part.size_in_bytes() as usize;
    // Only a trimmed block needs bytes after it.
    let capacity = if part.slots().is_multiple_of(64) { 0 } else { READ_AHEAD };
    let free = |slot| free(first_slot + slot).into();
    kernel.run(Solve { banding, free, layout: part, bytes: &mut bytes[begin..end + capacity] });
    let outside = [&bytes[..begin], &bytes[end..]].concat();
    assert!(outside.iter().all(|&byte| byte == STALE));
    bytes
}

/// Every equation holds in the columns of the block in which it starts.
fn assert_solves<B: Band, R: Drawn>(equations: &[Equation<B, R>], bytes: &[u8], place: &Place) {
    let Place { whole, first_slot, .. } = place;
    for equation in equations {
        let start = first_slot + equation.start as u64;
        let columns = whole.columns_of(whole.block_of(start));
        let row = |slot| whole.row(bytes, first_slot + slot as u64, columns);
        let sum = touched(equation).fold(0, |sum, slot| sum ^ row(slot));
        assert_eq!(sum, equation.right_side.bits() & ((1 << columns) - 1));
    }
}

/// Free variables have the values that were set.
fn assert_free<B: Band, R: RightSide>(
    banding: &Banding<B, R>,
    free: fn(u64) -> u32,
    bytes: &[u8],
    place: &Place,
) {
    let Place { whole, first_slot, .. } = place;
    for empty in (0..banding.slots()).filter(|&slot| row(banding, slot).is_none()) {
        let slot = first_slot + empty as u64;
        let columns = whole.columns_of(whole.block_of(slot));
        let expected = u64::from(free(slot)) & ((1 << columns) - 1);
        assert_eq!(whole.row(bytes, slot, columns), expected);
    }
}

const FREE: [fn(u64) -> u32; 2] = [|_| 0, free_row];

/// Theorem 3.2: neither the filled rows nor the solution depend on the order of insertion, nor does
/// the solution depend on the kernel.
fn forget_the_order<B: Band, R: Drawn>(slots: usize, count: usize, random: &mut Random) {
    let mut equations = consistent::<B, R>(slots, count, random);
    let places = places::<B>(slots);
    let mut first: Option<(Vec<usize>, Vec<Vec<u8>>)> = None;
    for kernel in Kernel::available().chain([Kernel::best(); 2]) {
        let mut banding = banding(slots);
        for equation in &equations {
            assert_ne!(insert(&mut banding, equation), Insertion::Inconsistent);
        }
        let mut solutions = Vec::new();
        for place in &places {
            for free in FREE {
                let bytes = solution(&banding, free, place, kernel);
                assert_solves(&equations, &bytes, place);
                assert_free(&banding, free, &bytes, place);
                solutions.push(bytes);
            }
        }
        let found = (filled(&banding), solutions);
        match &first {
            None => first = Some(found),
            Some(first) => assert!(*first == found, "{kernel:?}, w = {}, {slots}", B::WIDTH),
        }
        random.shuffle(&mut equations);
    }
}

#[test]
fn rows_and_solution_do_not_depend_on_the_order() {
    for_all_systems!(forget_the_order);
}
