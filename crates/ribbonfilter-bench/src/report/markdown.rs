//! The report as Markdown, with its pictures in separate files.

use super::Section;
use std::fmt::Write;

const HEAD: &str = "# Results

Measurements of the paper's tables and figures and of other crates. `scripts/results` measures
everything on your machine and writes this page.
`ribbon-bench report --results docs/results --docs docs` writes it again from the rows of JSON in
`docs/results`. `ribbon-bench report --results docs/results --html results.html` writes an HTML page
with sortable tables and tooltips.
";

pub fn document(sections: &[Section]) -> String {
    let mut text = HEAD.to_string();
    for section in sections {
        let _ = writeln!(text, "\n## {}", section.title);
        for paragraph in &section.text {
            let _ = writeln!(text, "\n{paragraph}");
        }
        for figure in &section.figures {
            let _ = writeln!(
                text,
                "\n![{}](results/{}.svg)\n\n{}",
                figure.chart.title, figure.name, figure.caption
            );
        }
        for table in &section.tables {
            let _ = write!(text, "\n### {}\n\n{}", table.title, table.markdown());
        }
    }
    text
}
