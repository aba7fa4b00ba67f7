//! One axis of a chart: from values to places, and where the ticks are.

/// An axis with its name, unit and ticks.
pub struct Axis {
    pub label: String,
    low: f64,
    high: f64,
    logarithmic: bool,
    pub ticks: Vec<(f64, String)>,
}

impl Axis {
    pub fn linear(
        label: impl Into<String>,
        low: f64,
        high: f64,
        ticks: Vec<(f64, String)>,
    ) -> Self {
        Self { label: label.into(), low, high, logarithmic: false, ticks }
    }

    pub fn logarithmic(
        label: impl Into<String>,
        low: f64,
        high: f64,
        ticks: Vec<(f64, String)>,
    ) -> Self {
        Self { label: label.into(), low, high, logarithmic: true, ticks }
    }

    /// From 0 to a round number above all values, with some five ticks.
    pub fn from_zero(label: impl Into<String>, values: impl Iterator<Item = f64>) -> Self {
        let greatest = values.filter(|value| value.is_finite()).fold(1e-9, f64::max);
        let step = round_step(greatest / 5.0);
        let steps = (greatest / step).ceil();
        let tick = |number| (f64::from(number) * step, number_text(f64::from(number) * step));
        Self::linear(label, 0.0, steps * step, (0..=steps as u32).map(tick).collect())
    }

    /// Logarithmic around all values, with ticks at 1, 2 and 5 times powers of ten.
    pub fn around(label: impl Into<String>, values: impl Iterator<Item = f64>) -> Self {
        let values: Vec<f64> = values.filter(|value| *value > 0.0 && value.is_finite()).collect();
        let low = values.iter().copied().fold(f64::INFINITY, f64::min).min(1e9) / 1.2;
        let high = values.iter().copied().fold(low * 2.0, f64::max) * 1.2;
        let all = (-3..9).flat_map(|power| [1.0, 2.0, 5.0].map(|digit| digit * 10_f64.powi(power)));
        let ticks = all.filter(|tick| (low..=high).contains(tick));
        let ticks = ticks.map(|tick| (tick, number_text(tick))).collect();
        Self::logarithmic(label, low, high, ticks)
    }

    /// The share of the axis that lies before a value.
    pub fn share(&self, value: f64) -> f64 {
        let place = |value: f64| if self.logarithmic { value.log10() } else { value };
        let share = (place(value) - place(self.low)) / (place(self.high) - place(self.low));
        share.clamp(0.0, 1.0)
    }

    /// So many values from end to end, evenly spread.
    pub fn spread(&self, count: usize) -> Vec<f64> {
        let at = |index: usize| {
            let share = index as f64 / (count - 1) as f64;
            match self.logarithmic {
                true => self.low * (self.high / self.low).powf(share),
                false => self.low + (self.high - self.low) * share,
            }
        };
        (0..count).map(at).collect()
    }
}

/// 1, 2 or 5 times a power of ten, not below the value.
fn round_step(value: f64) -> f64 {
    let power = 10_f64.powf(value.log10().floor());
    [1.0, 2.0, 5.0, 10.0]
        .map(|factor| factor * power)
        .into_iter()
        .find(|&step| step >= value * 0.999)
        .unwrap_or(power * 10.0)
}

/// A number without needless zeros.
pub fn number_text(value: f64) -> String {
    let text = format!("{value:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_string()
}

/// A number of keys as people write it: 10^6, or else its digits.
pub fn keys_text(keys: u64) -> String {
    match keys.checked_ilog10() {
        Some(power @ 3..) if 10_u64.pow(power) == keys => power_of_ten(power).1,
        _ => keys.to_string(),
    }
}

/// Powers of ten as people write them.
pub fn power_of_ten(exponent: u32) -> (f64, String) {
    let digits = ["⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"];
    (10_f64.powi(exponent as i32), format!("10{}", digits[exponent as usize % 10]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn round_ticks_above_every_value() {
        for greatest in [0.3, 1.0, 7.7, 41.0, 99.0, 1335.0] {
            let axis = Axis::from_zero("", [greatest].into_iter());
            assert!(axis.share(greatest) <= 1.0 && axis.share(greatest) > 0.7, "{greatest}");
            assert!((4..=7).contains(&axis.ticks.len()), "{greatest}: {:?}", axis.ticks);
        }
    }

    #[test]
    fn logarithms_are_even() {
        let axis = Axis::logarithmic("", 0.1, 1000.0, vec![]);
        assert!((axis.share(10.0) - 0.5).abs() < 1e-9);
        assert!((axis.spread(5)[2] - 10.0).abs() < 1e-9);
    }
}
