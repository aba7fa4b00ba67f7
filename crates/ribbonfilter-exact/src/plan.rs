//! How many columns the filter of a group has, and how large an exact set becomes.
//!
//! Of a group with `s` keys on the side that is stored and `t` on the other, `r` columns cost
//! `s * r` bits, and the map has a bit for each of `s + t / 2^r` keys. One more column costs
//! `s` bits and saves `t / 2^(r + 1)`, so the best `r` is the largest with `t > s * 2^r`. A
//! fraction of a column never wins: between two whole numbers both terms are linear in it.
//!
//! All groups of the same `r` share a filter. A filter takes some bytes in addition to its
//! columns, so one with few keys may be dropped: its groups then use the next best filter.

use crate::ExactError;
use crate::bound::log2_binomial;
use crate::format::{MAX_FILTERS, size_in_bytes};
use crate::table::MAX_GROUPS;
use alloc::vec::Vec;
use ribbonfilter::{
    BuildError, Effort, Filter, FilterBuilder, Function, FunctionBuilder, Plan as StagePlan,
};

/// The maximum number of columns of a filter.
const MAX_COLUMNS: u32 = MAX_FILTERS as u32;
/// The maximum number of keys, members and others together: the footer has 48 bits for each side.
const MAX_KEYS: u64 = (1 << 48) - 1;

/// Bits of a fraction of a key in the expected number of keys of the map.
const FRACTION: u32 = 32;
/// The bound on the size holds for all but one set in 10^9: the number of others that pass a
/// filter stays within this many standard deviations.
const DEVIATIONS: f64 = 6.0;

/// The distinct keys of a group.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) members: u64,
    pub(crate) others: u64,
}

impl Counts {
    /// The keys of the side that is stored, the smaller one, and those of the other side.
    fn sides(self) -> (u64, u64) {
        (self.members.min(self.others), self.members.max(self.others))
    }
}

/// How a group is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Choice {
    /// Not at all, since all keys are members, or none is.
    All(bool),
    /// Its members or, if `inverted`, its others are in the filter with this number of columns,
    /// unless that is 0, and in the map.
    Columns { columns: u32, inverted: bool },
}

impl Choice {
    /// The number of columns, if the group has keys on both sides.
    pub(crate) fn columns(&self) -> Option<u32> {
        match *self {
            Self::All(_) => None,
            Self::Columns { columns, .. } => Some(columns),
        }
    }

    /// Whether the others of the group are in a filter.
    pub(crate) fn others_in_filter(&self) -> bool {
        matches!(self, Self::Columns { columns: 1.., inverted: true })
    }
}

/// The bits that a group takes in units of `2^-FRACTION`, without what its stages take in addition.
fn cost(counts: Counts, columns: u32) -> u128 {
    let (stored, other) = counts.sides();
    ((u128::from(stored) * u128::from(columns + 1)) << FRACTION) + passing(other, columns)
}

/// The expected number of keys that pass a filter, in units of `2^-FRACTION`.
fn passing(keys: u64, columns: u32) -> u128 {
    u128::from(keys) << FRACTION >> columns
}

/// The columns of the filter of a group that has keys on both sides.
fn best_columns(counts: Counts) -> u32 {
    let (stored, other) = counts.sides();
    let worthwhile = |columns: &u32| u128::from(other) > u128::from(stored) << columns;
    (0..=MAX_COLUMNS).rev().find(worthwhile).unwrap_or(0)
}

/// The best choice for a group alone.
fn best(counts: Counts) -> Choice {
    match counts {
        Counts { members: 0, .. } => Choice::All(false),
        Counts { others: 0, .. } => Choice::All(true),
        Counts { members, others } => {
            Choice::Columns { columns: best_columns(counts), inverted: others < members }
        }
    }
}

/// The plan of all groups.
pub(crate) struct Plan {
    /// By group.
    pub(crate) choices: Vec<Choice>,
    effort: Effort,
    /// The number of keys in the filter of each number of columns.
    filters: [u64; MAX_COLUMNS as usize + 1],
    /// The expected number of keys in the map, in units of `2^-FRACTION`, and its variance.
    map: u128,
    variance: f64,
}

