//! The report as a self-contained page: it includes style, script and figures.

use super::Section;
use crate::html::escape;
use crate::svg;
use std::fmt::Write;

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

pub fn page(sections: &[Section]) -> String {
    let mut body = String::new();
    for (number, section) in sections.iter().enumerate() {
        let title = escape(&section.title);
        let _ = writeln!(body, "<section id=\"s{number}\"><h2>{title}</h2>");
        for paragraph in &section.text {
            let _ = writeln!(body, "<p>{}</p>", escape(paragraph));
        }
        body += "<div class=\"figures\">\n";
        for figure in &section.figures {
            let caption = escape(&figure.caption);
            let drawing = figure.chart.inline();
            let _ = writeln!(body, "<figure>{drawing}<figcaption>{caption}</figcaption></figure>");
        }
        body += "</div>\n";
        for table in &section.tables {
            let _ = writeln!(body, "<h3>{}</h3>\n{}", escape(&table.title), table.html());
        }
        body += "</section>\n";
    }
    let link = |(number, section): (usize, &Section)| {
        format!("<a href=\"#s{number}\">{}</a>", escape(&section.title))
    };
    let links: Vec<String> = sections.iter().enumerate().map(link).collect();
    format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n<meta name=\"viewport\" \
         content=\"width=device-width, initial-scale=1\">\n<meta name=\"color-scheme\" \
         content=\"light dark\">\n<title>ribbonfilter: results</title>\n<style>{STYLE}{}</style>\n\
         </head><body><main><h1>ribbonfilter: results</h1>\n<nav>{}</nav>\n{body}</main>\n\
         <script>{SCRIPT}</script></body></html>\n",
        svg::style(),
        links.join("\n"),
    )
}
