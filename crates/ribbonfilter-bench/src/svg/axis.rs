//! An axis of a chart: converts values to positions and has ticks.

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

    /// From 0 to a round number above all values, with about five ticks.
    pub fn from_zero(label: impl Into<String>, values: impl Iterator<Item = f64>) -> Self {
        let max = values.filter(|value| value.is_finite()).fold(1e-9, f64::max);
        let step = round_step(max / 5.0);
        let steps = (max / step).ceil();
        let tick = |number| (f64::from(number) * step, number_text(f64::from(number) * step));
        Self::linear(label, 0.0, steps * step, (0..=steps as u32).map(tick).collect())
    }

    /// A logarithmic axis that covers all values, with ticks at 1, 2 and 5 times powers of ten, or at
    /// more multiples if these are fewer than three.
    pub fn around(label: impl Into<String>, values: impl Iterator<Item = f64>) -> Self {
        let values: Vec<f64> = values.filter(|value| *value > 0.0 && value.is_finite()).collect();
        let low = values.iter().copied().fold(f64::INFINITY, f64::min).min(1e9) / 1.2;
        let high = values.iter().copied().fold(low * 2.0, f64::max) * 1.2;
        let ticks = |digits: &[f64]| -> Vec<(f64, String)> {
            let all = (-3..9).map(|power| 10_f64.powi(power));
            let all = all.flat_map(|power| digits.iter().map(move |digit| digit * power));
            let inside = all.filter(|tick| (low..=high).contains(tick));
            inside.map(|tick| (tick, number_text(tick))).collect()
        };
        let few = ticks(&[1.0, 2.0, 5.0]);
        let ticks = if few.len() < 3 { ticks(&[1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 7.0]) } else { few };
        Self::logarithmic(label, low, high, ticks)
    }

    /// The position of a value on the axis: 0 at the low end, 1 at the high end.
    pub fn position(&self, value: f64) -> f64 {
        let scaled = |value: f64| if self.logarithmic { value.log10() } else { value };
        let range = scaled(self.high) - scaled(self.low);
        ((scaled(value) - scaled(self.low)) / range).clamp(0.0, 1.0)
    }

    /// `count` values from end to end, evenly spaced.
    pub fn spread(&self, count: usize) -> Vec<f64> {
        let at = |index: usize| {
            let fraction = index as f64 / (count - 1) as f64;
            match self.logarithmic {
                true => self.low * (self.high / self.low).powf(fraction),
                false => self.low + (self.high - self.low) * fraction,
            }
        };
        (0..count).map(at).collect()
    }
}

/// The smallest step of 1, 2 or 5 times a power of ten that is not below the value.
fn round_step(value: f64) -> f64 {
    let power = 10_f64.powf(value.log10().floor());
    [1.0, 2.0, 5.0, 10.0]
        .map(|factor| factor * power)
        .into_iter()
        .find(|&step| step >= value * 0.999)
        .unwrap_or(power * 10.0)
}

/// Formats a number without trailing zeros.
pub fn number_text(value: f64) -> String {
    let text = format!("{value:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_string()
}

/// Formats a number of keys: as a power of ten such as 10⁶, or in digits.
pub fn keys_text(keys: u64) -> String {
    match keys.checked_ilog10() {
        Some(power @ 3..) if 10_u64.pow(power) == keys => power_of_ten(power).1,
        _ => keys.to_string(),
    }
}

/// A power of ten and its text.
pub fn power_of_ten(exponent: u32) -> (f64, String) {
    let digits = ["⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"];
    (10_f64.powi(exponent as i32), format!("10{}", digits[exponent as usize % 10]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn round_ticks_above_every_value() {
        for max in [0.3, 1.0, 7.7, 41.0, 99.0, 1335.0] {
            let axis = Axis::from_zero("", [max].into_iter());
            assert!(axis.position(max) <= 1.0 && axis.position(max) > 0.7, "{max}");
            assert!((4..=7).contains(&axis.ticks.len()), "{max}: {:?}", axis.ticks);
        }
    }

    #[test]
    fn a_short_logarithmic_axis_has_ticks_too() {
        let axis = Axis::around("", [13.4, 48.0].into_iter());
        let ticks: Vec<&str> = axis.ticks.iter().map(|(_, text)| text.as_str()).collect();
        assert_eq!(ticks, ["15", "20", "30", "40", "50"]);
        assert_eq!(Axis::around("", [1.0, 100.0].into_iter()).ticks.len(), 7);
    }

    #[test]
    fn logarithms_are_even() {
        let axis = Axis::logarithmic("", 0.1, 1000.0, vec![]);
        assert!((axis.position(10.0) - 0.5).abs() < 1e-9);
        assert!((axis.spread(5)[2] - 10.0).abs() < 1e-9);
    }
}