impl Plan {
    /// The best plan for groups of these sizes.
    pub(crate) fn new(groups: &[Counts], effort: Effort) -> Result<Self, ExactError> {
        let choices = groups.iter().map(|&counts| best(counts)).collect();
        Self::with_choices(choices, groups, effort).without_small_filters(groups)
    }

    /// The plan with these choices.
    fn with_choices(choices: Vec<Choice>, groups: &[Counts], effort: Effort) -> Self {
        let (mut filters, mut map, mut variance) = ([0; MAX_COLUMNS as usize + 1], 0, 0.0);
        for (choice, counts) in choices.iter().zip(groups) {
            let Some(columns) = choice.columns() else { continue };
            let (stored, other) = counts.sides();
            filters[columns as usize] += stored;
            map += (u128::from(stored) << FRACTION) + passing(other, columns);
            let rate = libm::exp2(-f64::from(columns));
            variance += other as f64 * rate * (1.0 - rate);
        }
        Self { choices, effort, filters, map, variance }
    }

    /// Drops each filter, from the smallest to the largest, if the set becomes smaller.
    fn without_small_filters(mut self, groups: &[Counts]) -> Result<Self, ExactError> {
        let mut filters: Vec<_> = self.filters().map(|(columns, keys)| (keys, columns)).collect();
        filters.sort_unstable();
        for (_, columns) in filters {
            let without = self.without(columns, groups);
            if without.size(0.0, 0)? < self.size(0.0, 0)? {
                self = without;
            }
        }
        Ok(self)
    }

    /// The plan without the filter of this number of columns: each of its groups takes the best of
    /// the other filters, or none.
    fn without(&self, dropped: u32, groups: &[Counts]) -> Self {
        let others =
            || self.filters().map(|(columns, _)| columns).filter(|&other| other != dropped);
        let mut choices = self.choices.clone();
        for (choice, &counts) in choices.iter_mut().zip(groups) {
            if let Choice::Columns { columns, .. } = choice
                && *columns == dropped
            {
                let all = core::iter::once(0).chain(others());
                *columns = all.min_by_key(|&columns| cost(counts, columns)).unwrap_or(0);
            }
        }
        Self::with_choices(choices, groups, self.effort)
    }

    /// Corrects the plan of groups that turned out to have other numbers of keys than planned. All
    /// other groups keep their side, and their filter unless it is dropped.
    pub(crate) fn correct(
        &mut self,
        planned: &[Counts],
        exact: &[Counts],
    ) -> Result<(), ExactError> {
        if planned == exact {
            return Ok(());
        }
        let mut choices = self.choices.clone();
        for ((choice, planned), &exact) in choices.iter_mut().zip(planned).zip(exact) {
            if *planned != exact {
                *choice = best(exact);
            }
        }
        *self = Self::with_choices(choices, exact, self.effort).without_small_filters(exact)?;
        Ok(())
    }

    /// The numbers of columns of all filters, ascending, with the keys of each.
    pub(crate) fn filters(&self) -> impl Iterator<Item = (u32, u64)> {
        (0..).zip(self.filters).skip(1).filter(|&(_, keys)| keys > 0)
    }

    /// The expected number of keys in the map, and the given number of standard deviations more.
    pub(crate) fn map_keys(&self, deviations: f64) -> u64 {
        let more = libm::ceil(deviations * libm::sqrt(self.variance)) as u64;
        ((self.map + (1 << FRACTION) - 1) >> FRACTION) as u64 + more
    }

    /// The size in bytes with a table of `groups` groups, if the number of keys in the map is this
    /// number of standard deviations above its expectation.
    fn size(&self, deviations: f64, groups: u64) -> Result<u64, BuildError> {
        let (filters, map) = self.stages(1, deviations)?;
        let stages = filters.iter().chain(&map).map(StagePlan::size_in_bytes);
        Ok(size_in_bytes(stages, groups))
    }

