//! Tables as text, Markdown and HTML.

use crate::html::escape;
use std::fmt::Write;

pub struct Table {
    pub title: String,
    pub note: String,
    pub columns: Vec<&'static str>,
    pub rows: Vec<Vec<Cell>>,
}

/// The text of a cell and the value by which it is sorted.
#[derive(Clone, Debug, Default)]
pub struct Cell {
    pub text: String,
    pub value: Option<f64>,
    /// Whether the cell is emphasized, such as the names of our filters.
    pub strong: bool,
}

impl Cell {
    pub fn text(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }

    pub fn number(value: f64, decimals: usize) -> Self {
        Self { text: format!("{value:.decimals$}"), value: Some(value), strong: false }
    }

    /// A fraction in percent.
    pub fn percent(value: f64, decimals: usize) -> Self {
        Self::number(value * 100.0, decimals)
    }

    pub fn or_none(cell: Option<Self>) -> Self {
        cell.unwrap_or_default()
    }

    pub fn strong(self, strong: bool) -> Self {
        Self { strong, ..self }
    }

    /// The same value with text appended.
    pub fn and(mut self, more: &str) -> Self {
        self.text += more;
        self
    }
}

impl Table {
    pub fn text(&self) -> String {
        let width = |column: usize| {
            let cells = self.rows.iter().map(|row| row[column].text.chars().count());
            cells.chain([self.columns[column].chars().count()]).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..self.columns.len()).map(width).collect();
        let line = |cells: &mut dyn Iterator<Item = &str>| {
            let pad = |(column, (cell, &width)): (usize, (&str, &usize))| match column {
                0 => format!("{cell:<width$}"),
                _ => format!("{cell:>width$}"),
            };
            let cells: Vec<String> = cells.zip(&widths).enumerate().map(pad).collect();
            cells.join("  ").trim_end().to_string() + "\n"
        };
        let mut text = format!("{}\n{}\n", self.title, self.note);
        text += &line(&mut self.columns.iter().copied());
        for row in &self.rows {
            text += &line(&mut row.iter().map(|cell| cell.text.as_str()));
        }
        text
    }

    pub fn markdown(&self) -> String {
        let mut text = format!("{}\n\n", self.note);
        let _ = writeln!(text, "| {} |", self.columns.join(" | "));
        let _ = writeln!(text, "|---{}|", "|--:".repeat(self.columns.len() - 1));
        for row in &self.rows {
            let cell = |cell: &Cell| match cell.strong {
                true => format!("**{}**", cell.text),
                false => cell.text.clone(),
            };
            let _ = writeln!(text, "| {} |", row.iter().map(cell).collect::<Vec<_>>().join(" | "));
        }
        text
    }

    pub fn html(&self) -> String {
        let mut text =
            format!("<p>{}</p>\n<div class=\"scroll\"><table><thead><tr>", escape(&self.note));
        for column in &self.columns {
            let _ = write!(text, "<th scope=\"col\"><button>{}</button></th>", escape(column));
        }
        text += "</tr></thead><tbody>\n";
        for row in &self.rows {
            text += "<tr>";
            row.iter().for_each(|cell| text += &cell.html());
            text += "</tr>\n";
        }
        text + "</tbody></table></div>\n"
    }
}

impl Cell {
    fn html(&self) -> String {
        let value = self.value.map_or(String::new(), |value| format!(" data-value=\"{value}\""));
        let class = if self.strong { " class=\"strong\"" } else { "" };
        format!("<td{class}{value}>{}</td>", escape(&self.text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_table_three_ways() {
        let table = Table {
            title: "Sizes".into(),
            note: "in bits".into(),
            columns: vec!["filter", "a < b"],
            rows: vec![vec![Cell::text("ours").strong(true), Cell::number(1.25, 1)]],
        };
        assert_eq!(table.text(), "Sizes\nin bits\nfilter  a < b\nours      1.2\n");
        assert_eq!(
            table.markdown(),
            "in bits\n\n| filter | a < b |\n|---|--:|\n| **ours** | 1.2 |\n"
        );
        let html = table.html();
        assert!(html.contains("<button>a &lt; b</button>"));
        assert!(html.contains("<td class=\"strong\">ours</td><td data-value=\"1.25\">1.2</td>"));
    }
}
