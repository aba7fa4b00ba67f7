//! Compares the rate with a count, in integers, so that no rounding hides a wrong start.

use super::*;
use crate::Width;
use crate::testing::Random;
use alloc::collections::VecDeque;
use alloc::vec;
use alloc::vec::Vec;

/// How the rows of a solution are drawn. Most kinds make windows lose rank.
#[derive(Clone, Copy, Debug)]
enum Rows {
    Random,
    /// All rows in a subspace of this dimension.
    Span(u32),
    /// Runs of zero rows, up to this length.
    ZeroRuns(u64),
    /// Each row is random with probability `1 / n`, otherwise zero.
    Sparse(u64),
    Zero,
}

const KINDS: [Rows; 8] = [
    Rows::Random,
    Rows::Span(1),
    Rows::Span(3),
    Rows::ZeroRuns(12),
    Rows::ZeroRuns(40),
    Rows::Sparse(3),
    Rows::Sparse(8),
    Rows::Zero,
];

impl Rows {
    fn draw(self, slots: u64, columns: usize, random: &mut Random) -> Vec<u64> {
        let mask = ((1u128 << columns) - 1) as u64;
        let generators: Vec<u64> = (0..8).map(|_| random.next()).collect();
        let mut zeros_until = 0;
        let rows = (0..slots).map(|slot| match self {
            Self::Random => random.next(),
            Self::Span(dimensions) => (0..dimensions)
                .fold(0, |row, dimension| row ^ (generators[dimension as usize] * random.below(2))),
            Self::ZeroRuns(longest) => {
                if slot >= zeros_until + 20 {
                    zeros_until = slot + random.below(longest + 1);
                }
                if slot < zeros_until { 0 } else { random.next() }
            }
            Self::Sparse(one_in) => match random.below(one_in) {
                0 => random.next(),
                _ => 0,
            },
            Self::Zero => 0,
        });
        rows.map(|row| row & mask).collect()
    }
}

/// The number of coefficient vectors with a leading 1 that give zero, by trying each. In Gray code
/// order, each step changes one coefficient.
fn count_zeros(window: &[u64]) -> u128 {
    let (&first, following) = window.split_first().expect("a slot");
    let mut sum = first;
    let mut zeros = u128::from(sum == 0);
    for step in 1..1u64 << following.len() {
        sum ^= following[step.trailing_zeros() as usize];
        zeros += u128::from(sum == 0);
    }
    zeros
}

/// A solution and the starts in it.
struct Case {
    rows: Vec<u64>,
    columns: usize,
    starts: Starts,
    window: u64,
}

impl Case {
    fn new(width: Width, smash: bool, rows: Vec<u64>, columns: usize) -> Self {
        let slots = rows.len() as u64;
        Self {
            starts: Starts::new(slots, width, smash),
            window: slots.min(width.bits().into()),
            rows,
            columns,
        }
    }

    fn window_of(&self, start: u64) -> &[u64] {
        &self.rows[start as usize..][..self.window as usize]
    }

    fn rate(&self, first: u64, end: u64) -> Rate {
        let row = |slot| self.rows[slot as usize];
        let half = |slot: u64, words: &mut [u64]| {
            for (column, word) in words.iter_mut().enumerate() {
                let rows = self.rows[slot as usize..][..self.window as usize / 2].iter().rev();
                *word = rows.fold(0, |bits, row| bits << 1 | row >> column & 1);
            }
        };
        homogeneous_rate(row, half, self.starts, self.window, self.columns, first, end)
    }

    /// Compares with the probabilities of all starts, given in `probabilities` in units of 2^-64: over
    /// all starts, single starts and some ranges. Every rate must be exactly the same fraction.
    fn check(&self, probabilities: &[u128], random: &mut Random) {
        let count = self.starts.count();
        let single = random.below(count);
        let mut ranges = vec![(0, count), (0, 0), (count, count), (single, single + 1)];
        for _ in 0..6 {
            let first = random.below(count);
            ranges.push((first, first + 1 + random.below(count - first)));
        }
        for (first, end) in ranges {
            let weights = (first..end).map(|start| u128::from(self.starts.weight(start)));
            let expected = Rate::new(
                weights
                    .clone()
                    .zip(&probabilities[first as usize..])
                    .map(|(weight, probability)| weight * probability)
                    .sum(),
                weights.sum::<u128>() << 64,
            );
            let found = self.rate(first, end);
            assert_eq!(found, expected, "starts {first}..{end} of {count}");
            assert!((found.value() - expected.value()).abs() <= 1e-12);
        }
    }
}

#[test]
fn the_rate_is_the_fraction_of_coefficients_that_give_zero() {
    let mut random = Random(1);
    for kind in KINDS {
        for columns in 0..=8 {
            for slots in [1, 2, 5, 15, 16, 17, 40] {
                for smash in [false, true] {
                    let rows = kind.draw(slots, columns, &mut random);
                    let case = Case::new(Width::W16, smash, rows, columns);
                    let probabilities: Vec<u128> = (0..case.starts.count())
                        .map(|start| count_zeros(case.window_of(start)) << (65 - case.window))
                        .collect();
                    case.check(&probabilities, &mut random);
                }
            }
        }
    }
}