    /// The plans of all filters, and of the map, on a number of threads.
    fn stages(
        &self,
        threads: usize,
        deviations: f64,
    ) -> Result<(Vec<StagePlan>, Option<StagePlan>), BuildError> {
        let plan =
            |(columns, keys)| filter_of(columns, self.effort).threads(threads).plan_for(keys);
        let filters = self.filters().map(plan).collect::<Result<_, _>>()?;
        let keys = self.map_keys(deviations);
        let plan = || map_of(self.effort).threads(threads).plan_for(keys);
        Ok((filters, (keys > 0).then(plan).transpose()?))
    }
}

/// A builder of the filter of this number of columns.
pub(crate) fn filter_of(columns: u32, effort: Effort) -> FilterBuilder<'static> {
    Filter::builder().columns(columns.into()).effort(effort)
}

/// A builder of the map.
pub(crate) fn map_of(effort: Effort) -> FunctionBuilder<'static> {
    Function::builder().value_bits(1).effort(effort)
}

/// Refuses more keys or groups than the format allows.
pub(crate) fn check_keys(groups: &[Counts]) -> Result<(), ExactError> {
    let add = |sum: u64, counts: &Counts| {
        sum.saturating_add(counts.members).saturating_add(counts.others)
    };
    let keys = groups.iter().fold(0, add);
    if keys > MAX_KEYS {
        return Err(BuildError::TooManyKeys { keys, max: MAX_KEYS }.into());
    }
    // The unnamed group, and others that only expect keys, may have none.
    let groups = groups.iter().filter(|counts| **counts != Counts::default()).count() as u64;
    match groups <= MAX_GROUPS {
        true => Ok(()),
        false => Err(ExactError::TooManyGroups { groups, max: MAX_GROUPS }),
    }
}

/// The lower bound of the size in bits of an exact set of these groups.
pub(crate) fn lower_bound(groups: impl Iterator<Item = Counts>) -> f64 {
    let bits = groups.map(|counts| log2_binomial(counts.members + counts.others, counts.members));
    bits.fold(0.0, |sum, bits| sum + bits)
}

/// What an exact set will be, before any work is done.
///
/// The size is random, since the number of other keys that pass the first stage is. So the plan has
/// an [expectation](Self::expected_size) and a [bound](Self::max_size).
///
/// ```
/// use ribbonfilter_exact::ExactSet;
///
/// let plan = ExactSet::builder().plan_for(11_700_000, 804_300_000)?;
/// assert_eq!(plan.columns(), 6);
/// assert!(plan.expected_size() < 13_000_000); // 8.7 bits per member
/// assert!(plan.max_size() - plan.expected_size() < 10_000);
/// # Ok::<(), ribbonfilter_exact::ExactError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ExactPlan {
    members: u64,
    others: u64,
    groups: u64,
    columns: u32,
    inverted: bool,
    expected_size: u64,
    max_size: u64,
    bound: f64,
    peak_memory: u64,
}

impl ExactPlan {
    pub(crate) fn of(
        groups: &[Counts],
        effort: Effort,
        threads: usize,
    ) -> Result<Self, ExactError> {
        check_keys(groups)?;
        let plan = Plan::new(groups, effort)?;
        let table = if groups.len() > 1 { groups.len() as u64 } else { 0 };
        let (columns, inverted) = match plan.choices.first() {
            Some(&Choice::Columns { columns, inverted }) => (columns, inverted),
            _ => (0, false),
        };
        let members: u64 = groups.iter().map(|counts| counts.members).sum();
        let others: u64 = groups.iter().map(|counts| counts.others).sum();
        let pushed = (members + others) * if table > 0 { 16 } else { 8 };
        Ok(Self {
            members,
            others,
            groups: groups.len() as u64,
            columns,
            inverted,
            expected_size: plan.size(0.0, table)?,
            max_size: plan.size(DEVIATIONS, table)?,
            bound: lower_bound(groups.iter().copied()),
            peak_memory: plan.peak_memory(pushed, DEVIATIONS, threads)?,
        })
    }

