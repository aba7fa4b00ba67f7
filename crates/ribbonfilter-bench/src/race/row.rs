//! What was measured of one filter.

use super::Family;
use serde::{Deserialize, Serialize};

/// The figures of one filter; times in nanoseconds, the least of all rounds.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Row {
    pub name: String,
    pub family: Family,
    pub keys: u64,
    pub threads: usize,
    pub bits_per_key: f64,
    /// Share of absent keys that were found.
    pub rate: f64,
    /// Stored bits over the least possible for the rate, minus one. The rate is the filter's own
    /// exact one where it knows that, since sampling is coarser than the overheads of ribbons.
    pub overhead: f64,
    pub build: Times,
    /// Single queries with none, half and all of the keys present.
    pub single: [Times; 3],
    /// The same in batches, if the filter has them.
    pub batch: Option<[Times; 3]>,
    /// Queries that wait for the answer before.
    pub latency: Times,
    pub instructions: Option<f64>,
}

impl Row {
    /// Whether both are measurements of the same.
    pub fn is_same(&self, other: &Self) -> bool {
        (&self.name, self.keys, self.threads) == (&other.name, other.keys, other.threads)
    }

    /// Whether it is a function that plays a filter.
    pub fn is_function(&self) -> bool {
        self.name.contains("Func")
    }

    /// The paper's measure for its figure 1: a build and three queries.
    pub fn mix(&self) -> f64 {
        self.build.least + self.single.iter().map(|times| times.least).sum::<f64>()
    }

    /// The mean of the three single queries.
    pub fn query(&self) -> f64 {
        mean(&self.single)
    }

    /// The mean of the three batched queries.
    pub fn batched(&self) -> Option<f64> {
        self.batch.as_ref().map(mean)
    }
}

fn mean(times: &[Times; 3]) -> f64 {
    times.iter().map(|times| times.least).sum::<f64>() / 3.0
}

/// The least of several measurements, and how far the greatest was above it.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Times {
    pub least: f64,
    pub spread: f64,
}

impl Times {
    pub fn first(time: f64) -> Self {
        Self { least: time, spread: 0.0 }
    }

    pub fn and(self, other: Self) -> Self {
        let greatest = |times: Self| times.least * (1.0 + times.spread);
        let least = self.least.min(other.least);
        Self { least, spread: greatest(self).max(greatest(other)) / least - 1.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn least_and_greatest_of_several() {
        let times = [5.0, 4.0, 6.0].map(Times::first).into_iter().reduce(Times::and).unwrap();
        assert_eq!((times.least, times.spread), (4.0, 0.5));
    }
}
