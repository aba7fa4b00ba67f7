//! The paper's tables and figures: its own numbers beside those of this crate, as tab-separated
//! rows. Lines that begin with `#` are titles and conclusions.

pub mod figures;
pub mod table1;
pub mod table2;

/// A number with some decimals, or `-`.
fn number(value: Option<f64>, decimals: usize) -> String {
    value.map_or("-".into(), |value| format!("{value:.decimals$}"))
}