    /// The number of members planned for.
    ///
    /// ```
    /// assert_eq!(ribbonfilter_exact::ExactSet::builder().plan_for(10, 1000)?.members(), 10);
    /// # Ok::<(), ribbonfilter_exact::ExactError>(())
    /// ```
    pub fn members(&self) -> u64 {
        self.members
    }

    /// The number of other keys planned for.
    ///
    /// ```
    /// assert_eq!(ribbonfilter_exact::ExactSet::builder().plan_for(10, 1000)?.others(), 1000);
    /// # Ok::<(), ribbonfilter_exact::ExactError>(())
    /// ```
    pub fn others(&self) -> u64 {
        self.others
    }

    /// The columns of the first stage; of the first group, if there are several. 0 if there is no
    /// first stage.
    ///
    /// ```
    /// let builder = ribbonfilter_exact::ExactSet::builder();
    /// assert_eq!(builder.plan_for(100_000, 9_900_000)?.columns(), 6);
    /// assert_eq!(builder.plan_for(5_000_000, 5_000_000)?.columns(), 0);
    /// # Ok::<(), ribbonfilter_exact::ExactError>(())
    /// ```
    pub fn columns(&self) -> u32 {
        self.columns
    }

    /// Whether the others are stored instead of the members, because they are fewer; in the first
    /// group, if there are several.
    ///
    /// ```
    /// assert!(ribbonfilter_exact::ExactSet::builder().plan_for(9000, 1000)?.stores_others());
    /// # Ok::<(), ribbonfilter_exact::ExactError>(())
    /// ```
    pub fn stores_others(&self) -> bool {
        self.inverted
    }

    /// The expected size in bytes, all included.
    ///
    /// ```
    /// let plan = ribbonfilter_exact::ExactSet::builder().plan_for(100_000, 9_900_000)?;
    /// assert!((106_000..108_000).contains(&plan.expected_size()));
    /// # Ok::<(), ribbonfilter_exact::ExactError>(())
    /// ```
    pub fn expected_size(&self) -> u64 {
        self.expected_size
    }

    /// A size in bytes that is exceeded with a probability of less than 10^-8: six standard
    /// deviations above the expected size.
    ///
    /// ```
    /// let plan = ribbonfilter_exact::ExactSet::builder().plan_for(100_000, 9_900_000)?;
    /// assert!(plan.max_size() < plan.expected_size() + 500);
    /// # Ok::<(), ribbonfilter_exact::ExactError>(())
    /// ```
    pub fn max_size(&self) -> u64 {
        self.max_size
    }

    /// The expected size in bits over the number of members; infinite without members.
    ///
    /// ```
    /// let plan = ribbonfilter_exact::ExactSet::builder().plan_for(100_000, 9_900_000)?;
    /// assert!((8.5..8.7).contains(&plan.bits_per_member()));
    /// # Ok::<(), ribbonfilter_exact::ExactError>(())
    /// ```
    pub fn bits_per_member(&self) -> f64 {
        self.expected_size as f64 * 8.0 / self.members as f64
    }

    /// The least bits that any exact set of these sizes takes on average: see
    /// [`ExactSet::lower_bound_bits`](crate::ExactSet::lower_bound_bits).
    ///
    /// ```
    /// let plan = ribbonfilter_exact::ExactSet::builder().plan_for(1, 3)?;
    /// assert_eq!(plan.lower_bound_bits(), 2.0);
    /// # Ok::<(), ribbonfilter_exact::ExactError>(())
    /// ```
    pub fn lower_bound_bits(&self) -> f64 {
        self.bound
    }

    /// The peak memory of the build in bytes if all keys are pushed and none is spilled.
    ///
    /// ```
    /// let plan = ribbonfilter_exact::ExactSet::builder().plan_for(100_000, 9_900_000)?;
    /// assert!(plan.peak_memory() < 95_000_000); // 8 bytes per key, and some for the members
    /// # Ok::<(), ribbonfilter_exact::ExactError>(())
    /// ```
    pub fn peak_memory(&self) -> u64 {
        self.peak_memory
    }