/// The probability of one start, from the ranks of its window with and without the first row.
fn probability_by_rank(window: &[u64]) -> u128 {
    let following = rank(&window[1..]);
    match rank(window) == following {
        true => 1 << (64 - following),
        false => 0,
    }
}

/// The rank of some rows: for each column, any row with that bit is the pivot.
fn rank(rows: &[u64]) -> u32 {
    let mut rows = rows.to_vec();
    let mut rank = 0;
    for column in 0..64 {
        let Some(found) = rows.iter().position(|row| row >> column & 1 == 1) else {
            continue;
        };
        let pivot = rows.swap_remove(found);
        for row in rows.iter_mut().filter(|row| **row >> column & 1 == 1) {
            *row ^= pivot;
        }
        rank += 1;
    }
    rank
}

/// Here there are too many coefficients to try, so the formula is used. The preceding test checks
/// the formula for the narrowest width; the first lines of this test check that
/// `probability_by_rank` is the same formula.
#[test]
fn the_rate_of_every_width_follows_from_the_ranks_of_its_windows() {
    let mut random = Random(2);
    for _ in 0..100 {
        let window = Rows::Sparse(2).draw(10, 4, &mut random);
        assert_eq!(probability_by_rank(&window), count_zeros(&window) << 55);
    }
    for kind in KINDS {
        for width in Width::ALL {
            for columns in [1, 4, 7, 12, 31, 32, 64] {
                for slots in [30, u64::from(width.bits()) + 80] {
                    for smash in [false, true] {
                        let rows = kind.draw(slots, columns, &mut random);
                        let case = Case::new(width, smash, rows, columns);
                        let probabilities: Vec<u128> = (0..case.starts.count())
                            .map(|start| probability_by_rank(case.window_of(start)))
                            .collect();
                        case.check(&probabilities, &mut random);
                    }
                }
            }
        }
    }
}

/// Windows of full and of lower rank must both occur; otherwise the preceding tests show little.
#[test]
fn windows_of_full_and_of_lower_rank_are_seen() {
    let mut random = Random(3);
    let rows = Rows::ZeroRuns(40).draw(400, 6, &mut random);
    let case = Case::new(Width::W32, true, rows, 6);
    let full = |start: &u64| rank(&case.window_of(*start)[1..]) == 6;
    let count = case.starts.count();
    let starts = (0..count).filter(full).count() as u64;
    assert!(starts > count / 4 && starts < count - count / 10, "{starts}");
}

#[test]
fn parts_of_a_rate_add_up() {
    let mut random = Random(4);
    let rows = Rows::ZeroRuns(12).draw(200, 5, &mut random);
    let case = Case::new(Width::W16, true, rows, 5);
    let count = case.starts.count();
    for middle in 0..=count {
        let halves = case.rate(0, middle).and(case.rate(middle, count));
        assert_eq!(halves, case.rate(0, count), "cut at {middle}");
    }
}

#[test]
fn no_starts_have_a_rate_of_zero() {
    assert_eq!(Rate::default().value(), 0.0);
    assert_eq!(Rate::new(3, 4).and(Rate::default()).value(), 0.75);
    assert_eq!(Rate::new(1, 4).and(Rate::new(3, 4)).value(), 0.5);
}

/// The reference: keys are items of a queue, and each slot serves the key at its head.
fn queue_by_hand(starts_at: &[u8]) -> u32 {
    let mut waiting = VecDeque::new();
    let mut longest = 0;
    for (slot, &arrivals) in starts_at.iter().enumerate() {
        waiting.extend((0..arrivals).map(|_| slot));
        waiting.pop_front();
        longest = longest.max(waiting.len());
    }
    longest as u32
}

#[test]
fn the_longest_queue_is_that_of_keys_waiting_in_line() {
    let mut random = Random(5);
    for len in [0, 1, 2, 10, 100, 1000] {
        for max in [1, 2, 3, 5, 254] {
            let starts_at: Vec<u8> = (0..len).map(|_| random.below(max + 1) as u8).collect();
            assert_eq!(longest_queue(&starts_at, 1, u32::MAX), queue_by_hand(&starts_at));
        }
    }
    assert_eq!(longest_queue(&[0u8, 3, 0, 0, 4, 0, 0, 0, 0], 1, u32::MAX), 3);
    assert_eq!(longest_queue(&[254u8], 1, u32::MAX), 253);
    // Beyond the limit, any longer queue may be returned.
    assert!(longest_queue(&[254u8, 0, 0, 255], 1, 99) > 99);
    // Runs of four slots; the queues at their ends are 3, 4, 0, 9 and 7.
    assert_eq!(longest_queue(&[7u8, 5, 0, 13, 2], 4, u32::MAX), 9);
}
