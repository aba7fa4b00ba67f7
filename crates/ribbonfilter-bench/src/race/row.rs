//! The measurements of one filter.

use super::Family;
use serde::{Deserialize, Serialize};

/// The figures of one filter. Times are in nanoseconds, the minimum of all rounds.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Row {
    pub name: String,
    pub family: Family,
    pub keys: u64,
    pub threads: usize,
    pub bits_per_key: f64,
    /// The measured false-positive rate.
    pub rate: f64,
    /// The number of stored bits over the minimum for the rate, minus one. This uses the exact rate
    /// if the filter reports it, since a measured rate is less precise than the overheads of
    /// ribbons.
    pub overhead: f64,
    pub build: Times,
    /// Single queries with none, half and all of the keys present.
    pub single: [Times; 3],
    /// The same in batches, if the filter has them.
    pub batch: Option<[Times; 3]>,
    /// Queries of a chain: each key is chosen by the preceding result, which the CPU cannot guess.
    /// Half of the keys are present.
    pub latency: Times,
    pub instructions: Option<f64>,
}

impl Row {
    /// Whether both rows measure the same filter with the same keys and threads.
    pub fn is_same(&self, other: &Self) -> bool {
        (&self.name, self.keys, self.threads) == (&other.name, other.keys, other.threads)
    }

    /// The paper's measure for its figure 1: a build and three queries.
    pub fn mix(&self) -> f64 {
        self.build.min + self.single.iter().map(|times| times.min).sum::<f64>()
    }

    /// The average time of the three kinds of single queries.
    pub fn query(&self) -> f64 {
        mean(&self.single)
    }

    /// The average time of the three kinds of batch queries.
    pub fn batched(&self) -> Option<f64> {
        self.batch.as_ref().map(mean)
    }
}

fn mean(times: &[Times; 3]) -> f64 {
    times.iter().map(|times| times.min).sum::<f64>() / 3.0
}

/// The times of a query of a chain, in nanoseconds: see [`Contender::chain`](super::Contender::chain).
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Chains {
    pub name: String,
    pub family: Family,
    pub keys: u64,
    /// Absent keys, without a fence: the CPU can guess the results and run ahead.
    pub guessed: f64,
    /// With a fence, of which none, half and all keys are present.
    pub absent: f64,
    pub half: f64,
    pub present: f64,
}

/// The minimum of several measurements, and how far the maximum was above it.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Times {
    #[serde(rename = "least")]
    pub min: f64,
    pub spread: f64,
}

impl Times {
    pub fn first(time: f64) -> Self {
        Self { min: time, spread: 0.0 }
    }

    pub fn and(self, other: Self) -> Self {
        let max = |times: Self| times.min * (1.0 + times.spread);
        let min = self.min.min(other.min);
        Self { min, spread: max(self).max(max(other)) / min - 1.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn min_and_max_of_several() {
        let times = [5.0, 4.0, 6.0].map(Times::first).into_iter().reduce(Times::and).unwrap();
        assert_eq!((times.min, times.spread), (4.0, 0.5));
    }
}