    /// The number of groups.
    ///
    /// ```
    /// let builder = ribbonfilter_exact::ExactSet::builder();
    /// assert_eq!(builder.plan_for_groups([(10, 1000), (0, 20)])?.groups(), 2);
    /// # Ok::<(), ribbonfilter_exact::ExactError>(())
    /// ```
    pub fn groups(&self) -> u64 {
        self.groups
    }
}

impl Plan {
    /// The peak memory in bytes of a build that keeps `held` bytes of keys in memory.
    pub(crate) fn peak_memory(
        &self,
        held: u64,
        deviations: f64,
        threads: usize,
    ) -> Result<u64, ExactError> {
        let (filters, map) = self.stages(threads, deviations)?;
        let pushed = filters.iter().map(|plan| 8 * plan.keys()).sum::<u64>();
        let solving = |plan: &StagePlan| plan.peak_memory().saturating_sub(8 * plan.keys());
        let solving = filters.iter().map(solving).max().unwrap_or(0);
        let filters = filters.iter().map(StagePlan::size_in_bytes).sum::<u64>();
        let (map_memory, map) =
            map.map_or((0, 0), |plan| (plan.peak_memory(), plan.size_in_bytes()));
        let first_stage = held + pushed + solving + filters;
        let passing = held + filters + 16 * self.map_keys(deviations);
        // The pushed keys are dropped before the map is built.
        let assembling = 2 * (filters + map);
        Ok(first_stage.max(passing).max(filters + map_memory).max(assembling))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn columns_of(members: u64, others: u64) -> u32 {
        best_columns(Counts { members, others })
    }

    #[test]
    fn the_best_number_of_columns_is_the_cheapest() {
        for (members, others) in [(1, 1), (1, 2), (1, 3), (7, 100), (1000, 9000), (3, 1 << 40)] {
            let counts = Counts { members, others };
            let cheapest = (0..=MAX_COLUMNS).min_by_key(|&columns| cost(counts, columns));
            assert_eq!(cheapest, Some(best_columns(counts)), "{counts:?}");
            assert_eq!(columns_of(members, others), columns_of(others, members));
        }
        assert_eq!(
            (columns_of(1, 99), columns_of(1, 999), columns_of(1, 9), columns_of(1, 1)),
            (6, 9, 3, 0)
        );
        assert_eq!(columns_of(1, u64::MAX), MAX_COLUMNS);
    }

    /// Small filters are merged with others, and the planned size never grows by that.
    #[test]
    fn filters_that_do_not_pay_are_dropped() {
        let large = Counts { members: 1_000_000, others: 99_000_000 };
        let small = Counts { members: 3, others: 1000 };
        let plan = Plan::new(&[large, small], Effort::Normal).expect("a plan");
        assert_eq!(plan.filters().collect::<Vec<_>>(), [(6, 1_000_003)]);
        let large_too = Counts { members: 1_000_000, others: 1_000_000_000 };
        let plan = Plan::new(&[large, large_too], Effort::Normal).expect("a plan");
        assert_eq!(plan.filters().map(|(columns, _)| columns).collect::<Vec<_>>(), [6, 9]);
        let few = Counts { members: 5, others: 100 };
        let plan = Plan::new(&[few], Effort::Normal).expect("a plan");
        assert_eq!(plan.choices, [Choice::Columns { columns: 0, inverted: false }]);
    }

    #[test]
    fn groups_of_one_side_take_nothing() {
        let groups = [(0, 0), (5, 0), (0, 5)].map(|(members, others)| Counts { members, others });
        let plan = Plan::new(&groups, Effort::Normal).expect("a plan");
        assert_eq!(plan.choices, [false, true, false].map(Choice::All));
        assert_eq!(plan.size(0.0, 0).expect("a size"), 40);
    }
}
