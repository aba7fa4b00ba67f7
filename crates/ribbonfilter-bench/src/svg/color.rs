//! The colors of charts. Every shape has its color of the light theme as a plain attribute, so that
//! any program can draw it; the style sheet only overrides them for the dark theme.

use std::fmt::Write;

/// The colors of one class in the light and the dark theme.
struct Color {
    class: &'static str,
    light: &'static str,
    dark: &'static str,
}

const fn color(class: &'static str, light: &'static str, dark: &'static str) -> Color {
    Color { class, light, dark }
}

pub const INK: &str = "#1b1f24";
pub const FAINT: &str = "#d8dde3";
pub const PAPER: &str = "#ffffff";

/// The hues are those of Okabe and Ito, which people with color vision deficiencies can tell apart;
/// shapes and labels convey the same.
const COLORS: [Color; 22] = [
    color("none", "#eef0f3", "#23272d"),
    color("f-bumped", "#0072b2", "#3b9bdc"),
    color("f-balanced", "#56b4e9", "#8fd0f5"),
    color("f-standard", "#b3588a", "#d98bb8"),
    color("f-homogeneous", "#009e73", "#2fc79a"),
    color("f-pleat", "#6a51a3", "#a894dd"),
    color("f-binaryfuse", "#e69f00", "#f2b632"),
    color("f-xor", "#d55e00", "#f07a2a"),
    color("f-xorplus", "#f0a58a", "#f7c4b0"),
    color("f-vfilter", "#b0a000", "#e6d94a"),
    color("f-quotient", "#8c510a", "#c98a4b"),
    color("f-cuckoo", "#8b1a1a", "#d9534f"),
    color("f-bloom", "#9aa1ab", "#6d747e"),
    color("f-blockedbloom", "#5f6670", "#9aa1ab"),
    color("f-splitblockbloom", "#30343a", "#d5d9de"),
    color("f-registerbloom", "#c3c8cf", "#4b515a"),
    color("step-0", "#fde9a9", "#fde9a9"),
    color("step-1", "#e3c26b", "#e3c26b"),
    color("step-2", "#b5a06a", "#b5a06a"),
    color("step-3", "#7f8079", "#7f8079"),
    color("step-4", "#4c6285", "#4c6285"),
    color("step-5", "#123f7c", "#123f7c"),
];

/// The color of a class in the light theme.
pub fn light(class: &str) -> &'static str {
    COLORS.iter().find(|color| color.class == class).map_or(INK, |color| color.light)
}

/// The style sheet of all figures: the dark theme.
pub fn style() -> String {
    let mut rules = String::from(
        ".figure text { fill: #e6e8eb; } .figure .back { fill: #14171b; } .figure .grid { stroke: \
         #3a4048; } .figure .frame { stroke: #e6e8eb; } .figure .mark { stroke: #14171b; } .figure \
         text.on { fill: #ffffff; }\n",
    );
    for Color { class, dark, .. } in COLORS {
        let _ = writeln!(
            rules,
            ".figure .cell.{class}, .figure .mark.{class} {{ fill: {dark}; }} .figure .line.{class} \
             {{ stroke: {dark}; }}"
        );
    }
    format!("@media (prefers-color-scheme: dark) {{\n{rules}}}\n")
}

#[cfg(test)]
mod tests {
    use super::{COLORS, INK, light};
    use crate::race::Family;

    #[test]
    fn every_family_has_a_color_of_its_own() {
        let mut colors: Vec<&str> =
            Family::ALL.iter().map(|family| light(&family.class())).collect();
        assert!(!colors.contains(&INK), "{colors:?}");
        colors.sort_unstable();
        colors.dedup();
        assert_eq!(colors.len(), Family::ALL.len());
        assert_eq!(COLORS.len(), Family::ALL.len() + 7);
    }
}
